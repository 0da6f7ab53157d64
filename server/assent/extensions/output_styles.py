"""Output styles: texts that change how the model answers, from `output-styles` folders and plugins.

A style replaces the part of the system prompt that says how to answer, or all of how to work when it does not keep the
instructions for coding. One is chosen by the setting `outputStyle`; a project's own needs trust, like the setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from assent.extensions.definitions import BUILT_IN as OURS
from assent.extensions.definitions import FileNotice, MarkdownFile, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStyle:
    name: str
    description: str
    prompt: str
    keep_coding_instructions: bool = True
    origin: Origin = OURS
    withheld: str = ""


DEFAULT = OutputStyle(name="default", description="brief, outcome first", prompt="")
EXPLANATORY = OutputStyle(
    name="explanatory",
    description="explains the choices it makes while it works",
    prompt=(
        "# Output style: explanatory\nBeside the work, teach: before and after a change say in two or three sentences "
        "why this way and not another, and what in this code base led to it. Put such remarks in the conversation, "
        "never in the code. Longer answers are welcome here, padding is not."
    ),
)
LEARNING = OutputStyle(
    name="learning",
    description="leaves small, instructive pieces to you",
    prompt=(
        "# Output style: learning\nThe user wants to learn by doing. Where a piece of five to ten lines decides "
        "something worth thinking about, prepare everything around it, mark the place with TODO(human), say what is to "
        "be decided and what speaks for each way, and wait for the user's version. Do the routine parts yourself."
    ),
)
BUILT_IN = (DEFAULT, EXPLANATORY, LEARNING)


def style_of(file: MarkdownFile, origin: Origin) -> tuple[OutputStyle | None, list[FileNotice]]:
    front = file.front
    name = front.text("name") or PurePath(file.path).stem
    if not front.body.strip():
        return None, [*file.notices(), FileNotice(file=file.path, text="is empty: an output style needs a text")]
    style = OutputStyle(
        name=name,
        description=" ".join(front.text("description").split()),
        prompt=front.body.strip(),
        keep_coding_instructions=front.flag("keep-coding-instructions"),
        origin=origin,
    )
    return style, file.notices()
