"""The words of chat documents: where the prompt is, and what a turn adds."""

import pytest

from assent.lsp.chat import chat_text
from assent.types.blocks import Json


@pytest.mark.parametrize(
    ("document", "prompt"),
    [
        ("", ""),
        ("just ask", "just ask"),
        ("<!-- assent session=abc -->\njust ask\n", "just ask"),
        ("## You\n\nfirst\n", "first"),
        ("## You\r\n\r\nfirst\r\n", "first"),
        ("## You\n\nfirst\n\n## Assent\n\nanswer\n", ""),
        (
            "## You\n\nfirst\n\n## Assent\n\nanswer\n\n## You\n\nsecond\n\nwith two paragraphs",
            "second\n\nwith two paragraphs",
        ),
        ("## You\n\n### You may use headings\n", "### You may use headings"),
        ("text before\n## You   \nprompt", "prompt"),
    ],
)
def test_the_prompt_is_what_stands_under_the_last_you(document: str, prompt: str) -> None:
    assert chat_text.prompt_in(document) == prompt


def test_the_session_stands_in_the_first_line_only() -> None:
    assert chat_text.session_in("<!-- assent session=s1-a_B -->\n\n## You") == "s1-a_B"
    assert chat_text.session_in("\n<!-- assent session=s1 -->") is None
    assert chat_text.session_in("<!-- assent session=../x -->") is None


def rendered(*events: Json) -> str:
    rendering = chat_text.Rendering()
    return rendering.begin() + "".join(rendering.of(event) for event in events)


DONE: Json = {"type": "turnFinished", "result": {"isError": False, "result": "", "terminal": "completed"}}


def test_a_turn_reads_as_a_conversation() -> None:
    assert rendered(
        {"type": "textDelta", "blockId": "b1", "text": "I "},
        {"type": "textDelta", "blockId": "b1", "text": "look."},
        {"type": "message", "role": "assistant", "id": "b1", "content": [{"type": "text", "text": "I look."}]},
        {"type": "toolStarted", "toolUseId": "t1", "tool": "Read", "input": {}, "title": "Read <a>.py"},
        {
            "type": "toolFinished",
            "toolUseId": "t1",
            "isError": False,
            "summary": "1 line",
            "content": "1 x",
            "durationMs": 1,
        },
        {"type": "message", "role": "assistant", "id": "b2", "content": [{"type": "text", "text": "It says x."}]},
        DONE,
    ) == (
        "## Assent\n\nI look.\n\n"
        "<details><summary>✓ Read &lt;a&gt;.py</summary>\n\n```\n1 x\n```\n\n</details>\n\n"
        "It says x.\n\n## You\n\n"
    )


def test_tool_output_cannot_break_out_of_its_fence() -> None:
    finished: Json = {
        "type": "toolFinished",
        "toolUseId": "t",
        "isError": True,
        "summary": "",
        "content": "```\nx\n````",
        "durationMs": 1,
    }
    assert "`````\n```\nx\n````\n`````" in rendered(finished)


def test_a_failed_turn_says_why() -> None:
    failed: Json = {
        "type": "turnFinished",
        "result": {"isError": True, "result": "Aborted", "terminal": "aborted_streaming"},
    }
    assert rendered({"type": "textDelta", "blockId": "b", "text": "Well"}, failed) == (
        "## Assent\n\nWell\n\n> Aborted\n\n## You\n\n"
    )
