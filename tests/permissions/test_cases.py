"""The published cases, decided by the chain and then tried with the real tools: what is not allowed does not happen."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.permissions.chain import decide
from assent.permissions.shell.judge import is_read_only
from assent.tools.builtin import builtin_tools
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process.jobs import ShellJobs
from assent.tools.run.executor import ToolExecutor
from assent.tools.tool import SessionState, ToolContext, ToolServices
from assent.types.messages import Message
from assent.types.permissions import Ask, Deny, Verdict
from assent.types.ports import ToolCall
from permissions.scratch import Scratch

CASES = Path(__file__).parents[1] / "cases"
FIELDS = {"Read": "file_path", "Write": "file_path", "WebFetch": "url", "Bash": "command"}


def published() -> list[tuple[str, dict[str, Any], str, str, str]]:
    """(id, given, tool, input, expected) for every input that is one call."""
    rows: list[tuple[str, dict[str, Any], str, str, str]] = []
    for name in ("permission-cases.json", "permission-controls.json"):
        for case in json.loads((CASES / name).read_text()):
            if case.get("tool") == "startup":
                continue  # a whole server: shown by the language server's tests
            for text in case["inputs"]:
                tool = case.get("tool", "Bash")
                if tool == "Read+Bash":
                    tool, text = ("Read", text[5:]) if text.startswith("Read ") else ("Bash", text[6:])
                if text.startswith("302 "):
                    text = f"https://{text.rpartition(' ')[2]}/"  # the hop is judged like any other address
                rows.append(
                    (
                        case.get("id", "control"),
                        case["given"],
                        tool,
                        text.removesuffix(" (absent before)"),
                        case["expect"],
                    )
                )
    return rows


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    return {key: given[key] for key in ("allow", "ask", "deny", "mode") if key in given}


@pytest.mark.parametrize(("id", "given", "tool", "text", "expected"), published(), ids=lambda value: str(value)[:40])
def test_published_cases_get_their_decision(
    shared_ws: Scratch, id: str, given: dict[str, Any], tool: str, text: str, expected: str
) -> None:
    text = text.replace("/w/proj", str(shared_ws.root)).replace("../proj-evil", f"../{shared_ws.root.name}-evil")
    decision = shared_ws.decide(tool, {FIELDS[tool]: text}, **options_of(given))
    assert decision.decision == expected, decision.reason


@pytest.mark.parametrize(("id", "given", "tool", "text", "expected"), published(), ids=lambda value: str(value)[:40])
async def test_what_is_not_allowed_does_not_happen(
    ws: Scratch, id: str, given: dict[str, Any], tool: str, text: str, expected: str
) -> None:
    if tool == "WebFetch":
        return  # nothing to see on disk, and tests never leave this machine
    text = text.replace("/w/proj", str(ws.root)).replace("../proj-evil", f"../{ws.root.name}-evil")
    before = snapshot(ws)
    await run_tool(ws, tool, {FIELDS[tool]: text, **({"content": "x"} if tool == "Write" else {})}, options_of(given))
    assert snapshot(ws) == before  # the allowed ones only read, too


def snapshot(ws: Scratch) -> dict[str, str]:
    """Every file below the workspace and the home: kind, mode and contents."""
    found: dict[str, str] = {}
    for base in (ws.root, ws.home):
        for path in sorted(base.rglob("*")):
            kind = f"-> {path.readlink()}" if path.is_symlink() else "dir" if path.is_dir() else ""
            digest = kind or hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = f"{path.lstat().st_mode:o} {digest}"
    return found


async def run_tool(ws: Scratch, name: str, input: dict[str, Any], options: dict[str, Any]) -> Verdict:
    """One call through the executor and the real tool; an ask is answered as if nobody were there."""
    verdicts: list[Verdict] = []
    context = ws.context(**options)

    async def can_use_tool(call: ToolCall) -> Verdict:
        decision = decide(call.action, context)
        verdicts.append(Deny(step=decision.step, reason=decision.reason) if isinstance(decision, Ask) else decision)
        return verdicts[-1]

    state = SessionState(cwd=str(ws.root))
    jobs = ShellJobs()

    def make_context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return ToolContext(
            session_id="s",
            tool_use_id=tool_use_id,
            state=state,
            services=ToolServices(
                workspace=DiskWorkspace(),
                roots=lambda: (str(ws.root),),
                jobs=jobs,
                env=lambda: {"HOME": str(ws.home)},
            ),
            progress=progress,
        )

    def emit(_message: Message) -> None:
        return None

    tools = {
        tool.name: tool
        for tool in builtin_tools(
            is_read_only=lambda command, cwd, roots: is_read_only(command, cwd, home=str(ws.home), roots=roots)
        )
    }
    try:
        with anyio.fail_after(120):
            async with ToolExecutor(
                tools=tools,
                can_use_tool=can_use_tool,
                make_context=make_context,
                emit=emit,
                clock=anyio.current_time,
                session_id="s",
                cwd=lambda: state.cwd,
            ) as executor:
                executor.add({"type": "tool_use", "id": "t1", "name": name, "input": input})
                await executor.finish()
    finally:
        await jobs.close()
    return verdicts[-1] if verdicts else Deny(step="exists", reason="the tool refused the input itself")
