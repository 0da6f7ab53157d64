"""A change of one file as the draft shows it: which file, and a patch as git writes it. Pure."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from assent.types.blocks import Json

AROUND = 3  # lines kept on either side of a change
COMPARED = 4_000  # lines; where more than this differ, one hunk replaces them all
UNENDED = "\\ No newline at end of file"


def diff_content(path: str, before: str | None, after: str) -> Json:
    change = {"operation": "add" if before is None else "modify", "path": path, "fileType": "text"}
    return {
        "type": "diff",
        "changes": [change],
        "patch": {"format": "git_patch", "text": git_patch(path, before, after)},
    }


def git_patch(path: str, before: str | None, after: str) -> str:
    name = path.lstrip("/")
    old, new = _name(f"a/{name}"), _name(f"b/{name}")
    head = [f"diff --git {old} {new}"]
    head += ["new file mode 100644", "--- /dev/null"] if before is None else [f"--- {old}"]
    lines = [*head, f"+++ {new}", *_hunks(_lines(before or ""), _lines(after))]
    return "\n".join(lines) + "\n"


def _name(path: str) -> str:
    """As git writes it: in quotes where it holds what could be taken for more of the patch."""
    if all(letter.isprintable() and letter not in '"\\' for letter in path) and not path.endswith(" "):
        return path
    escaped = "".join(
        f"\\{byte:03o}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte)
        for byte in path.encode(errors="surrogateescape")
    )
    return f'"{escaped}"'


def _lines(text: str) -> list[str]:
    """Only a line feed ends a line here: a carriage return or a form feed is part of it."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    most = min(len(old), len(new))
    same = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - same) if old[-1 - at] != new[-1 - at]), most - same)
    first = max(0, same - AROUND)
    kept = max(0, tail - AROUND)
    middle_old, middle_new = old[first : len(old) - kept], new[first : len(new) - kept]
    for group in _groups(middle_old, middle_new, same - first, tail - kept):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        yield f"@@ -{_span(first, a, b)} +{_span(first, c, d)} @@"
        for tag, from_old, to_old, from_new, to_new in group:
            if tag == "equal":
                yield from _marked(" ", middle_old[from_old:to_old])
            else:
                yield from _marked("-", middle_old[from_old:to_old])
                yield from _marked("+", middle_new[from_new:to_new])


Group = list[tuple[str, int, int, int, int]]


def _groups(old: Sequence[str], new: Sequence[str], before: int, behind: int) -> Iterator[Group]:
    if len(old) + len(new) <= COMPARED:
        yield from SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND)
        return
    end_old, end_new = len(old) - behind, len(new) - behind
    yield [
        ("equal", 0, before, 0, before),
        ("replace", before, end_old, before, end_new),
        ("equal", end_old, len(old), end_new, len(new)),
    ]


def _span(first: int, start: int, end: int) -> str:
    """Counted from one; an empty span names the line before it."""
    length = end - start
    begin = first + start + (1 if length else 0)
    return str(begin) if length == 1 else f"{begin},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield UNENDED
