"""The transcript on disk: what survives, what is shown, and at what cost (S1)."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.sessions.live.record import Record
from assent.storage import backward_reading, transcript
from assent.storage.journal import Journal
from assent.storage.paths import SessionPaths
from assent.types import codec
from assent.types.blocks import text_block
from assent.types.messages import (
    AssistantMessage,
    Collapsed,
    CompactBoundary,
    Message,
    Result,
    Tombstone,
    UserMessage,
)


def user(uuid: str, text: str = "hello") -> UserMessage:
    return UserMessage(uuid=uuid, content=(text_block(text),))


def assistant(uuid: str, text: str = "hi") -> AssistantMessage:
    return AssistantMessage(uuid=uuid, message_id=f"m{uuid}", content=(text_block(text),), model="m")


def result(cost: float = 0.5) -> Result:
    return Result(
        subtype="success", is_error=False, terminal="completed", result="done", session_id="s", total_cost_usd=cost
    )


def write(path: Path, *messages: Message) -> None:
    journal = Journal(path)
    for message in messages:
        journal.append(codec.to_json(message))
    journal.close()


def uuids(page: transcript.Page) -> list[str]:
    return [str(entry.record["uuid"]) for entry in page.entries]


def loaded(path: Path) -> list[str]:
    return [message.uuid for message in transcript.load(path).messages]


# S1
def test_what_was_written_comes_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, user("u1"), assistant("a1"), user("u2"), assistant("a2"), result(0.25))
    assert loaded(path) == ["u1", "a1", "u2", "a2"]
    assert uuids(transcript.newest_page(path)) == ["u1", "a1", "u2", "a2"]
    last = transcript.load(path).last_result
    assert last is not None and last.total_cost_usd == 0.25


# S1: kill -9 anywhere
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_cut_at_any_byte_loads_and_takes_new_messages(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "s.jsonl"
    texts = data.draw(st.lists(st.text(max_size=60), min_size=1, max_size=8))
    write(path, *(user(f"u{index}", text) for index, text in enumerate(texts)))
    whole = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == 0x0A]
    cut = data.draw(st.integers(min_value=0, max_value=len(whole)))
    path.write_bytes(whole[:cut])
    # A line cut exactly before its newline is whole all the same.
    survivors = [f"u{index}" for index, end in enumerate(ends) if end - 1 <= cut]
    journal = Journal(path)
    journal.append(codec.to_json(user("later")))
    journal.close()
    assert path.read_bytes().startswith(whole[:cut])
    assert loaded(path) == [*survivors, "later"]
    assert uuids(transcript.newest_page(path)) == [*survivors, "later"]


def test_a_torn_tail_is_closed_with_a_newline_and_left_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, user("u1"))
    torn = b'{"type":"user","uuid":"u2","conte'
    with path.open("ab") as file:
        file.write(torn)
    journal = Journal(path)
    assert journal.torn
    journal.append(codec.to_json(user("u3")))
    journal.close()
    assert torn + b"\n" in path.read_bytes()
    assert loaded(path) == ["u1", "u3"]
    assert transcript.load(path).damaged == 1


def test_a_damaged_line_hides_neither_what_is_before_nor_what_is_after(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, user("u1"), assistant("a1"), user("u2"))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00\xff garbage \n"
    path.write_bytes(b"".join(lines))
    page = transcript.newest_page(path)
    assert uuids(page) == ["u1", "u2"]
    assert page.damaged == 1
    assert loaded(path) == ["u1", "u2"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("line\u2028separator\u2029here", "line\u2028separator\u2029here"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("nul \x00 byte", "nul \x00 byte"),
        ("next\x85line\x0b\x0c", "next\x85line\x0b\x0c"),
        ("\n\r\n\r", "\n\r\n\r"),
    ],
)
def test_strange_characters_never_break_a_line(tmp_path: Path, text: str, kept: str) -> None:
    path = tmp_path / "s.jsonl"
    write(path, user("u1", text), user("u2"))
    assert path.read_bytes().count(b"\n") == 2
    first = transcript.load(path).messages[0]
    assert isinstance(first, UserMessage)
    assert first.content[0]["text"] == kept


def test_tombstones_withdraw_messages_on_load_and_across_pages(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    gone = [assistant(f"a{index}") for index in range(5)]
    dead = Tombstone(message_uuids=tuple(message.uuid for message in gone), reason="stream_retry")
    write(path, user("u1"), *gone, dead, assistant("b1"), assistant("b2"))
    assert loaded(path) == ["u1", "b1", "b2"]
    newest = transcript.newest_page(path, limit=2)
    assert uuids(newest) == ["b1", "b2"]
    assert uuids(transcript.newest_page(path, cursor=newest.cursor, limit=2)) == ["u1"]


def test_snipped_messages_leave_the_models_view_but_not_the_history(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, user("u1"), assistant("a1"), Tombstone(message_uuids=("a1",), reason="snip"))
    assert uuids(transcript.newest_page(path)) == ["u1", "a1"]
    assert transcript.load(path).snipped == {"a1"}


def test_collapsed_spans_are_known_again_until_a_compaction_makes_them_moot(tmp_path: Path) -> None:  # C4
    path = tmp_path / "s.jsonl"
    span = Collapsed(message_uuids=("u1", "a1"), summary="Said hello.")
    write(path, user("u1"), assistant("a1"), user("u2"), span)
    assert transcript.load(path).collapsed == [span]
    assert uuids(transcript.newest_page(path)) == ["u1", "a1", "u2"]
    boundary = CompactBoundary(uuid="b", trigger="auto", tokens_before=1, tokens_after=1, summary="s")
    write(path, boundary)
    assert transcript.load(path).collapsed == []


def test_loading_starts_at_the_last_compaction(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    boundary = CompactBoundary(uuid="c1", trigger="auto", tokens_before=9, tokens_after=1, summary="so far")
    write(path, user("u1"), assistant("a1"), boundary, user("u2"))
    assert loaded(path) == ["c1", "u2"]
    assert uuids(transcript.newest_page(path)) == ["u1", "a1", "c1", "u2"]


def test_a_boundary_quoted_inside_a_message_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(
        path,
        user("u1", '\n{"type":"system/compact_boundary","uuid":"x"}\n{"type":"session/rewound","offset":0}'),
        user("u2"),
    )
    assert loaded(path) == ["u1", "u2"]


# S3
def test_a_rewind_jumps_back_and_a_second_one_undoes_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    record = Record(SessionPaths(transcript=path))
    record.append(user("u1"))
    record.append(assistant("a1"))
    back_to = record.end
    record.append(user("u2"))
    record.append(assistant("a2"))
    undo_to = record.note("rewound", uuid="w1", offset=back_to)
    record.append(user("u3"))
    assert loaded(path) == ["u1", "a1", "u3"]
    assert uuids(transcript.newest_page(path)) == ["u1", "a1", "u3"]
    record.note("rewound", uuid="w2", offset=undo_to)
    record.append(user("u4"))
    record.close()
    assert loaded(path) == ["u1", "a1", "u2", "a2", "u4"]
    assert uuids(transcript.newest_page(path)) == ["u1", "a1", "u2", "a2", "u4"]
    assert list(transcript.shown(path)) == ["u1", "a1", "u2", "a2", "u4"]


def test_a_compaction_that_was_rewound_hides_nothing_before_it(tmp_path: Path) -> None:  # S3
    path = tmp_path / "s.jsonl"
    record = Record(SessionPaths(transcript=path))
    record.append(user("u1"))
    record.append(assistant("a1"))
    back_to = record.end
    record.append(CompactBoundary(uuid="c1", trigger="auto", tokens_before=9, tokens_after=1, summary="so far"))
    record.append(user("u2"))
    record.note("rewound", uuid="w1", offset=back_to)
    record.append(user("u3"))
    record.close()
    assert loaded(path) == ["u1", "a1", "u3"]


def test_a_rewind_in_the_input_of_a_call_that_was_cut_off_there_is_none(tmp_path: Path) -> None:  # S1
    """The model chooses what the input of a call holds, and a crash where the line ends."""
    path = tmp_path / "s.jsonl"
    write(path, user("u1"))
    call = b'{"type":"assistant","uuid":"a1","content":[{"type":"tool_use","id":"t","input":'
    with path.open("ab") as file:
        file.write(call + b'{"type":"session/rewound","offset":0}')
    write(path, user("u2"))
    assert loaded(path) == ["u1", "u2"]
    assert uuids(transcript.newest_page(path)) == ["u1", "u2"]


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_pages_read_backwards_join_to_the_same_history_as_a_forward_load(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("pages") / "s.jsonl"
    record = Record(SessionPaths(transcript=path))
    offsets = [0]
    said: list[str] = []
    for index in range(data.draw(st.integers(min_value=1, max_value=25))):
        match data.draw(st.sampled_from(["say", "say", "say", "withdraw", "rewind"])):
            case "say":
                said.append(f"u{index}")
                record.append(user(f"u{index}", data.draw(st.text(max_size=30))))
            case "withdraw" if said:
                chosen = data.draw(st.sampled_from(said[-3:]))
                record.append(Tombstone(message_uuids=(chosen,), reason="stream_retry"))
            case _:
                record.note("rewound", uuid=f"w{index}", offset=data.draw(st.sampled_from(offsets)))
        offsets.append(record.end)
    record.close()
    expected = list(transcript.shown(path))
    limit = data.draw(st.integers(min_value=1, max_value=5))
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = transcript.newest_page(path, cursor=cursor, limit=limit)
        pages.insert(0, uuids(page))
        cursor = page.cursor
        if cursor is None:
            break
    assert [uuid for page in pages for uuid in page] == expected
    assert loaded(path) == expected


def test_the_newest_page_of_a_long_file_reads_only_its_end(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    line = b'{"type":"user","uuid":"old","content":[{"type":"text","text":"' + b"x" * 1000 + b'"}]}\n'
    with path.open("wb") as file:
        file.write(line * 20_000)
    write(path, user("u1"), user("u2"))
    with path.open("rb") as file:
        before = os.fstat(file.fileno()).st_size
        first = next(iter(transcript.backwards(file.fileno(), before)))
    assert b'"u2"' in first[2]
    page = transcript.newest_page(path, limit=3)
    assert uuids(page) == ["old", "u1", "u2"]


def test_a_line_longer_than_any_block_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    long = "y" * (3 * backward_reading.CHUNK)
    write(path, user("u1"), user("u2", long), user("u3"))
    page = transcript.newest_page(path, max_bytes=1 << 30)
    assert uuids(page) == ["u1", "u2", "u3"]
    assert page.entries[1].record["content"][0]["text"] == long


def test_records_of_a_newer_version_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = Journal(path)
    journal.append({"type": "hologram", "uuid": "h1"})
    journal.append({**codec.to_json(user("u1")), "mood": "fine"})
    journal.append({"type": "user", "uuid": 7, "nonsense": True})
    journal.close()
    assert loaded(path) == ["u1"]


def test_our_key_never_reaches_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = Journal(path, secrets=lambda: ("sk-ant-very-secret-key",))
    journal.append(codec.to_json(user("u1", "my key is sk-ant-very-secret-key!")))
    journal.close()
    assert b"very-secret" not in path.read_bytes()
    first = transcript.load(path).messages[0]
    assert isinstance(first, UserMessage)
    assert first.content[0]["text"] == "my key is [redacted]!"
