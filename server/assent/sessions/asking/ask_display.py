"""What people read of a question, made visible once for every front (`text.visible` is the policy).

Titles and reasons are display text already, so they are replaced. What is run, or sent back as an answer, stays exact
and gets a `display` beside it. Hunks of a proposal carry theirs from the editor (`editor.proposal`).
"""

from msgspec.structs import replace

from assent.text.visible import display, visible
from assent.wire.asks import PendingAsk, PendingElicit
from assent.wire.shapes import CommandPart, Option, Question, ShellCommand, Suggestion


def displayed_ask(ask: PendingAsk) -> PendingAsk:
    """A permission ask with display text for its command and its suggested rules."""
    return replace(
        ask,
        title=visible(ask.title),
        reason=visible(ask.reason),
        command=None if ask.command is None else _command(ask.command),
        suggestions=[_suggestion(each) for each in ask.suggestions],
    )


def _command(command: ShellCommand) -> ShellCommand:
    return replace(command, display=visible(command.text), parts=[_part(each) for each in command.parts])


def _part(part: CommandPart) -> CommandPart:
    return replace(part, display=visible(" ".join(part.argv)))


def _suggestion(suggestion: Suggestion) -> Suggestion:
    several = suggestion.rules
    shown = " and ".join(visible(rule) for rule in several) if several else display(suggestion.rule)
    return replace(suggestion, covers=visible(suggestion.covers), display=shown)


def displayed_elicit(elicit: PendingElicit) -> PendingElicit:
    """A question with display text; labels go back as they came."""
    return replace(
        elicit,
        message=visible(elicit.message),
        questions=None if elicit.questions is None else [_question(each) for each in elicit.questions],
        display=None if elicit.url is None else display(elicit.url),
    )


def _question(question: Question) -> Question:
    return replace(
        question,
        header=visible(question.header),
        question=visible(question.question),
        options=[_option(each) for each in question.options],
    )


def _option(option: Option) -> Option:
    description = visible(option.description) if option.description else option.description
    return replace(option, description=description, display=display(option.label))
