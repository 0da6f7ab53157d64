"""A change as a patch: git itself makes the new text of it, whatever the texts are."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assent.acp.draft import git_patch as patch

LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", "\r", "x y", "\x0c", "\\ No newline", "-- a", "++ b"]), max_size=14
)
ENDS = st.sampled_from(["", "\n"])


def joined(lines: list[str], end: str) -> str:
    return "\n".join(lines) + (end if lines else "")


TEXTS = st.builds(joined, LINES, ENDS)


def applied(before: str | None, after: str, called: str = "a file.txt") -> str:
    """What git makes of the patch, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "src", called)
        file.parent.mkdir()
        if before is not None:
            file.write_bytes(before.encode())
        content = patch.diff_content(f"/src/{called}", before, after)
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(command, cwd=name, input=content["patch"]["text"].encode(), capture_output=True)
        assert done.returncode == 0, (content["patch"]["text"], done.stderr)
        return file.read_bytes().decode()


@settings(max_examples=150, deadline=None)
@given(before=TEXTS, after=TEXTS)
@example(before="", after="a")
@example(before="a\n", after="")
@example(before="a", after="a\n")
def test_git_makes_the_new_text_of_the_patch(before: str, after: str) -> None:
    if before != after:
        assert applied(before, after) == after


def test_a_new_file_is_added() -> None:
    assert applied(None, "one\ntwo") == "one\ntwo"
    [change] = patch.diff_content("/src/new.txt", None, "one\n")["changes"]
    assert (change["operation"], change["path"]) == ("add", "/src/new.txt")


@pytest.mark.parametrize("called", ["ä.txt", 'say "hi".txt', "back\\slash", "two\n+++ lines", "tab\there", "ends "])
def test_a_files_name_cannot_be_taken_for_more_of_the_patch(called: str) -> None:
    assert applied("one\n", "two\n", called) == "two\n"
    assert "\n+++ lines" not in patch.git_patch(f"/{called}", "one\n", "two\n")


@pytest.mark.parametrize("lines", [30, patch.COMPARED])
def test_of_a_large_file_only_what_changes_is_told(lines: int) -> None:
    old = [f"line {number}\n" for number in range(3 * lines)]
    new = [*old[:lines], *(f"new {line}" for line in old[lines : 2 * lines]), *old[2 * lines :]]
    before, after = "".join(old), "".join(new)
    assert applied(before, after) == after
    text = patch.git_patch("/a", before, after)
    assert text.count("\n") == 3 + 1 + 2 * lines + 2 * patch.AROUND
