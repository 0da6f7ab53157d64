"""The workspace itself: its folders change, the progress of a turn is cancelled."""

from typing import Any

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.lsp.rpc.peer import params_object
from assent.types.programs import keep_out


@server.feature("workspace/didChangeWorkspaceFolders")
def did_change_folders(ls: BaseServer, params: Any) -> None:
    before = ls.client.roots()
    ls.client.change_folders(params_object(params))
    keep_out(*ls.client.roots())
    ls.app.sessions.folders_added(root for root in ls.client.roots() if root not in before)
    ls.status.publish()


@server.feature("window/workDoneProgress/cancel")
def cancel_progress(ls: BaseServer, params: Any) -> None:
    ls.progress.cancelled(params)
