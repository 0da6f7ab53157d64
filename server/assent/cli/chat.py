"""`assent chat`: the whole product in a terminal, over the same wire an editor uses.

It shows, asks and answers; it decides nothing. Ctrl-C stops the running turn; at the prompt it leaves.
"""

import asyncio
import os
import signal
from pathlib import Path

from assent.cli import render
from assent.cli.preflight import UsageError, check_settings, project_folder
from assent.cli.questions import Questions
from assent.cli.server_process import ServerProcess
from assent.cli.terminal import Terminal
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

HELP = "Type a request, or /help for commands. Ctrl-C stops a running turn, Ctrl-D leaves."
NO_KEY = "No key was found, so the offline stand-in answers. `assent doctor` says how to use a real model."


def run(
    *,
    cwd: Path | None,
    prompts: list[str],
    model: str | None = None,
    mode: str | None = None,
    session: str | None = None,
    offline: bool = False,
    answer_for_me: bool = False,
) -> int:
    terminal = Terminal()
    if not terminal.interactive and not answer_for_me:
        raise UsageError('chat needs a terminal to ask you in. Without one, use: assent ask "…"')
    folder = project_folder(cwd)
    check_settings(folder)
    chat = Chat(terminal, folder, answer_for_me=answer_for_me)
    return asyncio.run(chat.talk(prompts, model=model, mode=mode, session=session, offline=offline))


class Chat:
    def __init__(self, terminal: Terminal, cwd: Path, *, answer_for_me: bool) -> None:
        self._terminal = terminal
        self._cwd = cwd
        self._questions = Questions(terminal, cwd, answer_for_me=answer_for_me)
        self._session = ""
        self._offline = False
        self._streamed = False  # whether the open answer's text has been shown as deltas
        self._last: Json | None = None
        self._reviews: set[asyncio.Task[None]] = set()
        self._turn: asyncio.Task[Json] | None = None

    async def talk(
        self, prompts: list[str], *, model: str | None, mode: str | None, session: str | None, offline: bool
    ) -> int:
        server = ServerProcess(arguments=["--offline"] if offline else [])
        server.on_request("assent/permission/ask", self._questions.permission)
        server.on_request("assent/elicit", self._questions.elicit)
        server.on_notification("assent/session/event", self._event)
        await server.start()
        self._server = server
        try:
            await self._open(model=model, mode=mode, session=session)
            if self._offline and not offline:
                self._say("yellow", NO_KEY)
            if self._terminal.interactive:
                self._say("dim", HELP)
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
            await self._converse(prompts)
        except ProtocolError as error:
            self._say("red", f"assent: {error}" + (f" — {error.hint}" if error.hint else ""))
            return 1
        except asyncio.CancelledError:
            return 130
        finally:
            await server.stop()
        if self._terminal.interactive:
            return 0  # the person saw how each turn ended, and left when they wanted to
        return 1 if self._last and self._last["isError"] else 0

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
        for message in attached["messages"]:
            if not message.get("meta"):
                self._show_message(message)
        await self._opened(attached, model)

    async def _opened(self, session: Json, model: str | None) -> None:
        name = str(session["model"])
        if model is not None:  # asked for by name: refused without a key, where a new session would get the stand-in
            await self._server.request("assent/session/configure", {"sessionId": self._session, "model": model})
            name = model
        self._offline = name == "offline"
        self._say("dim", f"session {self._session} · model {name} · mode {session['mode']} · {self._cwd}")

    async def _converse(self, prompts: list[str]) -> None:
        waiting = list(prompts)
        while True:
            if waiting:
                prompt = waiting.pop(0)
                self._say("bold", f"> {prompt}")
            elif not self._terminal.interactive:
                return
            else:
                typed = await self._terminal.ask(self._terminal.palette.paint("bold", "> "))
                if typed is None:
                    return
                prompt = typed.strip()
                if not prompt:
                    continue
            self._turn = asyncio.create_task(self._send(prompt))
            try:
                answer = await self._turn
            finally:
                self._turn = None
            result = self._last = answer["result"]
            if result["isError"] or result["numTurns"]:  # a command answered at once needs no summary
                self._terminal.line(render.result_line(result, self._terminal.palette))

    async def _send(self, prompt: str) -> Json:
        return await self._server.request(
            "assent/session/send", {"sessionId": self._session, "prompt": prompt, "wait": True}
        )

    def _interrupt(self) -> None:
        if self._turn is None:
            self._terminal.line()
            for task in asyncio.all_tasks():
                task.cancel()
            return
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
                self._terminal.stream(render.visible(event["text"]))
            case "message":
                if not event.get("meta") and event["role"] == "assistant":
                    self._show_message(event)
            case "toolStarted":
                self._say("blue", f"● {render.visible(render.call_title(event))}")
            case "toolFinished":
                for line in render.tool_lines(event, self._terminal.palette):
                    self._terminal.line(line)
            case "retrying":
                wait = event["delayMs"] / 1000
                self._say("yellow", f"… retry {event['attempt']} of {event['maxAttempts']} in {wait:.0f} s")
            case "compacting":
                self._say("dim", "… making room: summarising the conversation")
            case "notice":
                self._say("yellow" if event["level"] != "info" else "dim", render.visible(event["text"]))
            case "todos":
                for item in event["items"]:
                    mark = {"completed": "☑", "in_progress": "▸"}.get(item["status"], "☐")
                    self._terminal.line(f"  {mark} {render.visible(item['content'])}")
            case "editProposed":
                self._watch_review(event["proposal"])
            case _:
                pass

    def _show_message(self, message: Json) -> None:
        text = "".join(block.get("text", "") for block in message["content"] if block.get("type") == "text")
        if text and not self._streamed:
            self._terminal.line(render.visible(text))
        elif self._streamed:
            self._terminal.line()
        self._streamed = False

    def _watch_review(self, proposal: Json) -> None:
        """An edit allowed by a rule still waits for its review; one that is asked about is decided by the ask."""
        task = asyncio.create_task(self._review(proposal))
        self._reviews.add(task)
        task.add_done_callback(self._reviews.discard)

    async def _review(self, proposal: Json) -> None:
        await asyncio.sleep(0.2)  # an ask for the same edit follows at once, if there is one
        choice = await self._questions.review(proposal)
        if choice is not None:
            await self._server.request(
                "assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": {"all": choice}}
            )

    def _say(self, style: str, text: str) -> None:
        self._terminal.line(self._terminal.palette.paint(style, text))
