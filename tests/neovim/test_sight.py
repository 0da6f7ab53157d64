"""Nothing is accepted that was not on the screen, and no key of a review does anything else."""

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import GREETER, Start, open_chat, send

pytestmark = pytest.mark.editor

ASKED = "replace 'Helo' by 'Hello' in greeter.py"


def propose(start: Start, model: FakeApi, *calls: tuple[str, dict[str, str]], size: tuple[int, int]) -> Neovim:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(*(tool(name, dict[str, object](given)) for name, given in calls))
    model.reply(text("Changed."))
    editor = start(env=model.env, size=size)
    open_chat(editor)
    send(editor, "change it")
    return editor


def files_of(screen: str) -> str:
    """The windows left of the chat."""
    return "\n".join(line.partition("│")[0] for line in screen.splitlines())


def test_lines_before_the_first_one_are_scrolled_into_sight(start: Start, model: FakeApi) -> None:
    change = {
        "file_path": "greeter.py",
        "old_string": "def greet",
        "new_string": "import os\nimport sys\n\n\ndef greet",
    }
    editor = propose(start, model, ("Edit", change), size=(160, 40))
    screen = editor.see("import os", "import sys", "hunk 1 of 1")
    assert files_of(screen).startswith("import os"), screen
    editor.command("wincmd h")
    editor.type("gha")
    editor.until(lambda: editor.lines()[:2] == ["import os", "import sys"], "for the hunk to land")


def test_a_new_file_is_shown_whole(start: Start, model: FakeApi) -> None:
    editor = propose(start, model, ("Write", {"file_path": "new.py", "content": "one = 1\ntwo = 2\n"}), size=(160, 40))
    editor.see("an edit to review in new.py")
    editor.command("wincmd h")
    editor.type("]h")
    screen = editor.see("two = 2", "hunk 1 of 1")
    assert "one = 1" in files_of(screen), screen
    editor.type("gha")
    editor.see("Changed.", "idle")
    assert editor.lines("new.py") == ["one = 1", "two = 2"]


def test_a_new_file_longer_than_the_window_is_shown_to_its_end_before_it_is_accepted(
    start: Start, model: FakeApi
) -> None:
    content = "".join(f"value_{number} = {number}\n" for number in range(70))
    editor = propose(start, model, ("Write", {"file_path": "new.py", "content": content}), size=(160, 40))
    editor.see("an edit to review in new.py")
    editor.command("wincmd h")
    editor.type("]h")
    editor.see("value_0 = 0", "accepts (all or selected)")
    while "value_69 = 69" not in editor.look():
        top = editor.lua("return vim.fn.line('w0')")
        editor.type("gha")
        editor.until(lambda top=top: editor.lua("return vim.fn.line('w0')") != top, "for the next part")
        assert editor.lines("new.py") == [""] and not (editor.project / "new.py").exists()
    editor.type("gha")
    editor.see("Changed.", "idle")
    assert editor.lines("new.py") == content.splitlines()


def test_a_hunk_below_the_edge_of_the_window_is_shown_before_it_is_accepted(start: Start, model: FakeApi) -> None:
    added = "\n".join(f"    also_{number}()" for number in range(6))
    change = {"file_path": "greeter.py", "old_string": '    return "Helo and bye"', "new_string": added}
    editor = propose(start, model, ("Edit", change), size=(160, 24))
    editor.see("hunk 1 of 1")
    editor.command("wincmd h | 6 | new | resize 12 | wincmd p")
    editor.command("call winrestview({'topline': 1, 'lnum': 6})")
    assert "  also_5" not in files_of(editor.look())
    editor.type("gha")
    screen = editor.see("Once more accepts it")
    assert "  also_5" in files_of(screen) and editor.lines() == GREETER.splitlines()
    editor.type("gha")
    editor.until(lambda: editor.lines()[-1] == "    also_5()", "for the hunk to land")


