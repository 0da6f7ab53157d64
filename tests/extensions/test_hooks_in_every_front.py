"""The same hooks do the same wherever a session is shown: over LSP, over ACP, in `assent ask` and in the SDK (H)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from acpclient import running
from assent.types.blocks import Json
from fakeapi import FakeApi, Reply, Request, text, tool
from lspclient import Client, Server

PROGRAM = str(Path(sys.executable).with_name("assent"))
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop")
ANSWERS: dict[str, Json] = {
    "UserPromptSubmit": {"additionalContext": "the build is red"},
    "PreToolUse": {"permissionDecision": "allow", "updatedInput": {"command": "touch other"}},
    "PostToolUse": {"updatedToolOutput": "it went well"},
}
SDK = """\
import asyncio, sys, assent

async def main():
    async for message in assent.query("make a file", cwd=sys.argv[1]):
        pass

asyncio.run(main())
"""


def model(request: Request) -> Reply:
    done = any(block.get("type") == "tool_result" for _, block in request.blocks)
    return Reply(parts=(text("Done."),) if done else (tool("Bash", command="touch made"),))


async def over_lsp(home: Path, project: Path, api: FakeApi) -> None:
    client = Client(Server(home, env=api.env))
    await client.start()
    try:
        await client.initialize(project, assent={"client": {"permissions": True}})
        opened = await client.request("assent/session/new", {"cwd": str(project)})
        params = {"sessionId": opened["sessionId"], "prompt": "make a file", "wait": True}
        await client.request("assent/session/send", params, timeout=120)
    finally:
        await client.close()


async def over_acp(home: Path, project: Path, api: FakeApi) -> None:
    async with running(home, env=api.env) as run:
        await run.prompt(await run.new(project), "make a file")


async def in_ask(home: Path, project: Path, api: FakeApi) -> None:
    await _program([PROGRAM, "ask", "make a file"], home, project, api)


async def in_the_sdk(home: Path, project: Path, api: FakeApi) -> None:
    await _program([sys.executable, "-c", SDK, str(project)], home, project, api)


async def _program(argv: list[str], home: Path, project: Path, api: FakeApi) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **api.env}
    process = await asyncio.create_subprocess_exec(*argv, cwd=project, env=env, stdin=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(120):
        assert await process.wait() == 0


Front = Callable[[Path, Path, FakeApi], Awaitable[None]]
FRONTS: dict[str, Front] = {"LSP": over_lsp, "ACP": over_acp, "ask": in_ask, "SDK": in_the_sdk}


@pytest.mark.timeout(300)
async def test_the_same_hook_file_gives_the_same_log_in_every_front(tmp_path: Path) -> None:
    seen: dict[str, tuple[list[object], list[object]]] = {}
    for name, front in FRONTS.items():
        root = tmp_path / name
        home, project = root / "home", root / "project"
        prepared(root, home, project)
        async with FakeApi() as api:
            api.otherwise(model)
            await front(home, project, api)
            results = next(call.tool_results for call in api.calls if call.tool_results)
            assert "it went well" in json.dumps(results) and "the build is red" in json.dumps(api.calls[0].body)
        assert (project / "other").exists() and not (project / "made").exists()
        seen[name] = (log_of(home), given_to(root))
    log, given = seen["LSP"]
    assert [entry[0] for entry in log] == list(EVENTS)  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]
    for name, found in seen.items():
        assert found == (log, given), name


def prepared(root: Path, home: Path, project: Path) -> None:
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    hooks: Json = {}
    for event in EVENTS:
        answer = {"hookSpecificOutput": {"hookEventName": event, **ANSWERS[event]}} if event in ANSWERS else {}
        script = root / f"{event}.sh"
        script.write_text(f"cat >> {root}/given; echo >> {root}/given\necho '{json.dumps(answer) if answer else ''}'\n")
        hooks[event] = [{"matcher": "*", "hooks": [{"type": "command", "command": f"bash {script}"}]}]
    (home / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))


def log_of(home: Path) -> list[object]:
    """Without what differs from run to run: ids, times, folders."""
    (file,) = home.glob("**/hooks.jsonl")
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    return [
        (each["event"], each["outcome"], each["changed"], each["exitCode"], Path(each["command"].split()[-1]).name)
        for each in entries
    ]


def given_to(root: Path) -> list[object]:
    given = [json.loads(line) for line in (root / "given").read_text().splitlines()]
    return [(each["hook_event_name"], sorted(each), each.get("tool_input"), each.get("prompt")) for each in given]
