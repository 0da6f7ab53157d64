"""AskUserQuestion: questions with options, put to the user (an elicitation)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, cast

import msgspec
from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action
from assent.types.ports import Elicitation

DECLINED = "The user did not answer. Decide yourself what is most sensible, and say what you assumed."


class Option(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    label: Annotated[str, Meta(min_length=1, description="One to five words.")]
    description: Annotated[str, Meta(description="What choosing it means.")] = ""


class Question(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, rename="camel"):
    question: Annotated[str, Meta(min_length=1, description="The whole question, ending in a question mark.")]
    header: Annotated[str, Meta(description="One or two words to stand above it.")] = ""
    options: Annotated[list[Option], Meta(min_length=2, max_length=6)]
    multi_select: Annotated[bool, Meta(description="More than one may be chosen.")] = False


class AskUserQuestionInput(Input, frozen=True):
    questions: Annotated[list[Question], Meta(min_length=1, max_length=4)]


class AnsweredQuestions(AskUserQuestionInput, frozen=True):
    """As a hook may give it that asked in its own way: by question, what was answered. The model cannot say so."""

    answers: dict[str, str | list[str]]


class AskUserQuestion(Tool[AskUserQuestionInput]):
    name: ClassVar[str] = "AskUserQuestion"
    input_type: ClassVar[type[Input]] = AskUserQuestionInput
    timeout: ClassVar[float | None] = None  # people take their time

    def description(self) -> str:
        return (
            "Ask the user to choose, when the work really forks and you cannot find out yourself: requirements that "
            "are unclear, a choice between designs. One to four questions, each with two to six options; the user can "
            "always answer in own words. Do not ask for permission with it: that is asked for when it is needed."
        )

    def parse_rewritten(self, raw: object) -> AskUserQuestionInput:
        if not isinstance(raw, dict):
            return self.parse(raw)
        given = cast("Json", raw)
        if "answers" not in given:
            return self.parse(given)
        try:
            return msgspec.convert(given, AnsweredQuestions)
        except msgspec.ValidationError as error:
            raise ToolError(f"Invalid input for {self.name}: {error}") from None

    def title(self, input: AskUserQuestionInput) -> str:
        return input.questions[0].question

    def action(self, input: AskUserQuestionInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: AskUserQuestionInput, ctx: ToolContext) -> ToolOutput:
        if isinstance(input, AnsweredQuestions):
            return _answered(input, [(each.question, _given(input, each.question)) for each in input.questions])
        if ctx.elicit is None:
            return ToolOutput(content=f"Nobody can be asked here. {DECLINED}", summary="nobody to ask")
        questions = tuple(_as_json(number, question) for number, question in enumerate(input.questions, 1))
        message = input.questions[0].question if len(input.questions) == 1 else f"{len(input.questions)} questions"
        answer = await ctx.elicit(Elicitation(message=message, questions=questions))
        if answer.action != "accept":
            return ToolOutput(content=DECLINED, summary="not answered")
        answers = [
            (question.question, _chosen(f"q{number}", answer.content))
            for number, question in enumerate(input.questions, 1)
        ]
        return _answered(input, answers)


def _answered(input: AskUserQuestionInput, answers: list[tuple[str, str]]) -> ToolOutput:
    lines = [f"{question} → {chosen}" for question, chosen in answers]
    return ToolOutput(
        content="The user answered:\n" + "\n".join(lines),
        summary="; ".join(lines)[:200],
        response=lambda: {**as_json(input), "answers": dict(answers)},
    )


def _given(input: AnsweredQuestions, question: str) -> str:
    answer = input.answers.get(question, "")
    return (", ".join(answer) if isinstance(answer, list) else answer) or "(no answer)"


def _as_json(number: int, question: Question) -> Json:
    """As `assent/elicit` carries it."""
    return {
        "id": f"q{number}",
        "header": question.header or f"Question {number}",
        "question": question.question,
        "multiSelect": question.multi_select,
        "options": [
            {"label": option.label, **({"description": option.description} if option.description else {})}
            for option in question.options
        ],
        "allowOther": True,
    }


def _chosen(id: str, content: Mapping[str, Any]) -> str:
    """The labels, and the user's own words. Whatever shape a client sends, no answer is made up."""
    answers: object = content.get("answers")
    other: object = content.get("other")
    labels: object = cast("Json", answers).get(id) if isinstance(answers, Mapping) else None
    words: object = cast("Json", other).get(id) if isinstance(other, Mapping) else None
    said = [str(label) for label in cast("list[object]", labels)] if isinstance(labels, list) else []
    if isinstance(labels, str):
        said = [labels]
    if isinstance(words, str) and words.strip():
        said.append(f"in own words: {words.strip()}")
    return ", ".join(said) or "(no answer)"
