"""The commands that only read, each with the flags that keep it so.

A flag that writes, runs another program, follows links out of the tree, reads names from a file or waits for ever is
left out of its row, and what is left out asks. So does a command that is not here.
"""

from collections.abc import Sequence

from assent.permissions import shell_languages as languages
from assent.permissions.shell_awk import check_awk
from assent.permissions.shell_options import Row, row
from assent.permissions.text import names

_GREP = """
    -E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -b -H -h -n -T -Z -a -I -U -z -r -e: -m: -A: -B: -C: -f:<
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
    --word-regexp --line-regexp --count --color=? --colour=? --files-with-matches --files-without-match --max-count=
    --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number
    --initial-tab --null --after-context= --before-context= --context= --text --binary-files= --exclude=
    --exclude-dir= --include= --exclude-from=< --recursive --regexp= --file=< --line-buffered --binary --null-data
    --label=
"""
_FD = """
    -H -I -u -s -i -g -F -a -p -0 -1 -q -t: -e: -d: -E: -S: -c: -j: --hidden --no-hidden --no-ignore --no-ignore-vcs
    --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path
    --relative-path --full-path --print0 --quiet --type= --extension= --max-depth= --min-depth= --exact-depth=
    --exclude= --size= --changed-within= --changed-before= --newer= --older= --color= --max-results= --threads=
    --prune --strip-cwd-prefix --one-file-system --show-errors --no-follow
"""
_SUM = "-b -t --binary --text --tag -z --zero"

