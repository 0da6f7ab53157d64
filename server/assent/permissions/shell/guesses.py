"""What a command may run besides itself, as far as its words and its input tell.

Wrappers, shells, interpreters and tools with an `exec` of their own. Never sure, so it only ever restricts: deny rules
and the iron gate look at it, no rule is widened by it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from assent.permissions.paths import fold
from assent.permissions.shell.syntax.input import input_text, piped
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.changers import changes_what_it_names
from assent.permissions.shell.tables.changes import comes_whole
from assent.permissions.shell.tables.handed_names import after_xargs
from assent.permissions.shell.tables.handoffs import Told, told_to_run
from assent.permissions.shell.tables.scripts import AWKS, unseen_output
from assent.permissions.shell.tables.selections import handed_by_pipe
from assent.permissions.shell.tables.wrappers import OPAQUE, SHELLS, WRITERS, program
from assent.text.words import names

_READ_INPUT = SHELLS | names("xargs parallel . source")

MAX_TAILS = 200  # words of a wrapper, each of which may be where the wrapped command begins

Tail = tuple[Word, ...]

_RUN_WHAT_FOLLOWS = names("""
    npx bunx pnpx uvx tmux screen entr hyperfine concurrently nodemon watchexec caffeinate arch gosu su-exec tini
    dumb-init dotenv nix-shell fd fdfind expect alias hash complete compgen bind chronic ifne sem rush with-lock-ex
    setpriv capsh prlimit numactl cpulimit faketime fakeroot proot apptainer singularity distrobox toolbox
""")
_HAVE_AN_EXEC = names("""
    docker podman nerdctl kubectl oc lxc vagrant adb npm pnpm yarn bun uv pipx poetry pipenv hatch pdm rye conda mamba
    micromamba bundle mise asdf direnv op doppler nix cargo docker-compose flatpak
""")
_EXEC_WORDS = names("run exec x dlx shell ssh develop -- -c -x --command --exec --run --call")
_NAMES_SCRIPTS = names("npm pnpm yarn bun")  # whose `run` is followed by a script's name, and `--` by its arguments
INTERPRETERS = names("""
    python pypy ipython node nodejs deno bun ruby irb perl php lua luajit tclsh wish expect Rscript R julia osascript
    groovy scala elixir iex erl runghc ghci guile racket sbcl clisp emacs vim nvim vi ex ed view sqlite psql mysql
    mongosh jshell gawk mawk nawk original-awk awk sed gsed tsx ts-node gdb lldb xonsh nu m4
