"""A grammar that writes shell lines: mostly plain ones, bent in the ways that have fooled other tools.

Flags come from the commands' own vocabulary, harmful ones included; words are quoted, escaped and expanded in odd
manners; lines are joined, nested, redirected and commented. The same seed gives the same lines.
"""

from collections.abc import Callable
from random import Random

from assent.permissions.shell.tables.commands import COMMANDS
from assent.permissions.shell.tables.git_commands import SUBCOMMANDS
from assent.permissions.shell.tables.git_flags import Subcommand


def words(text: str) -> list[str]:
    return text.split(" ")


FILES = words(
    "README.md a.py b.py x.json sub sub/a.py sub/deep sub/deep/c.txt . ./a.py ./sub ev.sh prog.sed prog.awk .ripgreprc sub/odd "
    "sub/bare sub/nested missing sub/../a.py ./././a.py sub//a.py bin bin/ls"
)
OUTSIDE = words(
    "../ws-evil/secret.txt .. / /etc/passwd ~/.ssh/id_rsa $HOME/.ssh/id_rsa ~ /dev/null /proc/self/environ ~root /tmp"
)
GLOBS = words("*.py * ./* sub/* [a-z]*.py ?.py sub/*/c.txt *.{py,md} {a,b}.py **/*.py .* sub/odd/*")
WORDS = [
    "hello",
    "foo",
    "'a",
    "b'",
    "'x;y'",
    "'$(touch",
    "PWNED)'",
    '"a',
    'b"',
    "'*.py'",
    "1",
    "3",
    "5p",
    "main",
    "HEAD",
    "HEAD~1",
    "--",
    "-",
    "x=",
    "a=b",
    "@",
    "''",
    '""',
    "é",
]
BAD_WORDS = [
    "$(touch",
    "PWNED)",
    "`touch",
    "PWNED`",
    "$x",
    "${x}",
    "$'a'",
    '"$(touch',
    'PWNED)"',
    "<(ls)",
    "${x:-y}",
    "$((1+1))",
    "$1",
    "$@",
    "~x",
    "${x@P}",
    '"$x"',
    "$PWD",
]
CONNECTORS = ("; ", " && ", " || ", " | ", "\n", " & ", ";", "&&", "|", " |& ", " ;\n", "\n\n", " # c'\n", ' # "\n')
REDIRECTS = (
    " > PWNED", " >> PWNED", " 2>/dev/null", " >/dev/null 2>&1", " &>/dev/null", " < README.md", " 2>&1", " >| PWNED", " <> PWNED",
    " &> PWNED", " >&2", " < /etc/passwd", " <<< hi", " <<'E'\n$(touch PWNED)\nE", " <<E\nx\nE", " <<E\n$(touch PWNED)\nE", " > /dev/null",
    " 3>PWNED", " >&PWNED", " 2>PWNED", " > a.py", " >'PWNED'", " >$HOME/x", " {fd}>PWNED", " {PATH}>/dev/null", " {PATH}<a.py",
)  # fmt: skip
WRAPPERS = (
    "timeout 5 ", "timeout -s KILL 5 ", "nice ", "nice -n 3 ", "time ", "command ", "env ", "env X=1 ", "stdbuf -oL ", "nohup ", "! ",
    "sudo ", "xargs ", "bash -c ", "exec ", "builtin ", "eval ", "X=1 ", "time -p ", "timeout 1m ", "env -i ", "command -p ", "busybox ",
)  # fmt: skip
FLAGS: dict[str, str] = {
    "ls": "-l -a -la -R -1 --color=auto -I x --hide=x -Z -d -t -w 80 --time-style=+%s --dired -T4",
    "cat": "-n -A -- -s -v -x",
    "head": "-n 3 -3 -c 5 -q --lines=2 -n",
    "tail": "-n 3 -3 -c 5 -f --follow -n+2 --pid=1 -F --retry",
    "wc": "-l -c -w --files0-from=x.json --lines -L",
    "grep": "-n -r -i -E -e -f prog.sed -R --include=*.py -A3 -c -l -o -P -v -w --color -z --exclude-dir=sub -m1 -x -f/etc/passwd -rn",
    "rg": "-n -i --pre ./ev.sh --pre=./ev.sh -z -l --files -g '*.py' -t py --hostname-bin=./ev.sh -L -u -uu --json -A 2 -c --sort path --no-config --search-zip -e x --ignore-file x",
    "find": "-name '*.py' -type f -exec touch PWNED ';' -delete -print -maxdepth 2 -fprintf PWNED x -ok ls ';' -newer a.py -printf '%p' -ls -o ( ) ! -fls PWNED -execdir ls ; -size +1k -L -H -follow -prune -quit -print0 -path './sub/*' -not -empty",
    "sed": "-n -i -e p 's/a/b/' '1,3p' 'w PWNED' 's/a/b/w PWNED' 1e -f prog.sed -E 's/a/b/e' '$d' '/x/d' --in-place 's#[#]#;s#w PWNED#x#' -s -z -ni p;p --debug --sandbox 'y/a/b/' '5q' '/a/,/b/p' 's/[^/]*$//' 'r x.json' -ne",
    "sort": "-n -r -u -o PWNED -oPWNED --output=PWNED -k2 -t, -T . --compress-program=./ev.sh -c -m --files0-from=x -S1M -z --outpu=PWNED -no",
    "uniq": "-c -d -u -i -f1 -w3 --count",
    "awk": "'{print}' '{print $1}' -F, 'BEGIN{system(\"touch PWNED\")}' '{print>\"PWNED\"}' -f prog.awk NR==1 '/foo/' -v x=1 '{print $NF}' '{print|\"sh\"}' '{print $1,$2}'",
    "jq": ". -r .a '.a.b' -f prog.sed env --arg a b keys -c -n 'input' '$ENV' -e --tab '.[]'",
    "diff": "-u -r -q -l --paginate -y --brief -w --to-file=x --color",
    "cut": "-d, -f1 -c1-3 -d -f --complement -b1",
    "tr": "a-z A-Z -d x -s",
    "test": "-f -d -v x = 1 -eq 2 -n -z -e ! a -nt 'a[$(touch PWNED)]'",
    "[": "-f a.py ] -d sub ] -v x ] 1 -eq 1 ] -n x ] a = b ] 'a[$(touch PWNED)]' -eq 1 ]",
    "printf": "'%s\\n' -v x '%n' %d %s a '%5n' '%b' %q",
    "echo": "-n -e hi '$x' -E > a",
    "date": "+%F -u -d now -s now --set=now -r a.py -f x.json 0101 -I -R --date=tomorrow",
    "file": "-b -i -C -m x -f x -z --mime-type -L",
    "stat": "-c %s -L -t --format=%n",
    "du": "-sh -a -h --files0-from=x -d1 -L -c",
    "tree": "-L 2 -o PWNED -a -R -l --prune",
    "xxd": "-l 4 -r -p",
    "cd": "sub sub/deep .. - / ~ -P sub",
    "basename": "-a -s .py a/b",
    "realpath": "-s -m -e a.py",
    "comm": "-1 -2 --total",
    "md5sum": "-c --check a.py -b",
    "ps": "aux e -ef auxe -o pid",
    "id": "-u -un -Z",
    "sleep": "0 0.1 99 1d",
    "seq": "3 1 2 5 -s, -w",
    "od": "-c -x -An -N4",
    "nl": "-ba -w3",
    "column": "-t -s,",
    "which": "ls -a git",
    "type": "ls -a",
    "command": "-v ls -V",
    "pwd": "-P -L x",
    "hostname": "-f x -s",
    "uname": "-a -r x",
    "true": "x",
    "expr": "1 + 1",
    "touch": "PWNED -c",
    "cp": "a.py PWNED -r",
    "rm": "-rf a.py .",
    "tee": "PWNED -a",
    "curl": "-o PWNED http://127.0.0.1:9",
    "python3": "--version -c 1 -V -m x",
    "make": "--version -n all",
    "npm": "--version test",
    "bash": "--version -c ls ev.sh",
    "./ev.sh": "x",
}
GIT: dict[str, str] = {
    "status": "-s --short -uno --porcelain -b --ignored --output=x -v -z --column",
    "log": "--oneline -3 -n 2 -p --stat --format=%h --format=%G? --output=PWNED --all --graph --ext-diff --show-signature -S foo -O x --author=t --since=1.day -L1,2:README.md --textconv --follow",
    "diff": "--stat --cached HEAD --output=PWNED --ext-diff --no-index /etc/passwd --name-only -U1 --no-ext-diff --outpu=x -w --word-diff --textconv --submodule=diff --check",
    "show": "--stat HEAD HEAD:README.md --format=%s --output=PWNED --ext-diff -s",
    "branch": "-a -v --list -D main x -vv --show-current -m y --contains HEAD --format=%(refname) -f z",
    "tag": "-l x -d x -v v1 --list 'v*' -n",
    "remote": "-v add x y show origin get-url origin update",
    "grep": "hello -n -i -O./ev.sh --open-files-in-pager=./ev.sh --no-index -c -l -e foo -f x",
    "rev-parse": "HEAD --show-toplevel --abbrev-ref --short --git-dir --parseopt",
    "ls-files": "-m -o --exclude-standard -X x -s -z",
    "blame": "README.md -L1,2 --contents x -w -e",
    "config": "--get user.name --list a.b c -l --unset x -f x -e --add",
    "stash": "list show push pop",
    "reflog": "show expire -3",
    "describe": "--tags --dirty --always",
    "cat-file": "-p HEAD -t HEAD --batch",
    "shortlog": "-sn HEAD",
    "worktree": "list add x",
    "rev-list": "--count HEAD --all -n 1",
    "for-each-ref": "--format=%(refname) --format=%(signature) --count=1",
    "commit": "-m x -a",
    "checkout": "main -- .",
    "fetch": "--upload-pack=./ev.sh origin",
    "submodule": "status foreach ls",
    "help": "log",
    "ls-tree": "-r HEAD --name-only",
}
GIT_GLOBAL = (
    "-c core.fsmonitor=./ev.sh",
    "-C sub",
    "-C sub/bare",
    "-C sub/nested",
    "--git-dir=sub/bare",
    "--no-pager",
    "--exec-path=.",
    "-p",
    "-C .",
    "-C ..",
    "-P",
)


