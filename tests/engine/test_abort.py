"""The handle that aborts a turn from outside: set once, heard by all, and set anew (Q2)."""

from assent.engine.abort import Abort


def test_an_abort_is_told_once_to_all_who_listen_with_its_first_reason() -> None:  # Q2
    abort = Abort()
    heard: list[tuple[str, bool, str]] = []
    stop = abort.listen(lambda: heard.append(("a", abort.aborted, abort.why)))
    abort.listen(lambda: heard.append(("b", abort.aborted, abort.why)))
    assert abort.aborted is False
    abort.abort(why="the program ends")
    abort.abort(why="again")
    assert heard == [("a", True, "the program ends"), ("b", True, "the program ends")]
    assert abort.why == "the program ends"
    abort.reset()
    assert (abort.aborted, abort.why) == (False, "")
    stop()
    abort.abort()
    assert heard[2:] == [("b", True, "")]
