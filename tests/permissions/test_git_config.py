"""git's configuration is read as git reads it, and written anew with harmless keys only."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.types.git_config import ConfigEntry, ConfigRefused, harmless, named_files, parse, sanitised, signs


def listed_by_git(file: Path) -> list[tuple[str, str | None]] | None:
    """What the real git finds in the file; None where it refuses it."""
    done = subprocess.run(
        ["git", "config", "--no-includes", "-z", "--list", "-f", str(file)], capture_output=True, check=False
    )
    if done.returncode != 0:
        return None
    pairs: list[tuple[str, str | None]] = []
    for item in done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        name, newline, value = item.partition("\n")
        pairs.append((name, value if newline else None))
    return pairs


def listed_by_us(text: str) -> list[tuple[str, str | None]] | None:
    try:
        return [
            (".".join(filter(None, (entry.section, entry.subsection, entry.key))), entry.value) for entry in parse(text)
        ]
    except ConfigRefused:
        return None


PIECES = [
    "[core]", "[a]", '[a "b"]', '[a "b\\"c"]', "[a.B]", "[ a]", '[a"b"]', "[a", "]", "\n", "\n", "\n", "\r\n", "\t", " ", "x", "key", "Key-1", "=", " = ", "value", '"', "\\", "\\n", "\\\n", "\\t", "\\q", "#", ";", "# c\\\n",
    "[user]\nname = A B\n", 'n = "a # b" c ; d\n', "k = a\\\n  b\n", "k\n", "1x = y\n", "\x0b", "\x0c", "\u2028", "\x85", "é", "\ufeff",
]  # fmt: skip


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_text_holds_a_setting_for_git_that_we_do_not_see(tmp_path: Path, pieces: list[str]) -> None:
    text = "".join(pieces)
    file = tmp_path / "config"
    file.write_text(text, newline="")
    ours = listed_by_us(text)
    assert ours is None or ours == listed_by_git(file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[a]\nk = x y  # c\n", "x y"), ('[a]\nk = "x # y"  \n', "x # y"), ('[a]\nk = %"G"?\n', "%G?"), ("[a]\nk = a\\\nb\n", "ab"), ("[a]\nk=\n", ""), ("[a] k = 1", "1"), ("[a]\nk\n", None),
        ('[a]\nk = "\\t\\n\\"\\\\"\n', '\t\n"\\'), ("\ufeff[a]\r\nk = 1\r\n", "1"), ("[a]\nk = a ; b", "a"), ('[a]\nk = a" "\n', "a "),
    ],
)  # fmt: skip
def test_values_are_what_git_makes_of_them(tmp_path: Path, text: str, value: str | None) -> None:
    assert [entry.value for entry in parse(text)] == [value]
    file = tmp_path / "config"
    file.write_text(text, newline="")
    assert listed_by_git(file) == [("a.k", value)]


@pytest.mark.parametrize(
    "text", ["k = 1\n", "[a\n", "[ a ]\nk\n", "[a]\nk v\n", '[a]\nk = "x\n', "[a]\nk = \\q\n", "[a]\n1 = x\n", "[a]\nk=\0", "garbage", "[a]\nk = \\"]
)  # fmt: skip
def test_what_git_would_refuse_is_refused(text: str) -> None:
    with pytest.raises(ConfigRefused):
        parse(text)


@pytest.mark.parametrize(
    ("format", "expected"),
    [("%h %s", False), ("%G?", True), ("%+GK", True), ("%-G?", True), ("% G?", True), ("%(signature:key)", True), ("%(SIGNATURE)", True), ("%an %<(20)%s", False)],
)  # fmt: skip
def test_a_format_that_verifies_signatures_is_known_by_every_spelling(format: str, expected: bool) -> None:
    assert signs(format) is expected


@pytest.mark.parametrize(
    "name",
    [
        "core.fsmonitor", "core.hookspath", "core.pager", "core.editor", "core.sshcommand", "core.gitproxy", "core.askpass", "core.worktree", "core.excludesfile", "core.attributesfile", "core.alternaterefscommand",
        "diff.external", "diff.orderfile", "diff.textconv", "diff.command", "diff.submodule", "filter.clean", "filter.process", "include.path", "includeif.path", "gpg.program", "gpg.ssh", "alias.x", "pager.log",
        "credential.helper", "mailmap.file", "blame.ignorerevsfile", "log.showsignature", "commit.template", "commit.gpgsign", "remote.promisor", "remote.uploadpack", "remote.vcs", "extensions.partialclone",
        "submodule.update", "status.submodulesummary", "gc.recentobjectshook", "uploadpack.packobjectshook", "url.insteadof", "http.extraheader", "http.proxy", "interactive.difffilter", "sequence.editor",
        "merge.driver", "mergetool.cmd", "difftool.cmd", "trailer.command", "browser.cmd", "man.cmd", "instaweb.httpd", "sendemail.smtpserver", "init.templatedir", "notes.displayref", "format.headers", "lfs.path", "lfs.url",
    ],
)  # fmt: skip
def test_a_key_that_runs_or_reads_something_is_not_harmless(name: str) -> None:
    section, _, key = name.partition(".")
    assert not harmless(ConfigEntry(section=section, subsection="", key=key, value="x"))
    assert not harmless(ConfigEntry(section=section, subsection="y", key=key, value="x"))


def test_a_format_in_the_configuration_is_harmless_unless_it_verifies() -> None:
    for section, key in (("format", "pretty"), ("pretty", "mine")):
        assert harmless(ConfigEntry(section=section, subsection="", key=key, value="%h %s"))
        assert not harmless(ConfigEntry(section=section, subsection="", key=key, value="%h %G?"))


GLOBAL = """\
[user]
\tname = A "quoted \\"name\\"" ; comment
\temail = a@example.org
[core]
\tquotepath = false
\tpager = delta
\teditor = vim
\texcludesfile = ~/.ignore
[safe]
\tdirectory = /srv/x
[credential]
\thelper = store
[url "https://token@example.org/"]
\tinsteadOf = https://example.org/
[include]
\tpath = ~/.work
[filter "lfs"]
\tprocess = git-lfs filter-process
[color "status"]
\tadded = green
[pull]
\trebase
[format]
\tpretty = %h %G?
[pretty]
\tmine = %h\\t%s
[http]
\textraheader = AUTHORIZATION: basic c2VjcmV0
[alias]
\tst = status
"""


def test_the_users_own_configuration_is_handed_on_without_programs_and_secrets(tmp_path: Path) -> None:
    file = tmp_path / "clean"
    file.write_text(sanitised(GLOBAL, "[broken\n"))
    assert listed_by_git(file) == [
        ("user.name", 'A quoted "name"'),
        ("user.email", "a@example.org"),
        ("core.quotepath", "false"),
        ("core.excludesfile", "~/.ignore"),
        ("safe.directory", "/srv/x"),
        ("color.status.added", "green"),
        ("pull.rebase", None),
        ("pretty.mine", "%h\t%s"),
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), max_size=20), subsection=st.text("a\\\" ]#é", max_size=6))  # fmt: skip
def test_a_value_survives_being_written_anew(tmp_path: Path, value: str, subsection: str) -> None:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    section = subsection.replace("\\", "\\\\").replace('"', '\\"')
    text = f'[color "{section}"]\nk = "{escaped}"\n'
    file = tmp_path / "clean"
    file.write_text(sanitised(text), newline="")
    name = f"color.{subsection}.k" if subsection else "color.k"
    assert listed_by_git(file) == [(name, value)]


def test_files_that_the_copy_names_are_told() -> None:
    text = "[core]\nexcludesFile = ~/.ignore\nattributesFile = /etc/attributes\npager = /bin/x\n"
    assert named_files(text, "[core\n", home="/home/u") == ["/home/u/.ignore", "/etc/attributes"]
    assert named_files("[core]\nexcludesFile = rel\nattributesFile = /a/../b\n", home="/h") == []
