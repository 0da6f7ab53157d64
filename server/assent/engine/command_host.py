"""The conversation as slash commands see it (Q7): reports, and the few things a command may change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assent.engine.reduction.compaction import compact, start_anew
from assent.engine.state import CompactTracking, State
from assent.engine.turn import Turn
from assent.extensions.commands import SlashCommand
from assent.types.blocks import Json
from assent.types.errors import NoCredentials
from assent.types.messages import CompactBoundary
from assent.types.permissions import Mode


class TurnCommands:
    """Bound to the turn that runs the command. The engine keeps changes of model and mode after the turn."""

    def __init__(
        self,
        turn: Turn,
        *,
        commands: Sequence[SlashCommand],
        context_text: Callable[[], str],
        cost: Callable[[], Json],
        set_model: Callable[[str], None],
        set_mode: Callable[[Mode], None],
    ) -> None:
        self._turn = turn
        self.commands = commands
        self._context_text = context_text
        self._cost = cost
        self._set_model = set_model
        self._set_mode = set_mode

    @property
    def model(self) -> str:
        return self._turn.model

    @property
    def mode(self) -> Mode:
        return self._turn.app.mode

    async def set_model(self, model: str) -> str:
        services = self._turn.services
        try:
            model = services.require_model(model)
        except NoCredentials as error:
            return f"The model was not changed: {error}."
        may = services.may_switch_model
        if may is not None and model != self.model and (refused := await may(model)):
            return refused
        self._turn.model = model
        self._set_model(model)
        return ""

    def set_mode(self, mode: Mode) -> None:
        self._set_mode(mode)

    async def clear(self) -> None:
        """An empty boundary: the view starts after it, and the transcript keeps what came before."""
        turn = self._turn
        await turn.run_hooks("SessionEnd", {"reason": "clear"}, subject="clear")
        turn.app.read_files.clear()
        turn.app.skills.clear()
        if turn.services.scoped_hooks is not None:
            turn.services.scoped_hooks.cleared(turn.config.session_id)
        turn.conversation.tracking = CompactTracking()  # what could not be compacted is gone
        await start_anew(turn, self._boundary(turn.window.count(turn.history.view())))
        await turn.run_hooks("SessionStart", {"source": "clear", "model": turn.model}, subject="clear")

    async def compact(self, instructions: str) -> str:
        turn = self._turn
        if not turn.history.view():
            return "There is nothing to compact yet."
        before = turn.window.count(turn.history.view())
        state = State(messages=turn.history.view(), model=turn.model)
        if not await compact(turn, state, trigger="manual", instructions=instructions):
            return "The conversation could not be compacted; nothing has changed."
        turn.conversation.tracking = state.tracking
        return f"Compacted: about {before:,} tokens became {turn.window.count(turn.history.view()):,}."

    def context_text(self) -> str:
        return self._context_text()

    def cost(self) -> Json:
        return self._cost()

    def status(self) -> Json:
        config = self._turn.config
        servers = ", ".join(f"{client.name} ({client.status})" for client in self._turn.services.mcp_clients())
        return {
            "session": config.session_id,
            "model": self.model,
            "mode": self.mode,
            "cwd": self._turn.app.cwd,
            "tools": len(self._turn.tools),
            "MCP servers": servers or "none",
            "messages": len(self._turn.history.messages),
            "cost": f"${self._turn.ledger.cost_usd:.4f}",
        }

    def _boundary(self, tokens: int) -> CompactBoundary:
        services = self._turn.services
        return CompactBoundary(
            uuid=services.new_id(),
            trigger="manual",
            tokens_before=tokens,
            tokens_after=0,
            summary="",
            timestamp=services.now(),
        )
