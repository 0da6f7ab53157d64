"""What the server depends on, as wheels made again from what is installed here, and an index of them on loopback.

The first run of the extension installs the server with pip, as for users; with these it needs no registry. The install
lines of the documentation run against the index.
"""

import functools
import re
import sys
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def fill(folder: Path, *extras: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in _needed("assent-lsp", *extras):
        _pack(each, folder)


@contextmanager
def index(folder: Path) -> Generator[str]:
    """Serves the wheels of this folder as a package index (PEP 503) and gives its address."""
    for wheel in folder.glob("*.whl"):
        name = re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
        page = folder / "simple" / name / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f'<!DOCTYPE html><a href="../../{wheel.name}">{wheel.name}</a>\n')
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _needed(name: str, *extras: str) -> list[Distribution]:
    """Everything the package needs here, without itself: extras count where somebody requires them."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(name, extra) for extra in ("", *extras)]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) in seen:
            continue
        seen.add((package, extra))
        for line in distribution(package).requires or ():
            requirement = Requirement(line)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            needed = distribution(requirement.name)
            found[needed.name] = needed
            waiting += [(needed.name, each) for each in ("", *requirement.extras)]
    return list(found.values())


def _pack(package: Distribution, folder: Path) -> None:
    tags = re.findall(r"^Tag: (\S+)", package.read_text("WHEEL") or "", re.MULTILINE)
    name = re.sub(r"[-_.]+", "_", package.name)
    files = [each for each in package.files or () if ".." not in each.parts and "__pycache__" not in each.parts]
    kept = [each for each in files if each.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")]
    with zipfile.ZipFile(folder / f"{name}-{package.version}-{tags[0]}.whl", "w", zipfile.ZIP_STORED) as wheel:
        for each in kept:
            wheel.write(str(each.locate()), str(each))
        info = next(each.parts[0] for each in kept if each.parts[0].endswith(".dist-info"))
        record = f"{info}/RECORD"
        wheel.writestr(record, "".join(f"{line},,\n" for line in [*map(str, kept), record]))


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
