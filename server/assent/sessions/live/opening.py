"""Opens a session: a new one, or one that is resumed from its file."""

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import anyio.to_thread
import msgspec

from assent.sessions.deps import EngineOptions, SessionDeps
from assent.sessions.live.inbox import QueuedTurn
from assent.sessions.live.record import Record, saved_state
from assent.sessions.live.session import Session, Spawn
from assent.sessions.live.session_options import check_schema, chosen, options_from
from assent.sessions.live.session_services import services_of
from assent.sessions.live.stored_state import restore, state_json
from assent.storage import spending, transcript
from assent.storage.paths import SessionPaths, session_paths
from assent.tools.tool import SessionState
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Result, Spent
from assent.types.permissions import MODES, Mode
from assent.types.programs import keep_out
from assent.types.regular_files import read_regular_text
from assent.wire.asks import PendingAsk
from assent.wire.requests import SessionNew

OnChange = Callable[[Session], None]


async def create(
    deps: SessionDeps, params: SessionNew, *, epoch: str, spawn: Spawn, on_change: OnChange, data: Path | None = None
) -> Session:
    """A new session, kept under `data` if it is not to be listed with the others."""
    cwd = await anyio.to_thread.run_sync(checked_cwd, params.cwd or next(iter(deps.roots()), str(Path.home())))
    settings = deps.settings.load(cwd, trust=deps.trust.of(cwd))
    mode = params.mode or settings.get("permissions.defaultMode") or "default"
    if mode not in MODES:
        raise ProtocolError("invalidParams", f"mode must be one of {', '.join(MODES)}")
    options = _reachable(deps, chosen(params, settings, deps.default_model))
    if options.json_schema is not None:
        await anyio.to_thread.run_sync(check_schema, options.json_schema)
    paths = session_paths(data or deps.data_dir, cwd, new_id("s"))
    try:
        session = _session(deps, paths, cwd, options, mode, epoch, spawn, on_change, reopened=False)
    except OSError as error:
        words = f"conversations cannot be kept in {data or deps.data_dir}: {error.strerror or error}"
        hint = "Make the folder writable, or point XDG_DATA_HOME to one that is."
        raise ProtocolError("internal", words, hint=hint) from error
    session.title = (params.title or "")[:200]
    session.branch = await anyio.to_thread.run_sync(_branch, cwd)
    session.record.begin(sessionId=session.id, cwd=cwd, createdAt=deps.clock(), branch=session.branch)
    session.save_state()
    if data is None:  # one that is not listed runs a tool and no turn
        session.repository.start()
    return session


async def reopen(deps: SessionDeps, paths: SessionPaths, *, epoch: str, spawn: Spawn, on_change: OnChange) -> Session:
    """From the file alone: reads its two ends, and all of it only where the cost was not summed up (0.1)."""
    await anyio.to_thread.run_sync(check_format, paths.transcript)
    head, state, result, turn, spent = await anyio.to_thread.run_sync(_ends, paths.transcript)
    cwd = str(head.get("cwd") or Path.home())
    options = _reachable(deps, options_from(state.get("options"), deps.default_model))
    mode = state.get("mode")
    session = _session(
        deps, paths, cwd, options, mode if mode in MODES else "default", epoch, spawn, on_change, reopened=True
    )
    restore(session, state)
    session.turns.last_result = result
    session.spent = spent
    session.cost_usd = spent.total_cost_usd if spent else 0.0
    with contextlib.suppress(OSError):
        session.updated_at = paths.transcript.stat().st_mtime
    await session.files.proposals.load()
    asks = msgspec.convert(state.get("asks") or [], list[PendingAsk])
    session.orphans.restore(await anyio.to_thread.run_sync(_asked_in_conversation, paths.transcript, asks))
    for item in cast("list[Json]", state.get("queue") or []):
        if not await anyio.to_thread.run_sync(transcript.find_uuid, paths.transcript, str(item["uuid"])):
            session.inbox.kept.append(QueuedTurn.from_json(item))  # starts when it is sent again
    if turn is not None:
        session.interrupted = {"turnId": turn["turnId"], "messageId": turn["uuid"], "prompt": turn.get("content", [])}
        on_change(session)  # the list knows it as of its last result
    return session


