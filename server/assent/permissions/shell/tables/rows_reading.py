"""Rows of programs none of whose flags writes a file or runs a program, but some of which name a further file to read.

A wildcard at the start of a word is fine here only as long as it meets no name that begins with a dash: a file called
`--files0-from=x` would be taken for the flag. `shell.py` looks, and does not trust what it sees when the same line may
create files.
"""

from assent.permissions.shell.tables import languages as languages
from assent.permissions.shell.tables.options import Row, row

_GREP = """
    -E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -b -H -h -n -T -Z -a -I -U -z -r -e: -m: -A: -B: -C: -f:<
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
    --word-regexp --line-regexp --count --color=? --colour=? --files-with-matches --files-without-match --max-count=
    --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number
    --initial-tab --null --after-context= --before-context= --context= --text --binary-files= --exclude=
    --exclude-dir= --include= --exclude-from=< --recursive --regexp= --file=< --line-buffered --binary --null-data
    --label=
"""
_SUM = "-b -t --binary --text --tag -z --zero"

READING_ROWS: dict[str, Row] = {
    "tail": row(
        "-n:# -c:# -q -v -z --lines=# --bytes=# --quiet --silent --verbose --zero-terminated",
        numeric=True,
        check=languages.check_tail,
        looked=True,
    ),
    "wc": row("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=", looked=True),
    "grep": row(_GREP, "pattern", numeric=True, recursive="-r --recursive", looked=True),
    "egrep": row(_GREP, "pattern", numeric=True, recursive="-r --recursive", looked=True),
    "fgrep": row(_GREP, "pattern", numeric=True, recursive="-r --recursive", looked=True),
    "du": row(
        """
            -a -b -c -h -k -m -s -S -x -0 -P -d: -B: -t: --all --apparent-size --block-size= --bytes --total
            --human-readable --si --summarize --separate-dirs --max-depth= --threshold= --exclude= --one-file-system
            --null --time=? --time-style= --inodes
        """,
        looked=True,
    ),
    "diff": row(
        """
            -a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z -C: -U: -I: -W: -x: -F: -L: --normal --brief
            --recursive
            --report-identical-files --context=? --unified=? --ed --rcs --side-by-side --width= --left-column
            --suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs --initial-tab
            --tabsize= --new-file --unidirectional-new-file --ignore-file-name-case --ignore-case
            --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space
            --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --minimal --speed-large-files
            --color=? --palette= --no-dereference --exclude= --suppress-blank-empty --horizon-lines=
        """,
        looked=True,
    ),
    "file": row(
        """
            -b -h -i -k -L -N -n -0 -r --brief --mime --mime-type --mime-encoding --extension --keep-going
            --dereference --no-dereference --no-pad --raw --print0
        """,
        looked=True,  # its -C writes, but only magic.mgc, a name nobody can choose
    ),
    "hexdump": row("-b -c -C -d -n: -o -s: -v -x", looked=True),
    "strings": row(
        "-a -n: -t: -e: -o --all --bytes= --radix= --encoding=",
        check=languages.check_strings,
        looked=True,
    ),
    "md5sum": row(_SUM, looked=True),
    "sha1sum": row(_SUM, looked=True),
    "sha224sum": row(_SUM, looked=True),
    "sha256sum": row(_SUM, looked=True),
    "sha384sum": row(_SUM, looked=True),
    "sha512sum": row(_SUM, looked=True),
    "b2sum": row(_SUM + " -l: --length=", looked=True),
    "cksum": row("", looked=True),
    "realpath": row(
        """
            -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip
            --no-symlinks --zero --relative-to=< --relative-base=<
        """,
        looked=True,
    ),
    "jq": row(
        """
            -r -c -n -s -S -e -a -j -M -C -R --raw-output --compact-output --null-input --slurp --sort-keys
            --exit-status --ascii-output --join-output --monochrome-output --color-output --raw-input --tab
            --indent= --seq --stream
        """,
        "text",
        check=languages.check_jq,
        looked=True,
    ),
    "lscpu": row("", "none", looked=True),
    "locale": row("-a -m", "none", looked=True),
    "getconf": row("", "text", looked=True, standard=""),
    "hostname": row("-s -I --short --all-ip-addresses", "none", looked=True),
}
