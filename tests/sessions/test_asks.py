"""Questions to people: who is asked, whose answer counts, what becomes of the others (P11, P12, S7)."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from assent.sessions.asking.ask_answers import read_answer
from assent.sessions.deps import PermissionFacts
from assent.sessions.stream.front import CannotAnswer
from assent.storage.settings import local_file
from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.permissions import Action, Allow, Ask, Decision, Deny
from assent.types.ports import Elicitation, ToolCall
from assent.wire.asks import PermissionAsk
from sessions.harness import Harness, Note, NoteInput, TestFront, ask_about_notes, running, say, use

NOTE = [use("Note", text="milk")]


async def asked(app: Harness, front: TestFront, **params: Any) -> str:
    session = await app.new(front, **params)
    await app.send(session, "note it", front)
    await front.until(lambda: front.asked)
    return session


async def test_an_ask_carries_what_a_person_needs_and_the_events_come_in_order(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await asked(app, front)
        ask = front.asked[0]
        assert ask == {
            "requestId": ask["requestId"],
            "sessionId": session,
            "turnId": front.params[-1]["turnId"],
            "askId": ask["askId"],
            "toolUseId": "tu1",
            "tool": "Note",
            "input": {"text": "milk"},
            "title": "Take a note?",
            "reason": "notes are asked about",
            "step": "consolidation",
            "suggestions": [{"rule": "Note", "scope": "session", "covers": "every note"}],
            "command": {"text": "milk", "parts": [], "display": "milk"},
        }
        assert front.of("status")[-1] == {"type": "status", "state": "waiting"}
        front.answer({"decision": "allow"})
        await front.seen("turnFinished")
        kinds = ["permissionPending", "permissionResolved", "toolStarted", "toolFinished"]
        assert [kind for kind in front.types if kind in kinds] == kinds
        assert front.of("permissionResolved")[0] == {
            "type": "permissionResolved",
            "askId": ask["askId"],
            "by": "client",
            "decision": "allow",
            "tool": "Note",
            "title": "Take a note?",
        }
        assert app.note.notes == ["milk"]


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "deny", "message": "not now"},
        {"decision": "ALLOW"},
        {"decision": True},
        {"decision": "allow_always"},
        {},
        {"allow": "yes"},
        {"decision": "allow", "scope": "always"},
    ],
)
async def test_anything_but_a_clear_yes_is_a_no(tmp_path: Path, answer: Json) -> None:
    front = TestFront()
    front.answer(answer)
    async with running(tmp_path, NOTE, say("ok then")) as app:
        session = await app.new(front)
        result = (await app.send(session, "note it", front, wait=True))["result"]
        assert app.note.notes == []
        assert result["permissionDenials"] == [{"toolName": "Note", "toolUseId": "tu1", "toolInput": {"text": "milk"}}]
        assert "denied" in str(app.model.requests[1].messages)
        if "message" in answer:
            assert "not now" in str(app.model.requests[1].messages)


# S7
async def test_all_fronts_are_asked_one_answer_wins_and_the_other_is_told(tmp_path: Path) -> None:
    first, second = TestFront(), TestFront()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await app.new(first)
        await app.request("session/attach", second, sessionId=session)
        await app.send(session, "note it", first)
        await first.until(lambda: first.asked and second.asked)
        assert first.asked[0]["requestId"] != second.asked[0]["requestId"]
        second.answer({"decision": "allow"})
        await first.seen("turnFinished")
        assert first.withdrawn == [first.asked[0]["requestId"]]
        assert second.withdrawn == []
        first.answer({"decision": "deny"})  # too late: dropped silently
        assert app.note.notes == ["milk"]
        assert [event["type"] for event in first.events] == [event["type"] for event in second.events]


# P12
async def test_a_client_that_vanishes_never_allows_and_the_ask_is_sent_again_on_every_attach(tmp_path: Path) -> None:
    gone, back = TestFront(), TestFront()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await asked(app, gone)
        app.hub.disconnect(gone)
        gone.answer({"decision": "allow"})
        await anyio.lowlevel.checkpoint()
        assert app.note.notes == []
        snapshot = await app.request("session/attach", back, sessionId=session)
        assert [ask["askId"] for ask in snapshot["pendingAsks"]] == [gone.asked[0]["askId"]]
        await back.until(lambda: back.asked)
        await app.request("session/attach", back, sessionId=session)
        await back.until(lambda: len(back.asked) == 2)
        assert back.withdrawn == []  # it may answer either of the two, whichever it kept
        back.answer({"decision": "allow"})
        await back.seen("turnFinished")
        assert len(back.withdrawn) == 1 and back.withdrawn[0] in [ask["requestId"] for ask in back.asked]
        assert app.note.notes == ["milk"]


class Mute(TestFront):
    """A client without the method, like Helix."""

    async def ask(self, ask: PermissionAsk) -> Json:
        self.asked.append(msgspec.to_builtins(ask))
        self._tell()
        raise CannotAnswer


class Broken(Mute):
    async def ask(self, ask: PermissionAsk) -> Json:
        self.asked.append(msgspec.to_builtins(ask))
        self._tell()
        raise RuntimeError("no such window")


@pytest.mark.parametrize("kind", [Mute, Broken])
async def test_a_front_that_cannot_ask_leaves_the_question_open_for_other_ways(
    tmp_path: Path, kind: type[Mute]
) -> None:
    front = kind()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await asked(app, front)
        live = app.hub.live[session]
        assert live.asks.permissions()
        assert live.asks.answer(front.asked[0]["askId"], {"decision": "allow"}, by="codeAction")
        await front.seen("turnFinished")
        assert app.note.notes == ["milk"]
        assert not live.asks.answer(front.asked[0]["askId"], {"decision": "deny"}, by="codeAction")


async def test_an_interrupt_withdraws_the_question(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await asked(app, front)
        await app.request("session/interrupt", sessionId=session)
        assert front.withdrawn == [front.asked[0]["requestId"]]
        assert front.of("permissionResolved")[0]["by"] == "interrupted"
        assert "decision" not in front.of("permissionResolved")[0]
        assert app.note.notes == []
        assert front.of("turnFinished")[0]["result"]["terminal"] == "aborted_tools"


async def test_for_the_session_means_until_it_is_over_also_after_a_restart(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow", "scope": "session", "rule": "Note"})
    async with running(tmp_path, NOTE, [use("Note", "tu2", text="eggs")], say("done")) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert app.note.notes == ["milk", "eggs"]
        assert len(front.asked) == 1
    async with running(tmp_path, [use("Note", "tu3", text="salt")], say("done")) as app:
        await app.send(session, "more", wait=True)
        assert app.note.notes == ["salt"]
        assert not local_file(str(app.cwd)).exists()


@pytest.mark.parametrize("scope", ["project", "user"])
async def test_always_saves_the_rule_where_the_user_said(tmp_path: Path, scope: str) -> None:
    front = TestFront()
    front.answer({"decision": "allow", "scope": scope, "rule": "Note"})
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        file = local_file(str(app.cwd)) if scope == "project" else app.deps.settings.user_file
        assert '"Note"' in file.read_text()
        assert "always allowed" in front.of("notice")[0]["text"]


async def test_an_invalid_rule_with_allow_is_once_and_a_notice(tmp_path: Path) -> None:
    def refuse(_rule: str) -> None:
        raise ValueError("not like this")

    front = TestFront()
    front.answer({"decision": "allow", "scope": "session", "rule": "Note(("})
    front.answer({"decision": "allow"})
    async with running(tmp_path, NOTE, [use("Note", "tu2", text="eggs")], say("done"), parse_rule=refuse) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert app.note.notes == ["milk", "eggs"]
        assert len(front.asked) == 2
        assert "Allowed once" in front.of("notice")[0]["text"]


def judge(action: Action, facts: PermissionFacts) -> Decision:
    """Iron for "gold", never "poison", ask for the rest."""
    text = str(action.input.get("text", ""))
    if text == "poison":
        return Deny(step="policy", reason="no poison")
    if text == "gold":
        return Ask(step="ironGate", reason="gold is asked about", iron=True)
    return ask_about_notes(action, facts)


async def test_edited_input_is_judged_again_from_the_first_step(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow", "updatedInput": {"text": "oat milk"}})
    front.answer({"decision": "allow", "updatedInput": {"text": "poison"}})
    front.answer({"decision": "allow", "updatedInput": {"txt": "typo"}})
    calls = [[use("Note", f"tu{n}", text="milk")] for n in range(3)]
    async with running(tmp_path, *calls, say("done"), decide=judge) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert app.note.notes == ["oat milk"]
        last = str(app.model.requests[-1].messages)
        assert "no poison" in last and "does not fit" in last


async def test_input_edited_into_the_iron_gate_is_asked_about_once_more(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow", "updatedInput": {"text": "gold"}})
    front.answer({"decision": "allow"})
    async with running(tmp_path, NOTE, say("done"), decide=judge) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert [ask["input"]["text"] for ask in front.asked] == ["milk", "gold"]
        assert app.note.notes == ["gold"]


# P12
@pytest.mark.parametrize("changes", [{"mode": "dontAsk"}, {}])
async def test_where_nobody_is_asked_an_ask_becomes_a_deny_that_says_why(tmp_path: Path, changes: Json) -> None:
    front = TestFront()
    async with running(tmp_path, NOTE, say("done"), interactive=bool(changes)) as app:
        session = await app.new(front, **changes)
        await app.send(session, "note it", front, wait=True)
        assert front.asked == [] and app.note.notes == []
        assert "permission" in str(app.model.requests[1].messages)


async def test_an_unanswered_ask_times_out_only_if_configured(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, NOTE, say("done")) as app:
        session = await app.new(front)
        app.hub.live[session].ask_timeout = lambda: 0.01
        await app.send(session, "note it", front, wait=True)
        assert app.note.notes == []
        assert front.of("permissionResolved")[0]["by"] == "timeout"
        assert len(front.withdrawn) == 1


# P13
@pytest.mark.parametrize(
    ("said", "notes", "asks"), [("allow", ["milk"], 0), ("deny", [], 0), ("ask", ["milk"], 1), ("crash", ["milk"], 1)]
)
async def test_auto_mode_lets_a_classifier_answer_asks(tmp_path: Path, said: str, notes: list[str], asks: int) -> None:
    async def classify(_session: str, _call: ToolCall, _ask: Ask) -> Any:
        if said == "crash":
            raise RuntimeError("the small model is away")
        return said

    front = TestFront()
    front.answer({"decision": "allow"})
    async with running(tmp_path, NOTE, say("done"), classify=classify) as app:
        session = await app.new(front, mode="auto")
        await app.send(session, "note it", front, wait=True)
        assert (app.note.notes, len(front.asked)) == (notes, asks)


async def test_the_iron_gate_is_never_answered_by_classifier_or_hook(tmp_path: Path) -> None:
    async def classify(_session: str, _call: ToolCall, _ask: Ask) -> Any:
        return "allow"

    front = TestFront()
    front.answer({"decision": "deny"})
    changes: dict[str, Any] = {"classify": classify, "decide": judge, "hooks": Saying(decision="allow")}
    async with running(tmp_path, [use("Note", text="gold")], say("done"), **changes) as app:
        session = await app.new(front, mode="auto")
        await app.send(session, "note it", front, wait=True)
        assert len(front.asked) == 1 and app.note.notes == []
        assert front.asked[0]["suggestions"] == []


async def test_what_the_policy_wants_asked_is_never_answered_by_classifier_or_hook(tmp_path: Path) -> None:
    async def classify(_session: str, _call: ToolCall, _ask: Ask) -> Any:
        return "allow"

    def by_policy(_action: Any, _facts: Any) -> Ask:
        return Ask(step="policy", reason="your organisation wants to be asked")

    front = TestFront()
    front.answer({"decision": "deny"})
    changes: dict[str, Any] = {"classify": classify, "decide": by_policy, "hooks": Saying(decision="allow")}
    async with running(tmp_path, NOTE, say("done"), **changes) as app:
        session = await app.new(front, mode="auto")
        await app.send(session, "note it", front, wait=True)
        assert len(front.asked) == 1 and app.note.notes == []


class Saying:
    """A PermissionRequest hook with one opinion."""

    def __init__(self, **outcome: Any) -> None:
        self.outcome = HookOutcome(**outcome)
        self.heard: list[HookCall] = []

    def wants(self, event: HookEvent) -> bool:
        return event in ("PermissionRequest", "PermissionDenied")

    async def run(self, call: HookCall) -> list[HookOutcome]:
        self.heard.append(call)
        return [self.outcome] if call.event == "PermissionRequest" else []


@pytest.mark.parametrize(("decision", "notes"), [("allow", ["milk"]), ("deny", [])])
async def test_a_permission_request_hook_may_answer_for_people(tmp_path: Path, decision: str, notes: list[str]) -> None:
    hooks = Saying(decision=decision, text="the hook knows")
    front = TestFront()
    async with running(tmp_path, NOTE, say("done"), hooks=hooks) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert front.asked == [] and app.note.notes == notes
        assert [call.event for call in hooks.heard] == ["PermissionRequest"]  # PermissionDenied is auto mode's


async def test_a_command_too_long_to_show_cannot_be_allowed_for_ever(tmp_path: Path) -> None:
    front = TestFront()
    front.answer({"decision": "allow", "scope": "user", "rule": "Note"})
    async with running(tmp_path, [use("Note", text="x" * 20_000)], say("done")) as app:
        session = await app.new(front)
        await app.send(session, "note it", front, wait=True)
        assert front.asked[0]["suggestions"] == []
        assert "Allowed once" in front.of("notice")[0]["text"]
        assert not app.deps.settings.user_file.exists()


class Asking(Note):
    """Asks the user instead of taking notes."""

    name = "Asking"

    def action(self, input: NoteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input={"text": input.text}, harmless=True)

    async def call(self, input: NoteInput, ctx: Any) -> Any:
        question: Json = {"id": "q", "header": "H", "question": input.text, "options": []}
        asked = question | {"multiSelect": False, "allowOther": True}
        answer = await ctx.elicit(Elicitation(message="well?", questions=(asked,)))
        self.notes.append(f"{answer.action} {dict(answer.content)}")
        return await super().call(input, ctx)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ({"action": "accept", "content": {"answers": {"q": ["tea"]}}}, "accept {'answers': {'q': ['tea']}}"),
        ({"action": "decline"}, "decline {}"),
        ({"action": "whatever"}, "cancel {}"),
        ({}, "cancel {}"),
    ],
)
async def test_elicitations_reach_people_and_odd_answers_cancel(tmp_path: Path, answer: Json, note: str) -> None:
    front, tool = TestFront(), Asking()
    front.answer(answer)
    async with running(tmp_path, [use("Asking", text="tea?")], say("done"), tools=[tool]) as app:
        session = await app.new(front)
        await app.send(session, "ask me", front, wait=True)
        assert tool.notes[0] == note
        (asked_for,) = front.elicited
        assert asked_for["message"] == "well?" and asked_for["questions"][0]["id"] == "q"
        assert [kind for kind in front.types if kind.startswith("elicitation")] == [
            "elicitationPending",
            "elicitationResolved",
        ]


async def test_without_anyone_to_ask_an_elicitation_is_declined(tmp_path: Path) -> None:
    tool = Asking()
    async with running(tmp_path, [use("Asking", text="tea?")], say("done"), tools=[tool], interactive=False) as app:
        session = await app.new()
        await app.send(session, "ask me", wait=True)
        assert tool.notes[0] == "decline {}"


async def test_a_hooks_word_is_heard_where_the_chain_allows(tmp_path: Path) -> None:
    def allow(_action: Action, _facts: PermissionFacts) -> Decision:
        return Allow(step="rules", reason="fine")

    front = TestFront()
    async with running(tmp_path, decide=allow) as app:
        session = await app.new(front)
        gate = app.hub.live[session].gate
        action = Action(tool="Note", input={"text": "milk"})
        call = ToolCall(tool_use_id="t", action=action, title="Note", hook_decision="ask", hook_reason="look at this")
        front.answer({"decision": "deny"})
        with anyio.fail_after(120):
            assert isinstance(await gate.can_use_tool(call), Deny)
        assert front.asked[0]["reason"] == "look at this"


@pytest.mark.parametrize(
    ("mode", "taken"), [("acceptEdits", "acceptEdits"), ("default", "default"), ("bypassPermissions", None), (3, None)]
)
def test_an_approved_plan_may_name_the_mode_it_is_carried_out_in(mode: object, taken: str | None) -> None:
    answer = read_answer({"decision": "allow", "scope": "once", "mode": mode})
    assert (answer.allowed, answer.mode) == (True, taken)
