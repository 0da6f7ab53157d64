"""The chat as a place to work in: it streams without disturbing, forgets nothing, and runs nothing the model says."""

import os
import signal

import pytest
from pynvim.api.common import NvimError

from fakeapi import FakeApi, hold, text, tool
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor


def test_the_cursor_stays_where_the_user_reads_while_the_answer_grows(newest: Start, model: FakeApi) -> None:
    model.reply(text("".join(f"line {n}\n" for n in range(80)), hold("more"), "the end"))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "count")
    editor.see("line 79")  # the window follows while nobody reads further up
    editor.command("wincmd k | 10")
    editor.command("normal! zt")
    before = editor.lua("return vim.fn.winsaveview()")
    model.release("more")
    editor.until(lambda: "the end" in editor.lines(f"assent://chat/{session(editor)}")[-1], "for the end")
    after = editor.lua("return vim.fn.winsaveview()")
    assert (before["lnum"], before["topline"]) == (after["lnum"], after["topline"])
    assert "line 79" not in editor.look()


def test_a_chat_called_for_twice_before_the_server_answers_is_one_session(newest: Start, model: FakeApi) -> None:
    model.reply(text("Once."))
    editor = newest(env=model.env)
    editor.lua("require('assent.chat').start() require('assent.chat').start()")
    editor.see("sends · @ files")
    send(editor, "go")
    editor.see("Once.", "idle")
    assert editor.lua("return #vim.tbl_keys(require('assent.session').sessions)") == 1


def test_streaming_draws_only_what_is_new(newest: Start, model: FakeApi) -> None:
    pieces = [f"piece {number} " for number in range(40)]
    model.reply(text("The first line.\n\n", hold("more"), *pieces))
    editor = newest(env=model.env, config="vim.o.statusline = '%f'\n")
    open_chat(editor)
    send(editor, "tell me")
    screen = editor.see("The first line.", "writing").splitlines()
    left = screen[0].index("│")
    above = next(row for row, line in enumerate(screen) if "The first line." in line)
    editor.screen.written.clear()
    model.release("more")
    editor.see("piece 39", "idle")
    bars = {0, len(screen) - 2, len(screen) - 1}  # the chat's own bar, the status line, the last line
    drawn = [(row, first) for row, first, _ in editor.screen.written if row not in bars]
    assert drawn and all(first > left and row > above for row, first in drawn)


