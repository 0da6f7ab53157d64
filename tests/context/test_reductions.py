"""The reductions as pure functions: what each takes out of a view, and that a call never loses its other half (C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.context.collapse import Collapse, commit, next_span, still_there
from assent.context.compact import (
    NOTE,
    KeptFile,
    Portion,
    kept_blocks,
    open_prompt,
    request_text,
    summary_of,
    with_left_out,
)
from assent.context.context_usage import context_usage
from assent.context.media import REMOVED, strip_media
from assent.context.microcompact import CLEARED, KEEP_NEWEST, microcompact
from assent.context.reread import result_in_view
from assent.context.snip import snip, snippable
from assent.context.steps import as_text, steps
from assent.context.thresholds import Thresholds, thresholds
from assent.context.tokens import MEDIA_TOKENS, Anchor, count, estimate, estimate_all, estimate_block, estimate_text
from assent.context.tool_results import BATCH_CHARS, budget, capped, capped_batch
from assent.context.view import without
from assent.engine.pairing import answers, repaired, unanswered
from assent.types.blocks import Json, text_block, tool_result_block
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage
from assent.types.pointers import unchanged
from assent.types.ports import ModelInfo

IMAGE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def prompt(words: str, uuid: str = "p") -> UserMessage:
    return UserMessage(uuid=uuid, content=(text_block(words),))


def said(words: str, number: int) -> AssistantMessage:
    return AssistantMessage(uuid=f"s{number}", message_id=f"m{number}", content=(text_block(words),), model="m")


def step(number: int, *, size: int = 4_000, tool: str = "Read") -> list[ConversationMessage]:
    """One answer with one call, and its result."""
    call: Json = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {"file_path": f"/f{number}"}}
    return [
        said(f"step {number}", number),
        AssistantMessage(uuid=f"c{number}", message_id=f"m{number}", content=(call,), model="m"),
        UserMessage(uuid=f"r{number}", content=(tool_result_block(f"t{number}", "x" * size),)),
    ]


def session(count: int, **options: Any) -> tuple[ConversationMessage, ...]:
    return (prompt("go"), *(message for number in range(count) for message in step(number, **options)))


def marks(window: int = 60_000, output: int = 8_000) -> Thresholds:
    return thresholds(ModelInfo(id="m", context_window=window, max_output_tokens=output))


def assert_paired(view: Sequence[ConversationMessage]) -> None:
    assert repaired(view) == list(view)


# --- thresholds and counting -------------------------------------------------------------------------------------------


def test_thresholds_of_a_common_window() -> None:  # C5, L4
    at = marks(200_000, 64_000)
    assert (at.effective, at.blocking, at.autocompact) == (180_000, 177_000, 167_000)
    assert at.commit_collapses == 150_300


@pytest.mark.parametrize("window", [1, 100, 10_000, 40_000, 1_000_000])
def test_thresholds_keep_their_order_in_any_window(window: int) -> None:
    at = marks(window, 128_000)
    order = [at.stage_collapses, at.microcompact, at.commit_collapses, at.autocompact, at.blocking, at.effective]
    assert order == sorted(order)
    assert at.effective <= at.window


def test_tokens_are_the_last_measured_count_plus_an_estimate_of_what_came_after_less_what_was_freed() -> None:  # M8
    view = session(3)
    anchor = Anchor(message_id="m1", tokens=10_000, freed=1_500)
    after = estimate_all(view[-4:])  # the result of step 1 and all of step 2
    assert count(view, anchor) == 8_500 + after
    assert count(view, None, overhead=100) == 100 + estimate_all(view)


def test_an_estimate_is_above_four_bytes_a_token_for_text_and_data_alike() -> None:  # M8
    words = "a line of code = some(words)\n" * 1_000
    assert 1.2 < estimate_text(words) * 4 / len(words) < 1.3
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"content": words}}
    assert estimate_block(call) >= estimate_text(words)


def test_an_error_shown_to_people_costs_nothing_and_images_cost_a_flat_rate() -> None:
    shown = AssistantMessage(uuid="e", message_id="e", content=(text_block("x" * 999),), model="m", error="api_error")
    assert estimate(shown) == 0
    assert estimate(UserMessage(uuid="i", content=(IMAGE,))) == 1_600
    assert estimate_text("日本語") > estimate_text("abc")


# --- C1 ----------------------------------------------------------------------------------------------------------------


def test_a_long_result_keeps_a_preview_and_is_decided_once() -> None:  # C1
    files: dict[str, str] = {}

    def spill(call: str, text: str) -> str:
        files[call] = text
        return f"/spill/{call}"

    block = tool_result_block("t", "line\n" * 10_000)
    smaller = capped(block, 5_000, spill)
    assert files == {"t": "line\n" * 10_000}
    assert smaller["content"].startswith("line\nline\n") and "/spill/t" in smaller["content"]
    assert len(smaller["content"]) < 2_300
    assert capped(smaller, 100, spill) is smaller  # stable: the cached prefix is not touched
    assert capped(tool_result_block("t", "short"), 5_000, spill)["content"] == "short"


def test_pictures_stay_when_the_words_beside_them_are_spilled() -> None:
    block = tool_result_block("t", [text_block("y" * 9_000), IMAGE])
    smaller = capped(block, 1_000, None)
    assert [part["type"] for part in smaller["content"]] == ["text", "image"]


def test_a_batch_is_under_its_common_cap() -> None:
    blocks = [tool_result_block(f"t{n}", str(n) * 90_000) for n in range(4)]
    done = capped_batch(blocks, [100_000] * 4, lambda call, _text: f"/spill/{call}")
    assert sum(len(block["content"]) for block in done) <= BATCH_CHARS
    assert sum("/spill/" in block["content"] for block in done) == 2


def test_results_from_an_old_transcript_are_capped_when_they_are_first_seen() -> None:
    view = session(2, size=50_000)
    reduced = budget(view, 10_000, None)
    assert reduced.freed > 20_000
    assert budget(reduced.view, 10_000, None).changed is False


def gone(before: tuple[ConversationMessage, ...], after: tuple[ConversationMessage, ...]) -> set[str]:
    """Calls whose results the model could see before as they were, and no longer can (C7)."""
    calls = {str(b.get("tool_use_id")) for m in before if isinstance(m, UserMessage) for b in m.content} - {"None"}
    return {call for call in calls if result_in_view(after, call) != result_in_view(before, call)}


# --- C2 ----------------------------------------------------------------------------------------------------------------


def test_a_snip_takes_a_call_and_its_result_together_and_nothing_else() -> None:  # C2
    view = session(3)
    reduced = snip(view, {"c1"})
    assert [m.uuid for m in reduced.view] == ["p", "s0", "c0", "r0", "s1", "s2", "c2", "r2"]
    assert gone(view, reduced.view) == {"t1"}
    assert 1_200 <= reduced.freed <= 1_300
    assert_paired(reduced.view)


def test_a_snip_of_a_result_takes_its_call_too() -> None:
    assert_paired(snip(session(3), {"r0", "r2"}).view)


def test_what_is_worth_snipping_is_listed_without_the_newest_step() -> None:
    listed = snippable(session(4))
    assert [(each.uuid, each.label) for each in listed] == [(f"c{n}", f"Read /f{n}") for n in range(3)]
    assert snippable(session(4, size=100)) == []


def test_thoughts_left_alone_go_with_what_they_led_to() -> None:
    thought: Json = {"type": "thinking", "thinking": "hm", "signature": "s"}
    call: Json = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    view = (
        prompt("go"),
        AssistantMessage(uuid="a", message_id="m", content=(thought,), model="m"),
        AssistantMessage(uuid="b", message_id="m", content=(call,), model="m"),
        UserMessage(uuid="c", content=(tool_result_block("t", "x"),)),
    )
    assert [m.uuid for m in snip(view, {"b"}).view] == ["p"]


# --- C3 ----------------------------------------------------------------------------------------------------------------


def test_microcompact_clears_all_but_the_newest_results_when_the_window_fills() -> None:  # C3
    view = session(20)
    reduced = microcompact(view, tokens=marks().microcompact, marks=marks(), idle_seconds=1)
    contents = [m.content[0]["content"] for m in reduced.view if isinstance(m, UserMessage) and m.uuid != "p"]
    assert contents[:-KEEP_NEWEST] == [CLEARED] * 15
    assert CLEARED not in contents[-KEEP_NEWEST:]
    assert len(gone(view, reduced.view)) == 15
    assert_paired(reduced.view)


@pytest.mark.parametrize(
    ("tokens", "idle", "clears"),
    [
        (1_000, 1.0, False),  # room left and a warm cache: leave it
        (1_000, 301.0, True),  # the cache is cold anyway
        (1_000, None, True),  # nothing was sent yet
        (50_000, 1.0, True),  # nearly full
    ],
)
def test_microcompact_happens_only_when_it_pays(tokens: int, idle: float | None, clears: bool) -> None:
    reduced = microcompact(session(20), tokens=tokens, marks=marks(), idle_seconds=idle)
    assert reduced.changed is clears


def test_microcompact_leaves_small_gains_and_other_tools_alone() -> None:
    assert not microcompact(session(20, size=200), tokens=50_000, marks=marks(), idle_seconds=1).changed
    assert not microcompact(session(20, tool="Edit"), tokens=50_000, marks=marks(), idle_seconds=1).changed


@pytest.mark.parametrize("words", ["It may have run in part.", "first words " + "x" * 5_000 + " last words"])
def test_microcompact_keeps_how_a_call_failed(words: str) -> None:  # C3, L9
    """A call that may have run in part must not turn into one that can simply be made again."""
    view = list(session(20))
    at, failed = next((at, m) for at, m in enumerate(view) if isinstance(m, UserMessage) and m.uuid != "p")
    view[at] = replace(failed, content=({**failed.content[0], "content": words, "is_error": True},))
    once = microcompact(view, tokens=50_000, marks=marks(), idle_seconds=1)
    left = once.view[at]
    assert once.changed and isinstance(left, UserMessage) and left.content[0]["is_error"]
    kept = str(left.content[0]["content"])
    assert kept.startswith(words[:12]) and kept.endswith(words[-11:]) and len(kept) < 600
    assert not microcompact(once.view, tokens=50_000, marks=marks(), idle_seconds=1).changed


def test_microcompact_twice_changes_nothing_more() -> None:
    once = microcompact(session(20), tokens=50_000, marks=marks(), idle_seconds=1)
    assert not microcompact(once.view, tokens=50_000, marks=marks(), idle_seconds=1).changed


# --- C4 ----------------------------------------------------------------------------------------------------------------


def test_collapse_stages_the_oldest_span_and_never_the_newest_steps_or_the_users_words() -> None:  # C4
    view = (*session(8), prompt("and now", "p2"), *[m for n in range(8, 20) for m in step(n)])
    span = next_span(view, (), 60_000)
    assert span is not None
    assert span.uuids[:3] == ("s0", "c0", "r0")
    assert "p" not in span.uuids and "p2" not in span.uuids
    second = next_span(view, (Collapse(uuids=span.uuids, summary="x"),), 60_000)
    assert second is None or not set(second.uuids) & set(span.uuids)


def test_collapses_are_committed_oldest_first_until_there_is_room() -> None:
    view = session(30)
    first = next_span(view, (), 60_000)
    assert first is not None
    staged = [Collapse(uuids=first.uuids, summary="read six files")]
    second = next_span(view, staged, 60_000)
    assert second is not None
    staged.append(Collapse(uuids=second.uuids, summary="read six more"))
    reduced, committed = commit(view, staged, tokens=35_000, until=32_000)
    assert committed == 1
    assert "read six files" in str(reduced.view[1]) and isinstance(reduced.view[1], Attachment)
    assert gone(view, reduced.view) == {f"t{n}" for n in range(6)}
    assert_paired(reduced.view)
    everything, both = commit(view, staged)
    assert both == 2
    assert_paired(everything.view)
    assert still_there(everything.view, staged) == ()


def test_a_span_never_reaches_over_a_prompt() -> None:  # C4
    """Three steps before the prompt are too few; the span begins after it instead of being made of both sides."""
    view = (*session(3), prompt("and now", "p2"), *[m for n in range(3, 20) for m in step(n)])
    span = next_span(view, (), 60_000)
    assert span is not None
    assert span.uuids[0] == "s3" and not {"r0", "r1", "r2"} & set(span.uuids)


def test_a_summary_of_a_span_that_is_no_longer_whole_is_not_put_in_place() -> None:  # C4
    view = session(10)
    span = next_span(session(20), (), 60_000)
    assert span is not None and set(span.uuids) <= {message.uuid for message in view}
    torn = tuple(message for message in view if message.uuid != span.uuids[-1])
    assert commit(torn, [Collapse(uuids=span.uuids, summary="x")])[0].view == torn


# --- C5 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("<analysis>long</analysis>\n<summary>\nshort\n</summary>", "short"),
        ("<analysis>long</analysis> short", "short"),
        ("<summary>cut off in the mid", "cut off in the mid"),
        ("just words", "just words"),
        ("<analysis>only thoughts", ""),
    ],
)
def test_a_summary_is_found_in_any_answer(answer: str, summary: str) -> None:
    assert summary_of(answer) == summary


def test_instructions_reach_the_summarising_call() -> None:
    assert "keep the numbers" in request_text("keep the numbers")
    assert "The user asks" not in request_text("  ")


def test_files_todos_plan_tasks_and_skills_are_kept_beside_the_summary_within_their_room() -> None:
    blocks = kept_blocks(
        files=[KeptFile(path="/a", text="small"), KeptFile(path="/b", text="x" * 9_000)],
        todos=[{"status": "pending", "content": "write tests"}],
        plan="first this",
        tasks=["job 1"],
        skills={"pdf": "read it page by page"},
        room=100,
    )
    words = "\n".join(str(block["text"]) for block in blocks)
    assert all(
        each in words
        for each in ("write tests", "first this", "job 1", "pdf", "page by page", "/a as it is now:\nsmall")
    )
    assert "/b was in use" in words and "xxxx" not in words


def test_what_a_summary_is_made_of_points_at_nothing_that_was_left_out() -> None:  # C6, C7
    view = list(session(6, tool="Read"))
    (first, *_, last) = [at for at, m in enumerate(view) if isinstance(m, UserMessage) and m.uuid != "p"]
    meant, stub = view[first], view[last]
    assert isinstance(meant, UserMessage) and isinstance(stub, UserMessage)
    words = unchanged("/a.py", str(meant.content[0]["tool_use_id"]))
    view[last] = replace(stub, content=({**stub.content[0], "content": words},))
    whole = Portion(view=tuple(view))
    assert words in str(whole.smaller(whole.tokens).view)  # nothing had to go
    smaller = whole.smaller(whole.tokens // 2).view
    assert meant not in smaller and words not in str(smaller) and CLEARED in str(smaller)


def test_a_view_too_long_even_to_summarise_loses_its_oldest_rounds_between_steps() -> None:  # C6
    view = session(9)
    portion = Portion(view=view)
    smaller = portion.smaller(portion.tokens // 2)
    assert 0 < smaller.tokens <= portion.tokens // 2 + 20  # the note that says so
    assert [m.uuid for m in (*smaller.left_out, *smaller.view) if m.uuid != NOTE] == [m.uuid for m in view]
    assert_paired([m for m in smaller.view if m.uuid != NOTE])
    assert "1 message of the user" in with_left_out("So far.", smaller.left_out)
    nothing = smaller.smaller(0)
    assert nothing.view == () and len(nothing.left_out) == len(view)
    assert with_left_out("", nothing.left_out).startswith("Not in this summary")


def test_an_earlier_summary_is_the_last_thing_a_summary_loses() -> None:  # C6
    boundary = CompactBoundary(
        uuid="b", trigger="auto", tokens_before=1, tokens_after=1, summary="early days", kept=(text_block("x" * 9_000),)
    )
    portion = Portion(view=(boundary, *session(4)))
    smaller = portion.smaller(600)
    assert [m.uuid for m in smaller.view] == ["b", NOTE]
    assert "x" * 9_000 not in str(smaller.view) and "early days" in str(smaller.view)
    assert smaller.smaller(0).view == ()


def test_the_open_prompt_is_the_one_nobody_has_answered() -> None:  # C6
    prompt = UserMessage(uuid="q", content=(text_block("and this?"),))
    said = AssistantMessage(uuid="a", message_id="ma", content=(text_block("that"),), model="m")
    failed = AssistantMessage(uuid="e", message_id="me", content=(text_block("no"),), model="m", error="api_error")
    view = session(2)
    assert open_prompt((*view, prompt)) == (prompt.content, {"q"})
    assert open_prompt((*view, prompt, failed)) == (prompt.content, {"q"})
    assert open_prompt((*view, prompt, said)) == ((), frozenset())
    kept = kept_blocks(files=(), todos=(), plan="", tasks=(), skills={}, room=0, prompt=prompt.content)
    boundary = CompactBoundary(uuid="b", trigger="manual", tokens_before=1, tokens_after=1, summary="s", kept=kept)
    assert open_prompt((boundary,)) == (prompt.content, frozenset())
    assert open_prompt((boundary, said)) == ((), frozenset())


# --- the rest ----------------------------------------------------------------------------------------------------------


def test_pictures_are_taken_out_of_prompts_and_results() -> None:  # L7
    view = (
        UserMessage(uuid="a", content=(text_block("see"), IMAGE)),
        UserMessage(uuid="b", content=(tool_result_block("t", [IMAGE, text_block("x")]),)),
    )
    reduced = strip_media(view)
    assert str(reduced.view).count(REMOVED) == 2 and "base64" not in str(reduced.view)
    assert reduced.changed and not strip_media(reduced.view).changed
    assert reduced.freed == 2 * MEDIA_TOKENS


def test_only_pictures_and_documents_leave_and_everything_else_stays_as_it_is() -> None:  # L7
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}}
    removed = text_block(REMOVED)
    untouched = (
        UserMessage(uuid="a", content=(text_block("words"), tool_result_block("t", "words"))),
        AssistantMessage(uuid="b", message_id="m", content=(text_block("seen"),), model="m"),
        UserMessage(uuid="c", content=({"type": "web_search_tool_result", "tool_use_id": "w", "content": [IMAGE]},)),
        UserMessage(uuid="d", content=(tool_result_block("u", [text_block("only words")]),)),
    )
    attached = Attachment(uuid="e", kind="file", content=(text_block("a file"), document))
    result = UserMessage(
        uuid="f", content=(tool_result_block("v", [text_block("x"), IMAGE, document]), text_block("y"))
    )
    reduced = strip_media((*untouched, attached, result))
    assert all(after is before for after, before in zip(reduced.view, untouched, strict=False))
    assert reduced.view[4:] == (
        replace(attached, content=(text_block("a file"), removed)),
        replace(result, content=(tool_result_block("v", [text_block("x"), removed, removed]), text_block("y"))),
    )
    assert (reduced.freed, reduced.changed) == (3 * MEDIA_TOKENS, True)
    kept = strip_media(untouched)
    assert (kept.view, kept.freed, kept.changed) == (untouched, 0, False)


def test_usage_by_category_adds_up_to_what_was_measured() -> None:  # C8
    usage = context_usage(
        system=["s" * 400], tools=[{"name": "t" * 36}], memory="m" * 40, view=session(2), marks=marks(), measured=9_000
    )
    assert usage.used == 9_000
    assert usage.free == 51_000
    assert "9,000 of 60,000 tokens in use" in usage.as_text()
    assert min(usage.system, usage.tools, usage.memory, usage.messages) > 0


def test_a_count_below_our_estimates_still_gives_the_messages_their_share() -> None:  # C8
    usage = context_usage(
        system=["s" * 4_000], tools=[{"name": "t" * 4_000}], memory="", view=session(2), marks=marks(), measured=1_000
    )
    assert usage.used == 1_000 and usage.messages > 0


def test_steps_end_at_prompts_and_boundaries() -> None:
    boundary = CompactBoundary(uuid="b", trigger="auto", tokens_before=1, tokens_after=1, summary="s")
    view = (*session(2), prompt("more", "p2"), *step(2), boundary, *step(3))
    assert [(s.start, s.end) for s in steps(view)] == [(1, 4), (4, 7), (8, 11), (12, 15)]
    assert "Assistant called Read" in as_text(view) and "Summary of what came before: s" in as_text(view)


@given(gone=st.sets(st.sampled_from([m.uuid for m in session(6)])))
def test_taking_any_messages_out_never_parts_a_call_from_its_result(gone: set[str]) -> None:  # L9
    assert_paired(without(session(6), gone))


@given(kept=st.lists(st.sampled_from(session(5)), unique_by=lambda m: m.uuid))
def test_any_torn_history_can_be_repaired_and_repair_is_final(kept: list[ConversationMessage]) -> None:  # L9, S1
    fixed = repaired(kept)
    assert repaired(fixed) == fixed
    assert unanswered(fixed) == []


def test_open_calls_are_answered_with_what_is_known_and_an_error_otherwise() -> None:
    view = session(1)[:-1]
    (call,) = unanswered(view)
    assert answers([call], {}, "lost") == (tool_result_block("t0", "lost", is_error=True),)
    known = tool_result_block("t0", "done")
    assert answers([call], {"t0": known}, "lost") == (known,)
