"""The attachments that the engine adds for the model between steps (L11).

Queued user messages, notifications of background tasks, files that changed since they were read, memory beside files
that were touched, what sources found meanwhile, and reminders. Each is an `Attachment` (or the user's own message) and
goes into history, transcript and stream like anything else. Nothing here waits: a source that is not ready is read at
the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from assent.context.snip import snippable
from assent.context.thresholds import thresholds
from assent.engine.prompting.instructions import tell_hooks
from assent.engine.prompting.prompt import today
from assent.engine.turn import Turn
from assent.extensions.memory import as_context, refusals
from assent.tools.run.executor import CallResult
from assent.types.errors import ToolError
from assent.types.messages import Attachment

WATCHED_FILES = 32  # the most recently read; older ones are noticed when they are edited
TODO_EVERY = 10
PLAN_EVERY = 5
OFFER_AT = (0.5, 0.75)  # of the autocompact mark

PLAN_REMINDER = (
    "Plan mode is on: look and think, but change nothing. When the plan is ready, present it with ExitPlanMode and "
    "wait for the answer."
)


async def attach(turn: Turn, results: Sequence[CallResult]) -> None:
    """All attachments for the next model call."""
    await _brought_back(turn)
    slept = any(result.tool == "Sleep" for result in results)
    queued = turn.services.take_queued() if turn.services.take_queued is not None else ()
    await turn.publish_all(
        (*queued, *turn.conversation.inbox.take(later=slept), *turn.services.take_decisions(turn.mine))
    )
    await _finished_jobs(turn)
    await _prefetched(turn)
    await _late_context(turn)
    with anyio.move_on_after(turn.services.look_seconds):
        await _changed_files(turn)
        await _nested_memory(turn)
    await _todo_reminder(turn, results)
    await _plan_reminder(turn)
    await _offer_snips(turn)


async def attach_at_start(turn: Turn) -> None:
    """Attachments for the prompt itself: reminders, and messages that arrived while the agent was idle."""
    await turn.publish_all((*turn.conversation.inbox.take(later=True), *turn.services.take_decisions(turn.mine)))
    await _finished_jobs(turn)
    await _refused_memory(turn)
    await _late_context(turn)
    await _new_day(turn)
    with anyio.move_on_after(turn.services.look_seconds):
        await _changed_files(turn)
    if turn.app.mode == "plan":
        await turn.publish(turn.attachment("plan_mode", PLAN_REMINDER))
    await _prefetched(turn)


async def _brought_back(turn: Turn) -> None:
    """Wait for what a person took to the front again, until it ends or is sent back (S5)."""
    jobs, agents = turn.services.jobs, turn.conversation.agents
    while waits := [*(jobs.in_front(turn.mine) if jobs is not None else ()), *agents.in_front(turn.mine)]:
        await waits[0].wait()


async def _finished_jobs(turn: Turn) -> None:
    """Background commands whose end was not reported to the model yet (S5)."""
    jobs = turn.services.jobs
    notices: list[Attachment] = []
    for job in jobs.take_finished(turn.mine) if jobs is not None else []:
        how = f"{job['state']}, exit code {job['exitCode']}" if "exitCode" in job else str(job["state"])
        text = f"The background command {job['jobId']} has ended ({how}): {job['command']}"
        text += "\nRead its output with BashOutput."
        notices.append(turn.attachment("task_notification", text, dict(job)))
    await turn.publish_all(notices)


async def _prefetched(turn: Turn) -> None:
    """Sources are asked in the background at each step; only what has settled by the next one is used."""
    known = turn.conversation
    done = [task for task in known.prefetches if task.done() and not task.cancelled()]
    known.prefetches = [task for task in known.prefetches if not task.done()]
    await turn.publish_all(attachment for task in done for attachment in task.result() or ())
    if not known.prefetches:
        known.prefetches = [
            turn.background.spawn(source(), name="attachment source") for source in turn.services.attachment_sources
        ]


async def _late_context(turn: Turn) -> None:
    """Memory, and the system context, that had not loaded when the context was frozen."""
    context = turn.conversation.context
    if context is not None and context.late is not None and context.late.done():
        turn.conversation.context = replace(context, late=None)
        files = (context.late.result() or []) if not context.late.cancelled() else []
        if notes := as_context(files):
            await turn.publish(turn.attachment("memory", notes))
        tell_hooks(turn, files)
        await _tell(turn, refusals(files))
    context = turn.conversation.context
    if context is not None and context.late_system is not None and context.late_system.done():
        turn.conversation.context = replace(context, late_system=None)
        words = None if context.late_system.cancelled() else context.late_system.result()
        if words and words.strip():
            await turn.publish(turn.attachment("system_context", words))


async def _refused_memory(turn: Turn) -> None:
    context = turn.conversation.context
    if context is not None and context.loaded:
        tell_hooks(turn, context.loaded)
        turn.conversation.context = context = replace(context, loaded=())
    if context is not None and context.refused:
        turn.conversation.context = replace(context, refused=())
        await _tell(turn, context.refused)


async def _tell(turn: Turn, refused: Sequence[str]) -> None:
    for text in refused:
        await turn.notice(text, "warning")


async def _new_day(turn: Turn) -> None:
    """The date is frozen with the context; after midnight the model gets the new date."""
    context, date = turn.conversation.context, today(turn.services)
    if context is not None and context.date and context.date != date:
        turn.conversation.context = replace(context, date=date)
        await turn.publish(turn.attachment("date", date))


async def _changed_files(turn: Turn) -> None:
    """Files that are not what the model last saw of them, on disk or in the editor."""
    marks = turn.app.read_files
    told = turn.conversation.told_changed
    for path in list(marks)[-WATCHED_FILES:]:
        mark = marks.get(path)  # others may have forgotten it while we looked at the one before
        if mark is None:
            continue
        if mark.version is None and _mtime(path) == mark.mtime_ns:
            continue
        try:
            now = await turn.services.workspace.read(path)
        except ToolError:
            continue
        if now.sha256 == mark.sha256 or told.get(path) == now.sha256:
            continue
        told[path] = now.sha256
        text = f"{path} has changed since you read it, by the user or another program. Read it again before editing it."
        await turn.publish(turn.attachment("file_changed", text, {"path": path}))


async def _nested_memory(turn: Turn) -> None:
    """Memory files in the folders of what was just touched, each once until a compaction."""
    memory, known = turn.services.memory, turn.conversation
    if memory is None or not turn.config.memory:
        return
    for path in list(turn.app.read_files)[-WATCHED_FILES:]:
        if path in known.looked_in:
            continue
        known.looked_in.add(path)  # a rule may count for this file alone
        found = await memory.nested(path, turn.app.cwd)
        fresh = [file for file in found if not file.refused and file.path not in known.nested_memory]
        known.nested_memory.update(file.path for file in fresh)
        if notes := as_context(fresh):
            await turn.publish(turn.attachment("memory", notes, {"paths": [file.path for file in fresh]}))
        tell_hooks(turn, fresh, touched=path)
        wrong = [text for text in refusals(found) if text not in known.told_refused]
        known.told_refused.update(wrong)
        await _tell(turn, wrong)


async def _todo_reminder(turn: Turn, results: Sequence[CallResult]) -> None:
    if any(result.tool == "TodoWrite" for result in results):
        turn.conversation.steps_without_todos = 0
        return
    turn.conversation.steps_without_todos += 1
    if turn.app.todos and turn.conversation.steps_without_todos >= TODO_EVERY:
        turn.conversation.steps_without_todos = 0
        items = "\n".join(f"- [{item.get('status')}] {item.get('content')}" for item in turn.app.todos)
        text = f"The todo list has not changed for a while. Bring it up to date if it no longer fits.\n{items}"
        await turn.publish(turn.attachment("todo_reminder", text))


async def _plan_reminder(turn: Turn) -> None:
    if turn.app.mode == "plan" and turn.steps % PLAN_EVERY == 0:
        await turn.publish(turn.attachment("plan_mode", PLAN_REMINDER))


async def _offer_snips(turn: Turn) -> None:
    """When the window fills, list once for the model the messages it could snip (C2)."""
    if "Snip" not in turn.tools:
        return
    marks = thresholds(turn.info)
    full = turn.window.count(turn.history.view()) / max(1, marks.autocompact)
    if not any(turn.window.offered_at < mark <= full for mark in OFFER_AT):
        return
    turn.window.offered_at = full
    offered = turn.window.offered = snippable(turn.history.view())
    if offered:
        rows = "\n".join(f"{n}: {each.label}, about {each.tokens:,} tokens" for n, each in enumerate(offered, 1))
        text = (
            f"The context window is {round(100 * full)} % full. If you no longer need the output of some of these "
            f"calls, let go of them with Snip by number:\n{rows}"
        )
        await turn.publish(turn.attachment("context_full", text))


def _mtime(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return -1
