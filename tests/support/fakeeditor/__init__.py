"""An editor made for tests: buffers with a real undo stack, its own arithmetic, and the habits of real editors.

It shares no code with the server: positions are counted here the slow, obvious way, so that each checks the other.
"""

from fakeeditor.buffer import Buffer, Char
from fakeeditor.client import NEOVIM, PLAIN, VSCODE, FakeEditor, Habits
from fakeeditor.clock import FakeClock
from fakeeditor.disk import MemoryDisk

__all__ = ["NEOVIM", "PLAIN", "VSCODE", "Buffer", "Char", "FakeClock", "FakeEditor", "Habits", "MemoryDisk"]
