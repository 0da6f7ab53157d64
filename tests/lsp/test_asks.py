"""Questions to people over the wire: asked, answered, withdrawn, re-sent, and put in plain LSP where need be."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.wire.asks import Elicit, PermissionAsk
from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def new(client: Client, **params: Any) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


def bash(api: FakeApi, command: str = "touch made.txt") -> None:
    """Script one turn: a command that needs asking, then words."""
    api.reply(tool("Bash", command=command))
    api.reply(text("Done."))


def begin(client: Client, session: str, prompt: str = "go") -> asyncio.Future[Any]:
    return client.start_request("assent/session/send", {"sessionId": session, "prompt": prompt, "wait": True})[1]


async def finished(answer: asyncio.Future[Any]) -> Json:
    async with asyncio.timeout(60):
        return (await answer)["result"]


async def asked(client: Client, method: str = "assent/permission/ask", *, after: int = 0) -> Json:
    return await client.wait_for(lambda m: m.get("method") == method, after=after)


async def never(_params: Json) -> Json:
    """A person who does not answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_an_ask_carries_what_is_to_be_judged_and_an_allow_lets_it_run(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = await new(client)
    bash(api)
    start = len(client.heard)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    result = await finished(begin(client, session))
    assert result["permissionDenials"] == []
    assert (workspace / "made.txt").exists()
    (workspace / "made.txt").unlink()
    ask = (await asked(client, after=start))["params"]
    msgspec.convert(ask, PermissionAsk)
    assert (ask["sessionId"], ask["tool"], ask["input"]) == (session, "Bash", {"command": "touch made.txt"})
    assert ask["command"]["text"] == "touch made.txt"
    kinds = [
        m["params"]["event"]["type"] if m.get("method") == "assent/session/event" else m.get("method")
        for m in client.heard[start:]
    ]
    order = ["permissionPending", "assent/permission/ask", "permissionResolved", "toolStarted", "turnFinished"]
    assert [kind for kind in kinds if kind in order] == order


async def test_one_answer_keeps_a_rule_for_each_command_of_a_line(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = await new(client)
    for first, second in (("one", "two"), ("three", "four")):
        api.reply(tool("Bash", command=f"touch made/{first} && mkdir made/{second}"))
    api.reply(text("Done."))
    asks: list[Json] = []

    def always(params: Json) -> Json:
        asks.append(params)
        suggestion = params["suggestions"][0]
        return {"decision": "allow", "scope": suggestion["scope"], "rules": suggestion["rules"]}

    (workspace / "made").mkdir()
    client.answers["assent/permission/ask"] = always
    await finished(begin(client, session))
    assert sorted(path.name for path in (workspace / "made").iterdir()) == ["four", "one", "three", "two"]
    [ask] = asks  # the second line is covered
    assert ask["suggestions"][0]["rules"] == ["Bash(touch:*)", "Bash(mkdir:*)"]
    assert ask["suggestions"][0]["display"] == "Bash(touch:*) and Bash(mkdir:*)"
    shutil.rmtree(workspace / "made")


async def test_of_several_rules_a_wrong_one_keeps_them_all_from_being_saved(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = await new(client)
    api.reply(tool("Bash", command="touch made.txt"))
    api.reply(tool("Bash", command="touch made.txt"))
    api.reply(text("Done."))
    start = len(client.heard)
    answer = {"decision": "allow", "scope": "session", "rules": ["Bash(touch:*)", "Bash("]}
    client.answers["assent/permission/ask"] = lambda params: answer
    await finished(begin(client, session))
    asks = [m for m in client.heard[start:] if m.get("method") == "assent/permission/ask"]
    assert len(asks) == 2
    notices = [m["params"]["event"] for m in client.heard[start:] if m.get("method") == "assent/session/event"]
    assert any("is not a rule" in event["text"] for event in notices if event["type"] == "notice")
    (workspace / "made.txt").unlink()


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "deny", "message": "not today"},
        {"decision": "perhaps"},
        {},
        None,
        "allow",
        [],
        {"decision": True},
        {"decision": ["allow"]},
        {"decision": "allow", "scope": "forever"},
        {"decision": "allow", "scope": ""},
        {"decision": "allow", "updatedInput": "touch other.txt"},
        RpcError({"code": -32603, "message": "the dialog broke"}),
        RpcError({"code": -32800, "message": "cancelled"}),
    ],
)
async def test_any_answer_but_allow_is_a_deny(client: Client, api: FakeApi, workspace: Path, answer: Any) -> None:
    session = await new(client)
    bash(api)
    start = len(client.heard)

    def reply(_params: Json) -> Any:
        if isinstance(answer, RpcError):
            raise answer
        return answer

    client.answers["assent/permission/ask"] = reply
    result = await finished(begin(client, session))
    assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Bash"]
    assert not (workspace / "made.txt").exists()
    resolved = await client.wait_event("permissionResolved", session_id=session, after=start)
    assert resolved["event"]["decision"] == "deny"
    assert not [m for m in client.heard[start:] if m.get("method") == "window/showMessageRequest"]


