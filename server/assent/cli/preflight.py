"""What must be right before a conversation starts: the folder, and settings that can be read.

A single wrong key is told and the rest applies; a file that cannot be read at all may have held restrictions that
are now lost, so nothing is started on it.
"""

import sys
from pathlib import Path

from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.types.programs import keep_out


class UsageError(AssentError):
    """The command line asks for something that cannot be; exit code 2."""


def project_folder(cwd: Path | None) -> Path:
    folder = (cwd or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    keep_out(str(folder))
    return folder


def check_settings(folder: Path, *, cli: Json | None = None) -> None:
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import EVERYTHING
    from assent.text.visible import visible

    files = SettingsFiles.standard(cli=cli, parse_rule=parse_rule)
    for problem in files.load(str(folder), trust=EVERYTHING).problems:
        if problem.file == "command line":
            raise UsageError(problem.text)
        if not problem.key and not problem.foreign:
            raise AssentError(f"{problem}. Correct the file or move it away; `assent doctor` looks at it again")
        print(f"assent: {visible(str(problem))}; the rest of the file applies", file=sys.stderr)
