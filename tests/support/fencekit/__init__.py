"""Commands run by the real Bash tool inside the real fence, with the reader switched off: as whoever runs the tests,
and as a plain user when that is root.

A `Ground` is a small world made for them: a project, a home with secrets, a folder outside, and things that would show
an escape. Not below pytest's own folder, which a plain user cannot enter.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assent.tools.process import sandbox

NOBODY = 65534
SECRET = "canary-secret-5f1c"
WHO = ("me", "plain") if os.geteuid() == 0 else ("me",)
_TESTS = Path(__file__).parents[1]


def holds_fully() -> bool:
    """Has this machine all that the tests of attacks are about? Where not, `doctor` says what is missing."""
    found = sandbox.found_here()
    return found.kind == "landlock" and found.filters and found.version >= 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    base: Path
    who: str

    @property
    def root(self) -> Path:
        return self.base / "proj"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def out(self) -> Path:
        return self.base / "out"

    def filled(self, command: str) -> str:
        for name, path in (("proj", self.root), ("home", self.home), ("out", self.out), ("python", self.python)):
            command = command.replace("{" + name + "}", str(path))
        return command

    @property
    def python(self) -> str:
        """An interpreter that commands can start inside."""
        return os.path.realpath(_python(self.who))

    def run(self, *commands: str, **options: Any) -> list[str]:
        """What each command printed, run one after the other inside the fence."""
        return [str(done["content"]) for done in self.results(commands, **options)]

    def results(
        self, commands: Sequence[str], *, fenced: bool = True, seconds: float = 120, roots: Sequence[Path] | None = None
    ) -> list[dict[str, Any]]:
        task = {
            "roots": [str(root) for root in (self.root,) if roots is None] + [str(root) for root in roots or ()],
            "home": str(self.home),
            "own": [str(self.home / ".config/assent"), str(self.home / ".local/share/assent")],
            "commands": [self.filled(command) for command in commands],
            "fenced": fenced,
            "seconds": seconds,
        }
        done = subprocess.run(
            [_python(self.who), "-B", str(_TESTS / "fencekit" / "driver.py")],
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "npm_config_update_notifier": "false",  # it asks the network now and then
                "PYTHONPATH": os.pathsep.join([*_packages(), str(_TESTS)]),
            },
            cwd="/",
            input=json.dumps(task),
            capture_output=True,
            text=True,
            check=False,
            **_as(self.who),
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    def picture(self) -> dict[str, str]:
        """Every file of this world: kind, mode, owner, time and contents."""
        found: dict[str, str] = {}
        for path in sorted(path for folder in (self.root, self.home, self.out) for path in folder.rglob("*")):
            kind = f"-> {path.readlink()}" if path.is_symlink() else "dir" if path.is_dir() else ""
            digest = kind or (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special")
            status = path.lstat()
            changed = 0 if path.is_dir() else status.st_mtime_ns
            found[str(path)] = f"{status.st_mode:o} {status.st_uid} {changed} {_attributes(path)} {digest}"
        return found


@contextlib.contextmanager
def ground(who: str = "me") -> Generator[Ground]:
    """The world of the shared red-team cases, on a disk that both may use."""
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="fence-ground-")))
    try:
        made = Ground(base=base, who=who)
        _fill(made)
        if who == "plain":
            for path in (base, *base.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        base.chmod(0o755)
        yield made
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _fill(world: Ground) -> None:
    texts = {
        world.root: {
            "README.md": "hello world\nfoo,bar\n",
            "src/a.py": "print(1)\n",
            "src/secret/s": "x\n",
            "a.py": "print(1)\n",
            "b.py": "print(2)\n",
            "x.json": '{"a": {"b": 1}}\n',
            "sub/a.py": "x = 1\n",
            "sub/deep/c.txt": "deep\n",
            "docs/one.md": "# one\n",
            "tpl/.git/hooks/pre-commit": "#!/bin/sh\n",
            "tpl/.vscode/tasks.json": "{}\n",
            "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "echo test"}}\n',
            ".env": "A=1\n",
            "secrets/k": "k\n",
            "ev.sh": '#!/bin/sh\ntouch "$(dirname "$0")/PWNED"\n',
        },
        world.home: {
            ".ssh/id_rsa": f"{SECRET}\n",
            ".aws/credentials": f"{SECRET}\n",
            ".netrc": f"machine x password {SECRET}\n",
            ".config/assent/settings.json": f'{{"key": "{SECRET}"}}\n',
            ".local/share/assent/sessions/s.jsonl": f"{SECRET}\n",
            ".config/gh/hosts.yml": f"token: {SECRET}\n",
            ".gitconfig": f"[core]\n\tquotepath = false\n[credential]\n\thelper = {SECRET}\n[user]\n\tname = Someone\n",
            ".bashrc": f"export TOKEN={SECRET}\n",
            "notes.txt": f"{SECRET}\n",
        },
        world.out: {"there.txt": f"{SECRET}\n"},
    }
    for base, files in texts.items():
        for name, text in files.items():
            path = base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (world.root / "ev.sh").chmod(0o755)
    (world.root / "key").symlink_to(world.home / ".ssh/id_rsa")
    git = ["git", "-C", str(world.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "README.md", "a.py", "sub", "src"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


def _attributes(path: Path) -> str:
    if path.is_symlink() or not hasattr(os, "listxattr"):
        return ""
    return ",".join(os.listxattr(path))


def _as(who: str) -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if who == "plain" else {}


def _python(who: str) -> str:
    """An interpreter of our version that a plain user can start; a virtual environment may lie in root's home."""
    if who == "me":
        return sys.executable
    wanted = f"{sys.version_info.major}.{sys.version_info.minor}"
    for program in (
        sys.executable,
        shutil.which(f"python{wanted}", path="/usr/local/bin:/usr/bin"),
        "/usr/bin/python3",
    ):
        if program is None:
            continue
        ask = [program, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        with contextlib.suppress(OSError):
            said = subprocess.run(ask, capture_output=True, text=True, check=False, cwd="/", **_as(who))
            if said.stdout.strip() == wanted:
                return program
    raise AssertionError(
        f"no Python {wanted} here that a plain user can start: install one in /usr/local/bin or /usr/bin"
    )


def _packages() -> list[str]:
    import assent

    assert assent.__file__ is not None
    return [str(Path(assent.__file__).parents[1]), sysconfig.get_paths()["purelib"]]
