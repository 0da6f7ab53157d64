"""How a session begins: new, or again from its file."""

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import anyio.to_thread

from assent.sessions.deps import EngineOptions, SessionDeps
from assent.sessions.live.inbox import Turn
from assent.sessions.live.options import check_schema, chosen, options_from
from assent.sessions.live.record import VERSION, Record, saved_state
from assent.sessions.live.session import Session, Spawn
from assent.storage import spending, transcript
from assent.storage.paths import SessionPaths, session_paths
from assent.storage.settings import Behaviour, SourcedRule
from assent.tools.tool import SessionState
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ids import new_id
from assent.types.messages import Result, Spent
from assent.types.permissions import MODES, Mode
from assent.types.programs import keep_out
from assent.types.regular_files import read_regular_text

OnChange = Callable[[Session], None]


async def create(
    deps: SessionDeps, params: Json, *, epoch: str, spawn: Spawn, on_change: OnChange, data: Path | None = None
) -> Session:
    """A new session, kept under `data` if it is not to be listed with the others."""
    cwd = await anyio.to_thread.run_sync(_checked_cwd, params.get("cwd") or next(iter(deps.roots()), str(Path.home())))
    settings = deps.settings.load(cwd, trust=deps.trust.of(cwd))
    mode = params.get("mode") or settings.get("permissions.defaultMode") or "default"
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
    session.title = str(params.get("title") or "")[:200]
    session.branch = await anyio.to_thread.run_sync(_branch, cwd)
    session.record.note(
        "header", version=VERSION, sessionId=session.id, cwd=cwd, createdAt=deps.clock(), branch=session.branch
    )
    session.save_state()
    if data is None:  # one that is not listed runs a tool and no turn
        session.repository.start()
    return session


async def reopen(deps: SessionDeps, paths: SessionPaths, *, epoch: str, spawn: Spawn, on_change: OnChange) -> Session:
    """From the file alone: reads its two ends, and all of it only where the cost was not summed up (0.1)."""
    head, state, result, turn, spent = await anyio.to_thread.run_sync(_ends, paths.transcript)
    cwd = str(head.get("cwd") or Path.home())
    options = _reachable(deps, options_from(state.get("options"), deps.default_model))
    mode = state.get("mode")
    session = _session(
        deps, paths, cwd, options, mode if mode in MODES else "default", epoch, spawn, on_change, reopened=True
    )
    session.title = str(state.get("title", ""))
    session.branch = str(state.get("branch", ""))
    session.turns.count = int(state.get("turns", 0))
    session.state.todos = cast("list[Json]", state.get("todos") or [])
    session.state.plan = str(state.get("plan") or "")
    session.state.cwd = str(state.get("cwd") or cwd)
    review = state.get("review")
    session.chosen_review = review if review in ("before", "after", "off") else None
    session.turns.last_result = result
    session.spent = spent
    session.cost_usd = spent.total_cost_usd if spent else 0.0
    with contextlib.suppress(OSError):
        session.updated_at = paths.transcript.stat().st_mtime
    await session.proposals.load()
    session.late.restore(state.get("late"))
    session.snips.restore(state.get("snips"))
    asks = cast("list[Json]", state.get("asks") or [])
    session.orphans.restore(await anyio.to_thread.run_sync(_asked_in_conversation, paths.transcript, asks))
    for rule in cast("list[str]", state.get("rules") or []):
        session.rules.append(SourcedRule(rule=rule, source="session", behaviour="allow"))
    for behaviour, rule in cast("list[tuple[Behaviour, str]]", state.get("restrictions") or []):
        session.rules.append(SourcedRule(rule=rule, source="session", behaviour=behaviour))
    for item in cast("list[Json]", state.get("queue") or []):
        if not await anyio.to_thread.run_sync(transcript.find_uuid, paths.transcript, str(item["uuid"])):
            session.inbox.kept.append(Turn.from_json(item))  # starts when it is sent again
    if turn is not None:
        session.interrupted = {"turnId": turn["turnId"], "messageId": turn["uuid"], "prompt": turn.get("content", [])}
        on_change(session)  # the list knows it as of its last result
    return session


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
            session.trouble(error)

    return_value = Session(
        deps=deps,
        record=Record(paths, secrets=deps.secrets, on_trouble=trouble, disk=deps.disk),
        epoch=epoch,
        cwd=cwd,
        options=options,
        state=SessionState(cwd=cwd, mode=mode),
        spawn=spawn,
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


def _asked_in_conversation(path: Path, asks: list[Json]) -> list[Json]:
    """Without those of `assent/tool/run`: whoever wanted that result is gone."""
    return [ask for ask in asks if transcript.holds_call(path, str(ask["toolUseId"]))]


def _reachable(deps: SessionDeps, options: EngineOptions) -> EngineOptions:
    """With a model that can be called from here: a session may have begun where there was a key, or none."""
    return replace(options, model=deps.choose_model(options.model))


def _checked_cwd(cwd: str) -> str:
    path = Path(cwd)
    if not path.is_absolute():
        raise ProtocolError("invalidParams", f"cwd must be an absolute path, not {cwd!r}")
    if not path.is_dir():
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
