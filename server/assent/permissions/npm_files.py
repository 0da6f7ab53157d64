"""What of a project makes `npm ls` show more than its packages: its `.npmrc`, and links in place of the files it reads.

npm puts variables of the environment into the values of an `.npmrc`, reads the files that it names as further
configuration, and prints what it does not understand of all that; no flag or variable switches this off. So `npm ls`
runs unasked only where that file holds known keys with plain values.
"""

import os
import re

from assent.permissions.shell.syntax.directories import Directories
from assent.text.words import names
from assent.types.regular_files import read_regular

_LIMIT = 64 * 1024
_KEYS = names("""
    access audit auto-install-peers engine-strict fund git-tag-version install-links install-strategy legacy-peer-deps
    lockfile-version node-linker omit-lockfile-registry-resolved package-lock prefer-offline progress provenance
    registry resolution-mode save save-exact save-prefix shamefully-hoist sign-git-tag strict-peer-dependencies
    strict-peer-deps strict-ssl always-auth tag-version-prefix cache logs-dir update-notifier timing
""")
"""None is shown. The last four say where and whether npm writes, and variables override them (`hardening_env`)."""
_SCOPED = re.compile(r"@[a-z0-9._-]+:registry")
_CREDENTIAL = re.compile(r"//[A-Za-z0-9._:/-]+:(?:_authToken|_auth|username|_password|always-auth|email)")
_PLAIN = re.compile(r"[A-Za-z0-9._:/@^~+\"'-]*")
_READ = ("package.json", "package-lock.json", "npm-shrinkwrap.json", "node_modules/.package-lock.json")


def npm_doubt(directories: Directories, *, home: str) -> str:
    """Why `npm ls` may show more than it should in one of these directories; empty when it does not."""
    if directories is None:
        return "the directory in which npm runs is not known"
    looked: set[str] = set()
    for directory in directories:
        while directory not in looked:  # npm looks for its project in all directories above
            looked.add(directory)
            for name in _READ:
                if os.path.islink(f"{directory}/{name}"):  # noqa: PTH114
                    return f"{name} is a link, and npm shows what it does not understand of it"
            if directory != home and not _plain(f"{directory}/.npmrc"):
                return "a line of .npmrc could make npm show variables or other files"
            directory = os.path.dirname(directory)  # noqa: PTH120
    return ""


def _plain(path: str) -> bool:
    try:
        text = read_regular(path, limit=_LIMIT, follow=False).data.decode("utf-8", "replace")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return all(_plain_line(line.strip()) for line in text.splitlines())


def _plain_line(line: str) -> bool:
    if not line or line[0] in "#;":
        return True
    name, _, value = (part.strip() for part in line.partition("="))
    if _CREDENTIAL.fullmatch(name):
        return True  # sent to that host only, never shown
    return (name in _KEYS or _SCOPED.fullmatch(name) is not None) and _PLAIN.fullmatch(value) is not None
