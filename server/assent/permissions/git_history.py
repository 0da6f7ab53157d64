"""Which files git's own commands change without naming them: moves in the history, merges, restores, stashes, cleaning.

The two states are compared by reading the repository's own files; git is not started. A use that is not plainly read
here, a revision that cannot be resolved, and what comes from elsewhere (`git pull`) is something nobody can tell, and
the caller asks, unless a rule of the user's names the very subcommand and its use is a plain one.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assent.permissions import git_index, repositories, trees
from assent.permissions.paths import fold
from assent.permissions.shell.tables.git import without_global_flags
from assent.permissions.shell.tables.git_commands import SUBCOMMANDS
from assent.text.words import names
from assent.types.git_objects import Entry, GitObjects, Unreadable
from assent.types.regular_files import read_regular

Wanted = Callable[[str], bool]  # is this a path, absolute, of which one wants to know?

LEAVE_FILES = names("""
    add stage commit push fetch branch tag remote config gc repack prune pack-refs pack-objects notes init clone
    update-index update-ref symbolic-ref write-tree commit-tree hash-object mktree mktag maintenance fsck reflog replace
    rerere bundle archive format-patch send-email request-pull fast-export credential rm mv apply am version help grep
    difftool multi-pack-index commit-graph unpack-objects index-pack update-server-info fetch-pack send-pack
    ls-remote whatchanged range-diff var show-branch diff-pairs verify-commit verify-tag verify-pack check-mailmap
    get-tar-commit-id interpret-trailers
""").union(SUBCOMMANDS) - {"submodule", "stash", "worktree"}
"""Subcommands that change no file of the working tree, or whose words say which: those are judged by their words."""
_LINK = "120000"  # the mode of one in a tree
_LARGEST = 4 << 20  # bytes of a file that is compared
_LONGEST = 200  # characters of a pathspec that is looked at
_MAGIC, _WILD = frozenset("[\\:"), frozenset("*?[\\")  # of pathspecs; of the first kind everything is taken to match
_QUIET = names("-q --quiet --progress --no-progress")
_MOVING = _QUIET | names("-d --detach --guess --no-guess -t --track --no-track --ignore-other-worktrees")
_CREATING = names("-b -B -c -C --create --force-create")
_FORCED = names("-f --force --discard-changes")
_MERGING = _QUIET | names("""
    --no-edit --edit -e --ff --no-ff --ff-only --no-commit --commit --stat -n --no-stat --signoff -s -x -v --verbose
""")
_STASHING = _QUIET | names("-k --keep-index --no-keep-index --index")
_PUTS_BACK, _KEEPS = names("pop apply"), names("list show drop clear create store")
_PLAIN_NAME = r" [\w][\w./+-]*"
_ANSWERABLE = {
    "pull": re.compile(
        r"pull(?: -[qvnprt]+| --(?:rebase(?:=true|=false|=merges)?|no-rebase|ff|ff-only|no-ff|autostash|no-autostash"
        rf"|quiet|verbose|prune|tags|no-tags|no-edit|stat|no-stat|progress|depth=\d+|all))*(?:{_PLAIN_NAME}){{0,2}}"
    ),
    "submodule": re.compile(
        r"submodule(?: -q| --quiet)? update(?: -q| --(?:init|recursive|remote|checkout|depth=\d+|jobs=\d+|progress))*"
        rf"(?: --)?(?:{_PLAIN_NAME})*"
    ),
    "worktree": re.compile(
        rf"worktree (?:add [\w./+-]+(?:{_PLAIN_NAME})?"
        r"|remove [\w./+-]+)"
    ),
}
"""Uses that bring or take files nobody here can name, and do nothing else: no program, place or setting is given."""


def leaves_files(argv: Sequence[str]) -> bool:
    """Does this line change no file but those that its words name?"""
    name, *rest = without_global_flags(argv[1:]) or ("",)
    return name in LEAVE_FILES and not (name == "rm" and any(map(_selects, rest)))


def _selects(word: str) -> bool:
    """Does the word choose files that it does not name, by git's own wildcards or from a list?"""
    return word.startswith((":", "--pat")) or not _WILD.isdisjoint(word)


