"""git's configuration files: read exactly as git reads them, and written anew with harmless keys only.

Owns the syntax and the list of keys that make git neither run a program nor read or write a file of the key's choosing.
Knows no paths: where a value must be held against the place it stands in, `permissions/repositories.py` does that.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LARGEST = 200_000  # bytes; what is larger was not written by git


class ConfigRefused(ValueError):
    """The text is not what git would take for a configuration; the message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    section: str  # in lower case
    subsection: str
    key: str  # in lower case
    value: str | None  # None: the key stands alone, which means true

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"


_BLANK = re.compile(r"[ \t\n\r]*")
_COMMENT = re.compile(r"[#;][^\n]*")
_HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=[ \t]*)?")
_SIMPLE = re.compile(r"[^\"\\#;\n]*")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}


def parse(text: str) -> list[ConfigEntry]:
    """Every setting in the order of the file. Raises ConfigRefused."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\0" in text:
        raise ConfigRefused("it holds a NUL byte")
    entries: list[ConfigEntry] = []
    section = subsection = ""
    position = 0
    while (position := _after(_BLANK, text, position)) < len(text):
        if text[position] in "#;":
            position = _after(_COMMENT, text, position)
        elif text[position] == "[":
            header = _HEADER.match(text, position)
            if header is None:
                raise ConfigRefused(_where(text, position))
            section, _, dotted = header[1].lower().partition(".")
            subsection = dotted if header[2] is None else re.sub(r"\\(.)", r"\1", header[2])
            position = header.end()
        else:
            key = _KEY.match(text, position)
            if key is None or not section:
                raise ConfigRefused(_where(text, position))
            value, end = _value(text, key.end()) if key[2] else (None, _end_of_key(text, key.end()))
            entries.append(ConfigEntry(section=section, subsection=subsection, key=key[1].lower(), value=value))
            position = end
    return entries


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _where(text: str, position: int) -> str:
    return text[position : position + 40].partition("\n")[0]


def _end_of_key(text: str, position: int) -> int:
    """A key without `=` must end its line."""
    if position < len(text) and text[position] != "\n":
        raise ConfigRefused(_where(text, position))
    return position


def _value(text: str, position: int) -> tuple[str, int]:
    simple = _SIMPLE.match(text, position)
    assert simple is not None
    if (end := simple.end()) == len(text) or text[end] == "\n":
        return simple[0].rstrip(" \t\r"), end
    return _quoted_value(text, position)


def _quoted_value(text: str, position: int) -> tuple[str, int]:
    out: list[str] = []
    kept = 0  # what is quoted is not trimmed
    quoted = False
    while position < len(text) and text[position] != "\n":
        character = text[position]
        position += 1
        if character == "\\":
            escaped = text[position : position + 1]
            position += 1
            if escaped != "\n":
                if escaped not in _ESCAPED:
                    raise ConfigRefused(f"the escape `\\{escaped}`")
                out.append(_ESCAPED[escaped])
            kept = len(out)  # blanks before a line that goes on stay, too
        elif character == '"':
            quoted = not quoted
            kept = len(out)
        elif character in "#;" and not quoted:
            position = _after(re.compile(r"[^\n]*"), text, position)
        else:
            out.append(character)
            if quoted or character not in " \t\r":
                kept = len(out)
    if quoted:
        raise ConfigRefused("a quote that is not closed")
    return "".join(out[:kept]), position


_ANY = re.compile(r".*", re.DOTALL)
_PLAIN_FORMAT = re.compile(r"(?:(?!%[-+ ]?G|signature).)*", re.DOTALL | re.IGNORECASE)
"""%G… makes git start gpg."""


def signs(text: str) -> bool:
    """Does a format make git verify signatures, and so start the configured program?"""
    return _PLAIN_FORMAT.fullmatch(text) is None


def _keys(names: str, values: re.Pattern[str] = _ANY) -> dict[str, re.Pattern[str]]:
    return dict.fromkeys(names.split(), values)


_SHOWN: dict[str, dict[str, re.Pattern[str]]] = {
    "user": _keys("name email useconfigonly signingkey"),
    "author": _keys("name email"),
    "committer": _keys("name email"),
    "core": _keys("""
        filemode symlinks ignorecase precomposeunicode autocrlf eol safecrlf quotepath abbrev commentchar checkstat
        trustctime protecthfs protectntfs longpaths whitespace bigfilethreshold compression preloadindex
    """),
    "diff": _keys("""
        renames renamelimit algorithm colormoved colormovedws mnemonicprefix noprefix srcprefix dstprefix context
        interhunkcontext statgraphwidth statnamewidth wserrorhighlight indentheuristic relative suppressblankempty
        dirstat ignoresubmodules wordregex
    """),
    "log": _keys(
        "date decorate abbrevcommit follow mailmap excludedecoration initialdecorationset graphcolors showroot"
    ),
    "status": _keys("short branch showuntrackedfiles relativepaths showstash aheadbehind displaycommentprefix renames"),
    "blame": _keys("coloring blankboundary date markignoredlines markunblamablelines showemail showroot"),
    "grep": _keys("linenumber column patterntype extendedregexp threads fullname fallbacktonoindex"),
    "format": _keys("pretty", _PLAIN_FORMAT) | _keys("signoff numbered coverletter suffix"),
    "i18n": _keys("commitencoding logoutputencoding"),
    "column": _keys("ui branch status tag clean"),
    "tag": _keys("sort"),
    "versionsort": _keys("suffix prereleasesuffix"),
    "branch": _keys("sort autosetupmerge autosetuprebase"),
    "index": _keys("threads version recordendofindexentries recordoffsettable skiphash"),
    "feature": _keys("manyfiles experimental"),
    "init": _keys("defaultbranch"),
    "pull": _keys("rebase ff octopus twohead"),
    "push": _keys("default followtags autosetupremote usebitmaps"),
    "merge": _keys("conflictstyle ff log renames renamelimit stat autostash directoryrenames verbosity"),
    "rerere": _keys("enabled autoupdate"),
    "rebase": _keys("autosquash autostash updaterefs stat abbreviatecommands missingcommitscheck rebasemerges"),
    "fetch": _keys("prune prunetags recursesubmodules parallel writecommitgraph showforcedupdates output"),
    "commit": _keys("verbose status cleanup"),
    "transfer": _keys("fsckobjects hiderefs unpacklimit"),
    "gc": _keys("""
        auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable bigpackthreshold logexpiry
        packrefs worktreepruneexpire aggressivedepth aggressivewindow writecommitgraph cruftpacks
    """),
    "pack": _keys("window depth threads compression windowmemory deltacachesize deltacachelimit usebitmaps usesparse"),
    "maintenance": _keys("auto strategy"),
    "gui": _keys("wmstate geometry encoding fontui fontdiff"),
}
"""Harmless wherever they stand: how things are shown, and what plain words mean."""
_OPEN_SECTIONS = frozenset({"color", "advice", "gitflow"})
"""Sections of which every key is a colour, a yes or no, or another program's word."""

