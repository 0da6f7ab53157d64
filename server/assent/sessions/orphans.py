"""Asks whose process died before anyone answered (Q11): put once more, at the first attach or turn, then denied.

The question opens again when a client attaches; the call itself runs, or not, at the start of the next turn, where the
engine takes it up. An answer given before that is kept for it. A second crash does not ask a third time.
"""

from assent.engine.config import OrphanedPermission
from assent.sessions.asks import Asks, Question
from assent.types.blocks import Json


class Orphans:
    def __init__(self, asks: Asks) -> None:
        self._asks = asks
        self._saved: list[Json] = []
        self._presented: dict[str, Question] = {}

    def restore(self, asks: list[Json]) -> None:
        """Asks as an earlier process left them; those it had itself inherited had their second chance."""
        self._saved = [ask for ask in asks if not ask.get("orphan")]

    def present(self) -> None:
        for ask in self._saved:
            if ask["toolUseId"] not in self._presented:
                question = self._asks.open("permission", ask["askId"], {**ask, "orphan": True})
                self._presented[ask["toolUseId"]] = question

    def first(self) -> OrphanedPermission | None:
        """The call the engine should take up. Of several only one can be: it stands alone at the history's end."""
        if not self._saved:
            return None
        ask = self._saved[0]
        return OrphanedPermission(tool_use_id=ask["toolUseId"], tool=ask["tool"], input=ask["input"])

    def adopt(self, tool_use_id: str) -> Question | None:
        """The question that is (or was) open for this call, to be waited for instead of a new one; once."""
        self._saved = [ask for ask in self._saved if ask["toolUseId"] != tool_use_id]
        return self._presented.pop(tool_use_id, None)
