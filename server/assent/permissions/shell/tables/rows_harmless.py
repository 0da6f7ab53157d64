"""Rows of programs none of whose flags writes a file, runs a program or names a file, listed here or not.

That statement is about the whole real program (GNU coreutils, util-linux, procps, the shell's builtins), so for these
a wildcard or an unknown word may become any flag. What must not be printed is kept back by the paths they name. A flag
is left out of a row all the same when it waits for ever or when nobody needs it.
"""

from assent.permissions.shell.tables import languages as languages
from assent.permissions.shell.tables.options import Row, row

HARMLESS_ROWS: dict[str, Row] = {
    "ls": row(
        """
            -a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -1
            -Z -w: -I: -T: --all --almost-all --author --escape --block-size= --ignore-backups --color=? --directory
            --dired --classify=? --file-type --format= --full-time --group-directories-first --no-group
            --human-readable --si --dereference-command-line --hide= --hyperlink=? --indicator-style= --inode
            --ignore= --kibibytes --literal --numeric-uid-gid --quote-name --quoting-style= --reverse --recursive
            --size --sort= --time= --time-style= --tabsize= --width= --zero --context --dereference
        """,
        check=languages.check_ls,
        wild_flags=True,
    ),
    "cat": row(
        """
            -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank
            --show-tabs --show-nonprinting
        """,
        wild_flags=True,
    ),
    "head": row(
        "-n:# -c:# -q -v -z --lines=# --bytes=# --quiet --silent --verbose --zero-terminated",
        numeric=True,
        wild_flags=True,
    ),
    "pwd": row("-L -P", "none", wild_flags=True, standard=""),
    "echo": row(reader=languages.read_anything),
    "printf": row(reader=languages.read_printf),
    "true": row(reader=languages.read_anything),
    "false": row(reader=languages.read_anything),
    ":": row(reader=languages.read_anything),
    "test": row(reader=languages.read_test),
    "[": row(reader=languages.read_bracket),
    "[[": row(reader=languages.read_double_bracket),
    "which": row("-a", "text", wild_flags=True, standard=""),
    "type": row("-a -t -p -P -f", "text", wild_flags=True, standard=""),
    "stat": row("-c: -f -L -t --format= --printf= --terse --dereference --file-system", wild_flags=True),
    "df": row(
        """
            -a -h -H -i -k -l -P -T -B: -t: -x: --all --human-readable --si --inodes --local --portability
            --print-type --type= --exclude-type= --total --output=? --block-size= --no-sync
        """,
        wild_flags=True,
    ),
    "cut": row(
        """
            -b: -c: -d: -f: -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited
            --output-delimiter= --zero-terminated
        """,
        wild_flags=True,
    ),
    "tr": row("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text", wild_flags=True),
    "cmp": row("-b -l -s -n: -i: --print-bytes --verbose --quiet --silent --bytes= --ignore-initial=", wild_flags=True),
    "comm": row(
        "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated", wild_flags=True
    ),
    "join": row(
        "-a: -e: -i -j: -o: -t: -v: -1: -2: -z --ignore-case --check-order --nocheck-order --header", wild_flags=True
    ),
    "paste": row("-d: -s -z --delimiters= --serial --zero-terminated", wild_flags=True),
    "nl": row(
        "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering= --number-width= --number-separator=",
        wild_flags=True,
    ),
    "tac": row("-b -r -s: --before --regex --separator=", check=languages.check_tac, wild_flags=True),
    "rev": row("", wild_flags=True),
    "fold": row("-b -s -w: --bytes --spaces --width=", wild_flags=True),
    "fmt": row("-c -s -t -u -w: -p: --width= --uniform-spacing --split-only", wild_flags=True),
    "expand": row("-i -t: --initial --tabs=", wild_flags=True),
    "unexpand": row("-a -t: --all --tabs=", wild_flags=True),
    "column": row("-t -s: -c: -x --table --separator= --output-width=", wild_flags=True),
    "od": row(
        "-A: -b -c -d -i -j: -l -N: -o -s -t: -v -w? -x --address-radix= --format= --read-bytes= --skip-bytes=",
        wild_flags=True,
    ),
    "sum": row("-r -s --sysv", wild_flags=True),
    "basename": row("-a -s: -z --multiple --suffix= --zero", "text", wild_flags=True),
    "dirname": row("-z --zero", "text", wild_flags=True),
    "readlink": row(
        """
            -e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline
            --quiet --silent --verbose --zero
        """,
        wild_flags=True,
    ),
    "seq": row(
        "-f: -s: -w --format= --separator= --equal-width",
        "text",
        numeric=True,
        check=languages.check_seq,
        wild_flags=True,
    ),
    "expr": row("", "text", wild_flags=True, standard=""),
    "whoami": row("", "none", wild_flags=True),
    "id": row("-a -g -G -n -r -u -z --group --groups --name --real --user --zero", "text", wild_flags=True),
    "groups": row("", "text", wild_flags=True),
    "uname": row(
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine --operating-system",
        "none",
        wild_flags=True,
    ),
    "arch": row("", "none", wild_flags=True),
    "tty": row("-s", "none", wild_flags=True),
    "nproc": row("--all --ignore=", "none", wild_flags=True),
    "uptime": row("-p -s --pretty --since", "none", wild_flags=True),
    "free": row("-b -k -m -g -h -t -w --human --total --wide", "none", wild_flags=True),
    "sleep": row(reader=languages.read_sleep),
    "ps": row(reader=languages.read_ps),
}
