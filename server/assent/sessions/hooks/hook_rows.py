"""The list of hooks as clients show it: those that run, those that wait for trust, and those that a setting stops."""

from collections.abc import Iterable, Sequence

from assent.extensions.hooks.handlers import Handler, HookOrigin, parse_hooks
from assent.extensions.hooks.ports import Written
from assent.extensions.hooks.registry import Registry
from assent.storage.settings import HookEntry, Settings
from assent.types.blocks import Json

TRUST_FIRST = "the folder is not trusted, or this hook was not shown when it was"


def hook_rows(
    everything: Settings, registry: Registry, plugins: Sequence[Written], *, folder: str, session_id: str
) -> list[Json]:
    """`everything` is what the folder's settings say where all of it is trusted."""
    active, for_a_while = registry.of_folder(folder), registry.of_session(session_id)
    stopped: list[Handler] = []
    if everything.only_policy_hooks:
        written = [*map(as_written, everything.stopped_hooks), *plugins]
        stopped = [*_parsed(written), *for_a_while]
    else:
        active = [*active, *for_a_while]
    known = {handler.hook_id for handler in active}
    withheld = [each for each in _parsed(map(as_written, everything.hooks)) if each.hook_id not in known]
    stops = f"{everything.only_policy_hooks} leaves only the hooks of the policy"
    return [
        *(_row(each) for each in active),
        *(_row(each, withheld=TRUST_FIRST) for each in withheld),
        *(_row(each, withheld=stops) for each in stopped),
    ]


def as_written(entry: HookEntry) -> Written:
    origin = HookOrigin(file=entry.file, source=entry.source, line=entry.line, foreign=entry.foreign)
    return Written(event=entry.event, entry=entry.entry, origin=origin)


def _parsed(entries: Iterable[Written]) -> list[Handler]:
    return [handler for each in entries for handler in parse_hooks({each.event: [each.entry]}, each.origin)[0]]


def _row(handler: Handler, *, withheld: str = "") -> Json:
    found: Json = {
        "hookId": handler.hook_id,
        "event": handler.event,
        "matcher": handler.matcher,
        "type": handler.type,
        "command": handler.command,
        "source": str(handler.origin),
        "active": not withheld,
        "timeoutMs": round(handler.seconds * 1000),
    }
    return {**found, "withheld": withheld} if withheld else found
