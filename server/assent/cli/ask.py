"""`assent ask`: one prompt, one answer, nobody to ask. An ask becomes a denial that the model is told about (P12)."""

import asyncio
import base64
import json
import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from assent.cli.preflight import UsageError, check_settings, project_folder
from assent.sessions.stream.front import Call, FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.types.regular_files import read_regular

if TYPE_CHECKING:
    from assent.app import App

LARGEST_SCHEMA = 5_000_000
LARGEST_IMAGE = 20_000_000
STDIN_SECONDS = 3.0
IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


class Printer:
    """A front that writes every event as a line of JSON, or nothing at all."""

    flags = FrontFlags(max_event_rate=0)

    def __init__(self, *, stream: bool) -> None:
        self._stream = stream
        self.unread = False  # whoever read our lines has gone
        self.on_unread: Callable[[], None] = lambda: None

    def event(self, published: Published) -> None:
        if not self._stream or self.unread:
            return
        try:
            print(json.dumps(published.json(), ensure_ascii=False), flush=True)
        except BrokenPipeError:
            self.unread = True
            self.on_unread()

    async def ask(self, params: Json) -> Json:
        return {"decision": "deny", "message": "Nobody can be asked."}

    async def elicit(self, params: Json) -> Json:
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
    schema: Path | None = None
    images: Sequence[Path] = ()
    resume: str | None = None
    continue_latest: bool = False
    record: Path | None = None
    replay: Path | None = None
    offline: bool = False


def run(wanted: Wanted) -> int:
    folder = project_folder(wanted.cwd)
    rules = {"allow": list(wanted.allow), "deny": list(wanted.deny)}
    permissions = {behaviour: given for behaviour, given in rules.items() if given}
    settings: Json = {"permissions": permissions} if permissions else {}
    check_settings(folder, cli=settings)
    prompts = _lines() if wanted.input_json else iter([_prompt(wanted)])
    return asyncio.run(_ask(prompts, wanted, str(folder), settings))


async def _ask(prompts: Iterator[str | list[Json]], wanted: Wanted, folder: str, settings: Json) -> int:
    from assent.app import Options, headless

    options = Options(
        offline=wanted.offline or wanted.replay is not None,
        interactive=False,
        settings=settings,
        record=wanted.record,
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
        cancel: list[Callable[[], None]] = []
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: [stop() for stop in cancel])
        while (prompt := await asyncio.to_thread(next, prompts, None)) is not None:
            call = Call(front=printer)
            cancel[:] = [call.cancelled.set]
            printer.on_unread = call.cancelled.set
            sent = {"sessionId": session, "prompt": prompt, "wait": True}
            result: Json = (await app.sessions.request("assent/session/send", sent, call))["result"]
            if printer.unread:
                raise BrokenPipeError
            _show(result, wanted.output)
            if result["terminal"] in ("aborted_streaming", "aborted_tools"):
                return 130
            code = 1 if result["isError"] else code
    return code


async def _session(app: "App", wanted: Wanted, folder: str, call: Call) -> str:
    """The session to ask in: a new one, one that is named, or the newest of the folder."""
    chosen: Json = {
        "model": wanted.model,
        "mode": wanted.mode,
        "maxTurns": wanted.max_turns,
        "maxBudgetUsd": wanted.max_budget_usd,
        "jsonSchema": _schema(wanted.schema),
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
    session.join(call)
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
            print(result["result"], file=sys.stderr if result["isError"] else sys.stdout)


def _prompt(wanted: Wanted) -> str | list[Json]:
    """The words of the command line, what stdin holds, and images."""
    said = wanted.prompt or ""
    given = sys.stdin.read() if said == "-" else _stdin()
    text = given if said in ("-", "") else said
    if not text.strip():
        raise UsageError("the prompt is empty")
    if given and said not in ("-", ""):
        text = f"{said}\n\n<stdin>\n{given}\n</stdin>"
    if not wanted.images:
        return text
    return [{"type": "text", "text": text}, *(_image(path) for path in wanted.images)]


def _stdin() -> str:
    """What was piped in or redirected. A pipe in which nobody writes is not waited for."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(kind):
        return sys.stdin.read()
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        ready, _, _ = select.select([0], [], [], STDIN_SECONDS)
        return sys.stdin.read() if ready else ""
    return ""


def _lines() -> Iterator[str | list[Json]]:
    """Prompts as lines of JSON: a string, {"prompt": …}, or {"type": "user", "message": {"content": …}}."""
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            value: Any = json.loads(line)
        except ValueError as error:
            raise UsageError(f"line {number} of stdin is not JSON: {error}") from None
        match value:
            case str() | {"prompt": str() | list()} | {"message": {"content": str() | list()}}:
                prompt = value if isinstance(value, str) else value.get("prompt") or value["message"]["content"]
                yield cast("str | list[Json]", prompt)
            case _:
                raise UsageError(f'line {number} of stdin has no prompt: {{"prompt": "…"}} is one')


def _image(path: Path) -> Json:
    kind = IMAGES.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"{path} is not an image: {', '.join(sorted(IMAGES))} are")
    try:
        data = read_regular(path, limit=LARGEST_IMAGE).data
    except OSError as error:
        raise AssentError(f"the image {path} cannot be read: {error}") from None
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def _schema(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        schema: Any = json.loads(read_regular(path, limit=LARGEST_SCHEMA).data)
    except (OSError, ValueError) as error:
        raise AssentError(f"the JSON schema {path} cannot be read: {error}") from None
    if not isinstance(schema, dict):
        raise AssentError(f"the JSON schema {path} must be an object")
    return cast("Json", schema)
