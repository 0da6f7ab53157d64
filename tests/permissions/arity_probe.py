"""Asks a real program how it reads one of its flags: does the next word belong to it, may a value be attached, or neither?

Two short runs tell, in an empty folder and without input. With the flag as the last word, a program that needs a value
says that it misses one. With a value attached that no flag takes, a program whose flag takes none complains: of the
value, or of the letter `~` that it reads as the next flag. What a program says of these is the same for all programs
that use the same reader of flags, and the few readers there are stand below.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CANARY = "zq-canary"
BUILTINS = frozenset({"pwd", "type", "command", "cd"})
Found = Literal["none", "required", "attached", "unknown"]

_MISSES_VALUE = re.compile(
    r"requires an argument|missing (?:an )?argument|takes (?:a|one) parameter|a value is required|requires a value",
    re.IGNORECASE,
)
_REFUSES_VALUE = re.compile(
    r"doesn't allow an argument|unexpected (?:argument|value)|wasn't expecting any more values|Unknown option",
    re.IGNORECASE,
)
_UNKNOWN_LETTER = re.compile(
    r"(?:invalid|illegal|unknown|unrecognized) (?:option|flag)|unexpected argument|wasn't expected", re.IGNORECASE
)
_WRONG_VALUE = re.compile(rf"'{CANARY}' isn't a valid value", re.IGNORECASE)
_CONFLICT = "conflicting matchers"  # of egrep and fgrep, before anything else is said
_ENVIRONMENT = {
    "LC_ALL": "C",
    "PATH": f"{os.environ.get('PATH', '')}:/usr/bin:/bin",
    "HOME": "/nonexistent",
}


@dataclass(frozen=True, kw_only=True)
class Probe:
    program: str
    folder: Path
    before: tuple[str, ...] = ()  # words without which the program does not even read its flags

    @property
    def installed(self) -> bool:
        return self.program in BUILTINS or shutil.which(self.program, path=_ENVIRONMENT["PATH"]) is not None

    def says(self, *words: str) -> str:
        argv = [self.program, *self.before, *words]
        if self.program in BUILTINS:
            argv = ["bash", "--norc", "--noprofile", "-c", '"$@"', "bash", *argv]
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        return (done.stderr + done.stdout[:4000]).decode(errors="replace")

    def arity(self, flag: str) -> Found:
        alone = self.says(flag)
        if self._unknown(alone, flag):
            return "unknown"
        if _MISSES_VALUE.search(alone):
            return "required"
        if flag.startswith("--"):
            if _REFUSES_VALUE.search(self.says(f"{flag}={CANARY}")):
                return "none"
            return "required" if _WRONG_VALUE.search(self.says(flag, CANARY)) else "attached"
        letter = self.says(f"{flag}~")
        return "none" if _UNKNOWN_LETTER.search(letter) and "~" in letter else "attached"

    def _unknown(self, said: str, flag: str) -> bool:
        name = re.escape(flag.lstrip("-"))
        named = re.search(
            rf"(?:unrecognized|invalid|unknown|illegal|unexpected|found argument)[^\n]*[-'`\" ]{name}\b",
            said,
            re.IGNORECASE,
        )
        return _CONFLICT in said or (named is not None and _MISSES_VALUE.search(said) is None)


def takes_next_word(probe: Probe, words: Sequence[str], missing: re.Pattern[str]) -> bool:
    """For programs with a reader of their own: is the canary after the flag taken as its value, or for a name?"""
    return missing.search(probe.says(*words, CANARY)) is None
