"""Pending hunks for clients that have no review of their own: Information diagnostics, kept up to date.

Source "assent", code the hunk's id, message a short diff. Clients that claim `review` get none.
"""

from typing import TYPE_CHECKING

from assent.editor.diagnostics import OWN_SOURCE
from assent.editor.proposals import ProposalEvent
from assent.editor.surfaces import hunk_diagnostics
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

SOURCE = OWN_SOURCE


class HunkMarks:
    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._shown: dict[str, list[Json]] = {}  # by uri, as last published
        if not connection.client.flags.review:
            connection.app.editor.proposals.listen(self._changed)

    def _changed(self, event: ProposalEvent) -> None:
        connection = self._connection
        uri = str(event.proposal["uri"])
        here = connection.app.editor.proposals.list(uri=uri)
        marks = hunk_diagnostics(here)
        if marks != self._shown.get(uri, []):
            self._shown[uri] = marks
            connection.peer.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": marks})
        connection.refresh_lenses()
