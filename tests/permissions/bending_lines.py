"""Writes lines for bypass mode that bend what their later words mean, and then write: the grammar of one property test.

Parts are put together by chance: a way to set something that the shell counts on, a way to move or to bring a link, a
construct around it, wrappers, and a write. Most of the lines do nothing at all; the same seed gives the same lines.
"""

from random import Random

_SET = (
    "{v}={d}", "export {v}={d}", "declare {v}={d}", "declare -g {v}={d}", "typeset {v}={d}", "readonly {v}={d}", "read {v} <<< {d}",
    "read -r {v} <<< {d}", "IFS= read -r {v} <<< {d}", "printf -v {v} %s {d}", ": ${{{v}:={d}}}", "mapfile -t {v} <<< {d}", "for {v} in {d}; do :; done",
    "declare -n ref={v}; ref={d}", "x={v}; read $x <<< {d}", "x={v}; printf -v $x %s {d}", "x={v}; declare $x={d}", "eval {v}={d}",
    "eval '{v}={d}'", "let {v}=10", "(( {v}=10 ))", ": $(( {v}=10 ))", "exec {{{v}}}>/dev/null", "{v}+={d}", "unset {v}; {v}={d}",
    "set -a; {v}={d}", "trap '{v}={d}' DEBUG", "source ./sets", ". ./sets", "command read {v} <<< {d}", "builtin read {v} <<< {d}",
    "read -a {v} <<< {d}", "getopts {d} {v}", "coproc {v} {{ :; }}", "[[ -v x || $(({v}=10)) ]]", "read x {v} <<< 'a {d}'", "while read {v}; do break; done <<< {d}",
)  # fmt: skip
_VARIABLES = ("CDPATH", "HOME", "PWD", "OLDPWD", "IFS", "GLOBIGNORE", "f")
_VALUES = (".g''it", ".git", "10", "$PWD/10", "10/hooks", "$PWD/.g''it/hooks", "/", "z", "cd", "$PWD")
_OPTIONS = (
    "shopt -s dotglob", "shopt -s nocaseglob", "shopt -s extglob", "shopt -s lastpipe", "shopt -s cdable_vars", "set -f", "set -o noglob", "set -P",
    "set -euo pipefail", "set +B", "set -k", "shopt -s globstar nullglob", "alias touch='cd 10/hooks; touch'", "hash -p /bin/true cd",
)  # fmt: skip
_MOVES = (
    "cd hooks", "cd 10/hooks", "cd ./10/hooks", "cd .g''it/hooks", "cd", "cd -", "cd ~", "cd ~/hooks", "cd $HOME", "cd $f", "pushd 10/hooks", "$f 10/hooks",
    "command cd 10/hooks", "builtin cd 10/hooks", "cd 10 && cd hooks", "cd -P 10/hooks", "cd -- 10/hooks", "cd 1*/hooks", "true | cd 10/hooks", "cd dir/l",
    "cd d/l", "eval 'cd 10/hooks'", "\\cd 10/hooks", "c''d 10/hooks", "cd 10/hooks > /dev/null", "cd 10/hooks <<< x", "time cd 10/hooks", "! cd 10/hooks",
)  # fmt: skip
_LINKS = (
    "mv dir d", "cp -r dir d", "cp -a dir d", "cp -R dir d/", "ln -s 10/hooks d", "ln -s ../10/hooks sub/l", "ln -sfn .g''it/hooks d", "mv dir/l d",
    "mv home d", "git checkout -q linked", "git checkout -q linked -- el", "git restore -s linked el", "mkdir d; mv dir/l d", "rsync -a dir/ d", "cp -P home d",
    "tar cf t dir; mkdir d; tar xf t -C d", "git worktree add -q d linked", "install -d d; mv dir d",
)  # fmt: skip
_WRITES = (
    "touch pre-commit", "echo x > pre-commit", "cp a.py pre-commit", "tee pre-commit < a.py", "touch ~/hooks/pre-commit", "touch $PWD/pre-commit",
    "echo x > $HOME/pre-commit", "touch $HOME/pre-commit", "touch $PWD/hooks/pre-commit", "touch d/pre-commit", "touch d/l/pre-commit", "echo x > el/pre-commit",
    "sed -i s/{/x/ *p.json", "truncate -s 1 *p.json", "sed -i s/{/x/ .M*", "touch sub/l/pre-commit", "dd if=a.py of=pre-commit", "install a.py pre-commit",
    "mv a.py pre-commit", "cp a.py hooks", "perl -pi -e s/{/x/ *p.json", "nice tee d/dir/l/pre-commit < a.py", "echo x >| pre-commit", "echo x 1<> pre-commit",
)  # fmt: skip
_CONSTRUCTS = (
    "%s", "%s", "%s", "{ %s; }", "( %s )", "if true; then %s; fi", "for i in 1 2; do %s; done", "while true; do %s; break; done", "until false; do %s; break; done",
    "case x in x) %s;; esac", "fn() { %s; }; fn", "x=$(%s)", "echo `%s`", "for ((i=0;i<2;i++)); do %s; done", "select s in a; do %s; break; done <<< 1",
    "bash -c '%s'", "bash -O dotglob -c '%s'", "bash -O lastpipe -c '%s'", "eval '%s'", "timeout 5 bash -c '%s'", "env CDPATH=10 bash -c '%s'", "cat <<E; %s\nx\nE",
    "cat <(%s) > /dev/null", "! { %s; }", "time { %s; }", "[[ a == a ]] && { %s; }", "true && %s", "%s | cat",
)  # fmt: skip


def bending_line(random: Random) -> str:
    steps: list[str] = []
    for _ in range(random.choice((1, 1, 2))):
        kind = random.randrange(5)
        if kind == 0:
            steps.append(random.choice(_OPTIONS))
        elif kind == 1:
            steps.append(random.choice(_LINKS))
        elif kind == 2:
            steps.append(random.choice(_MOVES))
        else:
            setting = random.choice(_SET).format(v=random.choice(_VARIABLES), d=random.choice(_VALUES))
            after = random.choice(("; ", "; ", "; ", "\n", " && ", " ")) if "=" in setting else "; "
            steps.append(setting + after + random.choice(("", random.choice(_MOVES))) or setting)
    write = random.choice(_WRITES)
    middle = [each.rstrip("; \n&") or ":" for each in steps]
    joined = random.choice(("; ", "\n", " && ", " || "))
    if random.random() < 0.5:
        return random.choice(_CONSTRUCTS).replace("%s", joined.join([*middle, write]))
    inner = random.choice(_CONSTRUCTS).replace("%s", middle[-1])
    if random.random() < 0.2:
        inner = random.choice(_CONSTRUCTS).replace("%s", write) + f"; {inner}"
    return joined.join([*middle[:-1], inner, write])
