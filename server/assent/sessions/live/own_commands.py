"""Commands that the program itself wants to run in a workspace, such as `git status` for the first prompt.

They pass the same checks as the model's commands: the permission chain must allow them as reading without an ask, and
the Bash tool runs them with its hardened environment, its safe PATH and its fence.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from assent.sessions.deps import PermissionFacts
from assent.sessions.live.owning_session import OwningSession
from assent.tools.bash import Bash, BashInput
from assent.tools.tool import Tool, ToolContext, ToolServices
from assent.types.errors import ToolError
from assent.types.permissions import Action, Decision

MILLISECONDS = 2000


async def run_in_session(session: OwningSession, facts: Callable[[], PermissionFacts], command: str) -> str:
    """Run a command of our own: decided by the session's rules, run by its tools, never asked about."""
    await session.deps.turnstile.pass_through()
    plain = replace(facts(), mode="default", interactive=False)
    services = session.services
    return await run_unasked(
        command,
        decide=lambda action: session.deps.decide(action, plain),
        tools=services.tools(),
        context=ToolContext(
            session_id=session.id,
            tool_use_id="",
            state=session.state,
            services=ToolServices(roots=services.roots, jobs=services.jobs),  # nothing of the editor's is saved for it
        ),
    )


async def run_unasked(
    command: str, *, decide: Callable[[Action], Decision], tools: Sequence[Tool[Any]], context: ToolContext
) -> str:
    """What the command says; empty when it may not run unasked, cannot run or fails."""
    bash = next((tool for tool in tools if isinstance(tool, Bash)), None)
    if bash is None:
        return ""
    input = BashInput(command=command, timeout=MILLISECONDS)
    decision = decide(bash.action(input, cwd=context.cwd))
    if decision.decision != "allow" or decision.step != "readOnly":
        return ""
    try:
        output = await bash.call(input, context)
    except ToolError:
        return ""
    return "" if output.is_error or not isinstance(output.content, str) else output.content
