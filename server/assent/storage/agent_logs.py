"""The conversation of one subagent, in a file beside its session's: to be read by people, and to be gone on with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assent.storage import transcript
from assent.storage.journal import Journal
from assent.storage.lines import Secrets
from assent.types import codec
from assent.types.blocks import Json
from assent.types.messages import ConversationMessage, Message

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_HEAD = "agent/started"


class AgentLog:
    """Implements the engine's `Transcript` for one run. A later run of the same agent appends to the same file."""

    def __init__(self, path: Path, *, secrets: Secrets = lambda: ()) -> None:
        self.path = path
        self._journal = Journal(path, secrets=secrets)

    def begin(self, **facts: Any) -> None:
        self._journal.append({"type": _HEAD, **facts})

    def append(self, message: Message) -> None:
        if transcript.keep(message):
            self._journal.append(codec.to_json(message))

    async def flush(self, *, durable: bool) -> None:
        """The session's own file is what must not be lost; this one may miss its last lines after a crash."""

    def close(self) -> None:
        self._journal.close()


class AgentLogs:
    """All of one session's."""

    def __init__(self, folder: Path, *, secrets: Secrets = lambda: ()) -> None:
        self._folder = folder
        self._secrets = secrets

    def path(self, agent_id: str) -> Path | None:
        """Of an agent that has one. Ids come from models and clients, so this is where `../` ends."""
        if not _ID.fullmatch(agent_id):
            return None
        path = self._folder / f"{agent_id}.jsonl"
        return path if path.is_file() else None

    def open(self, agent_id: str) -> AgentLog:
        return AgentLog(self._folder / f"{agent_id}.jsonl", secrets=self._secrets)

    def started(self, agent_id: str) -> Json | None:
        """What was noted when it last started: name, title, parentToolUseId."""
        path = self.path(agent_id)
        entry = transcript.last_entry(path, _HEAD) if path is not None else None
        return entry.record if entry is not None else None

    def messages(self, agent_id: str) -> list[ConversationMessage]:
        """Its conversation, to go on with it."""
        path = self.path(agent_id)
        return transcript.load(path).messages if path is not None else []

    def ids(self) -> Iterator[str]:
        if self._folder.is_dir():
            yield from sorted(file.stem for file in self._folder.glob("*.jsonl") if _ID.fullmatch(file.stem))
