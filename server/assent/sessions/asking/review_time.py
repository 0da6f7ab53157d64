"""When the edits of a session are reviewed: before they land, after, or never."""

from collections.abc import Callable

from assent.editor.proposal import Review
from assent.storage.settings import Settings
from assent.types.permissions import Mode


class ReviewTime:
    def __init__(self, *, shown: bool, settings: Callable[[], Settings], mode: Callable[[], Mode]) -> None:
        """`shown`: there are clients that show proposals."""
        self._shown = shown
        self._settings = settings
        self._mode = mode
        self.chosen: Review | None = None  # for this session alone

    @property
    def now(self) -> Review:
        """ "before" in default mode, "after" where edits need no ask, "off" without a client that shows proposals."""
        if not self._shown:
            return "off"
        return self._set or ("before" if self._mode() in ("default", "plan", "dontAsk") else "after")

    @property
    def allowed_edits_wait(self) -> bool:
        """Whether an edit that needs no asking waits for its review: only where someone said so."""
        return self._shown and self._set == "before"

    @property
    def _set(self) -> Review | None:
        """What someone set: for this session, or in the settings."""
        chosen = self.chosen or self._settings().get("review")
        return chosen if chosen in ("before", "after", "off") else None
