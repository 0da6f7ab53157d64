"""The command line: its subcommands, their arguments and their help."""

import argparse
import contextlib
import math
from pathlib import Path
from typing import Any, NoReturn

from assent import __version__

DESCRIPTION = """\
An AI coding agent that lives in your editor as a language server.
It reads and edits your code with tools, and asks before it acts."""

EXAMPLES = """\
examples:
  assent chat                          talk to it here, in the terminal
  assent ask "explain src/app.py"      one answer, then exit (scripts, CI)
  assent serve --stdio                 what an editor runs
  assent acp                           what Zed runs
  assent doctor                        what is installed, what is missing, how to fix it"""


SERVE = """\
The language server. An editor starts it and speaks LSP to it on stdin and stdout.
README.md shows how to set up VS Code, Neovim and others."""

ATTACH = """\
Joins a conversation that a host runs (setting `host`), beside its other windows: everything
is seen in all of them, and the first answer to a question counts. Ctrl-D leaves it running."""

STOP = """\
Interrupts the turn of a conversation that a host runs. What it did stays, and the conversation
can be continued."""

HOST = """\
Starts the host of a folder, unless one runs: the engine that all windows share where the
setting `host` is on. It ends by itself. Programs that connect to it start it this way."""

ACP = """\
The same agent over the Agent Client Protocol, on stdin and stdout.
An editor such as Zed starts it; README.md shows how."""

CHAT = """\
A conversation in the terminal. It asks here before it changes or runs anything.
Ctrl-C stops a running turn; Ctrl-D leaves. The conversation is kept: see --session."""

