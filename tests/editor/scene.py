"""One file, one editor, one agent: the stage most tests here need."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from assent.editor.editor import Editor
from assent.editor.news import ProposalEvent
from assent.editor.proposal import EditOrigin, Review
from assent.text.positions import Encoding
from assent.types.ports import EditPlan, FileText
from fakeeditor import VSCODE, FakeClock, FakeEditor, Habits, MemoryDisk

PATH, URI = "/home/me/a.py", "file:///home/me/a.py"
Json = dict[str, Any]


class Scene:
    def __init__(
        self,
        text: str | None = None,
        *,
        habits: Habits = VSCODE,
        opened: bool = True,
        encoding: Encoding = "utf-16",
        client: type[FakeEditor] = FakeEditor,
    ) -> None:
        self.clock = FakeClock()
        self.client = client(habits, encoding=encoding)
        self.disk = MemoryDisk({} if text is None else {PATH: text})
        self.snapshots: list[tuple[str, str, FileText | None]] = []
        self.editor = Editor(self.client, self.disk, encoding=encoding, snapshot=self._snapshot, sleep=self.clock.sleep)
        self.client.documents = self.documents = self.editor.documents
        self.proposals = self.editor.proposals
        self.events: list[ProposalEvent] = []
        self.proposals.listen(self.events.append)
        self.review: Review = "before"
        self.workspace = self.editor.workspace(
            origin=lambda: EditOrigin(session_id="s1", turn_id="t1", prompt="Make it better"),
            review=lambda: self.review,
        )
        if text is not None and opened:
            self.client.open(URI, text)

    @property
    def text(self) -> str:
        return self.client.text(URI) if URI in self.client.open_documents else self.disk.files[PATH]

    async def plan(self, new_text: str, *, tool_use_id: str = "u1") -> EditPlan:
        before = (
            await self.workspace.read(PATH) if URI in self.client.open_documents or PATH in self.disk.files else None
        )
        return EditPlan(
            path=PATH, before=before, new_text=new_text, tool="Edit", tool_use_id=tool_use_id, reason="tidy"
        )

    async def propose(self, new_text: str, *, review: Review = "before", session_id: str = "s1") -> Json:
        origin = EditOrigin(session_id=session_id, turn_id="t1", prompt="Make it better")
        wire = self.proposals.propose(await self.plan(new_text), origin, review=review)
        if review != "before":
            wire = await self.proposals.land(wire["proposalId"])
        return wire

    async def decide(self, wire: Json, *verbs: str, **more: Any) -> Json:
        """One verb per hunk: accept, reject, leave, or `edit:` and the text."""
        decisions: list[Json] = []
        for hunk, verb in zip(wire["hunks"], verbs, strict=True):
            if verb.startswith("edit:"):
                decisions.append({"hunkId": hunk["hunkId"], "decision": "edit", "newText": verb[5:]})
            elif verb != "leave":
                decisions.append({"hunkId": hunk["hunkId"], "decision": verb})
        return await self.proposals.resolve(wire["proposalId"], decisions, **more)

    async def reopen(self, wire: Json, hunk: int) -> Json:
        """Take the decision on a hunk back; the proposal as it then is."""
        decision = {"hunkId": wire["hunks"][hunk]["hunkId"], "decision": "reopen"}
        return (await self.proposals.resolve(wire["proposalId"], [decision]))["proposal"]

    def states(self, wire: Json) -> list[str]:
        return [hunk["state"] for hunk in self.proposals.get(wire["proposalId"])["hunks"]]

    def told(self) -> list[str]:
        return [event.kind for event in self.events]

    def type(self, at: str | int, text: str, *, over: str = "") -> None:
        """Type at an offset or before the first occurrence of a text, replacing `over` there."""
        start = self.text.index(at) if isinstance(at, str) else at
        assert self.text.startswith(over, start)
        self.client.type(URI, start, start + len(over), text)

    async def _snapshot(self, origin: EditOrigin, path: str, before: FileText | None) -> None:
        self.snapshots.append((origin.session_id, path, before))


@asynccontextmanager
async def background(work: Callable[[], Any]) -> AsyncGenerator[None, None]:
    """`work` runs beside the body, and must have ended when the body has."""
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            await settle()
            yield
            await settle()


async def settle() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()
