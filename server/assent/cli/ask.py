"""`assent ask`: one prompt, one answer, nobody to ask. An ask becomes a denial that the model is told about (P12)."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from assent.cli.preflight import UsageError, check_settings, project_folder
from assent.sessions.stream.front import Call, FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.types.regular_files import read_regular

LARGEST_SCHEMA = 5_000_000


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


def run(
    *,
    prompt: str,
    cwd: Path | None,
    output: str,
    model: str | None,
    mode: str | None,
    max_turns: int | None,
    max_budget_usd: float | None,
    allow: list[str],
    schema: Path | None,
    offline: bool,
) -> int:
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise UsageError("the prompt is empty")
    folder = project_folder(cwd)
    wanted = {
        "cwd": str(folder),
        "model": model,
        "mode": mode,
        "maxTurns": max_turns,
        "maxBudgetUsd": max_budget_usd,
        "jsonSchema": _schema(schema),
    }
    params = {key: value for key, value in wanted.items() if value is not None}
    settings: Json = {"permissions": {"allow": allow}} if allow else {}
    check_settings(folder, cli=settings)
    return asyncio.run(_ask(text, params, output, settings, offline))


async def _ask(prompt: str, params: Json, output: str, settings: Json, offline: bool) -> int:
    from assent.app import Options, headless

    app = headless(Options(offline=offline, interactive=False, settings=settings))
    async with app:
        if "model" in params and not offline:
            app.models.require(params["model"])  # the stand-in does not pretend to be what was asked for by name
        printer = Printer(stream=output == "stream-json")
        opened = await app.sessions.request("assent/session/new", params, Call(front=printer))
        if app.models.offline and output == "text":
            print("assent: no credentials: the offline stand-in answers, not a language model", file=sys.stderr)
        call = Call(front=printer)
        printer.on_unread = call.cancelled.set
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, call.cancelled.set)
        answer = await app.sessions.request(
            "assent/session/send", {"sessionId": opened["sessionId"], "prompt": prompt, "wait": True}, call
        )
    if printer.unread:
        raise BrokenPipeError
    result: Json = answer["result"]
    _show(result, output)
    if result["terminal"] in ("aborted_streaming", "aborted_tools"):
        return 130
    return 1 if result["isError"] else 0


def _show(result: Json, output: str) -> None:
    match output:
        case "json":
            print(json.dumps(result, ensure_ascii=False, indent=2))
        case "stream-json":
            print(json.dumps({"result": result}, ensure_ascii=False), flush=True)
        case _:
            print(result["result"], file=sys.stderr if result["isError"] else sys.stdout)


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
