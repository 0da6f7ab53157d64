"""Commands that are asked about even in bypass, by what they are: they wipe disks, plant programs or hand out keys.

Only those whose harm no path in their arguments shows; what changes files is judged by the files.
"""

import re
from collections.abc import Iterable, Sequence

from assent.text.words import names

_DISKS = names("""
    mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard cryptsetup lvremove vgremove pvremove zpool zfs
    mdadm diskutil badblocks
""")
_MACHINE = names("shutdown reboot poweroff halt kexec insmod modprobe rmmod")
_ACCOUNTS = names("""
    visudo vipw vigr useradd usermod userdel adduser deluser groupadd groupmod passwd chpasswd chsh gpasswd newusers
""")
_LATER = names("at batch")
_HANDS_OUT, _TOKEN = "hands out passwords", "hands out an access token"
_OWN_FILES = "puts hooks, settings or a whole repository of git's where it is told"
_SETTINGS, _PLANTS = "changes settings that run programs", "plants commands that run later, without you"
_BY_ARGUMENTS: dict[str, tuple[re.Pattern[str], str]] = {
    "crontab": (re.compile(r"(?!-l$|-u \S+ -l$|-l -u \S+$).*"), _PLANTS),
    "gpg": (re.compile(r".*--export-secret.*|.*--export-ownertrust.*"), "hands out secret keys"),
    "gpg2": (re.compile(r".*--export-secret.*|.*--export-ownertrust.*"), "hands out secret keys"),
    "ssh-keygen": (re.compile(r"(?!.*-[lyFB]\b).*"), "writes SSH keys"),
    "ssh-copy-id": (re.compile(r".*"), "hands out access with SSH keys"),
    "security": (re.compile(r".*(?:password|dump-keychain|export).*"), _HANDS_OUT),
    "secret-tool": (re.compile(r".*"), _HANDS_OUT),
    "pass": (re.compile(r"(?!ls\b|find\b|$).*"), _HANDS_OUT),
    **dict.fromkeys(
        names("mount umount swapon swapoff pivot_root losetup dmsetup"),
        (
            re.compile(r"(?!(?:-[alVhJ]|--all|--list|--show|--version|--help|ls|info|status)$).+"),
            "changes what the machine's folders and disks are",
        ),
    ),
}
"""Program → its arguments, with one blank in between, in which it is asked about."""

_BY_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "git": (
        ("credential.*", _HANDS_OUT),
        ("maintenance start|register", _PLANTS),
        ("init --t(?:em.*|=.*)?|--sep.*", _OWN_FILES),
        ("clone --te.*|--sep.*|--conf.*|-[lsnqv46]*c.*", _OWN_FILES),
        (r"(?i:init\.templatedir=.*)|-c(?i:init\.templatedir=.*) .*", _OWN_FILES),
    ),
    "gh": (("auth token", _TOKEN), ("auth status --show-token|-t", _TOKEN)),
    "gcloud": (("auth print-.*", _TOKEN),),
    "aws": (("configure export-credentials|get|set", "hands out credentials"), ("sts get-session-token", _TOKEN)),
    "az": (("account get-access-token", _TOKEN),),
    "heroku": (("auth:token", _TOKEN),),
    "kubectl": (("config view --raw", _TOKEN),),
    "op": (("read|item|inject|run", _HANDS_OUT),),
    "bw": (("get|export|unlock", _HANDS_OUT),),
    "keyring": (("get", _HANDS_OUT),),
    "vault": (("read|kv|token|print", _HANDS_OUT),),
    "doppler": (("secrets|run", _HANDS_OUT),),
    "systemctl": (
        (
            "enable|reenable|link|edit|mask|set-default|isolate|poweroff|reboot|halt",
            "changes what this machine runs by itself",
        ),
    ),
    "systemd-run": (("(?:--on-|--timer-|--path-|--socket-).*", _PLANTS),),
    "loginctl": (("enable-linger", "changes what this machine runs by itself"),),
    "launchctl": (("load|bootstrap|enable|submit", "plants a program that runs by itself"),),
    "schtasks": (("/create|/change", _PLANTS),),
    "npm": (("config|c set|edit|delete|rm", _SETTINGS), ("set", _SETTINGS)),
    "pnpm": (("config|c set|delete", _SETTINGS),),
    "yarn": (("config set|unset", _SETTINGS),),
    **dict.fromkeys(names("pip pip3"), (("config set|edit|unset", _SETTINGS),)),
    "direnv": (("allow|permit|grant", "lets a file of the project run whenever it is entered"),),
    "mise": (("trust", "lets a file of the project run whenever it is entered"),),
}
"""Program → words in this order, each a pattern. Before the first one stand only flags, with a value each at most;
anything may stand between the others, since flags may."""


_GIT_PLACES = re.compile(
    r"(?:\bGIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|TEMPLATE_DIR|CONFIG\w*)"
    r"|\bHOME|\bXDG_CONFIG_HOME)(?==)"
)
"""Variables that say where git's files are, or where it takes settings and hooks from, where a line sets them."""


def git_moved(text: str, lines: Iterable[Sequence[str]]) -> str:
    """The variable by which the shell text tells git where its files are, if one of its commands is git's."""
    named = _GIT_PLACES.search(re.sub(r"[\"'\\]", "", text))
    if named is None or not any(line and line[0].rpartition("/")[2] == "git" for line in lines):
        return ""
    return named[0]


def gate(program: str, arguments: Sequence[str]) -> str | None:
    """Why this command needs a person, in words that follow its name."""
    if program in _DISKS or program.startswith(("mkfs", "newfs")):
        return "works on whole disks"
    if program in _MACHINE:
        return "stops or changes the machine"
    if program in _ACCOUNTS:
        return "changes the accounts of this machine"
    if program in _LATER and not {"-l", "-c", "-q"} & set(arguments[:1]):
        return _PLANTS
    found = _BY_ARGUMENTS.get(program)
    if found is not None and found[0].fullmatch(" ".join(arguments)):
        return found[1]
    for words, why in _BY_WORDS.get(program, ()):
        if _in_order(words.split(" "), arguments):
            return why
    return None


def _in_order(patterns: Sequence[str], arguments: Sequence[str]) -> bool:
    flagged = True  # as long as nothing but flags and their values was met
    left = list(patterns)
    for number, argument in enumerate(arguments):
        if len(left) == len(patterns) and not flagged:
            return False
        if re.fullmatch(left[0], argument):
            del left[0]
            if not left:
                return True
        flagged = argument.startswith("-") or (number > 0 and arguments[number - 1].startswith("-"))
    return False