def check_format(path: Path) -> None:
    """Raises for a conversation of a later version: nothing may be written behind records whose meaning is unknown."""
    version = transcript.format_of(path)
    if version > transcript.FORMAT:
        raise NewerFormat(version)


class NewerFormat(ProtocolError):
    def __init__(self, version: int) -> None:
        super().__init__(
            "unsupported",
            f"A newer version of Assent wrote this conversation (format {version}; this version knows "
            f"{transcript.FORMAT}). It can be read here, and not continued.",
            hint="Update Assent to go on with it. It can be exported and deleted as it is.",
            data={"format": version},
        )


def _session(
    deps: SessionDeps,
    paths: SessionPaths,
    cwd: str,
    options: EngineOptions,
    mode: Mode,
    epoch: str,
    spawn: Spawn,
    on_change: OnChange,
    *,
    reopened: bool,
) -> Session:
    holder: list[Session] = []
    keep_out(cwd)

    def trouble(error: OSError | None) -> None:
        for session in holder:
            if error is None:
                session.notice("info", "The conversation is being saved again.")
            else:
                why = error.strerror or str(error)
                session.notice(
                    "error", f"The conversation cannot be saved ({why}). It is kept in memory and tried again."
                )

    return_value = Session(
        deps=deps,
        record=Record(paths, secrets=deps.secrets, on_trouble=trouble, disk=deps.disk),
        epoch=epoch,
        cwd=cwd,
        options=options,
        state=SessionState(cwd=cwd, mode=mode),
        spawn=spawn,
        services=services_of,
        state_json=state_json,
        on_change=on_change,
        reopened=reopened,
    )
    holder.append(return_value)
    return return_value


def _ends(path: Path) -> tuple[Json, Json, Result | None, Json | None, Spent | None]:
    result = transcript.last_entry(path, "result")
    revived = transcript.revive(result.record) if result else None
    return (
        transcript.header(path),
        saved_state(path),
        revived if isinstance(revived, Result) else None,
        transcript.unfinished_turn(path),
        spending.spent(path),
    )


def _asked_in_conversation(path: Path, asks: list[PendingAsk]) -> list[PendingAsk]:
    """Without the asks of `assent/tool/run`: the client that waited for the result is gone."""
    return [ask for ask in asks if transcript.holds_call(path, ask.tool_use_id)]


def _reachable(deps: SessionDeps, options: EngineOptions) -> EngineOptions:
    """With a model that can be called from here: a session may have begun where there was a key, or none."""
    return replace(options, model=deps.choose_model(options.model))


def checked_cwd(cwd: str) -> str:
    """Raises ProtocolError for what is no folder."""
    path = Path(cwd)
    if not path.is_absolute():
        raise ProtocolError("invalidParams", f"cwd must be an absolute path, not {cwd!r}")
    if not os.path.isdir(cwd):  # noqa: PTH112 -- False as well for a name that no folder can have
        raise ProtocolError("invalidParams", f"{cwd} is not a folder", hint="Open a folder that exists.")
    return str(path)


_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _branch(cwd: str) -> str:
    """The git branch, read from .git/HEAD: no process is started for it."""
    for folder in (Path(cwd), *Path(cwd).parents):
        git = folder / ".git"
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if git.is_file():
                git = (folder / _line(git).removeprefix("gitdir:").strip()).resolve()
            if not git.is_dir():
                continue
            head = _line(git / "HEAD")
            if head.startswith("ref: "):
                return head.removeprefix("ref: refs/heads/")
            return head[:12] if _COMMIT.fullmatch(head) else ""  # the beginning of another file is nobody's branch
    return ""


def _line(file: Path) -> str:
    """One of git's files of a single line."""
    return read_regular_text(file, limit=10_000, follow=False).strip()
