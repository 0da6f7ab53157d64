"""The whole edit machinery against a person who keeps typing: a seeded run of small operations, and what must hold.

A run is a list of plain tuples `(name, a, b, c)` interpreted against whatever the state is by then, so any sub-list of
a failing run is itself a run: `shrink` finds a short one.

The person types Greek, the agent writes Latin. Checked at every step or at every rest:
- the mirror equals the buffer at every version delivered, and at rest;
- no edit of ours ever removes a Greek character the agent had not read and the person had not decided about;
- an edit of ours replaces exactly what some decision (or landing at once) says, by exactly what it says;
- a didChange that comes twice changes nothing;
- hunks are never split, merged or lost; a pending one stands over its oldText, a landed one over its newText;
- undoing everything gives the first text back.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from assent.editor.editor import Editor
from assent.editor.hunks import Hunk, make_hunks
from assent.editor.proposal import EditOrigin, Review
from assent.editor.rebase import stands
from assent.text.lines import same_but_for_eol, split_lines
from assent.text.positions import Encoding
from assent.types.errors import ProtocolError, ToolError
from assent.types.ports import EditPlan
from fakeeditor import NEOVIM, PLAIN, VSCODE, Char, FakeClock, FakeEditor, Habits, MemoryDisk

Op = tuple[str, int, int, int]

GREEK = "αβγδεζηθικλμνξοπρστυφχψω𝛀𝛁"  # the last two need two UTF-16 units
LATIN = ("alpha", "beta", "gamma", "b", "}", "", "  x", "tail\u2028still", "n\u0085l", "𝒳𝒴", "é", "\ud800", "a\x0cb")
PATH, URI = "/work space/sim.txt", "file:///work%20space/sim.txt"
EXACT = VSCODE
FULL = replace(VSCODE, sync="full")
DIFFED = replace(PLAIN, sync="diffed", debounces=True, lies=True)
HABITS: tuple[Habits, ...] = (EXACT, NEOVIM, PLAIN, FULL, DIFFED, replace(NEOVIM, first_version=0))
ENCODINGS: tuple[Encoding, ...] = ("utf-16", "utf-8", "utf-32")
WEIGHTS = {
    "type": 30,
    "delete": 10,
    "paste": 4,
    "newline": 4,
    "undo": 4,
    "redo": 2,
    "agent": 14,
    "decide": 26,
    "deliver": 70,
    "flush": 12,
    "refuse": 1,
    "drop": 1,
    "time": 3,
    "reopen": 1,
    "save": 1,
    "rest": 3,
    "again": 2,
}


@dataclass(slots=True)
class Start:
    """What a run begins with, from its seed alone."""

    habits: Habits
    encoding: Encoding
    text: str

    @classmethod
    def of(cls, seed: int) -> "Start":
        rng = random.Random(seed)
        ends = rng.choice((["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r", "\r\n"]))
        text = "".join(rng.choice(LATIN) + rng.choice(ends) for _ in range(rng.choice((0, 1, 3, 12, 30))))
        if text and rng.random() < 0.4:
            text = text.rstrip("\r\n")
        return cls(HABITS[seed % len(HABITS)], ENCODINGS[seed // len(HABITS) % len(ENCODINGS)], text)


def operations(seed: int, count: int) -> list[Op]:
    rng = random.Random(seed)
    names = rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    return [(name, rng.randrange(1 << 30), rng.randrange(1 << 30), rng.randrange(1 << 30)) for name in names]


def run(seed: int, ops: Sequence[Op]) -> "Simulation":
    simulation = Simulation(Start.of(seed))
    anyio.run(simulation.play, ops)
    return simulation


def shrink(seed: int, ops: Sequence[Op], *, most_runs: int = 400) -> list[Op]:
    """A short failing sub-list: halves, quarters and so on are left out as long as it still fails."""
    failing, size, runs = list(ops), max(1, len(ops) // 2), 0
    while size and runs < most_runs:
        at = 0
        while at < len(failing) and runs < most_runs:
            candidate = failing[:at] + failing[at + size :]
            runs += 1
            if _fails(seed, candidate):
                failing = candidate
            else:
                at += size
        size //= 2
    return failing


def _fails(seed: int, ops: Sequence[Op]) -> bool:
    try:
        run(seed, ops)
    except BaseException:
        return True
    return False


class Simulation:
    def __init__(self, start: Start) -> None:
        self.start = start
        self.clock = FakeClock()
        self.client = FakeEditor(start.habits, encoding=start.encoding)
        self.disk = MemoryDisk({PATH: start.text})
        self.editor = Editor(self.client, self.disk, encoding=start.encoding, sleep=self.clock.sleep)
        self.client.documents = self.editor.documents
        self.client.delivered = self._check_version
        self.review: Review = "before"
        self.workspace = self.editor.workspace(
            origin=lambda: EditOrigin(session_id="s", turn_id="t", prompt="p"), review=lambda: self.review
        )
        self.read: dict[str, set[Char]] = {}  # by tool use: the characters the agent had read
        self.made: dict[str, list[tuple[str, str, str]]] = {}  # by proposal: its hunks as they were born
        self.decided: set[Char] = set()  # characters the person put their own words over
        self.read_texts: set[str] = set()  # what hunks stood over when they were made or decided
        self.allowed: set[tuple[str, str]] = set()  # what may be replaced by what, line ends aside
        self.merging = False  # a decision on text that was changed by hand: its outcome is a merge
        self.checked = 0
        self.states: set[str] = set()
        self.landings = 0
        self.waiting = 0  # agents whose edit has not ended
        self._serial = 0

    async def play(self, ops: Sequence[Op]) -> None:
        self.client.open(URI, self.start.text)
        self.client.automatic = False
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                for op in ops:
                    await self._do(tasks, op)
                    await self._run_tasks()
                    self._check_applied()
                await self._finish(tasks)
                tasks.cancel_scope.cancel()
        self._undo_everything()

    # --- operations --------------------------------------------------------------------------------------------------

    async def _do(self, tasks: TaskGroup, op: Op) -> None:
        name, a, b, c = op
        while self.client.open_documents[URI].version <= 0 and (self.client.to_client or self.client.to_server):
            # No version guards an edit that is on its way now: typing at this very moment is the one race nobody but
            # the editor can win. The server asks for the text first; let that, and what it then sends, arrive.
            self.client.flow()
            await self._run_tasks()
        match name:
            case "type":
                at = self._place(a, b)
                self.client.type(URI, at, at, GREEK[c % len(GREEK)])
            case "paste":
                at = self._place(a, b)
                self.client.type(URI, at, at, GREEK[c % len(GREEK)] + self._eol(c) + GREEK[c % 7])
            case "newline":
                at = self._place(a, b)
                self.client.type(URI, at, at, self._eol(c))
            case "delete":
                start = self._place(a, b)
                end = self._whole(min(len(self.text), start + c % (12 if c % 5 == 0 else 3)))
                if start < end:
                    self.client.type(URI, start, end, "")
            case "undo":
                self.client.undo(URI)
            case "redo":
                self.client.redo(URI)
            case "agent":
                tasks.start_soon(self._agent, a, b, c)
            case "decide":
                tasks.start_soon(self._decide, a, b, c)
            case "deliver":
                queue = self.client.to_server if a % 2 else self.client.to_client
                for _ in range(1 + b % 3):
                    if queue:
                        queue.popleft()()
            case "again":
                self._deliver_again(a)
            case "flush":
                self.client.flush(URI)
            case "refuse":
                self.client.refusing = not self.client.refusing
            case "drop":
                self.client.drops = not self.client.drops
            case "time":
                self.clock.advance(1.1)
            case "save":
                self.client.save_by_hand(URI)
                self.disk.files[PATH] = self.text
            case "reopen":
                await self._reopen(a)
            case "rest":
                await self._rest()
            case _:
                raise AssertionError(name)

    async def _agent(self, a: int, b: int, c: int) -> None:
        """Read, change some lines, and have it reviewed or landed."""
        if sum(proposal.open for proposal in self.editor.proposals.live()) > 12:
            return
        self._serial += 1
        tool_use = f"u{self._serial}"
        before = await self.workspace.read(PATH)
        if before.version is not None:  # the mirror may lag behind the buffer
            self.read[tool_use] = set(self.client.open_documents[URI].history[before.version])
        plan = EditPlan(
            path=PATH,
            before=before,
            new_text=_rewritten(before.text, random.Random(a)),
            tool="Edit",
            tool_use_id=tool_use,
        )
        self.allowed |= {_pair(hunk.old_text, hunk.new_text) for hunk in make_hunks(before.text, plan.new_text)}
        reviews: tuple[Literal["before", "after", "off"], ...] = ("before", "before", "after", "off")
        review = reviews[b % 4]
        self.waiting += 1
        try:
            if review == "before":
                wire = self.editor.proposals.propose(plan, EditOrigin(session_id="s"), review="before")
                self._remember(wire["proposalId"])
                await self.editor.proposals.wait(wire["proposalId"])
                await self.editor.proposals.edit_outcome(wire["proposalId"])
            else:
                self.review = review
                await self.workspace.apply(plan)
        except ToolError:
            pass  # it moved on under the agent, who would read again
        finally:
            self.waiting -= 1

    async def _decide(self, a: int, b: int, c: int) -> None:
        live = self.editor.proposals.live()
        if not live:
            return
        proposal = live[a % len(live)]
        rng = random.Random(b)
        decisions: list[dict[str, str]] = []
        for hunk in proposal.hunks:
            verb = rng.choice(("accept", "accept", "reject", "edit", "leave"))
            if verb == "leave" or not hunk.open:
                continue
            decision = {"hunkId": hunk.hunk_id, "decision": verb}
            self._allow(hunk, verb)
            if verb == "edit":
                decision["newText"] = rng.choice(("hand\n", "", hunk.new_text, "two\nlines\n", "no end"))
                self._may_replace(hunk, decision["newText"])
            decisions.append(decision)
        document = self.editor.documents.known(URI)
        version = None if document is None else document.version
        stale = c % 11 == 0 and version is not None
        try:
            await self.editor.proposals.resolve(
                proposal.proposal_id, decisions, version=version - 1 if stale and version is not None else version
            )
            assert not stale, "an old version must not decide anything"
        except ProtocolError as error:
            assert stale and error.kind == "staleProposal", error
            assert error.data["proposal"]["version"] == version

    def _allow(self, hunk: Hunk, verb: str) -> None:
        match hunk.state, verb:
            case ("landed", "reject"):
                self.allowed.add(_pair(hunk.new_text, hunk.old_text))
                self.read_texts.add(hunk.new_text)  # the agent's own text, copies of the person's words included
            case ("conflict", "accept") | ("edited", "reject"):
                self.merging = True
            case _:
                pass  # accepting was allowed when the hunk was made

    def _deliver_again(self, a: int) -> None:
        document = self.editor.documents.get(URI)
        if document is None or document.version is None:
            return
        before = document.text
        changes = [{"text": "nonsense"}]
        assert not self.editor.documents.change(URI, document.version - a % 2, changes)
        assert document.text == before

    def _may_replace(self, hunk: Hunk, new_text: str) -> None:
        """What stands in a hunk when the person decides to put their own words there is theirs to replace."""
        mirror = self.editor.documents.get(URI)
        if mirror is not None and mirror.version is not None:
            then = self.client.open_documents[URI].history[mirror.version]
            self.decided.update(then[hunk.start : hunk.end])
            self.read_texts.add(mirror.text[hunk.start : hunk.end])
            self.allowed.add(_pair(mirror.text[hunk.start : hunk.end], new_text))

    async def _reopen(self, a: int) -> None:
        await self._rest()
        self.client.save_by_hand(URI)
        self.disk.files[PATH] = self.text
        chars, closed = self._chars(), self.text
        self.client.close(URI)
        self.client.flow()
        await self._run_tasks()
        if a % 3 == 0:  # somebody else changed the file meanwhile
            self.disk.files[PATH] = "someone\n" + self.disk.files[PATH]
            await self.editor.refresh(PATH)
        if a % 2 == 0:  # decide while it is closed: the file itself changes
            await self._decide(a, a, 1)
        self.client.open(URI, self.disk.files[PATH])
        self.start.text = self.disk.files[PATH]  # a new buffer has a new past
        opened = self.client.open_documents[URI]
        for i, j, size in SequenceMatcher(None, closed, self.text, autojunk=False).get_matching_blocks():
            opened.buffer.chars[j : j + size] = chars[i : i + size]  # the same characters, for those who saw them
        opened.history[opened.version] = list(opened.buffer.chars)
        self.client.flow()
        self._check_rest()

    # --- rest and the end --------------------------------------------------------------------------------------------

    async def _rest(self) -> None:
        """Everything sent arrives, everything due happens."""
        self.client.refusing = self.client.drops = False
        for _ in range(6):
            self.client.flow()
            await self._run_tasks()
            self._check_applied()
            if not (self.client.to_client or self.client.to_server):
                break
        self._check_rest()

    async def _finish(self, tasks: TaskGroup) -> None:
        """Everything left is rejected; then every agent must have its answer."""
        for _ in range(8):
            await self._rest()
            self.clock.advance(3.0)
            await self._run_tasks()
            for proposal in self.editor.proposals.live():
                for hunk in proposal.hunks:
                    self._allow(hunk, "reject")
                tasks.start_soon(self.editor.proposals.resolve, proposal.proposal_id, {"all": "reject"})
            await self._run_tasks()
        await self._rest()
        assert not self.waiting, "an agent waits for a decision nobody can give any more"

    def _undo_everything(self) -> None:
        while self.client.undo(URI):
            self.client.flow()
        self.client.flow()
        assert self.client.text(URI) == self.start.text, "undo must lead back to the first text"
        self._check_rest()

    async def _run_tasks(self) -> None:
        for _ in range(12):
            await anyio.lowlevel.checkpoint()

    # --- what must hold ----------------------------------------------------------------------------------------------

    def _check_version(self, uri: str, version: int) -> None:
        document = self.editor.documents.get(uri)
        assert document is not None and document.version == version
        then = "".join(char.text for char in self.client.open_documents[uri].history[version])
        assert document.text == then, "the mirror is not the buffer"

    def _check_rest(self) -> None:
        document = self.editor.documents.get(URI)
        assert document is not None and document.text == self.text
        starts = [document.lines.start(line) for line in range(len(document.lines))]
        lines = split_lines(document.text)
        assert starts[: len(lines)] == [sum(map(len, lines[:index])) for index in range(len(lines))]
        for proposal in self.editor.proposals.live():
            born = self.made.get(proposal.proposal_id)
            if born is not None:
                assert [(hunk.hunk_id, hunk.old_text, hunk.new_text) for hunk in proposal.hunks] == born
            for hunk in proposal.hunks:
                self.states.add(hunk.state)
                here = document.text[hunk.start : hunk.end]
                assert 0 <= hunk.start <= hunk.end <= len(document.text)
                if hunk.state == "pending":
                    assert here == hunk.old_text and stands(hunk, document.text), hunk
                if hunk.state == "landed":
                    assert same_but_for_eol(here, hunk.new_text), (hunk, here)

    def _check_applied(self) -> None:
        for applied in self.client.applied[self.checked :]:
            self.landings += 1
            proposals = self.editor.proposals._proposals.values()
            self.read_texts |= {hunk.old_text for proposal in proposals for hunk in proposal.hunks}
            known = set[Char]().union(*self.read.values()) | self.decided
            for removed, inserted in zip(applied.removed, applied.inserted, strict=True):
                gone = "".join(char.text for char in removed)
                assert self.merging or _pair(gone, inserted) in self.allowed, f"{gone!r} became {inserted!r}"
                if gone in self.read_texts:
                    continue  # reads exactly as it was read, though some of it may have been typed anew
                lost = [char.text for char in removed if char.text in GREEK and char not in known]
                assert _is_within(lost, inserted), f"lost {lost} to {inserted!r}"
        self.checked = len(self.client.applied)

    def _remember(self, proposal_id: str) -> None:
        proposal = self.editor.proposals.find(proposal_id)
        self.made[proposal_id] = [(hunk.hunk_id, hunk.old_text, hunk.new_text) for hunk in proposal.hunks]

    # --- places ------------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self.client.text(URI)

    def _chars(self) -> list[Char]:
        return self.client.open_documents[URI].buffer.chars if URI in self.client.open_documents else []

    def _place(self, a: int, b: int) -> int:
        """Anywhere, but more often where a hunk is: that is where the trouble is."""
        hunks = [hunk for proposal in self.editor.proposals.live() for hunk in proposal.hunks]
        if hunks and b % 3 == 0:
            hunk = hunks[b % len(hunks)]
            at = hunk.start + a % (hunk.end - hunk.start + 2)
        else:
            at = a % (len(self.text) + 1)
        return self._whole(min(at, len(self.text)))

    def _whole(self, at: int) -> int:
        """Never between \\r and \\n, where no position is."""
        return at + 1 if self.text[at - 1 : at + 1] == "\r\n" and at else at

    def _eol(self, c: int) -> str:
        for end in ("\r\n", "\r", "\n"):
            if end in self.start.text:
                return end
        return ("\n", "\r\n", "\r")[c % 3]


def _rewritten(text: str, rng: random.Random) -> str:
    """Some lines replaced, deleted, or with new ones before them."""
    lines = split_lines(text)
    end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    if not lines:
        return rng.choice(LATIN) + "new" + end
    for _ in range(rng.randrange(1, 4)):
        if not lines:
            break
        at = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                lines[at : at + 1] = []
            case 1:
                lines[at:at] = [rng.choice(LATIN) + "new" + end]
            case 2:
                lines[at : at + rng.randrange(1, 4)] = [rng.choice(LATIN) + "new" + end, "more" + end]
            case _:
                lines[at] = rng.choice(LATIN) + "changed" + (end if lines[at].endswith(("\r", "\n")) else "")
    return "".join(lines)


def _pair(old: str, new: str) -> tuple[str, str]:
    """Line ends aside: the editor's are used, and whole lines get one at their end."""
    return _plain(old), _plain(new)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _is_within(chars: Sequence[str], text: str) -> bool:
    """Whether the characters stand in the text in this order."""
    at = 0
    for char in chars:
        at = text.find(char, at) + 1
        if not at:
            return False
    return True
