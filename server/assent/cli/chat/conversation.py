"""`assent chat`: the whole product in a terminal, over the same wire an editor uses.

It shows, asks and answers; it decides nothing. Ctrl-C stops the running turn; at the prompt it empties the line, and
with nothing typed it leaves.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from assent.cli.chat import render
from assent.cli.chat.terminal import LeftPrompt, Terminal
from assent.cli.chat.terminal_questions import Questions
from assent.cli.preflight import UsageError, check_settings, project_folder
from assent.cli.server_process import HostConnection, ServerProcess
from assent.host.place import HostPlace
from assent.storage import paths
from assent.text.words import nearly_full
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

if TYPE_CHECKING:
    from assent.cli.chat.markdown import MarkdownStream

HELP = "Type a request, or /help for commands. Ctrl-C stops a running turn, Ctrl-D leaves."
KEYS = "Tab completes @files and /commands, Alt-Enter is a new line, Ctrl-R searches what you typed before."
LEAVE = ("/exit", "/quit")
NO_KEY = "No key was found, so the offline stand-in answers. `assent doctor` says how to use a real model."


def run(
    *,
    cwd: Path | None,
    prompts: list[str],
    model: str | None = None,
    mode: str | None = None,
    session: str | None = None,
    offline: bool = False,
    trace: Path | None = None,
    answer_for_me: bool = False,
    host: HostPlace | None = None,
) -> int:
    """`host`: be one more window of this one."""
    terminal = Terminal()
    if not terminal.interactive and not answer_for_me:
        raise UsageError('chat needs a terminal to ask you in. Without one, use: assent ask "…"')
    folder = project_folder(cwd)
    check_settings(folder)
    chat = Chat(terminal, folder, answer_for_me=answer_for_me)
    words = [*(["--offline"] if offline else []), *(["--trace", str(trace)] if trace else [])]
    server = ServerProcess(arguments=words) if host is None else HostConnection(host)
    return asyncio.run(chat.talk(server, prompts, model=model, mode=mode, session=session, offline=offline))


class Chat:
    def __init__(self, terminal: Terminal, cwd: Path, *, answer_for_me: bool) -> None:
        self._terminal = terminal
        self._cwd = cwd
        self._questions = Questions(terminal, cwd, answer_for_me=answer_for_me, interrupt=self._interrupt)
        self._session = ""
        self._offline = False
        self._streamed = False  # whether the open answer's text has been shown as deltas
        self._said = ""  # the text of the answer that was shown last
        self._last: Json | None = None
        self._markdown: MarkdownStream | None = None
        self._facts: Json = {}  # model, mode, cost and context, as the server said them last
        self._reviews: set[asyncio.Task[None]] = set()
        self._turn: asyncio.Task[Json] | None = None
        self._proposals: dict[str, Json] = {}
        self._ended_by = signal.SIGINT
        self._preparing: asyncio.Task[None] | None = None

    async def talk(
        self,
        server: ServerProcess | HostConnection,
        prompts: list[str],
        *,
        model: str | None,
        mode: str | None,
        session: str | None,
        offline: bool,
    ) -> int:
        server.on_request("assent/permission/ask", self._questions.permission)
        server.on_request("assent/elicit", self._questions.elicit)
        server.on_notification("assent/session/event", self._event)
        await server.start()
        self._server = server
        try:
            if self._terminal.capable:
                self._preparing = asyncio.create_task(asyncio.to_thread(self._prepare))
            await self._open(model=model, mode=mode, session=session)
            await self._prepared()
            if self._offline and not offline:
                self._say("yellow", self._terminal.wrapped(NO_KEY))
            if self._terminal.interactive:
                self._say("dim", self._terminal.wrapped(HELP))
                if self._terminal.editor is not None:
                    self._say("dim", self._terminal.wrapped(KEYS))
            self._watch_signals()
            await self._converse(prompts)
        except ProtocolError as error:
            self._say("red", f"assent: {error}" + (f" — {error.hint}" if error.hint else ""))
            return 1
        except (asyncio.CancelledError, LeftPrompt):
            return 128 + self._ended_by
        finally:
            await server.stop()
        if self._terminal.interactive:
            return 0  # the person saw how each turn ended, and left when they wanted to
        return 1 if self._last and self._last["isError"] else 0

    async def _prepared(self) -> None:
        if self._preparing is not None:
            await self._preparing

    def _prepare(self) -> None:
        """What only a real terminal needs, loaded while the server starts."""
        from assent.cli.chat.line_editor import LineEditor
        from assent.cli.chat.markdown import MarkdownStream

        self._terminal.editor = LineEditor(paths.data_dir() / "chat-history", self._complete, self._status_line)
        if self._terminal.palette.colour:
            self._markdown = MarkdownStream(lambda: self._terminal.width)

    async def _complete(self, text: str, offset: int) -> list[Json]:
        try:
            wanted = {"sessionId": self._session, "text": text, "offset": offset}
            answer = await self._server.request("assent/complete", wanted)
        except ProtocolError:
            return []
        return answer["items"]

    def _status_line(self) -> str:
        return render.status_line(self._facts)

    async def _open(self, *, model: str | None, mode: str | None, session: str | None) -> None:
        root = self._cwd.as_uri()
        client = {"permissions": True, "elicitation": True, "review": True, "partials": True}
        await self._server.request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "assent-chat"},
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": self._cwd.name}],
                "capabilities": {},
                "initializationOptions": {"assent": {"client": client}},
            },
        )
        self._server.notify("initialized", {})
        if session is not None:
            await self._resume(session, model)
            return
        wanted = {"cwd": str(self._cwd)} | ({"mode": mode} if mode is not None else {})
        opened = await self._server.request("assent/session/new", wanted)
        self._session = opened["sessionId"]
        await self._opened(opened, model)

    async def _resume(self, session: str, model: str | None) -> None:
        if session == "latest":
            listed = await self._server.request("assent/session/list", {"cwd": str(self._cwd)})
            if not listed["sessions"]:
                raise ProtocolError("unknownSession", "there is no conversation in this folder yet", hint="assent chat")
            session = listed["sessions"][0]["sessionId"]
        attached = await self._server.request("assent/session/attach", {"sessionId": session})
        self._session = session
        await self._prepared()
        for message in attached["messages"]:
            if not message.get("meta"):
                self._show_earlier(message)
        await self._opened(attached, model)

    async def _opened(self, session: Json, model: str | None) -> None:
        name = str(session["model"])
        if model is not None:  # asked for by name: refused without a key, where a new session would get the stand-in
            wanted = {"sessionId": self._session, "model": model}
            name = str((await self._server.request("assent/session/configure", wanted))["model"])
        self._offline = name == "offline"
        self._facts |= {"model": name, "mode": session["mode"]}
        self._say("dim", f"session {self._session} · model {name} · mode {session['mode']} · {self._cwd}")

    async def _converse(self, prompts: list[str]) -> None:
        waiting = list(prompts)
        while True:
            if waiting:
                prompt = waiting.pop(0)
                self._say("bold", f"{self._terminal.mark}{prompt}")
            elif not self._terminal.interactive:
                return
            else:
                typed = await self._terminal.prompt(self._terminal.palette.paint("bold", self._terminal.mark))
                if typed is None:
                    return
                prompt = typed.strip()
                if not prompt:
                    continue
                if prompt in LEAVE:
                    return
            self._said = ""
            self._turn = asyncio.create_task(self._send(prompt))
            try:
                answer = await self._turn
            finally:
                self._turn = None
            self._finish_text()
            result = self._last = answer["result"]
            refused = result["isError"] and result["result"] != self._said
            if refused or result["numTurns"]:  # a command answered at once needs no summary
                self._terminal.line(render.result_line(result, self._terminal.palette, said=self._said))

    async def _send(self, prompt: str) -> Json:
        return await self._server.request(
            "assent/session/send", {"sessionId": self._session, "prompt": prompt, "wait": True}
        )

    def _watch_signals(self) -> None:
        """A closed window and `kill` end the conversation as Ctrl-C at the prompt does: the server stops properly."""
        loop, talking = asyncio.get_running_loop(), asyncio.current_task()
        assert talking is not None

        def leave(number: signal.Signals) -> None:
            self._ended_by = number
            talking.cancel()

        def interrupt() -> None:
            if self._turn is None:
                self._terminal.line()
                leave(signal.SIGINT)
            else:
                self._interrupt()

        loop.add_signal_handler(signal.SIGINT, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, leave, number)

    def _interrupt(self) -> None:
        self._say("yellow", "stopping…")
        task = asyncio.create_task(self._stop_turn())
        self._reviews.add(task)
        task.add_done_callback(self._reviews.discard)

    async def _stop_turn(self) -> None:
        await self._server.request("assent/session/interrupt", {"sessionId": self._session})

    # --- what the server tells ---------------------------------------------------------------------------------------

    def _event(self, params: Json) -> None:
        event = params["event"]
        match event["type"]:
            case "textDelta":
                self._streamed = True
                self._stream(event["text"])
            case "message":
                if not event.get("meta") and event["role"] == "assistant":
                    self._show_message(event)
            case "toolStarted":
                self._say("blue", f"● {render.visible(render.call_title(event))}")
            case "toolFinished":
                for line in render.tool_lines(event, self._terminal.palette):
                    self._terminal.line(line)
            case "retrying":
                self._finish_text()  # what came of the answer is given up; the next one begins anew
                wait = event["delayMs"] / 1000
                self._say("yellow", f"… retry {event['attempt']} of {event['maxAttempts']} in {wait:.0f} s")
            case "compactSoon":
                self._say("dim", f"… {render.visible(nearly_full(event))}")
            case "compacting":
                self._say("dim", "… making room: summarising the conversation")
            case "notice":
                self._say("yellow" if event["level"] != "info" else "dim", render.visible(event["text"]))
            case "hook":
                if line := render.hook_line(event, self._terminal.palette):
                    self._terminal.line(line)
                if self._terminal.interactive:
                    self._terminal.stream(event.get("terminalSequence") or "")
            case "todos":
                for item in event["items"]:
                    mark = {"completed": "☑", "in_progress": "▸"}.get(item["status"], "☐")
                    self._terminal.line(f"  {mark} {render.visible(item['content'])}")
            case "editProposed":
                self._proposals[event["proposal"]["proposalId"]] = event["proposal"]
            case "reviewPending":
                self._watch_review(self._proposals[event["proposalId"]])
            case "status":
                self._facts |= {key: event[key] for key in ("model", "mode") if event.get(key)}
            case "usage":
                self._facts |= {key: event[key] for key in ("contextTokens", "contextWindow", "totalCostUsd")}
            case _:
                pass

    def _show_message(self, message: Json) -> None:
        text = "".join(block.get("text", "") for block in message["content"] if block.get("type") == "text")
        if text and not self._streamed:
            self._stream(text)
            self._streamed = True
        self._said = text or self._said
        self._finish_text()

    def _show_earlier(self, message: Json) -> None:
        if message["role"] == "assistant":
            self._show_message(message)
        elif prompt := "".join(block.get("text", "") for block in message["content"] if block.get("type") == "text"):
            self._say("bold", f"{self._terminal.mark}{render.readable(prompt)}")

    def _finish_text(self) -> None:
        """The open answer is whole, or nothing more of it comes."""
        if self._markdown is not None:
            self._terminal.stream(self._markdown.finish())
        elif self._streamed:
            self._terminal.line()
        self._streamed = False

    def _stream(self, text: str) -> None:
        self._terminal.stream(self._markdown.add(text) if self._markdown is not None else render.visible(text))

    def _watch_review(self, proposal: Json) -> None:
        """An edit that a rule allowed, and that waits for its review all the same."""
        task = asyncio.create_task(self._review(proposal))
        self._reviews.add(task)
        task.add_done_callback(self._reviews.discard)

    async def _review(self, proposal: Json) -> None:
        decisions = await self._questions.review(proposal)
        await self._server.request(
            "assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": decisions}
        )

    def _say(self, style: str, text: str) -> None:
        self._terminal.line(self._terminal.palette.paint(style, text))