COMMANDS: dict[str, Row] = {
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
    ),
    "cat": row(
        """
            -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank
            --show-tabs --show-nonprinting
        """
    ),
    "head": row("-n: -c: -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated", numeric=True),
    "tail": row(
        "-n: -c: -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated",
        numeric=True,
        wild_flags=False,
    ),
    "wc": row("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=", wild_flags=False),
    "grep": row(_GREP, "pattern", numeric=True, wild_flags=False, recursive="-r --recursive"),
    "egrep": row(_GREP, "pattern", numeric=True, wild_flags=False, recursive="-r --recursive"),
    "fgrep": row(_GREP, "pattern", numeric=True, wild_flags=False, recursive="-r --recursive"),
    "rg": row(
        """
            -i -s -S -v -w -x -c -l -n -N -o -q -F -P -U -a -u -H -I -0 -p -b -. -e: -f:< -g: -t: -T: -A: -B: -C:
            -m: -j: -r: -d: -M: -E: --files --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-dot
            --no-ignore-global --no-ignore-parent --no-ignore-exclude --unrestricted --glob= --iglob=
            --glob-case-insensitive --type= --type-not= --type-list --json --stats --heading --no-heading
            --line-number --no-line-number --column --no-column --color= --colors= --ignore-case --smart-case
            --case-sensitive --fixed-strings --word-regexp --line-regexp --multiline --multiline-dotall
            --only-matching --count --count-matches --files-with-matches --files-without-match --max-count=
            --max-depth= --max-filesize= --context= --after-context= --before-context= --context-separator=
            --no-messages --no-config --null --null-data --trim --vimgrep --passthru --pcre2 --no-pcre2 --engine=
            --crlf --binary --text --invert-match --quiet --sort= --sortr= --threads= --replace= --max-columns=
            --max-columns-preview --one-file-system --no-follow --with-filename --no-filename --byte-offset
            --encoding= --regexp= --file=< --no-search-zip --no-pre --line-buffered --block-buffered --include-zero
            --no-unicode --pretty --field-match-separator= --path-separator=
        """,
        "pattern",
        wild_flags=False,
        recursive="*",
    ),
    "fd": row(_FD, "pattern", wild_flags=False),
    "fdfind": row(_FD, "pattern", wild_flags=False),
    "find": row("", wild_flags=False, check=languages.check_find),
    "tree": row(
        """
            -a -d -f -i -s -h -p -u -g -D -F -C -n -x -q -r -t -v -N -Q -J -X -L: -I: -P: --noreport --dirsfirst
            --filesfirst --prune --gitignore --du --si --inodes --sort= --charset= --filelimit= --ignore-case
            --matchdirs --device
        """,
        wild_flags=False,
    ),
    "pwd": row("-L -P", "none"),
    "echo": row("", "text", check=lambda _words, usage, _used: usage.hazards.clear()),
    "printf": row("", "text", check=languages.check_printf),
    "true": row("", "text", check=lambda _words, usage, _used: usage.hazards.clear()),
    "false": row("", "text", check=lambda _words, usage, _used: usage.hazards.clear()),
    ":": row("", "text", check=lambda _words, usage, _used: usage.hazards.clear()),
    "test": row("", "text", check=languages.check_test),
    "[": row("", "text", check=languages.check_bracket),
    "[[": row("", "text", check=languages.check_double_bracket),
    "cd": row("", most=1, wild_flags=False, check=languages.check_cd),
    "which": row("-a", "text"),
    "type": row("-a -t -p -P -f", "text"),
    "command": row("-v -V", "text", check=languages.check_command),
    "file": row(
        """
            -b -h -i -k -L -N -n -0 -r --brief --mime --mime-type --mime-encoding --extension --keep-going
            --dereference --no-dereference --no-pad --raw --print0
        """,
        wild_flags=False,
    ),
    "stat": row("-c: -f -L -t --format= --printf= --terse --dereference --file-system"),
    "du": row(
        """
            -a -b -c -h -k -m -s -S -x -0 -P -d: -B: -t: --all --apparent-size --block-size= --bytes --total
            --human-readable --si --summarize --separate-dirs --max-depth= --threshold= --exclude= --one-file-system
            --null --time=? --time-style= --inodes
        """,
        wild_flags=False,
    ),
    "df": row(
        """
            -a -h -H -i -k -l -P -T -B: -t: -x: --all --human-readable --si --inodes --local --portability
            --print-type --type= --exclude-type= --total --output=? --block-size= --no-sync
        """
    ),
    "sort": row(
        """
            -b -d -f -g -i -M -h -n -R -r -V -c -C -s -u -z -k: -t: -S: --ignore-leading-blanks
            --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort
            --human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --check=? --debug
            --key= --stable --field-separator= --unique --zero-terminated --parallel= --buffer-size=
        """,
        wild_flags=False,
    ),
    "uniq": row(
        """
            -c -d -D -i -u -z -f: -s: -w: --count --repeated --all-repeated=? --skip-fields= --group=? --ignore-case
            --skip-chars= --unique --zero-terminated --check-chars=
        """,
        most=1,
        wild_flags=False,
    ),
    "cut": row(
        """
            -b: -c: -d: -f: -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited
            --output-delimiter= --zero-terminated
        """
    ),
    "tr": row("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text"),
    "diff": row(
        """
            -a -b -B -c -d -e -E -i -n -N -p -q -s -t -T -u -w -y -Z -C: -U: -I: -W: -x: -F: -L: --normal --brief
            --report-identical-files --context=? --unified=? --ed --rcs --side-by-side --width= --left-column
            --suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs --initial-tab
            --tabsize= --new-file --unidirectional-new-file --ignore-file-name-case --ignore-case
            --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space
            --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --minimal --speed-large-files
            --color=? --palette= --no-dereference --exclude= --suppress-blank-empty --horizon-lines=
        """,
        wild_flags=False,
    ),
    "cmp": row("-b -l -s -n: -i: --print-bytes --verbose --quiet --silent --bytes= --ignore-initial="),
    "comm": row("-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated"),
    "join": row("-a: -e: -i -j: -o: -t: -v: -1: -2: -z --ignore-case --check-order --nocheck-order --header"),
    "paste": row("-d: -s -z --delimiters= --serial --zero-terminated"),
    "nl": row("-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering= --number-width= --number-separator="),
    "tac": row("-b -r -s: --before --regex --separator=", check=languages.check_tac),
    "rev": row(""),
    "fold": row("-b -s -w: --bytes --spaces --width="),
    "fmt": row("-c -s -t -u -w: -p: --width= --uniform-spacing --split-only"),
    "expand": row("-i -t: --initial --tabs="),
    "unexpand": row("-a -t: --all --tabs="),
    "column": row("-t -s: -c: -x --table --separator= --output-width="),
    "od": row("-A: -b -c -d -i -j: -l -N: -o -s -t: -v -w? -x --address-radix= --format= --read-bytes= --skip-bytes="),
    "xxd": row("-a -b -c: -e -g: -i -l: -o: -p -s: -u", most=1, wild_flags=False),
    "hexdump": row("-b -c -C -d -n: -o -s: -v -x", wild_flags=False),
    "strings": row(
        "-a -n: -t: -e: -o --all --bytes= --radix= --encoding=", wild_flags=False, check=languages.check_strings
    ),
    "md5sum": row(_SUM, wild_flags=False),
    "sha1sum": row(_SUM, wild_flags=False),
    "sha224sum": row(_SUM, wild_flags=False),
    "sha256sum": row(_SUM, wild_flags=False),
    "sha384sum": row(_SUM, wild_flags=False),
    "sha512sum": row(_SUM, wild_flags=False),
    "b2sum": row(_SUM + " -l: --length=", wild_flags=False),
    "cksum": row(""),
    "sum": row("-r -s --sysv"),
    "base64": row("-d -i -w: --decode --ignore-garbage --wrap=", most=1, wild_flags=False),
    "base32": row("-d -i -w: --decode --ignore-garbage --wrap=", most=1, wild_flags=False),
    "shuf": row("-n: -e -i: -z --echo --head-count= --input-range= --zero-terminated", wild_flags=False),
    "basename": row("-a -s: -z --multiple --suffix= --zero", "text"),
    "dirname": row("-z --zero", "text"),
    "realpath": row(
        """
            -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip
            --no-symlinks --zero --relative-to= --relative-base=
        """
    ),
    "readlink": row(
        """
            -e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline
            --quiet --silent --verbose --zero
        """
    ),
    "date": row(
        "-d: -r:< -u -R -I? --date= --reference=< --utc --universal --rfc-email --iso-8601=? --rfc-3339= --debug",
        "format",
        wild_flags=False,
    ),
    "seq": row("-f: -s: -w --format= --separator= --equal-width", "text", numeric=True),
    "sleep": row("", "text", check=languages.check_sleep),
    "expr": row("", "text"),
    "whoami": row("", "none"),
    "id": row("-a -g -G -n -r -u -z --group --groups --name --real --user --zero", "text"),
    "groups": row("", "text"),
    "uname": row(
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine --operating-system", "none"
    ),
    "arch": row("", "none"),
    "tty": row("-s", "none"),
    "lscpu": row("", "none"),
    "locale": row("-a -m", "none"),
    "getconf": row("-a", "text"),
    "nproc": row("--all --ignore=", "none"),
    "hostname": row("-s -I --short --all-ip-addresses", "none"),
    "uptime": row("-p -s --pretty --since", "none"),
    "free": row("-b -k -m -g -h -t -w --human --total --wide", "none"),
    "ps": row("", "text", check=languages.check_ps),
    "sed": row(
        """
            -n -E -r -s -u -z -e: --quiet --silent --regexp-extended --expression= --separate
            --unbuffered --null-data --posix --sandbox
        """,
        "text",
        wild_flags=False,
        check=languages.check_sed,
    ),
    "awk": row("-F: --field-separator=", "text", wild_flags=False, check=check_awk),
    "jq": row(
        """
            -r -c -n -s -S -e -a -j -M -C -R --raw-output --compact-output --null-input --slurp --sort-keys
            --exit-status --ascii-output --join-output --monochrome-output --color-output --raw-input --tab
            --indent= --seq --stream
        """,
        "text",
        wild_flags=False,
        check=languages.check_jq,
    ),
}

_VERSION_ONLY = names("""
    python python3 node npm ruby perl php gcc g++ cc clang clang++ make cmake bash docker nvim vim curl
    pip pip3 uv
""")
"""Programs that answer `--version` without looking at the project. Not cargo, go, yarn or pnpm: those may first fetch
or run the version that a file of the project names; not java, which leaves files behind."""


_SHORT_VERSION = {"python": "-V", "python3": "-V", "node": "-v", "npm": "-v", "php": "-v", "make": "-v", "docker": "-v"}


def asks_version(argv: Sequence[str]) -> bool:
    """`python --version` and its like: programs that can do anything, asked only who they are."""
    if len(argv) != 2 or argv[0] not in _VERSION_ONLY:
        return False
    return argv[1] == "--version" or argv[1] == _SHORT_VERSION.get(argv[0])
