"""What the window knows: counts that follow the API's, and a clean start after a compaction (M8, C5)."""

from __future__ import annotations

from assent.context.collapse import Collapse
from assent.context.snip import Snippable
from assent.context.view import Reduced
from assent.engine.reduction.window import Marked, Window
from assent.types.blocks import text_block
from assent.types.messages import AssistantMessage, UserMessage

ASKED = UserMessage(uuid="u1", content=(text_block("a question " * 40),))
ANSWER = AssistantMessage(uuid="a1", message_id="m1", model="m", content=(text_block("an answer"),))
LATER = UserMessage(uuid="u2", content=(text_block("and more " * 40),))


def test_a_new_window_has_counted_nothing_but_what_it_is_told() -> None:
    window = Window()
    assert (window.overhead, window.told, window.last_answer, window.offered_at, window.budgeted) == (0, 0, 0, 0.0, 0)
    assert window.count(()) == 0 and window.idle(5.0) is None
    heavy = Window(overhead=1_000)
    assert heavy.count((ASKED,)) - window.count((ASKED,)) == 1_000


def test_counts_follow_the_last_answer_that_the_api_counted() -> None:  # M8
    window = Window(overhead=1_000)
    window.measured("m1", 5_000)
    assert window.last_answer == 5_000 and window.count((ASKED, ANSWER)) == 5_000
    assert window.count((ASKED, ANSWER, LATER)) == 5_000 + Window().count((LATER,))
    window.measured("m2", 0)  # an endpoint that counts nothing says nothing
    assert window.last_answer == 5_000
    window.measured("m1", 1)
    assert window.last_answer == 1


def test_what_a_reduction_frees_is_taken_off_the_count_each_time() -> None:
    window = Window()
    window.freed(Reduced(view=(), freed=10, changed=True))  # nothing was counted, so nothing is taken off
    assert window.anchor is None
    window.measured("m1", 5_000)
    for _ in range(2):
        window.freed(Reduced(view=(), freed=100, changed=True))
    assert window.count((ASKED, ANSWER)) == 4_800


def test_the_cache_is_as_old_as_the_last_call() -> None:
    window = Window(last_call=100.0)
    assert window.idle(130.0) == 30.0


def test_after_a_compaction_nothing_of_before_is_left() -> None:
    window = Window(overhead=7, told=5, last_answer=9, offered_at=0.5, staging_failures=2, budgeted=3)
    window.measured("m1", 5_000)
    window.marked.append(Marked(uuids=("u1",), by="model", snip_id="s"))
    window.offered.append(Snippable(uuid="u1", tool_use_id="t", label="Read", tokens=9))
    window.staged.append(Collapse(uuids=("u1",), summary="s"))
    window.cleared_results.add("t")
    window.spared.add("u2")
    window.restarted()
    assert window == Window(overhead=7, spared={"u2"})  # what the user wants back in view stays wanted
