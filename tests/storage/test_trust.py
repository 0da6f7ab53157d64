"""Which folders are trusted (P14)."""

from pathlib import Path

from assent.storage.trust import TrustStore


def test_nothing_is_trusted_until_the_user_says_so_and_always_means_across_restarts(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    store = TrustStore(file)
    project = tmp_path / "project"
    assert not store.trusted(str(project)) and not store.decided(str(project))
    store.set(str(project), trusted=True, remember="session")
    assert store.trusted(str(project / "inner"))
    assert not TrustStore(file).trusted(str(project))
    store.set(str(project), trusted=True, remember="always")
    assert TrustStore(file).trusted(str(project / "inner"))


def test_a_no_to_an_inner_folder_stays_no_and_a_link_is_what_it_points_to(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    store.set(str(tmp_path / "outer"), trusted=True, remember="always")
    store.set(str(tmp_path / "outer" / "inner"), trusted=False, remember="always")
    assert store.trusted(str(tmp_path / "outer"))
    assert not store.trusted(str(tmp_path / "outer" / "inner"))
    assert not store.trusted(str(tmp_path / "link"))


def test_a_broken_trust_file_trusts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    for text in ("{", "[]", '{"folders": 3}', '{"folders": {"/": "yes"}}'):
        file.write_text(text)
        assert not TrustStore(file).trusted("/")


def test_an_answer_that_cannot_be_saved_still_counts_in_this_process_above_all_a_no(tmp_path: Path) -> None:
    file = tmp_path / "data" / "trust.json"
    store = TrustStore(file)
    project = str(tmp_path / "project")
    assert store.set(project, trusted=True, remember="always")
    (tmp_path / "data").rename(tmp_path / "kept")
    (tmp_path / "data").symlink_to(tmp_path / "kept" / "nowhere" / "at all")  # nothing can be written there
    assert not store.set(project, trusted=False, remember="always")
    (tmp_path / "data").unlink()
    (tmp_path / "kept").rename(tmp_path / "data")
    assert not store.trusted(project), "the saved yes must not outlive the no"
    assert TrustStore(file).trusted(project)