def answerable(argv: Sequence[str]) -> bool:
    """May a rule for the very subcommand answer for the files that nobody can name?"""
    use = _ANSWERABLE.get(argv[1]) if len(argv) > 1 else None
    return use is not None and argv[0] == "git" and use.fullmatch(" ".join(argv[1:])) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checkout:
    top: str
    store: str
    objects: GitObjects
    directory: str
    wanted: Wanted
    links: bool  # only what comes as a link counts

    def path(self, name: str) -> str:
        return f"{self.top}/{name}"

    def tree(self, revision: str) -> bytes:
        return self.objects.tree(self.objects.commit(revision))

    def moved(self, one: bytes | None, other: bytes | None) -> str | None:
        """A wanted path that is another one in the second tree."""
        found = self.objects.differing(one, other)
        return next((name for name, entry in found if self._counts(entry) and self.wanted(self.path(name))), None)

    def _counts(self, entry: Entry | None) -> bool:
        return not self.links or (entry is not None and entry[0] == _LINK)

    def overwritten(self, source: bytes | None, places: Sequence[str] = ()) -> str | None:
        """A wanted path that holds something else than the tree, or without one than the index, has for it."""
        held: Mapping[str, bytes | None] = git_index.entries(self.store)
        if source is not None:
            found = self.objects.differing(None, source)
            brought = {name: entry[1] for name, entry in found if entry is not None and self._counts(entry)}
            held = dict.fromkeys(held) | brought
        for name, id in held.items():
            path = self.path(name)
            if _among(path, places) and self.wanted(path) and _differs(path, id):
                return name
        return None

    def untracked(self) -> str | None:
        known = git_index.entries(self.store)
        for name in trees.below(self.top, copies=False, leave=".git"):
            path = self.path(name)
            if name not in known and name != ".git" and self.wanted(path) and not os.path.isdir(path):  # noqa: PTH112
                return name
        return None


def changed(argv: Sequence[str], directory: str, wanted: Wanted, *, links: bool = False) -> str | None:
    """A wanted path that this git line would change, remove or bring, relative to the working tree.

    With `links`, only one that it would bring as a link, as far as the trees say that.
    Raises Unreadable when nobody can tell.
    """
    name, *rest = without_global_flags(argv[1:]) or ("",)
    if any(word.startswith("-") and word != "-C" for word in argv[1 : len(argv) - len(rest) - 1]):
        raise Unreadable("git's own flags")
    try:
        found = repositories.checkout_at(directory)
        if found is None:
            return None
        top, store, common = found
        if repositories.other_hashes(common):
            raise Unreadable("the repository's hashes")
        checkout = _Checkout(
            top=top, store=store, objects=GitObjects(store, common), directory=directory, wanted=wanted, links=links
        )
        return _changed(name, rest, checkout)
    except (OSError, ValueError, git_index.IndexRefused, trees.TooMany) as error:
        raise Unreadable(str(error)) from None


def _changed(name: str, rest: list[str], checkout: _Checkout) -> str | None:
    match name:
        case "":
            return None  # git alone shows its help
        case "checkout" | "switch":
            return _checked_out(name, rest, checkout)
        case "restore":
            return _restored(rest, checkout)
        case "reset":
            return _reset(rest, checkout)
        case "rm":
            return _removed(rest, checkout)
        case "merge" | "rebase":
            revisions = _operands(rest, _MERGING, valued=names("-m"))
            if not revisions or (name == "rebase" and len(revisions) > 1):
                raise Unreadable(name)
            head = checkout.tree("HEAD")
            return _first(checkout.moved(head, checkout.tree(each)) for each in revisions)
        case "cherry-pick" | "revert":
            return _picked(_operands(rest, _MERGING, valued=names("-m --mainline")), checkout)
        case "stash":
            return _stashed(rest, checkout)
        case "clean":
            dry = any(re.fullmatch(r"--dry-run|-[fdxXqi]*n[fdxXqin]*", word) for word in rest)
            return None if dry else checkout.untracked()
        case "worktree" if rest[:1] and rest[0] in ("list", "prune", "lock", "unlock"):
            return None
        case "submodule" if rest[:1] and rest[0] in ("status", "summary", "init", "sync"):
            return None
        case "pull" if found := _fetched(checkout):
            return found
        case _:
            raise Unreadable(name)


def _fetched(checkout: _Checkout) -> str | None:
    """A wanted path that is another one in what was fetched for this branch: that much of a pull is known."""
    branch = checkout.objects.branch()
    if branch is None:
        return None
    head = checkout.tree("HEAD")
    for ref in checkout.objects.tracking(branch):
        try:
            if found := checkout.moved(head, checkout.tree(ref)):
                return found
        except Unreadable:
            continue
    return None


def _checked_out(name: str, rest: list[str], checkout: _Checkout) -> str | None:
    ended = rest.index("--") if "--" in rest else len(rest)
    places = rest[ended + 1 :]
    made = {word for word in rest[:ended] if word in _CREATING}
    forced = bool(_FORCED.intersection(rest[:ended]))
    operands = _operands(rest[:ended], _MOVING | _FORCED, valued=frozenset(made))
    if name == "checkout" and operands and not places and not made:
        try:
            checkout.tree(operands[0])
        except Unreadable:
            if not all(os.path.lexists(f"{checkout.directory}/{each}") for each in operands):
                raise
            operands, places = [], operands  # names of files, from the index
        else:
            operands, places = operands[:1], operands[1:]
    if places:
        source = checkout.tree(operands[0]) if operands else None
        return checkout.overwritten(source, _places(places, checkout.directory))
    if len(operands) > 1:
        raise Unreadable(name)
    target = checkout.tree(operands[0]) if operands else None
    found = None if target is None else checkout.moved(checkout.tree("HEAD"), target)
    return found or (checkout.overwritten(target or checkout.tree("HEAD")) if forced else None)


