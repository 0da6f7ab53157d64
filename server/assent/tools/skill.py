"""Skill: load the instructions of a skill into the conversation. There only where something provides skills."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills:
    """What provides skills: which there are (name and description), and the text of one with its arguments."""

    known: Callable[[], Sequence[tuple[str, str]]]
    load: Callable[[str, str], Awaitable[str]]


class SkillInput(Input, frozen=True):
    skill: Annotated[str, Meta(min_length=1, description="The skill's name.")]
    args: Annotated[str, Meta(description="Arguments, as the user would type them.")] = ""


class Skill(Tool[SkillInput]):
    name: ClassVar[str] = "Skill"
    input_type: ClassVar[type[Input]] = SkillInput

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def description(self) -> str:
        listed = "\n".join(f"- {name}: {words}" for name, words in self._skills.known())
        return f"Load a skill: instructions for a kind of task. Use one as soon as it fits the task.\nSkills:\n{listed}"

    def title(self, input: SkillInput) -> str:
        return f"Skill {input.skill}"

    def action(self, input: SkillInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)  # words only; what they lead to is judged

    async def call(self, input: SkillInput, ctx: ToolContext) -> ToolOutput:
        names = [name for name, _ in self._skills.known()]
        name = input.skill.removeprefix("/")
        if name not in names:
            raise ToolError(f"There is no skill {name!r}. There are: {', '.join(names) or 'none'}")
        return ToolOutput(content=await self._skills.load(name, input.args), summary=name)
