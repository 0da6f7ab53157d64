"""One change while people decide on it: a proposal for each of its files.

An ask shows the first file, and its reply decides that one. The others are proposed along with it, so that they can be
looked at before anyone answers, and wait for their own hunks like any edit that needs no asking.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from assent.editor.proposals import Proposals
from assent.sessions.asking.ask_answers import AskAnswer
from assent.sessions.asking.asks import Asks, OpenQuestion
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

DECIDED_STATES = frozenset({"accepted", "edited", "landed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedChange:
    proposals: Proposals
    shown: Json  # the first file's proposal, as the ask carries it
    others: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.shown["proposalId"], *self.others)

    @property
    def empty(self) -> bool:
        """An empty new file: there are no hunks to review, only a permission to give."""
        return not any(self.proposals.get(each)["hunks"] for each in self.ids)

    @property
    def landed(self) -> bool:
        """Whether anything of it was accepted, in any file."""
        return any(hunk["state"] in DECIDED_STATES for each in self.ids for hunk in self.proposals.get(each)["hunks"])

    @asynccontextmanager
    async def deciding(self, asks: Asks, question: OpenQuestion) -> AsyncGenerator[None]:
        """One edit, one decision: while the ask is waited for, the review of the last hunk shown withdraws it."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._withdraw_when_reviewed, asks, question.id)
            yield
            group.cancel_scope.cancel()

    async def carry_out(self, answer: AskAnswer) -> str:
        """Land what an ask's reply allows, reject the rest. Empty, or why the reply could not be applied."""
        decisions: list[Json] | Json = {"all": "accept"} if answer.hunks is None else answer.hunks
        try:
            await self.proposals.resolve(self.ids[0], decisions, message=answer.message, unnamed="reject")
        except ProtocolError as error:
            self.withdraw()
            return f"The user's answer could not be applied: {error}"
        return ""

    async def wait(self) -> None:
        """Until every file is decided."""
        for each in self.ids:
            await self.proposals.wait(each)

    def pending(self) -> list[Json]:
        """The edits under review, as `reviewPending` lists them: one entry per file."""
        proposals = [self.proposals.get(each) for each in self.ids]
        waiting = [
            {
                "proposalId": proposal["proposalId"],
                "toolUseId": proposal["toolUseId"],
                "hunks": [hunk["hunkId"] for hunk in proposal["hunks"] if hunk["state"] == "pending"],
            }
            for proposal in proposals
        ]
        return [each for each in waiting if each["hunks"]]

    def withdraw(self, message: str = "") -> None:
        for each in self.ids:
            self.proposals.withdraw(each, message=message if each == self.ids[0] else "")

    def words(self) -> str:
        """The outcome of every file, for a model that has not read any of it."""
        return "\n".join(self.proposals.outcome(each)[0] for each in self.ids)

    def refusal(self) -> str:
        if self.others:
            return self.words()
        return self.proposals.report(self.ids[0]) or "The user rejected the whole edit."

    async def _withdraw_when_reviewed(self, asks: Asks, ask_id: str) -> None:
        await self.proposals.wait(self.ids[0])
        asks.withdraw(ask_id, by="review")
