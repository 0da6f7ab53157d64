"""An engine from fields by name: each goes to the configuration, the services or the past, whichever has it."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, cast

from assent.engine.config import EngineConfig
from assent.engine.conversation_past import ConversationPast
from assent.engine.query_engine import QueryEngine
from assent.engine.services import Services
from assent.tools.tool import ToolServices

CONFIG = {each.name for each in fields(EngineConfig)} - {"memory"}
SERVICES = {each.name for each in fields(Services)}
PAST = {each.name for each in fields(ConversationPast)}
SOURCES = ("tools", "mcp_clients", "commands", "agents", "roots", "env")


def make_engine(**given: Any) -> QueryEngine:
    """`services`: a ToolServices whose fields are taken over; lists of tools and the like become sources."""
    named: dict[str, Any] = {**_of(given.pop("services", None)), **given}
    for name in SOURCES:
        if name in named and not callable(named[name]):
            named[name] = _always(cast("Sequence[Any]", named[name]))
    unknown = set(named) - CONFIG - SERVICES - PAST
    assert not unknown, f"the engine takes no {sorted(unknown)}"
    return QueryEngine(
        EngineConfig(**{name: value for name, value in named.items() if name in CONFIG}),
        Services(**{name: value for name, value in named.items() if name in SERVICES}),
        ConversationPast(**{name: value for name, value in named.items() if name in PAST}),
    )


def _of(services: ToolServices | None) -> dict[str, Any]:
    if services is None:
        return {}
    return {each.name: getattr(services, each.name) for each in fields(ToolServices)}


def _always(value: Sequence[Any]) -> Callable[[], Sequence[Any]]:
    return lambda: value
