"""What the agent is asked by each code action: the words, and nothing else."""

from dataclasses import dataclass

from assent.text.attached import fenced
from assent.types.blocks import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptAction:
    title: str
    kind: str
    prompt: str


ACTIONS: dict[str, PromptAction] = {
    "fix": PromptAction(title="Fix: ", kind="quickfix", prompt="Fix this problem in {place}: {message}"),
    "explain": PromptAction(title="Explain", kind="refactor", prompt="Explain {place}. Change nothing."),
    "refactor": PromptAction(
        title="Refactor…",
        kind="refactor.rewrite",
        prompt="Refactor {place} so that it reads better. Keep its behaviour, and keep the change small.",
    ),
    "tests": PromptAction(
        title="Write tests",
        kind="refactor",
        prompt="Write tests for {place}, in the style and place this project keeps its tests.",
    ),
    "document": PromptAction(
        title="Document",
        kind="refactor.rewrite",
        prompt="Document {place} in the style of this project. Change no code.",
    ),
    "ask": PromptAction(title="Ask about selection", kind="refactor", prompt="{place}: "),
}


REFACTOR_AS_ASKED = "Refactor {place}: {wish}\nKeep its behaviour otherwise."


def prompt_for(name: str, *, path: str, span: Json, text: str = "", problem: Json | None = None, wish: str = "") -> str:
    """The prompt of an action; `text` is what is selected, shown when it is more than a place, `wish` how to do it."""
    first, last = int(span["start"]["line"]) + 1, int(span["end"]["line"]) + 1
    if span["end"]["character"] == 0 and last > first:
        last -= 1
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    message = ""
    if problem is not None:
        source = f" ({problem['source']})" if problem.get("source") else ""
        message = f"{problem.get('message', '')}{source}"
    words = REFACTOR_AS_ASKED if name == "refactor" and wish else ACTIONS[name].prompt
    prompt = words.format(place=f"@{path} {where}", message=message, wish=wish)
    return f"{prompt}\n\n{fenced(text)}" if text.strip() and name != "ask" else prompt
