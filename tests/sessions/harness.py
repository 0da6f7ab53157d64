"""Sessions over the real engine, with a scripted model, a scripted judge and fronts that remember what they saw."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec

from assent.editor.client_edits import NoClient
from assent.editor.editor import Editor
from assent.editor.editor_workspace import EditorWorkspace
from assent.editor.proposal import EditOrigin, Review
from assent.engine.config import EngineConfig
from assent.engine.conversation_past import ConversationPast
from assent.engine.query_engine import QueryEngine
from assent.engine.services import Services
from assent.sessions.deps import PermissionFacts, SessionDeps
from assent.sessions.hub import Sessions
from assent.sessions.stream.front import Call, FrontFlags
from assent.sessions.stream.published import Published
from assent.storage.settings import SettingsFiles
from assent.storage.trust import TrustStore
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import AnyTool, Input, Tool, ToolContext, ToolOutput
from assent.types.blocks import Json, text_block
from assent.types.ids import new_id
from assent.types.messages import AssistantFinal, AssistantMessage, StreamEvent
from assent.types.permissions import Action, Allow, Ask, Decision, Suggestion
from assent.types.ports import FileText, ModelEvent, ModelRequest
from assent.types.usage import Usage
from assent.wire.asks import Elicit, PermissionAsk

Answer = Sequence[Json] | Callable[[ModelRequest], Awaitable[Sequence[Json]]]
WAIT = 120.0  # only a hang reaches it


def say(text: str) -> list[Json]:
    return [text_block(text)]


def use(tool: str, tool_use_id: str = "tu1", **input: Any) -> Json:
    return {"type": "tool_use", "id": tool_use_id, "name": tool, "input": input}


class ScriptedModel:
    """Plays its answers in order, then says "ok". `gate` answers wait until the test lets them go."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else say("ok")
        blocks = await answer(request) if callable(answer) else answer
        message_id = new_id("m")
        for index, block in enumerate(blocks):
            uuid = new_id("b")
            for event in _partials(index, block):
                yield StreamEvent(event=event, message_id=message_id, block_uuid=uuid)
            yield AssistantMessage(uuid=uuid, message_id=message_id, content=(block,), model=request.model)
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        usage = Usage(input_tokens=100, output_tokens=10, cache_read_input_tokens=300)
        yield AssistantFinal(message_id=message_id, model=request.model, usage=usage, stop_reason=stop, cost_usd=0.01)


