"""Flags with their exact arity, and words that the shell may turn into flags."""

import pytest

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import read_usage, row
from permissions.scratch import Scratch


def words(*texts: str) -> list[Word]:
    return [Word(text=text, pattern=text) for text in texts]


ROW = row("-a -v -n:# -e: -f:< -i? -m:$ --all --num=# --expr= --from=< --color=? --merged=$")


@pytest.mark.parametrize(
    "line",
    [
        "-a x", "-av x", "-n5 x", "-n -5 x", "-n-5 x", "-an 5 x", "--num=-5", "--expr=-p", "--from=-y", "--num -5", "-e p x", "-ep", "-i", "-ix", "--color", "--color=always", "-f y",
        "--from=y", "--from y", "-- -x", "- x", "-e -", "-m", "-m x", "--merged", "--merged x", "x -a",
    ],
)  # fmt: skip
def test_listed_flags_with_their_arity_are_no_hazard(line: str) -> None:
    assert read_usage(ROW, words(*line.split())).hazards == []


@pytest.mark.parametrize(
    "line",
    [
        "-x", "-ax", "--unknown", "--al", "--all=1", "-e -p", "-ae", "--expr -p", "--num -x", "-n -x", "-f -y", "--from -y", "-e", "--expr", "-5",
    ],
)  # fmt: skip
def test_a_flag_that_is_not_listed_or_a_value_that_looks_like_one_is_a_hazard(line: str) -> None:
    assert read_usage(ROW, words(*line.split())).hazards


def test_a_row_that_spells_no_flag_is_refused() -> None:
    with pytest.raises(ValueError, match="does not spell a flag"):
        row("x")
    with pytest.raises(ValueError, match="two arities"):
        row("-x -x:")


def test_values_that_are_files_are_read_and_so_is_a_value_after_the_first_name() -> None:
    def reads(line: str) -> list[str]:
        return [word.text for word in read_usage(ROW, words(*line.split())).reads]

    assert reads("-f a --from=b --from c d") == ["a", "b", "c", "d"]
    assert reads("-fa -f - x") == ["a", "x"]
    # a program that stops reading flags at the first name takes the value of a later flag for one more name
    assert reads("a -e b") == ["b", "a"]


def test_letters_are_put_together_only_where_the_program_reads_them_so() -> None:
    assert read_usage(row("-a -b", clusters=False), words("-ab")).hazards
    assert not read_usage(row("-a -b -n:", clusters=False), words("-a", "-b", "-n5")).hazards


