"""Commands that run other commands: which only pass them on, and which words say what the others run."""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.handoffs import told_to_run
from assent.text.words import names

_TRANSPARENT = {
    "timeout": (
        r"-k|--kill-after|-s|--signal",
        r"--preserve-status|--foreground|-v|--(?:kill-after|signal)=\S+|-[ks]\S+",
    ),
    "nice": (r"-n|--adjustment", r"-n-?\d+|-\d+|--adjustment=-?\d+"),
    "stdbuf": (r"-[ioe]|--(?:input|output|error)", r"-[ioe][L0-9]\w*|--(?:input|output|error)=\w+"),
    "time": (r"(?!)", r"-p"),
    "command": (r"(?!)", r"(?!)"),  # `command -v` only asks
    "env": (r"(?!)", r"(?!)"),  # its flags change the environment
}
"""Wrappers that only run what follows: their flags with a value of their own, and those without."""
OPAQUE = names("""
    sudo doas su runuser pkexec env xargs eval exec builtin setsid ionice chrt taskset flock watch parallel script
    strace ltrace unbuffer chroot unshare nsenter busybox toybox ssh trap nohup coproc source . systemd-run at batch
    gtimeout rlwrap proxychains proxychains4 torsocks firejail bwrap find time timeout nice stdbuf command chpst
    setarch start-stop-daemon dbus-run-session xvfb-run catchsegv perf valgrind gdb
""")
SHELLS = names("bash sh zsh dash ksh mksh fish ash rbash csh tcsh pwsh")
WRITERS = names("""
    touch mkdir rmdir rm cp mv ln tee truncate chmod chown chgrp install rsync dd unlink shred mkfifo mknod sponge
    chattr setfacl scp ditto
""")
WRAPPERS = OPAQUE | frozenset(_TRANSPARENT)


def unwrapped(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """What a transparent wrapper runs, when its own arguments are plainly known."""
    name = words[0].text
    if name not in _TRANSPARENT or not words[0].known:
        return None
    valued, alone = _TRANSPARENT[name]
    position = 1
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if re.fullmatch(alone, text):
            position += 1
        elif re.fullmatch(valued, text):
            position += 2
        else:
            return None
    if name == "timeout":
        if position >= len(words) or not re.fullmatch(r"\d+(?:\.\d+)?[smhd]?", words[position].text):
            return None
        position += 1
    if position >= len(words) or "=" in words[position].text:
        return None
    if not all(word.plain for word in words[:position]):
        return None  # it may become several words, and one of them would be run
    return tuple(words[position:])


def runs_another(words: Sequence[Word]) -> bool:
    name = program(words[0])
    if name in SHELLS:
        return len(words) < 2 or words[1].text.startswith("-")
    return name in OPAQUE


def spelled_out(words: Sequence[Word]) -> tuple[str, ...]:
    """The words that say what a program runs besides itself: a rule that does not spell them does not cover it."""
    name = program(words[0])
    if not runs_another(words):
        return tuple(told.word for told in told_to_run((name, *(word.text for word in words[1:]))))
    if name in SHELLS or name in ("eval", "trap", "su", "script", "watch", "flock"):
        return tuple(word.text for word in words[1:]) or (" ",)
    for word in words[1:]:
        if not word.text.startswith("-"):
            return (word.text,)
    return (" ",)  # spelled by no rule


def program(word: Word) -> str:
    return word.text.rpartition("/")[2]
