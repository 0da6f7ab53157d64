"""Commands that are asked about even in bypass, by what they are: they wipe disks, plant programs or hand out keys.

Only those whose harm no path in their arguments shows; what changes files is judged by the files.
"""

import re
from collections.abc import Sequence

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
_BY_ARGUMENTS: dict[str, tuple[re.Pattern[str], str]] = {
    "crontab": (re.compile(r"(?!-l$|-u \S+ -l$|-l -u \S+$).*"), "plants commands that run later, without you"),
    "gpg": (re.compile(r".*--export-secret.*|.*--export-ownertrust.*"), "hands out secret keys"),
    "gpg2": (re.compile(r".*--export-secret.*|.*--export-ownertrust.*"), "hands out secret keys"),
    "ssh-keygen": (re.compile(r"(?!.*-[lyFB]\b).*"), "writes SSH keys"),
    "ssh-copy-id": (re.compile(r".*"), "hands out access with SSH keys"),
    "security": (re.compile(r".*(?:password|dump-keychain|export).*"), "hands out passwords"),
    "secret-tool": (re.compile(r".*"), "hands out passwords"),
    "pass": (re.compile(r"(?!ls\b|find\b|$).*"), "hands out passwords"),
    "git": (re.compile(r"(?:-\S+ )*credential\b.*"), "hands out passwords"),
    "gh": (re.compile(r"auth (?:token|status .*--show-token|status .*-t\b).*"), "hands out an access token"),
    "gcloud": (re.compile(r"auth (?:application-default )?print-.*"), "hands out an access token"),
    "aws": (re.compile(r"configure (?:export-credentials|get|set).*|sts get-session-token.*"), "hands out credentials"),
    "systemctl": (
        re.compile(r"(?:-\S+ )*+(?:enable|reenable|link|edit|mask|set-default|isolate|poweroff|reboot|halt)\b.*"),
        "changes what this machine runs by itself",
    ),
    "launchctl": (re.compile(r"(?:load|bootstrap|enable|submit)\b.*"), "plants a program that runs by itself"),
    "npm": (re.compile(r"config (?:set|edit|delete)\b.*|set\b.*"), "changes settings that run programs"),
    "pnpm": (re.compile(r"config (?:set|delete)\b.*"), "changes settings that run programs"),
    "yarn": (re.compile(r"config set\b.*"), "changes settings that run programs"),
    "pip": (re.compile(r"config (?:set|edit|unset)\b.*"), "changes settings that run programs"),
    "pip3": (re.compile(r"config (?:set|edit|unset)\b.*"), "changes settings that run programs"),
    "direnv": (re.compile(r"(?:allow|permit|grant)\b.*"), "lets a file of the project run whenever it is entered"),
    "mise": (re.compile(r"trust\b.*"), "lets a file of the project run whenever it is entered"),
}


def gate(program: str, arguments: Sequence[str]) -> str | None:
    """Why this command needs a person, in words that follow its name."""
    if program in _DISKS or program.startswith(("mkfs", "newfs")):
        return "works on whole disks"
    if program in _MACHINE:
        return "stops or changes the machine"
    if program in _ACCOUNTS:
        return "changes the accounts of this machine"
    if program in _LATER and not {"-l", "-c", "-q"} & set(arguments[:1]):
        return "plants commands that run later, without you"
    found = _BY_ARGUMENTS.get(program)
    if found is not None and found[0].fullmatch(" ".join(arguments)):
        return found[1]
    return None
