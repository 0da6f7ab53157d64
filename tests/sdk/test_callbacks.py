"""Functions of a program: plain or async, and a mistake in them never allows anything and is never silent."""

import json
from pathlib import Path
from typing import Any

import pytest

import assent
from assent import types
from fakeapi import FakeApi, text, tool


async def finished(cwd: Path, **options: Any) -> types.Result:
    async with assent.Client(cwd=cwd, options=options) as client:
        return await client.ask("go")


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        (True, True),
        (assent.PermissionAnswer(decision="allow"), True),
        (False, False),
        (None, False),
        ("allow", False),
        (RuntimeError("broken"), False),
    ],
    ids=["True", "an allowing answer", "False", "nothing", "a word", "an error"],
)
async def test_a_plain_function_decides_and_everything_but_a_clear_yes_is_a_no(
    project: Path, model: FakeApi, answer: Any, made: bool
) -> None:
    def decide(request: assent.PermissionRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Done."))
    await finished(project, can_use_tool=decide)
    assert (project / "made").exists() == made


async def test_a_plain_function_is_a_hook_that_blocks(project: Path, model: FakeApi) -> None:
    def block(call: assent.HookCall) -> assent.HookOutcome | None:
        return assent.HookOutcome(status="blocked", text="not today")

    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Then not."))
    await finished(project, hooks={"PreToolUse": [block]})
    assert "not today" in json.dumps(model.calls[-1].body["messages"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hooks": {"PreTolUse": []}}, "PreToolUse is one"),
        ({"allow": ["Bash("]}, "Tool"),
        ({"deny": ["Read(.env"]}, "Tool"),
        ({"settings": {"permisions": {}}}, "permissions"),
        ({"setting_sources": ("user", "local")}, "local"),
    ],
    ids=["hook event", "allow rule", "deny rule", "setting", "source"],
)
async def test_what_would_have_no_effect_is_refused(project: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        await finished(project, **options)


@pytest.mark.parametrize(
    "prompt",
    [
        "My colour is blue.",
        [{"type": "text", "text": "My colour is blue."}],
        {"role": "user", "content": "My colour is blue."},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "My colour is blue."}]}},
        types.UserMessage(uuid="u1", content=({"type": "text", "text": "My colour is blue."},)),
    ],
    ids=["text", "blocks", "message", "wrapped message", "UserMessage"],
)
async def test_a_prompt_is_text_blocks_or_a_message(project: Path, model: FakeApi, prompt: Any) -> None:
    model.reply(text("Blue."))
    async with assent.Client(cwd=project) as client:
        assert (await client.ask(prompt)).result == "Blue."
    assert "My colour is blue." in json.dumps(model.calls[0].body["messages"])


@pytest.mark.parametrize("prompt", [42, None, ["a", "b"], {"text": "a"}], ids=repr)
async def test_what_is_no_prompt_is_refused_in_words(project: Path, prompt: Any) -> None:
    async with assent.Client(cwd=project) as client:
        with pytest.raises(TypeError, match="a prompt is text"):
            await client.ask(prompt)


async def test_run_inside_an_event_loop_says_what_to_do(project: Path) -> None:
    with pytest.raises(assent.AssentError, match="without an event loop"):
        assent.run("hi", cwd=project)


async def test_an_interrupted_ask_raises_abort_error_and_the_next_one_works(project: Path, model: FakeApi) -> None:
    async def stop(call: assent.HookCall) -> None:
        await client.interrupt()

    client = assent.Client(cwd=project, options={"hooks": {"PreToolUse": [stop]}})
    async with client:
        model.reply(tool("Read", file_path="greeter.py"))
        with pytest.raises(assent.AbortError):
            await client.ask("read it")
        model.reply(text("Here again."))
        assert (await client.ask("go on")).result == "Here again."


async def test_rewind_takes_back_the_prompt_and_its_changes(project: Path, model: FakeApi) -> None:
    async with assent.Client(cwd=project, options={"mode": "acceptEdits"}) as client:
        model.reply(tool("Read", file_path="greeter.py"))
        model.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
        model.reply(text("Fixed."))
        await client.ask("fix it")
        prompt = assent.read_session(client.session_id)[0]
        assert isinstance(prompt, types.UserMessage)
        preview = await client.rewind(prompt.uuid, dry_run=True)
        assert "greeter.py" in json.dumps(preview) and "Hello" in (project / "greeter.py").read_text()
        await client.rewind(prompt.uuid)
        assert "Helo" in (project / "greeter.py").read_text()
        model.reply(text("Nothing yet."))
        await client.ask("what did you do?")
        assert "fix it" not in json.dumps(model.calls[-1].body["messages"])


async def test_set_model_changes_the_next_request(project: Path, model: FakeApi) -> None:
    async with assent.Client(cwd=project) as client:
        model.reply(text("One."))
        await client.ask("first")
        await client.set_model("haiku")
        model.reply(text("Two."))
        await client.ask("second")
    first, second = model.calls[0].body["model"], model.calls[-1].body["model"]
    assert first != second and "haiku" in second
