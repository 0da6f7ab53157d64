"""Checks the licences of everything our package needs at run time, from the metadata of what is installed.

    python -I .ci/licences.py [DISTRIBUTION]

Permissive licences pass. Anything else needs a row in EXCEPTIONS, with the reason. Prints what fails; exit code 1 then.
"""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

PERMISSIVE = frozenset(
    ("MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "PSF-2.0", "Python-2.0", "Unlicense")
)
EXCEPTIONS = {
    "agent-client-protocol": "its metadata names no licence; its LICENSE file is that of Apache-2.0",
    "orjson": "MPL-2.0 covers its own files, which we use unchanged and do not ship; the rest is Apache-2.0 or MIT",
    "certifi": "MPL-2.0 covers its list of certificates, which we use unchanged and do not ship",
}
"""What is not permissive, and why we may depend on it all the same."""
CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
NAMES = {"MIT License": "MIT", "Apache 2.0": "Apache-2.0", "Apache License 2.0": "Apache-2.0", "BSD": "BSD-3-Clause"}
EXTRAS = ("acp", "pdf", "bedrock", "vertex")


def needed(name: str) -> list[Distribution]:
    """Everything a distribution needs, and ours with its extras as far as they are installed; without itself."""
    found: dict[str, Distribution] = {}
    waiting = [(name, EXTRAS)]
    while waiting:
        current, extras = waiting.pop()
        for requirement in distribution(current).requires or ():
            wanted = re.search(r"extra\s*==\s*[\"']([^\"']+)[\"']", requirement)
            if wanted and wanted[1] not in extras:
                continue
            match = re.match(r"[\w.-]+", requirement)
            assert match is not None, requirement
            try:
                one = distribution(match[0])
            except PackageNotFoundError:
                if ";" not in requirement:
                    raise SystemExit(f"licences: {current} needs {match[0]}, which is not installed") from None
                continue
            key = re.sub(r"[-_.]+", "-", one.name).lower()
            if key not in found and key != name:
                found[key] = one
                waiting.append((one.name, ()))
    return [found[key] for key in sorted(found)]


def licence(package: Distribution) -> str:
    """Its licence as an SPDX expression, or the words it uses for it."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return expression
    words = (about.get("License") or "").strip()
    if words and "\n" not in words and len(words) < 60:
        return NAMES.get(words, words)
    classified = [
        each.rsplit(" :: ", 1)[-1] for each in about.get_all("Classifier") or () if each.startswith("License")
    ]
    return " AND ".join(CLASSIFIERS.get(each, each.replace(" ", "-")) for each in classified)


def permissive(expression: str) -> bool:
    """Whether an SPDX expression lets us choose permissive licences only: every AND, any OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression)

    def either() -> bool:
        good = both()
        while tokens and tokens[0].upper() == "OR":
            tokens.pop(0)
            good = both() or good
        return good

    def both() -> bool:
        good = one()
        while tokens and tokens[0].upper() == "AND":
            tokens.pop(0)
            good = one() and good
        return good

    def one() -> bool:
        if not tokens:
            return False
        if (token := tokens.pop(0)) != "(":
            return token in PERMISSIVE
        good = either()
        return bool(tokens) and tokens.pop(0) == ")" and good

    return either() and not tokens


def problems(packages: list[Distribution]) -> list[str]:
    return [
        f"{package.name} {package.version}: {licence(package) or 'no licence named'} is not permissive"
        for package in packages
        if not permissive(licence(package)) and package.name.lower() not in EXCEPTIONS
    ]


if __name__ == "__main__":
    packages = needed(sys.argv[1] if len(sys.argv) > 1 else "assent-lsp")
    found = problems(packages)
    told = found or [f"licences: {len(packages)} packages, all permissive or excepted by name"]
    sys.stdout.write("\n".join(told) + "\n")
    sys.exit(1 if found else 0)
