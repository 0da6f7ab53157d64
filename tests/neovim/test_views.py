"""`:Assent mcp|hooks|agents|skills|memory|permissions|roster|plugins` and `snip`: what is there, and keys that act on it."""

import json
import re
import urllib.request
from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text, tool
from mcpserver import entry
from mcpserver.web import site
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor


def settings(folder: Path, **values: object) -> None:
    """The user's own settings."""
    file = folder / "home" / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(values))


def at(editor: Neovim, words: str) -> None:
    """Put the cursor of the view on the row with these words; another view may show them before this one is there."""
    editor.see(words)
    editor.until(lambda: editor.lua("return vim.fn.search(...)", words) > 0, f"for the row with {words}")


def row(editor: Neovim, pattern: str) -> None:
    """Wait for a line like this in the view of MCP servers."""
    lines = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('assent://view/mcp$'), 0, -1, false)"
    editor.until(lambda: any(re.search(pattern, line) for line in editor.lua(lines)), f"for {pattern}")


def test_an_ask_is_answered_from_the_roster(start: Start) -> None:
    editor = start()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks")
    editor.command("Assent roster")
    at(editor, "? Run touch made")
    editor.see("waiting", "y allow once", "n deny")
    editor.type("b")
    editor.see("in the background: run `touch made`")
    editor.type("b")
    editor.until(lambda: "in the background" not in editor.look(), "for it to be in front again")
    at(editor, "? Run touch made")
    editor.type("y")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")
    editor.until(lambda: "? Run touch made" not in editor.look(), "for the roster to follow")


def test_rules_are_listed_with_their_files_added_and_removed(newest: Start, tmp_path: Path) -> None:
    settings(tmp_path, permissions={"deny": ["Bash(rm:*)"]})
    answers = (
        "vim.ui.input = function(_, done) done('Bash(make test)') end\n"
        "vim.ui.select = function(items, _, done) done(vim.tbl_contains(items, 'allow') and 'allow' or 'user') end\n"
    )
    editor = newest(config=answers)
    editor.command("Assent permissions")
    editor.see("deny  Bash(rm:*)", "+ add", "d remove")
    editor.type("+")
    at(editor, "allow Bash(make test)")
    file = tmp_path / "home" / "config" / "assent" / "settings.json"
    assert json.loads(file.read_text())["permissions"]["allow"] == ["Bash(make test)"]
    editor.type("d")
    editor.until(lambda: "make test" not in editor.look(), "for the rule to go")
    assert "make test" not in file.read_text()


def test_a_hook_that_ran_shows_in_the_chat_and_in_its_views(newest: Start, tmp_path: Path, model: FakeApi) -> None:
    handler = {"type": "command", "command": "echo checked; exit 0"}
    settings(tmp_path, hooks={"PostToolUse": [{"matcher": "Read", "hooks": [handler]}]})
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Read it."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "read it")
    screen = editor.see("- hook `PostToolUse` ✓ success in ", " ms", "Read it.")
    assert screen.index("hook `PostToolUse`") < screen.index("Read it.")
    editor.command("Assent hooks")
    editor.see("PostToolUse", "echo checked; exit 0", "l runs")
    editor.type("l")
    editor.see("Assent: hook runs", "success")


def test_what_files_define_is_listed_and_opened(newest: Start, tmp_path: Path) -> None:
    settings(tmp_path, mcpServers={"lost": {"command": "/nowhere/at/all"}})
    editor = newest()
    (editor.project / "AGENTS.md").write_text("Be brief.\n")
    (editor.project / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "./evil"}}}')
    open_chat(editor)
    editor.command("Assent memory")
    at(editor, "AGENTS.md")
    editor.type("<CR>")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("AGENTS.md"), "for the file")
    editor.command("Assent plugins")
    editor.see("No plugins are installed.")
    editor.command("Assent skills")
    editor.see("Assent: skills")
    editor.command("Assent agents")
    editor.see("defined   general-purpose")
    editor.command("Assent mcp")
    editor.see("1 more of this project: withheld until you trust the folder (:Assent trust)")
    assert "theirs" not in editor.look() and "evil" not in editor.look()
    at(editor, "lost ")
    editor.type("d")
    editor.see("disabled")
    editor.type("e")
    editor.until(lambda: "disabled" not in editor.look(), "for the server to be on again")


def test_agents_of_every_source_are_listed_and_a_broken_one_says_why_and_opens(newest: Start, tmp_path: Path) -> None:
    editor = newest()
    for path, header in (
        ("mine.md", "name: mine\ndescription: of the project"),
        ("bad.md", "name: bad"),
        ("other.md", "name: other\ndescription: d\nhandoffs: [mine]"),
    ):
        file = editor.project / ".claude" / "agents" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\n{header}\n---\nx\n")
    open_chat(editor)
    editor.command("Assent agents")
    editor.see("defined   mine", "defined   other", "defined   general-purpose")
    at(editor, "not used  bad.md:1")
    editor.see("has no description, so nobody could know when to use the agent")
    editor.type("<CR>")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("bad.md"), "for the file")


