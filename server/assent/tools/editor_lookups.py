"""Questions to the user's own running language servers (T8): Diagnostics, Definition, References, Hover, Symbols.

They are there only when the connected client says it can answer (`editorQueries`). Positions go out as LSP has them,
0-based in UTF-16 units; what comes back is told to the model as paths and 1-based lines.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, ClassVar, cast

import anyio
from msgspec import Meta

from assent.tools.files.disk_workspace import absolute
from assent.tools.files.text_edits import Lines, column, path_of, understood, uri_of
from assent.tools.search.ripgrep import MayRead, everything, shown_path
from assent.tools.tool import Input, InputT, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action

MOST = 200
_OPEN_FILES = 30
_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_SYMBOL_KINDS = (
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
    "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key",
    "null", "enum-member", "struct", "event", "operator", "type-parameter",
)  # fmt: skip


class PlaceInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file.")]
    line: Annotated[int, Meta(ge=1, description="The line, from 1.")]
    symbol: Annotated[str, Meta(min_length=1, description="The name on that line that is meant.")]


class FileInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file.")]


class MaybeFileInput(Input, frozen=True):
    file_path: Annotated[str | None, Meta(description="The file; all open files unless given.")] = None


class SymbolsInput(Input, frozen=True):
    file_path: Annotated[str | None, Meta(description="List what this file defines.")] = None
    query: Annotated[str | None, Meta(description="Or find this name in the whole project.")] = None


class EditorTool(Tool[InputT]):
    """A tool whose answer comes from the editor and changes nothing."""

    timeout: ClassVar[float | None] = 30.0

    def concurrency_safe(self, input: InputT) -> bool:
        return True

    def title(self, input: InputT) -> str:
        where = getattr(input, "file_path", None) or ""
        return f"{self.name} {getattr(input, 'symbol', '') or ''} {where}".replace("  ", " ").strip()

    def action(self, input: InputT, *, cwd: str) -> Action:
        path = cast("str | None", getattr(input, "file_path", None))
        reads = (absolute(path, cwd),) if path else (cwd,)
        return Action(tool=self.name, input=as_json(input), reads=reads, read_only=True)


async def asked(ctx: ToolContext, kind: str, params: Json) -> Json:
    """The editor's answer. Raises ToolError when there is none, saying what to do instead."""
    if ctx.editor is None:
        raise ToolError("No editor is connected that can answer this; use Grep and Read instead")
    answer = await ctx.editor.query(kind, {"timeoutMs": 5000, **params})
    match answer.get("status"):
        case "success":
            return answer
        case "starting":
            raise ToolError("The language server is still starting; try again in a moment, or use Grep")
        case "noServer":
            raise ToolError("No language server answers for this file; use Grep and Read instead")
        case _:
            raise ToolError(f"The editor could not answer: {answer.get('message') or answer.get('value') or 'unknown'}")


def encoding_of(ctx: ToolContext) -> str:
    return "utf-16" if ctx.editor is None else ctx.editor.encoding


async def place(input: PlaceInput, ctx: ToolContext) -> Json:
    """The LSP position of a symbol on a line."""
    path = absolute(input.file_path, ctx.cwd)
    lines = Lines((await ctx.workspace.read(path)).text)
    if input.line > len(lines):
        raise ToolError(f"{path} has {len(lines)} lines only")
    line = lines[input.line - 1]
    index = line.find(input.symbol)
    if index < 0:
        raise ToolError(f"{input.symbol!r} is not on line {input.line}, which reads: {line.strip()[:200]}")
    at = {"line": input.line - 1, "character": column(line, index, encoding_of(ctx))}
    return {"uri": uri_of(path), "position": at}


async def located(ctx: ToolContext, value: object, may_read: MayRead) -> ToolOutput:
    """Locations as `path:line: text`."""
    found = cast("list[Json]", value if isinstance(value, list) else [value] if value else [])
    allowed = may_read()
    told: list[str] = []
    texts: dict[str, Lines | None] = {}
    for location in found[:MOST]:
        with understood():
            path = path_of(str(location.get("uri") or location.get("targetUri")))
            span = location.get("range") or location.get("targetSelectionRange") or location.get("targetRange")
            line = int(cast("Json", span)["start"]["line"])
        if allowed is not None and not allowed(path):
            continue
        if path not in texts:
            try:
                texts[path] = Lines((await ctx.workspace.read(path)).text) if len(texts) < 30 else None
            except ToolError:
                texts[path] = None
        lines = texts[path]
        words = f": {lines[line].strip()[:200]}" if lines is not None and line < len(lines) else ""
        told.append(f"{shown_path(path, ctx.cwd)}:{line + 1}{words}")
    if len(found) > MOST:
        told.append(f"[{MOST} of {len(found)} shown]")
    return ToolOutput(content="\n".join(told) or "Nothing was found.", summary=f"{len(told)} places")


class Definition(EditorTool[PlaceInput]):
    name: ClassVar[str] = "Definition"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = PlaceInput

    def __init__(self, may_read: MayRead = everything) -> None:
        self._may_read = may_read

    def description(self) -> str:
        return "Where a symbol is defined, by the user's own language server: exact, unlike a search for its name."

    async def call(self, input: PlaceInput, ctx: ToolContext) -> ToolOutput:
        answer = await asked(ctx, "definition", await place(input, ctx))
        return await located(ctx, answer.get("value"), self._may_read)


