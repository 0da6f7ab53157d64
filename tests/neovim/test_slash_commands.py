"""Every built-in slash command by keys in a real Neovim, all in one conversation (X). The table is in `tests/cases`."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, text
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor
TABLE: list[tuple[str, str]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "slash-commands.json").read_text(encoding="utf-8")
)
LONG = "There is much to say about it. " * 40  # so that there is something to snip
TEXTS = """
local found = {}
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  vim.list_extend(found, vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
end
return table.concat(found, '\\n')
"""


def test_every_built_in_command_is_typed_and_its_answer_is_in_the_chat(newest: Start, model: FakeApi) -> None:
    editor = newest(env=model.env)
    open_chat(editor)
    for number, (prompt, words) in enumerate(TABLE):
        if words == "model" or prompt == "/compact":
            model.reply(text(f"Answer {number}. {LONG}"))
        wanted = f"Answer {number}." if words == "model" else words
        before = written(editor).count(wanted)
        send(editor, prompt)
        editor.until(lambda at=before, wanted=wanted: written(editor).count(wanted) > at, f"for the answer to {prompt}")
        editor.until(lambda: not editor.lua(RUNNING), f"for {prompt} to end")


RUNNING = "local m = require('assent.session'); return m.get(m.current).state ~= 'idle'"


def written(editor: Neovim) -> str:
    return editor.lua(TEXTS)
