"""Agent: hand a self-contained task to a subagent."""

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.tools.worktrees.worktree_records import FOLDER
from assent.types.errors import ToolError
from assent.types.permissions import Action

Known = Callable[[], Sequence[tuple[str, str]]]
"""Name and description of each agent there is."""


class AgentInput(Input, frozen=True):
    description: Annotated[str, Meta(min_length=1, description="The task in three to five words, for the user.")]
    prompt: Annotated[str, Meta(min_length=1, description="Everything the agent needs to know; it sees nothing else.")]
    subagent_type: Annotated[str, Meta(description="Which agent.")] = "general-purpose"
    run_in_background: Annotated[bool, Meta(description="Go on meanwhile; you are told when it is done.")] = False
    isolation: Annotated[
        Literal["worktree"] | None,
        Meta(description="worktree: it works in a copy of the repository; its changes are offered to the user."),
    ] = None
    resume: Annotated[str, Meta(description="The id of an agent that ended: it goes on where it stopped.")] = ""
    model: Annotated[str, Meta(description="Another model than the agent's own.")] = ""


class Agent(Tool[AgentInput]):
    name: ClassVar[str] = "Agent"
    input_type: ClassVar[type[Input]] = AgentInput
    max_result_chars: ClassVar[int] = 100_000
    timeout: ClassVar[float | None] = None  # its own steps have theirs

    def __init__(self, known: Known = lambda: (), isolated: Callable[[str], bool] = lambda _agent: False) -> None:
        self._known = known
        self._isolated = isolated
        self._described = ""

    def description(self) -> str:
        """Frozen when it is first asked for, so that the cached prefix of requests stays the same."""
        self._described = self._described or self._description()
        return self._described

    def _description(self) -> str:
        agents = "\n".join(f"- {name}: {words}" for name, words in self._known())
        return (
            "Give a task to a subagent, which works in a context of its own and answers once, with its last message. "
            "Use it for research over many files and for work that can go on beside yours; start several in one go "
            "when they do not depend on each other: those that only read or have a worktree of their own work side by "
            "side, others one at a time. Do small things yourself. The agent knows nothing of this "
            "conversation: put paths, facts and the wanted form of the answer into the prompt. The user does not see "
            "its answer: tell them what matters."
        ) + (f"\nAgents:\n{agents}" if agents else "")

    def safe_in(self, input: AgentInput, ctx: ToolContext) -> bool:
        """An agent can be repeated that only reads, or whose worktree goes with it. One in the background cannot be
        called back."""
        if ctx.agents is None:
            return True  # it will not start at all
        return ctx.agents.repeatable(
            input.subagent_type,
            isolated=input.isolation is not None,
            background=input.run_in_background,
            resume=input.resume,
        )

    def title(self, input: AgentInput) -> str:
        return input.description

    def action(self, input: AgentInput, *, cwd: str) -> Action:
        """Each of its own calls is judged; but in a worktree its edits are not asked about until they are merged."""
        if input.isolation is not None or self._isolated(input.subagent_type):
            return Action(tool=self.name, input=as_json(input), writes=(f"{cwd}/{FOLDER}",))
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: AgentInput, ctx: ToolContext) -> ToolOutput:
        if ctx.agents is None:
            raise ToolError("Agents cannot be started here: they need a turn, or this agent names none")
        names = [name for name, _ in self._known()]
        if names and not input.resume and input.subagent_type not in names:
            raise ToolError(f"There is no agent {input.subagent_type!r}. There are: {', '.join(names)}")
        return await ctx.agents.run(
            agent=input.subagent_type,
            prompt=input.prompt,
            description=input.description,
            background=input.run_in_background,
            ctx=ctx,
            isolated=input.isolation is not None,
            resume=input.resume,
            model=input.model,
        )
