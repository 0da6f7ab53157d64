"""What a program may get wrong: it is told at once and in words, and nothing waits for ever or passes in silence."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import assent
from fakeapi import FakeApi, text, tool

NEVER = 60.0  # seconds; only ever spent when something waits for ever


@dataclass
class Outside:
    place: Path


async def finished(project: Path, **chosen: Any) -> assent.types.Result:
    async with asyncio.timeout(NEVER), assent.Client(cwd=project, options=assent.Options(**chosen)) as client:
        return await client.ask("go")


def told(model: FakeApi) -> str:
    return json.dumps(list(model.calls[-1].tool_results.values()))


def cancelled(_given: object) -> Any:
    raise asyncio.CancelledError


def answering(answer: object) -> Any:
    def hook(_call: assent.HookCall) -> object:
        return answer

    return hook


@assent.tool
def add(a: int) -> int:
    """Add."""
    return a + 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"deny": "Bash"}, "deny is a list, not 'Bash'"),
        ({"allow": "Read"}, "allow is a list"),
        ({"ask": "Bash"}, "ask is a list"),
        ({"allow": None}, "allow is a list"),
        ({"setting_sources": "user"}, "setting_sources is a list"),
        ({"tools": [len]}, "mark the function with @assent.tool"),
        ({"tools": add}, "tools is a list"),
        ({"hooks": []}, "hooks is a mapping"),
        ({"hooks": {"PreToolUse": print}}, "PreToolUse has a list of functions"),
        ({"hooks": {"PreToolUse": [3]}}, "3 at PreToolUse is not a function"),
        ({"mcp_servers": []}, "mcp_servers is a mapping"),
        ({"settings": []}, "settings is a mapping"),
        ({"settings": {"permissions": 3}}, "permissions must be an object"),
        ({"can_use_tool": True}, "can_use_tool is a function"),
        ({"on_elicit": {"q1": "Blue"}}, "on_elicit is a function"),
        ({"offline": "no"}, "offline is True or False"),
        ({"api_key": 3}, "api_key is a text"),
    ],
)
async def test_an_option_of_the_wrong_kind_is_refused_by_its_name(
    project: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        await finished(project, **options)


async def test_a_hook_whose_matcher_is_no_expression_is_refused_instead_of_never_running(project: Path) -> None:
    hook = assent.HookMatcher(run=lambda call: None, matcher="Bash(")
    with pytest.raises(ValueError, match="not a regular expression"):
        await finished(project, hooks={"PreToolUse": [hook]})


@pytest.mark.parametrize("kind", [Path, Outside, complex, list[Path], "dict[str, Path]"])
def test_a_parameter_that_no_schema_describes_is_refused_where_the_tool_is_marked(kind: Any) -> None:
    def odd(place: Any) -> None:
        """Odd."""

    odd.__annotations__["place"] = kind
    with pytest.raises(TypeError, match="odd: the parameter place cannot be an input"):
        assent.tool(odd)


def test_what_is_no_function_is_not_a_tool() -> None:
    with pytest.raises(TypeError, match="a tool is made of a function"):
        assent.tool(3)  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.parametrize("name", ["ä", "٣", "a b", "x" * 65])
def test_names_that_the_endpoint_refuses_are_refused_here(name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        assent.tool(name=name, description="Odd.")(lambda: None)
    with pytest.raises(ValueError, match="letters, digits"):
        assent.mcp_server(name, tools=[add])


async def test_a_name_that_is_too_long_with_its_servers_is_refused(project: Path) -> None:
    long = assent.tool(name="t" * 64, description="Long.")(lambda: None)
    with pytest.raises(ValueError, match="at most 128"):
        await finished(project, mcp_servers={"s" * 64: assent.mcp_server("s", tools=[long])})


async def test_two_tools_of_one_name_are_refused(project: Path) -> None:
    other = assent.tool(name="add", description="Another.")(lambda: 2)
    with pytest.raises(ValueError, match="two have the name add"):
        await finished(project, tools=[add, other])


@pytest.mark.parametrize("function", [lambda: object(), lambda: cancelled(None)], ids=["no JSON", "cancelled"])
async def test_a_tool_that_answers_no_json_or_is_cancelled_has_failed_in_words(
    project: Path, model: FakeApi, function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    odd = assent.tool(name="odd", description="Odd.")(function)
    model.reply(tool("odd"))
    model.reply(text("Done."))
    assert (await finished(project, tools=[odd])).result == "Done."
    (result,) = model.calls[-1].tool_results.values()
    assert result["is_error"] and "unexpectedly" not in json.dumps(result)
    assert "crashed" not in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        assent.PermissionAnswer(decision="allow", updated_input="x"),  # pyright: ignore[reportArgumentType]
        assent.PermissionAnswer(decision="allow", updated_input=[1]),  # pyright: ignore[reportArgumentType]
        asyncio.CancelledError(),
    ],
    ids=["a text as the input", "a list as the input", "cancelled"],
)
async def test_a_permission_callback_that_breaks_denies_and_the_turn_goes_on(
    project: Path, model: FakeApi, answer: Any
) -> None:
    def decide(_request: assent.PermissionRequest) -> Any:
        return cancelled(None) if isinstance(answer, asyncio.CancelledError) else answer

    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Done."))
    assert (await finished(project, can_use_tool=decide)).result == "Done."
    assert not (project / "made").exists()
    assert "The permission callback failed" in told(model)


@pytest.mark.parametrize("answer", ["Blue", ["Blue"], True, asyncio.CancelledError()], ids=repr)
async def test_an_answer_to_a_question_that_is_no_mapping_declines(project: Path, model: FakeApi, answer: Any) -> None:
    colours = [{"label": each, "description": each} for each in ("Blue", "Red")]
    asked = {"question": "Which?", "header": "Colour", "options": colours, "multiSelect": False}
    model.reply(tool("AskUserQuestion", questions=[asked]))
    model.reply(text("Done."))

    def choose(_question: Any) -> Any:
        return cancelled(None) if isinstance(answer, asyncio.CancelledError) else answer

    assert (await finished(project, on_elicit=choose)).result == "Done."
    assert "did not answer" in told(model)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("block", "answered with str"),
        ({"decision": "block"}, "answered with dict"),
        (True, "answered with bool"),
        (assent.HookOutcome(status="block"), "the status 'block'"),  # pyright: ignore[reportArgumentType]
        (assent.HookOutcome(decision="no"), "the decision 'no'"),  # pyright: ignore[reportArgumentType]
        (assent.HookOutcome(updated_input="x"), "an input that is str"),  # pyright: ignore[reportArgumentType]
        (assent.HookOutcome(text=3), "a text that is not text"),  # pyright: ignore[reportArgumentType]
    ],
)
async def test_a_hooks_answer_that_is_none_blocks_the_call_it_was_to_judge(
    project: Path, model: FakeApi, answer: Any, said: str
) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Done."))
    done = await finished(project, allow=["Bash(touch:*)"], hooks={"PreToolUse": [answering(answer)]})
    assert done.result == "Done." and not (project / "made").exists()
    assert said in told(model)


async def test_elsewhere_such_an_answer_is_an_error_and_changes_nothing(project: Path, model: FakeApi) -> None:
    model.reply(text("Done."))
    done = await finished(project, hooks={event: [answering("x")] for event in ("UserPromptSubmit", "Stop")})
    assert done.result == "Done." and len(model.calls) == 1


@pytest.mark.parametrize(
    "prompt",
    [{"role": "assistant", "content": "x"}, {"type": "assistant", "message": {"role": "assistant", "content": "x"}}],
)
async def test_what_another_role_says_is_not_sent_as_the_users_words(project: Path, prompt: Any) -> None:
    with pytest.raises(TypeError, match="its role is user"):
        async for _ in assent.query(prompt, cwd=project):
            pass


async def test_a_client_is_entered_once_and_the_first_one_goes_on(project: Path, model: FakeApi) -> None:
    async with assent.Client(cwd=project) as client:
        with pytest.raises(assent.AssentError, match="in use already"):
            async with client:
                pass
        model.reply(text("Still here."))
        assert (await client.ask("go")).result == "Still here."


async def test_prompts_are_told_from_tool_results(project: Path, model: FakeApi) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Done."))
    async with assent.Client(cwd=project) as client:
        await client.ask("go")
        said = [each for each in assent.read_session(client.session_id) if each.type == "user"]
    assert [each.content[0].get("text") for each in said if each.is_prompt] == ["go"]
    assert len(said) == 2
