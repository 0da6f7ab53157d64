"""One seed: its turns, what goes wrong in them, and what must hold at every request, every message and the end."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio

from assent.engine.query_engine import QueryEngine
from assent.extensions.agents import AgentDefinition
from assent.tools.task_list import Team
from assent.types.blocks import Json
from assent.types.messages import Message, Result, ToolFinished, ToolStarted
from assent.types.permissions import Allow, Verdict
from assent.types.ports import Elicitation, ElicitationAnswer, ModelEvent, ModelRequest, ToolCall
from enginekit.invariants import assert_conversation_valid, assert_turn_valid
from enginekit.parts import make_engine
from enginekit.stage import Spills
from fakeapi import Answer, Block, Reply, Request
from faultkit.plan import APPENDS, Fault, make_plan
from faultkit.planned_model import GATE, WORKER, PlannedModel, of_worker, said, summarises
from faultkit.scene import Ground, Scene, models
from faultkit.steps import EFFECTS

WAIT = 120.0  # only a hang reaches it
PROMPTS = 6
ANSWER: Json = {"type": "object", "properties": {"done": {"type": "string"}}, "required": ["done"]}
STUB = re.compile(r"^(.*) is unchanged since you last read it")
SHORTENED = ("[Cleared to save room", "[The whole output")
Tokens = tuple[int, int, int, int]  # input, output, read from cache, written to it


def plus(one: Tokens, two: Tokens) -> Tokens:
    return (one[0] + two[0], one[1] + two[1], one[2] + two[2], one[3] + two[3])


def minus(one: Tokens, two: Tokens) -> Tokens:
    return (one[0] - two[0], one[1] - two[1], one[2] - two[2], one[3] - two[3])


def paid(request: Request) -> Tokens:
    """What the endpoint has told the client that this call used."""
    answer = request.answer
    if not isinstance(answer, Reply) or request.cache is None:
        return (0, 0, 0, 0)
    output = answer.output_tokens or 0
    if answer.cut is not None:
        blocks = [part for part in answer.parts if isinstance(part, Block)]
        content = sum(2 + sum(isinstance(delta, dict) for delta in block.deltas) for block in blocks)
        if (answer.cut.at_event or 0) < 1 + content + 1:  # the sum at the end was not sent
            output = 1
    return (request.cache.fresh, output, request.cache.read, request.cache.written)


class Trial:
    def __init__(self, ground: Ground, seed: int) -> None:
        self.ground = ground
        self.seed = seed
        self.chance = random.Random(seed)
        folder = ground.folder / str(seed)
        self.scene = Scene(folder, [self.chance.choice((3, 3, 300, 500)) for _ in range(3)])
        self.plan = make_plan(seed, self.chance, self.scene.folder, ground.site)
        self.model = PlannedModel(plan=self.plan)
        self.model.share = self.chance.choice((0.3, 0.6, 0.9))
        self.model.arm_second = self.chance.randrange(5)
        self.name = self.chance.choice(models())
        self.names = {self.name}  # those it has had
        self.time = 0.0
        self.ticks = self.chance.choice((0, 0, 1, 3, 10))
        skip = self.chance.choice((0, 0, 0, 1, 2))
        self.skip = skip if self.plan.later else 0  # boundaries of the kind to let pass
        self.prompt = ""
        self.lost: Tokens = (0, 0, 0, 0)  # what calls used that were under way when the process died
        self.stopped: Fault | None = None
        self.faults: list[str] = []
        self.state = self.scene.state()
        self._task: asyncio.Task[Any] | None = None
        self._call_began = 0
        self._cost = 0.0
        self._prompts: dict[int, str] = {}  # by the number of the request that must show it
        self._wrong: list[str] = []  # found inside the engine's own calls, where raising would look like a crash
        self._at_death: Json = {}
        self._due: asyncio.Task[None] | None = None

    # --- the turns ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Raises AssertionError, naming the seed, when something does not hold."""
        self.ground.api.requests.clear()
        self.ground.api.otherwise(self._answer)
        try:
            with anyio.fail_after(WAIT):
                await self._run()
        except Exception as error:
            what = f"seed {self.seed}, {self.plan.focus}, {self.plan.fault}, {self.plan.second}"
            raise AssertionError(f"{what}: {error!r}") from error
        finally:
            await self.scene.end_commands(self.ground.jobs)
            self.scene.close()

    def _answer(self, request: Request) -> Answer:
        self._prompts[request.number] = self.prompt
        return self.model.answer(request)

    async def _run(self) -> None:
        await self.scene.prepare(self.plan, self.ground.jobs)
        engine = self._engine({})
        for number in range(PROMPTS):
            self.time += self.chance.choice((1.0, 400.0))  # the prompt cache is warm, or cold
            self.prompt = f"Prompt {number} of {self.seed}: " + "please do all of it. " * self.chance.choice((1, 40))
            self.stopped = None
            messages = await self._turn(engine)
            assert self._wrong == [], self._wrong
            if self.scene.dead:
                engine = await self._reborn(engine)
                continue
            result = messages[-1]
            assert isinstance(result, Result)
            assert_turn_valid(messages)
            assert_conversation_valid(engine.messages)
            if result.subtype == "success":
                assert self.plan.focus or result.structured_output == {"done": "all of it"}, result.structured_output
                break
            allowed = {"abort": "aborted", "overflow": "prompt_too_long"}
            kinds = {self.plan.fault.kind, *([self.plan.second.kind] if self.plan.second else [])}
            assert any(result.terminal.startswith(allowed[kind]) for kind in kinds & allowed.keys()), result.terminal
            self.model.limit = None
            if self.stopped is not None:
                self._settle(engine)
        else:
            raise AssertionError("the work never came to its end")
        await engine.aclose()
        self._check_end(engine)

    async def _turn(self, engine: QueryEngine) -> list[Message]:
        seen: list[Message] = []

        async def consume() -> None:
            async with aclosing(engine.submit(self.prompt)) as messages:
                async for message in messages:
                    seen.append(message)
                    self._observe(engine, message)

        self._task = asyncio.create_task(consume())
        try:
            await self._task
        except asyncio.CancelledError:
            if not self.scene.dead:
                self._task.cancel()
                raise
        finally:
            if self._due is not None:
                self._due.cancel()
                self._due = None
        return seen

    async def _reborn(self, old: QueryEngine) -> QueryEngine:
        """A new process opens the session; nothing that was counted is forgotten."""
        await old.aclose()
        for job in self.scene.commands.values():
            job.read_to = 0  # this process has not looked at it
        self.state = self.scene.state()
        new = self._engine(self.scene.reopen(torn=self.chance.random() < 0.3))
        assert new.cost()["totalCostUsd"] >= self._cost - 1e-9, "spend went back"
        assert new.cost() == self._at_death, f"{self._at_death} came back as {new.cost()}"
        self._settle(new)
        return new

    def _settle(self, engine: QueryEngine) -> None:
        """What the endpoint said last and nobody heard, because the stream was given up, is not counted."""
        lost = minus(self._sum(self.ground.api.requests), self._spent(engine))
        in_flight = plus(self.lost, self._sum(self.ground.api.requests[self._call_began :]))
        for now, before, most in zip(lost, self.lost, in_flight, strict=True):
            assert before <= now <= most, f"{lost} of {in_flight} is lost"
        self.lost = lost

    # --- boundaries --------------------------------------------------------------------------------------------------

    def _observe(self, engine: QueryEngine, message: Message) -> None:
        cost = engine.cost()["totalCostUsd"]
        assert cost >= self._cost, "spend is not monotonic"
        self._cost = cost
        armed = self.model.armed
        if armed is None:
            return
        if armed.kind == "drop":
            kinds = {"tool_started": (ToolStarted,), "tool_finished": (ToolFinished,)}[armed.at]
            if isinstance(message, kinds) and message.parent_tool_use_id is None:
                self.model.armed = None
                self.ground.api.release(GATE)
        elif message.type == armed.at:
            self._reached(engine, armed)

    def _reached(self, engine: QueryEngine, fault: Fault) -> None:
        if self.skip:
            self.skip -= 1
            return
        self.model.armed = None
        if self.plan.focus:
            self._due = asyncio.create_task(self._strike_soon(engine, fault))
        else:  # the turn is about to end
            self._strike(engine, fault)

    async def _strike_soon(self, engine: QueryEngine, fault: Fault) -> None:
        for _ in range(self.ticks):
            await asyncio.sleep(0)
        self._strike(engine, fault)

    def _strike(self, engine: QueryEngine, fault: Fault) -> None:
        self.faults.append(str(fault))
        if fault.kind == "rebuild":
            self._rebuild(engine)
        elif fault.kind == "abort":
            self.stopped = fault
            engine.abort()
        else:
            self._die(engine)

    def _rebuild(self, engine: QueryEngine) -> None:
        """Another model, effort and thinking for the turns to come; what runs goes on as it was."""
        spent = engine.cost()
        self.name = next(name for name in models() if name != self.name)
        self.names.add(self.name)
        config = replace(engine.config, model=self.name, effort="low", thinking=None)
        engine.configure(config)
        assert engine.cost() == spent and engine.running, "a new configuration changed what runs"

    def _die(self, engine: QueryEngine) -> None:
        if self.scene.dead or self._task is None or self._task.done():
            return
        self.scene.dead = True
        ledger = engine.ledger  # a call that has reported nothing yet is known to have been cut off
        self._at_death = engine.cost() | {"unreported": ledger.unreported + ledger.open_calls}
        self._task.cancel()

    # --- the engine --------------------------------------------------------------------------------------------------

    def _engine(self, restored: dict[str, Any]) -> QueryEngine:
        engine: QueryEngine | None = None
        scene, trial = self.scene, self

        class File:
            def append(self, message: Message) -> None:
                scene.append(message)
                armed = trial.model.armed
                if armed is not None and armed.at == APPENDS and engine is not None and not scene.dead:
                    if trial.skip:
                        trial.skip -= 1
                        return
                    trial.model.armed = None
                    trial.faults.append(str(armed))
                    trial._die(engine)

            async def flush(self, *, durable: bool) -> None:
                await scene.flush(durable=durable)

        async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            await self._alive()
            if request.source == "main":
                assert engine is not None
                self._check_spend(engine)
                self._call_began = len(self.ground.api.requests)
            async with aclosing(self.ground.client(request)) as events:
                async for event in events:
                    yield event

        async def allow(_call: ToolCall) -> Verdict:
            await self._alive()
            return Allow(step="consolidation", reason="a test")

        async def answer(question: Elicitation) -> ElicitationAnswer:
            await self._alive()
            scene.asked += [str(each["question"]) for each in question.questions]
            await asyncio.sleep(0)
            chosen = {str(each["id"]): [str(each["options"][0]["label"])] for each in question.questions}
            return ElicitationAnswer(action="accept", content={"answers": chosen})

        async def search(query: str, _allowed: list[str], _blocked: list[str]) -> str:
            await asyncio.sleep(0)
            return query.replace("about", "found")

        worker = AgentDefinition(name="worker", description="works", prompt=WORKER, tools=("Bash", "Read"))
        engine = make_engine(
            call_model=call,
            model_info=self.ground.client.info,
            clock=lambda: self.time,
            source_seconds=WAIT,
            look_seconds=WAIT,
            cwd=str(self.scene.folder),
            model=self.name,
            tools=self.ground.tools(self.scene),
            editor=scene.editor,
            json_schema=None if self.plan.focus else ANSWER,
            agents=(worker,),
            can_use_tool=allow,
            state=lambda: self.state,
            transcript=File(),
            include_partial_messages=True,
            ahead=self.chance.choice((1, 256)),
            workspace=self.scene.files,
            roots=(str(self.scene.folder),),
            jobs=self.ground.jobs,
            search_web=search,
            team=Team(board=scene.board),
            handle_elicitation=answer,
            spill=Spills(),
            **restored,
        )
        return engine

    async def _alive(self) -> None:
        """A dead process starts nothing."""
        if self.scene.dead:
            await asyncio.Event().wait()

    # --- what must hold ----------------------------------------------------------------------------------------------

    def _sum(self, requests: list[Request]) -> Tokens:
        total: Tokens = (0, 0, 0, 0)
        for request in requests:
            total = plus(total, paid(request))
        return total

    def _spent(self, engine: QueryEngine) -> Tokens:
        total: Tokens = (0, 0, 0, 0)
        for used in engine.cost()["byModel"].values():
            total = plus(total, (used["input"], used["output"], used["cacheRead"], used["cacheWrite"]))
        return total

    def _check_spend(self, engine: QueryEngine) -> None:
        reported = self._sum(self.ground.api.requests)
        counted = plus(self._spent(engine), self.lost)
        if counted != reported and self.stopped is None:
            self._wrong.append(f"the endpoint reported {reported}, counted are {counted}")

    def _check_end(self, engine: QueryEngine) -> None:
        assert self.model.problems == [], self.model.problems
        for request in self.ground.api.requests:
            self._check_request(request)
        kinds = {self.plan.fault.kind, *([self.plan.second.kind] if self.plan.second else [])}
        assert self.plan.later or self.faults or not kinds & {"kill", "abort", "rebuild"}, "what should break did not"
        for step in self.plan.steps:
            state = self.model.last.get(step.key)
            assert state is not None, f"{step.key} is open"
            assert state != "unknown" or kinds & {"kill", "abort"}, f"{step.key} is unknown without a reason"
            assert state != "forgotten" or "overflow" in kinds or models()[0] in self.names, f"{step.key} is forgotten"
            if step.tool in EFFECTS:
                times = self.scene.times(step.key, step.tool)
                assert times <= 1, f"{step.tool} {step.key} happened {times} times"
                assert times == 1 or state != "done", f"{step.tool} {step.key} is told to be done and is not"
        self._check_spend(engine)
        assert self._wrong == [], self._wrong

    def _check_request(self, request: Request) -> None:
        blocks = [block for _, block in request.blocks]
        uses = [str(b["id"]) for b in blocks if b.get("type") == "tool_use"]
        results = [str(b["tool_use_id"]) for b in blocks if b.get("type") == "tool_result"]
        assert sorted(uses) == sorted(results) and len(set(uses)) == len(uses), f"{uses} are answered by {results}"
        texts = {str(b["text"]) for b in blocks if b.get("type") == "text"}
        whole = texts | {said(b) for b in blocks if b.get("type") == "tool_result"}
        if of_worker(request):
            assert any(each.startswith("Work on k") for each in texts), f"call {request.number}: no task"
        elif not summarises(request):
            assert self._prompts[request.number] in texts, f"call {request.number}: the prompt is not there"
        steps = {step.key: step for step in self.plan.steps}
        for block in blocks:
            if block.get("type") != "tool_result":
                continue
            words, id = said(block), str(block["tool_use_id"])
            if stub := STUB.match(words):
                shown = self.scene.shown(stub[1])
                assert any(each in whole for each in shown), f"call {request.number}: {id} points at what is not there"
            elif not block.get("is_error") and (step := steps.get(id.split("-")[0])):
                shortened = any(each in words for each in SHORTENED)
                assert step.fact in words or shortened, f"call {request.number}: {id} says {words[:200]!r}"
