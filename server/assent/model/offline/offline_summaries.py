"""The offline model's answers to housekeeping: compaction, titles, and what a stretch or a batch of calls was about.

The last two are asked with the work written out as text, one line a call; the names of the calls are what it can tell.
"""

import re
from collections import Counter

from assent.model.offline.offline_history import Exchange, OfflineHistory
from assent.text.words import one_line


def of_conversation(history: OfflineHistory) -> str:
    """What a later part of the conversation needs to know: what was asked, what was done, where it stands."""
    lines: list[str] = []
    if history.summary:
        lines += ["Before this:", history.summary, ""]
    lines += ["The user asked, in this order:"]
    asked = [one_line(prompt, most=200) for prompt in history.prompts]
    lines += [f"{number}. {words}" for number, words in enumerate(asked, 1)] or ["(nothing yet)"]
    done = (*history.earlier, *history.exchanges)
    if done:
        lines += ["", "What was done:"]
        lines += [f"- {_told(exchange)}" for exchange in done[-40:]]
    files = sorted({str(each.input["file_path"]) for each in done if "file_path" in each.input})
    if files:
        lines += ["", f"Files it was about: {', '.join(files)}"]
    return "\n".join(lines)


def title(history: OfflineHistory) -> str:
    return one_line(history.prompts[0], most=48) if history.prompts else "New conversation"


def of_calls(asked: str) -> str:
    """One line for a batch: each call stands in it as `Tool {input} -> outcome`."""
    tools = re.findall(r"^(\w+) .* -> ", asked, re.MULTILINE)
    return f"Used {_counted(tools)}"


def of_stretch(asked: str) -> str:
    """For a finished stretch: each call stands in it as `Assistant called Tool with …`."""
    calls = re.findall(r"^Assistant called (\w+) with (.*)$", asked, re.MULTILINE)
    files = sorted({file for _, given in calls for file in re.findall(r"'file_path': '([^']+)'", given)})
    lines = [f"Used {_counted([tool for tool, _ in calls])}."]
    return "\n".join([*lines, *([f"Files: {', '.join(files)}"] if files else [])])


def _counted(tools: list[str]) -> str:
    return ", ".join(f"{tool} ({times})" if times > 1 else tool for tool, times in Counter(tools).items()) or "no tool"


def _told(exchange: Exchange) -> str:
    about = exchange.input.get("file_path") or exchange.input.get("command") or exchange.input.get("pattern") or ""
    outcome = "failed: " + one_line(exchange.text, most=100) if exchange.is_error else "done"
    return f"{exchange.tool} {one_line(str(about), most=40)}".strip() + f" ({outcome})"
