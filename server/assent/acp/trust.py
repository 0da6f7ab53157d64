"""Trust in a workspace. ACP has no dialog for it, so it is asked as a permission, once, with the first prompt.

Only a folder whose files hold something that trust would activate and that nobody approved is asked about. Until
somebody says yes, and with every other answer, it stays restricted; the same set of items is asked about once.
"""

from acp.schema import PermissionOption, ToolCallProgress, ToolCallStart, ToolCallUpdate

from assent.acp import calls
from assent.acp.front import AcpFront
from assent.acp.host import ServingApp
from assent.sessions.asking.trust_question import approve, listing, look
from assent.sessions.live.session import Session
from assent.types.ids import new_id

_OPTIONS = [
    PermissionOption(option_id="restrict", name="Stay restricted", kind="reject_once"),
    PermissionOption(option_id="trust", name="Trust this folder", kind="allow_always"),
]


async def ask(app: ServingApp, front: AcpFront, session: Session) -> None:
    shown = look(app.settings, app.trust, session.cwd)
    refused = app.trust.decided(session.cwd) and not shown.answer.trusted
    if refused or not shown.unapproved or (session.cwd, shown.hash) in front.trust_asked:
        return
    front.trust_asked.add((session.cwd, shown.hash))  # asked once, whatever comes of it
    call, title = new_id("trust"), f"Trust {session.cwd}?"
    words = listing(shown)
    start = ToolCallStart(
        session_update="tool_call", tool_call_id=call, title=title, kind="other", status="pending",
        content=[calls.text(words)],
    )  # fmt: skip
    front.update(session.id, start)
    trusted, saved = False, False
    try:
        question = ToolCallUpdate(tool_call_id=call, title=title, kind="other", content=[calls.text(words)])
        trusted = await front.choose(session.id, question, _OPTIONS) == "trust"
        if trusted:
            saved = approve(app.settings, app.trust, shown, remember="always")
            trusted = saved is not None
    finally:
        said = "Trusted." if trusted else "Restricted: what this folder's own files would switch on stays off."
        if saved is None:
            said = "Restricted: the folder's files changed while you were asked. The next prompt asks again."
        elif trusted and not saved:
            said = "Trusted until this ends; the answer could not be saved."
        front.update(
            session.id,
            ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=call,
                status="completed" if trusted else "failed",
                content=[calls.text(said)],
            ),
        )
