"""Plain LSP requests, through pygls: its registry of features and commands, its converter, lsprotocol's types.

pygls sees only messages that our boundary has read, for methods registered here; its transport, its document store and
its error replies are not used (ARCHITECTURE.md says why). Importing this costs most of half a second, so it is
imported in a thread after `initialize` was answered.
"""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from assent import __version__
from assent.lsp import code_actions, commands, completion, content, hover, lenses
from assent.lsp.peer import params_object, unknown_method
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

_PLACE_ONLY: Json = {"diagnostics": []}  # the context of a code action request that says nothing more

Feature = Callable[[Any], Coroutine[Any, Any, Any]]


class Features:
    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.server = LanguageServer("assent", __version__)
        self._converter: Any = self.server.protocol._converter
        self._features: Any = self.server.protocol.fm  # pygls leaves its registry untyped
        self._register()

    async def handle(self, method: str, params: Any) -> Any:
        """The result of one request, as JSON."""
        if method == "workspace/executeCommand":
            return await self._execute(params_object(params))
        feature: Feature | None = self._features.features.get(method)
        if feature is None:
            raise unknown_method(method)
        return self._converter.unstructure(await feature(self._typed(method, params)))

    def _typed(self, method: str, params: Any) -> Any:
        given = params_object(params)
        params_type = types.METHOD_TO_TYPES[method][2]
        try:
            return self._converter.structure(given, params_type)
        except Exception as error:  # cattrs raises groups of whatever went wrong, field by field
            if given.get("context", _PLACE_ONLY) != _PLACE_ONLY:
                # A newer editor may describe its diagnostics in words we do not know: the place alone still counts.
                return self._typed(method, {**given, "context": _PLACE_ONLY})
            hint = f"See {method} in the language server protocol."
            raise ProtocolError("invalidParams", f"the parameters do not fit {method}", hint=hint) from error

    async def _execute(self, params: Json) -> Any:
        name = params.get("command")
        arguments: Any = params.get("arguments") or []
        command: Any = self._features.commands.get(name)
        if command is None:
            raise ProtocolError("invalidParams", f"there is no command {name!r}", hint="initialize lists the commands.")
        if not isinstance(arguments, list):
            raise ProtocolError("invalidParams", "`arguments` must be an array")
        return await command(arguments)

    def _register(self) -> None:
        connection, server = self._connection, self.server

        @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
        async def code_action(params: types.CodeActionParams) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            return await code_actions.offered(connection, params)

        @server.feature(types.CODE_ACTION_RESOLVE)
        async def resolve(action: types.CodeAction) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            return code_actions.resolved(action)

        @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
        async def code_lens(params: types.CodeLensParams) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            return lenses.shown(connection, params.text_document.uri)

        @server.feature(types.TEXT_DOCUMENT_HOVER)
        async def on_hover(params: types.HoverParams) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            return hover.shown(connection, params.text_document.uri, params.position.line)

        @server.feature(types.TEXT_DOCUMENT_COMPLETION)
        async def complete(params: types.CompletionParams) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            position = {"line": params.position.line, "character": params.position.character}
            return await completion.offered(connection, params.text_document.uri, position)

        @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
        async def text_content(params: types.TextDocumentContentParams) -> Any:  # pyright: ignore[reportUnusedFunction] -- registered
            answer = await content.read_document(connection, {"uri": params.uri}, Call())
            return {"text": answer["text"]}

        for name, command in commands.COMMANDS.items():
            server.command(name)(self._bound(command))

    def _bound(self, command: "commands.Command") -> Callable[[list[Any]], Coroutine[Any, Any, Any]]:
        async def run(arguments: list[Any]) -> Any:
            return await command(self._connection, arguments)

        return run