""")  # whatever version number follows
_INLINE = {
    **dict.fromkeys(names("python pypy ipython"), r"-[A-Za-z]*c.*"),
    **dict.fromkeys(names("node nodejs deno bun tsx ts-node"), r"-[ep]+|--eval.*|--print.*"),
    **dict.fromkeys(names("perl ruby"), r"-[A-Za-z0-9]*[eEn].*"),
    "php": r"-[A-Za-z]*[rBRE].*|--(?:run|process-).*",
}
_INLINE_ELSEWHERE = r"-[A-Za-z]*[eEcox]|-e.+|-ex|--(?:eval|execute|command|cmd|batch).*|\+.*"
_QUOTED = {
    "'": re.compile(r"'((?:[^'\\\n]|\\.)*+)'"),
    '"': re.compile(r'"((?:[^"\\\n]|\\.)*+)"'),
    "`": re.compile(r"`([^`\n]*+)`"),
}
_QUOTE = re.compile("['\"`]")
_PLAIN = re.compile(r"[A-Za-z0-9_./-]*")
_SPLITS = re.compile(r"[\s;&|<>()$`]")
_BETWEEN_NAMES = re.compile(r"[\s'\"=;&|()<>{},:$`\\\[\]]+")
_ATTACHED = re.compile(r"-[A-Za-z][^-=\s]{2}")
_BANG = re.compile(r"(?<![:+])[:+]*+!+\s*|(?<!\d)\d*+e\s+")  # of vim, ed, gdb and sed; begun once in each run
_DESTROYS = re.compile(
    r"(?i)rmtree|rm_?r?f|rm\w*sync|\brm\b|remove|unlink|rmdir|delete|chmod|chown|rename|\bmove\b|inplace|nftw|trash"
)
_LISTS = re.compile(r"--files0?(?:-from)?(?:=.*)?|--filelist(?:=.*)?|--from-file(?:=.*)?|-T-?|-@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    tails: tuple[Tail, ...] = ()  # each may be a command
    texts: tuple[str, ...] = ()  # each may be shell text
    files: tuple[str, ...] = ()  # each may be a file that it reads or writes
    destroys: bool = False  # it may change or remove those files with all that lies below
    weak: bool = False  # the program may as well take them for data
    unchecked: str = ""  # why what runs is not known
    unnamed: str = ""  # why the files it touches are not known
    blind: str = ""  # why that needs a person even in bypass


def guesses(
    command: Command, *, code: bool = False, named: Sequence[str] = (), hints: Collection[str] = ()
) -> Iterator[Guess]:
    """`code`: the table found a program in its arguments; `named`: words that tell git what to run.

    Arguments of programs nobody knows are looked at where one of the `hints` occurs in them.
    """
    words = command.words[: MAX_TAILS + 1]
    name = program(words[0])
    language = _language(name)
    if len(words) < len(command.words):
        yield Guess(unchecked="a command has too many arguments to find what it runs")
    if hints and name != "git":
        yield from _hinted(command, words, hints)
    if code or (language in INTERPRETERS and _inline(language, words)):
        yield _interpreted(command, name)
    elif name == "git":
        if named:
            yield from _told_to_git(words, named)
    elif name in OPAQUE or name in SHELLS or _runs_what_follows(name, words):
        tails = _tails(words)
        yield Guess(tails=tails, texts=tuple(_texts(words[1:], name)))
        for tail in (words, *tails):
            if program(tail[0]) in _READ_INPUT:
                yield from _fed(replace(command, words=tail))
    for told in told_to_run((name, *(word.text for word in words[1:]))):
        yield _handed_over(told)
    if name == "enable":
        yield Guess(unchecked="a builtin may be loaded from a file")
    if any(_LISTS.fullmatch(word.text) for word in words[1:]) or name == "cpio":
        why = f"which files `{name}` takes is nowhere to be read"
        yield Guess(unnamed=why, blind=why if changes_what_it_names(name, words[1:]) else "")


def _hinted(command: Command, words: Tail, hints: Collection[str]) -> Iterator[Guess]:
    """Arguments, and text it is given, in which the name of a restricted command stands by itself."""
    told = [word for word in words[1:] if any(hint in _unquoted(word.text) for hint in hints)]
    given = input_text(command) or ""
    found = [text for text in (*(word.text for word in told), given) if any(hint in _unquoted(text) for hint in hints)]
    if not found:
        return
    tails = tuple(tail for tail in _tails(words) if tail[0] in told)
    inside = [piece for text in found for piece in _from_names(text, hints)][:MAX_TAILS]
    yield Guess(tails=tails, texts=(*_texts(told, ""), *inside), weak=True)


def _from_names(text: str, hints: Collection[str]) -> Iterator[str]:
    """From each place on where one of the names stands alone, up to what ends a command in other languages.

    After a blank it is a word among others: prose, or an argument that is looked at anyway.
    """
    for plain in dict.fromkeys((fold(text), _unquoted(text))):
        for hint in hints:
            for place in re.finditer(rf"(?<![\w.\s-]){re.escape(hint)}[\w*-]*(?![\w-])", plain) if hint else ():
                yield re.split(r"[,;)\]}\n\"']", plain[place.start() :], maxsplit=1)[0]


def _unquoted(text: str) -> str:
    """As a shell would read it, had it been handed to one."""
    return re.sub(r"[\"'\\]", "", fold(text))


def _handed_over(told: Told) -> Guess:
    """What a flag tells the program to run, by itself or as shell text."""
    found = [text for text in (told.text, told.text.partition("=")[2]) if text]
    return Guess(
        tails=tuple((Word(text=text, pattern=text),) for text in found if _PLAIN.fullmatch(text)),
        texts=tuple(text for text in found if not _PLAIN.fullmatch(text)),
    )


def reads_commands(words: Sequence[Word]) -> bool:
    """A shell that is given no script takes what it runs from its input."""
    name, rest = program(words[0]), [word.text for word in words[1:]]
    if name in (".", "source"):
        return rest[:1] == ["/dev/stdin"]
    operands = [text for text in rest if text[:1] not in ("-", "+")]
    return name in SHELLS and (not operands or "-s" in rest or operands[0] == "/dev/stdin") and "-c" not in rest


def _fed(command: Command) -> Iterator[Guess]:
    """What comes in through the input, for shells and for xargs."""
    name = program(command.words[0])
    text = input_text(command)
    if reads_commands(command.words):
        if text is not None:
            yield Guess(texts=(text,))
        else:
            why = f"what `{name}` runs is nowhere to be read"
            yield Guess(unchecked=why, blind=why if piped(command) else "")
    elif name == "xargs" or (name == "parallel" and not any(word.text.startswith(":::") for word in command.words)):
        yield from _handed_on(command, text)


def _handed_on(command: Command, text: str | None) -> Iterator[Guess]:
    """xargs: its command with what it reads as arguments."""
    flags, inner = after_xargs(command)
    marker = ""
    for position, flag in enumerate(flags):
        if flag.startswith("-I"):
            marker = flag[2:] or (flags[position + 1] if position + 1 < len(flags) else "")
    if not inner:
        return
    if text is not None:
        filled = _filled(inner, text, marker)[:MAX_TAILS]
        begins = _tails(filled)[: len(inner)]  # where a wrapper among its words would find its own command
        yield Guess(tails=(filled, *begins), texts=tuple(_texts(filled, name="")))
        if len(filled) == MAX_TAILS:
            yield Guess(unchecked="xargs hands on more than can be looked at")
        return
    name = program(inner[0])
    why = f"what xargs hands to `{name}` is nowhere to be read"
    interpreted = _language(name) in INTERPRETERS
    runs = interpreted or name in SHELLS | OPAQUE or (bool(marker) and marker in inner[0].text)
    runs = runs or " " in inner[0].text  # shell text, of GNU parallel
    changes = name in WRITERS or changes_what_it_names(name, inner[1:])
    told = (
        program(command.words[0]) == "xargs"
        and handed_by_pipe(command, flags) is not None
        and comes_whole(command, flags)
    )  # `changes.py` looks at those
    yield Guess(
        unchecked=why if runs else "",
        unnamed=why,
        blind=why if (changes and not told) or (runs and not interpreted) else "",
    )


def _filled(inner: Sequence[Word], text: str, marker: str) -> Tail:
    if not marker:
        return (*inner, *(Word(text=piece, pattern=piece) for piece in text.split()))
    line = text.strip()
    return tuple(replace(word, text=word.text.replace(marker, line), pattern="") for word in inner)


def _interpreted(command: Command, name: str) -> Guess:
    """Code nobody reads here; what stands in quotes in it may be shell text."""
    code = [word.text for word in command.words[1:]]
    if (text := input_text(command)) is not None:
        code.append(text)
    found = [quoted for text in code for quoted in _quoted(text)]
    found += [_BANG.sub("", text, count=1) for text in code if _BANG.match(text)]
    found = list(dict.fromkeys(found))[:MAX_TAILS]
    return Guess(
        tails=tuple((Word(text=text, pattern=text),) for text in found if _PLAIN.fullmatch(text)),
        texts=tuple(text for text in found if not _PLAIN.fullmatch(text)),
        files=tuple(_file_names(code)),
        destroys=any(_DESTROYS.search(text) for text in code),
        unchecked=f"code for `{name}` stands in the command",
        blind=unseen_output(name, code),
    )


def _file_names(code: Sequence[str]) -> list[str]:
    """Every piece of code that could name a file; after sed's `w` and `r` the name needs no blank before it."""
    pieces = {piece for text in code for piece in _BETWEEN_NAMES.split(text)}
    pieces |= {piece[1:] for piece in pieces if piece[:1] in ("w", "W", "r", "R")}
    return sorted(piece for piece in pieces if piece and len(piece) < 4096 and not piece.startswith("-"))[:MAX_TAILS]


