"""The connected editor as sessions see it: events go out as updates, asks as permission requests.

Who cannot answer has not allowed: an unknown option, a malformed reply, an error and a cancelled dialog are all a no.
Only a client that has gone leaves the question open, for the next process to put again.
"""

import logging
from collections.abc import Callable
from typing import Literal

import anyio
from acp.schema import ClientCapabilities, PermissionOption, ToolCallUpdate
from pydantic import BaseModel

from acp import Client
from assent.acp import calls, forms
from assent.acp.transport import LineTransport
from assent.acp.updates import Translator, Update
from assent.sessions.asking.questions import ClientQuestions
from assent.sessions.stream.front import CannotAnswer, FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.types.ports import ToolCall
from assent.wire.asks import Elicit, PermissionAsk

log = logging.getLogger("assent.acp")

_LASTING: dict[str, str] = {
    "session": "Allow for this session",
    "project": "Always allow in this project",
    "user": "Always allow everywhere",
}


class AcpFront:
    flags = FrontFlags(permissions=True, elicitation=True, partials=True)

    def __init__(self, transport: LineTransport) -> None:
        self._transport = transport
        self._translators: dict[str, Translator] = {}  # by session
        self._questions = ClientQuestions()
        self.client: Client | None = None
        self.capabilities = ClientCapabilities()
        self.trust_asked: set[tuple[str, str]] = set()  # a folder and the hash of what it would activate
        self.on_status: Callable[[str], None] = lambda _session_id: None
        self.translating: Callable[[str, str], Translator] = lambda _session_id, cwd: Translator(cwd)

    def opened(self, session_id: str, cwd: str) -> Translator:
        self._translators[session_id] = self.translating(session_id, cwd)
        return self._translators[session_id]

    def closed(self, session_id: str) -> None:
        self._translators.pop(session_id, None)

    def translator(self, session_id: str) -> Translator:
        return self._translators.get(session_id) or self.translating(session_id, "/")

    # --- out ---------------------------------------------------------------------------------------------------------

    def update(self, session_id: str, update: Update | BaseModel) -> None:
        body = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        for said in self.translator(session_id).rendered(body):
            self.post(session_id, said)

    def post(self, session_id: str, body: Json) -> None:
        params = {"sessionId": session_id, "update": body}
        self._transport.post({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def event(self, published: Published) -> None:
        params = published.json()
        translator = self._translators.get(params["sessionId"])
        if translator is None:
            return
        try:
            for said in translator.said(params):
                self.post(params["sessionId"], said)
            if params["event"]["type"] in ("status", "turnFinished"):
                self.on_status(params["sessionId"])
        except Exception:
            log.exception("an event could not be shown")  # the turn must not end for it

    def judging(self, session_id: str, call: ToolCall) -> None:
        """A call with a change: whoever is asked about it, or told of it, sees the change itself."""
        translator = self._translators.get(session_id)
        if call.plan is not None and translator is not None:
            translator.planned(call.tool_use_id, call.plan)

    def terminal(self, session_id: str, tool_use_id: str, terminal_id: str) -> None:
        """A call runs in this terminal of the client's, which shows its output from now on."""
        if (translator := self._translators.get(session_id)) is not None:
            self.update(session_id, translator.runs_in(tool_use_id, terminal_id))

    # --- questions ---------------------------------------------------------------------------------------------------

    async def ask(self, ask: PermissionAsk) -> Json:
        return await self._questions.put(ask.request_id, self._ask(ask))

    async def elicit(self, elicit: Elicit) -> Json:
        return await self._questions.put(elicit.request_id, self._elicit(elicit))

    def withdraw(self, request_id: str) -> None:
        self._questions.withdraw(request_id)

    async def choose(self, session_id: str, call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        """The id of the option a person chose; None for everything else. Raises CannotAnswer if the client is gone."""
        if self.client is None:
            raise CannotAnswer("no client is connected")
        try:
            answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        except anyio.get_cancelled_exc_class():
            self._transport.withdraw_request()
            raise
        except ConnectionError as error:
            raise CannotAnswer(str(error)) from None
        except Exception as error:
            log.warning("session/request_permission: %s", error)
            return None
        chosen = getattr(answer.outcome, "option_id", None)
        return chosen if chosen in {option.option_id for option in options} else None

    async def _ask(self, ask: PermissionAsk) -> Json:
        answers: dict[str, Json] = {"allow": {"decision": "allow", "scope": "once"}}
        options = [_option("reject", "Deny", "reject_once"), _option("allow", "Allow once", "allow_once")]
        for suggestion in ask.suggestions:
            scope, rules = suggestion.scope, suggestion.rules or [suggestion.rule]
            if scope in _LASTING and f"allow:{scope}" not in answers:
                answers[f"allow:{scope}"] = {"decision": "allow", "scope": scope, "rules": rules}
                words = suggestion.display or suggestion.rule
                options.append(_option(f"allow:{scope}", f"{_LASTING[scope]}: {words}", "allow_always"))
        chosen = await self.choose(ask.session_id, self._described(ask), options)
        return answers.get(chosen or "", {"decision": "deny", "message": ""})

    def _described(self, ask: PermissionAsk) -> ToolCallUpdate:
        translator = self.translator(ask.session_id)
        for update in translator.announced(ask.tool_use_id, ask.tool, ask.parent_tool_use_id):
            self.update(ask.session_id, update)
        change = translator.change(ask.tool_use_id)
        return ToolCallUpdate(
            tool_call_id=ask.tool_use_id,
            title=ask.title or ask.tool,
            kind=calls.kind_of(ask.tool),
            status="pending",
            raw_input=ask.input,
            locations=translator.places(ask.input),
            content=[*change, *_words(ask)],
        )

    async def _elicit(self, elicit: Elicit) -> Json:
        """A form, or a page to open, where the client has them. Where not, nobody was asked: the model is told so."""
        asked = forms.asked_as(elicit, self.capabilities.elicitation)
        if self.client is None or asked is None:
            return {"action": "decline"}
        try:
            answer = await self.client.create_elicitation(message=forms.words_of(elicit), mode=asked)
            if elicit.url is not None:
                await self.client.complete_elicitation(elicitation_id=elicit.elicit_id)
        except anyio.get_cancelled_exc_class():
            self._transport.withdraw_request()
            raise
        except ConnectionError as error:
            raise CannotAnswer(str(error)) from None
        except Exception as error:
            log.warning("elicitation/create: %s", error)
            return {"action": "decline"}
        return forms.answer_of(answer, elicit)


def _option(id: str, name: str, kind: Literal["allow_once", "allow_always", "reject_once"]) -> PermissionOption:
    return PermissionOption(option_id=id, name=name, kind=kind)


def _words(ask: PermissionAsk) -> list[calls.Content]:
    """Why it is asked, and what it is about: the command, the plan."""
    command, plan = ask.command, ask.input.get("plan")
    parts: list[str] = []
    if command is not None:
        parts.append(calls.fenced(command.display or command.text, "sh"))
    if ask.tool == "ExitPlanMode" and isinstance(plan, str):
        parts.append(plan)
    if ask.reason:
        parts.append(ask.reason)
    return [calls.text("\n\n".join(parts))] if parts else []
