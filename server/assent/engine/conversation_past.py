"""The conversation that an engine starts from, given by a transcript or a caller. Read once."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from assent.tools.tool import ReadMark
from assent.types.blocks import Json
from assent.types.messages import Collapsed, ConversationMessage, Result, Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanOutcome:
    """The outcome of an edit that was decided after its process had ended, as text for the model."""

    text: str
    made: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanedPermission:
    """An ask whose process died before it was answered: re-presented once, then denied (Q11)."""

    tool_use_id: str
    tool: str
    input: Json
    outcome: Callable[[], Awaitable[OrphanOutcome]] | None = None  # the proposal lives on: wait for it, do not run


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPast:
    messages: Sequence[ConversationMessage] = ()
    snipped: frozenset[str] = frozenset()  # uuids that earlier snips took out of the view
    spared: frozenset[str] = frozenset()  # uuids that the user took back from a snip: never snipped unasked again
    collapsed: Sequence[Collapsed] = ()  # what the view already shows as summaries
    result: Result | None = None  # session totals as of the last result (Q6)
    spent: Spent | None = None  # the same as of the last call that was counted: a crash may have come between
    context_tokens: int = 0  # how full the window was when it was last measured
    read_files: dict[str, ReadMark] | None = None
    orphans: tuple[OrphanedPermission, ...] = ()
