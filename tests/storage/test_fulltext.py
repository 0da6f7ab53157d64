"""Full-text search: the files are the truth, the index a cache that holds no secret (S2)."""

import json
import sqlite3
from pathlib import Path

import pytest

from assent.storage.fulltext import FullText
from assent.storage.paths import session_paths, sessions_dir
from assent.types.blocks import Json


def said(data: Path, session_id: str, *texts: str, kind: str = "user") -> Path:
    """Append messages to a session's file."""
    path = session_paths(data, "/project", session_id).transcript
    path.parent.mkdir(parents=True, exist_ok=True)
    start = path.read_bytes().count(b"\n") if path.exists() else 0
    with path.open("ab") as file:
        for number, text in enumerate(texts, start):
            message: Json = {
                "type": kind,
                "uuid": f"{session_id}-{number}",
                "content": [{"type": "text", "text": text}],
            }
            if kind == "assistant":
                message |= {"message_id": "m", "model": "x"}
            file.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    return path


def found(index: FullText, query: str) -> dict[str, list[str]]:
    """Snippets by session, the words in square brackets."""
    search = index.search(query)
    hits = search.hits(list(search.sessions))
    return {id: [marked(hit.text, hit.ranges) for hit in hits.get(id, ())] for id in search.sessions}


def marked(text: str, ranges: list[tuple[int, int]]) -> str:
    units = text.encode("utf-16-le")
    for start, end in reversed(ranges):
        units = units[: start * 2] + b"[\0" + units[start * 2 : end * 2] + b"]\0" + units[end * 2 :]
    return units.decode("utf-16-le")


def test_words_are_found_wherever_they_were_said_with_where(tmp_path: Path) -> None:  # S2
    said(tmp_path, "s1", "why does the parser fail?", "on naïve UTF-8 😀 input")
    said(tmp_path, "s2", "The Parser is fine.", kind="assistant")
    index = FullText(tmp_path)
    assert found(index, "PARSER") == {"s1": ["why does the [parser] fail?"], "s2": ["The [Parser] is fine."]}
    assert found(index, "parser naive") == {"s1": ["why does the [parser] fail?", "on [naïve] UTF-8 😀 input"]}
    assert found(index, "inp") == {"s1": ["on naïve UTF-8 😀 [input]"]}
    assert found(index, "absent") == found(index, "parser absent") == found(index, '"*') == found(index, "") == {}


def test_a_query_is_words_and_never_a_query_language(tmp_path: Path) -> None:
    said(tmp_path, "s1", 'a OR b NEAR c AND text:d -e ^f {g} col"umn src/app.py')
    index = FullText(tmp_path)
    for query in ("OR", "NEAR(", "text:d", 'col"umn', "-e", "^f", "{g}", "src/app.py", "a* b*", "'; DROP TABLE said"):
        result = found(index, query)
        assert list(result) == (["s1"] if "DROP" not in query else []), query


def test_text_without_spaces_is_found_by_its_parts(tmp_path: Path) -> None:
    said(tmp_path, "s1", "検索エンジンを直す")
    assert found(FullText(tmp_path), "エンジン") == {"s1": ["検索[エンジン]を直す"]}


def test_what_was_said_since_is_found_and_what_was_taken_back_is_not(tmp_path: Path) -> None:
    index = FullText(tmp_path)
    path = said(tmp_path, "s1", "first words")
    size = path.stat().st_size
    assert list(found(index, "first")) == ["s1"]
    said(tmp_path, "s1", "second words")
    assert list(found(index, "second")) == list(found(index, "first")) == ["s1"]
    with path.open("ab") as file:
        file.write(b'{"type":"session/rewound","uuid":"w1","offset":%d}\n' % size)
    said(tmp_path, "s1", "third words")
    assert found(index, "second") == {} and list(found(index, "third")) == list(found(index, "first")) == ["s1"]


def test_a_line_that_is_still_being_written_comes_with_the_next_search(tmp_path: Path) -> None:
    index = FullText(tmp_path)
    path = said(tmp_path, "s1", "whole line")
    line = json.dumps({"type": "user", "uuid": "u2", "content": [{"type": "text", "text": "torn line"}]}).encode()
    with path.open("ab") as file:
        file.write(line[:30])
    assert list(found(index, "whole")) == ["s1"] and found(index, "torn") == {}
    with path.open("ab") as file:
        file.write(line[30:] + b"\n")
    assert list(found(index, "torn")) == ["s1"]
    assert len(found(index, "whole")["s1"]) == 1


@pytest.mark.parametrize("harm", ["gone", "garbage", "truncated", "empty", "other version", "not a table", "a folder"])
def test_an_index_that_is_gone_or_damaged_is_made_again(tmp_path: Path, harm: str) -> None:
    said(tmp_path, "s1", "find the needle " + "hay " * 2000)
    index = FullText(tmp_path)
    assert list(found(index, "needle")) == ["s1"]
    file = index.file
    match harm:
        case "gone":
            file.unlink()
        case "garbage":
            file.write_bytes(b"\xff" * 20_000)
        case "truncated":
            file.write_bytes(file.read_bytes()[:5000])
        case "empty":
            file.write_bytes(b"")
        case "other version":
            with sqlite3.connect(file) as db:
                db.execute("PRAGMA user_version = 99")
        case "not a table":
            with sqlite3.connect(file) as db:
                db.execute("DROP TABLE sessions")
        case _:
            file.unlink()
            file.mkdir()
    for again in (FullText(tmp_path), index):
        assert list(found(again, "needle")) == (["s1"] if harm != "a folder" else [])


def test_the_index_holds_no_secret_and_nothing_of_a_deleted_conversation(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Zq7" * 20
    said(tmp_path, "s1", f"my key is {key}, keep it", "confidential plans of the merger")
    said(tmp_path, "s2", "something else")
    index = FullText(tmp_path)
    assert found(index, "key") == {"s1": ["my [key] is [redacted], keep it"]}
    assert index.file.stat().st_mode & 0o077 == 0
    session_paths(tmp_path, "/project", "s1").transcript.unlink()
    index.forget("s1")
    assert found(index, "merger") == {} and list(found(index, "something")) == ["s2"]
    for file in sessions_dir(tmp_path).glob("search.sqlite*"):
        data = file.read_bytes()
        assert b"Zq7Zq7" not in data and b"merger" not in data and b"confidential" not in data


def test_reading_stops_at_its_deadline_and_says_what_is_left(tmp_path: Path) -> None:
    for number in range(5):
        said(tmp_path, f"s{number}", "some words")
    index = FullText(tmp_path)
    first = index.search("words", seconds=-1.0)
    assert first.unread == 5 and first.sessions == {}
    assert len(index.search("words").sessions) == 5 and index.search("words").unread == 0


def test_two_processes_may_search_at_once(tmp_path: Path) -> None:
    said(tmp_path, "s1", "some words")
    index = FullText(tmp_path)
    assert list(found(index, "some")) == ["s1"]
    said(tmp_path, "s1", "more words")
    with sqlite3.connect(index.file, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")  # another one writes: what is there is found, nobody fails
        assert list(index.search("some", seconds=0.5).sessions) == ["s1"]
        db.execute("COMMIT")
    assert list(found(index, "more")) == ["s1"]
