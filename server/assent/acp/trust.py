"""Trust in a workspace. ACP has no dialog for it, so it is asked as a permission, once, with the first prompt.

Only a folder whose files hold something that trust would activate is asked about. Until somebody says yes, and with
every other answer, it stays restricted; a no holds for this process.
"""

from acp.schema import PermissionOption, ToolCallProgress, ToolCallStart, ToolCallUpdate

from assent.acp import calls
from assent.acp.front import AcpFront
from assent.acp.host import App
from assent.sessions.session import Session
from assent.types.ids import new_id

_OPTIONS = [
    PermissionOption(option_id="restrict", name="Stay restricted", kind="reject_once"),
    PermissionOption(option_id="trust", name="Trust this folder", kind="allow_always"),
]


async def ask(app: App, front: AcpFront, session: Session) -> None:
    if app.trust.decided(session.cwd):
        return
    withheld = app.settings.load(session.cwd, trusted=False).withheld
    if not withheld:
        return
    app.trust.set(session.cwd, trusted=False, remember="session")  # asked once, whatever comes of it
    call, title = new_id("trust"), f"Trust {session.cwd}?"
    words = "Trusting this folder would activate:\n" + "\n".join(f"- {each}" for each in withheld[:12])
    start = ToolCallStart(
        session_update="tool_call", tool_call_id=call, title=title, kind="other", status="pending",
        content=[calls.text(words)],
    )  # fmt: skip
    front.update(session.id, start)
    trusted = saved = False
    try:
        question = ToolCallUpdate(tool_call_id=call, title=title, kind="other", content=[calls.text(words)])
        trusted = await front.choose(session.id, question, _OPTIONS) == "trust"
        if trusted:
            saved = app.trust.set(session.cwd, trusted=True, remember="always")
    finally:
        said = "Trusted." if trusted else "Restricted: what this folder's own files would switch on stays off."
        if trusted and not saved:
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
