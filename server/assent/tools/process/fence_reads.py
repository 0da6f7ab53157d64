"""What a fenced command may read: the system, toolchains, the workspace, and nothing of the home's secrets.

Gives paths and rights; `landlock.py` and bubblewrap turn them into a fence. Reads the file system to see what is there,
each time anew, so that nothing is closed because it was replaced since. `Inexpressible` says that a workspace and the
secrets cannot be told apart, and so that a person must decide.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assent.text.words import names
from assent.tools.process.landlock import NAMES, READ, RUN, Rule

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu/store",
    "/home/linuxbrew/.linuxbrew", "/run/current-system",
)  # fmt: skip
_STATE = ("/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/var/lib/dpkg", "/var/cache/man")
_ETC_OF_ROOT = names(
    """
        alternatives bash.bashrc ca-certificates debian_version dpkg environment fedora-release fonts gitconfig groff
        group host.conf hostname hosts inputrc java-11-openjdk java-17-openjdk java-21-openjdk ld.so.cache ld.so.conf
        ld.so.conf.d locale.alias locale.conf localtime login.defs lsb-release machine-id magic magic.mime man_db.conf
        manpath.config maven mime.types mtab nsswitch.conf os-release passwd perl pki/ca-trust pki/tls/certs profile
        protocols python3 redhat-release resolv.conf services shells ssl/cert.pem ssl/certs ssl/openssl.cnf
        system-release terminfo timezone xdg
    """
)
"""Root reads what others cannot, so /etc is opened to it by names; for everyone else it is open as a whole."""
_TOOLCHAINS = names(
    """
        .pyenv .nvm .rustup go .local/bin .local/lib .cargo/bin .cargo/registry .rbenv .nodenv .goenv .jenv .volta
        .sdkman .asdf/shims .asdf/installs .asdf/plugins .asdf/bin .asdf/lib .local/share/mise/installs
        .local/share/mise/shims .local/share/uv/python .local/share/uv/tools .local/share/fnm .local/share/pnpm
        .local/share/rtx .local/state/nix .nix-profile .linuxbrew .bun/bin .deno/bin .dotnet .ghcup .cabal/bin
        .stack/programs .opam .juliaup .julia/juliaup .gem/ruby
        .local/pipx .local/share/pipx .npm-global/bin .npm-global/lib .yarn/bin
        .m2/repository .m2/wrapper .gradle/wrapper .elan .foundry/bin miniconda3 miniforge3 mambaforge anaconda3
        .config/git/ignore .config/git/attributes
    """
)
_BESIDE_BIN = ("lib", "lib64", "libexec", "include")
_PLAIN_DOT_ENTRIES = names(
    """
        .git .gitignore .gitattributes .gitmodules .mailmap .editorconfig .github .gitlab .gitlab-ci.yml .circleci
        .vscode .idea .husky .devcontainer .dockerignore .eslintrc .eslintrc.json .eslintrc.js .eslintrc.cjs
        .eslintignore .prettierrc .prettierignore .flake8 .pylintrc .clang-format .clang-tidy .pre-commit-config.yaml
        .tool-versions .python-version .node-version .nvmrc .ruby-version .stylelintrc .babelrc .browserslistrc
        .npmignore .venv .tox .pytest_cache .mypy_cache .ruff_cache .hypothesis .coveragerc .readthedocs.yml
        .travis.yml .cargo-ok
    """
)
"""Of a home that is the workspace, the hidden entries that projects have too. The other hidden ones are the user's."""
_SECRETS = names(
    """
        .ssh .gnupg .pki .aws .azure .kube .docker .netrc .npmrc .yarnrc.yml .pypirc .git-credentials .gitconfig
        .mozilla .thunderbird .password-store .gem/credentials .cargo/credentials .cargo/credentials.toml
        .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .terraform.d .terraformrc .vault-token
        .boto .s3cfg .pgpass .my.cnf .bash_history .zsh_history .python_history .node_repl_history .psql_history
        .config/gh .config/glab-cli .config/hub .config/gcloud .config/op .config/rclone .config/git
        .config/google-chrome .config/chromium .config/BraveSoftware .config/containers .config/sops .config/age
        .config/pypoetry .config/pip .config/configstore .local/share/keyrings .local/share/kwalletd .local/share/pass
        .electrum .bitcoin .ethereum Library
    """
)
"""Closed also where a workspace holds them. What no rule opens, as the rest of ~/.config, is closed anyway."""


_LOOK_AGAIN = 5.0  # seconds after which a newly installed toolchain is seen


