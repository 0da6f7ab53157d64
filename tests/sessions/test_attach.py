"""Coming back to a session: by number within one process, by message after it (S6), crash included (S4)."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from assent.sessions.deps import PermissionFacts
from assent.sessions.stream import event_log as ring
from assent.sessions.stream.front import FrontFlags
from assent.storage.paths import session_paths
from assent.types.blocks import Block, Json, text_block
from assent.types.errors import ProtocolError
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.permissions import Action, Ask, Decision
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest
from assent.types.usage import Usage
from assent.wire.events import Notice
from sessions.harness import Harness, TestFront, running, say, use
from sessions.test_turns import Held


def asks_for_notes(_action: Action, _facts: PermissionFacts) -> Decision:
    return Ask(step="mode", reason="notes are asked about", title="Take a note?")


async def test_a_client_that_comes_back_gets_exactly_what_it_missed(tmp_path: Path) -> None:
    first, second = TestFront(), TestFront()
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new(first)
        await app.send(session, "hi", first, wait=True)
        seen = first.params[-1]["seq"]
        epoch = app.hub.epoch
        app.hub.disconnect(first)
        await app.send(session, "more", wait=True)
        answer = await app.request("session/attach", second, sessionId=session, epoch=epoch, afterSeq=seen)
        assert answer["reset"] is False and answer["messages"] == []
        assert [params["seq"] for params in second.params] == list(range(seen + 1, answer["lastSeq"] + 1))
        await app.send(session, "even more", second, wait=True)
        assert [params["seq"] for params in second.params] == list(range(seen + 1, second.params[-1]["seq"] + 1))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"epoch": "another", "afterSeq": 3},
        {"afterSeq": 3},
        {"epoch": "ours", "afterSeq": 10**6},
        {"epoch": "ours"},
    ],
)
async def test_otherwise_it_gets_the_newest_page_and_goes_on_live(tmp_path: Path, params: Json) -> None:
    front = TestFront()
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new()
        await app.send(session, "hi", wait=True)
        if params.get("epoch") == "ours":
            params = {**params, "epoch": app.hub.epoch}
        answer = await app.request("session/attach", front, sessionId=session, **params)
        assert answer["reset"] is True
        assert [(m["role"], m["content"][0]["text"]) for m in answer["messages"]] == [
            ("user", "hi"),
            ("assistant", "one"),
        ]
        assert (answer["running"], answer["mode"], answer["model"]) == (False, "default", "test-model")
        assert {"pendingAsks", "pendingElicits", "proposals", "todos", "epoch"} <= set(answer)
        await app.send(session, "more", front, wait=True)
        assert front.params[0]["seq"] == answer["lastSeq"] + 1


async def test_events_older_than_the_ring_mean_a_reset(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        log = app.hub.live[session].events
        for number in range(ring.RING + 5):
            log.publish(Notice("info", str(number)))
        assert ring.RING >= 10_000
        assert log.replay(0) is None
        replayed = log.replay(log.last_seq - 10_000)
        assert replayed is not None and len(replayed) == 10_000


async def test_attaching_mid_turn_shows_each_message_once(tmp_path: Path) -> None:
    held, front, late = Held(*say("second answer")), TestFront(), TestFront()
    async with running(tmp_path, [use("Note", text="a")], held) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new(front)
        await app.send(session, "hi", front)
        await held.asked.wait()
        answer = await app.request("session/attach", late, sessionId=session)
        assert answer["running"] and answer["turnId"]
        held.go.set()
        await late.seen("turnFinished")
        ids = [m["id"] for m in answer["messages"]] + [event["id"] for event in late.of("message")]
        assert len(ids) == len(set(ids)) == 4  # prompt, call, result, answer
        everything = await app.request("session/attach", TestFront(), sessionId=session)
        assert [m["id"] for m in everything["messages"]] == ids


async def test_history_is_paged_from_the_newest_back(tmp_path: Path) -> None:
    async with running(tmp_path) as app:
        session = await app.new()
        for number in range(60):
            await app.send(session, f"prompt {number}", wait=True)
        front = TestFront()
        newest = await app.request("session/attach", front, sessionId=session)
        assert len(newest["messages"]) == 100
        older = await app.request("session/attach", front, sessionId=session, cursor=newest["nextCursor"])
        assert "nextCursor" not in older
        texts = [m["content"][0]["text"] for m in older["messages"] + newest["messages"] if m["role"] == "user"]
        assert texts == [f"prompt {number}" for number in range(60)]


async def test_a_restart_resumes_with_messages_totals_mode_title_and_todos(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new(mode="acceptEdits", model="fancy")
        app.hub.live[session].state.todos = [{"content": "x", "status": "pending", "activeForm": "x"}]
        await app.send(session, "the first prompt", wait=True)
        cost = (await app.request("session/cost", sessionId=session))["totalCostUsd"]
        assert cost > 0
        old_epoch = app.hub.epoch
    async with running(tmp_path, say("two")) as app:
        answer = await app.request("session/attach", TestFront(), sessionId=session, epoch=old_epoch, afterSeq=2)
        assert answer["reset"] is True and answer["epoch"] != old_epoch
        assert (answer["mode"], answer["model"], answer["title"]) == ("acceptEdits", "fancy", "the first prompt")
        assert answer["todos"][0]["content"] == "x"
        result = (await app.send(session, "second", wait=True))["result"]
        assert result["totalCostUsd"] == pytest.approx(2 * cost)
        assert [
            block["text"]
            for message in app.model.requests[0].messages
            for block in getattr(message, "content", ())
            if block.get("type") == "text"
        ] == ["the first prompt", "one", "second"]


CRASH = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/support"]
from sessions.harness import Harness, TestFront, running, say, use

async def main():
    front = TestFront()
    async def stall(request):
        print("SESSION", session, flush=True)
        await asyncio.Event().wait()
    answers = {"model": (stall,), "ask": ([use("Note", text="milk")],)}[sys.argv[3]]
    async with running(Path(sys.argv[1]), *answers) as app:
        session = await app.new(front)
        globals()["session"] = session
        await app.send(session, "do it", front, clientMessageId="c1")
        if sys.argv[3] == "ask":
            await front.until(lambda: front.asked)
            print("SESSION", session, flush=True)
        else:
            await asyncio.sleep(0)
        await app.send(session, "and then this", front, clientMessageId="c2")
        print("READY", flush=True)
        await asyncio.Event().wait()

session = None
asyncio.run(main())
"""


