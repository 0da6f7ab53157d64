"""Runs command lines with the Bash tool, one after the other: JSON in, JSON out. See `fencekit`.

Whatever they are, they are judged read-only, so they run inside the fence; where that does not hold, none is run.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from assent.tools.bash import Bash
from assent.tools.process.fence import Fences
from assent.types.errors import ToolError
from fencekit import holds_fully
from toolbox import Toolbox

os.environ.pop("PYTHONPATH", None)  # ours, not the commands'


async def main(task: dict[str, Any]) -> list[dict[str, Any]]:
    fence = Fences(home=task["home"], own=task["own"]).make() if task["fenced"] else None
    assert fence is None or holds_fully()
    roots = tuple(task["roots"])
    box = Toolbox(Path(roots[0]))
    box.tools["Bash"] = Bash(is_read_only=lambda _command, _cwd, _roots: True, fence=fence)
    done: list[dict[str, Any]] = []
    try:
        for command in task["commands"]:
            box.state.cwd = roots[0]
            input = {"command": command, "timeout": round(1000 * task["seconds"])}
            try:
                output = await box.call_in(box.context(roots=roots), "Bash", input)
                done.append({"content": output.content, "failed": output.is_error})
            except ToolError as error:
                done.append({"content": str(error), "failed": True, "refused": True})
    finally:
        await box.jobs.close()
    return done


if __name__ == "__main__":
    json.dump(anyio.run(main, json.load(sys.stdin)), sys.stdout)
