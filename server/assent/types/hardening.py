"""The environment under which commands allowed as read-only run, so that they stay so.

Configuration and variables can make a plain `git status` or `rg` start other programs. The permission chain counts on
this when it lets a command run unasked; the tools apply it. Here is only what to apply.
"""

from collections.abc import Mapping

SCRUBBED_VARIABLES: tuple[str, ...] = tuple(
    sorted(
        [
            "BASH_ENV",
            "ENV",
            "CDPATH",
            "GLOBIGNORE",
            "PROMPT_COMMAND",
            "PS4",
            "SHELLOPTS",
            "BASHOPTS",
            "BASH_XTRACEFD",
            "GIT_EXTERNAL_DIFF",
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_EXEC_PATH",
            "GIT_SSH",
            "GIT_SSH_COMMAND",
            "GIT_PROXY_COMMAND",
            "GIT_ASKPASS",
            "GIT_CONFIG",
            "GIT_CONFIG_PARAMETERS",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_TRACE",
            "GIT_TRACE2",
            "GIT_TRACE2_EVENT",
            "RIPGREP_CONFIG_PATH",
            "GREP_OPTIONS",
            "LESSOPEN",
            "LESSCLOSE",
            "LD_PRELOAD",
            "LD_AUDIT",
            "LD_LIBRARY_PATH",
            "JQ_LIBRARY_PATH",
            "POSIXLY_CORRECT",
        ]
    )
)
"""Variables the Bash tool drops before an auto-allowed command: each can change what a plain command does."""

_GIT_CONFIG = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.untrackedCache": "false",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "diff.autoRefreshIndex": "false",
    "interactive.diffFilter": "",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}


def hardening_env() -> Mapping[str, str]:
    """Environment for commands allowed as read-only: git runs no hook, monitor, pager, helper or transport for them.

    The Bash tool adds it, and drops `SCRUBBED_VARIABLES`, whenever `is_read_only` holds. Commands that a person or a
    rule allowed for more than reading run without it: a commit must run the user's hooks.
    """
    env = {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "PAGER": "cat",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_EDITOR": "false",
        "GIT_CONFIG_COUNT": str(len(_GIT_CONFIG)),
    }
    for number, (key, value) in enumerate(_GIT_CONFIG.items()):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env
