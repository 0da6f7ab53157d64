"""`assent/session/cost` knows every finished call, while the turn still runs and after a crash (Q9)."""

import shutil
from pathlib import Path

from assent.sessions.deps import PermissionFacts
from assent.tools.web_search import WebSearch
from assent.types.permissions import Action, Allow, Decision
from assent.types.usage import Usage
from sessions.harness import TestFront, running, say, use


async def test_the_cost_is_known_while_the_turn_runs_and_after_a_crash(tmp_path: Path) -> None:  # Q9, S4
    front = TestFront()
    async with running(tmp_path, say("one"), [use("Note", "tu1", text="milk")]) as app:
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        await app.send(session, "second", front)
        await front.until(lambda: front.asked)
        cost = await app.request("session/cost", sessionId=session)
        assert cost["totalCostUsd"] == 0.02
        (model,) = cost["models"]
        assert (model["model"], model["costUsd"], model["outputTokens"]) == ("test-model", 0.02, 20)
        assert cost["cacheShare"] == 0.75
        shutil.copytree(tmp_path / "data", tmp_path / "killed" / "data")
        shutil.copytree(tmp_path / "project", tmp_path / "killed" / "project")
    async with running(tmp_path / "killed") as app:
        front = TestFront()
        front.answer({"decision": "deny"})  # the question that was open is put once more
        await app.request("session/attach", front, sessionId=session)
        cost = await app.request("session/cost", sessionId=session)
        assert cost["totalCostUsd"] == 0.02
        listed = await app.request("session/list")
        assert [each["costUsd"] for each in listed["sessions"]] == [0.02]
        result = (await app.send(session, "third", front, wait=True))["result"]
        assert result["totalCostUsd"] >= 0.03


async def test_a_call_made_before_the_first_turn_is_counted(tmp_path: Path) -> None:  # Q9, T10
    """A web search that a client runs in a new session: there is no engine yet."""

    def allow(_action: Action, _judgement: PermissionFacts) -> Decision:
        return Allow(step="rules", reason="allowed")

    async def search(_query: str, _allowed: list[str], _blocked: list[str]) -> str:
        app.hub.live[session].book("small", Usage(input_tokens=100, output_tokens=10), 0.25, 0)
        return "found"

    async with running(tmp_path, search_web=search, tools=[WebSearch()], decide=allow) as app:
        session = await app.new()
        await app.request("tool/run", sessionId=session, name="WebSearch", input={"query": "tea"})
        cost = await app.request("session/cost", sessionId=session)
        assert (cost["totalCostUsd"], [model["model"] for model in cost["models"]]) == (0.25, ["small"])
        result = (await app.send(session, "hello", wait=True))["result"]
        assert result["totalCostUsd"] == 0.26


async def test_going_back_in_the_conversation_takes_nothing_off_the_cost(tmp_path: Path) -> None:  # Q9, S3
    async with running(tmp_path, say("one"), say("two")) as app:
        front = TestFront()
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        await app.send(session, "second", front, wait=True)
        (prompt,) = [each for each in front.of("turnStarted") if each["prompt"] == "second"]
        back = {"sessionId": session, "messageId": prompt["messageId"], "restore": "conversation"}
        await app.request("session/rewind", front, **back)
        assert (await app.request("session/cost", sessionId=session))["totalCostUsd"] == 0.02
        result = (await app.send(session, "third", front, wait=True))["result"]
        assert round(result["totalCostUsd"], 6) == 0.03