async def test_a_client_that_claims_asks_but_does_not_know_them_is_asked_in_plain_words(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = await new(client)
    bash(api)
    client.answers.pop("assent/permission/ask", None)  # MethodNotFound, which is no answer
    client.answers["window/showMessageRequest"] = lambda params: {"title": "Allow once"}
    await finished(begin(client, session))
    del client.answers["window/showMessageRequest"]
    assert (workspace / "made.txt").exists()
    (workspace / "made.txt").unlink()


async def test_an_editor_that_fails_to_ask_a_question_cancels_it(client: Client, api: FakeApi) -> None:
    session = await new(client)
    question = {"question": "Tabs?", "header": "Style", "options": [{"label": "yes"}, {"label": "no"}]}
    api.reply(tool("AskUserQuestion", questions=[{**question, "multiSelect": False}]))
    api.reply(text("So be it."))
    start = len(client.heard)

    def broken(_params: Json) -> Json:
        raise RpcError({"code": -32603, "message": "no window"})

    client.answers["assent/elicit"] = broken
    assert (await finished(begin(client, session)))["subtype"] == "success"
    assert not [m for m in client.heard[start:] if m.get("method") == "window/showMessageRequest"]


async def test_a_denial_with_words_reaches_the_model(client: Client, api: FakeApi) -> None:
    session = await new(client)
    bash(api)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "deny", "message": "use make instead"}
    await finished(begin(client, session))
    assert "use make instead" in str(api.calls[-1].messages)


