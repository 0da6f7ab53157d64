"""The program: which subcommand runs, and how it fails. Every subcommand loads only what it needs.

Exit codes: 0 ok, 1 the turn failed, 2 wrong usage, 130 interrupted.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.cli.arguments import command_line
from assent.cli.preflight import UsageError
from assent.types.errors import AssentError, ProtocolError
from assent.types.programs import keep_out

if TYPE_CHECKING:
    from assent.lsp.early import Opening


def run(arguments: Sequence[str], *, opening: "Opening | None" = None) -> int:
    """`opening`: the language server has begun, and its `initialize` may have been answered already."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    keep_out()
    _write_anything()
    try:
        code = _run(options, opening)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _write_nowhere()
        return 1
    except AssentError as error:
        hint = error.hint if isinstance(error, ProtocolError) else ""
        _complain(f"{error}{f' — {hint}' if hint else ''}")
        return 2 if isinstance(error, UsageError) else 1
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _complain(f"{error.strerror or error}{where}. `assent doctor` shows what is wrong.")
        _write_nowhere()
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as bug:
        if os.environ.get("ASSENT_DEBUG"):
            raise
        _complain(f"a bug: {type(bug).__name__}: {bug}. ASSENT_DEBUG=1 shows where.")
        return 1


def _complain(words: str) -> None:
    """On stderr. Messages quote names and files of others, which must not steer the terminal."""
    from assent.text.visible import visible

    print(f"assent: {visible(words)}", file=sys.stderr)


def _write_nowhere() -> None:
    """Nobody takes what we print. Python flushes stdout once more at its end and must not trip over it there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_anything() -> None:
    """A terminal that cannot show a character gets a question mark in its place: a `✓` is not worth failing for."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(options: argparse.Namespace, opening: "Opening | None") -> int:
    match options.command:
        case "serve":
            from assent.cli import serve

            return serve.run(opening, offline=options.offline, trace=options.trace)
        case "host":
            from assent.cli import serve

            return serve.start_host(options.folder)
        case "acp":
            from assent.cli import acp

            return acp.run(offline=options.offline, trace=options.trace, draft=options.draft)
        case "chat":
            from assent.cli.chat import conversation as chat

            return chat.run(
                cwd=options.cwd,
                prompts=options.prompt,
                model=options.model,
                mode=options.mode,
                session=options.session,
                offline=options.offline,
                trace=options.trace,
            )
        case "ask":
            from assent.cli import ask

            return ask.run(
                ask.Wanted(
                    prompt=" ".join(options.prompt),
                    cwd=options.cwd,
                    output="stream-json" if options.stream_json else "json" if options.json else "text",
                    input_json=options.input_json,
                    model=options.model,
                    mode=options.mode,
                    max_turns=options.max_turns,
                    max_budget_usd=options.max_budget_usd,
                    allow=options.allow,
                    deny=options.deny,
                    servers=options.mcp_config,
                    schema=options.output_schema,
                    images=options.image,
                    resume=options.resume,
                    continue_latest=options.continue_latest,
                    record=options.record,
                    trace=options.trace,
                    replay=options.replay,
                    offline=options.offline,
                )
            )
        case "explain":
            from assent.cli import explain

            return explain.run(sys.stdin, sys.stdout)
        case "sessions":
            from assent.cli import sessions

            if options.live:
                from assent.cli import live

                return live.show(json_output=options.json)
            return sessions.run(
                action=options.action,
                session=options.session,
                cwd=options.cwd,
                json_output=options.json,
                search=options.search,
            )
        case "attach" | "stop":
            from assent.cli import live

            return live.attach(options.session) if options.command == "attach" else live.stop(options.session)
        case "trace":
            from assent.cli import trace

            return trace.run(
                options.session, cwd=options.cwd, turn=options.turn, everything=options.all, json_output=options.json
            )
        case "doctor":
            from assent.cli import doctor

            return doctor.run(cwd=options.cwd, json_output=options.json)
        case "plugin":
            from assent.cli import plugin

            return plugin.run(
                action=options.action,
                name=options.name,
                cwd=options.cwd,
                yes=options.yes,
                json_output=options.json,
                values=options.values,
            )
        case "hooks":
            from assent.cli import hooks

            return hooks.run(options.action, options.event, cwd=options.cwd, json_output=options.json)
        case "mcp":
            from assent.cli import mcp

            return mcp.run(action=options.action, name=options.name, cwd=options.cwd, json_output=options.json)
        case "import":
            from assent.cli import import_

            if options.sessions:
                return import_.run_sessions(folder=options.source, json_output=options.json)
            return import_.run(cwd=options.cwd, take=options.take, everything=options.all, json_output=options.json)
        case "demo":
            from assent.cli import demo

            return demo.run(editor=options.editor, keep=options.keep)
        case _:
            raise AssertionError(options.command)
