"""`assent demo`: a scratch project with a typo, and a conversation that finds and fixes it.

It always uses the offline model, so it needs no key and no network. Without a terminal it answers the asks itself,
which is fine only because the scratch project is ours.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from assent.cli.chat import conversation as chat
from assent.types.errors import AssentError
from assent.types.programs import find_program, python, python_environment, user_path

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
    program = find_program(editor)
    if program is None:
        raise AssentError(f"{editor} is not on the PATH; install it, or run `make demo` for the terminal")
    clone = Path(__file__).parents[3]
    arguments = _in_neovim(clone) if editor == "nvim" else _in_code(clone, folder)
    env = python_environment() | {"PATH": user_path(), "ASSENT_OFFLINE": "1"}
    return subprocess.run([program, *arguments], cwd=folder, env=env).returncode


def _in_neovim(clone: Path) -> list[str]:
    """The plugin from the clone, the file with the typo, and the prompt already sent."""
    plugin = clone / "editors" / "neovim"
    if not plugin.is_dir():
        raise AssentError("the Neovim plugin is not beside this package; run from a clone of the repository")
    server = json.dumps(python("-m", "assent.cli.main", "serve", "--stdio"))
    before = ["--cmd", f"set rtp^={plugin}", "--cmd", f"let g:assent = #{{cmd: {server}}}"]
    return [*before, "greeter.py", f"+Assent ask {PROMPT}"]


def _in_code(clone: Path, folder: Path) -> list[str]:
    """A window of its own with the extension from the clone, which is built first if nobody has."""
    extension = clone / "vscode-extension"
    if not extension.is_dir():
        raise AssentError("the VS Code extension is not beside this package; run from a clone of the repository")
    if not (extension / "dist" / "extension.js").is_file():
        _build(extension)
    settings = folder / ".vscode"
    settings.mkdir()
    (settings / "settings.json").write_text(json.dumps({"assent.server.python": sys.executable}), encoding="utf-8")
    print(f"In the Assent chat, try: {PROMPT}")
    return ["--wait", "--new-window", f"--extensionDevelopmentPath={extension}", str(folder)]


def _build(extension: Path) -> None:
    npm = find_program("npm")
    if npm is None:
        raise AssentError("the VS Code extension is not built yet, and that needs npm: install Node 20 or newer")
    print("Building the VS Code extension, once …")
    for step in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run([npm, *step], cwd=extension, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it says nothing"]
            raise AssentError(f"`npm {' '.join(step)}` failed in {extension}: {said[0]}")
