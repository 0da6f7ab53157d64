"""A session's turns as clients see them: order, queueing, steering, interrupting."""

from pathlib import Path

from sessions.harness import TestFront, running, say


async def test_a_waiting_send_answers_the_result_after_turn_finished_and_idle(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("hello there")) as app:
        session = await app.new(front)
        answer = await app.send(session, "hi", front, wait=True)
        assert answer["result"]["subtype"] == "success"
        assert answer["result"]["result"] == "hello there"
        assert front.types[-1] == "status" and front.events[-1]["state"] == "idle"
        assert front.types[-2] == "turnFinished"
        assert front.types.index("turnStarted") < front.types.index("stepStarted") < front.types.index("textDelta")
        assert "".join(event["text"] for event in front.of("textDelta")) == "hello there"
        assert [params["seq"] for params in front.params] == list(range(1, len(front.params) + 1))
        assert {params.get("turnId") for params in front.params[:-1]} - {None} == {answer["turnId"]}