def _restored(rest: list[str], checkout: _Checkout) -> str | None:
    words = [piece for word in rest for piece in (word.split("=", 1) if word.startswith("--source=") else (word,))]
    source = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-s", "--source")), None)
    staged, kept = names("-S --staged"), names("-W --worktree")
    places = _operands([word for word in words if word != "--"], _QUIET | staged | kept, valued=names("-s --source"))
    if staged.intersection(words) and not kept.intersection(words):
        return None
    tree = checkout.tree(source or "HEAD") if source or staged.intersection(words) else None
    return checkout.overwritten(tree, _places(places, checkout.directory))


def _reset(rest: list[str], checkout: _Checkout) -> str | None:
    if not names("--hard --merge --keep").intersection(rest):
        return None if all(word in ("--soft", "--mixed") or word[:1] != "-" for word in rest) else _untold("reset")
    operands = _operands(rest, _QUIET | names("--hard --merge --keep"))
    target = checkout.tree(operands[0] if operands else "HEAD")
    return checkout.moved(checkout.tree("HEAD"), target) or checkout.overwritten(target)


def _removed(rest: list[str], checkout: _Checkout) -> str | None:
    ended = rest.index("--") if "--" in rest else len(rest)
    if any(word.startswith("--pat") for word in rest[:ended]):
        raise Unreadable("a list of files")
    words = [word for number, word in enumerate(rest) if number > ended or word[:1] != "-"]
    for name in git_index.entries(checkout.store):
        path = checkout.path(name)
        if checkout.wanted(path) and any(_chooses(word, checkout.directory, path) for word in words):
            return name
    return None


def _chooses(word: str, directory: str, path: str) -> bool:
    """May the pathspec mean this file? A star goes across folders, and what fits a folder counts for all below."""
    if not _MAGIC.isdisjoint(word) or len(word) > _LONGEST:
        return True
    place = fold(f"{os.path.realpath(directory)}/{word}")
    pieces, shown = os.path.normpath(place).split("/"), fold(path).split("/")
    return any(fnmatchcase("/".join(shown[:size]), "/".join(pieces)) for size in range(2, len(shown) + 1))


def _picked(revisions: list[str], checkout: _Checkout) -> str | None:
    if not revisions:
        raise Unreadable("which commit")
    for revision in revisions:
        commit = checkout.objects.commit(revision)
        for parent in checkout.objects.parents(commit) or (None,):
            before = None if parent is None else checkout.objects.tree(parent)
            if found := checkout.moved(before, checkout.objects.tree(commit)):
                return found
    return None


def _stashed(rest: list[str], checkout: _Checkout) -> str | None:
    what = rest[0] if rest and not rest[0].startswith("-") else "push"
    if what in _KEEPS:
        return None
    untracked = names("-u --include-untracked")
    words = rest[1:] if rest[:1] == [what] else rest
    operands = _operands(words, _STASHING | untracked, valued=names("-m --message"))
    if what == "save" or (what == "push" and not operands):
        found = checkout.overwritten(checkout.tree("HEAD"))
        return found or (checkout.untracked() if untracked.intersection(words) else None)
    if what not in _PUTS_BACK or operands:
        raise Unreadable("stash")
    stash = checkout.objects.commit("refs/stash")
    parents = checkout.objects.parents(stash)
    found = checkout.moved(checkout.objects.tree(parents[0]), checkout.objects.tree(stash))
    return found or _first(checkout.moved(None, checkout.objects.tree(each)) for each in parents[2:])


def _operands(words: Sequence[str], flags: frozenset[str], *, valued: frozenset[str] = frozenset()) -> list[str]:
    """The words that are no flags. Raises Unreadable for a flag that is not among these."""
    found: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word in valued:
            position += 1
        elif word == "-" or not word.startswith("-"):
            found.append(word)
        elif word not in flags:
            raise Unreadable(word)
        position += 1
    return found


def _places(words: Sequence[str], directory: str) -> tuple[str, ...]:
    """Where pathspecs look; empty where that is everywhere, as with magic or wildcards."""
    if any(set("*?[\\:").intersection(word) for word in words):
        return ()
    return tuple(os.path.normpath(os.path.join(os.path.realpath(directory), word)) for word in words)  # noqa: PTH118


def _among(path: str, places: Sequence[str]) -> bool:
    return not places or any(path == place or path.startswith(f"{place}/") for place in places)


def _differs(path: str, id: bytes | None) -> bool:
    """Does the file hold something else than git has for it? None: git would remove it."""
    if not os.path.lexists(path):
        return id is not None
    if id is None or os.path.islink(path):  # noqa: PTH114
        return True
    data = read_regular(path, limit=_LARGEST, follow=False).data
    digest = hashlib.sha1 if len(id) == 20 else hashlib.sha256
    return digest(b"blob %d\0" % len(data) + data).digest() != id


def _first(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each is not None), None)


def _untold(what: str) -> None:
    raise Unreadable(what)
