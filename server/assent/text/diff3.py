"""Three-way merge by lines: what two sides made of one base, piece by piece, from our own diff of each against it.

Changes that touch, also only at their edges, are one piece: nobody can say which of them comes first. A piece that only
one side changed, or both in the same way, merges; any other is a conflict, and the caller decides. No text is dropped:
the pieces' three sides, joined, are the three texts.
"""

from typing import NamedTuple

from assent.text.diff import Block, changed_blocks


class Piece(NamedTuple):
    base: str
    ours: str
    theirs: str

    @property
    def merged(self) -> str | None:
        """The text both sides agree with; None in a conflict."""
        if self.theirs in (self.base, self.ours):
            return self.ours
        return self.theirs if self.ours == self.base else None


def merged(base: str, ours: str, theirs: str) -> str | None:
    """Both changes of `base` in one text, or None when they touch."""
    texts = [piece.merged for piece in pieces(base, ours, theirs)]
    return None if None in texts else "".join(text for text in texts if text is not None)


def pieces(base: str, ours: str, theirs: str) -> list[Piece]:
    """In order: what is the same in all three, and each group of changes that touch one another."""
    our_blocks, their_blocks = changed_blocks(base, ours), changed_blocks(base, theirs)
    found: list[Piece] = []
    at = our_at = their_at = i = j = 0
    while i < len(our_blocks) or j < len(their_blocks):
        start = min(blocks[k].start for blocks, k in ((our_blocks, i), (their_blocks, j)) if k < len(blocks))
        same = base[at:start]
        if same:
            found.append(Piece(same, same, same))
        our_at, their_at = our_at + len(same), their_at + len(same)
        end, i_end, j_end = _group(our_blocks, their_blocks, i, j, start)
        our_end = our_at + (end - start) + _growth(our_blocks[i:i_end])
        their_end = their_at + (end - start) + _growth(their_blocks[j:j_end])
        found.append(Piece(base[start:end], ours[our_at:our_end], theirs[their_at:their_end]))
        at, our_at, their_at, i, j = end, our_end, their_end, i_end, j_end
    rest = base[at:]
    return [*found, Piece(rest, rest, rest)] if rest else found


def _group(ours: list[Block], theirs: list[Block], i: int, j: int, start: int) -> tuple[int, int, int]:
    """Where the changes that touch one another from `start` on end in the base, and the next block of either side."""
    end = start
    while True:
        if i < len(ours) and ours[i].start <= end:
            end = max(end, ours[i].end)
            i += 1
        elif j < len(theirs) and theirs[j].start <= end:
            end = max(end, theirs[j].end)
            j += 1
        else:
            return end, i, j


def _growth(blocks: list[Block]) -> int:
    return sum((block.new_end - block.new_start) - (block.end - block.start) for block in blocks)
