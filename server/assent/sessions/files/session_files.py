"""The files that one session changes: how it reaches them, what they were before, and its proposals on disk (S3)."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from assent.editor.proposal import Review
from assent.editor.proposals import Proposals
from assent.sessions.files.effects import Effects
from assent.sessions.files.saved_proposals import SavedProposals
from assent.sessions.files.tracked import TrackedWorkspace
from assent.sessions.live.record import Record
from assent.storage.files import SavedList
from assent.storage.history import FileHistory
from assent.types.ports import FileText, Workspace
from assent.wire.shapes import Level


class SessionFiles:
    def __init__(
        self,
        record: Record,
        *,
        cwd: str,
        workspace: Callable[[Callable[[], Review]], Workspace],
        review: Callable[[], Review],
        proposals: Proposals | None,
        turn_id: Callable[[], str],
        notice: Callable[[Level, str], None],
    ) -> None:
        """`workspace` makes the one that edits go through, told when they are reviewed."""
        self._record = record
        self._turn_id = turn_id
        self._notice = notice
        self._restoring: int | None = None  # where the rewind stands in the transcript that is putting files back
        self.history = FileHistory(record.paths.history)
        self.proposals = SavedProposals(
            record.paths.session_id, proposals, SavedList(record.paths.folder / "proposals.json")
        )
        self.workspace = TrackedWorkspace(
            workspace(lambda: "off" if self._restoring is not None else review()),
            self.history,
            at=lambda: record.end if self._restoring is None else self._restoring,
            turn_id=turn_id,
        )
        self.effects = Effects(cwd, self.history, record.paths.history, at=lambda: record.end, turn_id=turn_id)

    def before_landing(self, path: str, before: FileText | None) -> None:
        """The editor is about to land a hunk in this file: its history begins with what was there."""
        self.proposals.changed()
        try:
            self.history.before(path, before, at=self._record.end, turn_id=self._turn_id())
        except OSError as error:
            self._notice("warning", f"{path} can not be rewound: its content could not be saved ({error.strerror}).")

    @contextmanager
    def restoring(self, at: int | None = None) -> Generator[None]:
        """Files are being put back: these edits are the user's own wish and are not up for review. Those of a
        rewind count as happening where it stands itself: at the file's end they would be part of the next one, too."""
        self._restoring = self._record.end if at is None else at
        try:
            yield
        finally:
            self._restoring = None

    def close(self) -> None:
        self.proposals.save()
        self.effects.close()
        self.history.close()
