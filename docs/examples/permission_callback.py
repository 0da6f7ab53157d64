"""A permission callback: your program answers what the permission chain would ask a person.

python permission_callback.py "Run the tests and tidy up"

The chain comes first: what a rule denies never gets here, and what is plainly read-only is not asked about.
"""

import asyncio
import sys
from pathlib import Path

import assent

FINE = ("make test", "make lint")


async def decide(request: assent.PermissionRequest) -> assent.PermissionAnswer | bool:
    command = request.input.get("command", "") if request.tool == "Bash" else ""
    if command in FINE:
        return True
    if command.startswith("rm "):  # another line instead; it is judged again from the first step
        return assent.PermissionAnswer(decision="allow", updated_input={"command": f"echo would run: {command}"})
    return assent.PermissionAnswer(decision="deny", message=f"Not here: {request.reason}")


async def work(prompt: str, folder: Path) -> assent.types.Result:
    async with assent.Client(cwd=folder, options=assent.Options(can_use_tool=decide)) as client:
        return await client.ask(prompt)


if __name__ == "__main__":
    done = asyncio.run(work(sys.argv[1], Path.cwd()))
    print(done.result)
    for denial in done.permission_denials:
        print(f"denied: {denial.tool_name} {denial.tool_input}")
