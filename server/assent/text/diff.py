"""What changed between two texts, by lines: patience first (lines that occur once on both sides anchor the rest), then
difflib between the anchors. Pathological input costs one big block, never minutes."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from assent.text.lines import at_line_start, split_lines
from assent.text.splices import Splice, common_prefix, common_suffix, in_sequence, trimmed

_DIFFLIB_LIMIT = 90_000  # lines × lines, some 25 ms at worst; above it a run without unique lines is one block


class Block(NamedTuple):
    """Offsets: `[start, end)` of the old text became `[new_start, new_end)` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def changed_blocks(old: str, new: str) -> list[Block]:
    """Whole-line blocks that differ, ascending; between any two there is at least one line that is the same."""
    if old == new:
        return []
    head, tail = _same_ends(old, new)
    before, after = split_lines(old[head : len(old) - tail]), split_lines(new[head : len(new) - tail])
    runs: list[tuple[int, int, int, int]] = []
    _compare(before, after, 0, len(before), 0, len(after), runs)
    blocks: list[Block] = []
    old_at, new_at, i, j = head, head, 0, 0
    for i1, i2, j1, j2 in runs:
        old_at += sum(map(len, before[i:i1]))
        new_at += sum(map(len, after[j:j1]))
        old_end = old_at + sum(map(len, before[i1:i2]))
        new_end = new_at + sum(map(len, after[j1:j2]))
        if blocks and blocks[-1].end == old_at and blocks[-1].new_end == new_at:
            last = blocks.pop()
            blocks.append(Block(last.start, old_end, last.new_start, new_end))
        else:
            blocks.append(Block(old_at, old_end, new_at, new_end))
        old_at, new_at, i, j = old_end, new_end, i2, j2
    return blocks


def changed_lines(old: str, new: str) -> tuple[int, int]:
    """Lines added and lines removed, as a diff counts them."""
    blocks = changed_blocks(old, new)
    added = sum(len(split_lines(new[block.new_start : block.new_end])) for block in blocks)
    return added, sum(len(split_lines(old[block.start : block.end])) for block in blocks)


def diff_splices(old: str, new: str) -> list[Splice]:
    """The changes that turn `old` into `new` when applied together, each cut down to the characters that differ."""
    return [
        trimmed(old, Splice(block.start, block.end, new[block.new_start : block.new_end]))
        for block in changed_blocks(old, new)
    ]


def refined(before: str, change: Splice, after: str) -> list[Splice]:
    """The same change, one after the other, without the lines in its middle that it leaves as they were.

    Formatters and some clients report a whole stretch where a few lines of it changed.
    """
    start, end, new = change
    if not _several_lines(before, start, end) or not _several_lines(new, 0, len(new)):
        return [change]
    first = max(before.rfind("\n", 0, start), before.rfind("\r", 0, start)) + 1
    ends = [found + 1 for found in (before.find("\n", end), before.find("\r", end)) if found >= 0]
    last = min(ends, default=len(before))
    parts = diff_splices(before[first:last], after[first : last + change.delta])
    return [Splice(first + part.start, first + part.end, part.text) for part in in_sequence(parts)]


def _several_lines(text: str, start: int, end: int) -> bool:
    return text.find("\n", start, end) >= 0 or text.find("\r", start, end) >= 0


def _same_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters of whole lines are the same at the start and at the end."""
    head = common_prefix(old, new)
    while head and not (at_line_start(old, head) and at_line_start(new, head)):
        head = max(old.rfind("\n", 0, head - 1), old.rfind("\r", 0, head - 1)) + 1
    tail = common_suffix(old, new, min(len(old), len(new)) - head)
    while tail and not (at_line_start(old, len(old) - tail) and at_line_start(new, len(new) - tail)):
        at = len(old) - tail
        ends = [found + 1 for found in (old.find("\n", at), old.find("\r", at)) if found >= 0]
        tail = len(old) - min(ends) if ends else 0
    return head, tail


def _compare(
    a: Sequence[str], b: Sequence[str], i1: int, i2: int, j1: int, j2: int, runs: list[tuple[int, int, int, int]]
) -> None:
    while i1 < i2 and j1 < j2 and a[i1] == b[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and a[i2 - 1] == b[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    if i1 == i2 or j1 == j2:
        if i1 < i2 or j1 < j2:
            runs.append((i1, i2, j1, j2))
        return
    anchors = _unique_anchors(a, b, i1, i2, j1, j2)
    if anchors:
        at_i, at_j = i1, j1
        for i, j in anchors:
            if at_i < i or at_j < j:
                _compare(a, b, at_i, i, at_j, j, runs)
            at_i, at_j = i + 1, j + 1
        _compare(a, b, at_i, i2, at_j, j2, runs)
    elif (i2 - i1) * (j2 - j1) > _DIFFLIB_LIMIT:
        runs.append((i1, i2, j1, j2))
    else:
        matcher = SequenceMatcher(None, a[i1:i2], b[j1:j2], autojunk=False)
        runs.extend(
            (i1 + k1, i1 + k2, j1 + l1, j1 + l2) for tag, k1, k2, l1, l2 in matcher.get_opcodes() if tag != "equal"
        )


def _unique_anchors(a: Sequence[str], b: Sequence[str], i1: int, i2: int, j1: int, j2: int) -> list[tuple[int, int]]:
    """The longest ascending run of lines that occur exactly once on both sides."""
    in_a, in_b = Counter(a[i1:i2]), Counter(b[j1:j2])
    where_b = {b[j]: j for j in range(j1, j2) if in_b[b[j]] == 1}
    pairs = [(i, where_b[a[i]]) for i in range(i1, i2) if in_a[a[i]] == 1 and a[i] in where_b]
    if all(one[1] < other[1] for one, other in pairwise(pairs)):
        return pairs
    tops: list[int] = []  # patience piles, by their lowest j
    piles: list[int] = []  # index into pairs of each pile's top
    back: list[int] = [-1] * len(pairs)
    for index, (_, j) in enumerate(pairs):
        low = bisect_left(tops, j)
        back[index] = piles[low - 1] if low else -1
        if low == len(tops):
            tops.append(j)
            piles.append(index)
        else:
            tops[low], piles[low] = j, index
    chain: list[tuple[int, int]] = []
    index = piles[-1]
    while index >= 0:
        chain.append(pairs[index])
        index = back[index]
    return chain[::-1]
