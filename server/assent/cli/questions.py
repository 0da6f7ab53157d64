"""What the server asks of the person at the terminal, one question at a time.

With `answer_for_me` nobody is there: permissions are granted and said aloud, which only the demo's own scratch project
may do; questions are declined.
"""

import asyncio
from pathlib import Path

from assent.cli import render
from assent.cli.terminal import Terminal
from assent.types.blocks import Json


class Questions:
    def __init__(self, terminal: Terminal, cwd: Path, *, answer_for_me: bool) -> None:
        self._terminal = terminal
        self._cwd = cwd
        self._answer_for_me = answer_for_me
        self._speaking = asyncio.Lock()
        self._asked: set[str] = set()  # proposals that an ask has shown

    async def review(self, proposal: Json) -> str | None:
        """Accept or reject an edit that waits for its review only; None when an ask decides about it."""
        if proposal["proposalId"] in self._asked:
            return None
        async with self._speaking:
            for line in render.proposal_diff(proposal, self._terminal.palette, self._cwd):
                self._terminal.line(line)
            verdict = await self._choose("  apply this edit? [y]es  [n]o: ", "y", {"y", "n"})
        return "accept" if verdict == "y" else "reject"

    async def permission(self, ask: Json) -> Json:
        if proposal := ask.get("proposal"):
            self._asked.add(proposal["proposalId"])
        async with self._speaking:
            for line in render.ask_card(ask, self._terminal.palette, self._cwd):
                self._terminal.line(line)
            suggestion: Json | None = next(iter(ask.get("suggestions") or []), None)
            keys = {"y": "yes, once", "n": "no", "r": "no, with a reason"}
            if suggestion is not None:
                keys["s"] = f"yes, for this session: {render.visible(suggestion['rule'])}"
                keys["a"] = f"yes, always in this project: {render.visible(suggestion['rule'])}"
            for key, meaning in keys.items():
                self._say("dim", f"  [{key}] {meaning}")
            answer = await self._choose("  allow? ", "y", set(keys))
            reason = await self._terminal.ask("  why not? ") if answer == "r" else None
        match answer:
            case "y":
                return {"decision": "allow", "scope": "once"}
            case "s" | "a" if suggestion is not None:
                scope = "session" if answer == "s" else "project"
                return {"decision": "allow", "scope": scope, "rule": suggestion["rule"]}
            case _:
                return {"decision": "deny"} | ({"message": reason} if reason else {})

    async def elicit(self, request: Json) -> Json:
        async with self._speaking:
            self._say("yellow", f"? {render.visible(request['message'])}")
            if self._answer_for_me:
                self._say("dim", "  (no terminal: declining to answer)")
                return {"action": "decline"}
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
            return await self._fill(request["schema"])

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

    async def _fill(self, schema: Json) -> Json:
        content: Json = {}
        for name, field in schema.get("properties", {}).items():
            typed = await self._terminal.ask(f"  {render.visible(field.get('title', name))}: ")
            if typed is None:
                return {"action": "cancel"}
            content[name] = _typed(typed, field.get("type", "string"))
        return {"action": "accept", "content": content}

    async def _choose(self, prompt: str, default_for_demo: str, keys: set[str]) -> str:
        if self._answer_for_me:
            self._say("dim", f"{prompt}{default_for_demo}   (no terminal: answering for you)")
            return default_for_demo
        while True:
            typed = await self._terminal.ask(prompt)
            if typed is None:
                return "n"
            if typed.strip().lower()[:1] in keys:
                return typed.strip().lower()[:1]

    def _say(self, style: str, text: str) -> None:
        self._terminal.line(self._terminal.palette.paint(style, text))


def _typed(text: str, kind: str) -> object:
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return text.strip().lower() in {"y", "yes", "true", "1"}
            case _:
                return text
    except ValueError:
        return text
