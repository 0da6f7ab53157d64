"""What the server depends on, as wheels made again from what is installed here.

The first run of the extension installs the server with pip, as for users; with these it needs no registry.
"""

import re
import sys
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


def fill(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in _needed("assent-lsp"):
        _pack(each, folder)


def _needed(name: str) -> list[Distribution]:
    """Everything the package needs, without itself; requirements of extras and of other systems are not installed."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for requirement in distribution(waiting.pop()).requires or ():
            match = re.match(r"[\w.-]+", requirement)
            if match is None or "extra ==" in requirement:
                continue
            try:
                needed = distribution(match.group())
            except PackageNotFoundError:
                continue
            if needed.name not in found:
                found[needed.name] = needed
                waiting.append(needed.name)
    return list(found.values())


def _pack(package: Distribution, folder: Path) -> None:
    tags = re.findall(r"^Tag: (\S+)", package.read_text("WHEEL") or "", re.MULTILINE)
    name = re.sub(r"[-_.]+", "_", package.name)
    files = [each for each in package.files or () if ".." not in each.parts and "__pycache__" not in each.parts]
    kept = [each for each in files if each.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")]
    with zipfile.ZipFile(folder / f"{name}-{package.version}-{tags[0]}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for each in kept:
            wheel.write(str(each.locate()), str(each))
        info = next(each.parts[0] for each in kept if each.parts[0].endswith(".dist-info"))
        record = f"{info}/RECORD"
        wheel.writestr(record, "".join(f"{line},,\n" for line in [*map(str, kept), record]))


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
