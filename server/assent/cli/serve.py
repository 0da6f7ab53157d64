"""`assent serve --stdio`: what an editor starts. Nothing heavy is imported before `initialize` is answered."""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from assent.lsp.early import Opening, answer_initialize
from assent.stdio.pipes import take_stdio

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from assent.editor.client_edits import ClientEdits
    from assent.host.place import HostPlace
    from assent.lsp.backend import Backend
    from assent.lsp.client import ConnectedClient
    from assent.shared import SharedApp

FLAGS = frozenset({"--stdio", "--offline", "--host", "--no-host"})
TRACE = "--trace"  # with the name of a file; whoever asks for it wants the calls of this very process


def wants_early_answer(arguments: list[str]) -> bool:
    """A command line that starts the server and nothing else: it is not parsed before `initialize` is answered."""
    flags = arguments[1:]
    if TRACE in flags[:-1]:
        at = flags.index(TRACE)
        del flags[at : at + 2]
    return arguments[:1] == ["serve"] and FLAGS.issuperset(flags) and not os.isatty(0)


def open_wire() -> Opening:
    return answer_initialize(*take_stdio())


def bridged(opening: Opening, arguments: list[str]) -> int | Opening:
    """The exit code of a window that a host has served; or the opening, where this process is to serve it."""
    from assent.host.wish import wanted

    if opening.initialize is None or TRACE in arguments or not wanted(arguments, opening.initialize):
        return opening
    from assent.host import bridge

    return bridge.run(opening, offline="--offline" in arguments, serve_host=be_host)


def start_host(workspace: str) -> int:
    """`assent host DIR`: for programs that want to connect to the folder's host."""
    from assent.host import bridge
    from assent.host.connection import RefusedByHost
    from assent.host.place import Unusable
    from assent.text.visible import visible

    try:
        bridge.start_only(os.path.realpath(workspace), serve_host=be_host)
    except (Unusable, RefusedByHost) as error:
        print(f"assent: {visible(str(error))}", file=sys.stderr)
        return 1
    return 0


def be_host(listener: "socket.socket", place: "HostPlace", workspace: str) -> None:
    """Only imports and the end of the process happen here; the rest is `host.server`."""
    from assent.host.connection import handed_over
    from assent.host.server import serve
    from assent.types.programs import keep_out

    keep_out(workspace)

    class Maker:
        def load(self) -> None:
            importlib.import_module("assent.shared")  # half a second, in a thread

        def make(self) -> "SharedApp":
            from pathlib import Path

            from assent.shared import SharedApp

            return SharedApp(workspace, handed_over=handed_over, missed=Path(place.missed))

    serve(listener, place, workspace, Maker())


def run(opening: Opening | None, *, offline: bool, trace: "Path | None" = None) -> int:
    from assent.cli.preflight import UsageError
    from assent.storage import paths
    from assent.types.programs import NEUTRAL

    if opening is None:  # only a terminal, or a descriptor that is not there, comes this way
        raise UsageError("serve speaks LSP on stdin, and an editor starts it. To talk to it here: assent chat")
    os.chdir(NEUTRAL)  # an editor starts us in the workspace
    offline = offline or os.environ.get("ASSENT_OFFLINE", "") not in ("", "0")

    def load() -> Any:
        import assent.app

        return assent.app

    def build(client: "ConnectedClient", editor: "ClientEdits") -> "Backend":
        app = load()
        return app.build(client, editor, options=app.Options(offline=offline, trace=trace))

    from assent.lsp.server_loop import serve

    return serve(opening, build, preload=load, data_dir=paths.data_dir())