def test_a_line_after_the_last_one_hangs_below_it_and_is_reached(start: Start, model: FakeApi) -> None:
    change = {
        "file_path": "greeter.py",
        "old_string": '"Helo and bye"\n',
        "new_string": '"Helo and bye"\n\n\nprint(1)\n',
    }
    editor = propose(start, model, ("Edit", change), size=(160, 40))
    screen = editor.see("hunk 1 of 1", "print(1)")
    files = files_of(screen)
    assert files.index("Helo and bye") < files.index("print(1)"), screen
    editor.command("wincmd h")
    editor.type("gg]hgha")
    editor.until(lambda: editor.lines() == [*GREETER.splitlines(), "", "", "print(1)"], "for the lines")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Helo and bye"\n', '"Moin"\n'),
        ('\n\ndef bye():\n    return "Helo and bye"\n', ""),
        ('"Helo and bye"\n', '"Helo and bye"\n\n# the end\n'),
    ],
)
def test_a_change_at_the_end_lands_once_and_leaves_no_empty_line(
    start: Start, model: FakeApi, old: str, new: str
) -> None:
    change = {"file_path": "greeter.py", "old_string": old, "new_string": new}
    editor = propose(start, model, ("Edit", change), size=(160, 40))
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("Changed.", "idle")
    assert editor.lines() == GREETER.replace(old, new).splitlines()


def test_keys_of_a_review_never_change_text_by_themselves(start: Start) -> None:
    editor = start()
    (editor.project / "other.txt").write_text("nothing to review here\n")
    open_chat(editor)
    send(editor, ASKED)
    editor.see("hunk 2 of 2")
    editor.command("wincmd h | split other.txt")
    for keys in ("gha", "ghr", "ghe"):
        editor.type(keys)  # in a file without hunks, while another has some
        editor.until(lambda: editor.nvim.api.get_mode()["mode"] == "n", "for normal mode")
        assert editor.lines("other.txt") == ["nothing to review here"]
    editor.command("close | 1")
    editor.type("]hgha]hgha")
    editor.until(lambda: editor.lines() == GREETER.replace("Helo", "Hello").splitlines(), "for both hunks")
    editor.see("I replaced", "idle")
    editor.type("ghaghr")  # once too often
    editor.see("there is nothing to review")
    assert editor.nvim.api.get_mode()["mode"] == "n"
    assert editor.lines() == GREETER.replace("Helo", "Hello").splitlines()


def test_after_the_last_hunk_of_a_file_the_next_file_is_one_key_away(start: Start, model: FakeApi) -> None:
    editor = propose(
        start,
        model,
        ("Edit", {"file_path": "greeter.py", "old_string": '"Helo"', "new_string": '"Hello"'}),
        ("Write", {"file_path": "zoo.txt", "content": "zebra\n"}),
        ("Write", {"file_path": "alpha.txt", "content": "ant\n"}),
        size=(160, 40),
    )
    editor.see("hunk 1 of 1")
    editor.command("wincmd h | 2")
    editor.type("gha")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the hunk to land")
    # The hunk that has landed is listed until the server says that it is decided, and `]h` would stay at it.
    listed = (
        "return vim.tbl_map(function(place) return vim.fs.basename(place.uri) end, require('assent.review').places())"
    )
    editor.until(lambda: editor.lua(listed) == ["zoo.txt"], "for the next one alone")
    editor.type("]h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("zoo.txt"), "for the next file")
    editor.see("zebra", "hunk 1 of 1")
    editor.type("gha")
    editor.until(lambda: editor.lines("zoo.txt")[0] == "zebra", "for the second file")
    editor.see("edit to review in alpha.txt")
    editor.type("]h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("alpha.txt"), "for the last file")
    editor.type("gha")
    editor.see("Changed.", "idle")


def test_the_question_in_the_corner_makes_way_for_a_hunk_it_would_hide(newest: Start, model: FakeApi) -> None:
    lines = [f"value_{number} = {number}\n" for number in range(34)]
    long = "value_30 = [" + ", ".join("30" for _ in range(16)) + "]  # to its end\n"
    change = {"file_path": "values.py", "old_string": lines[30], "new_string": long}
    model.reply(tool("Read", file_path="values.py"))
    model.reply(tool("Edit", change))
    model.reply(text("Changed."))
    editor = newest(env=model.env, size=(120, 40))
    (editor.project / "values.py").write_text("".join(lines))
    editor.command("edit values.py")
    open_chat(editor)
    send(editor, "change it")
    editor.see("Assent asks")
    editor.type("q")
    editor.until(lambda: "sends · @ files" not in editor.look(), "for the chat to close")
    editor.type("gg]h")
    screen = editor.see("Assent asks", "  # to its end", "hunk 1 of 1")
    rows = screen.splitlines()
    asked = next(at for at, row in enumerate(rows) if "Assent asks" in row)
    assert asked < next(at for at, row in enumerate(rows) if "value_30 = 30" in row)
    editor.type("gha")
    editor.until(lambda: editor.lines("values.py")[30] == long.strip(), "for the hunk to land")
