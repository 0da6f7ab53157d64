"""A change of several files that a language server computed (T8): each file is reviewed, and told of, on its own."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from assent.sessions.deps import PermissionFacts
from assent.tools.editor_changes import Rename
from assent.types.blocks import Json
from assent.types.permissions import Action, Allow, Ask, Decision
from sessions.harness import Harness, TestFront, running, say, use

NAMES = ("a.py", "b.py", "c.py")


class Server:
    """A language server that renames the first word of each file."""

    encoding = "utf-16"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def query(self, kind: str, params: Json) -> Json:
        assert kind == "rename"
        word = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        edit = {"range": word, "newText": params["newName"]}
        return {"status": "success", "value": {"changes": {(self.folder / name).as_uri(): [edit] for name in NAMES}}}


def ask(action: Action, _facts: PermissionFacts) -> Decision:
    return Ask(step="mode", reason="edits are asked about", title=" ".join(action.writes))


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="a rule")


def renaming(tmp_path: Path, decide: object) -> AbstractAsyncContextManager[Harness]:
    folder = tmp_path / "project"
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / name).write_text("foo()\n")
    call = use("Rename", "tu1", file_path="a.py", line=1, symbol="foo", new_name="bar")
    return running(tmp_path, [call], say("done"), tools=[Rename()], decide=decide, editor=True)


async def begun(app: Harness, front: TestFront, *, review: str | None = None, **options: Json | str) -> str:
    app.deps.editor = Server(app.cwd)
    if review is not None:
        app.deps.settings.cli = {"review": review}
    session = await app.new(front, **options)
    await app.send(session, "rename it", front)
    return session


async def proposed(front: TestFront, count: int = 3) -> list[Json]:
    await front.until(lambda: len(front.of("editProposed")) == count)
    return [event["proposal"] for event in front.of("editProposed")]


def texts(app: Harness) -> list[str]:
    return [(app.cwd / name).read_text() for name in NAMES]


def told(app: Harness) -> str:
    return str(app.model.requests[-1].messages)


async def decide_on(app: Harness, proposal: Json, decision: str, message: str = "") -> None:
    assert app.deps.proposals is not None
    await app.deps.proposals.resolve(proposal["proposalId"], {"all": decision}, message=message)


async def test_every_file_of_a_rename_waits_for_its_own_review(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, allow) as app:
        await begun(app, front, review="before")
        first, second, third = await proposed(front)
        assert [Path(one["uri"]).name for one in (first, second, third)] == list(NAMES)
        assert texts(app) == ["foo()\n"] * 3 and front.asked == []
        await decide_on(app, first, "accept")
        await decide_on(app, third, "reject", "not this one")
        assert texts(app) == ["bar()\n", "foo()\n", "foo()\n"] and not front.of("turnFinished")
        await decide_on(app, second, "accept")
        await front.seen("turnFinished")
        assert texts(app) == ["bar()\n", "bar()\n", "foo()\n"]
        heard = told(app)
        for name in ("a.py", "b.py"):
            assert f"Changed {app.cwd / name}." in heard
        assert f"{app.cwd / 'c.py'} was not changed" in heard and "not this one" in heard


async def test_the_first_rejected_does_not_speak_for_the_others(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, allow) as app:
        await begun(app, front, review="before")
        first, second, third = await proposed(front)
        await decide_on(app, first, "reject")
        await decide_on(app, second, "accept")
        await decide_on(app, third, "reject")
        result = (await front.seen("turnFinished"))["result"]
        assert texts(app) == ["foo()\n", "bar()\n", "foo()\n"]
        assert f"Changed {app.cwd / 'b.py'}." in told(app)
        assert told(app).count("was not changed") == 2 and result["permissionDenials"] == []


async def test_a_rename_rejected_in_every_file_is_denied_and_told_by_file(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, allow) as app:
        await begun(app, front, review="before")
        for proposal in await proposed(front):
            await decide_on(app, proposal, "reject")
        result = (await front.seen("turnFinished"))["result"]
        assert texts(app) == ["foo()\n"] * 3
        assert result["permissionDenials"][0]["toolName"] == "Rename"
        assert all(f"{app.cwd / name} was not changed" in told(app) for name in NAMES)


async def test_an_allowed_ask_decides_the_file_it_shows_and_the_others_wait_on(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, ask) as app:
        await begun(app, front)
        first, second, third = await proposed(front)
        await front.until(lambda: front.asked)
        assert front.asked[0]["proposal"]["proposalId"] == first["proposalId"]
        assert all(str(app.cwd / name) in front.asked[0]["title"] for name in NAMES), "every file is judged"
        front.answer({"decision": "allow"})
        await front.until(lambda: front.of("editResolved"))
        assert texts(app) == ["bar()\n", "foo()\n", "foo()\n"] and not front.of("turnFinished")
        await decide_on(app, second, "reject")
        await decide_on(app, third, "accept")
        await front.seen("turnFinished")
        assert texts(app) == ["bar()\n", "foo()\n", "bar()\n"]
        assert f"{app.cwd / 'b.py'} was not changed" in told(app) and len(front.asked) == 1


async def test_a_denied_ask_takes_every_file_back(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "deny", "message": "leave it"})
    async with renaming(tmp_path, ask) as app:
        session = await begun(app, front)
        await front.seen("turnFinished")
        assert texts(app) == ["foo()\n"] * 3 and "leave it" in told(app)
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []


async def test_a_file_accepted_before_the_ask_was_denied_is_told(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, ask) as app:
        await begun(app, front)
        _, second, _ = await proposed(front)
        await front.until(lambda: front.asked)
        await decide_on(app, second, "accept")
        front.answer({"decision": "deny", "message": "no more"})
        await front.seen("turnFinished")
        assert texts(app) == ["foo()\n", "bar()\n", "foo()\n"]
        assert f"Changed {app.cwd / 'b.py'}." in told(app) and "no more" in told(app)


async def test_a_changed_input_is_planned_anew_and_its_files_are_asked_about_and_reviewed(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, ask) as app:
        await begun(app, front)
        await front.until(lambda: front.asked)
        changed = {**front.asked[0]["input"], "new_name": "baz"}
        front.answer({"decision": "allow", "updatedInput": changed})
        fresh = (await proposed(front, 6))[3:]
        await front.until(lambda: len(front.asked) == 2)
        assert front.asked[1]["input"] == changed and texts(app) == ["foo()\n"] * 3
        assert all(str(app.cwd / name) in front.asked[1]["title"] for name in NAMES)
        front.answer({"decision": "allow"})
        await decide_on(app, fresh[1], "reject")
        await decide_on(app, fresh[2], "accept")
        await front.seen("turnFinished")
        assert texts(app) == ["baz()\n", "foo()\n", "baz()\n"]


async def test_an_interrupt_takes_every_file_back(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, allow) as app:
        session = await begun(app, front, review="before")
        await proposed(front)
        await app.request("session/interrupt", sessionId=session)
        assert texts(app) == ["foo()\n"] * 3
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []


@pytest.mark.parametrize("decide", [allow, ask])
async def test_under_review_after_every_file_lands_and_what_was_not_asked_about_stays_marked(
    tmp_path: Path, decide: object
) -> None:
    front = TestFront()
    front.answer({"decision": "allow"})
    async with renaming(tmp_path, decide) as app:
        session = await begun(app, front, mode="acceptEdits")
        await front.seen("turnFinished")
        assert texts(app) == ["bar()\n"] * 3
        marked = (await app.request("session/attach", TestFront(), sessionId=session))["proposals"]
        shown = [Path(one["uri"]).name for one in marked]
        assert shown == list(NAMES if decide is allow else NAMES[1:])


async def test_a_rename_left_by_a_process_that_ended_is_taken_back_whole_by_a_no(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, ask) as app:
        session = await begun(app, front)
        await proposed(front)
        await front.until(lambda: front.asked)
    async with running(tmp_path, say("done"), tools=[Rename()], decide=ask, editor=True) as app:
        again = TestFront()
        answer = await app.request("session/attach", again, sessionId=session)
        assert len(answer["proposals"]) == 3 and len(answer["pendingAsks"]) == 1
        await again.until(lambda: again.asked)
        again.answer({"decision": "deny"})
        await again.until(lambda: len(again.of("editResolved")) == 3)
        assert (await app.request("session/attach", TestFront(), sessionId=session))["proposals"] == []
        assert texts(app) == ["foo()\n"] * 3


# Q11
async def test_a_rename_left_by_a_process_that_ended_is_told_with_every_file_of_it(tmp_path: Path) -> None:
    front = TestFront()
    async with renaming(tmp_path, ask) as app:
        session = await begun(app, front)
        await proposed(front)
        await front.until(lambda: front.asked)
    async with running(tmp_path, say("done"), tools=[Rename()], decide=ask, editor=True) as app:
        again = TestFront()
        _, second, third = (await app.request("session/attach", again, sessionId=session))["proposals"]
        await again.until(lambda: again.asked)
        again.answer({"decision": "allow"})
        await again.seen("editResolved")
        assert texts(app) == ["bar()\n", "foo()\n", "foo()\n"], "the ask speaks for the file it shows"
        await app.send(session, "go on", again)
        await decide_on(app, second, "reject", "not this one")
        assert app.model.requests == [], "the turn waits for the last file, as it did before"
        await decide_on(app, third, "accept")
        await again.seen("turnFinished")
        assert texts(app) == ["bar()\n", "foo()\n", "bar()\n"]
        sent = [block for message in app.model.requests[0].messages for block in getattr(message, "content", ())]
        (result,) = [str(block["content"]) for block in sent if block["type"] == "tool_result"]
        assert all(name in result for name in ("a.py", "c.py")) and "not this one" in result
        assert told(app).count("not this one") == 1, "and is not told of it again"
