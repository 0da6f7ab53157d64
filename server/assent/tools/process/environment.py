"""The environment of every process we start: the user's own, without our secrets and without traps.

What could make a plain command run something else (exported functions, BASH_ENV, relative PATH entries) is left out,
because the permission chain judges a command by its text. Takes a mapping and gives a new one; only
`user_environment` reads this process's.
"""

import os
from collections.abc import Collection, Mapping

from assent.tools.process.shims import without_shims
from assent.types.hardening import SCRUBBED_PREFIXES, SCRUBBED_VARIABLES, hardening_env
from assent.types.programs import safe_path, user_path
from assent.types.secret_names import secret_named

_SECRET_PREFIXES = ("ANTHROPIC_", "ASSENT_", "CLAUDE_CODE_")
_SECRET_NAMES = frozenset({"CLAUDE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"})
_TRAPS = frozenset((
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "BASH_XTRACEFD",
    "IFS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT", "OLDPWD",
))  # fmt: skip
_INDIRECT = frozenset({"TAR_OPTIONS"})
_CONFIGURES = frozenset(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"))
"""Where programs look for the user's own configuration: the project's files must not be taken for it."""
QUIET = {  # nobody is there to answer a prompt or to leave a pager
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "ASSENT": "1",
}


def child_environment(
    base: Mapping[str, str], *, extra: Mapping[str, str] | None = None, secrets: Collection[str] = ()
) -> dict[str, str]:
    """What a command of the user's project may see. `secrets` are values we hold: no variable may contain one."""
    env = {name: value for name, value in base.items() if _passes(name)}
    env |= QUIET
    env |= {name: value for name, value in (extra or {}).items() if _passes(name)}
    for name, value in list(env.items()):
        if any(secret in value for secret in secrets if len(secret) >= 8):
            del env[name]
    env["PATH"] = safe_path(env.get("PATH") or os.defpath)
    return env


def user_environment(*, extra: Mapping[str, str] | None = None, secrets: Collection[str] = ()) -> dict[str, str]:
    """`child_environment` of the user's own variables, with the PATH that this process was started with."""
    return child_environment({**os.environ, "PATH": user_path()}, extra=extra, secrets=secrets)


def left_out(base: Mapping[str, str], env: Mapping[str, str]) -> list[str]:
    """The names that a command must not see in an environment which is not ours: those left out of ours, and traps."""
    return sorted({*(name for name in base if name not in env), *_TRAPS, *_SECRET_NAMES} - env.keys())


def hardened(env: Mapping[str, str], *, roots: Collection[str]) -> dict[str, str]:
    """For commands that run without asking: git runs no code from a repository, PATH holds nothing of the project."""
    safe = {
        name: value
        for name, value in env.items()
        if name not in _INDIRECT
        and name not in SCRUBBED_VARIABLES
        and not name.startswith(SCRUBBED_PREFIXES)
        and not secret_named(name)  # what a project makes a program print holds none
        and not (name in _CONFIGURES and _leads_inside(value, roots))
    }
    path = without_shims(safe_path(env.get("PATH", os.defpath), outside=roots), roots=roots)
    return {**safe, **hardening_env(), "PATH": path}


def _leads_inside(value: str, roots: Collection[str]) -> bool:
    """Does one of the folders lie in a workspace? The workspace itself may be the home."""
    real = [os.path.realpath(root) for root in roots]
    return any(
        not folder.startswith("/") or any(os.path.realpath(folder).startswith(f"{root}/") for root in real)
        for folder in value.split(os.pathsep)
    )


def _passes(name: str) -> bool:
    return not (
        name.startswith(_SECRET_PREFIXES) or name in _SECRET_NAMES or name in _TRAPS or name.startswith("BASH_FUNC_")
    )
