"""What a benchmark in a real VS Code workbench needs: its tools, and the extension built."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    cache: str  # the folder that tests/vscode/setup.sh fills
    chromium: str


def prepared() -> Tools:
    """Install the workbench where it is missing, and build the extension."""
    setup = [str(ROOT / "tests" / "vscode" / "setup.sh")]
    cache = subprocess.run(setup, capture_output=True, text=True, check=True).stdout.strip().splitlines()[-1]
    extension = ROOT / "vscode-extension"
    if not (extension / "node_modules").exists():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=extension, check=True, capture_output=True)
    subprocess.run(["npm", "run", "build"], cwd=extension, check=True, capture_output=True)
    return Tools(cache=cache, chromium=next(filter(None, map(shutil.which, CHROMIUMS)), "chromium"))
