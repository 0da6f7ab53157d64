"""A request of ours that did not work."""

from typing import Literal

Kind = Literal["failed", "needsAuth", "needsMore", "gone", "ended", "invalid", "refused"]
"""`refused`: the server answered with an error. `ended`: it ended our session and did nothing of what we asked."""


class Failed(Exception):
    """In words for people."""

    def __init__(self, message: str, kind: Kind = "failed") -> None:
        super().__init__(message)
        self.kind = kind
