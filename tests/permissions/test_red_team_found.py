"""What a second red team found in the rebuilt reader: each input was allowed, and did what its test's name says."""

import subprocess

import pytest

from assent.permissions.npm_files import npm_doubt
from assent.permissions.shell.tables.git_commands import SUBCOMMANDS
from assent.types.hardening import hardening_env
from permissions.red_team_project import RedTeamProject, make_red_team_project
from permissions.scratch import Scratch


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RedTeamProject:
    return make_red_team_project(tmp_path_factory.mktemp("found"))


def decision(project: RedTeamProject, command: str) -> str:
    return project.ws.bash(project.filled(command)).decision


@pytest.mark.parametrize(
    "flag",
    [
        "timeout -k $v 5",
        "timeout -k$v 5",
        "timeout -s$v 5",
        "timeout --kill-after $v 5",
        "timeout --kill-after=$v 5",
        "timeout --signal=$v 5",
        "nice -n $v",
        "nice --adjustment $v",
        "stdbuf -o $v",
        "stdbuf --output $v",
    ],
)
def test_the_value_of_a_wrapper_s_flag_never_becomes_the_command_it_runs(project: RedTeamProject, flag: str) -> None:
    assert decision(project, f"for v in '5 5 ./ev.sh'; do {flag} ls; done") == "ask"
    assert decision(project, f"{flag.replace('$v', '$CI')} ls") == "ask"


@pytest.mark.parametrize("command", ["timeout -k 5 9 ls", "timeout -sKILL 5 ls", "nice -n 5 ls", "stdbuf -oL ls"])
def test_a_wrapper_with_plain_values_runs_unasked(project: RedTeamProject, command: str) -> None:
    assert decision(project, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "for v in {home}/.ssh/id_rsa; do jq -R . -- $v; done",
        'for v in {home}/.ssh/id_rsa; do jq -R . -- "$v"; done',
        "jq -R . -- $PATH",
        "for v in env; do jq -n -- $v; done",
        'for v in env; do jq -n -- "$v"; done',
    ],
)
def test_a_file_or_filter_that_only_the_shell_knows_is_not_given_to_jq(project: RedTeamProject, command: str) -> None:
    assert decision(project, command) == "ask"


@pytest.mark.parametrize("flag", ["-n", "-t", "-e", "--bytes", "--radix", "--encoding", "-an", "--"])
def test_strings_takes_no_arguments_from_a_file_by_the_value_of_a_flag(project: RedTeamProject, flag: str) -> None:
    assert decision(project, f"strings {flag} @{{home}}/.ssh/id_rsa x.md") == "ask"


def test_strings_with_plain_values_runs_unasked(project: RedTeamProject) -> None:
    assert decision(project, "strings -n 5 -t x x.md") == "allow"


@pytest.mark.parametrize(
    "script",
    [
        r"s/a\|\c[/touch PWNED/e;s/]/b/",
        r"s,\c[,touch PWNED,e;s,],b,",
        r"/a\|\c[/e touch PWNED;/]/p",
        r"/\c[/w PWNED;/]/p",
    ],
)
def test_a_control_character_in_a_sed_pattern_hides_no_command(project: RedTeamProject, script: str) -> None:
    """To sed before 4.9 the bracket after `\\c` opens nothing, so the pattern ends at the first delimiter."""
    assert decision(project, f"sed '{script}' x.md") == "ask"


