"""Resume: a conversation goes on later, in another process, from what is on disk.

python resume_session.py "My favourite colour is blue."
python resume_session.py "Which colour did I name?"
"""

import asyncio
import sys
from pathlib import Path

import assent


async def go_on(prompt: str, folder: Path) -> assent.types.Result:
    """One more turn of the newest conversation of the folder, or the first turn of a new one."""
    earlier = assent.list_sessions(cwd=folder)
    session = str(earlier[0]["sessionId"]) if earlier else None
    async with assent.Client(cwd=folder, options=assent.Options(resume=session)) as client:
        return await client.ask(prompt)


def prompts_of(session: str) -> list[str]:
    """What the user has said in a conversation so far."""
    said = [each for each in assent.read_session(session) if each.type == "user" and each.is_prompt]
    return ["".join(str(block.get("text", "")) for block in each.content) for each in said]


if __name__ == "__main__":
    answer = asyncio.run(go_on(sys.argv[1], Path.cwd()))
    print(answer.result)
    print(f"({len(prompts_of(answer.session_id))} prompts so far)")
