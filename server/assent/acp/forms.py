"""The agent's questions as a form of the protocol, and the form's answer as ours. Used where a client offers forms.

Each question is a field to choose in and a field for own words, which every question of ours allows.
"""

from typing import Any, cast

from acp.schema import (
    ElicitationFormSessionMode,
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    TitledMultiSelectItems,
)

from assent.types.blocks import Json

_OWN = "_other"

Field = ElicitationStringPropertySchema | ElicitationMultiSelectPropertySchema


def form_of(session_id: str, questions: list[Json]) -> ElicitationFormSessionMode:
    fields: dict[str, Any] = {}
    for question in questions:
        fields[str(question["id"])] = _choice(question)
        if question.get("allowOther"):
            fields[f"{question['id']}{_OWN}"] = ElicitationStringPropertySchema(
                type="string", title=f"{question['header']}, in your own words"
            )
    schema = ElicitationSchema(type="object", properties=fields)
    return ElicitationFormSessionMode(session_id=session_id, requested_schema=schema)


def answer_of(answer: Any, questions: list[Json]) -> Json:
    """`assent/elicit`'s answer. A choice that was not offered is no choice."""
    action = getattr(answer, "action", None)
    if action != "accept":
        return {"action": "decline" if action == "decline" else "cancel"}
    content = cast("Json", getattr(answer, "content", None) or {})
    answers: dict[str, list[str]] = {}
    other: dict[str, str] = {}
    for question in questions:
        id = str(question["id"])
        offered = {str(option["label"]) for option in question["options"]}
        given = content.get(id)
        chosen = [given] if isinstance(given, str) else cast("list[Any]", given) if isinstance(given, list) else []
        answers[id] = [str(label) for label in chosen if label in offered]
        if isinstance(words := content.get(f"{id}{_OWN}"), str) and words.strip():
            other[id] = words
    return {"action": "accept", "content": {"answers": answers, "other": other}}


def _choice(question: Json) -> Field:
    options = [
        EnumOption(const=option["label"], title=option["label"], description=option.get("description"))
        for option in cast("list[Json]", question["options"])
    ]
    words: Json = {"title": question["header"], "description": question["question"]}
    if question.get("multiSelect"):
        return ElicitationMultiSelectPropertySchema(type="array", items=TitledMultiSelectItems(any_of=options), **words)
    return ElicitationStringPropertySchema(type="string", one_of=options, **words)
