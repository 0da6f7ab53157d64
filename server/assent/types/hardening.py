"""The environment under which commands allowed as read-only run, so that they stay so.

Configuration and variables can make a plain `git status` or `rg` start other programs. The permission chain counts on
this when it lets a command run unasked; the tools apply it. Here is only what to apply.
"""

from collections.abc import Mapping

_SCRUBBED = """
    BASH_ENV ENV CDPATH GLOBIGNORE PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS BASH_XTRACEFD RIPGREP_CONFIG_PATH GREP_OPTIONS
    LESSOPEN LESSCLOSE LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH JQ_LIBRARY_PATH POSIXLY_CORRECT TEXTDOMAINDIR SSH_ASKPASS

    GIT_EXTERNAL_DIFF GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_INDEX_VERSION GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT
    GIT_PROXY_COMMAND GIT_ASKPASS GIT_SEQUENCE_EDITOR GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_GRAFT_FILE GIT_SHALLOW_FILE
    GIT_REPLACE_REF_BASE GIT_NAMESPACE GIT_ATTR_SOURCE GIT_DIFF_OPTS GIT_INTERNAL_SUPER_PREFIX GIT_REF_PARANOIA
    GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER GIT_REDIRECT_STDIN GIT_REDIRECT_STDOUT GIT_REDIRECT_STDERR GIT_PREFIX
    GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_IMPLICIT_WORK_TREE GIT_NOTES_REF GIT_NOTES_DISPLAY_REF

    GIT_TRACE GIT_TRACE_PACKET GIT_TRACE_PACKFILE GIT_TRACE_PACK_ACCESS GIT_TRACE_PERFORMANCE GIT_TRACE_REFS
    GIT_TRACE_SETUP GIT_TRACE_SHALLOW GIT_TRACE_CURL GIT_TRACE_FSMONITOR GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF
    GIT_TRACE2_DST_DEBUG

    NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PIP_CONFIG_FILE TAR_OPTIONS UNZIP UNZIPOPT
    GZIP BZIP BZIP2 XZ_DEFAULTS XZ_OPT ZIPINFO ZIPINFOOPT

    GIT_CONFIG_SYSTEM GOENV MAGIC MAKEFILES MAKEFLAGS GCC_EXEC_PREFIX COMPILER_PATH GCONV_PATH LOCPATH NLSPATH TERMINFO
    TERMCAP TERMINFO_DIRS MALLOC_TRACE GLIBC_TUNABLES
"""
SCRUBBED_VARIABLES: tuple[str, ...] = tuple(sorted(_SCRUBBED.split()))
"""Variables the Bash tool drops before an auto-allowed command: each can change what a plain command does, or write."""

SCRUBBED_PREFIXES = (
    *(
        "LD_",
        "DYLD_",
        "PYTHON",
        "PIP_",
        "npm_config_",
        "NPM_CONFIG_",
        "PERL5",
        "PERL_",
        "RUBY",
        "PHP",
        "DOCKER_",
        "CURL_",
    ),
    *("NODE_V8", "NODE_COMPILE", "NODE_REDIRECT", "NODE_REPL", "NODE_EXTRA", "GIT_TRACE"),
)
"""The same for whole families: loaders and languages load code by them, and pip, npm and node write files by them."""

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
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "credential.helper": "",
    "core.askPass": "false",
    "status.submoduleSummary": "false",
    "diff.submodule": "short",
    "blame.ignoreRevsFile": "",
    "mailmap.file": "",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}


def hardening_env() -> Mapping[str, str]:
    """Environment for commands allowed as read-only: git runs no hook, monitor, pager, helper or transport for them,
    and npm, pip and go write, fetch and run nothing of their own accord.

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
        "npm_config_logs_max": "0",  # npm writes a log of every run
        "npm_config_cache": "/dev/null/npm",  # and makes this folder, which then cannot be made
        "npm_config_update_notifier": "false",
        "npm_config_timing": "false",  # else it writes how long it took, too
        "npm_config_location": "project",
        "npm_config_offline": "true",
        "npm_config_ignore_scripts": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "GOTOOLCHAIN": "local",  # else a line of go.mod makes go fetch and run another version of itself
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return with_git_settings(env, _GIT_CONFIG)


def with_git_settings(env: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """The environment with more settings for git, which come before those of every file."""
    count = int(env.get("GIT_CONFIG_COUNT", "0"))
    found = {**env, "GIT_CONFIG_COUNT": str(count + len(settings))}
    for number, (key, value) in enumerate(settings.items(), count):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found
