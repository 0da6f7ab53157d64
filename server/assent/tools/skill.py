"""Skill: load the instructions of a skill into the conversation. There only where something provides skills.

The list of skills stands in the tool's description, frozen when it is first asked for so that the cached prefix of
requests stays the same; skills that appear later are told as attachments. A skill's text stays in use: a compaction
keeps it (`SessionState.skills`).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.tool import Input, SessionState, Tool, ToolContext, ToolOutput, TurnWish, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action

LISTED_CHARS = 24_000  # of all descriptions together; beyond that each is cut to its share
SHORTEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSkill:
    """The text of a skill with its arguments in it. `agent` is set when it works in a context of its own."""

    text: str
    agent: str = ""
    background: bool = False
    wish: TurnWish = field(default_factory=TurnWish)  # for that context, or for the rest of the turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills:
    """What provides skills: which there are (name and description), and the text of one with its arguments."""

    known: Callable[[], Sequence[tuple[str, str]]]
    load: Callable[[str, str], Awaitable[LoadedSkill]]


class SkillInput(Input, frozen=True):
    skill: Annotated[str, Meta(min_length=1, description="The skill's name.")]
    args: Annotated[str, Meta(description="Arguments, as the user would type them.")] = ""


class Skill(Tool[SkillInput]):
    name: ClassVar[str] = "Skill"
    input_type: ClassVar[type[Input]] = SkillInput
    max_result_chars: ClassVar[int] = 100_000

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._described = ""

    def enabled(self, state: SessionState) -> bool:
        return bool(self._described) or bool(self._skills.known())

    def description(self) -> str:
        if not self._described:
            listed = listing(self._skills.known()) or "(none yet; you are told when there are)"
            self._described = (
                "Load a skill: instructions for a kind of task, with scripts and files beside them. Load one as soon "
                f"as it fits the task, before you begin, and follow it.\nSkills:\n{listed}"
            )
        return self._described

    def title(self, input: SkillInput) -> str:
        return f"Skill {input.skill}"

    def action(self, input: SkillInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)  # words only; what they lead to is judged

    async def call(self, input: SkillInput, ctx: ToolContext) -> ToolOutput:
        names = [name for name, _ in self._skills.known()]
        name = input.skill.removeprefix("/")
        if name not in names:
            raise ToolError(f"There is no skill {name!r}. There are: {', '.join(names) or 'none'}")
        loaded = await self._skills.load(name, input.args)
        if loaded.agent and ctx.agents is not None:
            return await ctx.agents.run(
                agent=loaded.agent,
                prompt=loaded.text,
                description=f"skill {name}",
                background=loaded.background,
                model=loaded.wish.model or "",
                ctx=ctx,
            )
        ctx.state.skills[name] = loaded.text
        if loaded.wish != TurnWish():
            ctx.wish(loaded.wish)
        said = {"success": True, "commandName": name}
        return ToolOutput(content=loaded.text, summary=name, response=lambda: said)


def listing(known: Sequence[tuple[str, str]]) -> str:
    """Every name; descriptions as long as there is room for all of them."""
    room = LISTED_CHARS // len(known) if known else 0
    share = max(SHORTEST, room) if sum(len(words) for _, words in known) > LISTED_CHARS else LISTED_CHARS
    return "\n".join(f"- {name}: {words if len(words) <= share else words[: share - 1] + '…'}" for name, words in known)
