"""MCP servers that ask the model (`sampling/createMessage`): a call beside the conversation, counted as the session's.

Only servers that the user allowed are served. The server's messages are a separate conversation: the server sees
nothing of the session, and the session's model sees nothing of that conversation.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from assent.engine.chains import chain_beside
from assent.engine.side_calls.plain_answer import BookFor, plain_answer
from assent.types.blocks import Block, Json, text_block, text_of
from assent.types.errors import ModelError
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage, UserMessage
from assent.types.ports import CallModel, ModelRequest

MOST_TOKENS = 8_192
MOST_CHARS = 400_000
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_STOPS = {"end_turn": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}


class ServerSampling:
    """`models` gives (the session's model, the small one)."""

    def __init__(self, call_model: CallModel, *, models: Callable[[str], tuple[str, str]], book: BookFor) -> None:
        self._call_model = call_model
        self._models = models
        self._book = book

    async def __call__(self, session_id: str, params: Json) -> Json:
        """{text, model, stopReason}, or {error}."""
        try:
            request = self._request(session_id, params)
        except ValueError as error:
            return {"error": str(error)}
        try:
            blocks, stop = await plain_answer(self._call_model, request, self._book, session_id)
        except ModelError as error:
            return {"error": f"the model could not be asked: {error}"}
        return {"text": text_of(blocks), "model": request.model, "stopReason": _STOPS.get(stop, stop or "endTurn")}

    def _request(self, session_id: str, params: Json) -> ModelRequest:
        """Raises ValueError for what cannot be asked."""
        if params.get("tools"):
            raise ValueError("tools are not offered in sampling")
        said = [_message(each) for each in _objects(params.get("messages"))]
        if not said or not isinstance(said[-1], UserMessage):
            raise ValueError("the last message must be the user's")
        system = str(params.get("systemPrompt") or "")
        if len(system) + sum(len(str(each.content)) for each in said) > MOST_CHARS:
            raise ValueError("the request is too long")
        wanted, temperature = params.get("maxTokens"), params.get("temperature")
        return ModelRequest(
            model=self._model(session_id, params.get("modelPreferences")),
            messages=tuple(said),
            system=(system,) if system else (),
            max_tokens=min(wanted, MOST_TOKENS) if isinstance(wanted, int) and wanted > 0 else MOST_TOKENS,
            temperature=float(temperature) if isinstance(temperature, int | float) else None,
            thinking={"type": "disabled"},
            source="subagent",
            foreground=False,
            whole=True,
            forked=True,
            chain=chain_beside(session_id),
        )

    def _model(self, session_id: str, preferences: object) -> str:
        """What the server hints at, if it is one of the two; the small one unless it wants cleverness most."""
        own, small = self._models(session_id)
        said = cast("Json", preferences) if isinstance(preferences, Mapping) else {}
        for hint in _objects(said.get("hints")):
            name = str(hint.get("name") or "").lower()
            for model in (own, small):
                if name and name in model:
                    return model

        def weight(key: str) -> float:
            value = said.get(key)
            return value if isinstance(value, int | float) else 0.0

        clever = weight("intelligencePriority")
        return own if clever > max(weight("costPriority"), weight("speedPriority")) else small


def _message(said: Json) -> UserMessage | AssistantMessage:
    content: object = said.get("content")
    items = _objects(cast("object", content) if isinstance(content, list) else [content])
    blocks = tuple(map(_block, items))
    if said.get("role") == "assistant":
        return AssistantMessage(uuid=new_id(), message_id=new_id(), content=blocks, model="")
    return UserMessage(uuid=new_id(), content=blocks)


def _block(item: Json) -> Block:
    kind, media = item.get("type"), str(item.get("mimeType", ""))
    if kind == "text":
        return text_block(str(item.get("text", "")))
    if kind == "image" and media in _IMAGES:
        source = {"type": "base64", "media_type": media, "data": str(item.get("data", ""))}
        return {"type": "image", "source": source}
    raise ValueError(f"content of the kind {kind} {media} cannot be sampled".replace("  ", " "))


def _objects(value: object) -> Sequence[Json]:
    if not isinstance(value, list):
        return ()
    return [cast("Json", each) for each in cast("list[Any]", value) if isinstance(each, dict)]
