"""VS Code's frames, taken by tests/vscode/workbench/picture.mjs in the workbench that the tests use."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from picture import story
from picture.story import Frame

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests" / "vscode"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def record(folder: Path) -> list[Frame]:
    answers = [
        {"blocks": [part if isinstance(part, str) else {"tool": part[0], "input": part[1]} for part in parts]}
        for parts in story.calls()
    ]
    given = {
        "file": story.FILE,
        "files": story.FILES,
        "prompt": story.PROMPT,
        "answers": answers,
        "first": story.CHANGES[0][1].strip(),
        "command": story.COMMAND,
        "last": story.LAST,
        "width": story.WIDTH,
        "height": story.HEIGHT,
    }
    (folder / "story.json").write_text(json.dumps(given), encoding="utf-8")
    extension = ROOT / "vscode-extension"
    if not (extension / "node_modules").exists():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=extension, check=True)
    subprocess.run(["npm", "run", "--silent", "build"], cwd=extension, check=True)
    tools = subprocess.run([TESTS / "setup.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout
    env = {
        **os.environ,
        "ASSENT_VSCODE_CACHE": tools.strip().splitlines()[-1],
        "ASSENT_PYTHON": sys.executable,
        "ASSENT_CHROMIUM": os.environ.get("ASSENT_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), ""),
    }
    subprocess.run(["node", TESTS / "workbench" / "picture.mjs", folder], env=env, check=True)
    taken = json.loads((folder / "vscode.json").read_text(encoding="utf-8"))
    return [Frame(file=each["file"], seconds=each["seconds"], said=each["said"]) for each in taken]
