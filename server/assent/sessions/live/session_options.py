"""The options of a session: from a request and the settings, to the file, and back."""

from typing import Any, cast

from assent.sessions.deps import EngineOptions
from assent.storage.settings import Settings
from assent.tools.structured_output import StructuredOutput
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.wire.requests import SessionNew, TaskBudget


def chosen(params: SessionNew, settings: Settings, default_model: str) -> EngineOptions:
    """What `session/new` asks for, else what the settings say."""
    budget = params.max_budget_usd if params.max_budget_usd is not None else settings.get("maxBudgetUsd")
    thinking = params.thinking if params.thinking is not None else settings.get("thinking")
    return EngineOptions(
        model=params.model or settings.get("model") or default_model,
        fallback_model=params.fallback_model or settings.get("fallbackModel"),
        thinking=thinking_config(thinking),
        effort=params.effort or settings.get("effort"),
        custom_system_prompt=params.custom_system_prompt,
        append_system_prompt=params.append_system_prompt or settings.get("appendSystemPrompt"),
        max_turns=params.max_turns or settings.get("maxTurns"),
        max_budget_usd=float(budget) if budget is not None else None,
        task_budget=params.task_budget.total if isinstance(params.task_budget, TaskBudget) else params.task_budget,
        json_schema=params.json_schema,
    )


def options_json(options: EngineOptions) -> Json:
    return {name: getattr(options, name) for name in EngineOptions.__slots__ if getattr(options, name) is not None}


def options_from(saved: object, default_model: str) -> EngineOptions:
    """Options as they were saved; what this version does not know is left out."""
    values: dict[str, Any] = cast("Json", saved) if isinstance(saved, dict) else {}
    known = {name: value for name, value in values.items() if name in EngineOptions.__slots__}
    known.setdefault("model", default_model)
    return EngineOptions(**known)


def thinking_config(value: object) -> Json | None:
    """What clients send (a switch, a number of tokens, a name, or the API's own object) as the API takes it."""
    match value:
        case None:
            return None
        case bool():
            return {"type": "adaptive"} if value else {"type": "disabled"}
        case int():
            return {"type": "enabled", "budget_tokens": value} if value > 0 else {"type": "disabled"}
        case "adaptive" | "enabled" | "disabled":
            return {"type": value}
        case {"type": "adaptive" | "enabled" | "disabled"}:
            return cast("Json", value)
        case _:
            hint = "A boolean, a number of tokens, adaptive, enabled, disabled, or an object of such a type."
            raise ProtocolError("invalidParams", f"thinking cannot be {str(value)[:100]!r}", hint=hint)


def check_schema(schema: Json) -> None:
    """Refuse an invalid schema before the model does any work. Loads a library: call it in a thread."""
    try:
        StructuredOutput(schema)
    except ToolError as error:
        raise ProtocolError("invalidParams", str(error), hint="jsonSchema is a JSON Schema of an object.") from None
