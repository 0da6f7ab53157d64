"""`assent ask`: one prompt, one answer, nobody to ask. An ask becomes a denial that the model is told about (P12)."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from assent.cli.ask_input import AskPrompt, lines_of, once, prompt_of, schema_in, servers_in
from assent.cli.preflight import UsageError, check_settings, project_folder
from assent.sessions.stream.front import Call, FrontFlags
from assent.sessions.stream.published import Published
from assent.text.visible import readable
from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.wire.asks import Elicit, PermissionAsk

if TYPE_CHECKING:
    from assent.app import App


class Printer:
    """A front that writes every event as a line of JSON, or nothing at all."""

    flags = FrontFlags(max_event_rate=0)

    def __init__(self, *, stream: bool) -> None:
        self._stream = stream
        self.unread: OSError | None = None  # whoever read our lines has gone, or the disk is full
        self.on_unread: Callable[[], None] = lambda: None

    def event(self, published: Published) -> None:
        if not self._stream or self.unread is not None:
            return
        try:
            print(json.dumps(published.json(), ensure_ascii=False), flush=True)
        except OSError as error:
            self.unread = error
            self.on_unread()

    async def ask(self, ask: PermissionAsk) -> Json:
        return {"decision": "deny", "message": "Nobody can be asked."}

    async def elicit(self, elicit: Elicit) -> Json:
        return {"action": "decline"}

    def withdraw(self, request_id: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line says of one `assent ask`."""

    prompt: str | None
    cwd: Path | None = None
    output: Literal["text", "json", "stream-json"] = "text"
    input_json: bool = False  # prompts are lines of JSON on stdin, a turn each
    model: str | None = None
    mode: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    servers: Sequence[Path] = ()  # files that name MCP servers for this run
    schema: Path | None = None
    images: Sequence[Path] = ()
    resume: str | None = None
    continue_latest: bool = False
    record: Path | None = None
    trace: Path | None = None
    replay: Path | None = None
    offline: bool = False


def run(wanted: Wanted) -> int:
    folder = project_folder(wanted.cwd)
    rules = {"allow": list(wanted.allow), "deny": list(wanted.deny)}
    permissions = {behaviour: given for behaviour, given in rules.items() if given}
    settings: Json = {"permissions": permissions} if permissions else {}
    if servers := servers_in(wanted.servers):
        settings["mcpServers"] = servers
    check_settings(folder, cli=settings)
    if wanted.input_json and (wanted.prompt or wanted.images):
        raise UsageError("with --input-json prompts and images are in the lines of stdin, not on the command line")
    prompts = lines_of(0) if wanted.input_json else once(prompt_of(wanted.prompt or "", wanted.images))
    return asyncio.run(_ask(prompts, wanted, str(folder), settings))


async def _ask(prompts: AsyncGenerator[AskPrompt, None], wanted: Wanted, folder: str, settings: Json) -> int:
    from assent.app import Options, headless

    options = Options(
        offline=wanted.offline or wanted.replay is not None,
        interactive=False,
        bare=True,
        settings=settings,
        record=wanted.record,
        trace=wanted.trace,
        replay=wanted.replay,
    )
    app = headless(options)
    code = 0
    async with app:
        if wanted.model is not None and not options.offline:
            app.models.require(wanted.model)  # the stand-in does not pretend to be what was asked for by name
        printer = Printer(stream=wanted.output == "stream-json")
        session = await _session(app, wanted, folder, Call(front=printer))
        if app.models.offline and wanted.output == "text" and wanted.replay is None:
            print("assent: no credentials: the offline stand-in answers, not a language model", file=sys.stderr)
        interrupted = asyncio.Event()
        stop: list[Callable[[], None]] = [interrupted.set]  # the running turn, or the wait for a prompt
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: stop[-1]())
        while (prompt := await _next(prompts, interrupted)) is not None:
            call = Call(front=printer)
            stop[1:] = [call.cancelled.set]
            printer.on_unread = call.cancelled.set
            sent = {"sessionId": session, "prompt": prompt, "wait": True}
            result: Json = (await app.sessions.request("assent/session/send", sent, call))["result"]
            if printer.unread is not None:
                raise printer.unread
            _show(result, wanted.output)
            if result["terminal"] in ("aborted_streaming", "aborted_tools"):
                return 130
            code = 1 if result["isError"] else code
            del stop[1:]
        if interrupted.is_set():
            return 130
    return code


async def _next(prompts: AsyncGenerator[AskPrompt, None], interrupted: asyncio.Event) -> AskPrompt | None:
    """The next prompt; None when there is no further one, or somebody pressed Ctrl-C while we waited for it."""
    waiting = asyncio.ensure_future(anext(prompts, None))
    stopped = asyncio.ensure_future(interrupted.wait())
    try:
        await asyncio.wait({waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else None
    finally:
        for task in (waiting, stopped):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await waiting  # the generator is at rest before anybody closes it


async def _session(app: "App", wanted: Wanted, folder: str, call: Call) -> str:
    """The session to ask in: a new one, one that is named, or the newest of the folder."""
    chosen: Json = {
        "model": wanted.model,
        "mode": wanted.mode,
        "maxTurns": wanted.max_turns,
        "maxBudgetUsd": wanted.max_budget_usd,
        "jsonSchema": schema_in(wanted.schema),
    }
    params = {key: value for key, value in chosen.items() if value is not None}
    resume = wanted.resume
    if resume is None and wanted.continue_latest:
        listed = await app.sessions.request("assent/session/list", {"cwd": folder})
        resume = next((each["sessionId"] for each in listed["sessions"]), None)
        if resume is None:
            raise AssentError(f"there is no earlier session of {folder} to continue")
    if resume is None:
        opened = await app.sessions.request("assent/session/new", {"cwd": folder, **params}, call)
        return cast("str", opened["sessionId"])
    session = await app.sessions.get({"sessionId": resume})
    session.events.join(call, session.spawn)
    session.limit(
        max_turns=wanted.max_turns, max_budget_usd=wanted.max_budget_usd, json_schema=params.get("jsonSchema")
    )
    changes = {key: params[key] for key in ("model", "mode") if key in params}
    if changes:
        await app.sessions.request("assent/session/configure", {"sessionId": session.id, **changes})
    return session.id


def _show(result: Json, output: str) -> None:
    match output:
        case "json":
            print(json.dumps(result, ensure_ascii=False, indent=2))
        case "stream-json":
            print(json.dumps({"result": result}, ensure_ascii=False), flush=True)
        case _:
            stream = sys.stderr if result["isError"] else sys.stdout
            print(readable(result["result"]) if stream.isatty() else result["result"], file=stream)
