"""A real Neovim with a screen we can read: keys go in as a person types them, assertions look at what a person sees."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pynvim

import warm
from nvimscreen.watchdog import Watchdog

ROOT = Path(__file__).parents[3]
PATIENCE = float(os.environ.get("ASSENT_PATIENCE", "120"))  # seconds; only ever spent when something is broken
PROGRAM = [sys.executable, "-I", "-m", "assent.cli.main"]


def program(version: str) -> str:
    """The Neovim of this version, fetched into the cache; another one can be named in the environment."""
    named = os.environ.get("ASSENT_EDITOR_" + f"nvim-{version}".upper().replace("-", "_").replace(".", "_"))
    if named:
        return named
    found = subprocess.run(
        [ROOT / "tests" / "editors" / "fetch.sh", f"nvim-{version}"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


class Screen:
    """What the user interface protocol draws, kept as rows of text."""

    def __init__(self, columns: int, rows: int) -> None:
        self.grids: dict[int, list[list[str]]] = {1: [[" "] * columns for _ in range(rows)]}
        self.written: list[tuple[int, int, int]] = []  # row, first and last column of everything drawn

    def apply(self, events: list[Any]) -> None:
        for name, *calls in events:
            for call in calls:
                match name:
                    case "grid_resize":
                        grid, columns, rows = call[:3]
                        self.grids[grid] = [[" "] * columns for _ in range(rows)]
                    case "grid_clear":
                        self.grids[call[0]] = [[" "] * len(row) for row in self.grids[call[0]]]
                    case "grid_line":
                        self._line(*call[:4])
                    case "grid_scroll":
                        self._scroll(*call[:6])
                    case _:
                        pass

    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.grids[1])

    def _line(self, grid: int, row: int, column: int, cells: list[Any]) -> None:
        first = column
        for cell in cells:
            repeat = cell[2] if len(cell) > 2 else 1
            for _ in range(repeat):
                self.grids[grid][row][column] = cell[0]
                column += 1
        self.written.append((row, first, column - 1))

    def _scroll(self, grid: int, top: int, bottom: int, left: int, right: int, rows: int) -> None:
        lines = self.grids[grid]
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            lines[row][left:right] = lines[row + rows][left:right]


class Neovim:
    def __init__(
        self,
        *,
        version: str,
        folder: Path,
        config: str = "",
        file: str = "greeter.py",
        server: str = "",
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (200, 45),
        swap: bool = False,
        project: Path | None = None,
        screen: type[Screen] = Screen,
        cold: bool = False,
    ) -> None:
        """`cold`: start the server as users do. Otherwise it is forked from one that is loaded (`warm`)."""
        self.folder = folder
        self.project = project or folder / "project"
        home = folder / "home"
        home.mkdir(exist_ok=True)
        init = folder / f"init{len(list(folder.glob('init*.lua')))}.lua"  # one each: Neovim may read it late
        arguments = ["serve", "--stdio"] if env else ["serve", "--stdio", "--offline"]  # an environment names a model
        words = [*PROGRAM, *arguments] if cold or server else warm.command(*arguments)
        command = server or ", ".join(f"[[{word}]]" for word in words)
        init.write_text(
            f"vim.opt.rtp:prepend([[{ROOT / 'editors' / 'neovim'}]])\n"
            f"vim.g.assent = {{ cmd = {{ {command} }}, chat = {{ size = 0.6 }} }}\n"
            # Python's filetype plugin asks for a provider, and the search for one takes longer than a whole scene.
            "vim.g.loaded_python3_provider = 0\n"
            "vim.o.laststatus = 3\n"
            "vim.o.statusline = \"%f %m %{%v:lua.require'assent'.statusline()%}\"\n"
            "vim.o.swapfile = false\n" + config
        )
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TERM")}
        places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.env = {**kept, **places, "HOME": str(home), **(env or {})}
        argv = [program(version), "--embed", "-u", str(init), "-i", "NONE", *([] if swap else ["-n"]), file]
        self.nvim: Any = _child(argv, self.env, self.project)
        self._pid = int(self.nvim.funcs.getpid())
        self.screen = screen(*size)
        self.watchdog = Watchdog(
            self.nvim._session, pid=self._pid, patience=PATIENCE, last_words=lambda: self._drawn().text()
        )
        # Start-up waits for this, so that what it says is on the screen.
        self.nvim.ui_attach(*size, rgb=True, ext_linegrid=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.watchdog.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)
        with contextlib.suppress(OSError, EOFError):
            self.nvim.close()  # also when it is gone: what is left to the garbage collector makes noise at the end

    def type(self, keys: str) -> None:
        self.nvim.input(keys)

    def command(self, text: str) -> None:
        self.look()  # which fails where a message waits to be dismissed
        self.nvim.command(text)

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.nvim.exec_lua(code, *arguments)

    def lines(self, name: str = "greeter.py") -> list[str]:
        return self.lua(
            "local b = vim.fn.bufnr(...); return b == -1 and {} or vim.api.nvim_buf_get_lines(b, 0, -1, false)", name
        )

    def look(self, pause: int = 10) -> str:
        """The screen as it is now. Fails where Neovim waits for a key to dismiss a message: users would have to, too."""
        blocked = self.nvim.api.get_mode()["blocking"]
        if not blocked:
            self.lua("vim.wait(...); vim.cmd('redraw')", pause)
            blocked = self.nvim.api.get_mode()["blocking"]
        seen = self._drawn().text()
        assert not blocked, f"Neovim waits for a key; the screen:\n{seen}"
        return seen

    def _drawn(self) -> Screen:
        """The screen with all that has come for it."""
        pending = self.nvim._session._pending_messages  # the session has no public way to look without waiting
        while pending:
            kind, name, arguments = self.nvim._session.next_message()
            if kind == "notification" and name == "redraw":
                self.screen.apply(arguments)
        return self.screen

    def see(self, *texts: str) -> str:
        """Wait until all of these are on the screen at once, and give that screen."""
        seen = ""

        def there() -> bool:
            nonlocal seen
            seen = self.screen.text()
            return all(text in seen for text in texts)

        self.until(there, f"to see {texts}")
        return seen

    def until(self, condition: Callable[[], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE
        pause = 10
        self.look()
        while not condition():
            assert time.monotonic() < deadline, f"waited {what}; the screen:\n{self.look()}\n{self.messages()}"
            self.look(pause)
            pause = min(pause + 5, 100)  # what we wait for needs the processor more than we do
        return self.look()

    def messages(self) -> str:
        if self.nvim.api.get_mode()["blocking"]:
            return "(Neovim waits for a key)"
        return self.nvim.command_output("messages")

    def server_pid(self) -> int:
        """The server's process, found as Neovim's child; 0 when none runs."""
        own = self.nvim.funcs.getpid()
        for child in Path(f"/proc/{own}/task/{own}/children").read_text().split():
            with contextlib.suppress(OSError):  # it may end while we look
                if b"assent.cli.main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        return 0


def _child(argv: list[str], env: dict[str, str], cwd: Path) -> Any:
    """pynvim starts children with our own environment and folder; the wrapper gives them theirs."""
    words = ["env", "-i", f"--chdir={cwd}", *(f"{name}={value}" for name, value in env.items()), *argv]
    return pynvim.attach("child", argv=words)
