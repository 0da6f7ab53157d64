"""The model behind the fake endpoint. It keeps no memory of results: what it knows follows from the request.

Each call of the plan is made until the request says that it is done, or that nobody knows whether it was. What it has
asked for so far is remembered only to tell "left out of the summary" from "never asked for".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from assent.context.microcompact import CLEARED
from assent.types.blocks import Json, text_of
from fakeapi import Answer, Block, Cut, Drop, Reply, Request, failure, hold, text, tool
from faultkit.plan import Fault, Plan
from faultkit.steps import AFTER_REFUSAL, BEFORE, FINAL, Step, counting

CALL = re.compile(r"(k\d+)-\d+")
INNER = re.compile(r"(k\d+)s-\d+")
NOTED = re.compile(r"\b(k\d+)=(done|unknown|forgotten)\b")
LEFT_OUT = ("Not in this summary, because it did not fit", "[Older parts of this conversation did not fit.]")
UNKNOWN = ("may have run in part", "before this call finished", "before it could finish", "the turn ended before this")
UNREADY = (
    "has not been read yet", "changed since it was read", "not in plan mode", "You are in no worktree",
    "already; leave it first",
)  # fmt: skip
NOT_OFFERED = "None of these numbers was offered"
WORKER = "You are the worker."
GATE = "fault"


def said(block: Json) -> str:
    content: object = block.get("content", "")
    return content if isinstance(content, str) else text_of(cast("list[Json]", content))


def summarises(request: Request) -> bool:
    return "about to be replaced" in request.last_text


def of_worker(request: Request) -> bool:
    return WORKER in str(request.body.get("system"))


@dataclass(slots=True)
class Known:
    """What one request tells of the plan's calls."""

    states: dict[str, str] = field(default_factory=dict[str, str])
    unready: set[str] = field(default_factory=set[str])  # refused, and what makes way for it was not done since
    problems: list[str] = field(default_factory=list[str])
    left_out: bool = False


def known_from(request: Request, plan: Plan) -> Known:
    known = Known()
    steps = {step.key: step for step in plan.steps}
    for role, block in request.blocks:
        if block.get("type") == "text" and role == "user":
            words = str(block["text"])
            known.states.update((match[1], match[2]) for match in NOTED.finditer(words))
            known.left_out = known.left_out or any(each in words for each in LEFT_OUT)
        if block.get("type") != "tool_result":
            continue
        id, words = str(block["tool_use_id"]), said(block)
        if id.startswith("r-"):
            known.unready.discard(id.split("-")[1])
            continue
        match = CALL.fullmatch(id)
        if match is None:
            continue
        step = steps[match[1]]
        if not block.get("is_error"):
            known.states[step.key] = "done"
            known.unready.discard(step.key)
            known.left_out = known.left_out or step.tool == "Snip"
        elif NOT_OFFERED in words:
            known.states[step.key] = "done"  # there was nothing to let go of
        elif any(each in words for each in UNKNOWN):
            known.states[step.key] = "unknown"
        elif any(each in words for each in UNREADY):
            known.unready.add(step.key)
        elif words == CLEARED:
            known.problems.append(f"{id}: how it failed was cleared")
        else:
            known.problems.append(f"{id}: {words}")
    return known


