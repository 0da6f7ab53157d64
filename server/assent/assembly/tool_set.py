"""The built-in tools of one session, with the rules, fences and agents that hold where it works."""

from collections.abc import Callable, Sequence
from functools import partial

from assent.assembly.deciding import Deciding
from assent.sessions.definitions import Definitions
from assent.sessions.deps import PermissionFacts
from assent.storage.settings import Settings
from assent.tools.builtin import builtin_tools
from assent.tools.tool import AnyTool


def tool_set(
    cwd: str,
    current: Callable[[], PermissionFacts],
    *,
    deciding: Deciding,
    settings: Settings,
    definitions: Definitions,
    secrets: Callable[[], Sequence[str]],
    editor: bool,
) -> Sequence[AnyTool]:
    """Searches and fetches ask `current` for the rules when they begin: those may change while the tools live."""
    return builtin_tools(
        is_read_only=partial(deciding.is_read_only, cwd),
        may_read=lambda: deciding.readable(current()),
        secrets=secrets,
        fence=deciding.fences.make(scope=settings.typed.sandbox.scope, network=settings.typed.sandbox.network),
        private_allowed=lambda host: deciding.private_allowed(current(), host),
        agents=lambda: [
            (agent.name, agent.description) for agent in definitions.of(cwd).usable_agents if agent.model_invocable
        ],
        isolated=lambda name: any(
            agent.isolation is not None and agent.name.casefold() == name.casefold()
            for agent in definitions.of(cwd).usable_agents
        ),
        editor=editor,
    )
