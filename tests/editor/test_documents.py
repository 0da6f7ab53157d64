import pytest

from assent.editor.documents import DocumentEvent, Documents, Expectation, text_sha256
from assent.text.splices import Splice, apply_each

URI = "file:///a.py"


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, object]:
    return {
        "range": {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        },
        "text": text,
    }


def opened(text: str, version: int = 1) -> tuple[Documents, list[DocumentEvent]]:
    documents = Documents()
    documents.open(URI, "python", version, text)
    events: list[DocumentEvent] = []
    documents.listen(events.append)
    return documents, events


def text_of(documents: Documents) -> str:
    document = documents.get(URI)
    assert document is not None
    return document.text


def test_changes_of_one_notification_apply_one_after_the_other() -> None:
    documents, events = opened("ab\ncd\n")
    assert documents.change(URI, 2, [change((0, 0), (0, 1), "X\n"), change((1, 0), (1, 1), "Y")])
    assert text_of(documents) == "X\nY\ncd\n"
    (event,) = events
    assert (event.kind, event.version, event.before, event.after) == ("changed", 2, "ab\ncd\n", "X\nY\ncd\n")
    assert apply_each(event.before, event.splices) == event.after


def test_a_whole_text_is_told_as_what_differs() -> None:
    documents, events = opened("one\ntwo\nthree\n")
    documents.change(URI, 2, [{"text": "one\n2\nthree\nfour\n"}])
    assert events[0].splices == (Splice(14, 14, "four\n"), Splice(4, 7, "2"))


@pytest.mark.parametrize("version", [0, 1])
def test_a_stale_version_is_ignored(version: int) -> None:
    documents, events = opened("a", version=1)
    assert not documents.change(URI, version, [{"text": "b"}])
    assert text_of(documents) == "a" and events == []


def test_a_document_that_is_not_open_does_not_change() -> None:
    assert not Documents().change(URI, 1, [{"text": "b"}])


@pytest.mark.parametrize(
    "bad",
    [
        [{"range": {"start": {"line": 0}}, "text": "x"}],
        [{"range": "all", "text": "x"}],
        [{"text": None}],
        [{"text": "fine"}, {"range": {"start": {"line": "0", "character": 0}, "end": None}, "text": ""}],
    ],
)
def test_a_malformed_change_changes_nothing(bad: list[dict[str, object]]) -> None:
    documents, events = opened("a")
    assert not documents.change(URI, 2, bad)
    assert text_of(documents) == "a" and events == []


def test_u2028_is_not_a_line_end() -> None:
    documents, _ = opened("a\u2028b\x0cc\nd")
    documents.change(URI, 2, [change((1, 0), (1, 1), "D")])
    assert text_of(documents) == "a\u2028b\x0cc\nD"


def test_dirty_is_the_buffer_against_the_file() -> None:
    documents, events = opened("a")
    document = documents.get(URI)
    assert document is not None and not document.dirty
    documents.change(URI, 2, [{"text": "b"}])
    assert document.dirty
    documents.save(URI)
    assert not document.dirty and events[-1].kind == "saved"
    documents.disk(URI, "other")
    assert document.dirty and document.text == "b", "what the disk says does not change a buffer"


def test_a_closed_document_is_forgotten_unless_followed() -> None:
    documents, _ = opened("a")
    documents.close(URI)
    assert documents.known(URI) is None
    documents.open(URI, "python", 1, "a")
    documents.follow(URI, "ignored: it is open")
    documents.close(URI)
    assert documents.get(URI) is None
    known = documents.known(URI)
    assert known is not None and known.text == "a" and known.version is None
    documents.unfollow(URI)
    assert documents.known(URI) is None


def test_closing_an_unsaved_buffer_leaves_the_file() -> None:
    documents, events = opened("saved\n")
    documents.follow(URI, "")
    documents.change(URI, 2, [{"text": "typed\nsaved\n"}])
    documents.close(URI)
    assert events[-1].kind == "closed" and events[-1].after == "saved\n"
    assert apply_each(events[-1].before, events[-1].splices) == "saved\n"


