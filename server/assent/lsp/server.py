"""The language server: a pygls `LanguageServer`, and the `BaseServer` that has served `assent/*` since `initialize`.

Importing this costs most of half a second, so `staging` imports it in a thread. What the two stages share (the peer,
the program, everything under way) is taken over, not made anew.
"""

import logging
from typing import Any, NoReturn

from lsprotocol import types
from lsprotocol.converters import get_converter  # pygls's own factory renames keys of methods it does not know
from pygls.lsp.server import LanguageServer

from assent import __version__
from assent.lsp.base import BaseServer
from assent.lsp.capabilities import initialize_result
from assent.lsp.protocol import AssentProtocol
from assent.lsp.registry import server as table

log = logging.getLogger("assent.lsp")


class AssentServer(BaseServer, LanguageServer):
    protocol: AssentProtocol  # pyright: ignore[reportIncompatibleVariableOverride] -- set once, by `protocol_cls`

    def __init__(self, early: BaseServer) -> None:
        vars(self).update(vars(early))  # the same objects: what was begun before pygls was loaded goes on
        LanguageServer.__init__(  # pyright: ignore[reportUnknownMemberType] -- its *args have no types
            self, "assent", __version__, protocol_cls=AssentProtocol, converter_factory=get_converter
        )
        for feature in table.features.values():
            self.feature(feature.method)(feature.function)
        for name, command in table.commands.items():
            self.command(name)(command)

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """As lsprotocol has them. Handlers ask `ls.client.can(…)`, which also knows members of a newer protocol."""
        return self.protocol.converter.structure(self.client.capabilities, types.ClientCapabilities)

    @property
    def server_capabilities(self) -> types.ServerCapabilities:
        """What `initialize` was answered with."""
        told = initialize_result({"capabilities": self.client.capabilities})["capabilities"]
        return self.protocol.converter.structure(told, types.ServerCapabilities)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """pygls would show this to the user; a request already has its answer."""
        log.error("%s", error)

    def thread(self) -> NoReturn:
        raise RuntimeError("handlers run on the event loop: the peer and its writer belong to that thread")

    def start_io(self, stdin: Any = None, stdout: Any = None) -> NoReturn:
        raise RuntimeError("`loop.serve_stdio` runs the server: it answers initialize before pygls is loaded")

    def start_tcp(self, host: str, port: int) -> NoReturn:
        raise RuntimeError("no port listens")

    def start_ws(self, host: str, port: int) -> NoReturn:
        raise RuntimeError("no port listens")
