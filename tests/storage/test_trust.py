"""Which folders are trusted (P14)."""

from pathlib import Path

from assent.storage.activation import ItemKind, TrustItem
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


def item(name: str, value: str = "v", kind: ItemKind = "env") -> TrustItem:
    return TrustItem(kind=kind, name=name, value=value, file="/w/.assent/settings.json")


def test_trust_covers_the_items_that_were_shown_and_no_others(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.set("/w", trusted=True, remember="always", items=[item("A"), item("Stop", kind="hook")])
    again = TrustStore(tmp_path / "trust.json").of("/w")
    assert again.approves(item("A")) and again.approves(item("Stop", kind="hook"))
    assert not again.approves(item("A", "other")) and not again.approves(item("B"))
    assert again.before(item("A", "other")) == item("A") and again.before(item("B")) is None
    assert not TrustStore(tmp_path / "trust.json").of("/w/inner").approves(item("A"))


def test_a_folder_that_version_0_1_trusted_stays_trusted_but_its_items_are_asked_about(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    file.write_text('{"folders": {"/w": true}}')
    answer = TrustStore(file).of("/w")
    assert answer.trusted and not answer.approves(item("A"))


def test_an_editors_word_covers_rules_and_variables_but_no_program(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.vouch("/w", trusted=True)
    answer = store.of("/w/inner")
    assert answer.approves(item("A")) and answer.approves(item("Bash", kind="rule"))
    assert not answer.approves(item("Stop", kind="hook")) and not answer.approves(item("s", kind="mcpServer"))
    for name, value in (("permissions.defaultMode", "bypassPermissions"), ("sandbox", '{"scope":"off"}'), ("new", "x")):
        assert not answer.approves(item(name, value, kind="setting"))
    for name, value in (("permissions.defaultMode", "plan"), ("model", "opus")):
        assert answer.approves(item(name, value, kind="setting"))
    store.set("/w", trusted=False, remember="session")
    assert not store.of("/w").approves(item("A"))


def test_a_no_withdraws_what_was_approved(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.set("/w", trusted=True, remember="always", items=[item("A")])
    store.set("/w", trusted=False, remember="always")
    store.set("/w", trusted=True, remember="always")
    assert not store.of("/w").approves(item("A"))


def test_damaged_approvals_approve_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    for approved in (
        "3",
        '{"/w": 3}',
        '{"/w": [{"kind": "env"}]}',
        '{"/w": [{"kind": 1, "name": 2, "value": 3, "file": 4}]}',
    ):
        file.write_text('{"folders": {"/w": true}, "approved": ' + approved + "}")
        answer = TrustStore(file).of("/w")
        assert answer.trusted and not answer.approved


def test_what_the_person_wrote_themselves_is_approved_once_the_folder_is_trusted(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.approve("/w", [item("A")])
    assert not store.of("/w").approves(item("A"))
    store.vouch("/w", trusted=True)
    assert TrustStore(tmp_path / "trust.json").of("/w").approved
