"""`assent acp`: what Zed and other editors with an agent panel start. The protocol's library is an extra."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from assent.storage import paths
from assent.types.programs import NEUTRAL

if TYPE_CHECKING:
    from assent.acp.host import ClientAccess, ServingApp

INSTALL = "-m pip install agent-client-protocol"
INSTALL_DRAFT = '-m pip install --pre "agent-client-protocol>=1.0.0rc3"'


def installed() -> bool:
    found = find_spec("acp")
    return found is not None and found.origin is not None  # a folder that happens to have this name is no package


def run(*, offline: bool, trace: Path | None = None, draft: bool = False) -> int:
    if not installed():
        print(f"assent: ACP needs the package agent-client-protocol. Run: {sys.executable} {INSTALL}", file=sys.stderr)
        return 1
    from assent import app
    from assent.acp.draft import speaking
    from assent.acp.server import serve_stdio

    if draft and not speaking.available():
        words = "the draft of protocol 2 needs a newer agent-client-protocol"
        print(f"assent: {words}. Run: {sys.executable} {INSTALL_DRAFT}", file=sys.stderr)
        return 1

    os.chdir(NEUTRAL)  # an editor starts us in the workspace

    offline = offline or os.environ.get("ASSENT_OFFLINE", "") not in ("", "0")

    def build(host: "ClientAccess") -> "ServingApp":
        return app.build_acp(host, options=app.Options(offline=offline, trace=trace))

    return serve_stdio(build, data_dir=paths.data_dir(), draft=draft)
