"""A user's own file under pyright strict: what they write is known to the checker, and what is wrong is found."""

import json
import subprocess
import sys
from pathlib import Path

RIGHT = '''
from collections.abc import Sequence
from dataclasses import dataclass

import assent


@dataclass
class Answer:
    words: list[str]


@assent.tool(read_only=True)
def count(words: Sequence[str]) -> int:
    """Count words."""
    return len(words)


async def decide(request: assent.PermissionRequest) -> bool:
    return request.tool == "Read"


async def guard(call: assent.HookCall) -> assent.HookOutcome | None:
    return assent.HookOutcome(status="blocked", text=call.event) if call.subject == "Bash" else None


async def main() -> float:
    options = assent.Options(
        mode="plan", output=Answer, tools=[count], can_use_tool=decide, hooks={"PreToolUse": [guard]}, record="tape"
    )
    async for message in assent.query("hi", cwd=".", options=options):
        if message.type == "assistant":
            print(message.model.upper(), len(message.content))
        elif isinstance(message, assent.types.ToolStarted):
            print(message.title.upper())
        elif message.type == "result" and isinstance(message.structured_output, Answer):
            print(message.structured_output.words[0].upper())
    async with assent.Client(options=options) as client:
        try:
            return (await client.ask("hi")).total_cost_usd
        except assent.AbortError:
            await client.set_mode("default")
    print([message.type for message in assent.read_session(str(assent.list_sessions()[0]["sessionId"]))])
    return assent.run("hi").total_cost_usd
'''

WRONG = """
import assent

assent.Options(mode="reckless")
assent.Options(max_turns="three")
assent.run("hi").no_such_field
assent.HookOutcome(status="maybe")
assent.no_such_name
"""


def test_a_users_file_passes_pyright_strict_and_mistakes_are_found(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = json.loads(done.stdout)
    lines: dict[str, set[int]] = {"right.py": set(), "wrong.py": set()}
    for each in said["generalDiagnostics"]:
        if each["severity"] == "error":
            lines[Path(each["file"]).name].add(each["range"]["start"]["line"])
    assert said["summary"]["filesAnalyzed"] == 2
    assert lines == {"right.py": set(), "wrong.py": {3, 4, 5, 6, 7}}, done.stdout
