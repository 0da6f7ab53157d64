"""Files as an ACP client sees them: what the editor says a file holds IS the file. Implements the `Workspace` port.

Rules:
1. Who may be holding unsaved text is asked first. The disk answers for what the client does not offer or cannot open.
2. What was read through the client is changed through the client, or not at all: never behind an open buffer's back.
3. A client that reads but does not write may have unsaved text that a write to disk would fork; then nothing is
   written, and the model is told why. One that writes but does not read could lose it; then the disk is used.

The protocol carries no versions, so between our last look and the client's write a keystroke can slip in; the text the
client then reports is what the model is told, not what was meant.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import anyio
from acp.schema import FileSystemCapabilities
from pydantic import ValidationError

from acp import Client, RequestError
from assent.tools.files.disk_workspace import target_of
from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText, Workspace

PATIENCE = 60.0  # seconds for an editor to say what a file holds; people may be asked in between


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """One file from both sides; None where that side has none."""

    disk: FileText | None
    client: str | None  # as the client gave it, its own line ends

    @property
    def text(self) -> FileText | None:
        """The file as it counts."""
        if self.client is None:
            return self.disk
        if self.disk is not None and _same(self.disk.text, self.client):
            return self.disk
        return FileText(
            path=self.disk.path if self.disk else "", text=self.client, sha256=_sha256(self.client), version=0
        )


class ClientWorkspace:
    def __init__(
        self,
        disk: Workspace,
        *,
        client: Callable[[], Client | None],
        offered: Callable[[], FileSystemCapabilities | None],
        session_id: Callable[[], str],
    ) -> None:
        self._disk = disk
        self._client = client
        self._offered = offered
        self._session_id = session_id

    async def read(self, path: str) -> FileText:
        view = await self._look(path)
        if view.text is None:
            return await self._disk.read(path)  # says what is missing, and what was perhaps meant
        return replace(view.text, path=path)

    async def apply(self, plan: EditPlan) -> EditOutcome:
        if plan.target and target_of(plan.path) != plan.target:
            raise ToolError(f"{plan.path} leads to another place than when the change was planned; nothing was written")
        view = await self._look(plan.path)
        if view.client is None:
            creates = plan.before is None and view.disk is None and self._writes
            if creates and await self._write(plan.path, plan.new_text, may_fail=True):
                return await self._outcome(plan)
            return await self._disk.apply(plan)
        now = view.text
        if plan.before is None or now is None or now.sha256 != plan.before.sha256:
            raise ToolError(f"{plan.path} changed since it was read; Read it again, then repeat the change")
        if not self._writes:
            if view.disk is None or not _same(view.disk.text, view.client):
                raise ToolError(
                    f"{plan.path} has unsaved changes in the editor, which cannot be changed from here. "
                    "Ask the user to save it"
                )
            return await self._disk.apply(plan)
        await self._write(plan.path, _in_line_ends_of(view.client, plan.new_text))
        return await self._outcome(plan)

    async def save_barrier(self) -> str:
        return ""  # a client saves what it writes, and nothing tells which other buffers are unsaved

    def unsaved(self) -> Mapping[str, str]:
        return {}  # nothing tells which buffers are unsaved

    # --- the client --------------------------------------------------------------------------------------------------

    @property
    def _reads(self) -> bool:
        offered = self._offered()
        return offered is not None and offered.read_text_file is True

    @property
    def _writes(self) -> bool:
        """Writing blindly could overwrite text that nobody could show us."""
        offered = self._offered()
        return offered is not None and offered.write_text_file is True and self._reads

    async def _look(self, path: str) -> _View:
        try:
            disk = await self._disk.read(path)
        except FileMissing:
            disk = None
        client = self._client()
        if client is None or not self._reads:
            return _View(disk=disk, client=None)
        try:
            with anyio.fail_after(PATIENCE):
                answer = await client.read_text_file(session_id=self._session_id(), path=path)
        except (RequestError, ValidationError):
            return _View(disk=disk, client=None)  # not a file the editor can open
        except TimeoutError:
            raise ToolError(f"The editor did not say what {path} holds; try again") from None
        except ConnectionError:
            raise ToolError("The editor has gone") from None
        if disk is None and not answer.content:
            return _View(disk=None, client=None)  # some clients open an empty buffer for a file that is not there
        return _View(disk=disk, client=answer.content)

    async def _write(self, path: str, text: str, *, may_fail: bool = False) -> bool:
        client = self._client()
        assert client is not None
        try:
            with anyio.fail_after(PATIENCE):
                await client.write_text_file(session_id=self._session_id(), path=path, content=text)
        except (RequestError, ValidationError) as error:
            if may_fail:
                return False
            raise ToolError(f"{path} was not changed: the editor refused ({error})") from None
        except TimeoutError:
            raise ToolError(f"The editor did not say whether it changed {path}; Read it to find out") from None
        except ConnectionError:
            raise ToolError("The editor has gone") from None
        return True

    async def _outcome(self, plan: EditPlan) -> EditOutcome:
        """What became of it, as the client and the disk now say."""
        view = await self._look(plan.path)
        after = view.text
        if after is None or (plan.before is not None and _same(after.text, plan.before.text)):
            raise ToolError(f"{plan.path} was not changed, though the editor said so")
        notes: list[str] = []
        if not _same(after.text, plan.new_text):
            notes.append("The editor has changed the text further, perhaps by formatting it on saving.")
        if view.disk is None or not _same(view.disk.text, after.text):
            notes.append("The change is in the editor's buffer and not yet saved to disk.")
        return EditOutcome(path=plan.path, after=replace(after, path=plan.path), report=" ".join(notes))


def _same(one: str, other: str) -> bool:
    """The same lines. Editors give lines their own ends and put a file's own back when they save."""
    return one == other or one.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _in_line_ends_of(shown: str, text: str) -> str:
    return text.replace("\r\n", "\n") if "\r\n" in text and "\r\n" not in shown else text


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
