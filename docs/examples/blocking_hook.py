"""A hook that blocks: no command of the model may speak to the production database. The model reads why.

python blocking_hook.py "Clean up the old rows"
"""

import asyncio
import sys
from pathlib import Path

import assent


async def not_in_production(call: assent.HookCall) -> assent.HookOutcome | None:
    command = str(call.data.get("tool_input", {}).get("command", ""))
    if "prod-db" in command:
        return assent.HookOutcome(status="blocked", text="prod-db is off limits; use staging-db.")
    return None  # no opinion: the permission chain decides as ever


async def guarded(prompt: str, folder: Path) -> assent.types.Result:
    hook = assent.HookMatcher(run=not_in_production, matcher="Bash", timeout=5)
    options = assent.Options(hooks={"PreToolUse": [hook]}, allow=["Bash(echo:*)"])
    async with assent.Client(cwd=folder, options=options) as client:
        return await client.ask(prompt)


if __name__ == "__main__":
    print(asyncio.run(guarded(sys.argv[1], Path.cwd())).result)
