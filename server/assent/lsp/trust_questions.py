"""Trust in the workspace's folders, as this client sees it: what it vouched for, what it was asked, what it answered.

A folder is asked about with the first session or prompt in it whose files hold something that trust would activate and
that nobody has approved; until it is answered those items have no effect. It is asked once for each state of its files,
and nothing waits for the answer. What a client vouches for in `initialize` holds for this process, and never for hooks
and MCP servers. What trust means is decided in `storage/trust` and `sessions/asking/trust_question`.
"""

import contextlib
from collections.abc import Callable
from urllib.parse import quote

from assent.lsp.background_work import Spawn
from assent.lsp.client import ConnectedClient
from assent.lsp.plain_asks import choose
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.sessions.asking.trust_question import TrustState, approve, listing, look, question
from assent.sessions.hub import Sessions
from assent.storage.files import write_atomically
from assent.storage.settings import SettingsFiles
from assent.storage.trust import TrustStore
from assent.text.uris import uri_of
from assent.types.blocks import Json

_TRUST, _RESTRICT, _SHOW = "Trust this folder", "Stay restricted", "Show all"


class TrustQuestions:
    def __init__(
        self,
        peer: Peer,
        client: ConnectedClient,
        *,
        settings: SettingsFiles,
        store: TrustStore,
        sessions: Sessions,
        spawn: Spawn,
        answered: Callable[[], None],
    ) -> None:
        self._peer = peer
        self._client = client
        self._settings = settings
        self._store = store
        self._sessions = sessions
        self._spawn = spawn
        self._answered = answered
        self._asked: set[tuple[str, str]] = set()  # a folder and the hash of what it would activate

    def state(self, folder: str) -> TrustState:
        return look(self._settings, self._store, folder)

    def vouch(self) -> None:
        """Take over what `initialize` said of the workspace."""
        trusted = self._client.options.trusted
        if trusted is not None:
            for root in self._client.roots():
                self._store.vouch(root, trusted=trusted)

    def folders(self) -> list[Json]:
        """Every workspace folder with its trust, for `assent/status`."""
        described: list[Json] = []
        for root in self._client.roots():
            loaded = self._settings.load(root, trust=self._store.of(root))
            described.append(
                {"uri": uri_of(root), "trusted": self.state(root).trusted, "withheld": list(loaded.withheld)}
            )
        return described

    def ask_later(self, session_id: str) -> None:
        """Ask about the session's folder, unless it was asked before or there is nothing to approve. Does not wait."""
        session = self._sessions.live.get(session_id)
        if session is None:
            return
        found = self.state(session.cwd)
        refused = self._store.decided(session.cwd) and not found.answer.trusted
        if refused or not found.unapproved or (session.cwd, found.hash) in self._asked:
            return
        self._asked.add((session.cwd, found.hash))
        self._spawn(self._ask_where_possible(session.cwd))

    async def ask(self, folder: str) -> bool:
        """Ask until the answer is about what the files hold; whether the folder is trusted then.

        Raises RemoteError where the client has no dialog.
        """
        while True:
            shown = self.state(folder)
            chosen = await self._choice(shown)
            if chosen == _TRUST:
                if approve(self._settings, self._store, shown, remember="always") is None:
                    continue  # the files changed while the question was open
            elif chosen == _RESTRICT and not shown.changed:
                self._store.set(folder, trusted=False, remember="session")
            if chosen is not None:
                self._answered()
            return self.state(folder).trusted

    async def _ask_where_possible(self, folder: str) -> None:
        with contextlib.suppress(RemoteError):  # no dialog here; `assent.trust` and assent/trust/set remain
            await self.ask(folder)

    async def _choice(self, shown: TrustState) -> str | None:
        text, cut = question(shown)
        buttons = [_RESTRICT, _TRUST]  # editors pre-select the first one: it must not be a yes
        speaks_assent = self._client.speaks_assent
        offered = [*buttons, _SHOW] if cut else buttons
        chosen = await choose(self._peer, text, offered, speaks_assent=speaks_assent)
        if chosen == _SHOW:
            await self._show(shown)
            chosen = await choose(self._peer, text, buttons, speaks_assent=speaks_assent)
        return chosen

    async def _show(self, shown: TrustState) -> None:
        """Open the whole list beside the question: one of our documents where the editor reads those, else a file."""
        if self._client.can("workspace.textDocumentContent"):
            uri = document_uri(shown.folder)
        else:
            file = self._sessions.deps.data_dir / "trust.md"
            write_atomically(file, listing(shown).encode())
            uri = file.as_uri()
        with contextlib.suppress(RemoteError):
            await self._peer.request("window/showDocument", {"uri": uri, "takeFocus": False})


def document_uri(folder: str) -> str:
    return f"assent:/trust/{quote(folder, safe='')}.md"
