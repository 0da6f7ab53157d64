"""Answers in Markdown on a terminal: whole blocks as they come, and nothing in them that a terminal would obey."""

import re

import pytest

from assent.cli.chat.markdown import MarkdownStream, _whole_blocks

ANSWER = """# Title

Some *text* with `code` and a [link](https://example.org/x).

```python
def f():

    return 1
```

- one
- two

| a | b |
|---|---|
| 1 | 2 |

The end"""


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_however_it_is_cut_an_answer_looks_the_same(size: int) -> None:
    def shown(pieces: list[str]) -> str:
        stream = MarkdownStream(lambda: 80)
        return "".join([*(stream.add(piece) for piece in pieces), stream.finish()])

    whole = shown([ANSWER])
    assert shown([ANSWER[at : at + size] for at in range(0, len(ANSWER), size)]).split() == whole.split()
    words = plain(whole)
    assert all(each in words for each in ("Title", "text", "code", "def f():", "one", "The end"))
    assert "https://example.org/x" in words  # where a link leads is always to be seen
    assert "```" not in words and "**" not in words


def test_a_block_is_held_back_until_it_is_whole() -> None:
    assert _whole_blocks("a\n\nb") == ("a\n\n", "b")
    assert _whole_blocks("```\na\n\nb\n") == ("", "```\na\n\nb\n")
    assert _whole_blocks("```\na\n```\nb") == ("```\na\n```\n", "b")
    assert _whole_blocks("````\n```\n\n````\n") == ("````\n```\n\n````\n", "")


def test_a_window_that_becomes_narrower_gets_narrower_blocks() -> None:
    width = 80
    stream = MarkdownStream(lambda: width)
    before = plain(stream.add("many words of an answer " * 9 + "\n\n"))
    width = 30
    after = plain(stream.add("many words of an answer " * 9 + "\n\n"))
    assert 60 < max(len(line.rstrip()) for line in before.splitlines()) <= 80
    assert max(len(line.rstrip()) for line in after.splitlines()) <= 30


def test_nothing_in_an_answer_moves_the_cursor_or_turns_the_text() -> None:
    stream = MarkdownStream(lambda: 80)
    shown = stream.add("\x1b]0;title\x07\x1b[2Jgone\u202e\n\n") + stream.finish()
    assert "\x1b]" not in shown and "\x1b[2J" not in shown and "\u202e" not in shown and "\x07" not in shown
    assert "⟨U+001B⟩" in plain(shown)