def _quoted(text: str) -> Iterator[str]:
    """What stands in quotes. A quote that its line does not close closes none of the later ones of its kind either."""
    position = 0
    open_until = dict.fromkeys(_QUOTED, 0)
    while start := _QUOTE.search(text, position):
        position = start.end()
        if open_until[start.group()] > start.start():
            continue
        if found := _QUOTED[start.group()].match(text, start.start()):
            position = found.end()
            yield found[1]
        else:
            line_end = text.find("\n", position)
            open_until[start.group()] = len(text) if line_end < 0 else line_end


def _told_to_git(words: Sequence[Word], named: Sequence[str]) -> Iterator[Guess]:
    for position, word in enumerate(words):
        if word.text not in named:
            continue
        value = word.text.partition("=")[2] or re.sub(r"-[a-zA-Z]*?[xutc]", "", word.text, count=1)
        given = (value, *(later.text for later in words[position + 1 :]))
        texts = list(dict.fromkeys(each for text in given for each in (text, _BANG.sub("", text, count=1))))
        texts += [text.partition("=")[2].removeprefix("!") for text in texts if "=" in text]
        tail = tuple(words[position + 1 :])
        yield Guess(
            tails=(tail,) if tail else (),
            texts=tuple(text for text in texts if text and not text.startswith("-")),
            unchecked=f"git is told what to run by `{word.text}`",
        )