def start(home: Path, kind: str) -> tuple[subprocess.Popen[str], str]:
    """A session in a process of its own, in the middle of a turn; the process and the session's id."""
    tests = str(Path(__file__).parents[1])
    child = subprocess.Popen([sys.executable, "-c", CRASH, str(home), tests, kind], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    session = ""
    ready = False
    while not (session and ready):
        words = child.stdout.readline().split()
        assert words, "the child ended too soon"
        session = words[1] if words[0] == "SESSION" else session
        ready = ready or words[0] == "READY"
    return child, session


def stop(child: subprocess.Popen[str]) -> None:
    os.kill(child.pid, signal.SIGKILL)
    child.wait(120)
    assert child.stdout is not None
    child.stdout.close()


def crash(home: Path, kind: str) -> str:
    child, session = start(home, kind)
    stop(child)
    return session


# S4
async def test_a_turn_cut_by_a_crash_is_visible_and_can_be_retried(tmp_path: Path) -> None:
    session = crash(tmp_path, "model")
    front = TestFront()
    async with running(tmp_path, say("done after all"), say("and that")) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert [m["content"][0]["text"] for m in answer["messages"]] == ["do it"]
        assert answer["interrupted"]["prompt"] == [{"type": "text", "text": "do it"}]
        assert answer["running"] is False
        assert answer["queued"] == ["c2"]  # acknowledged, so not lost
        again = await app.send(session, "do it", front, clientMessageId="c1")
        assert again["queued"] is False and app.model.requests == []  # the same message, not a second one
        await app.request("session/retry", front, sessionId=session)
        await front.seen("turnFinished", 1)
        assert (await app.request("session/attach", TestFront(), sessionId=session))["queued"] == [
            "c2"
        ]  # not by itself
        await app.send(session, "and then this", front, clientMessageId="c2")
        await front.seen("turnFinished", 2)
        prompts = [event["prompt"] for event in front.of("turnStarted")]
        assert prompts == [[{"type": "text", "text": "do it"}], "and then this"]
        after = await app.request("session/attach", TestFront(), sessionId=session)
        assert "interrupted" not in after


async def test_a_turn_cut_by_our_own_end_can_be_retried_too(tmp_path: Path) -> None:
    held, front = Held(), TestFront()
    async with running(tmp_path, held) as app:
        session = await app.new(front)
        await app.send(session, "do it", front)
        await held.asked.wait()
    async with running(tmp_path, say("done")) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert answer["interrupted"]["prompt"] == [{"type": "text", "text": "do it"}]
        await app.request("session/retry", front, sessionId=session)
        await front.until(lambda: front.of("turnFinished")[-1]["result"]["result"] == "done")
    async with running(tmp_path) as app:
        after = await app.request("session/attach", TestFront(), sessionId=session)
        assert "interrupted" not in after
        assert [m["content"][0]["text"] for m in after["messages"]] == ["do it", "done"]
        with pytest.raises(ProtocolError):
            await app.request("session/retry", sessionId=session)


async def test_a_session_open_in_another_process_says_who_has_it(tmp_path: Path) -> None:
    child, session = start(tmp_path, "ask")
    try:
        async with running(tmp_path) as app:
            with pytest.raises(ProtocolError) as refused:
                await app.request("session/attach", TestFront(), sessionId=session)
            assert (refused.value.kind, refused.value.data) == ("ownedElsewhere", {"pid": child.pid})
            only_reading = await app.request("session/attach", TestFront(), sessionId=session, readOnly=True)
            assert only_reading["readOnly"] is True
            assert only_reading["messages"][0]["content"][0]["text"] == "do it"
            assert "do it" in (await app.request("session/export", sessionId=session, format="markdown"))["text"]
            with pytest.raises(ProtocolError) as kept:
                await app.request("session/delete", sessionId=session)
            assert kept.value.kind == "ownedElsewhere"
    finally:
        stop(child)


# Q11
async def test_an_orphaned_ask_is_presented_once_more_and_then_denied(tmp_path: Path) -> None:
    session = crash(tmp_path, "ask")
    front = TestFront()
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert [ask["tool"] for ask in answer["pendingAsks"]] == ["Note"]
        await front.until(lambda: front.asked)
        assert front.asked[0]["orphan"] is True
        assert answer["state"] == app.hub.live[session].waiting.status == "idle"  # nobody works: the editor may go on
    front = TestFront()
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert answer["pendingAsks"] == []
        await anyio.lowlevel.checkpoint()
        assert front.asked == []
        await app.send(session, "go on", front, wait=True)
        assert app.note.notes == []


@pytest.mark.parametrize(("decision", "notes"), [("allow", ["milk"]), ("deny", [])])
async def test_the_answer_to_an_orphaned_ask_still_counts(tmp_path: Path, decision: str, notes: list[str]) -> None:
    session = crash(tmp_path, "ask")
    front = TestFront()
    front.answer({"decision": decision})
    async with running(tmp_path, say("went on")) as app:
        await app.request("session/attach", front, sessionId=session)
        await front.seen("permissionResolved")
        await app.send(session, "go on", front, wait=True)
        assert app.note.notes == notes
        assert len(front.asked) == 1


async def test_a_session_whose_file_ends_anywhere_opens_shows_and_goes_on(tmp_path: Path) -> None:
    async with running(tmp_path / "whole", [use("Note", text="a")], say("noted"), say("two")) as app:
        app.deps.settings.cli = {"permissions": {"allow": ["Note"]}}
        session = await app.new()
        await app.send(session, "first", wait=True)
        await app.send(session, "second", wait=True)
        path = app.hub.live[session].record.path
    whole = path.read_bytes()
    first_line = whole.index(b"\n") + 1
    for number, cut in enumerate(range(first_line, len(whole), len(whole) // 40)):
        home = tmp_path / str(number)
        async with running(home, say("still here")) as app:
            copy = session_paths(app.deps.data_dir, str(app.cwd), session).transcript
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(whole[:cut])
            answer = await app.request("session/attach", TestFront(), sessionId=session)
            kept = [m["id"] for m in answer["messages"]]
            result = (await app.send(session, "go on", wait=True))["result"]
            assert result["subtype"] == "success", cut
            calls = [b["id"] for b in _blocks(app.model.requests[0]) if b["type"] == "tool_use"]
            answers = [b["tool_use_id"] for b in _blocks(app.model.requests[0]) if b["type"] == "tool_result"]
            assert calls == answers, cut  # an orphan call got its result
            after = await app.request("session/attach", TestFront(), sessionId=session)
            assert [m["id"] for m in after["messages"]][: len(kept)] == kept, cut


def _blocks(request: ModelRequest) -> list[Block]:
    return [block for message in request.messages for block in getattr(message, "content", ())]


async def test_damage_in_the_file_is_told(tmp_path: Path) -> None:
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new()
        await app.send(session, "hi", wait=True)
        await app.send(session, "ho", wait=True)
        path = app.hub.live[session].record.path
    lines = path.read_bytes().splitlines(keepends=True)
    spoiled = next(index for index, line in enumerate(lines) if b'"one"' in line and b'"assistant"' in line)
    lines[spoiled] = lines[spoiled][: len(lines[spoiled]) // 2] + b"\n"
    path.write_bytes(b"".join(lines))
    front = TestFront()
    async with running(tmp_path) as app:
        answer = await app.request("session/attach", front, sessionId=session)
        assert answer["damaged"] == 1
        assert [m["content"][0]["text"] for m in answer["messages"]] == ["hi", "ho", "two"]
        await front.until(lambda: any("damaged" in notice["text"] for notice in front.of("notice")))


class Halting:
    """A model that says some words, waits, and says the rest."""

    def __init__(self) -> None:
        self.halfway, self.go = anyio.Event(), anyio.Event()

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        def said(event: Json, block: str) -> StreamEvent:
            return StreamEvent(event=event, message_id="m", block_uuid=block)

        def piece(block: str, text: str) -> StreamEvent:
            return said({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}, block)

        yield piece("b1", "First.")
        yield AssistantMessage(uuid="b1", message_id="m", content=(text_block("First."),), model=request.model)
        yield piece("b2", "Half ")
        yield piece("b2", "a ")
        call: Json = {"type": "tool_use", "id": "tu9", "name": "Note", "input": {}}
        yield said({"type": "content_block_start", "content_block": call}, "b3")
        self.halfway.set()
        await self.go.wait()
        yield piece("b2", "loaf.")
        yield AssistantMessage(uuid="b2", message_id="m", content=(text_block("Half a loaf."),), model=request.model)
        yield AssistantFinal(message_id="m", model=request.model, usage=Usage(), stop_reason="end_turn")


@pytest.mark.parametrize("partials", [True, False])
async def test_attaching_in_the_middle_of_a_block_gives_the_words_so_far(tmp_path: Path, partials: bool) -> None:
    model, front = Halting(), TestFront()
    late = TestFront(FrontFlags(permissions=True, partials=partials, max_event_rate=0))

    async with running(tmp_path, call_model=model) as app:
        session = await app.new(front)
        await app.send(session, "hi", front)
        await model.halfway.wait()
        await front.seen("toolPreparing")
        answer = await app.request("session/attach", late, sessionId=session)
        assert answer["reset"] is True
        assert [m["content"][0]["text"] for m in answer["messages"]] == ["hi", "First."]
        model.go.set()
        await late.seen("turnFinished")
        if partials:
            assert late.params[0]["seq"] == answer["lastSeq"] + 1
            heard = [params for params in front.params if params["seq"] > answer["lastSeq"]]
            assert late.params == heard  # no gap, nothing twice
            assert "".join(event["text"] for event in late.of("textDelta")) == "Half a loaf."
            assert late.of("toolPreparing")
        else:
            assert "textDelta" not in late.types
        assert [event["id"] for event in late.of("message")] == ["b2"]


async def test_a_conversation_opened_again_is_told_what_was_shown_between_its_messages(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow"})
    async with running(tmp_path, [use("Note", text="milk")], say("done"), decide=asks_for_notes) as app:
        session = await app.new(front)
        await app.send(session, "remember", front, wait=True)
        live = await app.request("session/attach", TestFront(), sessionId=session)
    async with running(tmp_path, decide=asks_for_notes) as app:
        again = await app.request("session/attach", TestFront(), sessionId=session)
    for attached in (live, again):
        events = [item["event"] for item in attached["shown"]]
        assert [event["type"] for event in events] == [
            "permissionResolved",
            "toolStarted",
            "toolFinished",
            "turnFinished",
        ]
        resolved, started, finished, ended = events
        assert (resolved["decision"], resolved["title"]) == ("allow", "Take a note?")
        assert (started["title"], finished["summary"], finished["isError"]) == ("Note milk", "noted", False)
        assert "content" not in finished and "input" not in started  # the messages have those
        assert ended["result"]["result"] == "done"
        ids = [message["id"] for message in attached["messages"]]
        places = [ids.index(item["after"]) for item in attached["shown"]]
        assert places == sorted(places) and places[-1] == len(ids) - 1
    assert live["usage"] == again["usage"]
    assert again["usage"]["contextTokens"] > 0 and again["usage"]["contextWindow"] > 0


async def test_a_rewind_tells_how_much_of_the_context_is_left(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        before = (await app.request("session/attach", TestFront(), sessionId=session))["usage"]
        await app.send(session, "second", front, wait=True)
        second = front.of("turnStarted")[1]["messageId"]
        await app.request("session/rewind", sessionId=session, messageId=second, restore="conversation")
        told = front.of("usage")[-1]
        assert told["contextTokens"] == before["contextTokens"]
        assert (await app.request("session/attach", TestFront(), sessionId=session))["usage"] == {
            "contextTokens": told["contextTokens"],
            "contextWindow": told["contextWindow"],
            "costUsd": told["totalCostUsd"],
        }


async def test_the_time_people_took_is_counted_only_while_one_is_waited_for(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, [use("Note", text="milk")], say("done"), decide=asks_for_notes) as app:
        session = await app.new(front)
        live = app.hub.live[session]
        assert live.waiting.seconds() == 0.0
        await app.send(session, "remember", front)
        await front.until(lambda: front.asked)
        first = live.waiting.seconds()
        assert 0.0 < first < live.waiting.seconds()
        front.answer({"decision": "allow"})
        await front.seen("turnFinished")
        assert live.waiting.seconds() == live.waiting.seconds() > first


async def test_a_fork_and_another_window_are_told_the_engines_mode_model_context_and_cost(tmp_path: Path) -> None:
    front, other = TestFront(), TestFront()
    async with running(tmp_path, say("one"), say("two")) as app:
        session = await app.new(front, mode="plan")
        await app.request("session/attach", other, sessionId=session)
        await app.send(session, "first", front, wait=True)
        await app.request("session/configure", sessionId=session, mode="acceptEdits")
        assert other.of("status")[-1]["mode"] == "acceptEdits"
        source = await app.request("session/attach", TestFront(), sessionId=session)
        second = await app.send(session, "second", front, wait=True)
        message = front.of("turnStarted")[1]["messageId"]
        forked = await app.request("session/fork", sessionId=session, messageId=message, before=True)
        copy = await app.request("session/attach", TestFront(), sessionId=forked["sessionId"])
        assert copy["messages"] == source["messages"], "without the message itself"
        for name in ("mode", "model", "usage", "shown"):
            assert copy[name] == source[name], name
        assert second["result"]["result"] == "two"


async def test_a_model_that_the_engine_took_is_told_to_every_window(tmp_path: Path) -> None:
    front, other = TestFront(), TestFront()
    async with running(tmp_path, say("unused")) as app:
        session = await app.new(front)
        await app.request("session/attach", other, sessionId=session)
        await app.send(session, "hello", front, wait=True)
        app.hub.live[session].chose_model("claude-sonnet-5")  # as at the end of a turn with /model in it
        assert [event["model"] for event in other.of("status") if "model" in event] == ["claude-sonnet-5"]
        assert (await app.request("session/attach", TestFront(), sessionId=session))["model"] == "claude-sonnet-5"


async def test_the_window_of_another_model_is_told_when_the_model_changes(tmp_path: Path) -> None:
    front, other = TestFront(), TestFront()
    windows = {"small": 100_000, "large": 1_000_000}

    def model_info(model: str) -> ModelInfo:
        return ModelInfo(id=model, context_window=windows.get(model, 200_000))

    async with running(tmp_path, say("one"), model_info=model_info) as app:
        session = await app.new(front)
        await app.request("session/attach", other, sessionId=session)
        await app.send(session, "first", front, wait=True)
        for model in ("small", "large"):
            if model == "small":
                await app.request("session/configure", sessionId=session, model=model)
            else:
                app.hub.live[session].chose_model(model)  # as after a turn with /model in it
            told = other.of("usage")[-1]
            assert told["contextWindow"] == windows[model]
            now = (await app.request("session/attach", TestFront(), sessionId=session))["usage"]
            assert now == {
                "contextTokens": told["contextTokens"],
                "contextWindow": told["contextWindow"],
                "costUsd": told["totalCostUsd"],
            }
        count = len(other.of("usage"))
        await app.request("session/configure", sessionId=session, model="large", mode="plan")
        assert len(other.of("usage")) == count, "the same model changes no figure"


async def test_who_may_only_read_a_conversation_is_told_its_context_and_cost(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("one")) as owner:
        session = await owner.new(front, mode="plan")
        await owner.send(session, "first", front, wait=True)
        own = await owner.request("session/attach", TestFront(), sessionId=session)
        async with running(tmp_path) as reader:
            seen = await reader.request("session/attach", TestFront(), sessionId=session, readOnly=True)
    assert seen["readOnly"] is True
    for name in ("mode", "model", "usage"):
        assert seen[name] == own[name], name


async def test_the_breakdown_of_the_context_adds_up_to_what_the_meter_shows_on_every_path(tmp_path: Path) -> None:
    front = TestFront()

    async def figures(app: Harness, session: str) -> tuple[int, int, float]:
        """As the meter and the cost are told; the engine's own breakdown says the same."""
        shown = (await app.request("session/attach", TestFront(), sessionId=session))["usage"]
        parts = await app.request("session/context", sessionId=session)
        cost = await app.request("session/cost", sessionId=session)
        assert (parts["used"], parts["window"]) == (shown["contextTokens"], shown["contextWindow"])
        assert cost["totalCostUsd"] == shown["costUsd"]
        return shown["contextTokens"], shown["contextWindow"], shown["costUsd"]

    async with running(tmp_path, say("one"), say("two"), say("A summary.")) as app:
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        await figures(app, session)
        await app.send(session, "second", front, wait=True)
        before = await figures(app, session)
        second = front.of("turnStarted")[1]["messageId"]
        forked = (await app.request("session/fork", sessionId=session, messageId=second, before=True))["sessionId"]
        await figures(app, forked)
        await app.request("session/rewind", sessionId=session, messageId=second, restore="conversation")
        assert (await figures(app, session))[2] == before[2], "what was spent stays spent"
        await app.send(session, "/compact", front, wait=True)
        assert (await figures(app, session))[0] == front.of("compacted")[-1]["tokensAfter"]
        compacted = await figures(app, session)
    async with running(tmp_path) as app:
        assert await figures(app, session) == compacted
