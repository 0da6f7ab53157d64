"""The environment of every process we start: the user's own, without our secrets and without traps.

What could make a plain command run something else (exported functions, BASH_ENV, relative PATH entries) is left out,
because the permission chain judges a command by its text. Pure: takes a mapping, gives a new one.
"""

import os
import re
from collections.abc import Collection, Mapping

from assent.tools.process.shims import without_shims
from assent.types.hardening import SCRUBBED_PREFIXES, SCRUBBED_VARIABLES, hardening_env
from assent.types.programs import safe_path

_SECRET_PREFIXES = ("ANTHROPIC_", "ASSENT_", "CLAUDE_CODE_")
_SECRET_NAMES = frozenset({"CLAUDE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"})
_TRAPS = frozenset((
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "BASH_XTRACEFD",
    "IFS", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT", "OLDPWD",
))  # fmt: skip
_INDIRECT = frozenset({"TAR_OPTIONS"})
_KEPT_BACK = re.compile(r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY", re.IGNORECASE)
"""Variables that no command needs in order to read: what a project's files make a program print holds none of them."""
_CONFIGURES = frozenset(("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"))
"""Where programs look for the user's own configuration: the project's files must not be taken for it."""
_QUIET = {  # nobody is there to answer a prompt or to leave a pager
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
    env |= _QUIET
    env |= {name: value for name, value in (extra or {}).items() if _passes(name)}
    for name, value in list(env.items()):
        if any(secret in value for secret in secrets if len(secret) >= 8):
            del env[name]
    env["PATH"] = safe_path(env.get("PATH") or os.defpath)
    return env


def hardened(env: Mapping[str, str], *, roots: Collection[str]) -> dict[str, str]:
    """For commands that run without asking: git runs no code from a repository, PATH holds nothing of the project."""
    safe = {
        name: value
        for name, value in env.items()
        if name not in _INDIRECT
        and name not in SCRUBBED_VARIABLES
        and not name.startswith(SCRUBBED_PREFIXES)
        and not _KEPT_BACK.search(name)
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
