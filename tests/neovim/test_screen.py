"""The eyes and hands of the other tests: an editor that stops at a question fails its test, and shows the question."""

import pytest

from nvimscreen.scenes import Start
from nvimscreen.watchdog import Stuck

pytestmark = pytest.mark.editor


def test_a_question_inside_a_call_ends_the_editor_and_the_test_sees_it(newest: Start) -> None:
    editor = newest()
    editor.see("def greet")
    editor.watchdog.patience = 3.0  # for the question to be drawn, which a busy machine takes its time for
    with pytest.raises(Stuck, match="Overwrite it all"):
        editor.lua(r"vim.fn.confirm('Overwrite it all?', '&Yes\n&No')")


def test_a_message_that_waits_for_a_key_fails_the_look(newest: Start) -> None:
    editor = newest()
    editor.type(r":echo 'one' | echo 'two' | echo 'three'<CR>")
    with pytest.raises(AssertionError, match=r"waits for a key(.|\n)*three(.|\n)*Press ENTER"):
        editor.see("never on the screen")
