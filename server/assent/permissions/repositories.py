"""Whether the repository that git would run in is the user's own, and runs nothing by itself.

A repository's configuration can name programs for git to run, so git is auto-allowed only in a repository that sits at
a trusted workspace root and whose configuration holds nothing of the kind; and it runs under `hardening_env`.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from assent.permissions.paths import Seen, real_directory, under
from assent.permissions.shell_directories import Directories
from assent.permissions.text import names

_SAFE_SECTIONS = names(
    """
        branch user author committer color advice gc pack pull push init rerere format i18n commit tag fetch rebase
        blame feature index help column versionsort transfer maintenance
    """
)
_SAFE_KEYS = {
    "core": names("""
        repositoryformatversion filemode bare logallrefupdates symlinks ignorecase precomposeunicode autocrlf eol
        safecrlf quotepath abbrev compression bigfilethreshold commentchar untrackedcache preloadindex checkstat
        trustctime protecthfs protectntfs sharedrepository sparsecheckout sparsecheckoutcone longpaths whitespace
        splitindex multipackindex commitgraph createobject fscache hidedotfiles
    """),
    "remote": names("url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved"),
    "submodule": names("url active branch ignore fetchrecursesubmodules recurse"),
    "merge": names("conflictstyle ff log renames renamelimit stat"),
    "diff": names(
        """
            renames renamelimit algorithm colormoved mnemonicprefix noprefix context statgraphwidth wserrorhighlight
            indentheuristic relative
        """
    ),
    "log": names("date decorate abbrevcommit follow mailmap"),
    "status": names("short branch showuntrackedfiles relativepaths showstash"),
    "extensions": names("objectformat worktreeconfig noop refstorage relativeworktrees"),
    "lfs": frozenset({"repositoryformatversion"}),
}
_UNSAFE_IN_SAFE = frozenset(
    {
        "pager",
        "program",
        "sshcommand",
        "command",
        "cmd",
        "editor",
        "template",
        "recentobjectshook",
        "sequence.editor",
        "packsizelimit",
        "gpgsign",
        "templatedir",
        "headers",
    }
)
_HEADER = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)')
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?")


ABOVE = "the repository begins above the workspace folder"
"""A doubt that a rule may settle: what lies above the workspace did not come with it."""


def repository_doubt(
    directories: Directories, roots: Sequence[str], *, trusted: bool, seen: Seen | None = None
) -> str | None:
    """Why git must not run unasked in these directories; None when each has no repository, or the root's own."""
    if not trusted:
        return "git runs what a repository's configuration says, and this workspace is not trusted"
    if directories is None:
        return "nobody can say in which directory git would run"
    real_roots = {real_directory(root, seen) for root in roots}
    above = False
    for directory in directories:
        place = real_directory(directory, seen)
        while not os.path.lexists(f"{place}/.git"):
            if os.path.lexists(f"{place}/HEAD") and (_there(place, "objects") or _there(place, "commondir")):
                return f"{place} is a bare repository"
            if place == "/":
                break
            place = os.path.dirname(place)  # noqa: PTH120  an absolute string
        else:
            if place not in real_roots:
                if not any(under(root, place) for root in real_roots):
                    return f"the repository at {place} is not at the top of a workspace folder"
                above = True
            if doubt := config_doubt(Path(place, ".git")):
                return doubt
    return ABOVE if above else None


def _there(place: str, name: str) -> bool:
    return os.path.lexists(f"{place}/{name}")


def config_doubt(git_dir: Path) -> str | None:
    """Whether the repository's own configuration names a program, or holds anything we do not know."""
    if git_dir.is_file():
        return None if _linked_worktree(git_dir) else "the repository's .git file leads elsewhere"
    if git_dir.name == ".git" and os.path.lexists(git_dir / "commondir"):
        return "the repository's configuration lies elsewhere"
    for name in ("config", "config.worktree"):
        if not os.path.lexists(git_dir / name):
            continue
        text = _read(git_dir / name)
        if text is None:
            return "the repository's configuration cannot be read"
        if key := unsafe_key(text):
            return f"the repository's configuration sets {key}, which may run programs"
    return None


def unsafe_key(text: str) -> str | None:
    """The first setting that is not known to be harmless."""
    if len(text) > 200_000:
        return "too much"
    section = ""
    for line in text.splitlines():
        if line.endswith("\\"):
            return "a continued line"  # which a comment is not, whatever it ends with
        if not (rest := line.strip()) or rest[0] in "#;":
            continue
        if header := _HEADER.fullmatch(line):
            section = header[1].casefold()
            rest = header[2].strip()
            if section not in _SAFE_SECTIONS and section not in _SAFE_KEYS:
                return section
            if not rest or rest[0] in "#;":
                continue
        key = _KEY.fullmatch(rest)
        if key is None:
            return rest[:40]
        name = key[1].casefold()
        known = _SAFE_KEYS.get(section)
        if not section:
            return name
        if (known is None and name in _UNSAFE_IN_SAFE) or (known is not None and name not in known):
            return f"{section}.{name}"
    return None


def _linked_worktree(git_file: Path) -> bool:
    """A worktree or submodule whose real git directory lies in another repository's .git, with clean configuration."""
    line = (_read(git_file) or "")[:4096].strip()
    if not line.startswith("gitdir: "):
        return False
    target = Path(git_file.parent, line.removeprefix("gitdir: "))
    if ".git" not in target.parts or not target.is_dir():
        return False
    common = target.parents[1] if target.parent.name == "worktrees" else target
    return config_doubt(common) is None and (common == target or config_doubt(target) is None)


def _read(file: Path) -> str | None:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return None
