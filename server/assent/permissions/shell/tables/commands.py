"""The commands that only read, each with the flags that keep it so.

A flag that writes, runs another program, follows links out of the tree, reads names from a file or waits for ever is
left out of its row, and what is left out asks. So does a command that is not here. The rows below are of programs that
have flags which write or run something, so a word that the shell may turn into a flag always asks.
"""

from collections.abc import Sequence

from assent.permissions.shell.tables import languages as languages
from assent.permissions.shell.tables.awk import read_awk
from assent.permissions.shell.tables.find import read_find
from assent.permissions.shell.tables.options import Row, row
from assent.permissions.shell.tables.programs import read_tree, read_xxd
from assent.permissions.shell.tables.rows_harmless import HARMLESS_ROWS
from assent.permissions.shell.tables.rows_reading import READING_ROWS
from assent.permissions.shell.tables.sed import check_sed
from assent.text.words import names

_FD = """
    -H -I -u -s -i -g -F -a -p -0 -1 -q -t: -e: -d: -E: -S: -c: -j: --hidden --no-hidden --no-ignore --no-ignore-vcs
    --no-ignore-parent --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path
    --relative-path --full-path --print0 --quiet --type= --extension= --max-depth= --min-depth= --exact-depth=
    --exclude= --size= --changed-within= --changed-before= --newer= --older= --color= --max-results= --threads=
    --prune --strip-cwd-prefix --one-file-system --show-errors --no-follow
"""
COMMANDS: dict[str, Row] = {
    **HARMLESS_ROWS,
    **READING_ROWS,
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
        recursive="*",
    ),
    "fd": row(_FD, "pattern"),
    "fdfind": row(_FD, "pattern"),
    "find": row(reader=read_find),
    "tree": row(reader=read_tree),
    "cd": row("", most=1, standard="", check=languages.check_cd),
    "command": row("-v -V", "text", standard="", check=languages.check_command),
    "sort": row(
        """
            -b -d -f -g -i -M -h -n -R -r -V -c -C -s -u -z -k: -t: -S: --ignore-leading-blanks
            --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort
            --human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --check=? --debug
            --key= --stable --field-separator= --unique --zero-terminated --parallel= --buffer-size=
        """,
    ),
    "uniq": row(
        """
            -c -d -D -i -u -z -f: -s: -w: --count --repeated --all-repeated=? --skip-fields= --group=? --ignore-case
            --skip-chars= --unique --zero-terminated --check-chars=
        """,
        most=1,
    ),
    "xxd": row(reader=read_xxd),
    "base64": row("-d -i -w: --decode --ignore-garbage --wrap=", most=1),
    "base32": row("-d -i -w: --decode --ignore-garbage --wrap=", most=1),
    "shuf": row("-n: -e -i: -z --echo --head-count= --input-range= --zero-terminated"),
    "date": row(
        "-d: -r:< -u -R -I? --date= --reference=< --utc --universal --rfc-email --iso-8601=? --rfc-3339= --debug",
        "format",
    ),
    "sed": row(
        """
            -n -E -r -s -u -z -e: --quiet --silent --regexp-extended --expression= --separate
            --unbuffered --null-data --posix --sandbox
        """,
        "text",
        check=check_sed,
    ),
    "awk": row("-F: --field-separator=", reader=read_awk),
}

_VERSION_ONLY = names("""
    python python3 node npm ruby perl php gcc g++ cc clang clang++ make cmake bash docker nvim vim curl
    pip pip3 uv jq sed
""")
"""Programs that answer `--version` without looking at the project. Not yarn or pnpm: those may first fetch or run the
version that a file of the project names; not java, which leaves files behind. cargo, rustc and go have their own place
(`shell_everyday`)."""


_SHORT_VERSION = {
    "python": "-V",
    "python3": "-V",
    "node": "-v",
    "npm": "-v",
    "php": "-v",
    "make": "-v",
    "docker": "-v",
    "ruby": "-v",
    "perl": "-v",
}


def asks_version(argv: Sequence[str]) -> bool:
    """`python --version` and its like: programs that can do anything, asked only who they are."""
    if len(argv) != 2 or argv[0] not in _VERSION_ONLY:
        return False
    return argv[1] == "--version" or argv[1] == _SHORT_VERSION.get(argv[0])