ASK = """\
One prompt, one answer on stdout, for scripts and CI. Nobody is asked: what would need
a yes is denied, and the model is told, unless settings or --allow permit it.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""

EXPLAIN = """\
What the permission chain would decide, without doing anything. One JSON object a line
on stdin, one answer a line on stdout. For example:
  {"tool": "Bash", "input": {"command": "git push"}, "cwd": "/project", "mode": "default"}"""

SESSIONS = """\
Earlier conversations. `show` and `export` print one as Markdown, or as JSON with --json;
`assent chat --session ID` goes on with it."""

TRACE = """\
A turn as a tree: every model call with its time, tokens, cache share and cost, the tools
it called, and the agents below those. For finding out where time and money went."""

DOCTOR = """\
What is installed, which model answers and with whose key, the sandbox, the settings and
the editors, each with what to do about it. Exit code 1 when something must be fixed."""

PLUGIN = """\
Plugins are folders with commands, skills, agents, hooks or MCP servers. A source is a
folder, the address of a git repository (…#branch), or NAME@MARKETPLACE. What a plugin
would run is shown first, an update as a diff; nothing counts before you said yes."""

HOOKS = """\
Programs and other handlers that run on events: each with its file. `assent hooks test EVENT`
runs those of one event by hand, with an example of its input or the JSON object on stdin."""

IMPORT = """\
What other tools left in this folder and in your home: MCP servers, hooks, rules, skills.
Most of it is read where it lies. MCP servers of other tools are taken over on request."""

MCP = """\
The MCP servers that are configured for this folder, with their state. A server of a project
starts only after you approved it; `list` shows what would run. `test` connects to one.
`serve` is the other direction: an MCP server over stdio with your editor's tools, for other agents."""

DEMO = """\
A scratch project with a typo; the offline model finds it, proposes the edit, asks, and
runs the tests. Needs no key and no network. Without a terminal it answers itself."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the whole usage is a `--help` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Try: {self.prog} --help\n")


def command_line() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="assent",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"assent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    serve = _command(commands, "serve", "the language server; editors start it", SERVE)
    serve.add_argument("--stdio", action="store_true", help="speak LSP on stdin and stdout (the only transport)")
    shared = serve.add_mutually_exclusive_group()
    shared.add_argument("--host", action="store_true", help="share one engine with the other windows of the workspace")
    shared.add_argument("--no-host", action="store_true", help="have an engine of its own, whatever the settings say")
    _model_arguments(serve, offline_only=True)

    host = _command(commands, "host", "start the engine that the windows of a folder share", HOST)
    host.add_argument("folder", help="the workspace")

    acp = _command(commands, "acp", "the agent for editors that speak ACP, such as Zed", ACP)
    _model_arguments(acp, offline_only=True)
    acp.add_argument("--draft", action="store_true", help="speak the draft of protocol 2 to clients that ask for it")

    chat = _command(commands, "chat", "talk to it in the terminal", CHAT)
    _place(chat)
    _model_arguments(chat)
    chat.add_argument("--prompt", action="append", default=[], help="send this first (may be repeated)")
    again = chat.add_mutually_exclusive_group()
    again.add_argument(
        "--session",
        "--resume",
        type=_name,
        metavar="ID",
        help="go on with this session; `latest` takes the newest of this folder",
    )
    again.add_argument("--continue", dest="session", action="store_const", const="latest", help="the same as latest")

    ask = _command(commands, "ask", "one prompt, one answer, no questions asked", ASK)
    ask.add_argument("prompt", nargs="*", help="what to do; `-` reads it from stdin; piped text is added to it")
    _place(ask)
    _model_arguments(ask)
    shape = ask.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the result as one JSON object")
    shape.add_argument("--stream-json", action="store_true", help="print every message as a line of JSON")
    ask.add_argument("--max-turns", type=_count, metavar="N", help="stop after N steps")
    ask.add_argument("--max-budget-usd", type=_amount, metavar="USD", help="stop when this much is spent")
    ask.add_argument("--allow", action="append", default=[], metavar="RULE", help="allow this, e.g. 'Bash(make test)'")
    ask.add_argument("--deny", action="append", default=[], metavar="RULE", help="deny this, whatever else allows it")
    words = "connect the MCP servers of this file too; may be repeated"
    ask.add_argument("--mcp-config", action="append", default=[], type=Path, metavar="FILE", help=words)
    ask.add_argument(
        "--output-schema",
        "--json-schema",
        dest="output_schema",
        type=Path,
        metavar="FILE",
        help="the answer must fit this JSON schema",
    )
    ask.add_argument("--image", action="append", default=[], type=Path, metavar="FILE", help="send this image along")
    ask.add_argument(
        "--input-json", action="store_true", help="read prompts from stdin, a line of JSON and a turn each"
    )
    earlier = ask.add_mutually_exclusive_group()
    earlier.add_argument("--resume", type=_name, metavar="ID", help="go on with this session")
    earlier.add_argument(
        "--continue", dest="continue_latest", action="store_true", help="go on with the newest session of the folder"
    )
    traffic = ask.add_mutually_exclusive_group()
    traffic.add_argument("--record", type=Path, metavar="FILE", help="write the model's traffic to a file (no keys)")
    traffic.add_argument("--replay", type=Path, metavar="FILE", help="answer from such a file, without an endpoint")

    _command(commands, "explain", "what the permission chain would decide", EXPLAIN)

    sessions = _command(commands, "sessions", "list, show, export or delete conversations", SESSIONS)
    actions = ("list", "show", "export", "delete")
    sessions.add_argument("action", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    sessions.add_argument("session", nargs="?", help="a session id, as `assent sessions` lists them")
    sessions.add_argument("--cwd", type=Path, metavar="DIR", help="only those of this folder (default: all)")
    sessions.add_argument("--search", metavar="WORDS", help="only those in which these words were said, and where")
    sessions.add_argument("--json", action="store_true", help="print JSON")

    sessions.add_argument("--live", action="store_true", help="those that run now in hosts, with the asks that wait")

    attach = _command(commands, "attach", "be one more window of a live conversation, here", ATTACH)
    attach.add_argument("session", help="a session id, as `assent sessions --live` lists them")
    stop = _command(commands, "stop", "stop the running turn of a live conversation", STOP)
    stop.add_argument("session", help="a session id, as `assent sessions --live` lists them")

    trace = _command(commands, "trace", "what a turn did: calls, times, tokens, cache", TRACE)
    trace.add_argument(
        "session", nargs="?", default="latest", help="a session id; without one, the newest of the folder"
    )
    _place(trace)
    trace.add_argument("--turn", type=_count, metavar="N", help="this turn (default: the newest)")
    trace.add_argument("--all", action="store_true", help="every turn")
    trace.add_argument("--json", action="store_true", help="print JSON")

    doctor = _command(commands, "doctor", "check the installation and say how to fix it", DOCTOR)
    _place(doctor)
    doctor.add_argument("--json", action="store_true", help="print JSON")

    plugin = _command(commands, "plugin", "install, list, update or remove plugins", PLUGIN)
    actions = ("list", "add", "update", "remove", "enable", "disable", "configure")
    plugin.add_argument("action", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    plugin.add_argument("name", nargs="?", metavar="SOURCE|NAME", help="where from, or which one")
    plugin.add_argument("values", nargs="*", metavar="KEY=VALUE", help="what `configure` sets")
    _place(plugin)
    plugin.add_argument("--yes", action="store_true", help="install without asking")
    plugin.add_argument("--json", action="store_true", help="print JSON")

    hooks = _command(commands, "hooks", "list hooks, or run those of one event", HOOKS)
    hooks.add_argument("action", nargs="?", choices=("list", "test"), default="list", help="what to do (default: list)")
    hooks.add_argument("event", nargs="?", metavar="EVENT", help="such as PreToolUse")
    _place(hooks)
    hooks.add_argument("--json", action="store_true", help="print JSON")

    servers = _command(commands, "mcp", "list, approve, switch or test MCP servers, or sign in to one", MCP)
    steps = ("list", "approve", "enable", "disable", "test", "sign-in", "sign-out", "serve")
    servers.add_argument("action", nargs="?", choices=steps, default="list", help="what to do (default: list)")
    servers.add_argument("name", nargs="?", metavar="NAME", help="which server")
    _place(servers)
    servers.add_argument("--json", action="store_true", help="print JSON")

    imported = _command(commands, "import", "what other tools left, and taking it over", IMPORT)
    _place(imported)
    imported.add_argument("--take", action="append", default=[], metavar="NAME", help="take over this MCP server")
    imported.add_argument("--all", action="store_true", help="take over every MCP server that is offered")
    imported.add_argument("--sessions", action="store_true", help="take over the conversations of Claude Code")
    imported.add_argument("--from", dest="source", type=Path, metavar="DIR", help="where they are (~/.claude/projects)")
    imported.add_argument("--json", action="store_true", help="print JSON")

    demo = _command(commands, "demo", "a conversation on a scratch project, with the offline model", DEMO)
    places = ("terminal", "nvim", "code")
    demo.add_argument("--in", dest="editor", choices=places, default="terminal", help="where (default: terminal)")
    demo.add_argument("--keep", action="store_true", help="leave the scratch project on disk")
    return parser


def _command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name, help=summary, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _amount(text: str) -> float:
    with contextlib.suppress(ValueError):
        if math.isfinite(number := float(text)) and number > 0:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not an amount of more than 0")


def _place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cwd", type=Path, default=None, metavar="DIR", help="the project folder (default: here)")


def _model_arguments(parser: argparse.ArgumentParser, *, offline_only: bool = False) -> None:
    parser.add_argument("--offline", action="store_true", help="use the embedded stand-in model, even with a key")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="append a line of JSON to it for each model call")
    if offline_only:
        return
    parser.add_argument(
        "--model", type=_name, metavar="NAME", help="the model to use, by name or as opus, sonnet, haiku"
    )
    parser.add_argument(
        "--mode",
        choices=("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"),
        metavar="MODE",
        help="the permission mode: default, acceptEdits, plan, dontAsk, bypassPermissions or auto",
    )
