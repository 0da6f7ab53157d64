"""`assent demo`: a scratch project with a typo, and a conversation that finds and fixes it.

It always uses the offline model, so it needs no key and no network. Without a terminal it answers the asks itself,
which is fine only because the scratch project is ours.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from assent.cli import chat
from assent.types.errors import AssentError

PROMPT = "find Helo, replace 'Helo' by 'Hello' in greeter.py, then run the tests"

FILES = {
    "greeter.py": '''\
"""Says hello."""


def greet(name: str) -> str:
    return f"Helo, {name}!"
''',
    "test_greeter.py": """\
import unittest

from greeter import greet


class Greeting(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(greet("Ada"), "Hello, Ada!")


if __name__ == "__main__":
    unittest.main()
""",
    "README.md": "# Greeter\n\nA scratch project for trying Assent. Its greeting has a typo, and its test knows.\n",
    "Makefile": "test:\n\t@python3 -m unittest -v\n",
}


def run(*, editor: str, keep: bool) -> int:
    folder = Path(tempfile.mkdtemp(prefix="assent-demo-"))
    try:
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        if editor != "terminal":
            return _open_editor(editor, folder)
        print(f"A scratch project in {folder}; the offline model will fix its typo.")
        return chat.run(
            cwd=folder, prompts=[PROMPT], offline=True, answer_for_me=not (sys.stdin.isatty() and sys.stdout.isatty())
        )
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _open_editor(editor: str, folder: Path) -> int:
    program = shutil.which(editor)
    if program is None:
        raise AssentError(f"{editor} is not on the PATH; install it, or run `make demo` for the terminal")
    clone = Path(__file__).parents[3]
    environment = os.environ | {"ASSENT_OFFLINE": "1"}
    print(f"In the chat, try: {PROMPT}")
    if editor == "nvim":
        plugin = clone / "editors" / "neovim"
        if not plugin.is_dir():
            raise AssentError("the Neovim plugin is not beside this package; run from a clone of the repository")
        command = json.dumps([sys.executable, "-m", "assent.cli.main", "serve", "--stdio"])
        start = ["--cmd", f"set rtp^={plugin}", "--cmd", f"let g:assent = #{{cmd: {command}}}"]
        return subprocess.run([program, *start, "greeter.py", "+Assent chat"], cwd=folder, env=environment).returncode
    extension = clone / "vscode-extension"
    if not (extension / "dist" / "extension.js").is_file():
        raise AssentError(f"build the extension first: cd {extension} && npm ci && npm run build")
    settings = folder / ".vscode"
    settings.mkdir()
    (settings / "settings.json").write_text(json.dumps({"assent.server.python": sys.executable}), encoding="utf-8")
    arguments = ["--wait", "--new-window", f"--extensionDevelopmentPath={extension}", str(folder)]
    return subprocess.run([program, *arguments], env=environment).returncode
