"""What a front is asking its client right now. Shared by all fronts; not aware of how a question is put."""

import asyncio
from collections.abc import Awaitable

from assent.sessions.stream.front import CannotAnswer
from assent.types.blocks import Json


class ClientQuestions:
    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Json]] = {}

    async def put(self, request_id: str, answer: Awaitable[Json]) -> Json:
        """The client's answer. Raises CannotAnswer when the question is withdrawn before there is one."""
        asking = asyncio.ensure_future(answer)
        self._open[request_id] = asking
        try:
            return await asking
        except asyncio.CancelledError:
            if asking.cancelled() and request_id not in self._open:
                raise CannotAnswer("withdrawn") from None
            asking.cancel()
            raise
        finally:
            self._open.pop(request_id, None)

    def withdraw(self, request_id: str) -> None:
        """An answer that still comes is dropped."""
        asking = self._open.pop(request_id, None)
        if asking is not None:
            asking.cancel()