async def test_a_changed_input_is_what_runs(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    bash(api, "touch wrong.txt")
    client.answers["assent/permission/ask"] = lambda params: {
        "decision": "allow",
        "updatedInput": {"command": "touch right.txt"},
    }
    await finished(begin(client, session))
    assert (workspace / "right.txt").exists()
    assert not (workspace / "wrong.txt").exists()
    (workspace / "right.txt").unlink()


async def test_an_interrupt_withdraws_the_ask_and_a_late_answer_is_dropped(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = await new(client)
    bash(api)
    late = asyncio.Event()

    async def slow(params: Json) -> Json:
        await late.wait()
        return {"decision": "allow"}

    client.answers["assent/permission/ask"] = slow
    start = len(client.heard)
    turn = begin(client, session)
    ask = await asked(client, after=start)
    await client.request("assent/session/interrupt", {"sessionId": session})
    request_id = ask["params"]["requestId"]
    assert await client.wait_notification("assent/withdrawn", after=start) == {"requestId": request_id}
    cancelled = await client.wait_for(lambda m: m.get("method") == "$/cancelRequest", after=start)
    assert cancelled["params"] == {"id": ask["id"]}
    assert (await client.wait_event("permissionResolved", session_id=session))["event"]["askId"] == ask["params"][
        "askId"
    ]
    assert (await finished(turn))["terminal"] == "aborted_tools"
    late.set()
    assert await client.request("assent/session/list", {})  # the late answer came first and harmed nothing
    assert not (workspace / "made.txt").exists()


async def test_an_open_ask_is_listed_and_sent_again_on_attach(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    bash(api)
    seen: list[Json] = []

    async def only_the_second(params: Json) -> Json:
        seen.append(params)
        return {"decision": "allow"} if len(seen) == 2 else await never(params)

    client.answers["assent/permission/ask"] = only_the_second
    start = len(client.heard)
    turn = begin(client, session)
    first = (await asked(client, after=start))["params"]
    middle = len(client.heard)
    attached = await client.request("assent/session/attach", {"sessionId": session})
    assert [ask["askId"] for ask in attached["pendingAsks"]] == [first["askId"]]
    again = (await asked(client, after=middle))["params"]
    assert again["askId"] == first["askId"]
    assert again["requestId"] != first["requestId"]
    assert (await finished(turn))["permissionDenials"] == []
    (workspace / "made.txt").unlink()


async def test_a_session_rule_is_not_asked_about_again(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    bash(api)
    start = len(client.heard)
    client.answers["assent/permission/ask"] = lambda params: {
        "decision": "allow",
        "scope": "session",
        "rule": "Bash(touch:*)",
    }
    await finished(begin(client, session))
    bash(api)
    await finished(begin(client, session))
    assert len([m for m in client.heard[start:] if m.get("method") == "assent/permission/ask"]) == 1
    (workspace / "made.txt").unlink()


async def test_questions_of_the_model_are_elicited(client: Client, api: FakeApi) -> None:
    session = await new(client)
    options = [{"label": "tabs", "description": "wide"}, {"label": "spaces", "description": "even"}]
    question = {"question": "Tabs or spaces?", "header": "Style", "options": options, "multiSelect": False}
    api.reply(tool("AskUserQuestion", questions=[question]))
    api.reply(text("So be it."))
    start = len(client.heard)

    def answer(params: Json) -> Json:
        return {"action": "accept", "content": {"answers": {params["questions"][0]["id"]: ["tabs"]}}}

    client.answers["assent/elicit"] = answer
    await finished(begin(client, session))
    elicit = (await asked(client, "assent/elicit", after=start))["params"]
    msgspec.convert(elicit, Elicit)
    assert len([key for key in ("questions", "schema", "url") if key in elicit]) == 1
    assert "tabs" in str(api.calls[-1].messages[-1])


# --- plain clients --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain_home(place: Path) -> Path:
    return place / "plain"


async def plain(connect: Connect, api: FakeApi, home: Path) -> Client:
    return await connect(api=api, home=home)


async def test_a_plain_client_is_asked_by_show_message_request(
    connect: Connect, api: FakeApi, plain_home: Path, workspace: Path
) -> None:
    client = await plain(connect, api, plain_home)
    shown: list[Json] = []

    def choose(title: str) -> Any:
        def answer(params: Json) -> Json | None:
            shown.append(params)
            return {"title": title} if title else None

        return answer

    session = await new(client)
    for title, runs in (("Allow once", True), ("Deny", False), ("", False), ("Something else", False)):
        bash(api)
        client.answers["window/showMessageRequest"] = choose(title)
        result = await finished(begin(client, session))
        assert (workspace / "made.txt").exists() is runs, title
        (workspace / "made.txt").unlink(missing_ok=True)
        assert result["subtype"] == "success"
    titles = [action["title"] for action in shown[0]["actions"]]
    assert titles[:2] == ["Deny", "Allow once"]  # what an editor pre-selects is never a yes
    assert "touch made.txt" in shown[0]["message"]


async def test_a_client_without_dialogs_answers_by_code_action(
    connect: Connect, api: FakeApi, plain_home: Path, workspace: Path
) -> None:
    client = await plain(connect, api, plain_home)
    session = await new(client)
    uri = (workspace / "greeter.py").as_uri()
    nowhere = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    params: Json = {"textDocument": {"uri": uri}, "range": nowhere, "context": {"diagnostics": []}}
    for words, runs in (("Allow once", True), ("Deny", False)):
        bash(api)
        start = len(client.heard)
        turn = begin(client, session)
        message = await client.wait_notification("window/showMessage", after=start)
        assert "waiting for your answer" in message["message"]
        assert not turn.done()  # nobody was able to ask: that is not a deny
        actions = await client.request("textDocument/codeAction", params)
        action = next(a for a in actions if a["title"].startswith(f"Assent: {words}"))
        assert action["command"]["command"] == "assent.answerAsk"
        await client.request("workspace/executeCommand", action["command"])
        await finished(turn)
        assert (workspace / "made.txt").exists() is runs
        (workspace / "made.txt").unlink(missing_ok=True)
    actions = await client.request("textDocument/codeAction", params)
    assert not [a for a in actions if "answerAsk" in str(a)]


async def test_a_plain_client_is_asked_questions_with_one_button_each(
    connect: Connect, api: FakeApi, plain_home: Path
) -> None:
    client = await plain(connect, api, plain_home)
    session = await new(client)
    options = [{"label": "tabs", "description": "wide"}, {"label": "spaces", "description": "even"}]
    question = {"question": "Tabs or spaces?", "header": "Style", "options": options, "multiSelect": False}
    api.reply(tool("AskUserQuestion", questions=[question]))
    api.reply(text("So be it."))
    client.answers["window/showMessageRequest"] = lambda params: {"title": "spaces"}
    await finished(begin(client, session))
    assert "spaces" in str(api.calls[-1].messages[-1])
    api.reply(tool("AskUserQuestion", questions=[question]))
    api.reply(text("So be it."))
    client.answers["window/showMessageRequest"] = lambda params: {"title": "Decline"}
    await finished(begin(client, session))
    assert "So be it." in str(client.events(session, "turnFinished")[-1])
