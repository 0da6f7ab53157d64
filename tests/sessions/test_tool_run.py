"""Tools without a model, through the same chain (T10)."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.extensions.hooks import Hook, InProcessHooks
from assent.sessions.deps import PermissionFacts
from assent.sessions.stream.front import Call
from assent.tools.tool import ToolContext, ToolOutput
from assent.tools.web_search import WebSearch
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.types.hooks import HookCall, HookOutcome
from assent.types.permissions import Action, Allow, Decision, Deny
from assent.types.ports import Elicitation
from sessions.harness import Note, NoteInput, TestFront, running


class Endless(Note):
    name = "Endless"

    def __init__(self) -> None:
        super().__init__()
        self.began = anyio.Event()
        self.cancelled = False

    def action(self, input: NoteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input={"text": input.text})

    async def call(self, input: NoteInput, ctx: ToolContext) -> ToolOutput:
        if input.text == "fail":
            raise ToolError("it failed")
        self.began.set()
        try:
            await anyio.Event().wait()
        finally:
            self.cancelled = True
        raise AssertionError


async def test_a_tool_runs_with_progress_events_and_a_plain_result(tmp_path: Path) -> None:
    front = TestFront()
    progress: list[str] = []
    async with running(tmp_path) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front)
        params: Json = {"sessionId": session, "name": "Note", "input": {"text": "milk"}}
        answer = await app.hub.request("assent/tool/run", params, Call(front=front, progress=progress.append))
        assert answer == {
            "content": [{"type": "text", "text": "noted milk"}],
            "isError": False,
            "durationMs": answer["durationMs"],
        }
        assert progress == ["noting milk"]
        assert [kind for kind in front.types if kind.startswith("tool")] == [
            "toolStarted",
            "toolProgress",
            "toolFinished",
        ]
        assert app.model.requests == []


async def test_asks_are_asked_and_answers_count(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow"})
    async with running(tmp_path) as app:
        await app.request("tool/run", front, name="Note", input={"text": "milk"})
        assert app.note.notes == ["milk"] and len(front.asked) == 1


async def test_a_denial_is_an_error_of_its_own_kind(tmp_path: Path) -> None:
    def deny(_action: Action, _facts: PermissionFacts) -> Decision:
        return Deny(step="rules", reason="never notes")

    async with running(tmp_path, decide=deny) as app:
        with pytest.raises(ProtocolError, match="never notes") as refused:
            await app.request("tool/run", name="Note", input={"text": "milk"})
        assert refused.value.kind == "permissionDenied"


async def test_cancelling_stops_the_tool_and_says_cancelled(tmp_path: Path) -> None:
    tool = Endless()
    failures: list[ProtocolError] = []
    async with running(tmp_path, tools=[tool]) as app:
        call = Call()

        async def run() -> None:
            try:
                await app.hub.request("assent/tool/run", {"name": "Endless", "input": {"text": "x"}}, call)
            except ProtocolError as error:
                failures.append(error)

        with anyio.fail_after(120):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await tool.began.wait()
                call.cancelled.set()
        assert tool.cancelled
        assert [(error.kind, error.code) for error in failures] == [("cancelled", -32800)]


@pytest.mark.parametrize(
    ("params", "is_error"),
    [
        ({"name": "Endless", "input": {"text": "fail"}}, True),
        ({"name": "Note", "input": {"txt": 1}}, True),
        ({"name": "Nothing", "input": {}}, None),
        ({"name": "Note", "input": "text"}, None),
    ],
)
async def test_failures_and_bad_input_are_told_apart(tmp_path: Path, params: Any, is_error: bool | None) -> None:
    async with running(tmp_path, tools=[Endless()]) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        if is_error is None:
            with pytest.raises(ProtocolError) as refused:
                await app.request("tool/run", **params)
            assert refused.value.kind == "invalidParams"
        else:
            assert (await app.request("tool/run", **params))["isError"] is is_error


async def test_tools_are_listed_with_their_schemas_and_leave_no_session_behind(tmp_path: Path) -> None:
    async with running(tmp_path) as app:
        (tool,) = (await app.request("tool/list"))["tools"]
        assert tool["name"] == "Note" and tool["inputSchema"]["properties"]["text"] == {"type": "string"}
        assert (await app.request("session/list"))["sessions"] == []
        assert list((app.deps.data_dir / "scratch").rglob("*.jsonl"))
    async with running(tmp_path) as app:
        assert (await app.request("session/list"))["sessions"] == []
        assert not list((app.deps.data_dir / "scratch").rglob("*.jsonl"))


async def test_a_tool_run_by_a_client_has_the_same_services_as_in_a_turn(tmp_path: Path) -> None:  # T10, T6
    async def search(query: str, _allowed: list[str], _blocked: list[str]) -> str:
        return f"found {query}"

    def allow(_action: Action, _facts: PermissionFacts) -> Decision:
        return Allow(step="rules", reason="allowed")

    async with running(tmp_path, search_web=search, tools=[WebSearch()], decide=allow) as app:
        session = await app.new()
        result = await app.request("tool/run", sessionId=session, name="WebSearch", input={"query": "tea"})
        assert (result["isError"], result["content"][0]["text"]) == (False, "found tea")


async def test_hooks_answer_the_question_of_a_server_whose_tool_a_client_runs(tmp_path: Path) -> None:  # T10, H
    class Asking(Note):
        name = "Asking"

        def action(self, input: NoteInput, *, cwd: str) -> Action:
            return Action(tool=self.name, input={}, harmless=True)

        async def call(self, input: NoteInput, ctx: ToolContext) -> ToolOutput:
            assert ctx.elicit is not None
            answer = await ctx.elicit(Elicitation(message="Which?", schema={"type": "object"}, server="paint"))
            return ToolOutput(content=f"{answer.action} {answer.content.get('colour')}")

    async def green(call: HookCall) -> HookOutcome:
        return HookOutcome(specific={"action": "accept", "content": {"colour": f"green for {call.subject}"}})

    def allow(_action: Action, _judgement: PermissionFacts) -> Decision:
        return Allow(step="rules", reason="allowed")

    hooks = InProcessHooks((Hook(event="Elicitation", run=green),))
    async with running(tmp_path, tools=[Asking()], hooks=hooks, decide=allow) as app:
        session = await app.new()
        result = await app.request("tool/run", sessionId=session, name="Asking", input={"text": ""})
        assert result["content"][0]["text"] == "accept green for paint"