def test_a_loop_sets_no_variable_that_the_hardened_environment_holds(project: RedTeamProject) -> None:
    held = [name for name in hardening_env() if decision(project, f"for {name} in x; do npm ls; done") != "ask"]
    assert held == []
    assert decision(project, "for npm_config_logs_dir in x; do npm ls; done") == "ask"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("python -m pytest", "python -m pytest -p evil"),
        ("python3.12 -m pytest", "python3.12 -m pytest --basetemp=src"),
        ("uv run pytest", "uv run pytest -c ../evil.ini"),
        ("poetry run pytest", "poetry run pytest -pevil"),
        ("pytest", "pytest @arguments"),
        ("pytest", "pytest --pdbcls=evil:Debugger"),
        ("npx eslint", "npx eslint --rulesdir evil src"),
        ("npx eslint", "npx eslint -f ./evil.js src"),
        ("npm exec", "npm exec -- eslint --rulesdir evil src"),
        ("bundle exec rspec", "bundle exec rspec -r ./evil"),
        ("bundle exec rspec", "bundle exec bin/rspec --require ./evil"),
        ("bundle exec rspec", "bundle exec rspec -f ./evil.rb"),
        ("jest", "jest --env=./evil.js"),
        ("node --test", "node --test --import ./evil.js"),
        ("node --test", "node --test -r ./evil.js"),
        ("make", "make --ev='x:; ./ev.sh'"),
        ("make", "make --f=../evil.mk"),
        ("man", "man --pa=./ev.sh ls"),
        ("git", "git filter-branch --tree-filter ./ev.sh"),
        ("git archive", "git archive --remote=ext::./ev.sh HEAD"),
        ("git commit", "git commit -F {home}/.ssh/id_rsa"),
        ("git commit", "git commit -aF {home}/.ssh/id_rsa"),
        ("git commit", "git commit -aF{home}/.ssh/id_rsa"),
        ("git commit", "git commit --file={home}/.ssh/id_rsa"),
        ("git commit", "git commit --fil {home}/.ssh/id_rsa"),
        ("git commit", "git commit -t {home}/.ssh/id_rsa"),
        ("git add", "git add --pathspec-from-file={home}/.ssh/id_rsa"),
        ("curl", "curl -w '%output{.git/hooks/pre-commit}x' localhost"),
    ],
)
def test_a_rule_for_a_program_covers_no_flag_that_runs_writes_or_leaks(
    project: RedTeamProject, rule: str, command: str
) -> None:
    assert project.ws.bash(project.filled(command), allow=[f"Bash({rule}:*)"]).decision == "ask"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("python -m pytest", "python -m pytest -q tests -k 'a or b'"),
        ("pytest", "pytest --co -q"),
        ("npx eslint", "npx eslint -f stylish src"),
        ("bundle exec rspec", "bundle exec rspec -fd spec"),
        ("node --test", "node --test --test-name-pattern=x"),
        ("node build.js", "node build.js -e production"),
        ("make", "make -j4 check"),
        ("git commit", "git commit -am 'test the first Form'"),
        ("git commit", "git commit -m 'Take the text from -F' --amend"),
        ("git commit", "git commit -F message.txt"),
        ("git add", "git add -A ."),
    ],
)
def test_a_rule_for_a_program_covers_its_ordinary_use(project: RedTeamProject, rule: str, command: str) -> None:
    assert project.ws.bash(command, allow=[f"Bash({rule}:*)"]).decision == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "depth=${GITHUB_TOKEN}",
        "heading = ${GITHUB_TOKEN}",
        "registry=https://example.org/${GITHUB_TOKEN}",
        "globalconfig=/home/me/.ssh/id_rsa",
        "userconfig=.env",
        "prefix=..",
        "workspace=x",
        "cache=${GITHUB_TOKEN}",
        "-----BEGIN",
        "[section]",
    ],
)
def test_npm_ls_asks_where_npmrc_could_make_it_show_variables_or_files(ws: Scratch, line: str) -> None:
    (ws.root / ".npmrc").write_text(f"; ours\n\n{line}\n")
    assert ws.bash("npm ls").decision == "ask"
    assert ws.bash("npm ls", cwd=str(ws.root / "sub" / "deep")).decision == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "save-exact=true\nengine-strict = true\n",
        "# ours\nregistry=https://registry.example.org/npm/\n@team:registry=https://npm.example.org\n",
        "//npm.example.org/:_authToken=${NPM_TOKEN}\n",
    ],
)
def test_npm_ls_runs_unasked_with_an_ordinary_npmrc(ws: Scratch, text: str) -> None:
    (ws.root / ".npmrc").write_text(text)
    (ws.home / ".npmrc").write_text("anything=of the user\n")
    assert ws.bash("npm ls").decision == "allow"


def test_npm_ls_asks_where_links_stand_for_its_files_or_its_directory_is_not_known(ws: Scratch) -> None:
    (ws.root / "package.json").symlink_to(ws.home / ".ssh" / "id_rsa")
    assert ws.bash("npm ls").decision == "ask"
    (ws.root / "package.json").unlink()
    assert ws.bash("npm ls").decision == "allow"
    assert npm_doubt(None, home=str(ws.home))
    (ws.root / ".npmrc").symlink_to(ws.home / ".ssh" / "id_rsa")
    assert ws.bash("npm ls").decision == "ask"


@pytest.mark.parametrize("names", ["x.md --output=NEW", "-F --output=NEW", "--output=NEW x.md"])
def test_git_blame_gets_no_flag_after_dashes(project: RedTeamProject, names: str) -> None:
    """It reads the second name after `--` as a revision, with all its flags, and wrote the file."""
    assert decision(project, f"git blame -- {names}") == "ask"


def test_a_wildcard_after_the_dashes_of_git_blame_asks_only_when_it_meets_a_flag(ws: Scratch) -> None:
    assert ws.bash("git blame -- *.py").decision == "allow"
    (ws.root / "--output=NEW.py").touch()
    assert ws.bash("git blame -- *.py").decision == "ask"
    assert ws.bash("git blame -- ./*.py").decision == "allow"
    assert ws.bash("git log -- *.py").decision == "allow"


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_two_dashes_end_the_flags_of_every_git_command_that_the_table_says_so_of(ws: Scratch, name: str) -> None:
    """Run by the real git: none of the words after `--` makes it write a file."""
    before = {path.name for path in ws.root.iterdir()}
    first = {"stash": ["show"], "submodule": ["status"], "worktree": ["list"], "config": ["--get"]}.get(name, [])
    for names in (
        ["--output=NEW"],
        ["a.py", "--output=NEW"],
        ["--output=NEW", "a.py"],
        ["HEAD", "--output=NEW", "a.py"],
    ):
        subprocess.run(
            ["git", name, *first, "--", *names], cwd=ws.root, capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    wrote = {path.name for path in ws.root.iterdir()} != before
    assert wrote is not SUBCOMMANDS[name].dashes
