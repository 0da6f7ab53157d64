"""The reductions at their edges: exact words, exact bounds, and what happens to exactly one thing (C)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assent.context.collapse import Collapse, commit, next_span
from assent.context.compact import (
    NOTE,
    PROMPT_KEPT,
    KeptFile,
    Portion,
    kept_blocks,
    open_prompt,
    request_text,
    rounds,
    with_left_out,
)
from assent.context.context_usage import context_usage
from assent.context.microcompact import CLEARED, microcompact
from assent.context.reread import without_dangling
from assent.context.snip import WORTH_TOKENS, largest, snippable
from assent.context.steps import QUOTED, as_text
from assent.context.thresholds import thresholds
from assent.context.tokens import (
    BYTES_PER_TOKEN,
    Anchor,
    count,
    estimate_all,
    estimate_content,
    estimate_json,
    estimate_text,
)
from assent.context.tool_results import BATCH_CHARS, MARK, budget, capped, capped_batch
from assent.context.unneeded import _unsure
from assent.context.view import map_results, without
from assent.engine.pairing import repaired, unanswered
from assent.types.blocks import Json, text_block, tool_result_block
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage
from assent.types.pointers import unchanged
from assent.types.ports import ModelInfo


def prompt(words: str, uuid: str = "p") -> UserMessage:
    return UserMessage(uuid=uuid, content=(text_block(words),))


def answer(words: str, number: int = 0) -> AssistantMessage:
    return AssistantMessage(uuid=f"s{number}", message_id=f"m{number}", content=(text_block(words),), model="m")


def step(number: int, result: str = "x" * 4_000) -> list[ConversationMessage]:
    call: Json = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/f{number}"}}
    return [
        answer(f"step {number}", number),
        AssistantMessage(
            uuid=f"c{number}", message_id=f"m{number}", content=(call,), model="m", timestamp=number + 1.0
        ),
        UserMessage(uuid=f"r{number}", content=(tool_result_block(f"t{number}", result),)),
    ]


def session(count: int) -> tuple[ConversationMessage, ...]:
    return (prompt("go"), *(message for number in range(count) for message in step(number)))


def boundary(summary: str = "before", kept: tuple[Json, ...] = ()) -> CompactBoundary:
    return CompactBoundary(uuid="b", trigger="auto", tokens_before=1, tokens_after=1, summary=summary, kept=kept)


# --- what a summary is made from ---------------------------------------------------------------------------------------


def test_a_conversation_is_written_out_with_who_said_what_and_how_calls_ended() -> None:  # C4
    failed: Json = {**tool_result_block("t9", "no such file"), "is_error": True}
    picture: Json = {"type": "image", "source": {}}
    messages = [
        boundary(),
        prompt("look"),
        *step(0, "found"),
        UserMessage(uuid="f", content=(failed, picture)),
        Attachment(uuid="a", kind="todo", content=(text_block("a list"),)),
    ]
    assert as_text(messages).split("\n") == [
        "Summary of what came before: before",
        "User: look",
        "Assistant: step 0",
        "Assistant called Read with {'file_path': '/f0'}",
        "The call gave: found",
        "The call failed: no such file",
        "User: a list",
    ]


@pytest.mark.parametrize(("length", "more"), [(QUOTED, ""), (QUOTED + 1, " … (1 more characters)"), (5_000, " … (3,000 more characters)")])  # fmt: skip
def test_long_parts_are_shortened_and_say_by_how_much(length: int, more: str) -> None:
    assert QUOTED == 2_000
    assert as_text([prompt("y" * length)]) == "User: " + "y" * min(length, QUOTED) + more


# --- collapse ------------------------------------------------------------------------------------------------------------


def test_a_span_after_a_staged_one_or_after_a_prompt_has_all_its_steps() -> None:  # C4
    view = session(20)
    first = next_span(view, (), window=1)
    assert first is not None and [message.uuid for message in first.messages] == [m.uuid for m in view[1:19]]
    staged = (Collapse(uuids=("s0", "c0", "r0"), summary="the first"),)
    after = next_span(view, staged, window=1)
    assert after is not None and [message.uuid for message in after.messages] == [m.uuid for m in view[4:22]]
    parted = (*view[:4], prompt("and also", "q"), *view[4:])
    later = next_span(parted, (), window=1)
    assert later is not None and later.messages[0].uuid == "s1" and len(later.messages) == 18


def test_summaries_are_put_in_place_only_while_there_is_too_little_room() -> None:  # C4
    view = session(4)
    staged = [Collapse(uuids=(f"s{at}", f"c{at}", f"r{at}"), summary="short") for at in range(2)]
    assert commit(view, staged, until=0)[1] == 0
    assert commit(view, staged, tokens=100, until=100)[1] == 0
    assert commit(view, staged, tokens=101, until=100)[1] == 1
    assert commit(view, staged)[1] == 2


def test_one_summary_stands_where_its_span_began_with_the_time_of_that() -> None:  # C4
    view = session(4)
    reduced, _ = commit(view, [Collapse(uuids=("c1", "r1", "s2"), summary="short")])
    stand_ins = [message for message in reduced.view if isinstance(message, Attachment)]
    assert [(each.uuid, each.timestamp) for each in stand_ins] == [("c1", 2.0)]
    assert [message.uuid for message in reduced.view] == [
        "p",
        "s0",
        "c0",
        "r0",
        "s1",
        "c1",
        "c2",
        "r2",
        "s3",
        "c3",
        "r3",
    ]
    assert reduced.changed and reduced.freed > 0


# --- compact -------------------------------------------------------------------------------------------------------------


def test_the_summarising_call_is_told_what_it_is_not_shown() -> None:  # C6
    apart = "The user's latest message is not shown here"
    assert apart in request_text(prompt_apart=True) and apart not in request_text()
    assert "asks of this summary" not in request_text("  ") and "asks of this summary: short" in request_text(" short ")


def test_nothing_is_kept_beside_a_summary_where_there_is_nothing() -> None:  # C6
    assert kept_blocks(files=(), todos=(), plan="", tasks=(), skills={}, room=100) == ()
    plan = kept_blocks(files=(), todos=(), plan="first this", tasks=(), skills={}, room=100)
    assert [block["text"] for block in plan] == ["The plan as it stands:\nfirst this"]


def test_files_and_skills_are_kept_while_there_is_room_and_named_when_there_is_not() -> None:  # C6
    text = "word " * 20
    room = 2 * estimate_text(text)
    files = [KeptFile(path=f"/f{at}", text=text) for at in range(2)]
    kept = kept_blocks(files=files, todos=(), plan="", tasks=(), skills={"old": text, "new": text}, room=room)
    assert [str(block["text"]).partition("\n")[0] for block in kept] == [
        "The skill new, which is in use:",
        "The skill old, which is in use:",
        "/f0 was in use; it is too long to keep here. Read it again if needed.",
        "/f1 was in use; it is too long to keep here. Read it again if needed.",
    ]
    only = kept_blocks(files=files, todos=(), plan="", tasks=(), skills={}, room=room - 1)
    assert [str(block["text"]).partition("\n")[0] for block in only] == [
        "/f0 as it is now:",
        "/f1 was in use; it is too long to keep here. Read it again if needed.",
    ]


def test_a_prompt_is_open_until_an_answer_without_calls() -> None:  # C6
    asked = prompt("mind the gap")
    given = (asked.content, frozenset({"p"}))
    assert open_prompt([asked]) == given
    assert open_prompt([asked, *step(0)[1:]]) == given
    assert open_prompt([asked, answer("done")]) == ((), frozenset())
    shown = AssistantMessage(uuid="e", message_id="e", content=(text_block("broken"),), model="m", error="api_error")
    assert open_prompt([asked, shown]) == given
    kept = boundary(kept=(text_block("other"), text_block(PROMPT_KEPT), text_block("mind the gap")))
    assert open_prompt([kept]) == ((text_block("mind the gap"),), frozenset())
    assert open_prompt([kept, answer("done")]) == ((), frozenset())
    assert open_prompt([boundary()]) == ((), frozenset())


def test_a_round_is_an_answer_with_all_its_parts_and_results() -> None:  # C6
    first, call, result = step(0)
    more = AssistantMessage(uuid="s0b", message_id="m0", content=(text_block("more"),), model="m")
    view = [prompt("go"), first, call, result, more, *step(1), boundary(), prompt("again", "q")]
    assert [[message.uuid for message in each] for each in rounds(view)] == [
        ["p"], ["s0", "c0", "r0", "s0b"], ["s1", "c1", "r1"], ["b"], ["q"],
    ]  # fmt: skip


def test_the_earlier_summary_is_the_last_to_leave() -> None:  # C6
    view = (boundary(), prompt("a" * 4_000, "p1"), prompt("b" * 400, "p2"))
    portion = Portion(view=view).smaller(room=300)
    assert [message.uuid for message in portion.view] == ["b", NOTE, "p2"]
    assert [message.uuid for message in portion.left_out] == ["p1"]
    again = portion.smaller(room=20)
    assert [message.uuid for message in again.left_out] == ["p1", "p2"]
    assert Portion(view=view).smaller(room=0).view == ()
    whole = Portion(view=view).smaller(room=100_000)
    assert whole.view == view and whole.left_out == ()


def test_what_a_summary_lacks_is_named_in_words() -> None:  # C6
    shown = AssistantMessage(uuid="e", message_id="e", content=(text_block("broken"),), model="m", error="api_error")
    attached = Attachment(uuid="a", kind="todo", content=(text_block("a list"),))
    head = "Not in this summary, because it did not fit into the call that made it: "
    assert with_left_out("S", ()) == "S"
    assert with_left_out("S", [attached, shown]) == f"S\n\n{head}older messages."
    assert with_left_out("", [prompt("one")]) == f'{head}1 message of the user (the latest: "one").'
    many = [boundary(), prompt("one"), prompt("two", "q"), *step(0), *step(1)]
    assert with_left_out("S", many) == (
        f'S\n\n{head}2 messages of the user (the latest: "one", "two") and 2 answers with calls and results and an '
        "earlier summary."
    )
    assert with_left_out("S", step(0)) == f"S\n\n{head}1 answer with calls and results."


# --- counting --------------------------------------------------------------------------------------------------------------


def test_data_counts_about_as_much_as_its_json() -> None:  # M8
    def bytes_of(value: object) -> float:
        return estimate_json([value] * 1_000) * BYTES_PER_TOKEN / 1_000 - 1  # each has a comma

    assert bytes_of("x" * 98) == pytest.approx(100, abs=0.1)
    assert bytes_of({"name": "x" * 94}) == pytest.approx(2 + 4 + 4 + 96, abs=0.1)
    assert bytes_of([7] * 10) == pytest.approx(2 + 10 * 6, abs=0.1)
    assert estimate_content(None) == 0


def test_a_measured_count_never_goes_below_nothing() -> None:  # M8
    view = session(1)
    assert count(view[:3], Anchor(message_id="m0", tokens=100, freed=500)) == 0
    assert count(view[:3], Anchor(message_id="m0", tokens=100)) == 100
    assert count(view, Anchor(message_id="elsewhere", tokens=100), overhead=7) == 7 + count(view, None)


def test_the_marks_of_small_and_common_windows() -> None:  # C5
    def marks(window: int, output: int) -> tuple[int, ...]:
        at = thresholds(ModelInfo(id="m", context_window=window, max_output_tokens=output))
        return (at.window, at.effective, at.blocking, at.autocompact, at.warning, at.microcompact, at.stage_collapses)

    assert marks(0, 8_000) == (1, 0, 0, 0, 0, 0, 0)
    assert marks(10_000, 8_000) == (10_000, 5_000, 4_500, 2_500, 2_250, 2_000, 2_000)
    assert marks(200_000, 64_000) == (200_000, 180_000, 177_000, 167_000, 150_300, 133_600, 133_600)


# --- snip -----------------------------------------------------------------------------------------------------------------


def test_a_result_just_worth_it_is_listed_and_one_below_is_not() -> None:  # C2
    per = 1_000 / estimate_text("x" * 1_000)
    size = next(length for length in range(1, 9_000) if estimate_content("x" * length) == WORTH_TOKENS)
    assert per > 1
    view = [prompt("go"), *step(0, "x" * size), *step(1, "x" * (size - int(per) - 1)), *step(2)]
    assert [each.tool_use_id for each in snippable(view)] == ["t0"]


def test_people_are_shown_what_each_large_part_is() -> None:  # C2
    long = "word " * 100
    thinking: Json = {"type": "thinking", "thinking": long, "signature": "s"}
    view = [
        prompt(long),
        UserMessage(uuid="n", content=(text_block(long),), is_meta=True),
        Attachment(uuid="a", kind="todo", content=(text_block(long),)),
        AssistantMessage(uuid="t", message_id="mt", content=(thinking,), model="m"),
        answer(long, 7),
    ]
    labels = {each.uuid: each.label for each in largest(view)}
    shown = labels["p"].removeprefix("you: ")
    assert len(shown) <= 80 and shown.startswith("word word")
    assert labels == {
        "p": f"you: {shown}", "n": f"a note to the model: {shown}", "a": f"attached (todo): {shown}",
        "t": "thinking", "s7": f"answer: {shown}",
    }  # fmt: skip


# --- results ----------------------------------------------------------------------------------------------------------------


def pointing(number: int, at: str) -> list[ConversationMessage]:
    return step(number, unchanged("/f0", at))


def stub_of(view: Sequence[ConversationMessage], number: int) -> object:
    return next(m.content[0]["content"] for m in view if isinstance(m, UserMessage) and m.uuid == f"r{number}")


def test_a_stub_stays_while_what_it_points_at_is_in_view_as_it_was() -> None:  # C7
    whole = (prompt("go"), *step(0), *pointing(1, "t0"))
    assert without_dangling(whole, whole) == whole
    assert without_dangling(whole, pointing(1, "t0")) == whole  # what is known nowhere else is taken as it is
    gone = (whole[0], *whole[4:])
    shorter = (prompt("go"), *step(0, "x" * 100), *pointing(1, "t0"))
    emptied = (prompt("go"), *step(0, CLEARED), *pointing(1, "t0"))
    for view, history in ((gone, whole), (shorter, whole), (emptied, whole), (emptied, emptied)):
        assert stub_of(without_dangling(view, history), 1) == CLEARED
    assert stub_of(without_dangling(whole, whole, cleared={"t0"}), 1) == CLEARED
    assert stub_of(without_dangling(gone, whole), 1) == CLEARED and without_dangling(gone, whole)[0] == whole[0]


def result(text: str) -> Json:
    return tool_result_block("t", text)


def test_a_result_at_its_cap_stays_and_one_above_is_cut_once() -> None:  # C1
    exact = result("x" * 3_000)
    assert capped(exact, 3_000, None) is exact
    cut = capped(result("x" * 3_001), 3_000, None)
    note = "[The whole output, 3,001 characters, was too long and only its beginning is kept.]"
    assert cut["content"] == "x" * 2_000 + f"\n\n… {note}"
    assert capped(cut, 100, None) is cut
    unsaved = capped(result("x" * 3_001), 3_000, lambda _call, _text: None)
    assert str(unsaved["content"]).endswith("could not be saved; only its beginning is kept.]")
    early = result(MARK + "x" * 4_000)
    assert capped(early, 3_000, None) is not early
    for behind, same in ((400 - len(MARK), True), (401 - len(MARK), False)):
        marked = result("y" * 4_000 + MARK + "x" * behind)
        assert (capped(marked, 3_000, None) is marked) is same


@pytest.mark.parametrize(
    ("newline", "shown"), [(None, 2_000), (1_000, 1_000), (999, 2_000), (1_999, 1_999), (0, 2_000)]
)
def test_a_preview_ends_at_a_line_end_where_one_is_near(newline: int | None, shown: int) -> None:  # C1
    text = "x" * 5_000 if newline is None else "x" * newline + "\n" + "x" * 5_000
    preview = str(capped(result(text), 3_000, None)["content"]).partition("\n\n… ")[0]
    assert len(preview) == shown


def test_a_tiny_preview_may_begin_with_its_only_line_end() -> None:  # C1
    assert str(capped(result("\n" + "x" * 50), 1, None)["content"]).startswith("\n\n\n…")


def test_a_batch_just_under_its_common_cap_is_left_alone() -> None:  # C1
    half = BATCH_CHARS // 2
    exact = [result("x" * half), result("y" * half)]
    assert capped_batch(exact, [BATCH_CHARS] * 2, None) == exact
    above = capped_batch([result("x" * half), result("y" * (half + 1))], [BATCH_CHARS] * 2, None)
    assert len(str(above[0]["content"])) == half and len(str(above[1]["content"])) < 3_000


def test_what_a_view_loses_to_its_caps_is_counted() -> None:  # C1
    view = session(2)
    reduced = budget(view, 1_000, None)
    assert reduced.changed and reduced.freed == estimate_all(view) - estimate_all(reduced.view)
    small = budget(view, 10_000, None)
    assert (small.changed, small.freed, small.view) == (False, 0, view)


def test_what_microcompact_frees_is_what_the_view_loses_nearly() -> None:  # C3
    view = session(20)
    at = thresholds(ModelInfo(id="m", context_window=60_000, max_output_tokens=8_000))
    reduced = microcompact(view, tokens=60_000, marks=at, idle_seconds=None)
    lost = estimate_all(view) - estimate_all(reduced.view)
    assert reduced.freed > 0 and reduced.freed == pytest.approx(lost, rel=0.05)


@pytest.mark.parametrize(("length", "stays"), [(600, True), (601, False)])
def test_a_failure_of_three_times_what_is_kept_stays_whole(length: int, stays: bool) -> None:  # C3
    words = "a" * 300 + "b" * (length - 300)
    failed: Json = {**tool_result_block("t0", words), "is_error": True}
    first = [*step(0)[:2], UserMessage(uuid="r0", content=(failed,))]
    view = (prompt("go"), *first, *(message for number in range(1, 20) for message in step(number)))
    at = thresholds(ModelInfo(id="m", context_window=60_000, max_output_tokens=8_000))
    reduced = microcompact(view, tokens=60_000, marks=at, idle_seconds=None)
    kept = stub_of(reduced.view, 0)
    assert kept == (words if stays else f"{'a' * 200}…\n{CLEARED}\n…{'b' * 200}")


def test_the_use_of_the_window_is_told_by_part_and_adds_up() -> None:  # C5
    at = thresholds(ModelInfo(id="m", context_window=1_000, max_output_tokens=100))
    tool: Json = {"name": "x" * 300}
    parts = {"system": ["s" * 330, "s" * 330], "tools": [tool], "memory": "m" * 165, "view": [prompt("p" * 330)]}
    plain = context_usage(**parts, marks=at)  # pyright: ignore[reportArgumentType] -- by name
    assert (plain.system, plain.tools, plain.memory) == (200, 94, 50)
    assert plain.used == plain.system + plain.tools + plain.memory + plain.messages
    assert plain.free == 1_000 - plain.used
    measured = context_usage(**parts, marks=at, measured=2 * plain.used)  # pyright: ignore[reportArgumentType]
    assert (measured.system, measured.tools, measured.memory, measured.used) == (400, 188, 100, 2 * plain.used)
    over = context_usage(**parts, marks=at, measured=1_001)  # pyright: ignore[reportArgumentType]
    assert (over.used, over.free) == (1_001, 0)
    assert plain.as_text().splitlines()[2] == "system           200   20.0 %"
    nothing = context_usage(system=(), tools=(), memory="", view=(), marks=at, measured=10)
    assert (nothing.used, nothing.free) == (0, 1_000)


# --- pairs -----------------------------------------------------------------------------------------------------------------


def test_results_in_two_messages_answer_their_calls_and_none_is_made_up() -> None:  # L9
    uses: list[Json] = [{"type": "tool_use", "id": id, "name": "Read", "input": {}} for id in ("t1", "t2")]
    calls = AssistantMessage(uuid="c", message_id="m", content=tuple(uses), model="m")
    one, two = (UserMessage(uuid=f"r{id}", content=(tool_result_block(id, "x"),)) for id in ("t1", "t2"))
    whole = [prompt("go"), calls, one, two]
    assert repaired(whole) == whole and unanswered(whole) == []
    assert [block["id"] for block in unanswered(whole[:3])] == ["t2"]
    assert unanswered([calls, prompt("next")]) == []
    closed = repaired(whole[:3])[-1]
    assert isinstance(closed, UserMessage) and closed.is_meta
    assert [(block["tool_use_id"], block.get("is_error")) for block in closed.content] == [("t2", True)]
    parted = repaired([prompt("go"), calls, one, answer("later", 9)])
    assert [message.uuid for message in parted] == ["p", "c", "rt1", closed.uuid, "s9"]


def test_results_of_several_blocks_count_in_a_batch_too() -> None:  # C1
    many: Json = {"type": "tool_result", "tool_use_id": "t", "content": [text_block("x" * 150_000), text_block("end")]}
    first, second = capped_batch([many, result("y" * 100_000)], [BATCH_CHARS] * 2, None)
    assert len(str(first["content"])) < 3_000 and len(str(second["content"])) == 100_000


def test_a_failure_that_is_not_plain_words_counts_as_unsure() -> None:  # C2
    assert _unsure({"type": "tool_result", "content": [text_block("exit code 1")]})
    assert not _unsure(tool_result_block("t", "exit code 1"))
    assert _unsure(tool_result_block("t", "it may have run in part"))


def test_results_that_answer_nothing_leave_and_what_stands_beside_them_stays() -> None:  # L9
    stray = UserMessage(uuid="x", content=(tool_result_block("nowhere", "x"),))
    beside = UserMessage(uuid="y", content=(tool_result_block("nowhere", "x"), text_block("and this")))
    view = [prompt("go"), *step(0), stray, beside]
    fixed = repaired(view)
    assert fixed[:4] == view[:4]
    assert [(m.uuid, m.content) for m in fixed[4:] if isinstance(m, UserMessage)] == [("y", (text_block("and this"),))]


def test_what_is_taken_out_of_a_view_takes_its_other_half_and_nothing_beside_it() -> None:  # C2
    first, call, given = step(0)
    assert isinstance(given, UserMessage)
    mixed = UserMessage(uuid="r0", content=(*given.content, text_block("and mind this")))
    view = (prompt("go"), first, call, mixed, prompt("more", "q"))
    assert [message.uuid for message in without(view, {"q"})] == ["p", "s0", "c0", "r0"]
    left = without(view, {"c0"})
    assert [message.uuid for message in left] == ["p", "s0", "r0", "q"]
    assert isinstance(left[2], UserMessage) and left[2].content == (text_block("and mind this"),)
    assert without(view, {"q"})[3] is mixed


def test_changed_results_are_counted_and_messages_without_any_are_the_same_ones() -> None:  # C3
    view = session(3)
    changed, count = map_results(
        view, lambda block: {**block, "content": "y"} if block["tool_use_id"] != "t1" else block
    )
    assert count == 2
    assert [new is old for new, old in zip(changed, view, strict=True)] == [m.uuid not in ("r0", "r2") for m in view]
    assert map_results(view, lambda block: block) == (view, 0)
