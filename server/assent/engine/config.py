"""The configuration of an engine (Q2): plain data, frozen, read by the running engine when a turn begins.

A session replaces the whole value when a model, an effort or a setting changes (`QueryEngine.configure`); nothing is
rebuilt and nothing that runs in the background ends. What the engine works with is in `services`, what it starts
from in `past`.
"""

from dataclasses import dataclass, field
from typing import Literal

from assent.context.microcompact import CACHE_SECONDS
from assent.types.blocks import Json
from assent.types.ids import new_id

BackgroundCall = Literal["summary", "collapse", "suggestion", "memory", "dream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBudget:
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    cwd: str
    model: str
    session_id: str = field(default_factory=new_id)
    fallback_model: str | None = None
    small_model: str | None = None
    thinking: Json | None = None
    effort: str | None = None
    custom_system_prompt: str | None = None
    append_system_prompt: str | None = None
    max_tokens: int | None = None  # set by the caller: then the output cap is never escalated (L6)
    max_turns: int | None = None
    max_budget_usd: float | None = None
    task_budget: TaskBudget | None = None
    token_budget: int | None = None
    json_schema: Json | None = None
    memory: bool = True  # whether memory files are read and notes are kept
    background_calls: frozenset[BackgroundCall] = frozenset()  # opt-in, each kind by name (M10, L13)
    cache_seconds: float = CACHE_SECONDS  # how long the endpoint keeps a prompt (C3)
    context_edits: tuple[Json, ...] = ()  # API-side context edits, where the endpoint offers them (C3)
    key_source: str = "none"
    interactive: bool = True
    bare: bool = False
    persist: bool = True
    persistent: bool = False  # unattended: the model layer retries for ever (M4)
    verbose: bool = False
    replay_user_messages: bool = False
    include_partial_messages: bool = False
    ahead: int = 256  # how many messages a turn may be ahead of its consumer before it waits
    source: Literal["main", "subagent"] = "main"
    parent_tool_use_id: str | None = None
    chain: str = ""  # of a subagent: the turn whose calls it shares; empty: each turn begins its own
    depth: int = 0  # how many engines stand above this one
    lineage: tuple[str, ...] = ()  # the agents that led to this one, the outermost first, itself last

    @property
    def prompt_parts(self) -> tuple[object, ...]:
        """What the frozen system prompt was made of: when one of these changes, it is made again."""
        return self.custom_system_prompt, self.append_system_prompt, self.interactive, self.memory, self.bare
