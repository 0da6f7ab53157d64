"""A session's turns as clients see them: order, queueing, steering, interrupting."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Never

import anyio
import pytest

from assent.sessions.deps import PermissionFacts
from assent.sessions.stream.front import Call, FrontFlags
from assent.tools.read import Read
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action, Ask, Decision
from assent.types.ports import ModelRequest
from sessions.harness import TestFront, running, say, use


class Held:
    """An answer that waits until the test lets it go."""

    def __init__(self, *blocks: Json) -> None:
        self.blocks = list(blocks) or say("done")
        self.asked = anyio.Event()
        self.go = anyio.Event()

    async def __call__(self, request: ModelRequest) -> Sequence[Json]:
        self.asked.set()
        await self.go.wait()
        return self.blocks


async def test_a_waiting_send_answers_after_turn_finished_and_idle(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("hello there")) as app:
        session = await app.new(front)
        answer = await app.send(session, "hi", front, wait=True)
        assert answer["result"]["subtype"] == "success"
        assert answer["result"]["result"] == "hello there"
        assert front.types[-2:] == ["turnFinished", "status"] and front.events[-1]["state"] == "idle"
        assert front.types.index("turnStarted") < front.types.index("stepStarted") < front.types.index("textDelta")
        assert "".join(event["text"] for event in front.of("textDelta")) == "hello there"
        assert {params["turnId"] for params in front.params if "turnId" in params} == {answer["turnId"]}


async def test_events_are_numbered_without_gaps_and_name_their_step(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, [use("Note", text="a")], say("done")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front)
        await app.send(session, "hi", front, wait=True)
        assert [params["seq"] for params in front.params] == list(range(1, len(front.params) + 1))
        steps = [params["stepId"] for params in front.params if params["event"]["type"] == "stepStarted"]
        assert len(set(steps)) == 2
        started = next(params for params in front.params if params["event"]["type"] == "toolStarted")
        assert started["stepId"] == steps[0]


async def test_a_tool_call_is_told_from_preparing_to_finished(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, [use("Note", text="milk")], say("done")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front)
        await app.send(session, "remember", front, wait=True)
        kinds = ["toolPreparing", "toolStarted", "toolProgress", "toolFinished"]
        assert [kind for kind in front.types if kind in kinds] == kinds
        assert front.of("toolStarted")[0] == {
            "type": "toolStarted",
            "toolUseId": "tu1",
            "tool": "Note",
            "input": {"text": "milk"},
            "title": "Note milk",
        }
        finished = front.of("toolFinished")[0]
        assert (finished["isError"], finished["summary"]) == (False, "noted")


async def test_without_partials_there_are_no_deltas_and_still_no_gaps(tmp_path: Path) -> None:
    front = TestFront(FrontFlags())
    async with running(tmp_path, say("hello there")) as app:
        session = await app.new(front)
        await app.send(session, "hi", front, wait=True)
        assert not {"textDelta", "thinkingDelta", "toolInputDelta"} & set(front.types)
        assert [params["seq"] for params in front.params] == list(range(1, len(front.params) + 1))
        assert front.of("message")[-1]["content"] == [{"type": "text", "text": "hello there"}]


async def test_deltas_are_merged_before_they_are_numbered(tmp_path: Path) -> None:
    text = "a long answer in many little pieces " * 20
    front = TestFront(FrontFlags(partials=True, max_event_rate=1))
    async with running(tmp_path, say(text)) as app:
        session = await app.new(front)
        await app.send(session, "hi", front, wait=True)
        deltas = front.of("textDelta")
        assert 2 <= len(deltas) < 10
        assert deltas[0]["text"] == text[:4]  # the first goes out at once
        assert "".join(delta["text"] for delta in deltas) == text
        assert [params["seq"] for params in front.params] == list(range(1, len(front.params) + 1))


async def test_a_message_sent_while_busy_becomes_a_turn_of_its_own(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("second")) as app:
        session = await app.new(front)
        first = await app.send(session, "one", front, clientMessageId="c1")
        await held.asked.wait()
        second = await app.send(session, "two", front, clientMessageId="c2")
        assert (first["queued"], second["queued"]) == (False, True)
        assert first["turnId"] != second["turnId"]
        held.go.set()
        await front.seen("turnFinished", 2)
        order = [
            (event["type"], event.get("clientMessageId"))
            for event in front.events
            if event["type"] in ("queued", "dequeued", "completed", "turnFinished")
        ]
        assert order == [
            ("queued", "c2"),
            ("completed", "c1"),
            ("turnFinished", None),
            ("dequeued", "c2"),
            ("completed", "c2"),
            ("turnFinished", None),
        ]


async def test_a_message_that_waits_is_shown_to_who_comes_later_and_can_be_taken_back(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("third")) as app:
        session = await app.new(front)
        await app.send(session, "one", front, clientMessageId="c1")
        await held.asked.wait()
        await app.send(session, "zweitens", front, clientMessageId="c2")
        await app.send(session, "three", front, clientMessageId="c3")
        await app.send(session, "psst", front, clientMessageId="c4", whenBusy="steer")
        late = await app.request("session/attach", TestFront(), sessionId=session)
        words = [(item["clientMessageId"], item["prompt"][0]["text"], item["steer"]) for item in late["queue"]]
        assert words == [("c4", "psst", True), ("c2", "zweitens", False), ("c3", "three", False)]
        for client_id, taken_back in (("c2", True), ("c4", True), ("c2", False), ("c1", False)):
            answer = await app.request("session/unqueue", sessionId=session, clientMessageId=client_id)
            said = {"c2": "zweitens", "c4": "psst"}.get(client_id)
            assert answer == ({"unqueued": True, "prompt": said} if taken_back else {"unqueued": False})
        held.go.set()
        await front.seen("turnFinished", 2)
        assert [event["clientMessageId"] for event in front.of("unqueued")] == ["c2", "c4"]
        assert [event["clientMessageId"] for event in front.of("dequeued")] == ["c3"]
        assert "zweitens" not in str(app.model.requests) and "psst" not in str(app.model.requests)


async def test_whoever_waits_for_a_message_that_is_taken_back_gets_an_answer(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    answers: list[Json] = []
    async with running(tmp_path, held) as app, anyio.create_task_group() as group:
        session = await app.new(front)
        await app.send(session, "one", front, clientMessageId="c1")
        await held.asked.wait()

        async def wait() -> None:
            answers.append(await app.send(session, "two", front, clientMessageId="c2", wait=True))

        group.start_soon(wait)
        await front.seen("queued", 1)
        await app.request("session/unqueue", sessionId=session, clientMessageId="c2")
        await front.seen("unqueued", 1)
        held.go.set()
        await front.seen("turnFinished", 1)
    assert answers[0]["result"]["isError"] and "Withdrawn" in answers[0]["result"]["result"]


async def test_a_steered_message_reaches_the_running_turn_between_steps(tmp_path: Path) -> None:
    held, front = Held(use("Note", text="a")), TestFront()
    async with running(tmp_path, held, say("steered")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front)
        first = await app.send(session, "one", front, clientMessageId="c1")
        await held.asked.wait()
        second = await app.send(session, "also this", front, clientMessageId="c2", whenBusy="steer")
        assert second == {"turnId": first["turnId"], "queued": True}
        held.go.set()
        await front.seen("turnFinished")
        assert len(front.of("turnStarted")) == 1
        assert [event["clientMessageId"] for event in front.of("completed")] == ["c2", "c1"]
        assert "also this" in str(app.model.requests[1].messages)


async def test_a_steered_message_the_turn_never_took_gets_a_turn_of_its_own(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("second")) as app:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()
        await app.send(session, "too late", front, whenBusy="steer", clientMessageId="c2")
        held.go.set()
        await front.seen("turnFinished", 2)
        assert front.of("turnStarted")[1]["prompt"] == "too late"


async def test_waiting_for_a_steered_message_gives_the_turn_it_ran_in(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    answers: list[Json] = []
    async with running(tmp_path, held, say("second")) as app, anyio.create_task_group() as group:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()

        async def wait() -> None:
            answers.append(await app.send(session, "too late", front, whenBusy="steer", wait=True))

        group.start_soon(wait)
        await front.seen("queued")
        held.go.set()
        await front.seen("turnFinished", 2)
    turns = [params["turnId"] for params in front.params if params["event"]["type"] == "turnStarted"]
    assert answers[0]["result"]["result"] == "second" and answers[0]["turnId"] == turns[1]


async def test_cancelling_a_message_that_waits_takes_it_back_and_leaves_the_running_turn_alone(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    answers: list[Json] = []
    async with running(tmp_path, held) as app, anyio.create_task_group() as group:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()
        for how in ("queue", "steer"):
            call = Call()

            async def wait(call: Call = call, how: str = how) -> None:
                params = {"sessionId": session, "prompt": how, "whenBusy": how, "clientMessageId": how, "wait": True}
                answers.append(await app.hub.request("assent/session/send", params, call))

            group.start_soon(wait)
            await front.until(
                lambda how=how: [event for event in front.of("queued") if event["clientMessageId"] == how]
            )
            call.cancelled.set()
        await front.seen("unqueued", 2)
        held.go.set()
        await front.seen("turnFinished")
    assert [answer["result"]["terminal"] for answer in answers] == ["aborted_streaming"] * 2
    assert front.of("turnFinished")[0]["result"]["subtype"] == "success" and len(front.of("turnStarted")) == 1
    assert len(app.model.requests) == 1


async def test_refuse_is_an_error_while_busy_and_nothing_otherwise(tmp_path: Path) -> None:
    held = Held()
    async with running(tmp_path, held) as app:
        session = await app.new()
        await app.send(session, "one", whenBusy="refuse")
        await held.asked.wait()
        with pytest.raises(ProtocolError) as refused:
            await app.send(session, "two", whenBusy="refuse")
        assert refused.value.kind == "busy"
        held.go.set()


async def test_the_same_client_message_id_twice_is_one_message_with_one_answer(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("once")) as app:
        session = await app.new(front)
        first = await app.send(session, "hi", front, clientMessageId="c1")
        again = await app.send(session, "hi", front, clientMessageId="c1")
        waited = await app.send(session, "hi", front, clientMessageId="c1", wait=True)
        assert again == first
        assert waited["turnId"] == first["turnId"] and waited["result"]["result"] == "once"
        assert len(app.model.requests) == 1


async def test_an_interrupt_answers_after_turn_finished_and_keeps_what_waits(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("two"), say("three")) as app:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()
        await app.send(session, "two", front, clientMessageId="c2")
        answer = await app.request("session/interrupt", sessionId=session)
        assert answer == {"interrupted": True, "queued": ["c2"]}
        finished = front.of("turnFinished")[0]["result"]
        assert (finished["isError"], finished["result"], finished["terminal"]) == (True, "Aborted", "aborted_streaming")
        assert front.events[-1] == {"type": "status", "state": "idle"}
        assert await app.request("session/interrupt", sessionId=session) == {"interrupted": False, "queued": ["c2"]}
        assert front.of("queued")[-1] == {"type": "queued", "clientMessageId": "c2", "kept": True}


async def test_a_next_send_leaves_what_an_interrupt_kept_and_sending_it_again_starts_it(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("to three"), say("to two")) as app:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()
        await app.send(session, "two", front, clientMessageId="c2")
        await app.send(session, "psst", front, clientMessageId="c3", whenBusy="steer")
        await app.request("session/interrupt", sessionId=session)
        sent = await app.send(session, "three", front, clientMessageId="c4", wait=True)
        assert sent["result"]["result"] == "to three"
        late = await app.request("session/attach", TestFront(), sessionId=session)
        waiting = [(item["clientMessageId"], item["prompt"][0]["text"], item["kept"]) for item in late["queue"]]
        assert waiting == [("c3", "psst", True), ("c2", "two", True)]
        taken = await app.request("session/unqueue", sessionId=session, clientMessageId="c3")
        assert taken == {"unqueued": True, "prompt": "psst"}
        again = await app.send(session, "two", front, clientMessageId="c2", wait=True)
        assert again["result"]["result"] == "to two"
        assert [event["prompt"] for event in front.of("turnStarted")] == ["one", "three", "two"]
        assert (await app.request("session/attach", TestFront(), sessionId=session))["queue"] == []


async def test_a_message_sent_while_an_interrupt_ends_the_turn_runs_and_the_kept_one_does_not(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held, say("to three")) as app, anyio.create_task_group() as group:
        session = await app.new(front)
        await app.send(session, "one", front)
        await held.asked.wait()
        await app.send(session, "two", front, clientMessageId="c2")
        group.start_soon(partial(app.request, "session/interrupt", sessionId=session))
        await front.until(lambda: [event for event in front.of("queued") if event.get("kept")])
        await app.send(session, "three", front, clientMessageId="c3", wait=True)
    assert [event["prompt"] for event in front.of("turnStarted")] == ["one", "three"]


async def test_cancelling_a_waiting_send_interrupts_and_still_answers_the_result(tmp_path: Path) -> None:
    held = Held()
    async with running(tmp_path, held) as app:
        session = await app.new()
        call = Call()
        answers: list[Json] = []

        async def send() -> None:
            params: Json = {"sessionId": session, "prompt": "hi", "wait": True}
            answers.append(await app.hub.request("assent/session/send", params, call))

        with anyio.fail_after(120):
            async with anyio.create_task_group() as group:
                group.start_soon(send)
                await held.asked.wait()
                call.cancelled.set()
        assert answers[0]["result"]["terminal"] == "aborted_streaming"


async def test_events_wait_until_the_answer_that_names_their_id_is_written(tmp_path: Path) -> None:
    front, other = TestFront(), TestFront()
    async with running(tmp_path, say("hi")) as app:
        opened = Call(front=front, answered=anyio.Event())
        new = await app.hub.request("assent/session/new", {"cwd": str(app.cwd)}, opened)
        assert opened.answered is not None
        opened.answered.set()
        await app.request("session/attach", other, sessionId=new["sessionId"])
        sent = Call(front=front, answered=anyio.Event())
        await app.hub.request("assent/session/send", {"sessionId": new["sessionId"], "prompt": "hi"}, sent)
        await other.seen("turnFinished")
        assert front.params == []
        assert sent.answered is not None
        sent.answered.set()
        await front.seen("turnFinished")
        assert [params["seq"] for params in front.params] == list(range(1, len(front.params) + 1))


async def test_a_broken_engine_ends_the_turn_with_an_error_and_the_session_goes_on(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("fine now")) as app:
        good = app.deps.engine
        app.deps.engine = _breaking
        session = await app.new(front)
        answer = await app.send(session, "hi", front, wait=True)
        assert answer["result"]["isError"] and "boom" in answer["result"]["result"]
        assert front.types.count("turnStarted") == front.types.count("turnFinished") == 1
        app.deps.engine = good
        answer = await app.send(session, "again", front, wait=True)
        assert answer["result"]["result"] == "fine now"


def _breaking(*_parts: object) -> Never:
    raise RuntimeError("boom")


@pytest.mark.parametrize("prompt", ["", "   ", [], [{"text": "no type"}], 7, None, [{"type": "text", "text": "\n"}]])
async def test_a_bad_prompt_is_refused_with_a_clear_error(tmp_path: Path, prompt: object) -> None:
    async with running(tmp_path) as app:
        session = await app.new()
        with pytest.raises(ProtocolError) as refused:
            await app.request("session/send", sessionId=session, prompt=prompt)
        assert refused.value.kind == "invalidParams"


async def test_text_that_is_not_text_is_cleaned_before_it_is_kept_or_sent(tmp_path: Path) -> None:
    async with running(tmp_path, say("ok")) as app:
        session = await app.new()
        await app.send(session, "nul \x00 lone \ud800 sep \u2028", wait=True)
        sent = [block for message in app.model.requests[0].messages for block in getattr(message, "content", ())]
        assert {"type": "text", "text": "nul \ufffd lone \ufffd sep \u2028"} in sent


async def test_sessions_run_side_by_side(tmp_path: Path) -> None:
    first, second = Held(*say("first")), Held(*say("second"))

    async def by_prompt(request: ModelRequest) -> Sequence[Json]:
        return await (first if "alpha" in str(request.messages) else second)(request)

    answers: list[Callable[[ModelRequest], Awaitable[Sequence[Json]]]] = [by_prompt, by_prompt]
    front = TestFront()
    async with running(tmp_path, *answers) as app:
        a, b = await app.new(front), await app.new(front)
        await app.send(a, "alpha", front)
        await app.send(b, "beta", front)
        with anyio.fail_after(120):
            await first.asked.wait()
            await second.asked.wait()
        listed = await app.request("session/list")
        assert {item["sessionId"]: item["running"] for item in listed["sessions"]} == {a: True, b: True}
        second.go.set()
        first.go.set()
        await front.seen("turnFinished", 2)
        for session in (a, b):
            seqs = [params["seq"] for params in front.params if params["sessionId"] == session]
            assert seqs == list(range(1, len(seqs) + 1))


async def test_todos_and_budget_limits_reach_the_client(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, [use("Note", text="a")], [use("Note", "tu2", text="b")], say("never")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front, maxTurns=1)
        app.hub.live[session].state.todos = [{"content": "x", "activeForm": "doing x", "status": "pending"}]
        app.hub.live[session].state.on_change("todos")
        answer = await app.send(session, "go", front, wait=True)
        assert answer["result"]["subtype"] == "error_max_turns"
        assert front.of("todos")[0]["items"] == [
            {"id": "1", "content": "x", "activeForm": "doing x", "status": "pending"}
        ]
        assert front.of("maxTurnsReached")


async def test_a_mention_that_must_be_asked_about_is_asked_after_the_turn_started(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("the secret of the well")
    front = TestFront()
    front.answer({"decision": "allow"})

    def judge(action: Action, _facts: PermissionFacts) -> Decision:
        return Ask(step="sandbox", reason="outside", title="Read it?")

    async with running(tmp_path, say("read"), tools=[Read()], decide=judge) as app:
        session = await app.new(front)
        await app.send(session, f"look at @{outside}", front, wait=True)
        order = ["turnStarted", "permissionPending", "permissionResolved", "stepStarted", "turnFinished"]
        assert [kind for kind in front.types if kind in order] == order
        assert front.of("turnStarted")[0]["model"] == "test-model"
        assert "the secret of the well" in str(app.model.requests[0].messages)
        assert {params.get("turnId") for params in front.params if params["event"]["type"] in order} == {
            front.asked[0]["turnId"]
        }
