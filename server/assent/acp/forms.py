"""Questions as the protocol's elicitations, and their answers as ours. Used where a client offers forms or pages.

A question of the agent's is a field to choose in and a field for own words, which every question of ours allows. A form
of an MCP server has a schema of its own, which is handed on; so is a page that the person is asked to open.
"""

from typing import Any, cast

from acp.schema import (
    ElicitationCapabilities,
    ElicitationFormSessionMode,
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    ElicitationUrlSessionMode,
    EnumOption,
    TitledMultiSelectItems,
)
from pydantic import AnyUrl

from assent.extensions.mcp.form_answers import in_words
from assent.types.blocks import Json
from assent.wire.asks import Elicit
from assent.wire.shapes import Question

_OWN = "_other"

Field = ElicitationStringPropertySchema | ElicitationMultiSelectPropertySchema
Mode = ElicitationFormSessionMode | ElicitationUrlSessionMode


def asked_as(elicit: Elicit, offered: ElicitationCapabilities | None) -> Mode | None:
    """How this client can be asked what `assent/elicit` asks; None if it cannot."""
    session = elicit.session_id
    if offered is None:
        return None
    if url := elicit.url:
        id = elicit.elicit_id
        return None if offered.url is None else ElicitationUrlSessionMode(
            session_id=session, elicitation_id=id, url=AnyUrl(url)
        )  # fmt: skip
    if offered.form is None:
        return None
    if schema := elicit.schema:
        return ElicitationFormSessionMode(session_id=session, requested_schema=ElicitationSchema.model_validate(schema))
    return _form_of(session, elicit.questions) if elicit.questions else None


def words_of(elicit: Elicit) -> str:
    """What is asked; when an answer did not fit, also why."""
    if not elicit.problems:
        return elicit.message
    return f"{elicit.message}\n\nThe last answer did not fit: {in_words(elicit.problems)}"


def answer_of(answer: Any, elicit: Elicit) -> Json:
    """`assent/elicit`'s answer. A choice that was not offered is no choice."""
    action = getattr(answer, "action", None)
    if action != "accept":
        return {"action": "decline" if action == "decline" else "cancel"}
    content = cast("Json", getattr(answer, "content", None) or {})
    if not elicit.questions:
        return {"action": "accept", "content": content}
    answers: dict[str, list[str]] = {}
    other: dict[str, str] = {}
    for question in elicit.questions:
        id = question.id
        offered = {option.label for option in question.options}
        given = content.get(id)
        chosen = [given] if isinstance(given, str) else cast("list[Any]", given) if isinstance(given, list) else []
        answers[id] = [str(label) for label in chosen if label in offered]
        if isinstance(words := content.get(f"{id}{_OWN}"), str) and words.strip():
            other[id] = words
    return {"action": "accept", "content": {"answers": answers, "other": other}}


def _form_of(session_id: str, questions: list[Question]) -> ElicitationFormSessionMode:
    fields: dict[str, Any] = {}
    for question in questions:
        fields[question.id] = _choice(question)
        if question.allow_other:
            fields[f"{question.id}{_OWN}"] = ElicitationStringPropertySchema(
                type="string", title=f"{question.header}, in your own words"
            )
    schema = ElicitationSchema(type="object", properties=fields)
    return ElicitationFormSessionMode(session_id=session_id, requested_schema=schema)


def _choice(question: Question) -> Field:
    options = [
        EnumOption(const=option.label, title=option.label, description=option.description)
        for option in question.options
    ]
    words: Json = {"title": question.header, "description": question.question}
    if question.multi_select:
        return ElicitationMultiSelectPropertySchema(type="array", items=TitledMultiSelectItems(any_of=options), **words)
    return ElicitationStringPropertySchema(type="string", one_of=options, **words)
