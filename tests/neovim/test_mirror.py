"""The plugin's copy of the wire's names, held against the server's own."""

import re
from pathlib import Path

from assent.lsp.action_prompts import ACTIONS
from assent.wire.schema import schema

LUA = Path(__file__).parents[2] / "editors" / "neovim" / "lua" / "assent"
WIRE = schema()


def _strings(name: str) -> list[str]:
    """The strings of one table in protocol.lua."""
    found = re.search(
        rf"^M\.{name} = \{{(.*?)^\}}|^M\.{name} = \{{(.*?)\}}$", (LUA / "protocol.lua").read_text(), re.S | re.M
    )
    assert found is not None, name
    return re.findall(r'"([^"]+)"', found[1] or found[2])


def test_every_event_that_is_drawn_is_listed() -> None:
    listed = set(_strings("events"))
    for name in ("drawing.lua", "session.lua"):
        drawn = set(re.findall(r"^  (\w+) = function\(", (LUA / name).read_text(), re.M))
        assert drawn & set(WIRE["events"]) <= listed


def test_the_plugin_says_which_protocol_it_speaks() -> None:
    assert f"M.version = {WIRE['protocol']}" in (LUA / "protocol.lua").read_text()
    assert _strings("modes") == ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"]


def test_the_actions_offered_before_the_server_runs_are_those_of_the_server() -> None:
    offered = re.findall(r'\{ name = "(.*?)", title = "(.*?)", kind = "(.*?)" \}', (LUA / "offers.lua").read_text())
    assert offered == [(name, action.title, action.kind) for name, action in ACTIONS.items()]
