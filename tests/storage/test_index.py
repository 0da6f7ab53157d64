"""Listing sessions without opening them (S2)."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assent.storage.index import Index, Summary
from assent.storage.paths import session_paths, sessions_dir


def session(
    data: Path, session_id: str, *, cwd: str = "/project", title: str = "", text: str = "", at: float = 0.0
) -> Summary:
    paths = session_paths(data, cwd, session_id)
    paths.transcript.parent.mkdir(parents=True, exist_ok=True)
    paths.transcript.write_bytes(
        b'{"type":"session/header","cwd":"%s"}\n{"type":"session/state","title":"from file","turns":3}\n' % cwd.encode()
    )
    return Summary(session_id=session_id, title=title, cwd=cwd, updated_at=at, text=text)


def test_the_newest_comes_first_and_cwd_narrows(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.put(session(tmp_path, "s1", at=1.0))
    index.put(session(tmp_path, "s2", at=3.0))
    index.put(session(tmp_path, "s3", at=2.0, cwd="/other"))
    assert [s.session_id for s in index.all()] == ["s2", "s3", "s1"]
    assert [s.session_id for s in index.all(cwd="/other")] == ["s3"]


def test_search_wants_every_word_in_title_or_prompts(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.put(session(tmp_path, "s1", title="Fix the Parser", text="it fails on unicode"))
    index.put(session(tmp_path, "s2", title="Write tests", text="for the parser"))
    assert [s.session_id for s in index.search("PARSER unicode")] == ["s1"]
    assert {s.session_id for s in index.search("parser")} == {"s1", "s2"}
    assert index.search("absent") == []


def test_two_processes_see_each_others_sessions(tmp_path: Path) -> None:
    ours, theirs = Index(tmp_path), Index(tmp_path)
    ours.put(session(tmp_path, "s1", at=1.0))
    assert [s.session_id for s in theirs.all()] == ["s1"]
    theirs.put(session(tmp_path, "s2", at=2.0, title="new"))
    assert [s.session_id for s in ours.all()] == ["s2", "s1"]
    ours.put(Summary(session_id="s2", title="renamed", cwd="/project", updated_at=2.0))
    assert theirs.all()[0].title == "renamed"


def test_a_session_the_index_does_not_know_is_read_from_its_file(tmp_path: Path) -> None:
    session(tmp_path, "s1")
    (found,) = Index(tmp_path).all()
    assert (found.session_id, found.title, found.turns, found.cwd) == ("s1", "from file", 3, "/project")


def test_a_deleted_file_leaves_the_list_and_a_damaged_index_is_no_harm(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.put(session(tmp_path, "s1"))
    index.put(session(tmp_path, "s2"))
    session_paths(tmp_path, "/project", "s1").transcript.unlink()
    assert [s.session_id for s in index.all()] == ["s2"]
    file = sessions_dir(tmp_path) / "index.jsonl"
    file.write_bytes(b"\xff\xfe garbage\n{}\n" + file.read_bytes()[:20])
    assert [s.title for s in Index(tmp_path).all()] == ["from file"]


def test_an_index_that_has_grown_stale_is_written_anew(tmp_path: Path) -> None:
    index = Index(tmp_path)
    summary = session(tmp_path, "s1")
    for turn in range(1200):
        index.put(Summary(session_id="s1", title=f"turn {turn}", cwd=summary.cwd))
    reader = Index(tmp_path)
    assert reader.all()[0].title == "turn 1199"
    assert (sessions_dir(tmp_path) / "index.jsonl").read_bytes().count(b"\n") == 1
    assert index.all()[0].title == "turn 1199"


def test_several_threads_list_while_sessions_change(tmp_path: Path) -> None:
    index = Index(tmp_path)
    ids = [f"s{number}" for number in range(40)]
    kept = [session(tmp_path, id, at=float(number)) for number, id in enumerate(ids)]
    for summary in kept:
        index.put(summary)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            listed = [pool.submit(index.all) for _ in range(600)]
            while not all(future.done() for future in listed):
                for summary in kept:
                    index.put(summary)
            seen = [{summary.session_id for summary in future.result()} for future in listed]
    finally:
        sys.setswitchinterval(before)
    assert all(found == set(ids) for found in seen)
