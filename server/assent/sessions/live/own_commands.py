"""Commands that the program itself wants to run in a workspace, such as `git status` for the first prompt.

They go the way of the model's own: the permission chain must let them run unasked as reading, and the Bash tool runs
them, with its hardened environment, its safe PATH and its fence. Nobody is asked about them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from assent.tools.bash import Bash, BashInput
from assent.tools.tool import Tool, ToolContext
from assent.types.errors import ToolError
from assent.types.permissions import Action, Decision

MILLISECONDS = 2000


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