def _inline(name: str, words: Sequence[Word]) -> bool:
    """Code on the command line or in the input, not in a file."""
    if name in ("awk", "sed"):
        return False  # the table reads their programs
    if name in AWKS or name == "gsed":
        return True
    flag = re.compile(_INLINE.get(name, _INLINE_ELSEWHERE), re.DOTALL)
    for word in words[1:]:
        if word.text == "-" or flag.fullmatch(word.text):
            return True
        if not word.text.startswith("-") or word.text.startswith("-m"):
            return name == "sqlite" or word.text == "eval"
    return True


def _language(name: str) -> str:
    return name.rstrip("0123456789.")


def _runs_what_follows(name: str, words: Sequence[Word]) -> bool:
    if name in _RUN_WHAT_FOLLOWS:
        return True
    said = {word.text for word in words[1:]}
    if name in _NAMES_SCRIPTS:
        said -= {"run", "--"}
    return name in _HAVE_AN_EXEC and bool(said & _EXEC_WORDS)


def _tails(words: Sequence[Word]) -> tuple[Tail, ...]:
    return tuple(tuple(words[start:]) for start in range(1, len(words)))


def _texts(words: Sequence[Word], name: str) -> Iterator[str]:
    for word in words:
        text = word.text if name in SHELLS else _BANG.sub("", word.text, count=1)
        if text != word.text:
            yield text
        if _SPLITS.search(word.text):
            yield word.text  # what looks like `e command` of sed may be the end of a name
        if name and _ATTACHED.match(text):
            yield from (text[2:], text[3:])  # -S'command', -qc'command'
        if "=" in text:
            yield text.partition("=")[2]
            yield text.rpartition("=")[2]
    if name in ("eval", "ssh", "watch"):
        yield " ".join(word.text for word in words)