def test_what_is_sent_into_a_running_turn_stands_in_the_chat(newest: Start, model: FakeApi) -> None:
    model.reply(text("Starting."), tool("Bash", command="touch made"))
    model.reply(text("Briefly, then."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "go")
    editor.see("Assent asks")
    send(editor, "but be brief")
    editor.see("Your message waits its turn.")
    editor.command("Assent answer allow")
    screen = editor.see("but be brief", "Briefly, then.", "idle")
    assert screen.index("Starting.") < screen.index("but be brief") < screen.index("Briefly, then.")
    assert "waits its turn" not in screen


def test_words_of_the_model_are_never_run_as_status_line_items(newest: Start, model: FakeApi) -> None:
    evil = "echo %{execute('let g:owned=1')} %{%execute('let g:owned=1')%} > x"
    model.reply(tool("Bash", command=evil))
    model.reply(text("Done."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "go")
    editor.see("Assent asks")
    editor.command("Assent answer allow")
    editor.see("Done.")
    editor.lua("local s = require('assent.session'); s.get(s.current).activity = ...; vim.cmd('redrawstatus!')", evil)
    editor.see("echo %{execute('let g:owned=1')}")
    assert editor.lua("return vim.g.owned == nil")


def test_a_tool_is_named_once(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "explain greeter.py")
    screen = editor.see("✓ 6 lines", "6 lines of output")
    assert "Read greeter.py" in screen.replace("`", "") and "Read Read" not in screen.replace("`", "")


def test_a_deleted_chat_buffer_comes_back_with_its_text(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    for how in ("bdelete", "bwipeout"):
        editor.command(f"{how} {editor.lua('return vim.fn.bufnr(...)', f'assent://chat/{session(editor)}')}")
        editor.command("Assent chat")
        editor.see("## You", "find greet", "greeter.py:1:def greet():")
        assert "sends · @ files" in editor.look()


def test_editing_away_in_the_chats_window_loses_nothing_and_leaves_no_dress(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    editor.command("wincmd k")
    with pytest.raises(NvimError, match="winfixbuf"):
        editor.command("edit greeter.py")  # by mistake
    editor.command("edit! greeter.py")
    assert editor.lua("return { vim.wo.winbar, vim.wo.foldmethod }") == ["", "manual"]
    editor.command("Assent chat")
    editor.see("## You", "greeter.py:1:def greet():", "sends · @ files")


def test_two_chats_stand_side_by_side_and_each_gets_its_own_answer(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    first = session(editor)
    editor.command("Assent! chat tab")
    editor.until(lambda: session(editor) != first, "for the second session")
    send(editor, "find bye")
    screen = editor.see("find bye", "greeter.py:5:def bye():")
    assert "find greet" not in screen
    editor.command("Assent chat float")
    editor.see(" Assent ", "find bye", "sends · @ files")
    assert "greeter.py:5:def bye():" not in "\n".join(editor.lines(f"assent://chat/{first}"))


def test_a_reference_opens_beside_the_chat_at_its_line(newest: Start) -> None:
    editor = newest(file="")
    open_chat(editor)
    send(editor, "find bye")
    editor.see("greeter.py:5:def bye():", "idle")
    editor.command("wincmd k")
    editor.command("call search('greeter.py:5')")
    editor.command("cd /")  # what the agent names is relative to its own folder
    editor.type("gx")
    editor.until(lambda: editor.lua("return vim.fn.expand('%:t')") == "greeter.py", "for the file")
    assert editor.lua("return vim.fn.line('.')") == 5
    assert "sends · @ files" in editor.look()


def test_a_turn_cut_short_by_a_crash_is_sent_again(newest: Start, model: FakeApi) -> None:
    model.reply(text("Half an ", hold("never")))
    model.reply(text("A whole answer."))
    editor = newest(env=model.env, cold=True)  # the server itself is killed
    open_chat(editor)
    send(editor, "tell me")
    editor.see("Half an")
    os.kill(editor.server_pid(), signal.SIGKILL)
    editor.see("The server is gone")
    editor.command("Assent chat")
    editor.see("tell me", "The last turn was cut short")
    editor.command("Assent retry")
    editor.see("A whole answer.", "idle")
    model.release("never")


def test_an_earlier_conversation_is_picked_from_the_list(newest: Start) -> None:
    editor = newest(config="vim.ui.select = function(items, _, done) done(items[1]) end\n")
    open_chat(editor)
    send(editor, "find greet")
    editor.see("greeter.py:1:def greet():", "idle")
    editor.__exit__()
    again = newest(config="vim.ui.select = function(items, _, done) done(items[1]) end\n")
    again.command("Assent sessions")
    again.see("find greet", "greeter.py:1:def greet():", "sends · @ files")


def test_rewinding_takes_back_the_conversation_and_the_code(newest: Start) -> None:
    editor = newest(config="vim.ui.select = function(items, _, done) done(items[#items == 3 and 1 or #items]) end\n")
    (editor.project / "other.txt").write_text("Helo\n")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in other.txt")
    editor.see("Assent asks")
    editor.command("Assent answer allow")
    editor.see("I replaced", "idle")
    assert (editor.project / "other.txt").read_text() == "Hello\n"
    editor.command("Assent rewind")
    editor.until(lambda: (editor.project / "other.txt").read_text() == "Helo\n", "for the file to go back")
    editor.until(lambda: "I replaced" not in editor.look(), "for the conversation to go back")


def test_the_context_is_shown_by_kind(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    editor.command("Assent context")
    editor.see("Assent: context", "tokens", "window")


def test_autocommands_tell_of_turns_edits_and_asks(newest: Start) -> None:
    editor = newest(
        config="""
_G.seen = {}
vim.api.nvim_create_autocmd("User", { pattern = "Assent*", callback = function(event)
  table.insert(_G.seen, { event.match, event.data.sessionId ~= nil, event.data.result and event.data.result.subtype })
end })
"""
    )
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in greeter.py")
    editor.see("Assent asks", "hunk 2 of 2")
    editor.command("Assent accept all")
    names = "return vim.tbl_map(function(e) return e[1] end, _G.seen)"
    editor.until(lambda: "AssentTurnFinished" in editor.lua(names), "for the autocommands")
    seen = editor.lua("return vim.tbl_map(function(e) return { e[1], e[2], e[3] or '' } end, _G.seen)")
    told = ("AssentTurnStarted", "AssentEditProposed", "AssentAskPending", "AssentTurnFinished")
    assert [each for each in seen if each[0] in told] == [
        ["AssentTurnStarted", True, ""],
        ["AssentEditProposed", True, ""],
        ["AssentAskPending", True, ""],
        ["AssentTurnFinished", True, "success"],
    ]


def test_a_user_who_does_not_see_the_chat_is_told(newest: Start) -> None:
    config = "_G.told = {}\nvim.notify = function(text) table.insert(_G.told, text) end\n"
    editor = newest(config=config)
    editor.command("Assent prompt run `touch made`")
    editor.until(
        lambda: "waiting for you (:Assent answer): $ touch made" in str(editor.lua("return _G.told")),
        "to be told of the ask",
    )
    editor.command("Assent answer allow")
    editor.until(lambda: "Assent: done:" in str(editor.lua("return _G.told")), "to be told of the end")


def test_thousands_of_messages_are_drawn_at_once_and_the_next_is_as_cheap_as_the_first(newest: Start) -> None:
    """Counted in work, not in seconds: each piece of text may look at a bounded number of lines."""
    editor = newest(file="")
    open_chat(editor)
    counts = editor.lua(
        """
local session = require("assent.session")
local touched = 0
local real = vim.api.nvim_buf_get_lines
vim.api.nvim_buf_get_lines = function(buffer, first, last, strict)
  local lines = real(buffer, first, last, strict)
  touched = touched + #lines
  return lines
end
local counts, seq = {}, 100
for number = 1, 2000 do
  touched = 0
  for _, event in ipairs({
    { type = "turnStarted", prompt = "prompt " .. number },
    { type = "textDelta", blockId = "b" .. number, text = "answer " .. number },
    { type = "textDelta", blockId = "b" .. number, text = " and more" },
    { type = "turnFinished", result = { isError = false } },
  }) do
    seq = seq + 1
    session.event({ sessionId = session.current, seq = seq, event = event })
  end
  counts[number] = touched
end
vim.api.nvim_buf_get_lines = real
return { counts[2], counts[2000], vim.api.nvim_buf_line_count(vim.fn.bufnr("assent://chat/" .. session.current)) }
"""
    )
    assert counts[0] == counts[1]
    assert counts[2] > 8000
    editor.see("answer 2000 and more")


def test_words_that_arrive_while_the_prompt_is_completed_stand_in_the_chat(newest: Start, model: FakeApi) -> None:
    pieces = [f"piece {number} " for number in range(40)]
    model.reply(text("The first line.\n\n", hold("more"), *pieces))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "tell me")
    editor.see("The first line.")
    editor.lua(
        """
local client, session = require("assent.client"), require("assent.session")
local call, event = client.call, session.event
local arrived = 0
session.event = function(...)
  arrived = arrived + 1
  return event(...)
end
client.call = function(running, method, ...)
  if method == "request_sync" then
    vim.g.completing = true
    vim.wait(60000, function() return arrived >= 5 end)
  end
  return call(running, method, ...)
end
"""
    )
    editor.type("i@to<C-x><C-o>")
    model.release("more")
    editor.type("<Esc>")
    said = f"assent://chat/{session(editor)}"
    editor.until(lambda: "piece 39" in "".join(editor.lines(said)), "for the last words")
    assert "".join(pieces).strip() in "".join(editor.lines(said))
    assert "could not show" not in editor.lua("return vim.fn.execute('messages')")
