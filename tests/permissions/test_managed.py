"""The policy file on disk: read when it changes, and restricting when it cannot be read."""

from pathlib import Path

from assent.permissions.managed import ManagedPolicy


def test_a_policy_counts_as_soon_as_it_is_written_and_no_longer_than_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    managed = ManagedPolicy(file)
    assert managed.current().disabled_tools == frozenset()
    file.write_text('{"tools": {"disabled": ["WebFetch"]}}')
    assert managed.current().disabled_tools == {"WebFetch"}
    assert managed.current() is managed.current(), "an unchanged file is not read again"
    file.write_text('{"tools": {"disabled": ["WebFetch", "Bash"]}}')
    assert managed.current().disabled_tools == {"WebFetch", "Bash"}
    file.unlink()
    assert managed.current().disabled_tools == frozenset()


def test_a_policy_that_cannot_be_read_restricts(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text("{")
    broken = ManagedPolicy(file).current()
    assert "bypassPermissions" not in broken.modes
    assert str(file) in broken.problems[0]


def test_a_policy_that_cannot_even_be_looked_at_restricts(tmp_path: Path) -> None:
    loop = tmp_path / "policy.json"
    loop.symlink_to("policy.json")
    assert "bypassPermissions" not in ManagedPolicy(loop).current().modes
