"""Flags and words by which a program is told to run another program, or text as a shell would.

Two uses: a prefix rule covers none of them unless it spells them out, and what they hand over is held against deny
rules. Long flags count in every abbreviation of three letters or more, with one dash or two, because some programs take
them so.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assent.text.words import names


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One such word: what a rule must spell, and the text it hands over; empty when that stands in a file."""

    word: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """`long` flags without dashes, with `~` where the value must look like a path to count; `short` letters, also so
    marked and in clusters; `words` regular expressions over whole words."""

    long: frozenset[str] = frozenset()
    short: str = ""
    words: str = r"(?!)"
    until: str = ""  # what follows this word belongs to the program that is run anyway
    least: int = 3  # letters of a long flag that already mean it


def _handoff(long: str = "", short: str = "", words: str = r"(?!)", until: str = "", least: int = 3) -> Handoff:
    return Handoff(long=names(long), short=short, words=words, until=until, least=least)


_ANY_PROGRAM = _handoff(
    """
        script-shell shell-command exec exec-path execute eval shell use-compress-program compress-program to-command
        checkpoint-action info-script new-volume-script rsh rsh-command rsync-path hostname-bin pager editor
        use-askpass open-files-in-pager toolexec linker-command
    """
)
"""Names that mean the same wherever they occur."""
_NPM = _handoff(
    """
        script-shell shell prefix userconfig globalconfig node-options call package editor viewer browser git
        init-module scripts-prepend-node-path local-prefix global-prefix cache node-gyp
    """,
    "cC",
    until="--",
)
_PNPM = _handoff(
    """
        script-shell shell prefix dir node-options config-dir global-dir pnpmfile global-pnpmfile use-node-version
        shell-emulator shell-mode virtual-store-dir modules-dir
    """,
    "Cc",
    r"--config\.[a-zA-Z.-]+(?:=.*)?",
    until="--",
)
_YARN = _handoff("script-shell cwd use-yarnrc modules-folder pnp node-options global-folder", until="--")
_MAKE = _handoff(
    "file makefile directory eval include-dir old-file what-if assume-new",
    "fCIEoW",
    r"[A-Za-z_.][A-Za-z0-9_.-]*\s*(?:[:+?!]{0,3}=)(?!(?:[0-9]+|yes|no|true|false|on|off|y|n)?\Z).*",
    least=1,
)
_PYTHON_TESTS = _handoff(
    "override-ini rootdir confcutdir pyargs basetemp import-mode config-file log-file junitxml junit-xml debug "
    "pdbcls pastebin",
    "cpPoW",
    r"@.*",
)
_CARGO = _handoff("config manifest-path target-dir lockfile-path artifact-dir", "ZC", r"\+.*", until="--")
_GO = _handoff(
    "exec toolexec vettool modfile overlay ldflags gcflags asmflags gccgoflags compiler pkgdir work modcacherw c",
    "C",
)
_DOCKER = _handoff(
    """
        host context config file volume mount privileged entrypoint pid network net device cap-add security-opt userns
        build-context secret ssh output env-file volumes-from ipc project-directory
    """,
    "Hfvop",
)
_COMPILER = _handoff("wrapper fplugin", "B", r"@.*|-f(?:plugin|pass-plugin).*")
_GRADLE = _handoff("build-file init-script project-dir settings-file include-build gradle-user-home", "bIpcg", r"-D.*")
_PIP = _handoff(
    """
        python index-url extra-index-url find-links config-settings editable requirement target prefix root
    """,
    "iferct",
)
_TAR = _handoff(
    "use-compress-program to-command checkpoint-action info-script new-volume-script rsh-command rmt-command", "IF"
)
_SSH = _handoff("", "FoSJEiIW")
_TABLE: dict[str, Handoff] = {
    **dict.fromkeys(("npm", "npx"), _NPM),
    **dict.fromkeys(("pnpm", "pnpx"), _PNPM),
    "yarn": _YARN,
    "bun": _handoff("cwd config preload require import shell define env-file eval print", "crep", until="--"),
    "deno": _handoff("config import-map preload require lock eval ext allow-run allow-all", "cA"),
    **dict.fromkeys(("make", "gmake", "remake"), _MAKE),
    "ninja": _handoff("", "fCt"),
    "cmake": _handoff("toolchain", "PCDE", r"-[DPCE].*"),
    "just": _handoff("justfile working-directory shell shell-arg set dotenv-path command chooser", "fdc"),
    "task": _handoff("taskfile dir entrypoint", "td"),
    "rake": _handoff("rakefile require libdir execute execute-print eval rakelibdir", "frIepER"),
    **dict.fromkeys(("pytest", "py.test"), _PYTHON_TESTS),
    "tox": _handoff("conf workdir root override runner", "cx"),
    "nox": _handoff("noxfile", "f"),
    "mypy": _handoff("config-file python-executable install-types custom-typeshed-dir"),
    "pylint": _handoff("rcfile init-hook load-plugins plugin"),
    "flake8": _handoff("config append-config require-plugins"),
    "eslint": _handoff("config rulesdir resolve-plugins-relative-to plugin parser format~", "cf~"),
    "prettier": _handoff("config plugin plugin-search-dir"),
    "jest": _handoff(
        "config globalsetup globalteardown setupfiles setupfilesafterenv transform runner~ testrunner~ rootdir "
        "resolver reporters~ testenvironment~ env~ filter",
        "c",
    ),
    "vitest": _handoff("config root dir globalsetup reporter~ environment~", "cr"),
    "mocha": _handoff("config require file package import loader reporter~ ui~", "r"),
    "tsc": _handoff("project", "p"),
    "webpack": _handoff("config require", "cr"),
    "cargo": _CARGO,
    "go": _GO,
    "rustc": _handoff("codegen linker sysroot", "CZ"),
    **dict.fromkeys(names("gcc g++ cc c++ clang clang++"), _COMPILER),
    "mvn": _handoff("file settings global-settings toolchains", "fst", r"-D.*"),
    **dict.fromkeys(names("gradle gradlew"), _GRADLE),
    "dotnet": _handoff("settings property logger test-adapter-path", "p", r"[-/]p(?:roperty)?:.*"),
    "bundle": _handoff("gemfile path"),
    "rspec": _handoff("require options init default-path format~", "rIOf~"),
    "ruff": _handoff("config"),
    "uv": _handoff("config-file directory project with python index-url with-editable with-requirements", ""),
    **dict.fromkeys(names("pip pip3"), _PIP),
    "poetry": _handoff("directory project", "CP"),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _DOCKER),
    "kubectl": _handoff("kubeconfig context server token as overrides filename", "fs"),
    "terraform": _handoff("chdir var-file plugin-dir config"),
    **dict.fromkeys(names("tar bsdtar gtar"), _TAR),
    "rsync": _handoff("rsh rsync-path", "e"),
    **dict.fromkeys(("ssh", "scp", "sftp"), _SSH),
    "zip": _handoff("unzip-command", "", r"-[a-zA-Z]*TT.*"),
    "sort": _handoff("compress-program", least=2),
    "rg": _handoff("pre hostname-bin"),
    "man": _handoff("pager preprocessor html", "PpH", least=1),
    "gdb": _handoff("eval-command command init-command ex ix x", "x"),
    "curl": _handoff("config proxy netrc-file", "K"),
    "wget": _handoff("config use-askpass execute", "e", least=2),
    "split": _handoff("filter", least=1),
    "nmap": _handoff("script datadir"),
    "ansible-playbook": _handoff("inventory module-path extra-vars", "iMe"),
    "node --test": _handoff(
        "require import loader experimental-loader eval print env-file experimental-config-file test-reporter~", "rep"
    ),
    "git": Handoff(),  # `shell_git` knows its flags
    "find": Handoff(),  # its reader knows its actions
}


