"""`assent serve --stdio`: what an editor starts. Nothing heavy is imported before `initialize` is answered."""

import os
from typing import TYPE_CHECKING, Any

from assent.lsp.early import Opening, answer_initialize
from assent.stdio.pipes import take_stdio

if TYPE_CHECKING:
    from assent.editor.client import ClientEdits
    from assent.lsp.backend import Backend
    from assent.lsp.client import Client

FLAGS = frozenset({"--stdio", "--offline"})


def wants_early_answer(arguments: list[str]) -> bool:
    """A command line that starts the server and nothing else: it is not parsed before `initialize` is answered."""
    return arguments[:1] == ["serve"] and FLAGS.issuperset(arguments[1:]) and not os.isatty(0)


def open_wire() -> Opening:
    return answer_initialize(*take_stdio())


def run(opening: Opening | None, *, offline: bool) -> int:
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

    def build(client: "Client", editor: "ClientEdits") -> "Backend":
        app = load()
        return app.build(client, editor, options=app.Options(offline=offline))

    from assent.lsp.loop import serve

    return serve(opening, build, preload=load, data_dir=paths.data_dir())
