"""An MCP server asks the person at a real Neovim: a form, and a page to open. Everything between is real (T9)."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from mcpserver import entry
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

# One input line and one picker that answer from lists; the browser only notes what it would open.
SCRIPTED = """
_G.typed, _G.picks = { 'green' }, { 'Open' }
vim.ui.input = function(options, done) done(table.remove(_G.typed, 1)) end
vim.ui.select = function(items, options, done)
  local wanted = table.remove(_G.picks, 1)
  for index, item in ipairs(items) do
    if (options.format_item or tostring)(item) == wanted then return done(item, index) end
  end
  done(nil)
end
vim.ui.open = function(address) _G.opened = address end
"""


def test_a_server_s_form_and_page_are_shown_with_its_name_and_answered(
    newest: Start, model: FakeApi, tmp_path: Path
) -> None:
    model.reply(tool("ToolSearch", query="select:mcp__plain__ask,mcp__plain__visit"))
    model.reply(tool("mcp__plain__ask", id="toolu_1"))
    model.reply(tool("mcp__plain__visit", id="toolu_2"))
    model.reply(text("Green, and signed."))
    editor = newest(env=model.env, config=SCRIPTED)
    settings = Path(editor.env["XDG_CONFIG_HOME"], "assent", "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    allowed = {"permissions": {"allow": ["mcp__plain"]}}
    settings.write_text(json.dumps({"mcpServers": {"plain": entry()}, **allowed}))
    open_chat(editor)
    # A search waits 5 s for a server that still connects, which may be too short on a busy machine.
    send(editor, "/mcp restart plain")
    editor.see("**plain**: connected")
    send(editor, "ask me")
    editor.see("Assent has a question", "MCP server plain asks: Which colour?")
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.see("MCP server plain asks you to open example.org", "https://example.org/sign")
    assert editor.lua("return _G.opened == nil"), "nothing is opened before the person says so"
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.see("Green, and signed.")
    assert editor.lua("return _G.opened") == "https://example.org/sign"
    results = json.dumps([call.body["messages"] for call in model.calls])
    assert "accept green" in results


# The picker takes what stands first; what is typed is typed on Neovim's own input line.
FIRST = "vim.ui.select = function(items, _, done) done(items[1], 1) end\n"


def test_an_answer_that_does_not_fit_is_refused_with_the_reason_and_only_what_fits_arrives(
    newest: Start, model: FakeApi, tmp_path: Path
) -> None:
    model.reply(tool("ToolSearch", query="select:mcp__shop__order"))
    model.reply(tool("mcp__shop__order", id="toolu_1"))
    model.reply(text("Ordered."))
    editor = newest(env=model.env, config=FIRST)
    heard = tmp_path / "heard.txt"
    settings = Path(editor.env["XDG_CONFIG_HOME"], "assent", "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    shop = entry("--order", "--log", str(heard), era="modern")
    settings.write_text(json.dumps({"mcpServers": {"shop": shop}, "permissions": {"allow": ["mcp__shop"]}}))
    open_chat(editor)
    send(editor, "/mcp restart shop")
    editor.see("**shop**: connected")
    send(editor, "order something")
    editor.see("MCP server shop asks: What may it be?")
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.see("Your name:")
    editor.type("Al<CR>")
    editor.see("Your name (at least 3 characters are expected): Al")
    editor.type("f<CR>")  # what was typed stands there still
    editor.see("count:")
    for wrong, reason in (("9", "at most 5 is expected"), ("many", "a whole number is expected")):
        editor.type(f"<C-u>{wrong}<CR>")
        editor.see(f"count ({reason}): {wrong}")
    editor.type("<C-u>4<CR>")
    editor.see("note (may stay empty):")
    assert "answered" not in heard.read_text(), "nothing arrives before all of it fits"
    editor.type("<CR>")
    editor.see("share (may stay empty):")
    for wrong in ("inf", "nan", "1e400"):  # numbers to Lua, and none that JSON has
        editor.type(f"<C-u>{wrong}<CR>")
        editor.see(f"share (a number is expected): {wrong}")
    editor.type("<C-u><CR>")
    # It fits the form. The server itself refuses it, with its reason, and asks again.
    editor.see("Refused: 4 is even, and only odd counts are sold.")
    editor.command("Assent answer")
    editor.type("<CR>")
    for field, typed in (("Your name:", "Alf"), ("count:", "3"), ("note (", "soon"), ("share (", "0.5")):
        editor.see(field)
        editor.type(f"{typed}<CR>")
    editor.see("Ordered.", "idle")
    lines = [line for line in heard.read_text().splitlines() if line.startswith("answered ")]
    assert [json.loads(line.removeprefix("answered ")) for line in lines] == [
        {"action": "accept", "content": {"name": "Alf", "count": 4, "shade": "light"}},
        {"action": "accept", "content": {"name": "Alf", "count": 3, "shade": "light", "note": "soon", "share": 0.5}},
    ]


def test_the_arguments_of_a_server_s_tool_stand_in_the_transcript(newest: Start, model: FakeApi) -> None:
    model.reply(tool("ToolSearch", query="select:mcp__plain__echo"))
    model.reply(tool("mcp__plain__echo", text="two\nlines", id="toolu_1"))
    model.reply(text("Echoed."))
    editor = newest(env=model.env)
    settings = Path(editor.env["XDG_CONFIG_HOME"], "assent", "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"mcpServers": {"plain": entry()}, "permissions": {"allow": ["mcp__plain"]}}))
    open_chat(editor)
    send(editor, "/mcp restart plain")
    editor.see("**plain**: connected")
    send(editor, "echo it")
    editor.see("Echoed.", "idle")
    shown = editor.lines(f"assent://chat/{session(editor)}")
    at = next(row for row, line in enumerate(shown) if line.endswith('text: "two\\nlines"'))
    assert "echo" in shown[at - 1] and "Data from the MCP server plain" in shown[at + 1]  # between call and answer
