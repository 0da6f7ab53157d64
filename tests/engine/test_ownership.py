"""News of a call goes to the agent that made it and, once that has ended, to the one that started it (L11, T7)."""

from __future__ import annotations

from assent.engine.agents.ownership import Owners


def test_each_takes_the_news_of_its_own_calls_and_heirs_take_over() -> None:
    owners = Owners()
    owners.claim("main_call", None)
    owners.claim("outer", None)  # the call that started the outer agent
    owners.claim("of_outer", "outer")
    owners.claim("inner", "outer")  # that of the inner one
    owners.claim("of_inner", "inner")

    def mine(agent: str | None) -> list[str]:
        return [call for call in ("main_call", "outer", "of_outer", "inner", "of_inner") if owners.of(agent)(call)]

    assert [mine(agent) for agent in (None, "outer", "inner")] == [
        ["main_call", "outer"],
        ["of_outer", "inner"],
        ["of_inner"],
    ]
    owners.release(None)  # the main agent never ends
    owners.release("inner")
    assert [mine(agent) for agent in (None, "outer", "inner")] == [
        ["main_call", "outer"],
        ["of_outer", "inner", "of_inner"],
        [],
    ]
    owners.release("outer")
    assert mine(None) == ["main_call", "outer", "of_outer", "inner", "of_inner"] and mine("outer") == []