_RUNNERS = re.compile(
    r"python[0-9.]*|pypy3?|coverage|uvx?|poetry|pipenv|pdm|hatch|rye|pipx|bundle|np[mx]|pnp[mx]|yarn|bunx?|volta|mise|rtx|asdf"
)
"""Programs that run another one, whose name and flags follow: `python -m pytest`, `npx eslint`, `uv run mypy`."""


def told_to_run(argv: Sequence[str]) -> Iterator[Told]:
    """`argv` with the program's own name, without a path."""
    yield from _told(argv)
    if _RUNNERS.fullmatch(argv[0]):
        for position, word in enumerate(argv[1:], 1):
            if word.rpartition("/")[2] in _TABLE:
                yield from _told((word.rpartition("/")[2], *argv[position + 1 :]))
                return


def _told(argv: Sequence[str]) -> Iterator[Told]:
    name = "node --test" if argv[0] == "node" and "--test" in argv else argv[0]
    own = _TABLE.get(name, Handoff())
    words = re.compile(own.words, re.DOTALL)
    for position, word in enumerate(argv[1:], 1):
        if word == own.until:
            return
        following = argv[position + 1] if position + 1 < len(argv) else ""
        if words.fullmatch(word):
            yield Told(word=word, text=word.partition("=")[2])
        elif word.startswith("-") and (text := _text_of(word, own, following)) is not None:
            yield Told(word=word, text=text)


def _text_of(word: str, own: Handoff, following: str) -> str | None:
    name, equals, value = word.lstrip("-").partition("=")
    bare = name.casefold().replace("_", "-").removeprefix("no-")
    value = value if equals else following
    for flag in own.long if word.startswith("--") or len(bare) > 2 else ():
        if _meant(bare, flag.removesuffix("~"), own.least) and not (flag.endswith("~") and not _PATH.search(value)):
            return value
    if any(_meant(bare, flag, 7) for flag in _ANY_PROGRAM.long):
        return value
    if word.startswith("--"):
        return None
    for index, letter in enumerate(word[1:], 1):
        if letter in own.short:
            value = word[index + 1 :].removeprefix("=") or following
            return None if f"{letter}~" in own.short and not _PATH.search(value) else value
    return None


_PATH = re.compile(r"[/.\\]")


def _meant(written: str, flag: str, least: int) -> bool:
    return written == flag or (len(written) >= least and flag.startswith(written))