def _partials(index: int, block: Json) -> list[Json]:
    if block["type"] == "text":
        text: str = block["text"]
        pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
        return [
            {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
            *(
                {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}
                for piece in pieces
            ),
        ]
    return [{"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}]


class NoteInput(Input, frozen=True):
    text: str


class Note(Tool[NoteInput]):
    """Remembers what it was called with; the scripted judge decides whether it may run."""

    name = "Note"
    input_type = NoteInput
    notes: list[str]

    def __init__(self) -> None:
        self.notes = []

    def description(self) -> str:
        return "Takes a note."

    def action(self, input: NoteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input={"text": input.text}, command=input.text)

    def title(self, input: NoteInput) -> str:
        return f"Note {input.text}"

    async def call(self, input: NoteInput, ctx: ToolContext) -> ToolOutput:
        ctx.progress(f"noting {input.text}")
        self.notes.append(input.text)
        return ToolOutput(content=f"noted {input.text}", summary="noted")


class TestFront:
    """A client in memory. `answers` are given to asks in order; without one, an ask waits for ever."""

    __test__ = False

    def __init__(self, flags: FrontFlags | None = None) -> None:
        self._flags = flags or FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)
        self.params: list[Json] = []
        self.asked: list[Json] = []
        self.elicited: list[Json] = []
        self.withdrawn: list[str] = []
        self.answers: list[Json] = []
        self._changed = anyio.Event()

    @property
    def flags(self) -> FrontFlags:
        return self._flags

    def event(self, published: Published) -> None:
        self.params.append(published.json())
        self._tell()

    async def ask(self, ask: PermissionAsk) -> Json:
        self.asked.append(msgspec.to_builtins(ask))
        return await self._answer()

    async def elicit(self, elicit: Elicit) -> Json:
        self.elicited.append(msgspec.to_builtins(elicit))
        return await self._answer()

    def withdraw(self, request_id: str) -> None:
        self.withdrawn.append(request_id)
        self._tell()

    def answer(self, answer: Json) -> None:
        self.answers.append(answer)
        self._tell()

    @property
    def events(self) -> list[Json]:
        return [cast("Json", params["event"]) for params in self.params]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def of(self, kind: str) -> list[Json]:
        return [event for event in self.events if event["type"] == kind]

    async def until(self, condition: Callable[[], object]) -> None:
        with anyio.fail_after(WAIT):
            while not condition():
                await self._changed.wait()

    async def seen(self, kind: str, count: int = 1) -> Json:
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    async def _answer(self) -> Json:
        self._tell()
        while not self.answers:
            await self._changed.wait()
        return self.answers.pop(0)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def ask_about_notes(action: Action, facts: PermissionFacts) -> Decision:
    """The scripted judge: notes are asked about unless a rule allows them; everything else may run."""
    if action.tool != "Note" or any(rule.rule == "Note" for rule in facts.settings.rules):
        return Allow(step="rules", reason="allowed")
    suggestions = (Suggestion(rule="Note", scope="session", covers="every note"),)
    return Ask(step="consolidation", reason="notes are asked about", title="Take a note?", suggestions=suggestions)


@dataclass(slots=True, kw_only=True)
class Harness:
    hub: Sessions
    deps: SessionDeps
    model: ScriptedModel
    note: Note
    cwd: Path
    engines: list[QueryEngine] = field(default_factory=list[QueryEngine])
    editor: Editor | None = None

    async def new(self, front: TestFront | None = None, **params: Any) -> str:
        answer = await self.hub.request("assent/session/new", {"cwd": str(self.cwd), **params}, Call(front=front))
        return str(answer["sessionId"])

    async def send(self, session: str, prompt: str, front: TestFront | None = None, **params: Any) -> Json:
        with anyio.fail_after(WAIT):
            body = {"sessionId": session, "prompt": prompt, **params}
            return await self.hub.request("assent/session/send", body, Call(front=front))

    async def request(self, method: str, front: TestFront | None = None, **params: Any) -> Json:
        with anyio.fail_after(WAIT):
            return await self.hub.request(f"assent/{method}", params, Call(front=front))


def jobs_of(_session: str, on_change: Callable[[Json], None]) -> ShellJobs:
    return ShellJobs(on_change)


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_args: value


@asynccontextmanager
async def running(home: Path, *answers: Answer, **changes: Any) -> AsyncGenerator[Harness]:
    """A hub whose data lives under `home`; run it twice on the same home to restart the process."""
    cwd = home / "project"
    cwd.mkdir(parents=True, exist_ok=True)
    model = ScriptedModel(*answers)
    note = Note()
    engines: list[QueryEngine] = []

    def engine(config: EngineConfig, services: Services, past: ConversationPast) -> QueryEngine:
        engines.append(QueryEngine(config, services, past))
        return engines[-1]

    provided: dict[str, Any] = {"call_model": model}
    provided |= {name: changes.pop(name) for name in ("call_model", "hooks", "search_web", "agents") if name in changes}

    tools: list[AnyTool] = [note, *changes.pop("tools", [])]
    trust = TrustStore(home / "data" / "trust.json")
    values: dict[str, Any] = {
        "engine": engine,
        "services": _always(Services(**provided)),
        "tools": _always(tools),
        "decide": ask_about_notes,
        "workspace": _always(DiskWorkspace()),
        "settings": SettingsFiles(config_dir=home / "config", policy_file=home / "policy.json"),
        "trust": trust,
        "data_dir": home / "data",
        "default_model": "test-model",
        **changes,
    }
    editor: Editor | None = None
    if values.pop("editor", False) is True:

        async def snapshot(origin: EditOrigin, path: str, before: FileText | None) -> None:
            await hubs[0].snapshot(origin, path, before)

        def workspace(_cwd: str, origin: Callable[[], EditOrigin], review: Callable[[], Review]) -> EditorWorkspace:
            assert editor is not None
            return editor.workspace(origin=origin, review=review)

        editor = Editor(NoClient(), DiskWorkspace(), snapshot=snapshot)
        values |= {"proposals": editor.proposals, "workspace": workspace}
    deps = SessionDeps(**values)
    hubs: list[Sessions] = []
    async with Sessions(deps) as hub:
        hubs.append(hub)
        yield Harness(hub=hub, deps=deps, model=model, note=note, cwd=cwd, engines=engines, editor=editor)
