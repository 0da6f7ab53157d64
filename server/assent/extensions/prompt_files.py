"""Commands and skills as their files say them: one form, since other tools give both the same header.

A command is a Markdown file named after it; a skill is a folder with a `SKILL.md`. Both are texts for the model. What
they hold beyond text (commands to run, tools to allow, hooks) is named by `activates`: it counts only where the user
approved it. Runs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

import orjson

from assent.extensions.agent_files import copilot_tools
from assent.extensions.definitions import FileNotice, MarkdownFile, Origin
from assent.extensions.substitution import ShellPart, shell_parts

MAX_LISTED = 1_536  # characters of description and when_to_use in a listing
_SKILL_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FIRST_WORDS = 120
MOST_SCRIPTS = 50  # that are looked for
_SCRIPT = re.compile(
    r"\$\{(?:CLAUDE|ASSENT)_SKILL_DIR\}/(?P<own>[\w./-]*\w\.\w{1,5})\b"
    r"|(?<![\w/.}~-])(?:\./)?(?P<usual>scripts/[\w./-]*\w\.\w{1,5})\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFile:
    kind: Literal["command", "skill"]
    name: str
    description: str
    origin: Origin
    folder: str  # where its scripts are
    body: str
    body_line: int = 1
    when_to_use: str = ""
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()  # names of the arguments, in order
    first_argument: int = 0  # the number of the first one: opencode counts from 1
    model: str | None = None
    effort: str | None = None
    allowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None  # the only ones there are for it; None: all
    disallowed_tools: tuple[str, ...] = ()
    agent: str = ""
    agent_line: int | None = None
    agent_alone: Literal["nothing", "role", "fork"] = "nothing"  # what `agent` does without `context: fork`
    fork: bool = False
    background: bool = False
    model_invocable: bool = True
    user_invocable: bool = True
    paths: tuple[str, ...] = ()
    hooks: dict[str, Any] = field(default_factory=dict[str, Any])
    shell: tuple[ShellPart, ...] = ()
    powershell: bool = False  # its commands are written for PowerShell
    withheld: str = ""  # why it cannot be used

    @property
    def listing(self) -> str:
        """What the model reads of it before it is loaded."""
        text = f"{self.description} {self.when_to_use}".strip()
        return text if len(text) <= MAX_LISTED else text[: MAX_LISTED - 1] + "…"

    @property
    def activates(self) -> str:
        """What it would run or permit, as text to approve; empty for one that only says something."""
        parts = [f"runs {part.command}{' in PowerShell' if self.powershell else ''}" for part in self.shell]
        if self.allowed_tools:
            parts.append(f"allows {', '.join(self.allowed_tools)} while it is in use")
        if self.hooks:
            parts.append(f"hooks {orjson.dumps(self.hooks, option=orjson.OPT_SORT_KEYS).decode()}")
        return "\n".join(parts)


def command_of(file: MarkdownFile, origin: Origin) -> tuple[PromptFile | None, list[FileNotice]]:
    """A command: its name is the file's; `.prompt.md` files of VS Code may name it themselves."""
    notices = file.notices()
    front, path = file.front, PurePath(file.path)
    stem = path.name.removesuffix(".md")
    is_prompt = stem.endswith(".prompt")
    name = stem.removesuffix(".prompt")
    if is_prompt and front.text("name"):
        name = front.text("name").strip().replace(" ", "-")
    if not re.fullmatch(r"[^\W\d_][\w.-]*", name):
        return None, [*notices, FileNotice(file=file.path, text=f"{name!r} cannot be the name of a command")]
    if not front.body.strip():
        return None, [*notices, FileNotice(file=file.path, text="is empty: a command needs a text")]
    in_opencode = ".opencode" in path.parts or "opencode" in path.parts
    description = front.text("description") or _first_words(front.body)
    command = _prompt_file(file, origin, "command", name, description, in_opencode=in_opencode)
    if is_prompt:
        tools = front.names("tools")
        agent = command.agent or front.text("mode")  # as older files call it
        line = front.lines.get("agent") or front.lines.get("mode")
        only = copilot_tools(tools) if tools is not None else None
        command = replace(command, tools=only, agent=agent, agent_line=line, agent_alone="role")
    return command, [*notices, *_odd_values(file)]


