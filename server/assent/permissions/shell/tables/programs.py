"""Programs that do not read their words as getopt does: xxd and tree. Each is read as its own source reads it."""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.options import CommandUsage
from assent.text.words import names

XXD_ALONE = names("-a -b -e -i -p -u -C")
XXD_VALUED = names("-c -g -l -o -s")
_XXD_NUMBER = re.compile(r"[0-9]{1,18}|0x[0-9a-fA-F]{1,16}")

TREE_ALONE = names("-a -d -f -i -s -h -p -u -g -D -F -C -n -x -q -r -t -v -N -Q -J -X -S -A")
TREE_VALUED = names("-L -I -P")
TREE_LONG = names("""
    --noreport --dirsfirst --filesfirst --prune --gitignore --du --si --inodes --ignore-case --matchdirs --device
    --version --help
""")
_TREE_LONG_VALUED = re.compile(r"--(?:sort|charset)=[A-Za-z0-9-]+|--filelimit=[0-9]+")


def read_xxd(words: Sequence[Word], usage: CommandUsage) -> None:
    """It looks at the first two characters of a flag only (`-ac` is `-a`), and writes to its second name."""
    position = 0
    while position < len(words) and words[position].text.startswith("-") and words[position].text != "-":
        text = words[position].text
        position += 1
        if not words[position - 1].plain:
            usage.hazard(f"`{text}`, whose value is not known", text)
        elif text in XXD_VALUED:
            value = words[position].text if position < len(words) and words[position].plain else ""
            position += 1
            if not _XXD_NUMBER.fullmatch(value):
                usage.hazard(f"the value of `{text}` is not a number", text)
        elif text not in XXD_ALONE and not (text[:2] in XXD_VALUED and _XXD_NUMBER.fullmatch(text[2:])):
            usage.hazard(f"xxd's `{text}`", text)
    usage.operands.extend(words[position:])
    usage.reads.extend(word for word in usage.operands if word.text != "-")
    if len(usage.operands) > 1 or not all(word.plain for word in usage.operands):
        usage.hazard("a further name would be written to", usage.operands[-1].text)


def read_tree(words: Sequence[Word], usage: CommandUsage) -> None:
    """Letters may be put together, and go on after the digits of `-L2`; `-o` writes, `-R` makes it write everywhere."""
    position = 0
    only_operands = False
    while position < len(words):
        word = words[position]
        text = word.text
        position += 1
        if only_operands or not text.startswith("-"):
            usage.operands.append(word)
            usage.reads.append(word)
            if not word.known or (word.may_be_flag and not only_operands):
                usage.hazard(f"`{text}`, which the shell may turn into a flag", text)
        elif not word.plain:
            usage.hazard(f"`{text}`, a flag that the shell may turn into another", text)
        elif text == "--":
            only_operands = True
        elif text in TREE_VALUED:
            if position >= len(words) or not words[position].plain or words[position].text.startswith("-"):
                usage.hazard(f"the value of `{text}`", text)
            position += 1
        elif not (
            text in TREE_LONG
            or _TREE_LONG_VALUED.fullmatch(text)
            or re.fullmatch(r"-L[0-9]+", text)
            or all(f"-{letter}" in TREE_ALONE for letter in text[1:])
        ):
            usage.hazard(f"tree's `{text}`", text)
