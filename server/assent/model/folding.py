"""The conversation as turns of encoded blocks: merged, ordered, paired and cleaned.

Pure, but not forgetful: a conversation mostly grows at its end, so turns folded for the last request are used again
when the messages they came from are the very same objects. Nothing of that shows in the result.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from assent.types.blocks import Block, Json
from assent.types.messages import AssistantMessage, CompactBoundary, ConversationMessage
from assent.types.ports import ModelRequest

REMEMBERED = 16  # conversations
NO_RESULT = "This call has no result: it was interrupted before it could finish."
SUMMARY_HEAD = "This conversation continues an earlier one that no longer fits. This is what happened in it:\n\n"
GO_ON = "Go on."

_THINKING = frozenset({"thinking", "redacted_thinking"})
_MEDIA = frozenset({"image", "document"})
_WITH_INPUT = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
# Kinds that take a cache mark; on a kind we do not know it might be refused.
_MARKABLE = frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result", "server_tool_use"})


@dataclass(frozen=True, slots=True)
class FoldedMessage:
    """One API message. `ends` is how many messages of the view it and all before it were made of."""

    role: Literal["user", "assistant"]
    whole: bytes
    mark_at: int  # just before the closing brace of the block a cache mark can stand on, or -1
    ends: int
    calls: tuple[str, ...] = ()  # ids of its tool_use blocks
    has_media: bool = False  # it or a turn before it
    unthought: bool = False  # it calls tools and does not begin with thinking
    references: tuple[str, ...] = ()  # tools that a search in it loaded

    def marked(self, mark: bytes) -> bytes:
        if self.mark_at < 0:
            return self.whole
        return b"".join([self.whole[: self.mark_at], mark, self.whole[self.mark_at + 1 :]])


class MessageFolder:
    def __init__(self) -> None:
        self._seen: OrderedDict[int, _Folded] = OrderedDict()

    def fold(
        self, request: ModelRequest, *, thinking: bool = True, references: frozenset[str] = frozenset()
    ) -> list[FoldedMessage]:
        """`thinking=False` leaves out all thinking blocks, as if another model had made them.

        `references` are the tools that a result may refer to; where one is not among them, its words are sent instead.
        """
        view = from_last_boundary(request.messages)
        model = request.model if thinking else ""
        context = (model, request.user_context, references)
        # A session's view keeps its first message until it is compacted.
        key = id(view[0]) if view else 0
        known = self._seen.pop(key, None)
        turns: list[FoldedMessage] = []
        if known is not None and known.context == context:
            turns = known.reusable(view)
        done = turns[-1].ends if turns else 0
        if not done:
            turns = []
        turns = [*turns, *_folded(view[done:], done, context, turns[-1] if turns else None)]
        self._seen[key] = _Folded(view, context, turns)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        # Ending on an answer asks to continue it, which is meant only when an answer is the last thing there is.
        if turns and turns[-1].role == "assistant" and not isinstance(view[-1], AssistantMessage):
            words = [{"type": "text", "text": GO_ON}]
            return [*turns, _turn("user", words, turns[-1].ends, media=turns[-1].has_media)]
        return turns


_Context = tuple[str, str, frozenset[str]]  # the model, the user context, the tools that may be referred to


@dataclass(frozen=True, slots=True)
class _Folded:
    view: tuple[ConversationMessage, ...]
    context: "_Context"
    turns: list[FoldedMessage]

    def reusable(self, view: Sequence[ConversationMessage]) -> list[FoldedMessage]:
        """The turns whose messages are still there, and those of the turn after them too: so nothing can join them."""
        same = _common_length(self.view, view)
        at = len(self.turns) - 2
        while at > 0 and self.turns[at].ends > same:
            at -= 1
        return self.turns[: max(0, at)]


def _common_length(old: Sequence[ConversationMessage], new: Sequence[ConversationMessage]) -> int:
    if old == new[: len(old)]:  # nearly always: it only grew. Identity makes this comparison cheap.
        return len(old)
    return next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one is not two), min(len(old), len(new))
    )


def from_last_boundary(messages: tuple[ConversationMessage, ...]) -> tuple[ConversationMessage, ...]:
    kinds = list(map(type, messages))
    if CompactBoundary not in kinds:
        return messages
    return messages[len(kinds) - 1 - kinds[::-1].index(CompactBoundary) :]


def encoded(value: Mapping[str, Any]) -> bytes:
    """JSON bytes without cache marks of others; strings that are no Unicode, and NUL, are made harmless."""
    bare = {key: each for key, each in value.items() if key != "cache_control"}
    try:
        data = orjson.dumps(bare)
    except TypeError:  # a lone surrogate, or a mapping that is not a dict
        return orjson.dumps(_clean(bare))
    return orjson.dumps(_clean(bare)) if b"\\u0000" in data else data


@dataclass(slots=True)
class _Draft:
    role: Literal["user", "assistant"]
    results: list[Block]
    others: list[Block]
    ends: int = 0


def _folded(
    messages: Sequence[ConversationMessage], done: int, context: _Context, before: FoldedMessage | None
) -> list[FoldedMessage]:
    model, user_context, references = context
    drafts: list[_Draft] = []
    if done == 0 and user_context.strip():
        drafts.append(_Draft("user", [], [{"type": "text", "text": user_context}]))
    for at, message in enumerate(messages, done + 1):
        for role, blocks in _contents(message, model):
            if not drafts or drafts[-1].role != role:
                drafts.append(_Draft(role, [], []))
            draft = drafts[-1]
            for block in blocks:
                (draft.results if block.get("type") == "tool_result" else draft.others).append(block)
        if drafts:
            drafts[-1].ends = at
    return _paired(_merged(drafts, before), before, references)


def _contents(message: ConversationMessage, model: str) -> list[tuple[Literal["user", "assistant"], list[Block]]]:
    match message:
        case AssistantMessage():
            if message.error is not None:
                return []
            foreign = message.model != model
            kept = [each for each in message.content if not (foreign and each.get("type") in _THINKING)]
            blocks = [_sendable(each) for each in kept if not _empty(each)]
            return [("assistant", blocks)]
        case CompactBoundary():
            own = [each for each in message.kept if each.get("type") == "compaction"]
            rest = [each for each in message.kept if each.get("type") != "compaction" and not _empty(each)]
            said: list[Block] = [{"type": "text", "text": SUMMARY_HEAD + message.summary}] if message.summary else []
            if own:
                # The endpoint's own summary goes back as it came, in the answer it came in.
                return [("user", rest or [{"type": "text", "text": GO_ON}]), ("assistant", own)]
            return [("user", said + rest)]
        case _:
            return [("user", [each for each in message.content if not _empty(each)])]


def _merged(drafts: list[_Draft], before: FoldedMessage | None) -> list[_Draft]:
    """Drop what became empty, then join neighbours of one role."""
    out: list[_Draft] = []
    for draft in drafts:
        if draft.role == "assistant":
            while draft.others and draft.others[-1].get("type") in _THINKING:
                draft.others.pop()
        if not draft.results and not draft.others:
            if out:
                out[-1].ends = max(out[-1].ends, draft.ends)
            continue
        if out and out[-1].role == draft.role:
            out[-1].results += draft.results
            out[-1].others += draft.others
            out[-1].ends = draft.ends
        else:
            out.append(draft)
    if not before and out and out[0].role == "assistant":
        out.insert(0, _Draft("user", [], [{"type": "text", "text": GO_ON}]))
    return out


def _paired(drafts: list[_Draft], before: FoldedMessage | None, references: frozenset[str]) -> list[FoldedMessage]:
    """Every call has one result right after it, and every result a call right before it."""
    turns: list[FoldedMessage] = []
    calls = before.calls if before is not None else ()
    ends = before.ends if before is not None else 0
    media = before is not None and before.has_media
    for at, draft in enumerate(drafts):
        ends = max(ends, draft.ends)
        if draft.role == "assistant":
            open_calls = tuple(str(each.get("id")) for each in draft.others if each.get("type") == "tool_use")
            turns.append(_turn("assistant", draft.others, ends, calls=open_calls, media=media))
            if open_calls and at == len(drafts) - 1:
                turns.append(_turn("user", [_no_result(call) for call in open_calls], ends, media=media))
            calls = open_calls
            continue
        given: dict[str, Block] = {}
        for result in draft.results:
            given.setdefault(str(result.get("tool_use_id")), result)
        results = [given.get(call) or _no_result(call) for call in calls]
        blocks = [_sendable(_referring(each, references)) for each in [*results, *draft.others]]
        if blocks:
            media = media or any(map(_media, blocks))
            turns.append(_turn("user", blocks, ends, media=media))
        calls = ()
    return turns


def _turn(
    role: Literal["user", "assistant"],
    blocks: Sequence[Block],
    ends: int,
    *,
    calls: tuple[str, ...] = (),
    media: bool = False,
) -> FoldedMessage:
    data = [encoded(each) for each in blocks]
    head = b'{"role":"%b","content":[' % role.encode()
    mark_at = -1
    end = len(head) - 1
    for each, block in zip(data, blocks, strict=True):
        end += len(each) + 1
        if block.get("type") in _MARKABLE:
            mark_at = end - 1
    whole = b"".join([head, b",".join(data), b"]}"])
    unthought = bool(calls) and blocks[0].get("type") not in _THINKING
    named = tuple(name for each in blocks if each.get("type") == "tool_result" for name in _named(each))
    return FoldedMessage(role, whole, mark_at, ends, calls, media, unthought, named)


def _named(result: Block) -> list[str]:
    """The tools that a result refers to."""
    content = result.get("content")
    inner = cast("list[Block]", content) if isinstance(content, list) else []
    return [str(each.get("tool_name")) for each in inner if each.get("type") == "tool_reference"]


def _referring(block: Block, references: frozenset[str]) -> Block:
    """A search's result as the endpoint takes it: references alone, or, where one leads nowhere, words alone."""
    names = _named(block) if block.get("type") == "tool_result" else []
    if not names:
        return block
    whole = references.issuperset(names)
    inner = cast("list[Block]", block["content"])
    return {**block, "content": [each for each in inner if (each.get("type") == "tool_reference") == whole]}


def _no_result(call: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": NO_RESULT, "is_error": True}


def _empty(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _media(block: Block) -> bool:
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        return any(each.get("type") in _MEDIA for each in cast("list[Block]", block["content"]))
    return block.get("type") in _MEDIA


def _sendable(block: Block) -> Block:
    """What the endpoint takes of a block: an input that is an object, result content that is not empty text."""
    kind = block.get("type")
    if kind in _WITH_INPUT and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    if kind == "tool_result" and isinstance(block.get("content"), list):
        inner = cast("list[Block]", block["content"])
        if any(_empty(each) for each in inner):
            return {**block, "content": [each for each in inner if not _empty(each)]}
    return block


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_clean(key): _clean(each) for key, each in items if key != "cache_control"}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in cast("Sequence[Any]", value)]
    return value