NAMES = sorted(set(FLAGS) | set(COMMANDS) - {"sleep"})
GIT_NAMES = sorted(set(GIT) | set(SUBCOMMANDS))


def line(random: Random) -> str:
    """One shell line, of one to four commands."""
    parts = [_command(random)]
    while random.random() < 0.3 and len(parts) < 4:
        parts += [random.choice(CONNECTORS), _command(random)]
    text = "".join(parts)
    bend = random.random()
    if bend < 0.03:
        text = (
            random.choice(
                (
                    "( %s )",
                    "{ %s; }",
                    "$( %s )",
                    "`%s`",
                    "! %s",
                    "if %s; then ls; fi",
                    "for i in 1; do %s; done",
                    "f() { %s; }; f",
                )
            )
            % text
        )
    elif bend < 0.05:
        position = random.randrange(len(text) + 1)
        text = (
            text[:position]
            + random.choice(
                ("'", '"', "\\", "\n", "$", "`", "#", ";", "\r", "\x0b", "\u200b", "\u00a0", "\\\n", "(", "{", "&")
            )
            + text[position:]
        )
    return text


def _command(random: Random) -> str:
    if random.random() < 0.25:
        words = _git(random)
    else:
        name = random.choice(NAMES)
        words = [
            _name(random, name),
            *_some(
                random, FLAGS.get(name, "-x").split(" "), sorted(COMMANDS[name].options) if name in COMMANDS else []
            ),
            *_operands(random),
        ]
    if random.random() < 0.1:
        random.shuffle(words)
    text = " ".join(words)
    if random.random() < 0.12:
        text = random.choice(WRAPPERS) + text
    if random.random() < 0.15:
        text += random.choice(REDIRECTS)
    return text


