"""What people read of a question, made visible once for every front (`text.visible` is the policy).

Titles and reasons are display text already, so they are replaced. What is run, or sent back as an answer, stays exact
and gets a `display` beside it. Hunks of a proposal carry theirs from the editor (`editor.proposal`).
"""

from typing import Any, cast

from assent.text.visible import display, visible
from assent.types.blocks import Json


def displayed_ask(params: Json) -> Json:
    """A permission ask with display text for its command and its suggested rules."""
    shown: Json = dict(params)
    for name in ("title", "reason"):
        if isinstance(shown.get(name), str):
            shown[name] = visible(shown[name])
    if command := cast("Json | None", shown.get("command")):
        parts = [{**part, "display": visible(" ".join(part["argv"]))} for part in command["parts"]]
        shown["command"] = {**command, "display": visible(command["text"]), "parts": parts}
    if "suggestions" in shown:
        shown["suggestions"] = [
            _with_display({**each, "covers": visible(each["covers"])}, each["rule"]) for each in shown["suggestions"]
        ]
    return shown


def displayed_elicit(params: Json) -> Json:
    """A question with display text; labels go back as they came."""
    shown: Json = {**params, "message": visible(params["message"])}
    if "questions" in shown:
        shown["questions"] = [_question(each) for each in shown["questions"]]
    return _with_display(shown, shown["url"]) if shown.get("url") else shown


def _question(question: Json) -> Json:
    shown = dict(question)
    for name in ("header", "question"):
        if isinstance(shown.get(name), str):
            shown[name] = visible(shown[name])
    shown["options"] = [_option(option) for option in cast("list[Any]", shown.get("options") or [])]
    return shown


def _option(option: Json) -> Json:
    described = {"description": visible(option["description"])} if option.get("description") else {}
    return _with_display({**option, **described}, str(option.get("label", "")))


def _with_display(value: Json, text: str) -> Json:
    rendered = display(text)
    return value if rendered is None else {**value, "display": rendered}
