"""Programs that change or remove what their words name, whole trees included: packers, permissions, editors of streams.

A row says in which use a program does so. Its words are then looked at like those of `rm`: what lies below a folder
that it is given counts as touched. `may_sweep` is the answer for programs that nobody here knows: they may do the same,
so deny rules count for what lies below their words; the iron gate does not ask about them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from assent.permissions.shell.syntax.words import Word
from assent.text.words import names

_ALWAYS = r".*"
_UNLESS_PRINTED = r"(?!(.* )?(-[0-9A-Zabd-km-su-z]*[clt][a-zA-Z0-9]*|--(stdout|to-stdout|list|test))( .*)?\Z).*"
_IN_PLACE = r"(.* )?(-[a-zA-Z0-9]*i\S*|--in-?place\S*|--write|-w)( .*)?"
_RECURSIVE = r"(.* )?(-[a-zA-Z]*[rR][a-zA-Z]*|--r[a-z-]*)( .*)?"

CHANGERS: dict[str, str] = {
    **dict.fromkeys(
        names("""
            gzip gunzip pigz unpigz bzip2 bunzip2 pbzip2 lbzip2 xz unxz pixz pxz lzma unlzma lzip plzip compress
            uncompress lzop lz4 unlz4 zstd unzstd zstdmt pzstd brotli lrzip zopfli
        """),
        _UNLESS_PRINTED,
    ),
    "zip": r"(.* )?(-[a-zA-Z0-9]*m[a-zA-Z]*|--mo[a-z]*)( .*)?",
    **dict.fromkeys(names("tar gtar"), r"(.* )?--rem[a-z-]*( .*)?"),
    **dict.fromkeys(names("7z 7za 7zr 7zz"), r"(.* )?-sdel( .*)?"),
    **dict.fromkeys(names("rar arj"), r"(m[a-z]*( .*)?|(.* )?-(df|dr|dw|m)( .*)?)"),
    **dict.fromkeys(
        names("""
            srm wipe scrub rmtrash trash trash-put rimraf rimraf.js del del-cli rip safe-rm saferm rm-rf fs-extra
            rename prename perl-rename file-rename rename.ul mmv mcp mln detox convmv qmv vidir
            dos2unix unix2dos mac2unix unix2mac flip recode rpl sd mogrify exiftool jpegoptim optipng pngquant
            strip patchelf fallocate chcon restorecon setfattr xattr codesign touch git-crypt rclone unison mirrordir
        """),
        _ALWAYS,
    ),
    "gio": r"(trash|remove|move|set)( .*)?",
    "kioclient": _ALWAYS,
    **dict.fromkeys(names("chmod chown chgrp chattr setfacl"), _RECURSIVE),
    "rsync": r"(.* )?--(del|remove-source)\S*( .*)?",
    **dict.fromkeys(names("sed gsed ssed perl ruby yq crudini tidy"), _IN_PLACE),
    **dict.fromkeys(names("awk gawk"), r"(.* )?(-i ?|--include[= ])inplace( .*)?"),
    **dict.fromkeys(names("fd fdfind"), r"(.* )?(-[a-zA-Z0-9]*[xX]|--exec|--exec-batch)([ =].*)?"),
}
"""Program → a use, as its words after it with one blank in between, in which it changes what they name."""

_HERE_BY_DEFAULT = {
    **dict.fromkeys(names("fd fdfind"), _ALWAYS),
    "ruff": r"(format|check .*--fix\S*)( .*)?",
    **dict.fromkeys(names("cargo go terraform deno dprint mix zig nix dart"), r"(fmt|format)( .*)?"),
    "biome": r"(.* )?--(write|fix|apply)\S*( .*)?",
}
"""Programs that take the current folder when they are given none."""

_LEAVE_ALONE = names("""
    pytest py.test tox nox mypy pyright basedpyright pylint flake8 bandit coverage python python3 pypy pypy3 node nodejs
    deno bun ruby perl php java make gmake cmake ninja meson bazel cargo rustc go tsc vitest jest mocha ava playwright
    npm pnpm yarn npx uv uvx pip pip3 pipx poetry pdm hatch docker podman docker-compose kubectl helm terraform ansible
    gcc g++ cc clang clang++ ld javac gradle gradlew mvn mvnw sbt dotnet swift code nvim vim emacs nano open xdg-open
    curl wget ssh scp http tmux screen gh glab hub code-server serve http-server shellcheck hadolint actionlint yamllint
    cppcheck semgrep grype trivy tokei cloc scc dust ncdu eza exa lsd bat batcat delta difft meld jq git
""")
"""Programs that build, test or show what lies below their words, and change none of it by that."""
_FIXES = re.compile(r"--(?:fix|write|in-?place|apply|delete|remove|prune|purge|overwrite)\S*|-i|-w")


_IN_PLACE_WRITERS = names("tee dd truncate sponge uniq shuf xxd tree git sed gsed awk mawk gawk")
_REPLACERS = names("""
    strip objcopy ranlib ar zip jar 7z 7za 7zr 7zz rar ed ex vi vim nvim view emacs nano pico micro joe patch sqlite3
    split csplit sort
""")
"""Programs that may leave another file under a name they are given: what they do to a device, the machine keeps."""
_OPENS_OUTPUT = names("""
    curl wget aria2c gcc g++ cc c++ clang clang++ ld go openssl ffmpeg convert magick node python python3 ssh scp strace
    ltrace time make ninja docker podman cat
""")
_OUTPUT_FLAG = re.compile(r"-[a-zA-Z]*[oO]|--?out[a-z-]*")
_OUTPUT_VALUE = re.compile(r"(?:-[oO]|--?out[a-z-]*=)/dev/.*", re.DOTALL)


def writes_in_place(argv: Sequence[str]) -> bool:
    """Does it open what it writes, and never put another file in its place?"""
    return bool(argv) and argv[0].rpartition("/")[2] in _IN_PLACE_WRITERS


def puts_another_in_place(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rpartition("/")[2] in _REPLACERS


def may_replace_its_output(argv: Sequence[str]) -> bool:
    """Is a program that nobody knows told to write to a device? Many write beside it and rename: root's do so there."""
    if not argv or argv[0].rpartition("/")[2] in _OPENS_OUTPUT | _IN_PLACE_WRITERS:
        return False
    after = any(_OUTPUT_FLAG.fullmatch(flag) and word.startswith("/dev/") for flag, word in pairwise(argv[1:]))
    return after or any(_OUTPUT_VALUE.fullmatch(word) for word in argv[1:])


def changes_what_it_names(name: str, words: Sequence[Word]) -> bool:
    """`words` without the program's name."""
    use = CHANGERS.get(name)
    return use is not None and re.fullmatch(use, " ".join(word.text for word in words), re.DOTALL) is not None


def takes_this_folder(name: str, words: Sequence[Word]) -> bool:
    """Does it work on the current folder? Of its words none, or only the pattern to look for, names one."""
    use = _HERE_BY_DEFAULT.get(name)
    return use is not None and re.fullmatch(use, " ".join(word.text for word in words), re.DOTALL) is not None


def may_sweep(name: str, words: Sequence[Word]) -> bool:
    """May an unknown program change what lies below its words?"""
    return name.rstrip("0123456789.") not in _LEAVE_ALONE or any(_FIXES.fullmatch(word.text) for word in words)
