"""The agent's side of the draft: one method per request, each put to the agent of protocol 1.

Answers are plain JSON, which the library checks and sends. A prompt is answered as soon as it is taken in; how its turn
goes is told by updates.
"""

from collections.abc import Sequence
from typing import Any, cast

from acp.schema import (
    BooleanConfigOptionCapabilities,
    ClientCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    HttpMcpServer,
    McpServerStdio,
    SessionConfigOptionsCapabilities,
)
from pydantic import BaseModel, TypeAdapter, ValidationError

from acp import Client, RequestError
from assent.acp import prompts
from assent.acp.agent import CANCELLED, AcpAgent
from assent.acp.draft.draft_client import DraftClient
from assent.acp.draft.draft_words import DraftTranslator, config_options
from assent.acp.sign_in import ModelSignIn
from assent.types.blocks import Json

VERSION = 2
BOOLEANS = ClientSessionCapabilities(
    config_options=SessionConfigOptionsCapabilities(boolean=BooleanConfigOptionCapabilities())
)
_PROMPT: TypeAdapter[list[prompts.PromptBlock]] = TypeAdapter(list[prompts.PromptBlock])


class DraftAgent:
    """`first` is the agent of protocol 1, whose sessions these are."""

    def __init__(self, first: AcpAgent) -> None:
        self._first = first
        front = first.front
        front.translating = lambda id, cwd: DraftTranslator(cwd, lambda: first.app.sessions.live[id].title)

    def on_connect(self, conn: Any) -> None:
        front = self._first.front
        self._first.on_connect(cast("Client", DraftClient(conn, front.post, front.translator, self._runs)))

    # --- the connection ----------------------------------------------------------------------------------------------

    async def initialize(
        self, protocol_version: int, info: Any, capabilities: BaseModel | None = None, **_: Any
    ) -> Json:
        offered = _json(capabilities).get("elicitation") if capabilities is not None else None
        forms = None if offered is None else ElicitationCapabilities.model_validate(offered)
        told = await self._first.initialize(VERSION, ClientCapabilities(elicitation=forms, session=BOOLEANS))
        assert told.agent_info is not None
        return {
            "protocolVersion": VERSION,
            "info": _json(told.agent_info),
            "capabilities": {
                "session": {
                    "prompt": {"image": {}, "embeddedContext": {}},
                    "mcp": {"stdio": {}, "http": {}},
                    "delete": {},
                    "additionalDirectories": {},
                    "fork": {},
                },
            },
            "authMethods": [
                {"type": "agent", "methodId": each.id, "name": each.name, "description": each.description}
                for each in ModelSignIn.methods()
            ],
        }

    async def login(self, method_id: str, **_: Any) -> Json:
        return _json(await self._first.authenticate(method_id))

    async def logout(self, **_: Any) -> Json:
        return _json(await self._first.logout())

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(self, cwd: str, **more: Any) -> Json:
        return _opened(await self._first.new_session(cwd, **_places(more)))

    async def resume_session(self, session_id: str, cwd: str, replay_from: Any = None, **more: Any) -> Json:
        if replay_from is not None and replay_from.type != "start":
            raise RequestError(-32602, f"replayFrom: {replay_from.type!r} is not known; `start` is")
        resume = self._first.resume_session if replay_from is None else self._first.load_session
        return _opened(await resume(session_id=session_id, cwd=cwd, **_places(more)))

    async def fork_session(self, session_id: str, cwd: str, **more: Any) -> Json:
        return _opened(await self._first.fork_session(session_id, cwd, **_places(more)))

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> Json:
        return _json(await self._first.list_sessions(cwd, cursor))

    async def close_session(self, session_id: str, **_: Any) -> Json:
        return _json(await self._first.close_session(session_id))

    async def delete_session(self, session_id: str, **_: Any) -> Json:
        return _json(await self._first.delete_session(session_id))

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Json:
        return _opened(await self._first.set_config_option(config_id, session_id, value))

    # --- turns -------------------------------------------------------------------------------------------------------

    async def prompt(self, session_id: str, prompt: Sequence[BaseModel], **_: Any) -> Json:
        try:
            blocks = _PROMPT.validate_python([_json(block) for block in prompt])
        except ValidationError:
            raise RequestError(-32602, "a prompt cannot hold this block") from None
        message_id = await self._first.accept(session_id, blocks)
        if message_id is None:
            raise RequestError(*CANCELLED)
        return {"messageId": message_id}

    async def cancel_session(self, session_id: str, **_: Any) -> None:
        await self._first.cancel(session_id)

    def _runs(self, session_id: str) -> bool:
        session = self._first.app.sessions.live.get(session_id)
        return session is not None and session.turns.current is not None


def _json(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _opened(answer: BaseModel) -> Json:
    """Without the modes: the mode is an option."""
    told = _json(answer)
    told.pop("modes", None)
    return {**told, "configOptions": config_options(told.get("configOptions", []))}


def _places(named: Json) -> Json:
    """Folders and servers as protocol 1 has them."""
    servers = [_server(_json(each)) for each in named.get("mcp_servers") or ()]
    return {"additional_directories": named.get("additional_directories"), "mcp_servers": servers}


def _server(server: Json) -> McpServerStdio | HttpMcpServer:
    match server["type"]:
        case "stdio":
            return McpServerStdio.model_validate({"args": [], "env": [], **server})
        case "http":
            return HttpMcpServer.model_validate({"headers": [], **server})
        case other:
            raise RequestError(-32602, f"mcpServers: a server of type {other!r} cannot be reached; stdio and http can")