def test_mcp_servers_show_their_era_and_what_their_tools_cost_and_one_is_signed_in_to(
    newest: Start, tmp_path: Path
) -> None:  # T9
    with site(oauth=True) as served:
        web = {"type": "http", "url": f"{served.url}/mcp"}
        settings(tmp_path, mcpServers={"old": entry(), "new": entry(era="modern"), "web": web})
        editor = newest(
            env={"ASSENT_MCP_KEYRING": "off"}, config="vim.ui.open = function(url) vim.g.opened_page = url end\n"
        )
        open_chat(editor)
        editor.command("Assent mcp")
        row(editor, r"^old +connected +9 tools  [1-9]\d* tokens  stdio  legacy  user$")
        row(editor, r"^new +connected +9 tools  [1-9]\d* tokens  stdio  modern  user$")
        row(editor, r"^web +needsAuth +0 tools  http  user$")
        at(editor, "web ")
        editor.see("s sign in", "l tools and log")
        editor.type("s")
        editor.until(lambda: bool(editor.lua("return vim.g.opened_page")), "for the page in the browser")
        with urllib.request.urlopen(editor.lua("return vim.g.opened_page"), timeout=30) as answer:
            assert b"signed in" in answer.read()
        row(editor, r"^web +connected +3 tools  [1-9]\d* tokens  http  \w+  user$")
        at(editor, "old ")
        editor.type("l")
        editor.see("Assent: mcp server", "mcp__old__echo", "plain server started")
        editor.command("Assent mcp")
        editor.until(lambda: editor.nvim.current.buffer.name.endswith("view/mcp"), "for the list of servers")
        at(editor, "new ")
        editor.type("l")
        editor.see("mcp__new__echo")
        assert "mcp__old__echo" not in editor.look(), "one window shows the server that was asked for last"


def test_agents_that_run_are_listed_while_they_run_and_the_one_that_ended_is_marked(  # T7
    newest: Start, model: FakeApi
) -> None:
    sides = ("left", "right")
    model.reply(
        *(tool("Agent", description=f"Look {side}", prompt=f"to the {side}", subagent_type="explore") for side in sides)
    )
    model.reply(text("Looking.", hold("first"), " Seen."))
    model.reply(text("Looking.", hold("second"), " Seen."))
    model.reply(text("Both have looked."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "send two agents")
    editor.type(":Assent agents<CR>")
    editor.see("running   Look left", "running   Look right", "x stop", "b to the background")

    def first() -> str:
        """The side whose agent asked the model first, and so got the first answer."""
        asked = [str(call.body["messages"][0]) for call in model.calls]
        found = [side for words in asked for side in sides if f"to the {side}" in words]
        return found[0] if len(found) == 2 else ""

    editor.until(lambda: bool(first()), "for both agents to ask the model")
    ended, goes_on = (first(), "left" if first() == "right" else "right")
    model.release("first")
    editor.until(
        lambda: bool(re.search(rf"finished  Look {ended}  [1-9]\d* tokens", editor.look())), "for one to be marked"
    )
    editor.see(f"running   Look {goes_on}")
    at(editor, f"Look {goes_on}")
    editor.type("x")
    editor.see(f"stopped   Look {goes_on}")
    model.release("second")


def test_the_conversation_of_an_agent_is_opened_from_the_list_and_grows_while_it_works(  # T7
    start: Start, model: FakeApi
) -> None:
    model.reply(tool("Agent", description="Look around", prompt="Name the files here.", subagent_type="explore"))
    model.reply(tool("Glob", pattern="*.zzz"))
    model.reply(text("There are", hold("rest"), " no such files."))
    model.reply(text("It has looked."))
    editor = start(env=model.env)
    open_chat(editor)
    send(editor, "send an agent")
    editor.type(":Assent agents<CR>")
    editor.see("running   Look around", "<CR> open")
    at(editor, "Look around")
    editor.type("<CR>")
    editor.see("## Task", "Name the files here.", "## explore", "*.zzz", "Look around · running")
    assert "There are no such files." not in editor.look()
    model.release("rest")
    editor.see("There are no such files.", "Look around · finished")
    editor.type("q")
    editor.until(lambda: "## Task" not in editor.look(), "for the agent's conversation to be closed")
    editor.see("It has looked.")
    newest = "local prompt = vim.api.nvim_create_buf(false, true); require('assent.history').go(prompt, -1); "
    newest += "return vim.api.nvim_buf_get_lines(prompt, 0, -1, false)"
    assert editor.nvim.exec_lua(newest) == ["send an agent"], "the agent's task is nothing that the user sent"


def test_a_running_command_goes_to_the_background_and_is_waited_for_again(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="until [ -e go ]; do sleep 0.05; done; echo over"))
    model.reply(text("It goes on."))
    model.reply(text("It has ended."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "wait for it")
    editor.see("Assent asks")
    editor.command("Assent yes")
    editor.until(lambda: "Assent asks" not in editor.look(), "for the answer to count")
    editor.command("Assent agents")
    at(editor, "a turn waits for it")
    editor.type("b")
    editor.until(lambda: "a turn waits for it" not in editor.look(), "for it to go to the background")
    editor.see("It goes on.")
    at(editor, "running   $ until")
    editor.type("f")
    editor.see("a turn waits for it")
    (editor.project / "go").write_text("")
    editor.see("It has ended.")


def test_a_part_of_the_conversation_is_taken_out_of_the_models_view_and_put_back(newest: Start, model: FakeApi) -> None:
    for answer in ("About cats.", "About dogs.", "Less.", "All."):
        model.reply(text(answer))
    editor = newest(env=model.env, config="vim.ui.select = function(items, _, done) done(items[2]) end\n")
    open_chat(editor)
    send(editor, "tell me of cats")
    editor.see("About cats.", "idle")
    send(editor, "tell me of dogs")
    editor.see("About dogs.", "idle")
    editor.command("Assent snip")
    editor.see("out of the model's view", "About cats.")
    said = ("tell me of cats", "About cats.", "tell me of dogs", "About dogs.")
    send(editor, "what is left?")
    editor.see("Less.", "idle")
    seen = [words for words in said if words in str(model.calls[-1].messages)]
    assert seen == ["tell me of dogs", "About dogs."]  # a prompt goes with its answer
    editor.command("Assent! snip")
    editor.see("the model sees it again")
    send(editor, "and now?")
    editor.see("All.", "idle")
    assert all(words in str(model.calls[-1].messages) for words in said)
