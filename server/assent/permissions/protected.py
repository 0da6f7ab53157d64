"""The iron gate's lists: paths whose change runs code or hands over keys, asked about whatever rules and modes say.

Judged by name, so a file counts before it exists, in any letter case. Names above the workspace root do not count:
somebody who opens their dotfiles works on dotfiles. Ordinary source files that tools run by convention (package.json,
Makefile, conftest.py) are not here: they are what an agent is for, and edits to them are reviewed like any other.
`roots` and `own_dirs` hold each directory as given and as resolved.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from assent.permissions.paths import Located, fold, under
from assent.permissions.text import names

_DIRECTORIES = {
    ".git": "git's own files: hooks and configuration run programs",
    ".assent": "Assent's own settings",
    ".claude": "settings of a coding agent",
    ".codex": "settings of a coding agent",
    ".gemini": "settings of a coding agent",
    ".cursor": "settings of a coding agent",
    ".windsurf": "settings of a coding agent",
    ".continue": "settings of a coding agent",
    ".opencode": "settings of a coding agent",
    ".cline": "settings of a coding agent",
    ".roo": "settings of a coding agent",
    ".kiro": "settings of a coding agent",
    ".amazonq": "settings of a coding agent",
    ".codeium": "settings of a coding agent",
    ".aider": "settings of a coding agent",
    ".junie": "settings of a coding agent",
    ".augment": "settings of a coding agent",
    ".clinerules": "settings of a coding agent",
    ".vscode": "editor settings: tasks and launch files run programs",
    ".vscode-server": "editor settings",
    ".idea": "editor settings: run configurations run programs",
    ".zed": "editor settings: tasks run programs",
    ".fleet": "editor settings: run configurations run programs",
    ".vs": "editor settings",
    ".nvim": "editor settings run by the editor",
    ".vim": "editor settings run by the editor",
    ".emacs.d": "editor settings run by the editor",
    ".devcontainer": "container settings run by the editor",
    ".theia": "editor settings: tasks and launch files run programs",
    ".hg": "Mercurial's own files: hooks run programs",
    ".svn": "Subversion's own files",
    ".bzr": "Bazaar's own files: plugins run programs",
    ".jj": "Jujutsu's own files: its settings run programs",
    ".mise": "run when the directory is entered",
    ".oh-my-zsh": "run by the shell at start",
    ".zsh": "run by the shell at start",
    ".bashrc.d": "run by the shell at start",
    ".direnv": "run when the directory is entered",
    ".husky": "git hooks",
    ".githooks": "git hooks",
    ".git-hooks": "git hooks",
    ".circleci": "CI: runs with the project's secrets",
    ".buildkite": "CI: runs with the project's secrets",
    ".woodpecker": "CI: runs with the project's secrets",
    ".teamcity": "CI: runs with the project's secrets",
    ".tekton": "CI: runs with the project's secrets",
    ".ci": "CI: runs with the project's secrets",
    ".semaphore": "CI: runs with the project's secrets",
    ".ssh": "SSH keys and settings",
    ".gnupg": "keys",
    ".aws": "credentials",
    ".azure": "credentials",
    ".kube": "credentials",
    ".docker": "credentials",
    ".gcloud": "credentials",
    ".password-store": "credentials",
    ".mvn": "build settings that run code",
    ".yarn": "package manager code",
    ".gradle": "build settings that run code",
    ".bundle": "package manager settings that run programs",
    ".ipython": "run by Python at start",
    ".jupyter": "run by notebooks at start",
    ".julia": "run by Julia at start",
}
_PAIRS = {
    (".github", "workflows"): "CI: runs with the project's secrets",
    (".github", "actions"): "CI: runs with the project's secrets",
    (".gitea", "workflows"): "CI: runs with the project's secrets",
    (".forgejo", "workflows"): "CI: runs with the project's secrets",
    (".gitlab", "ci"): "CI: runs with the project's secrets",
    (".cargo", "config"): "build settings that run programs",
    (".cargo", "config.toml"): "build settings that run programs",
    (".cargo", "credentials.toml"): "credentials",
    (".config", "git"): "git settings: hooks and aliases run programs",
    (".config", "gh"): "credentials",
    (".config", "gcloud"): "credentials",
    (".config", "fish"): "run by the shell at start",
    (".config", "nvim"): "run by the editor at start",
    (".config", "assent"): "Assent's own settings",
    (".config", "emacs"): "run by the editor at start",
    (".config", "helix"): "run by the editor at start",
    (".config", "zed"): "editor settings: tasks run programs",
    ("code", "user"): "editor settings: tasks run programs",
    (".config", "systemd"): "run at login",
    (".config", "autostart"): "run at login",
    (".config", "environment.d"): "run at login",
    (".config", "pip"): "package manager settings",
    (".config", "direnv"): "run when a directory is entered",
    (".config", "mise"): "run when a directory is entered",
    (".config", "husky"): "git hooks",
    (".config", "nix"): "package manager settings that run programs",
    (".config", "jj"): "settings that run programs",
    ("wrapper", "gradle-wrapper.properties"): "build settings that run code",
    (".local", "bin"): "programs on the search path",
    ("share", "assent"): "Assent's own data",
    ("library", "launchagents"): "run at login",
}
_FILES = {
    "run by the shell at start": """
        .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
        .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc .xinitrc .xprofile .xsession .xsessionrc
        .pam_environment config.fish
    """,
    "run when a directory is entered": """
        .envrc .direnvrc .env .env.local mise.toml .mise.toml .rtx.toml .rvmrc .rbenv-vars .asdfrc
    """,
    "credentials": """
        .netrc _netrc .pgpass .my.cnf .git-credentials .pypirc .htpasswd authorized_keys authorized_keys2 id_rsa
        id_dsa id_ecdsa id_ed25519 .vault-token .dockercfg .dockerconfigjson .terraformrc
    """,
    "git settings that run programs": ".gitconfig .gitmodules .lfsconfig .hgrc",
    "package manager settings that run programs": """
        .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pip.conf .condarc .bunfig.toml bunfig.toml .bazelrc
        .buckconfig .pnp.cjs .pnp.loader.mjs
    """,
    "MCP servers: programs an agent starts": ".mcp.json mcp.json",
    "settings of a coding agent": """
        .claude.json opencode.json opencode.jsonc .aider.conf.yml .aider.conf.yaml .cursorrules .windsurfrules
        .roomodes .goosehints
    """,
    "run by the editor": """
        .nvim.lua .nvimrc .exrc _exrc .vimrc _vimrc .gvimrc .lvimrc .local.vimrc .emacs .dir-locals.el
        .dir-locals-2.el .helix .neoconf.json .devcontainer.json .luarc.json .luarc.jsonc .ycm_extra_conf.py
    """,
    "run by a tool at start": """
        .gdbinit .lldbinit .pdbrc .pythonrc .pythonrc.py .irbrc .pryrc .rprofile .sqliterc .psqlrc .tmux.conf
        .screenrc .wgetrc .curlrc .ripgreprc .ackrc .mailcap .lesskey sitecustomize.py usercustomize.py
        .pylintrc pylintrc .rubocop.yml .solargraph.yml .formatter.exs .credo.exs rust-toolchain
        rust-toolchain.toml .perlcriticrc .watchmanconfig .tigrc .ghci .mailrc crontab .renviron .octaverc
        .juliarc.jl .erlang .iex.exs .proverc .byebugrc .sbtopts .jvmopts .ansible.cfg ansible.cfg init.gradle
        .flaskenv
    """,
    "CI: runs with the project's secrets": """
        .gitlab-ci.yml .gitlab-ci.yaml .travis.yml azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml
        jenkinsfile appveyor.yml .appveyor.yml .drone.yml .drone.jsonnet .woodpecker.yml .woodpecker.yaml
        .cirrus.yml .cirrus.star cloudbuild.yaml cloudbuild.yml buildspec.yml codefresh.yml wercker.yml
        .semaphore.yml
    """,
    "git hooks": """
        .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml
        lefthook.toml .lefthook.yml .lefthook.yaml .lefthook.toml lefthook-local.yml .lefthook-local.yml .huskyrc
        .huskyrc.js .huskyrc.json .lintstagedrc .lintstagedrc.js .lintstagedrc.json .overcommit.yml captainhook.json
    """,
}
_PATTERNS = {
    re.compile(r"\.(?:bash|zsh)(?:rc|env|profile|_profile|_login|_logout|_aliases)\W.*"): "run by the shell at start",
    re.compile(r"\.env\.(?!example|sample|template|dist|defaults|schema).*"): "credentials",
    re.compile(r"\.?mcp\.json\W.*"): "MCP servers: programs an agent starts",
    re.compile(r"\.envrc\..*"): "run when a directory is entered",
    re.compile(
        r"\.?(?:eslintrc|prettierrc|stylelintrc|postcssrc|commitlintrc|lintstagedrc)\.[cm]?[jt]s"
    ): "run by editor extensions and hooks",
    re.compile(
        r"(?:eslint|prettier|stylelint|tailwind|svelte|postcss|commitlint|lint-staged)"
        r"\.config\.[cm]?[jt]s"
    ): "run by editor extensions and hooks",
}
_NAMES = {name: reason for reason, names in _FILES.items() for name in names.split()}
_SUFFIXES = {
    ".code-workspace": "editor settings: tasks and launch files run programs",
    ".sublime-project": "editor settings: build systems run programs",
    ".pth": "run by Python at start",
}
_SYSTEM = ("/etc", "/boot", "/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/var/spool", "/System")
_GIT_SHORT_NAME = re.compile(r"git~\d+")

_SECRET_DIRECTORIES = (".ssh", ".gnupg", ".password-store")
_SECRET_PAIRS = ((".aws", "credentials"), (".docker", "config.json"), (".kube", "config"), ("gh", "hosts.yml"))
_SECRET_NAMES = names(".netrc _netrc .pgpass .git-credentials .pypirc .vault-token id_rsa id_dsa id_ecdsa id_ed25519")
_PROCESS_SECRETS = re.compile(
    r"/proc/.*/?(?:environ|mem|auxv|maps|cmdline)|/proc/kcore|/dev/(?:mem|kmem|port)|/dev/(?:tcp|udp)/.*"
)


def protected_write(
    located: Located, *, roots: Iterable[str], home: str, own_dirs: Iterable[str] = (), sure: bool = True
) -> str | None:
    """Why changing this path needs a person, by any of its names; None for an ordinary path.

    Not `sure`: the path is only an argument of a program nobody knows; system paths are then commonplace.
    """
    roots, own_dirs = tuple(roots), tuple(own_dirs)
    for name in located.names:
        if any(under(name, own) for own in own_dirs):
            return "Assent's own settings and data"
        below, in_root = _below_root(name, roots)
        if reason := _named(below):
            return reason
        if not sure:
            continue
        if not in_root and name.startswith(_SYSTEM) and any(under(name, system) for system in _SYSTEM):
            return None if name == "/dev/null" else "a system file"
        if name == home.rstrip("/") or name == "/":
            return "a whole home or system directory"
    return None


def protected_read(located: Located, *, roots: Iterable[str]) -> str | None:
    """Why even reading this path needs a person."""
    roots = tuple(roots)
    for name in located.names:
        if _PROCESS_SECRETS.fullmatch(name):
            return "the memory, environment or sockets of a process"
        if name in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers"):
            return "the system's passwords"
        parts = [fold(part) for part in _below_root(name, roots)[0].split("/")]
        if parts[-1].endswith(".pub"):
            continue
        if parts[-1] in _SECRET_NAMES or any(part in _SECRET_DIRECTORIES for part in parts):
            return "keys and passwords"
        if any(pair in _SECRET_PAIRS for pair in pairwise(parts)):
            return "keys and passwords"
    return None


def root_at_risk(located: Located, *, roots: Iterable[str], home: str) -> str | None:
    """Why removing or moving this path would take a whole workspace, home or system with it."""
    for name in located.names:
        if name.count("/") == 1:
            return "a directory at the top of the system"
        if under(home.rstrip("/"), name):
            return "the home directory"
        for root in roots:
            if under(root, name):
                return "a whole workspace folder"
    return None


def mentions_protected(text: str) -> str | None:
    """For shell text nobody could parse: the name of a protected place in it, if any."""
    for word in re.split(r"[\s'\"=;&|()<>{},:$`\\]+", fold(text)):
        if reason := _named(word):
            return reason
    return None


def _named(path: str) -> str | None:
    parts = [fold(part).rstrip(". ") or part for part in path.split("/")]
    parts = [part.split(":", 1)[0] if ":" in part else part for part in parts]  # NTFS streams: .git::$INDEX_ALLOCATION
    for part in parts:
        if reason := _DIRECTORIES.get(part) or _NAMES.get(part):
            return reason
        if _GIT_SHORT_NAME.fullmatch(part):
            return _DIRECTORIES[".git"]
    for pair in pairwise(parts):
        if reason := _PAIRS.get(pair):
            return reason
    for pattern, reason in _PATTERNS.items():
        if pattern.fullmatch(parts[-1]):
            return reason
    for suffix, reason in _SUFFIXES.items():
        if parts[-1].endswith(suffix):
            return reason
    return None


def _below_root(name: str, roots: tuple[str, ...]) -> tuple[str, bool]:
    """The part of the path below the deepest root that holds it, and whether there is one."""
    best = max((root for root in roots if under(name, root)), key=len, default="")
    return (name[len(best.rstrip("/")) + 1 :], True) if best else (name, False)
