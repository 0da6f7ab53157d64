"""The history and the view of it: from the last boundary on, with summaries, without what was snipped or withdrawn."""

from __future__ import annotations

from collections.abc import Sequence

from assent.context.microcompact import CLEARED
from assent.engine.history import History, view_of
from assent.types.blocks import text_block, text_of, tool_result_block
from assent.types.messages import Collapsed, CompactBoundary, ConversationMessage, Tombstone, UserMessage
from assent.types.pointers import unchanged


def said(uuid: str) -> UserMessage:
    return UserMessage(uuid=uuid, content=(text_block(f"words of {uuid}"),))


def boundary(uuid: str, summary: str = "", kept: str = "") -> CompactBoundary:
    return CompactBoundary(
        uuid=uuid,
        trigger="manual",
        tokens_before=9,
        tokens_after=1,
        summary=summary,
        kept=(text_block(kept),) if kept else (),
    )


def uuids(messages: Sequence[ConversationMessage]) -> list[str]:
    return [message.uuid for message in messages]


def test_the_view_begins_at_the_last_boundary_and_after_one_that_is_empty() -> None:  # C5, Q7
    old, new = [said("a"), said("b")], [said("c"), said("d")]
    assert uuids(view_of([*old, *new])) == ["a", "b", "c", "d"]
    assert uuids(view_of([*old, boundary("x", "So far."), *new])) == ["x", "c", "d"]
    assert uuids(view_of([*old, boundary("x", kept="the prompt"), *new])) == ["x", "c", "d"]
    assert uuids(view_of([*old, boundary("x"), *new])) == ["c", "d"]  # /clear
    assert uuids(view_of([boundary("x", "Old."), *old, boundary("y", "New."), *new])) == ["y", "c", "d"]
    assert uuids(view_of([boundary("x"), *old])) == ["a", "b"]
    assert uuids(view_of([*old, boundary("x", "All.")])) == ["x"]
    assert view_of([]) == ()


def test_summaries_of_spans_and_snips_are_put_back_into_the_view() -> None:  # C2, C4
    messages: list[ConversationMessage] = [said(name) for name in "abcdef"]
    collapsed = Collapsed(message_uuids=("b", "c"), summary="Two things.")
    view = view_of(messages, collapsed=[collapsed])
    assert uuids(view) == ["a", "b", "d", "e", "f"]
    assert "Two things." in text_of(getattr(view[1], "content", ()))
    assert uuids(view_of(messages, snipped={"e"})) == ["a", "b", "c", "d", "f"]
    assert uuids(view_of(messages, snipped={"b"}, collapsed=[collapsed])) == ["a", "d", "e", "f"]


def test_a_stub_in_a_resumed_view_goes_with_what_it_points_at_however_that_went() -> None:  # C7
    messages: list[ConversationMessage] = [
        UserMessage(uuid="r1", content=(tool_result_block("t1", "the file"),)),
        said("x"),
        UserMessage(uuid="r2", content=(tool_result_block("t2", unchanged("a.py", "t1")),)),
    ]
    for view in (
        view_of(messages, snipped={"r1"}),
        view_of(messages, collapsed=[Collapsed(message_uuids=("r1", "x"), summary="Read.")]),
    ):
        assert CLEARED in str(view[-1])
    assert CLEARED not in str(view_of(messages)[-1])


def test_what_is_added_is_in_the_history_and_in_the_view_once() -> None:
    history = History([said("a")])
    assert uuids(history.view()) == ["a"]
    history.add(said("b"))
    history.add(said("c"))
    assert uuids(history.view()) == uuids(history.view()) == uuids(history.messages) == ["a", "b", "c"]
    history.add(said("d"))
    history.reduce((said("c"),))
    assert uuids(history.view()) == ["c"] and uuids(history.messages) == ["a", "b", "c", "d"]


def test_withdrawn_messages_leave_both_and_the_others_stay_in_order() -> None:  # L10
    history = History([said(name) for name in "abcde"])
    history.add(said("f"))
    history.withdraw({"f", "c", "nowhere"})
    assert uuids(history.messages) == uuids(history.view()) == ["a", "b", "d", "e"]
    history.withdraw({"a", "e"})
    assert uuids(history.messages) == uuids(history.view()) == ["b", "d"]
    history.withdraw(())
    assert uuids(history.messages) == ["b", "d"]


def test_a_host_may_keep_less_of_the_history_and_without_a_word_of_it_all_stays() -> None:  # Q2
    history = History([said(name) for name in "abc"])

    def less(
        found: Tombstone | CompactBoundary, messages: Sequence[ConversationMessage]
    ) -> Sequence[ConversationMessage]:
        assert found is marker
        return messages[1:]

    marker = Tombstone(reason="snip", message_uuids=("a",))
    history.replay(marker, None)
    assert uuids(history.messages) == ["a", "b", "c"]
    history.replay(marker, less)
    assert uuids(history.messages) == ["b", "c"]


def test_a_view_that_restarts_begins_at_the_boundary_that_was_added() -> None:  # C5
    history = History([said("a")])
    history.add(boundary("x", "So far."))
    history.add(said("b"))
    history.restart()
    assert uuids(history.view()) == ["x", "b"]