def test_reopening_tells_what_changed_meanwhile() -> None:
    documents, events = opened("a\nb\n")
    documents.follow(URI, "")
    documents.close(URI)
    documents.disk(URI, "x\na\nb\n")
    documents.open(URI, "python", 1, "x\na\nB\n")
    assert [(event.kind, event.before, event.after) for event in events] == [
        ("closed", "a\nb\n", "a\nb\n"),
        ("changed", "a\nb\n", "x\na\nb\n"),
        ("opened", "x\na\nb\n", "x\na\nB\n"),
    ]
    assert all(apply_each(event.before, event.splices) == event.after for event in events)


@pytest.mark.parametrize("order", ["rename first", "close and open first"])
def test_a_rename_is_followed_in_whatever_order_clients_tell_it(order: str) -> None:
    documents, events = opened("a\n")
    documents.follow(URI, "")
    new = "file:///b.py"
    if order == "rename first":
        documents.rename(URI, new)
        documents.close(URI)
        documents.open(new, "python", 1, "a\n")
    else:
        documents.close(URI)
        documents.open(new, "python", 1, "a\n")
        documents.rename(URI, new)
    assert documents.known(URI) is None
    document = documents.get(new)
    assert document is not None and document.path == "/b.py"
    assert ("renamed", URI, new) in [(event.kind, event.old_uri, event.uri) for event in events]


def test_a_renamed_folder_takes_its_documents_along() -> None:
    documents = Documents()
    documents.open("file:///src/a.py", "python", 1, "a")
    documents.open("file:///src2/a.py", "python", 1, "b")
    documents.rename("file:///src", "file:///lib")
    assert sorted(document.path or "" for document in documents.opened()) == ["/lib/a.py", "/src2/a.py"]


def test_a_deleted_folder_deletes_what_is_in_it() -> None:
    documents = Documents()
    documents.follow("file:///src/a.py", "a")
    documents.open("file:///src/b.py", "python", 1, "b")
    events: list[DocumentEvent] = []
    documents.listen(events.append)
    documents.delete("file:///src")
    assert sorted((event.kind, event.uri) for event in events) == [
        ("deleted", "file:///src/a.py"),
        ("deleted", "file:///src/b.py"),
    ]
    assert documents.get("file:///src/b.py") is not None, "its buffer lives on in the editor"


def test_an_expected_edit_is_told_as_we_meant_it_however_it_was_reported() -> None:
    documents, events = opened("x\nx\ny\n")
    expectation = Expectation.of("x\nx\ny\n", [Splice(0, 2, "")])
    documents.expect(URI, expectation)
    documents.change(URI, 2, [change((1, 0), (2, 0), "")])  # the other of two equal lines
    assert events[0].landed is expectation and events[0].splices == (Splice(0, 2, ""),)
    documents.change(URI, 3, [change((0, 0), (0, 0), "x\n")])
    assert events[1].splices == (Splice(0, 0, "x\n"),), "its undo, too"
    assert events[1].landed is None


def test_typing_right_behind_our_edit_in_one_notification_is_told_apart() -> None:
    documents, events = opened("a\n")
    expectation = Expectation.of("a\n", [Splice(0, 2, "b\n")])
    documents.expect(URI, expectation)
    documents.change(URI, 2, [change((0, 0), (0, 1), "b"), change((0, 1), (0, 1), "!")])
    assert [(event.landed is expectation, event.after) for event in events] == [(True, "b\n"), (False, "b!\n")]


def test_the_clients_spelling_of_a_uri_is_kept() -> None:
    documents = Documents()
    documents.open("file:///C:/a b.py", "python", 1, "")
    document = documents.by_path("c:\\a b.py")
    assert document is not None and document.client_uri == "file:///C:/a b.py"
    assert documents.change("file:///c%3A/a%20b.py", 2, [{"text": "x"}])


def test_a_listener_that_fails_does_not_stop_the_others() -> None:
    documents, events = opened("a")

    def broken(event: DocumentEvent) -> None:
        raise RuntimeError("bug")

    forget = documents.listen(broken)
    documents.listen(events.append)
    documents.change(URI, 2, [{"text": "b"}])
    assert len(events) == 2
    forget()


def test_untitled_documents_have_no_path() -> None:
    documents = Documents()
    documents.open("untitled:Untitled-1", "plaintext", 1, "x")
    document = documents.get("untitled:Untitled-1")
    assert document is not None and document.path is None


def test_lone_surrogates_have_a_hash_too() -> None:
    assert text_sha256("\ud800") != text_sha256("")
