"""Lines made to be slow: one unit repeated inside a frame, for every reader that looks at a line."""

from collections.abc import Iterator
from random import Random

UNITS = (
    " ", "a", "0", "x", "-", "--a ", "--x=", "a ", "'", '"', "\\'", '\\"', "\\", "\\\n", "$HOME", "${HOME}", "$PATH ", "$((1)) ", "[", "[]", "[a", "[]a", "[[:a:]]", "{", "{,", "{a,b}", "}", "~/", "~", "=~:",
    "*", "**/", "*/", "../", "a/", "/", "%", "%0", "%s", "%5", "(", "((", "[ ", "]", "]] ", "!", " ! ", "; ", "\n", "# ", "| ", "|cat", "&& a", "&", "<<a ", "<<'E'\nx\nE\n", "< a ", " > /dev/null", "2>&1 ",
    "`", "$(", "$(a) ", "s/a/b/;", "s/", "s,[,", "p;", "{p;", "1,", "$", "/a/", "\\n", "print ", "a+", "if(", "for(", "x=1 ", "a=b;", "-e p ", "-e a ", "-name a ", "-o ", "é", "\u200b", "%G", "HEAD:a ", "-C a ",
    "-c a ", "--a=b ", "xargs ", "sudo ", "eval ", "bash -c ", "env ", "timeout 1 ", "'a' ", '"a" ', "`a` ", ".", "..", "...", ",", ":", "@", "@{", "^", "a:b ", "+", "&a", "[a]", "[a-z]", "[!a]*", "?", "a=(", "[[:",
)  # fmt: skip
FRAMES = (
    "@", "echo @", 'echo "@"', 'echo "@\\\n"', "echo '@'", "cat @", "sed '@' README.md", "sed '@z' README.md", "sed 's/@/x/;w' README.md", "sed -n '/@/p' README.md", "awk '@' README.md", "awk '{ @ }' a.py",
    "awk '/@' a.py", "printf '@' x", 'printf "@n" x', "jq '@' x.json", "find . @", "find . -name '@'", "grep '@' README.md", "grep -@ x", "ls @", "git log @", "git checkout @", "git @", "tar @", "tar x@",
    "systemctl @", "npm @", "python -c '@'", 'python3 -c "@"', "node -e '@'", "xargs @", "xargs -I @ x", "sudo @", "bash -c '@'", 'bash -c "@"', "eval '@'", "frob @", "frob '@'", "rm @", "cp @ x",
    "echo @ | xargs rm", "cat <<E\n@\nE", "cat <<'E'\n@\nE", "bash <<< '@'", "test @", "[ @ ]", "[[ @ ]]", "x[[ @", "function x @", "cd @", "gpg @", "ssh-keygen @", "gh auth @", "tree @", "xxd @", "unzip @", "docker run @",
    "vim -c '@'", "date @", "x=@ y", "for f in @; do a; done", "if @; then a; fi", "@ > x", "echo x > @",
    "(( @ ))", "echo $(( @ ))", "x[@]=1", "echo ${x[@]}", "echo ${x:-@}", "echo ${x/@/a}", 'echo "${x@@}"', "x=( @ )", "case @ in a) b;; esac", "case a in @) b;; esac", "while @; do a; done", "declare @",
    "export @", "unset @", "for ((@;;)); do a; done", "f() { @; }", "echo $'@'", "let @", "a <(@)", "coproc @", "[[ a && @ ]]", "[ a ] [ @ ]", "[[ a =~ @ ]]", "a {@}>x", "@=1", "@()",
)  # fmt: skip
RULES = {
    "deny": ["Bash(curl:*)", "Bash(*a*b*c)", "Read(~/.ssh/**)", "Edit(src/**/x/**/y)", "Read(**/*a*b*c*.key)"],
    "allow": ["Bash(npm test:*)"],
}
ONCE_SLOW = (
    ("sed '@z' README.md", " "),
    ("systemctl @", "--a "),
    ('echo "@\\\n"', "$HOME"),
    ("echo @", "{"),
    ("npm @", "+"),
    ("unzip @", "0"),
    ("@", "a|"),
    ("cd @", "for("),
    ("ls @", "*/"),
    ("python -c '@'", "\\'"),
    ("ls @", "--a=b "),
    ("tar @", "x"),
    ("printf '@' x", "%0"),
    ("[ @ ]", "--a "),
    ("(( @ ))", "]"),
    ('echo "${x@@}"', "!"),
    ("for ((@;;)); do a; done", "~"),
    ("case @ in a) b;; esac", "--a "),
    ("export @", "a:b "),
    ("awk '@' a.py", "(;"),
)
"""Frames and units that took seconds, or for ever, before they were found."""
SLOW_IN_THE_GRAMMAR = (
    ("[ @ ]", "--a "),
    ("(( @ ))", "--a "),
    ("(( @ ))", '"'),
    ("(( @ ))", "]"),
    ("echo $(( @ ))", "-e p "),
    ("x[@]=1", "--a "),
    ("echo ${x[@]}", '"a" '),
    ('echo "${x@@}"', "!"),
    ("case @ in a) b;; esac", "--a "),
    ("case a in @) b;; esac", "-o "),
    ("for ((@;;)); do a; done", "~"),
    ("declare @", "a:b "),
    ("export @", "HEAD:a "),
    ("[[ a && @ ]]", "env "),
    ("[ a ] [ @ ]", "]"),
    ("function x @", "]"),
)
ONCE_OVER_THE_LIMIT = (
    ("echo @", "'a' "),
    ("tar @", "'a' "),
    ("xargs -I @ x", "'a' "),
    ('python3 -c "@"', "'a' "),
    ('python3 -c "@"', "<<'E'\nx\nE\n"),
    ("git @", "\u200b"),
    ("awk '{ @ }' a.py", "{p;"),
    ("awk '{ @ }' a.py", "}"),
    ("awk '@' a.py", "x=1 "),
    ("awk '@' a.py", "HEAD:a "),
    ("awk '@' a.py", "$("),
    ("awk '@' a.py", "a>"),
    ("awk '{ @ }' a.py", '\\"'),
    ("sed 's/@/x/;w' README.md", "xargs "),
    ("sed 's/@/x/;w' README.md", "("),
    ("sed '@z' README.md", "\\'"),
    ("grep -@ x", '\\"'),
)


def line(frame: str, unit: str, size: int) -> str:
    return frame.replace("@", unit * ((size - len(frame)) // len(unit)))


def pairs(seed: int, number: int) -> Iterator[tuple[str, str]]:
    random = Random(seed)
    for _ in range(number):
        yield random.choice(FRAMES), random.choice(UNITS)


def all_pairs() -> Iterator[tuple[str, str]]:
    for frame in FRAMES:
        for unit in UNITS:
            yield frame, unit