class Inexpressible(Exception):
    """The fence cannot leave the workspace open and the secrets closed. Its words go on "… because"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlace:
    """Where a command runs, for the question what it may read."""

    roots: tuple[str, ...]
    home: str
    own: tuple[str, ...] = ()  # where our settings and data are
    results: tuple[str, ...] = ()  # also readable, wherever it lies: what was made for this very command or session
    path: str = ""
    named: tuple[str, ...] = ()  # files that the user's git configuration names


def reading_rules(place: CommandPlace) -> list[Rule]:
    """Every path with its right, for a command that only reads. Raises Inexpressible."""
    home = os.path.realpath(place.home)
    closed = _closed(home, place.own)
    moment = int(time.monotonic() // _LOOK_AGAIN)
    rules = list(_standing(home, closed, place.path, os.geteuid() == 0, moment))
    for root in dict.fromkeys(os.path.realpath(root) for root in place.roots):
        rules += [(path, READ) for path in _of_workspace(root, home, closed)]
        rules += [(path, READ) for path in _repository(root) if not _touches(path, closed)]
    rules += [(path, READ) for path in place.named if not _touches(os.path.realpath(path), closed)]
    rules += [(path, READ) for path in place.results]
    return rules


@lru_cache(maxsize=16)
def _standing(home: str, closed: tuple[str, ...], path: str, as_root: bool, _moment: int) -> tuple[Rule, ...]:
    """What is open in every workspace: names of what is there, looked up anew after a while."""
    rules: list[Rule] = [("/", NAMES)]  # else `ls ~` fails; so the names of all files can be seen
    rules += [(system, RUN) for system in _SYSTEM]
    rules += [(state, READ) for state in _STATE]
    rules += [(f"/etc/{name}", READ) for name in _ETC_OF_ROOT] if as_root else [("/etc", READ)]
    if home != "/":
        rules += [(f"{home}/{name}", RUN) for name in _TOOLCHAINS]
    rules += [(folder, RUN) for folder in _programs(path, home, closed)]
    return tuple(rule for rule in dict.fromkeys(rules) if os.path.lexists(rule[0]))


def inexpressible(roots: Iterable[str], *, home: str, own: Sequence[str] = ()) -> str:
    """Why the fence cannot surround commands in this workspace; empty when it can. Looks at names only."""
    home = os.path.realpath(home)
    try:
        for root in roots:
            _check(os.path.realpath(root), home, _closed(home, own))
    except (Inexpressible, ValueError) as reason:  # a path with a NUL leads nowhere
        return str(reason)
    return ""


def _closed(home: str, own: Iterable[str]) -> tuple[str, ...]:
    ours = [os.path.realpath(path) for path in own]
    return (*ours, *(f"{home.rstrip('/')}/{name}" for name in _SECRETS))


def _check(root: str, home: str, closed: Sequence[str]) -> None:
    if root == "/" or (root != home and _inside(home, root)):
        raise Inexpressible(f"the workspace {root} holds the home directory with its secrets")
    for path in closed:
        if _inside(root, path):
            raise Inexpressible(f"the workspace {root} lies where secrets are kept")


def _of_workspace(root: str, home: str, closed: Sequence[str]) -> Iterator[str]:
    """The workspace as one path; when closed places lie in it, its entries without those."""
    _check(root, home, closed)
    inside = [path for path in closed if path != root and _inside(path, root)]
    if root != home and not inside:
        yield root
        return
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue  # what it leads to is open if it is open by its own name
            if root == home and entry.name.startswith(".") and entry.name not in _PLAIN_DOT_ENTRIES:
                continue
            if entry.path in inside:
                continue
            if any(_inside(path, entry.path) for path in inside):
                yield from _of_workspace(entry.path, home, closed)
            else:
                yield entry.path


def _programs(path: str, home: str, closed: Sequence[str]) -> Iterator[str]:
    """The folders of the PATH, and the libraries beside a `bin`: programs the user installed elsewhere."""
    for entry in dict.fromkeys(path.split(os.pathsep)):
        if not entry.startswith("/") or entry.startswith(("/usr/", "/bin", "/sbin")):
            continue
        folder = os.path.realpath(entry)
        if folder == "/" or _inside(home, folder) or _touches(folder, closed):
            continue
        yield folder
        above, name = os.path.split(folder)
        if name in ("bin", "sbin", "shims") and not _inside(home, above):
            # shims are scripts that look for the versions beside them
            beside = [above] if name == "shims" else [f"{above}/{library}" for library in _BESIDE_BIN]
            yield from (library for library in beside if not _touches(library, closed))


def _repository(root: str) -> Iterator[str]:
    """The repository that a linked worktree belongs to, if that repository says the same."""
    try:
        folder = _pointed(_text(f"{root}/.git").removeprefix("gitdir: "), root)
        if os.path.realpath(_pointed(_text(f"{folder}/gitdir"), folder)) != os.path.realpath(f"{root}/.git"):
            return
        common = os.path.realpath(_pointed(_text(f"{folder}/commondir"), folder))
        if _inside(os.path.realpath(folder), os.path.realpath(root)):
            return  # the project's own files, which could name any folder around it
        if common == os.path.dirname(os.path.dirname(os.path.realpath(folder))):  # noqa: PTH120
            yield common
    except (OSError, ValueError):
        return


def _pointed(text: str, base: str) -> str:
    return os.path.join(base, text)  # noqa: PTH118  absolute strings throughout


def _text(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("not a file")
        return os.fsdecode(os.read(handle, 4096)).strip()
    finally:
        os.close(handle)


def _touches(path: str, closed: Sequence[str]) -> bool:
    return any(_inside(path, one) or _inside(one, path) for one in closed)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
