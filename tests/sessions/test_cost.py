"""`assent/session/cost` knows every finished call, while the turn still runs and after a crash (Q9)."""

import shutil
from pathlib import Path

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
