"""The client's buffers are the truth: what is read, what is written, and what is never done behind an editor's back."""

from pathlib import Path

import pytest
from acp.schema import ClientCapabilities, FileSystemCapabilities

from acpclient import FILES, Running, always
from fakeapi import FakeApi, text, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNSAVED = 'def greet():\n    return "Helo, unsaved"\n'


def edits(api: FakeApi, old: str = '"Helo', new: str = '"Hello', name: str = "greeter.py") -> None:
    api.reply(tool("Read", file_path=name))
    api.reply(tool("Edit", file_path=name, old_string=old, new_string=new))
    api.reply(text("Edited."))


def told(api: FakeApi) -> str:
    """What the model was told of its last call."""
    return str(list(api.requests[-1].tool_results.values())[-1]["content"])


async def test_an_unsaved_buffer_is_read_and_the_edit_lands_in_it(run: Running, api: FakeApi, workspace: Path) -> None:
    file = workspace / "greeter.py"
    run.editor.buffers[str(file)] = UNSAVED
    run.editor.answer = always("allow")
    edits(api)
    await run.prompt(await run.new(workspace), "fix it")
    first = next(iter(api.requests[-1].tool_results.values()))
    assert "Helo, unsaved" in str(first["content"])
    assert run.editor.written == [str(file)]
    assert file.read_text() == UNSAVED.replace("Helo", "Hello")
    change = (run.editor.asked[0].call.content or [])[0]
    assert change.old_text == UNSAVED  # pyright: ignore[reportAttributeAccessIssue] -- a diff, or the test fails


async def test_a_buffer_that_is_not_saved_is_changed_and_the_model_is_told(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "greeter.py"
    before = file.read_text()
    run.editor.buffers[str(file)] = UNSAVED
    run.editor.saves = False
    run.editor.answer = always("allow")
    edits(api)
    await run.prompt(await run.new(workspace), "fix it")
    assert run.editor.buffers[str(file)] == UNSAVED.replace("Helo", "Hello")
    assert file.read_text() == before
    assert "not yet saved to disk" in told(api)


async def test_typing_after_the_read_makes_the_edit_fail_not_the_typing(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "greeter.py"
    run.editor.buffers[str(file)] = UNSAVED

    def types_and_allows(_asked: object) -> str:
        run.editor.buffers[str(file)] = UNSAVED + "# mine\n"
        return "allow"

    run.editor.answer = types_and_allows
    edits(api)
    await run.prompt(await run.new(workspace), "fix it")
    assert run.editor.buffers[str(file)] == UNSAVED + "# mine\n"
    assert run.editor.written == []
    assert "changed since it was read" in told(api)


async def test_a_new_file_is_made_through_the_editor(run: Running, api: FakeApi, workspace: Path) -> None:
    file = workspace / "new.txt"
    file.unlink(missing_ok=True)
    run.editor.answer = always("allow")
    api.reply(tool("Write", file_path="new.txt", content="fresh\n"))
    api.reply(text("Made."))
    await run.prompt(await run.new(workspace), "make it")
    assert run.editor.written == [str(file)] and file.read_text() == "fresh\n"
    [call] = run.editor.calls().values()
    assert (call["content"][0].old_text, call["content"][0].new_text) == (None, "fresh\n")


@pytest.mark.parametrize("unreadable", [False, True], ids=["open", "unreadable"])
async def test_a_file_that_appeared_meanwhile_is_not_written_over(
    run: Running, api: FakeApi, workspace: Path, unreadable: bool
) -> None:
    file = workspace / "race.txt"
    file.unlink(missing_ok=True)
    run.editor.unreadable = {str(file)} if unreadable else set()

    def makes_it_first(_asked: object) -> str:
        file.write_text("somebody else's\n")
        return "allow"

    run.editor.answer = makes_it_first
    api.reply(tool("Write", file_path="race.txt", content="mine\n"))
    api.reply(text("Too late."))
    await run.prompt(await run.new(workspace), "make it")
    assert (file.read_text(), run.editor.written) == ("somebody else's\n", [])


async def test_what_the_editor_cannot_open_is_read_and_written_on_disk(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "greeter.py"
    run.editor.refuses = {str(file), str(workspace / "also.txt")}
    (workspace / "also.txt").unlink(missing_ok=True)
    run.editor.answer = always("allow")
    edits(api)
    session = await run.new(workspace)
    await run.prompt(session, "fix it")
    api.reply(tool("Write", file_path="also.txt", content="on disk\n"))
    api.reply(text("Made."))
    await run.prompt(session, "and make one")
    assert run.editor.written == []
    assert '"Hello"' in file.read_text() and (workspace / "also.txt").read_text() == "on disk\n"


async def test_line_ends_of_the_file_survive_an_editor_that_shows_only_its_own(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "dos.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    run.editor.answer = always("allow")
    edits(api, "two", "TWO", "dos.txt")
    await run.prompt(await run.new(workspace), "shout")
    assert run.editor.written == [str(file)] and file.read_bytes() == b"one\r\nTWO\r\n"
    assert "further" not in told(api)


async def test_an_editor_that_formats_on_saving_is_reported_as_it_is(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    run.editor.formats = lambda content: content + "# formatted\n"
    run.editor.answer = always("allow")
    edits(api)
    await run.prompt(await run.new(workspace), "fix it")
    assert (workspace / "greeter.py").read_text().endswith("# formatted\n")
    assert "changed the text further" in told(api) and "# formatted" in told(api)


async def test_a_client_without_files_leaves_them_to_the_disk(run: Running, api: FakeApi, workspace: Path) -> None:
    edits(api)
    run.editor.buffers[str(workspace / "greeter.py")] = UNSAVED
    run.editor.answer = always("allow")
    await run.introduce(ClientCapabilities())
    try:
        await run.prompt(await run.new(workspace), "fix it")
    finally:
        await run.introduce(FILES)
    assert run.editor.written == [] and '"Hello"' in (workspace / "greeter.py").read_text()


async def test_a_client_that_only_reads_never_has_its_unsaved_text_forked(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "greeter.py"
    run.editor.answer = always("allow")
    await run.introduce(ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=False)))
    try:
        edits(api)
        session = await run.new(workspace)
        await run.prompt(session, "fix it")
        assert '"Hello"' in file.read_text()  # the buffer was as saved
        run.editor.buffers[str(file)] = UNSAVED
        edits(api)
        await run.prompt(session, "fix it")
    finally:
        await run.introduce(FILES)
    assert '"Hello"' in file.read_text() and "unsaved changes in the editor" in told(api)
