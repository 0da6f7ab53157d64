"""`assent serve --stdio` where a host is wanted: hands the editor's two pipes to the host and waits for the end.

An editor cannot tell it from a server of its own: `initialize` has been answered by `lsp.early` as always, the host
goes on from there on the very same pipes, and the process ends with the code that the server would have ended with.
Where there can be no host, or it and we do not understand each other, this process serves by itself.
"""

import binascii
import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any, NoReturn, cast

from assent.host import handshake
from assent.host.connection import NoHost, RefusedByHost, found_or_started, hello, joined
from assent.host.place import HostPlace, Unusable, place_of, prepared, supported
from assent.lsp.capabilities import position_encoding
from assent.lsp.early import Opening
from assent.lsp.served import METHODS

ServeHost = Callable[[socket.socket, HostPlace, str], None]
"""(listening socket, place, workspace): be the host, until its end."""

_TRIES = 3  # a host may end in the moment in which we find it


def run(opening: Opening, *, offline: bool, serve_host: ServeHost) -> int | Opening:
    """The exit code, once all is over; or the opening, with a word on why this process must serve it itself."""
    params = opening.initialize
    workspace = workspace_of(params) if params is not None else None
    if params is None or workspace is None or position_encoding(params.get("capabilities")) != "utf-16":
        return opening  # nothing that several windows could share
    try:
        if why := supported():
            raise Unusable(why)
        place = prepared(place_of(workspace))
        words = hello(
            methods=list(METHODS), initialize=params, unread=binascii.b2a_base64(opening.unread, newline=False).decode()
        )
        words["offline"] = words["offline"] or offline
        control = _served(place, workspace, words, opening, serve_host)
    except (Unusable, RefusedByHost) as error:
        return opening._replace(notice=f"No shared host, this window has an engine of its own: {error}")
    os.close(opening.incoming)
    os.close(opening.outgoing)
    return _end(control, params.get("processId"))


def start_only(workspace: str, *, serve_host: ServeHost) -> None:
    """Look for the workspace's host and start one if there is none. Raises Unusable or Refused."""
    if why := supported():
        raise Unusable(why)
    place = prepared(place_of(workspace))
    for attempt in range(_TRIES):
        control = found_or_started(place, _starter(place, workspace, serve_host))
        try:
            joined(control, place, hello(ping=True), ()).close()
        except NoHost:
            if attempt == _TRIES - 1:
                raise Unusable("the host ended while it was starting") from None
        else:
            return


def workspace_of(params: "dict[str, Any]") -> str | None:
    """The first folder of the workspace, if it is one on this machine."""
    folders: Any = params.get("workspaceFolders")
    first: Any = cast("list[Any]", folders)[0] if isinstance(folders, list) and folders else None
    uri: Any = cast("dict[str, Any]", first).get("uri") if isinstance(first, dict) else params.get("rootUri")
    path = _path_of(uri) if isinstance(uri, str) else params.get("rootPath")
    return path if isinstance(path, str) and os.path.isdir(path) else None  # noqa: PTH112


def _path_of(uri: str) -> str | None:
    """As `text.uris` has it, which loads `urllib`; most folders have a plain name, and an editor waits."""
    if uri.startswith("file:///") and uri.isascii() and uri.isprintable() and not set("%?#:\\") & set(uri[7:]):
        return uri[7:]
    from assent.text.uris import path_of

    return path_of(uri)


def _served(
    place: HostPlace, workspace: str, words: "dict[str, Any]", opening: Opening, serve_host: ServeHost
) -> socket.socket:
    for _ in range(_TRIES):
        control = found_or_started(place, _starter(place, workspace, serve_host))
        try:
            return joined(control, place, words, (opening.incoming, opening.outgoing))
        except NoHost:
            continue
    raise Unusable("the host ended while it was starting")


def _starter(place: HostPlace, workspace: str, serve_host: ServeHost) -> Callable[[socket.socket], None]:
    """Forks: this process is young, has one thread, and Python is already running in it.

    Twice, so that the host is nobody's child: an editor that ends our process with all its children must not end the
    engine of another window.
    """

    def start(listener: socket.socket) -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        _become_host(listener, place, workspace, serve_host)

    return start


def _become_host(listener: socket.socket, place: HostPlace, workspace: str, serve_host: ServeHost) -> NoReturn:
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        kept = listener.detach()
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        if kept != 3:
            os.dup2(kept, 3, inheritable=False)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))  # the editor's pipes, and the lock of whoever started us
        os.chdir("/")
        serve_host(socket.socket(fileno=3), place, workspace)
    finally:
        os._exit(1)


def _end(control: socket.socket, parent: Any) -> int:
    """Wait: the host says with which code, or it or the editor dies, and then so do we."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    if isinstance(parent, int) and not isinstance(parent, bool) and 0 < parent < 2**31:
        try:
            poll.register(os.pidfd_open(parent), select.POLLIN)
        except ProcessLookupError:
            return 0
        except OSError:
            pass  # an old kernel: the end of its pipe tells the host
    if not any(ready == control.fileno() for ready, _ in poll.poll()):
        return 0
    try:
        word, _ = handshake.receive(control)
    except (OSError, handshake.Broken):
        return 1
    code = word.get("exit")
    return code if isinstance(code, int) else 1
