"""The sandbox as Bash uses it: a stricter one for commands that only read, a working one for the rest."""

from collections.abc import Sequence

from assent.tools import sandbox
from assent.tools.bash import Fence


def system_fence(*, network: bool = False, writable: Sequence[str] = (), kind: sandbox.Kind | None = None) -> Fence:
    """The best fence this system has. `writable` are folders outside the workspace that commands may change."""

    def fenced(argv: Sequence[str], read_only: bool, roots: Sequence[str]) -> Sequence[str]:
        if read_only:
            policy = sandbox.reading_policy()
        else:
            policy = sandbox.working_policy((*roots, *writable), network=network)
        return sandbox.plan(argv, policy, kind=kind).argv

    return fenced
