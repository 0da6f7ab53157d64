"""Pending hunks for clients that have no review of their own: Information diagnostics, kept up to date.

Source "assent", code the hunk's id, message a short diff. Clients that claim `review` get none.
"""

from collections.abc import Callable

from assent.editor.diagnostics import OWN_SOURCE
from assent.editor.news import ProposalEvent
from assent.editor.proposals import Proposals
from assent.editor.surfaces import hunk_diagnostics
from assent.lsp.client import ConnectedClient
from assent.lsp.rpc.peer import Peer
from assent.types.blocks import Json

SOURCE = OWN_SOURCE


class HunkMarks:
    def __init__(
        self, peer: Peer, client: ConnectedClient, proposals: Proposals, *, refresh_lenses: Callable[[], None]
    ) -> None:
        self._peer = peer
        self._proposals = proposals
        self._refresh_lenses = refresh_lenses
        self._shown: dict[str, list[Json]] = {}  # by uri, as last published
        self.close: Callable[[], None] = lambda: None
        if not client.flags.review:
            self.close = proposals.listen(self._changed)

    def _changed(self, event: ProposalEvent) -> None:
        uri = str(event.proposal["uri"])
        marks = hunk_diagnostics(self._proposals.list(uri=uri))
        if marks != self._shown.get(uri, []):
            self._shown[uri] = marks
            self._peer.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": marks})
        self._refresh_lenses()
