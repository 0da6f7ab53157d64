"""The event stream: no gap, no loss, no reordering, whatever is merged and whoever looks (S6)."""

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.sessions.asking.asks import Asks
from assent.sessions.stream.event_log import EventLog
from assent.sessions.stream.front import FrontFlags
from assent.sessions.stream.published import Published
from assent.sessions.stream.translate import Delta
from assent.types.blocks import Json
from assent.wire.asks import PendingAsk, PermissionAsk
from assent.wire.events import Notice, TextDelta
from sessions.harness import TestFront


def watching(rate: int, *, partials: bool = True) -> TestFront:
    return TestFront(FrontFlags(partials=partials, max_event_rate=rate))


def piece(block: str, text: str) -> Delta:
    return Delta(TextDelta, block, text)


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["a", "b", "c"]), st.text(min_size=1, max_size=3)),
        st.just(("notice", "")),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(steps=steps, rates=st.lists(st.sampled_from([0, 1, 60]), min_size=1, max_size=3))
def test_merging_loses_and_reorders_nothing(steps: list[tuple[str, str]], rates: list[int]) -> None:
    fronts = [watching(rate) for rate in rates]
    plain = watching(60, partials=False)
    said: dict[str, str] = {}
    marks: list[dict[str, str]] = []

    async def run() -> EventLog:
        log = EventLog("s", "e")
        for front in [*fronts, plain]:
            log.subscribe(front)
        for block, text in steps:
            if block == "notice":
                log.publish(Notice("info", str(len(marks))))
                marks.append(dict(said))
            else:
                log.delta(piece(block, text))
                said[block] = said.get(block, "") + text
        log.flush()
        return log

    log = anyio.run(run)
    for front in fronts:
        assert [params["seq"] for params in front.params] == list(range(1, log.last_seq + 1))
        heard: dict[str, str] = {}
        at_marks: list[dict[str, str]] = []
        for event in front.events:
            if event["type"] == "notice":
                at_marks.append(dict(heard))
            else:
                heard[event["blockId"]] = heard.get(event["blockId"], "") + event["text"]
        assert heard == said and at_marks == marks
    assert set(plain.types) <= {"notice"} and len(plain.of("notice")) == len(marks)
    for after in range(log.last_seq + 1):
        assert [each.json() for each in log.replay(after) or ()] == fronts[0].params[after:]
    assert log.replay(log.last_seq + 1) is None


async def test_the_first_piece_goes_out_at_once_and_the_rest_within_the_rate() -> None:
    front = watching(1)  # a second: a busy machine lets less than that pass between two pieces
    log = EventLog("s", "e")
    log.subscribe(front)
    for text in "hello":
        log.delta(piece("a", text))
    assert [event["text"] for event in front.events] == ["h"]
    await front.seen("textDelta", 2)  # by the timer, with no other event to push it
    assert [event["text"] for event in front.events] == ["h", "ello"]


async def test_text_that_json_cannot_hold_is_mended_for_everyone() -> None:
    front = watching(0)
    log = EventLog("s", "e")
    log.subscribe(front)
    log.publish(Notice("info", "half \ud800 a pair"))
    assert front.events[0]["text"] == "half \ufffd a pair"
    assert [each.json() for each in log.replay(0) or ()] == front.params


PENDING = PendingAsk(
    session_id="s",
    turn_id="t1",
    ask_id="a1",
    tool_use_id="u1",
    tool="Note",
    input={},
    title="Note it",
    reason="",
    step="consolidation",
    suggestions=[],
)


async def test_an_ask_never_overtakes_its_pending_event_while_events_are_held() -> None:
    order: list[str] = []

    class Ordered(TestFront):
        def event(self, published: Published) -> None:
            order.append(published.json()["event"]["type"])
            super().event(published)

        async def ask(self, ask: PermissionAsk) -> Json:
            order.append("ask")
            return await super().ask(ask)

    front = Ordered()
    log = EventLog("s", "e")
    held = log.subscribe(front)
    held.hold()
    asks = Asks(log)
    question = asks.open(PENDING)
    await anyio.lowlevel.checkpoint()
    assert order == []
    held.release()
    await front.until(lambda: front.asked)
    assert order == ["permissionPending", "ask"]
    front.answer({"decision": "allow"})
    with anyio.fail_after(120):
        assert await asks.wait(question) == {"decision": "allow"}


@pytest.mark.parametrize("text", ["", "x" * 200_000])
async def test_odd_sizes_are_no_trouble(text: str) -> None:
    front = watching(0)
    log = EventLog("s", "e")
    log.subscribe(front)
    log.delta(piece("a", text))
    log.flush()
    assert "".join(event["text"] for event in front.of("textDelta")) == text


async def test_deltas_only_a_chat_document_wants_leave_no_gap_for_the_others() -> None:
    log = EventLog("s", "e")
    client, document = (
        watching(60, partials=False),
        TestFront(FrontFlags(partials=True, numbered=False, max_event_rate=1)),
    )
    log.subscribe(client)
    log.subscribe(document)
    for text in "abc":
        log.delta(piece("b", text))
    log.publish(Notice("info", "x"))
    log.delta(piece("b", "d"))
    log.flush()
    log.publish(Notice("info", "y"))
    assert [params["seq"] for params in client.params] == [1, 2]
    assert "".join(event["text"] for event in document.of("textDelta")) == "abcd"
    assert document.types == ["textDelta", "textDelta", "notice", "textDelta", "notice"]
