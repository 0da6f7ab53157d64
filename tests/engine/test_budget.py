"""The ledger of a session and the meter of one call: every reported token is booked once, for the model that used it (Q9)."""

from __future__ import annotations

import pytest

from assent.engine.budget import Ledger, Meter
from assent.model.catalog import cost, info
from assent.types.messages import AssistantFinal, Result, Spent
from assent.types.usage import ModelUsage, Usage

MODEL, OTHER = "claude-opus-4-8", "claude-sonnet-5"
Booked = list[tuple[str, Usage, float, int]]


def started(tokens: int) -> dict[str, object]:
    return {"type": "message_start", "message": {"usage": {"input_tokens": tokens, "output_tokens": 1}}}


def delta(output: int) -> dict[str, object]:
    return {"type": "message_delta", "usage": {"output_tokens": output}}


def final(model: str, input: int, output: int, cost_usd: float = 0.0) -> AssistantFinal:
    usage = Usage(input_tokens=input, output_tokens=output)
    return AssistantFinal(message_id="m", model=model, usage=usage, stop_reason="end_turn", cost_usd=cost_usd)


def price(model: str, input: int, output: int) -> float:
    return cost(info(model), Usage(input_tokens=input, output_tokens=output))


def ledger() -> tuple[Ledger, Booked]:
    told: Booked = []

    def tell(model: str, usage: Usage, cost_usd: float, opened: int) -> None:
        told.append((model, usage, cost_usd, opened))

    return Ledger(model_info=info, on_spend=tell), told


def past(cost_usd: float, tokens: int) -> Result:
    usage = Usage(input_tokens=tokens)
    return Result(
        subtype="success",
        is_error=False,
        terminal="completed",
        result="",
        session_id="s",
        total_cost_usd=cost_usd,
        usage=usage,
    )


def test_a_call_is_open_until_something_is_reported_and_is_booked_as_it_comes() -> None:
    book, told = ledger()
    meter = book.meter(MODEL)
    meter.open()
    assert (book.open_calls, book.usage, book.cost_usd, book.by_model) == (1, Usage(), 0.0, {})
    meter.watch(started(100))
    assert book.open_calls == 0 and book.usage == Usage(input_tokens=100, output_tokens=1)
    assert book.cost_usd == pytest.approx(price(MODEL, 100, 1))
    meter.watch({"type": "content_block_start"})
    meter.watch(delta(40))
    meter.final(final(MODEL, 100, 40))
    meter.close()
    assert book.usage == Usage(input_tokens=100, output_tokens=40) and book.open_calls == 0
    assert book.cost_usd == pytest.approx(price(MODEL, 100, 40))
    assert [each[3] for each in told] == [1, -1, 0]  # the final says nothing new, so nothing is told
    assert sum((each[2] for each in told), 0.0) == pytest.approx(book.cost_usd)


def test_calls_add_up_by_model_and_in_all() -> None:
    book, _ = ledger()
    for model, output in ((MODEL, 10), (MODEL, 30), (OTHER, 5)):
        meter = book.meter(model)
        meter.open()
        meter.watch(started(100))
        meter.final(final(model, 100, output))
        meter.close()
    assert book.by_model[MODEL].usage == Usage(input_tokens=200, output_tokens=40)
    assert book.by_model[MODEL].cost_usd == pytest.approx(price(MODEL, 200, 40))
    assert book.by_model[OTHER].usage == Usage(input_tokens=100, output_tokens=5)
    assert book.by_model[OTHER].cost_usd == pytest.approx(price(OTHER, 100, 5))
    assert book.usage == Usage(input_tokens=300, output_tokens=45)
    assert book.cost_usd == pytest.approx(sum(each.cost_usd for each in book.by_model.values()))


def test_another_model_that_answered_gets_the_bill_and_the_one_asked_gets_none() -> None:
    book, _ = ledger()
    meter = book.meter(MODEL)
    meter.open()
    meter.watch(started(100))
    meter.final(final(OTHER, 100, 20))
    meter.close()
    assert set(book.by_model) == {OTHER}
    assert book.usage == Usage(input_tokens=100, output_tokens=20)
    assert book.cost_usd == pytest.approx(price(OTHER, 100, 20)) == book.by_model[OTHER].cost_usd


def test_a_model_with_earlier_calls_keeps_them_when_another_one_answers() -> None:
    book, _ = ledger()
    for answered in (MODEL, OTHER):
        meter = book.meter(MODEL)
        meter.open()
        meter.watch(started(100))
        meter.final(final(answered, 100, 20))
        meter.close()
    assert book.by_model[MODEL].usage == book.by_model[OTHER].usage == Usage(input_tokens=100, output_tokens=20)
    assert book.by_model[MODEL].cost_usd == pytest.approx(price(MODEL, 100, 20))


def test_two_messages_of_one_call_are_counted_both() -> None:
    """A stream that dropped and was asked again, behind the same call."""
    book, _ = ledger()
    meter = book.meter(MODEL)
    meter.open()
    meter.watch(started(100))
    meter.watch(started(100))
    meter.final(final(MODEL, 100, 20))
    meter.close()
    assert book.usage == Usage(input_tokens=200, output_tokens=21)


def test_a_price_that_the_endpoint_names_counts_instead_of_the_table() -> None:
    book, _ = ledger()
    meter = book.meter(MODEL)
    meter.open()
    meter.final(final(MODEL, 100, 20, cost_usd=7.5))
    assert book.cost_usd == 7.5 and book.by_model[MODEL].cost_usd == 7.5


def test_a_call_that_ends_without_a_word_is_closed_once_and_costs_nothing() -> None:
    book, told = ledger()
    meter = book.meter(MODEL)
    meter.open()
    meter.close()
    meter.close()
    assert [each[3] for each in told] == [1, -1]
    assert (book.open_calls, book.cost_usd, book.by_model) == (0, 0.0, {})
    never = Meter(book=book.book, model=MODEL)
    never.close()
    assert len(told) == 2  # it was never sent


def test_of_two_records_of_the_past_the_larger_one_counts() -> None:  # Q6
    book, _ = ledger()
    large = Spent(
        total_cost_usd=26.0,
        usage=Usage(input_tokens=26),
        model_usage={MODEL: ModelUsage(usage=Usage(input_tokens=26), cost_usd=26.0)},
        unreported=2,
    )
    book.restore(large)
    book.restore(past(1.0, 1))
    assert (book.cost_usd, book.usage, book.unreported) == (26.0, Usage(input_tokens=26), 2)
    book.restore(past(26.0, 27))
    assert book.usage == Usage(input_tokens=27)  # of two that cost the same the later one


@pytest.mark.parametrize(("limit", "spent"), [(None, False), (7.6, False), (7.5, True), (float("nan"), True)])
def test_a_limit_in_dollars_is_reached_when_it_is_spent(limit: float | None, spent: bool) -> None:
    book = Ledger(model_info=info)  # nobody writes it down
    book.book(MODEL, Usage(input_tokens=1), 7.5)
    assert book.spent(limit) is spent