def skill_of(file: MarkdownFile, origin: Origin) -> tuple[PromptFile | None, list[FileNotice]]:
    """A skill: named by its header, or by its folder when the header has no name."""
    notices = file.notices()
    front = file.front
    folder = PurePath(file.path).parent.name
    name = front.text("name") or folder
    line = front.lines.get("name", 1)
    if not front.text("description"):
        return None, file.left_out("has no description, so the skill is not used", 1)
    if not re.fullmatch(r"[^\W_][\w.-]*", name):
        words = f"the name {name!r} holds characters that a name cannot have, so the skill is called {folder!r}"
        notices.append(FileNotice(file=file.path, line=line, text=words))
        name = folder
    elif len(name) > 64 or not _SKILL_NAME.fullmatch(name):
        words = f"the name {name!r} should be at most 64 lower-case letters, digits and hyphens; it is used anyway"
        notices.append(FileNotice(file=file.path, line=line, text=words))
    elif name != folder and origin.scope != "plugin":
        words = f"the name {name!r} differs from the folder's, {folder!r}; it is used anyway"
        notices.append(FileNotice(file=file.path, line=line, text=words))
    return _prompt_file(file, origin, "skill", name, front.text("description")), [*notices, *_odd_values(file)]


def _prompt_file(
    file: MarkdownFile,
    origin: Origin,
    kind: Literal["command", "skill"],
    name: str,
    description: str,
    *,
    in_opencode: bool = False,
) -> PromptFile:
    front = file.front
    hooks = front.fields.get("hooks")
    model = front.text("model")
    return PromptFile(
        kind=kind,
        name=name,
        description=" ".join(description.split()),
        origin=origin,
        folder=str(PurePath(file.path).parent),
        body=front.body,
        body_line=front.body_line,
        when_to_use=" ".join(front.text("when_to_use").split()),
        argument_hint=front.text("argument-hint"),
        arguments=front.names("arguments") or (),
        first_argument=1 if in_opencode else 0,
        model=None if model in ("", "inherit") else model,
        effort=front.text("effort") or None,
        allowed_tools=front.names("allowed-tools") or (),
        disallowed_tools=front.names("disallowed-tools") or (),
        agent=front.text("agent"),
        agent_line=front.lines.get("agent"),
        agent_alone=("role" if "subtask" in front.fields else "fork") if in_opencode else "nothing",
        fork=front.text("context").casefold() == "fork" or front.flag("subtask"),
        background=front.flag("background"),
        model_invocable=not front.flag("disable-model-invocation"),
        user_invocable=front.flag("user-invocable", default=True),
        paths=front.patterns("paths") if kind == "skill" else (),
        hooks=hooks if isinstance(hooks, dict) else {},
        shell=tuple(shell_parts(front.body)),
        powershell=front.text("shell").casefold() == "powershell",
    )


def _odd_values(file: MarkdownFile) -> list[FileNotice]:
    """Fields whose value means nothing; the file counts without them."""
    said, hooks = file.front.text("shell"), file.front.fields.get("hooks")
    wrong: dict[str, str] = {}
    if said.casefold() not in ("", "bash", "powershell"):
        wrong["shell"] = f"shell can be bash or powershell, not {said!r}; bash runs its commands"
    if hooks is not None and not isinstance(hooks, dict):
        wrong["hooks"] = "hooks must be a map from events to lists, as in the settings; they are left out"
    return [FileNotice(file=file.path, line=file.front.lines.get(key), text=words) for key, words in wrong.items()]


def named_scripts(prompt: PromptFile) -> list[tuple[str, int]]:
    """The scripts beside it that a skill's text names, each with its line in the file."""
    found: dict[str, int] = {}
    for number, line in enumerate(prompt.body.splitlines()):
        for match in _SCRIPT.finditer(line):
            path = match["own"] or match["usual"]
            if ".." not in path.split("/"):
                found.setdefault(path, prompt.body_line + number)
    return list(found.items())[:MOST_SCRIPTS]


def _first_words(body: str) -> str:
    line = next((line.strip(" #*-") for line in body.splitlines() if line.strip(" #*-")), "")
    return line if len(line) <= _FIRST_WORDS else line[: _FIRST_WORDS - 1] + "…"