def _git(random: Random) -> list[str]:
    name = random.choice(GIT_NAMES)
    start = ["git"] + ([random.choice(GIT_GLOBAL)] if random.random() < 0.1 else [])
    return [
        *start,
        name,
        *_some(random, GIT.get(name, "HEAD").split(" "), _git_flags(SUBCOMMANDS.get(name))),
        *(_operands(random) if random.random() < 0.3 else []),
    ]


def _name(random: Random, name: str) -> str:
    if random.random() > 0.04 or not name.isalpha():
        return name
    bent: list[Callable[[str], str]] = [
        lambda n: f"'{n}'",
        lambda n: f"\\{n}",
        lambda n: f"{n[0]}''{n[1:]}",
        lambda n: f"./{n}",
        lambda n: f"/bin/{n}",
        lambda n: n.upper(),
        lambda n: f"$'{n}'",
    ]
    return random.choice(bent)(name)


def _git_flags(row: Subcommand | None) -> list[str]:
    """As the tables of other commands spell them."""
    marks = {"none": "", "optional": "?", "attached": "=", "separate": ":", "either": ":"}
    if row is None:
        return []
    return [
        f"{name}=?" if flag.arity == "optional" and name.startswith("--") else name + marks[flag.arity]
        for name, flag in sorted(row.flags.items())
    ]


def _some(random: Random, flags: list[str], listed: list[str]) -> list[str]:
    """Flags that people write, or flags that the table says are harmless, with values that would give it away."""
    chosen = [random.choice(flags) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    if listed and random.random() < 0.5:
        chosen += [_from_table(random, random.choice(listed)) for _ in range(random.choice((1, 2)))]
    return chosen


def _from_table(random: Random, option: str) -> str:
    value = random.choice(("PWNED", "1", "x", "README.md", "sub", "auto", "2", "a,b", "never", "%s"))
    option = option.rstrip("<#$")
    name = option.rstrip("?").rstrip(":=")
    if option.endswith("?"):
        return random.choice((name, f"{name}={value}" if name.startswith("--") else f"{name}{value}"))
    if option.endswith("="):
        return random.choice((f"{name}={value}", f"{name} {value}"))
    return f"{name}{random.choice(('', ' '))}{value}" if option.endswith(":") else name


def _operands(random: Random) -> list[str]:
    kinds = random.choices(
        (FILES, WORDS, GLOBS, OUTSIDE, BAD_WORDS), weights=(60, 20, 10, 5, 5), k=random.choice((0, 1, 1, 2))
    )
    return [_quoted(random, random.choice(kind)) for kind in kinds]


def _quoted(random: Random, word: str) -> str:
    if random.random() > 0.1 or not word.isascii() or any(c in word for c in "'\"$`*~ "):
        return word
    return random.choice((f"'{word}'", f'"{word}"', f"{word[:1]}''{word[1:]}", "".join(f"\\{c}" for c in word)))
