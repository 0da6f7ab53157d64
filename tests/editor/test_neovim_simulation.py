"""200 operations of the simulation in a real Neovim, with its debounce, its lies about stale edits, its undo tree.

The person types Greek by keys, the agent changes Latin lines through `assent/tool/run`, hunks are decided at random by
`assent/edit/resolve` while typing goes on. The buffer must never lose a Greek letter, the server must read what the
buffer holds, and undoing everything must give the first text back.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nvimscreen import Neovim

pytestmark = pytest.mark.editor

OPERATIONS = 200
GREEK = "αβγδεζηθικλμνξο"
START = "".join(f"line {number} of the first text\n" for number in range(1, 31))

CLIENT = """
_G.sim = { answers = {}, sent = 0 }
function sim.ask(method, params)  -- returns at once; the answer is found under the number later
  sim.sent = sim.sent + 1
  local number = sim.sent
  require("assent.client").request(method, params, function(err, result)
    sim.answers[number] = { err = err and err.message or vim.NIL, result = result or vim.NIL }
  end)
  return number
end
function sim.wait(number)
  vim.wait(15000, function() return sim.answers[number] ~= nil end, 5)
  return sim.answers[number]
end
function sim.keys(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), "ntx", false)
end
"""


class Play:
    """A session in a running editor, and what was done to the buffer."""

    def __init__(self, editor: Neovim, file: Path, seed: int) -> None:
        self.editor = editor
        self.file = str(file)
        self.rng = random.Random(seed)
        self.typed = 0
        self.reads = 0
        self.running: list[int] = []
        self.landed = 0
        editor.lua(CLIENT)
        self.session = self.ask("assent/session/new", {"cwd": str(file.parent)})["sessionId"]

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        number = self.editor.lua("return sim.ask(...)", method, params)
        answer = self.editor.lua("return sim.wait(...)", number)
        assert answer and answer["err"] is None, (method, answer, self.editor.messages())
        return answer["result"]

    def send(self, method: str, params: dict[str, Any]) -> int:
        return self.editor.lua("return sim.ask(...)", method, params)

    def text(self) -> str:
        return "".join(line + "\n" for line in self.editor.lines("text.txt"))

    def type(self) -> None:
        """A few letters somewhere, as keys."""
        line, column = self.rng.randrange(1, self.text().count("\n") + 1), self.rng.randrange(12)
        letters = "".join(self.rng.choices(GREEK, k=self.rng.randrange(1, 4)))
        before = self.rng.choice(("i", "a", "o", "O"))
        self.editor.lua("sim.keys(...)", f"{line}G0{column}l{before}{letters}<Esc>")
        self.typed += len(letters)

    def read(self) -> str:
        """The file as the server sees it."""
        self.reads += 1
        found = self.ask(
            "assent/tool/run",
            {"sessionId": self.session, "name": "Read", "input": {"file_path": self.file, "limit": 1000 + self.reads}},
        )
        shown = "".join(block.get("text", "") for block in found["content"])
        lines = [re.match(r"\s*\d+[\t→](.*)$", line) for line in shown.split("\n")]
        return "".join(line[1] + "\n" for line in lines if line is not None)

    def edit(self) -> None:
        """The agent changes two Latin lines; it waits for its decision beside what goes on."""
        if len(self.running) > 3:
            return
        lines = self.read().split("\n")[:-1]
        latin = [line for line in lines if line.isascii() and lines.count(line) == 1 and len(line) > 4]
        if len(latin) < 2:
            return
        edits = [
            {"old_string": line + "\n", "new_string": f"{line[:20]} v{self.rng.randrange(10_000)}\n"}
            for line in self.rng.sample(latin, 2)
        ]
        run = {"name": "MultiEdit", "input": {"file_path": self.file, "edits": edits}, "sessionId": self.session}
        self.running.append(self.send("assent/tool/run", run))

    def decide(self) -> None:
        proposals = self.ask("assent/edit/list", {"sessionId": self.session})["proposals"]
        if not proposals:
            return
        proposal = self.rng.choice(proposals)
        decisions: list[dict[str, Any]] = []
        for hunk in proposal["hunks"]:
            verb = self.rng.choice(("accept", "accept", "reject", "edit"))
            more = {"newText": f"by hand {self.rng.randrange(10_000)}\n"} if verb == "edit" else {}
            if hunk["state"] == "pending":
                decisions.append({"hunkId": hunk["hunkId"], "decision": verb, **more})
        self.send("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": decisions})
        if self.rng.random() < 0.6:
            self.type()  # right behind it: the edit arrives at a buffer that has moved on

    def rest(self) -> None:
        """Everything decided, every call ended, and the server sees the buffer."""
        self.editor.until(self._all_ended, "for every call to end")
        self.running.clear()
        assert self.read() == self.text()
        self.check()

    def _all_ended(self) -> bool:
        """A call may come to its proposal only when the one before it has ended, so this looks more than once."""
        for proposal in self.ask("assent/edit/list", {"sessionId": self.session})["proposals"]:
            self.ask("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": {"all": "reject"}})
        return all(self.editor.lua("vim.wait(5); return sim.answers[...] ~= nil", number) for number in self.running)

    def check(self) -> None:
        assert sum(char in GREEK for char in self.text()) == self.typed, "a letter was lost"


@pytest.fixture(params=["0.10", "0.12"])
def editor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Neovim]:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "text.txt").write_text(START)
    with Neovim(version=request.param, folder=tmp_path, file="text.txt") as editor:
        yield editor


def test_two_hundred_operations_in_a_real_editor(editor: Neovim, tmp_path: Path) -> None:
    play = Play(editor, tmp_path / "project" / "text.txt", seed=5)
    for number in range(OPERATIONS):
        getattr(play, play.rng.choices(("type", "edit", "decide"), (12, 4, 5))[0])()
        play.check()
        if number % 50 == 49:
            play.rest()
    play.rest()
    latin = [line for line in play.text().split("\n") if " v" in line or "by hand" in line]
    assert latin, "edits did land"
    assert "newer than edits" not in editor.messages(), "a refused edit bothers nobody who types"
    editor.lua("vim.cmd('silent undo 0')")
    assert play.text() == START
    assert play.read() == START
