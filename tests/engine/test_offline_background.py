"""Background calls with the offline model behind the real engine: short, honest, and nothing where there is nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import anyio.lowlevel

from assent.model.choice import Models
from assent.model.offline.model import answer
from assent.tools.grep import Grep
from assent.types.blocks import text_block
from assent.types.messages import Message, UserMessage
from assent.types.ports import ModelEvent, ModelRequest
from enginekit import make_engine
from enginekit.stage import WAIT


async def test_what_is_asked_beside_the_conversation_is_answered_from_the_words_of_the_question(
    tmp_path: Path,
) -> None:  # L15, C4, L13
    """As the engine asks it: the calls written out, nothing of the conversation itself."""
    said: list[str] = []
    told: list[Message] = []
    models = Models(offline_only=True)

    def note(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.source in ("summary", "suggestion"):
            said.append(str(answer(request)[0]["text"]))
        return models.call(request)

    engine = make_engine(
        call_model=note,
        model_info=models.info,
        cwd=str(tmp_path),
        model="offline",
        tools=[Grep()],
        background_calls=frozenset({"summary", "suggestion"}),
        publish=told.append,
    )
    async for _ in engine.submit("find Helo"):
        pass
    with anyio.fail_after(WAIT):
        while engine._conversation.background.running:
            await anyio.lowlevel.checkpoint()
    assert said == ["Used Grep", "NONE"]
    assert told == []  # nothing to suggest is not a suggestion
    await engine.aclose()
    stretch = (
        "…\n<stretch>\nAssistant called Read with {'file_path': '/a.py'}\nAssistant called Read with {}\n</stretch>"
    )
    asked = ModelRequest(
        model="offline", messages=(UserMessage(uuid="u", content=(text_block(stretch),)),), source="collapse"
    )
    assert answer(asked)[0]["text"] == "Used Read (2).\nFiles: /a.py"
