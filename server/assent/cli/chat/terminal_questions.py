"""What the server asks of the person at the terminal, one question at a time.

With `answer_for_me` nobody is there: permissions are granted and said aloud, which only the demo's own scratch project
may do; questions are declined.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from assent.cli.chat import render, terminal_form
from assent.cli.chat.terminal import LeftPrompt, Terminal
from assent.types.blocks import Json


class Questions:
    def __init__(
        self, terminal: Terminal, cwd: Path, *, answer_for_me: bool, interrupt: Callable[[], None] = lambda: None
    ) -> None:
        self._terminal = terminal
        self._cwd = cwd
        self._answer_for_me = answer_for_me
        self._interrupt = interrupt
        self._speaking = asyncio.Lock()

    async def review(self, proposal: Json) -> Json | list[Json]:
        """The decisions on an edit that waits for its review only. Ctrl-C is a no, and stops the turn."""
        try:
            return await self._review(proposal)
        except LeftPrompt:
            self._interrupt()
            return {"all": "reject"}

    async def permission(self, ask: Json) -> Json:
        """The answer to an ask. Ctrl-C is a no, and stops the turn."""
        try:
            return await self._permission(ask)
        except LeftPrompt:
            self._say("yellow", "stopping…")
            return {"decision": "deny", "interrupt": True}

    async def _review(self, proposal: Json) -> Json | list[Json]:
        async with self._speaking:
            for line in render.proposal_diff(proposal, self._terminal.palette, self._cwd):
                self._terminal.line(line)
            keys = {"y": "yes", "n": "no"} | self._hunk_keys(proposal)
            self._list(keys)
            match await self._choose("  apply this edit? ", "y", set(keys)):
                case "y":
                    return {"all": "accept"}
                case "h" | "e":
                    return await self._by_hunk(proposal)
                case _:
                    return {"all": "reject"}

    async def _permission(self, ask: Json) -> Json:
        async with self._speaking:
            for line in render.ask_card(ask, self._terminal.palette, self._cwd):
                self._terminal.line(line)
            suggestion: Json | None = next(iter(ask.get("suggestions") or []), None)
            keys = {"y": "yes, once", "n": "no", "r": "no, with a reason"}
            if proposal := ask.get("proposal"):
                keys |= self._hunk_keys(proposal)
            if suggestion is not None:
                named = render.visible(suggestion.get("display") or suggestion["rule"])
                keys["s"] = f"yes, for this session: {named}"
                keys["a"] = f"yes, always in this project: {named}"
            self._list(keys)
            answer = await self._choose("  allow? ", "y", set(keys))
            hunks = await self._by_hunk(proposal) if proposal and answer in "he" else []
            reason = await self._terminal.ask("  why not? ") if answer == "r" else None
        match answer:
            case "y":
                return {"decision": "allow", "scope": "once"}
            case "s" | "a" if suggestion is not None:
                scope = "session" if answer == "s" else "project"
                return {"decision": "allow", "scope": scope, "rules": suggestion.get("rules") or [suggestion["rule"]]}
            case "h" | "e" if any(hunk["decision"] != "reject" for hunk in hunks):
                return {"decision": "allow", "scope": "once", "hunks": hunks}
            case _:
                return {"decision": "deny"} | ({"message": reason} if reason else {})

    def _hunk_keys(self, proposal: Json) -> dict[str, str]:
        if len(proposal["hunks"]) > 1:
            return {"h": "hunk by hunk"}
        return {"e": "edit it first"} if self._terminal.editor is not None else {}

    async def _by_hunk(self, proposal: Json) -> list[Json]:
        """One decision a hunk. Whoever stops in the middle has decided on nothing that follows: it is not accepted."""
        decided: list[Json] = []
        hunks = proposal["hunks"]
        can_edit = self._terminal.editor is not None
        for number, hunk in enumerate(hunks, start=1):
            if len(hunks) > 1:
                for line in render.hunk_diff(hunk, self._terminal.palette):
                    self._terminal.line(line)
                offered = "[y]es  [n]o" + ("  [e]dit" if can_edit else "")
                words = f"  hunk {number} of {len(hunks)}: {offered}: "
                answer = await self._choose(words, "y", {"y", "n", *("e" if can_edit else "")})
            else:
                answer = "e"
            row: Json = {"hunkId": hunk["hunkId"], "decision": "accept" if answer == "y" else "reject"}
            if answer == "e":
                self._say("dim", "  change the new lines; Ctrl-S or Alt-Enter takes them, Ctrl-C gives up")
                changed = await self._changed(hunk["newText"])
                if changed is not None:
                    row |= {"decision": "edit", "newText": changed}
            decided.append(row)
        return decided

    async def _changed(self, text: str) -> str | None:
        try:
            changed = await self._terminal.edit("", text.removesuffix("\n"))
        except LeftPrompt:
            return None
        return None if changed is None else changed + ("\n" if text.endswith("\n") else "")

    def _list(self, keys: dict[str, str]) -> None:
        for key, meaning in keys.items():
            self._say("dim", f"  [{key}] {meaning}")

    async def elicit(self, request: Json) -> Json:
        try:
            return await self._elicit(request)
        except LeftPrompt:
            self._interrupt()
            return {"action": "cancel"}

    async def _elicit(self, request: Json) -> Json:
        async with self._speaking:
            self._say("yellow", f"? {render.visible(request['message'])}")
            if self._answer_for_me:
                self._say("dim", "  (no terminal: declining to answer)")
                return {"action": "decline"}
            self._terminal.forget_typed()
            if questions := request.get("questions"):
                answers: Json = {}
                for question in questions:
                    if question["question"] != request["message"]:  # which a single question is
                        self._terminal.line(f"  {render.visible(question['question'])}")
                    answers[question["id"]] = await self._pick(question)
                return {"action": "accept", "content": {"answers": answers}}
            if request.get("url"):
                self._terminal.line(f"  open {render.visible(request['url'])}")
                done = await self._choose("  done? [y]es  [n]o: ", "y", {"y", "n"})
                return {"action": "accept" if done == "y" else "decline"}
            return await terminal_form.fill(self._terminal, request["schema"], request.get("problems") or {})

    async def _pick(self, question: Json) -> list[str]:
        options = question["options"]
        for number, option in enumerate(options, start=1):
            detail = f" — {render.visible(option['description'])}" if option.get("description") else ""
            self._terminal.line(f"    {number}. {render.visible(option['label'])}{detail}")
        hint = "numbers, with commas" if question.get("multiSelect") else "a number"
        while True:
            typed = await self._terminal.ask(f"  {hint}: ")
            picked = [int(part) for part in (typed or "").replace(",", " ").split() if part.isdigit()]
            labels = [options[number - 1]["label"] for number in picked if 1 <= number <= len(options)]
            if labels:
                return labels if question.get("multiSelect") else labels[:1]
            if typed is None:
                return []

    async def _choose(self, prompt: str, default_for_demo: str, keys: set[str]) -> str:
        if self._answer_for_me:
            self._say("dim", f"{prompt}{default_for_demo}   (no terminal: answering for you)")
            return default_for_demo
        self._terminal.forget_typed()
        return await self._terminal.key(prompt, keys) or "n"

    def _say(self, style: str, text: str) -> None:
        self._terminal.line(self._terminal.palette.paint(style, text))