class References(EditorTool[PlaceInput]):
    name: ClassVar[str] = "References"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = PlaceInput

    def __init__(self, may_read: MayRead = everything) -> None:
        self._may_read = may_read

    def description(self) -> str:
        return "Every place that uses a symbol, by the user's own language server. Use it before changing what it does."

    async def call(self, input: PlaceInput, ctx: ToolContext) -> ToolOutput:
        answer = await asked(ctx, "references", await place(input, ctx))
        return await located(ctx, answer.get("value"), self._may_read)


class Hover(EditorTool[PlaceInput]):
    name: ClassVar[str] = "Hover"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = PlaceInput

    def description(self) -> str:
        return "Type, signature and documentation of a symbol, as the user's language server shows them."

    async def call(self, input: PlaceInput, ctx: ToolContext) -> ToolOutput:
        value: object = (await asked(ctx, "hover", await place(input, ctx))).get("value")
        text = str(cast("Json", value).get("markdown") or "") if isinstance(value, Mapping) else str(value or "")
        return ToolOutput(content=text or "Nothing is known about it.", summary=text.split("\n", 1)[0][:120])


class Diagnostics(EditorTool[MaybeFileInput]):
    name: ClassVar[str] = "Diagnostics"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = MaybeFileInput

    def description(self) -> str:
        return "Errors and warnings that the user's editor shows now, for one file or for all that are open."

    async def call(self, input: MaybeFileInput, ctx: ToolContext) -> ToolOutput:
        if input.file_path:
            uris = [uri_of(absolute(input.file_path, ctx.cwd))]
        else:
            editors = cast("list[Json]", (await asked(ctx, "openEditors", {})).get("value") or [])
            uris = [uri for editor in editors if (uri := str(editor.get("uri"))).startswith("file:")][:_OPEN_FILES]
        answers: dict[str, Json] = {}

        async def ask(uri: str) -> None:
            answers[uri] = await asked(ctx, "diagnostics", {"uri": uri, "settleMs": 300, "timeoutMs": 3000})

        if len(uris) == 1:
            await ask(uris[0])
        else:
            await _all_of(ask, uris)
        told = [
            _diagnostic(uri, diagnostic, ctx.cwd)
            for uri in uris
            for diagnostic in cast("list[Json]", answers.get(uri, {}).get("value") or [])
        ]
        shown = told[:MOST] + ([f"[{MOST} of {len(told)} shown]"] if len(told) > MOST else [])
        if any(answer.get("settled") is False for answer in answers.values()):
            shown.append("[Not confirmed: the language server may still be working on the latest text]")
        return ToolOutput(
            content="\n".join(shown if told else ["No problems.", *shown]), summary=f"{len(told)} problems"
        )


class Symbols(EditorTool[SymbolsInput]):
    name: ClassVar[str] = "Symbols"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = SymbolsInput

    def description(self) -> str:
        return "What a file defines (classes, functions …), or where in the project a name is defined."

    async def call(self, input: SymbolsInput, ctx: ToolContext) -> ToolOutput:
        if (input.file_path is None) == (input.query is None):
            raise ToolError("Give either file_path or query")
        params: Json = (
            {"query": input.query} if input.query else {"uri": uri_of(absolute(input.file_path or "", ctx.cwd))}
        )
        told: list[str] = []
        _list_symbols(cast("list[Json]", (await asked(ctx, "symbols", params)).get("value") or []), 0, told, ctx.cwd)
        shown = told[: 2 * MOST] + ([f"[{2 * MOST} of {len(told)} shown]"] if len(told) > 2 * MOST else [])
        return ToolOutput(content="\n".join(shown) or "No symbols.", summary=f"{len(told)} symbols")


async def _all_of(ask: Callable[[str], Awaitable[None]], uris: list[str]) -> None:
    """Side by side; a file that nobody can answer for is left out."""

    async def one(uri: str) -> None:
        with contextlib.suppress(ToolError):
            await ask(uri)

    async with anyio.create_task_group() as group:
        for uri in uris:
            group.start_soon(one, uri)


def _diagnostic(uri: str, diagnostic: Mapping[str, Any], cwd: str) -> str:
    at = diagnostic["range"]["start"]
    severity = _SEVERITIES.get(diagnostic.get("severity", 1), "error")
    source = " ".join(str(part) for part in (diagnostic.get("source"), diagnostic.get("code")) if part)
    where = shown_path(path_of(uri), cwd) if uri.startswith("file:") else uri
    return f"{where}:{at['line'] + 1}:{at['character'] + 1}: {severity}: {diagnostic['message']}" + (
        f" ({source})" if source else ""
    )


def _list_symbols(symbols: list[Json], depth: int, told: list[str], cwd: str) -> None:
    for symbol in symbols:
        number = int(symbol.get("kind", 0))
        kind = _SYMBOL_KINDS[number - 1] if 0 < number <= len(_SYMBOL_KINDS) else "symbol"
        if location := cast("Json | None", symbol.get("location")):
            line = int(cast("Json", location.get("range") or {"start": {"line": 0}})["start"]["line"]) + 1
            where = f"{shown_path(path_of(location['uri']), cwd)}:{line}"
        else:
            where = str(int(symbol["range"]["start"]["line"]) + 1)
        told.append(f"{'  ' * depth}{where}: {kind} {symbol.get('name')}")
        if depth < 20:
            _list_symbols(cast("list[Json]", symbol.get("children") or []), depth + 1, told, cwd)
