"""`assent serve --stdio`: what an editor starts. Nothing heavy is imported before `initialize` is answered."""

import os
import sys
from typing import TYPE_CHECKING, Any

from assent.cli.preflight import UsageError
from assent.storage import paths
from assent.types.programs import NEUTRAL

if TYPE_CHECKING:
    from assent.lsp.host import App, Host


def run(*, offline: bool) -> int:
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("serve speaks LSP on stdin, and an editor starts it. To talk to it here: assent chat")
    from assent.lsp.server import serve_stdio

    os.chdir(NEUTRAL)  # an editor starts us in the workspace

    offline = offline or os.environ.get("ASSENT_OFFLINE", "") not in ("", "0")

    def load() -> Any:
        import assent.app

        return assent.app

    def build(host: "Host") -> "App":
        app = load()
        return app.build(host, options=app.Options(offline=offline))

    return serve_stdio(build, preload=load, data_dir=paths.data_dir())
