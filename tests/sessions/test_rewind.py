"""Going back, and back again: conversation, code, both; never over anyone else's changes (S3)."""

from pathlib import Path
from typing import Any

import pytest

from assent.sessions.deps import PermissionFacts
from assent.tools.read import Read
from assent.tools.write import Write
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import Action, Allow, Decision
from sessions.harness import Harness, TestFront, running, say, use


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="a rule")


def writing(home: Path, *, editor: bool = False) -> Any:
    """Three prompts: a.txt changes twice, new.txt appears with the second."""
    cwd = home / "project"
    cwd.mkdir(parents=True, exist_ok=True)
    (cwd / "a.txt").write_text("zero\n")
    a, new = str(cwd / "a.txt"), str(cwd / "new.txt")
    answers: list[list[Json]] = [
        [use("Read", "r1", file_path=a)],
        [use("Write", "w1", file_path=a, content="one\n")],
        say("wrote one"),
        [use("Write", "w2", file_path=a, content="two\n"), use("Write", "w3", file_path=new, content="brand new\n")],
        say("wrote two"),
        say("chatted"),
    ]
    return running(home, *answers, tools=[Read(), Write()], decide=allow, editor=editor)


async def three_turns(app: Harness, front: TestFront) -> tuple[str, list[str]]:
    session = await app.new(front, mode="acceptEdits")
    for prompt in ("first", "second", "third"):
        await app.send(session, prompt, front, wait=True)
    return session, [event["messageId"] for event in front.of("turnStarted")]


async def said(app: Harness, session: str) -> list[str]:
    page = await app.request("session/attach", TestFront(), sessionId=session)
    return [block["text"] for message in page["messages"] for block in message["content"] if block["type"] == "text"]


@pytest.mark.parametrize("editor", [False, True])
async def test_code_and_conversation_go_back_to_before_a_prompt_and_forward_again(tmp_path: Path, editor: bool) -> None:
    front = TestFront()
    async with writing(tmp_path, editor=editor) as app:
        session, prompts = await three_turns(app, front)
        a, new = app.cwd / "a.txt", app.cwd / "new.txt"
        wanted: Json = {"sessionId": session, "messageId": prompts[1], "restore": "both"}
        plan = await app.request("session/rewind", **wanted, dryRun=True)
        assert plan == {
            "files": [{"path": str(a), "change": "modified"}, {"path": str(new), "change": "deleted"}],
            "conflicts": [],
        }
        assert a.read_text() == "two\n" and len(await said(app, session)) == 6
        done = await app.request("session/rewind", **wanted)
        assert (done["files"], done["conflicts"]) == (plan["files"], [])
        assert done["prompt"] == [{"type": "text", "text": "second"}]
        assert a.read_text() == "one\n" and not new.exists()
        assert await said(app, session) == ["first", "wrote one"]
        gone = front.of("tombstone")[-1]
        assert prompts[1] in gone["messageIds"] and prompts[0] not in gone["messageIds"]

        undone = await app.request("session/rewind", sessionId=session, messageId=done["rewindId"], restore="both")
        assert undone["conflicts"] == []
        assert a.read_text() == "two\n" and new.read_text() == "brand new\n"
        assert await said(app, session) == ["first", "wrote one", "second", "wrote two", "third", "chatted"]
        assert prompts[2] in [message["id"] for message in front.of("message")]


async def test_only_the_conversation_or_only_the_code(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, prompts = await three_turns(app, front)
        a = app.cwd / "a.txt"
        await app.request("session/rewind", sessionId=session, messageId=prompts[0], restore="code")
        assert a.read_text() == "zero\n"
        assert len(await said(app, session)) == 6
        await app.request("session/rewind", sessionId=session, messageId=prompts[2], restore="conversation")
        assert a.read_text() == "zero\n"
        assert await said(app, session) == ["first", "wrote one", "second", "wrote two"]


async def test_what_someone_else_changed_is_a_conflict_and_is_left_alone(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, prompts = await three_turns(app, front)
        a, new = app.cwd / "a.txt", app.cwd / "new.txt"
        a.write_text("two, and my own words\n")
        done = await app.request("session/rewind", sessionId=session, messageId=prompts[0], restore="both")
        assert done["conflicts"] == [{"path": str(a), "reason": "it was changed after the agent's last edit"}]
        assert done["files"] == [{"path": str(new), "change": "deleted"}]
        assert a.read_text() == "two, and my own words\n"
        assert not new.exists()


async def test_after_a_rewind_the_model_sees_only_what_is_left(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, prompts = await three_turns(app, front)
        await app.request("session/rewind", sessionId=session, messageId=prompts[1], restore="conversation")
        await app.send(session, "instead", front, wait=True)
        seen = str(app.model.requests[-1].messages)
        assert "instead" in seen and "wrote one" in seen and "wrote two" not in seen
        assert await said(app, session) == ["first", "wrote one", "instead", "ok"]
    async with running(tmp_path, decide=allow) as app:
        assert await said(app, session) == ["first", "wrote one", "instead", "ok"]


async def test_rewinding_to_an_answer_keeps_that_answer(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, _ = await three_turns(app, front)
        answer = next(m["id"] for m in front.of("message") if m["content"][0].get("text") == "wrote one")
        await app.request("session/rewind", sessionId=session, messageId=answer, restore="both")
        assert await said(app, session) == ["first", "wrote one"]
        assert (app.cwd / "a.txt").read_text() == "one\n"


async def test_rewinding_to_results_of_tools_keeps_them_and_offers_no_prompt(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, _ = await three_turns(app, front)
        results = [m["id"] for m in front.of("message") if m["content"][0]["type"] == "tool_result"]
        done = await app.request("session/rewind", sessionId=session, messageId=results[1], restore="both")
        assert "prompt" not in done and (app.cwd / "a.txt").read_text() == "one\n"
        assert await said(app, session) == ["first"]


async def test_unknown_messages_and_running_turns_are_refused(tmp_path: Path) -> None:
    front = TestFront()
    async with writing(tmp_path) as app:
        session, _ = await three_turns(app, front)
        for params in ({"messageId": "nope", "restore": "both"}, {"messageId": "x", "restore": "everything"}):
            with pytest.raises(ProtocolError) as refused:
                await app.request("session/rewind", sessionId=session, **params)
            assert refused.value.kind == "invalidParams"