@pytest.mark.parametrize(
    "command",
    [
        "sed -ne p ~/.ssh/id_rsa", "sed -n -e p ~/.ssh/id_rsa", "sed -nep ~/.ssh/id_rsa", "sed -ep ~/.ssh/id_rsa", "sed -nEe p ~/.ssh/id_rsa",
        "sed -n --expression=p ~/.ssh/id_rsa", "sed -n --expression p ~/.ssh/id_rsa", "sed --quiet -e p -- ~/.ssh/id_rsa", "sed ~/.ssh/id_rsa -n -e p",
        "sed -n -e p -e p ~/.ssh/id_rsa", "sed -sne p README.md ~/.ssh/id_rsa", "sed p -e ~/.ssh/id_rsa", "sed -n p README.md -e ~/.ssh/id_rsa", "sed -f ~/.ssh/id_rsa README.md",
        "grep -f ~/.ssh/id_rsa README.md", "grep --file=~/.ssh/id_rsa README.md", "grep --file ~/.ssh/id_rsa README.md", "grep -rf ~/.ssh/id_rsa .",
        "grep x -r . --exclude-from ~/.ssh/id_rsa", "awk '{print}' -F ~/.ssh/id_rsa", "awk 1 ~/.ssh/id_rsa", "date -r ~/.ssh/id_rsa", "date -f ~/.ssh/id_rsa",
        "date --file=~/.ssh/id_rsa", "wc --files0-from=~/.ssh/id_rsa", "wc --files0-from ~/.ssh/id_rsa", "sort --files0-from=README.md", "du --files0-from=README.md",
        "du -X ~/.ssh/id_rsa .", "diff --from-file=~/.ssh/id_rsa README.md", "diff --to-file ~/.ssh/id_rsa README.md", "stat ~/.ssh/id_rsa", "readlink -f ~/.ssh/id_rsa",
        "file -f ~/.ssh/id_rsa", "jq -n -f ~/.ssh/id_rsa", "jq . --rawfile a ~/.ssh/id_rsa", "md5sum -c ~/.ssh/id_rsa", "sort -T ~/.ssh README.md", "test -f ~/.ssh/id_rsa",
        "realpath --relative-to=~/.ssh .", "head README.md -n ~/.ssh/id_rsa", "echo ~/.ssh/*", "printf %s ~/.ssh/*", "true ~/.ssh/*",
    ],
)  # fmt: skip
def test_every_word_that_can_name_a_file_is_held_against_the_path_rules(shared_ws: Scratch, command: str) -> None:
    # H02, N2
    assert shared_ws.bash(command).decision != "allow"
    assert shared_ws.bash(command, mode="bypassPermissions", deny=["Read(~/.ssh/**)"]).decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rg -f -* ev.sh", "grep -f -* docs", "grep -f [-]x docs", "grep foo -*", "grep -e -* README.md", "grep -A -* x README.md", "rg x *", "rg *", "rg -e x *.py",
        "find . -not -name -*", "find . -name *", "find * -name x", "find . -name [-]x", "find ?", "find . *", "find . -name $PATH", "find . -newer -x", "find . -name -delete",
        "sort *.py", "sort -k 1 *", "sort [-]oREADME.md", "tree *", "tree -L 2 *", "xxd *", "xxd -*", "fd -e py *", "date *", "sed -n p *.py", "sed *", "awk 1 *.py",
        "uniq *", "git log -*", "git diff *", "shuf *", "ls -*", "cat -*", "wc -*", "head -n *", "head -n $((1-5)) README.md", "cat $PATH", "cat \"$PATH\"", "cat README.md $USER",
        "grep $USER README.md", "wc $((1+1))", "ls {-a,b}", "find . {-name,x}", "xxd -s $((1-2)) README.md", "basename -s *", "cut -d $USER -f 1 README.md", "[ -f $USER ]",
        "[ $USER ]", "test -n $PATH", "printf $PATH", "printf -- $PATH", "$SHELL", "$PATH x", "cat < $PATH", "cat <<< $PATH", "echo x > $TMPDIR", "jq $PATH x.json", "seq -s $USER 3",
    ],
)  # fmt: skip
def test_a_word_that_may_become_a_flag_asks_in_any_position(plain_ws: Scratch, command: str) -> None:
    # H03, H04
    assert plain_ws.bash(command).decision != "allow"
    assert plain_ws.bash(command, trusted=False).decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "xxd -ac README.md .git/config", "xxd -ac README.md x", "xxd -bc 8 README.md x", "xxd -pl README.md x", "xxd README.md x", "xxd -c README.md x", "xxd -r README.md",
        "xxd -ps README.md x", "xxd -c 8", "xxd -c 8 README.md *", "xxd -c *", "xxd -c", "tree -L2o PWNED", "tree -o PWNED", "tree -aoPWNED", "tree -L 2 -o PWNED",
        "tree -R -H x -L 1", "tree -L", "tree -L -o PWNED", "tree -I -o x", "tree --output=x", "tree -oL 2 x", "tree --fromfile README.md", "tree -Lo 2 PWNED", "tree -l",
        "tree $PATH", "tree -a$PATH", "xxd -a$PATH README.md",
    ],
)  # fmt: skip
def test_programs_without_getopt_are_read_as_they_read_themselves(plain_ws: Scratch, command: str) -> None:
    # H06
    if command == "xxd -c 8":
        assert plain_ws.bash(command).decision == "allow"  # its input
        return
    assert plain_ws.bash(command).decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "ls *.py", "ls -la *.py", "ls *", "wc -l *.py", "cat sub/*.py", "cat *.py", "grep -n print *.py", "grep -rn --include=*.py print .", "head -n -5 README.md", "head -n5 *.py",
        "tail -n +2 README.md", "stat *", "du -sh *", "md5sum *.py", "jq . *.json", "sort sub/*.py", "sort -- *.py", "sed -ne p README.md", "sed -n '/foo/{p;q}' README.md",
        "sed -e 's/[ \\t]*$//' -e 2d README.md", "sed 5q README.md", "sed -n '2,$!p' README.md", "sed --expression='1,+2p' README.md", "find . -mtime -3 -size +1k -perm -u+x",
        "find . -name '*.py' -newer README.md", "find sub -name a*", "find . ! -name x -o -type f", "cut -d- -f1 README.md", "cut -d - -f 1 README.md", "xxd -c 8 -p README.md", "xxd -l16 README.md",
        "tree -L 2 -a sub", "tree -L2", "tree -aF --sort=name -- sub", "tree -I node_modules", "awk -F: '{print $1}' README.md", "file *", "awk -F , -- '{print $2}' README.md",
        "echo $PATH $USER $((1+1))", 'echo "at $((2*(3-1))) $USER"', "echo ${SHELL}", "printf '%s\\n' $PATH \"$USER\"", '[ -n "$PATH" ]', '[ "$USER" = root ]', "seq 1 20", 'basename "$SHELL"',
        "true $PATH", "which $EDITOR", "expr $COLUMNS + 1", "timeout 5 echo $PATH", "echo *",
    ],
)  # fmt: skip
def test_everyday_lines_stay_allowed(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "allow", plain_ws.bash(command).reason


@pytest.mark.parametrize("command", ["echo $API_KEY", "echo $GITHUB_TOKEN", 'echo "$AWS_SECRET_ACCESS_KEY"', "printf %s $X", "echo ${PATH:-x}", "echo $((x))", "echo $((a[1]))", "echo $1"])  # fmt: skip
def test_a_variable_that_may_hold_a_secret_is_not_shown_unasked(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision != "allow"


@pytest.mark.parametrize("command", ["rm $USER", "cat $PATH", "$SHELL -c x", "frob $USER"])
def test_a_word_nobody_knows_stays_a_doubt_where_no_row_takes_it(plain_ws: Scratch, command: str) -> None:
    """Under bypass too, where something is denied that it could name."""
    assert plain_ws.bash(command, mode="bypassPermissions", deny=["Bash(curl:*)"]).decision == "ask"
    assert plain_ws.bash(command, allow=["Bash"]).decision == "ask"


def test_a_wildcard_is_not_trusted_beside_a_command_that_may_create_the_flag(ws: Scratch) -> None:
    assert ws.bash("wc -l *.md", mode="acceptEdits").decision == "allow"
    assert ws.bash("touch -- --files0-from=.md && wc -l *.md", mode="acceptEdits").decision == "ask"
    assert ws.bash("touch x.py && ls *.py", mode="acceptEdits").decision == "allow"  # no flag of ls names a file
    (ws.root / "--files0-from=x.md").touch()
    assert ws.bash("wc -l *.md", mode="acceptEdits").decision == "ask"


def test_a_wildcard_whose_matches_nobody_can_list_asks(ws: Scratch) -> None:
    assert ws.bash("cd $y; wc -l *.py").decision == "ask"
    assert ws.bash("cd s*; wc -l *.py").decision == "ask"
    for number in range(4001):
        (ws.root / f"many{number}.txt").touch()
    assert ws.bash("wc -l *.txt").decision == "ask"