_REPOSITORY: dict[str, dict[str, re.Pattern[str]]] = {
    "core": _keys("""
        repositoryformatversion bare logallrefupdates untrackedcache sharedrepository sparsecheckout sparsecheckoutcone
        splitindex multipackindex commitgraph createobject fscache hidedotfiles
    """),
    "remote": _keys("url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved"),
    "branch": _keys("""
        remote merge rebase pushremote description vscode-merge-base gh-merge-base github-pr-owner-number
    """),
    "submodule": _keys("url active branch ignore fetchrecursesubmodules recurse"),
    "extensions": _keys("objectformat worktreeconfig noop refstorage relativeworktrees"),
    "http": _keys("postbuffer version"),
    "lfs": _keys("repositoryformatversion access locksverify"),
}
"""What else a repository's own configuration holds."""
_GLOBAL = {"safe": _keys("directory"), "core": _keys("excludesfile attributesfile")}
"""What else counts in the user's own: without the first, git refuses repositories that belong to others; the files are
the user's choice (`named_files`)."""


def harmless(entry: ConfigEntry) -> bool:
    """May this stand in a repository's own configuration, with git still running and reading nothing by it?"""
    return _listed(entry, (_SHOWN, _REPOSITORY))


def _listed(entry: ConfigEntry, tables: Iterable[dict[str, dict[str, re.Pattern[str]]]]) -> bool:
    if entry.section in _OPEN_SECTIONS:
        return True
    for table in tables:
        allowed = table.get(entry.section, {}).get(entry.key)
        if allowed is not None and allowed.fullmatch(entry.value or ""):
            return True
    return entry.section == "pretty" and not entry.subsection and not signs(entry.value or "")


def sanitised(*texts: str) -> str:
    """The user's own configuration with harmless keys only: no programs, credentials, addresses or includes.

    For `GIT_CONFIG_GLOBAL` where the real file must not be read. A text that git itself would refuse gives nothing.
    """
    lines: list[str] = []
    for entry in _surviving(texts):
        value = "" if entry.value is None else f" = {_quoted(entry.value)}"
        lines += [_header(entry), f"\t{entry.key}{value}"]
    return "".join(f"{line}\n" for line in lines)


def named_files(*texts: str, home: str) -> list[str]:
    """The files that the sanitised configuration names: git must be able to read them, or it complains each time."""
    values = [entry.value or "" for entry in _surviving(texts) if entry.name in _NAMING]
    paths = [home + value[1:] if value.startswith("~/") else value for value in values]
    return [path for path in paths if path.startswith("/") and "/../" not in f"{path}/"]


_NAMING = frozenset({"core.excludesfile", "core.attributesfile"})


def _surviving(texts: Iterable[str]) -> Iterator[ConfigEntry]:
    for text in texts:
        try:
            entries = parse(text)
        except ConfigRefused:
            continue
        yield from (entry for entry in entries if _listed(entry, (_SHOWN, _GLOBAL)))


def _header(entry: ConfigEntry) -> str:
    subsection = entry.subsection.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{entry.section} "{subsection}"]' if subsection else f"[{entry.section}]"


def _quoted(value: str) -> str:
    value = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + value.replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b") + '"'
