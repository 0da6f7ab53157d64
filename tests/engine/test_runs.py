"""The agents of a conversation: who runs, where, and what is remembered of those that ended (S5, T7)."""

from __future__ import annotations

from typing import Any

from assent.engine.agents.runs import MOST_ENDED, AgentRun, AgentRuns
from assent.engine.budget import Ledger
from assent.tools.tool import ToolOutput
from assent.types.ports import ModelInfo
from assent.types.usage import Usage

DONE = ToolOutput(content="done")


def run(name: str, **more: Any) -> AgentRun:
    given: dict[str, Any] = {"title": f"look {name}", "parent_tool_use_id": f"toolu_{name}", "background": False}
    return AgentRun(agent_id=name, name="scout", **(given | more))


def test_what_people_are_shown_of_an_agent() -> None:
    one = run("a", color="blue")
    assert one.as_json() == {
        "agentId": "a",
        "name": "scout",
        "title": "look a",
        "state": "running",
        "parentToolUseId": "toolu_a",
        "tokens": 0,
        "costUsd": 0.0,
        "background": False,
        "color": "blue",
    }
    one.ledger = Ledger(model_info=lambda model: ModelInfo(id=model))
    one.ledger.book("big", Usage(input_tokens=10, output_tokens=5), 0.5, 0)
    told = one.as_json()
    assert (told["tokens"], told["costUsd"]) == (15, 0.5)
    assert "color" not in run("b").as_json()
    assert one.response("completed") == {"status": "completed", "agentId": "a", "agentType": "scout"}


def test_how_an_agent_ended_is_said_once_and_a_stop_stays_a_stop() -> None:
    finished, failed, stopped = run("a"), run("b"), run("c")
    aborted: list[str] = []
    stopped.abort = lambda: aborted.append("c")
    runs = AgentRuns()
    for each in (finished, failed, stopped):
        runs.add(each)
        assert not each.settled.is_set()
    finished.ended(DONE)
    failed.ended(ToolOutput(content="no", is_error=True))
    assert runs.stop("c") and aborted == ["c"]
    stopped.ended(ToolOutput(content="stopped", is_error=True))
    assert [each["state"] for each in runs.list()] == ["finished", "failed", "stopped"]
    assert all(each.settled.is_set() for each in (finished, failed, stopped))
    assert not runs.stop("c") and not runs.stop("nobody") and aborted == ["c"]
    assert runs.ended_ids() == ["a", "b", "c"]
    assert runs.get("b") is failed and runs.get("nobody") is None


def test_only_the_newest_of_those_that_ended_are_remembered_and_all_that_run() -> None:
    runs = AgentRuns()
    first = run("first")
    runs.add(first)
    for number in range(MOST_ENDED + 2):
        each = run(str(number))
        runs.add(each)
        each.ended(DONE)
    runs.add(run("last"))
    assert len(runs.ended_ids()) == MOST_ENDED and runs.ended_ids()[0] == "2"
    assert runs.get("first") is first
    again = run("5")
    runs.add(again)  # it goes on
    assert [each["agentId"] for each in runs.list()].count("5") == 1 and runs.list()[-1]["agentId"] == "5"


def test_an_agent_goes_to_the_background_and_to_the_front_and_back() -> None:
    runs, one, other = AgentRuns(), run("a"), run("b")
    runs.add(one)
    runs.add(other)
    assert runs.in_background() == [] and runs.move_to_foreground("a") is None  # it is in front
    assert runs.move_to_background("toolu_none") is None
    assert runs.move_to_background("toolu_a") == "a"
    assert (one.background, one.settled.is_set(), other.background) == (True, True, False)
    assert runs.in_background() == ["agent a: look a"] and one.as_json()["background"]
    assert runs.move_to_background("toolu_a") is None  # it is there already
    assert runs.move_to_foreground("nobody") is None
    assert runs.move_to_foreground("a") == runs.move_to_foreground("a") == "toolu_a"
    (front,) = runs.in_front(lambda call: call == "toolu_a")
    assert runs.in_front(lambda call: call == "toolu_b") == [] and not one.as_json()["background"]
    assert runs.move_to_background("toolu_a") == "a"
    assert front.is_set() and one.front is None and runs.in_front(lambda _call: True) == []
    assert runs.move_to_foreground("a") == "toolu_a"
    (front,) = runs.in_front(lambda _call: True)
    one.ended(DONE)
    assert front.is_set() and runs.in_front(lambda _call: True) == [] and runs.in_background() == []
    assert runs.move_to_foreground("a") is None and runs.move_to_background("toolu_a") is None


def test_an_agent_that_another_waits_for_stays_in_front() -> None:
    runs = AgentRuns()
    runs.add(run("inner", nested=True))
    assert runs.move_to_background("toolu_inner") is None