@dataclass(slots=True, kw_only=True)
class PlannedModel:
    plan: Plan
    asked: dict[str, int] = field(default_factory=dict[str, int])
    last: dict[str, str] = field(default_factory=dict[str, str])  # what the latest request of the main agent said
    problems: list[str] = field(default_factory=list[str])
    armed: Fault | None = None  # begins with the answer to this request
    limit: int | None = None  # characters of `messages`; above it the prompt is too long
    share: float = 0.6
    _numbers: int = 0
    _faulted: set[str] = field(default_factory=set[str])
    _due: Fault | None = None
    arm_second: int = 0  # answers until the second fault

    def answer(self, request: Request) -> Answer:
        size = len(orjson.dumps(request.body["messages"]))
        if not summarises(request):
            self._arm(request, size)
        if self.limit is not None and size > self.limit:
            return failure(400, f"prompt is too long: {size} tokens > {self.limit} maximum")
        if summarises(request):
            return Reply(parts=(text(f"<summary>{self._summary(request)}</summary>"),), output_tokens=40)
        blocks = self._worker(request) if of_worker(request) else self._main(request)
        due, self._due = self._due, None
        return broken(blocks, due) if due is not None else Reply(parts=tuple(blocks), output_tokens=20)

    def _arm(self, request: Request, size: int) -> None:
        """The fault comes with the answer that makes its call, the second one some answers later."""
        fault: Fault | None = None
        if "first" not in self._faulted and self._comes_now(request):
            self._faulted.add("first")
            fault = self.plan.fault
        elif "first" in self._faulted and "second" not in self._faulted and self.plan.second is not None:
            self.arm_second -= 1
            if self.arm_second < 0:
                self._faulted.add("second")
                fault = self.plan.second
        if fault is None:
            return
        match fault.kind:
            case "drop":
                self._due = fault
                self.armed = fault if fault.at in ("tool_started", "tool_finished") else None
            case "kill" | "abort" | "rebuild":
                self.armed = fault
            case "overflow":
                self.limit = max(4_000, int(size * (self.share if fault.at == "now" else 1.1)))
            case "none":
                pass

    def _comes_now(self, request: Request) -> bool:
        """Whether the answer to this request makes the call that the fault is about."""
        if of_worker(request):
            return False
        known = known_from(request, self.plan)
        if not self.plan.focus:
            left, last = self._next(known), {step.key for step in self.plan.batches[-1]}
            return not left or (self.plan.fault.at == "request_start" and last.issuperset(left))
        step = next(each for each in self.plan.steps if each.key == self.plan.focus)
        return step.key in self._next(known) and not self._makes_way(step, known)

    def _makes_way(self, step: Step, known: Known) -> bool:
        return step.key in known.unready or (step.tool in BEFORE and step.key not in self.asked)

    def _next(self, known: Known) -> list[str]:
        for batch in self.plan.batches:
            open_steps = [step.key for step in batch if self._state(step.key, known) is None]
            if open_steps:
                return open_steps
        return []

    def _state(self, key: str, known: Known) -> str | None:
        state = known.states.get(key)
        if state is None and known.left_out and self.asked.get(key):
            return "forgotten"
        return state

    def _main(self, request: Request) -> list[Block]:
        known = known_from(request, self.plan)
        self.problems += known.problems
        steps = {step.key: step for step in self.plan.steps}
        self.last = {key: state for key in steps if (state := self._state(key, known)) is not None}
        keys = self._next(known)
        if not keys and not self.plan.focus:
            self._numbers += 1
            return [tool(FINAL, id=f"out-{self._numbers}", done="all of it")]
        if not keys:
            return [text("All of it is accounted for.")]
        return [text(f"Next: {', '.join(keys)}."), *(self._call(steps[key], known) for key in keys)]

    def _call(self, step: Step, known: Known) -> Block:
        self._numbers += 1
        if self._makes_way(step, known):
            self.asked.setdefault(step.key, 0)
            first = AFTER_REFUSAL[step.tool]
            given = {"Read": {"file_path": step.path}, "EnterWorktree": {"name": f"{step.key}-{self._numbers}"}}
            return tool(first, given.get(first, {}), id=f"r-{step.key}-{self._numbers}")
        self.asked[step.key] = self.asked.get(step.key, 0) + 1
        return tool(step.tool, step.input, id=f"{step.key}-{self._numbers}")

    def _worker(self, request: Request) -> list[Block]:
        prompt = next(str(b["text"]) for _, b in request.blocks if "Work on k" in str(b.get("text")))
        key = prompt.split()[2].strip(",")
        for _, block in request.blocks:
            if block.get("type") == "tool_result" and INNER.fullmatch(str(block["tool_use_id"])):
                if block.get("is_error"):
                    self.problems.append(f"the worker's call failed: {said(block)}")
                return [text(f"Did {key}.")]
        self._numbers += 1
        return [tool("Bash", id=f"{key}s-{self._numbers}", command=counting(key, self.plan.folder))]

    def _summary(self, request: Request) -> str:
        known = known_from(request, self.plan)
        states = {step.key: self._state(step.key, known) for step in self.plan.steps}
        return "So far: " + " ".join(f"{key}={state}" for key, state in states.items() if state is not None)


def broken(blocks: list[Block], fault: Fault) -> Answer:
    """The answer, breaking off at the fault's boundary."""
    opening = 2 + len(blocks[0].deltas) if blocks[0].start["type"] == "text" else 0
    called = [block for block in blocks if block.start["type"] == "tool_use"]
    events = 1 + sum(2 + len(block.deltas) for block in blocks) + 2
    if fault.at == "first_byte":
        return Drop(how="close")
    first = 1 + opening
    waits: dict[str, Any] = {"message_start": 1, "mid_block": first + 2, "message_stop": events - 1}
    if fault.at in waits:
        return Reply(parts=tuple(blocks), cut=Cut(at_event=waits[fault.at]), output_tokens=20)
    whole = first + (2 + len(called[0].deltas) if called else 0)
    if fault.at == "block_closed" or not called:
        return Reply(parts=tuple(blocks), cut=Cut(at_event=whole), output_tokens=20)
    upto = [*blocks[: blocks.index(called[0]) + 1], text("And ", hold(GATE), "more words.")]
    return Reply(parts=tuple(upto), cut=Cut(at_event=whole + 3), output_tokens=20)
