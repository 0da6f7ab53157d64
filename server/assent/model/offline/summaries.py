"""The offline model's answers to housekeeping: compaction, titles, one-line summaries of tool calls."""

from assent.model.offline.history import Exchange, History


def of_conversation(history: History) -> str:
    """What a later part of the conversation needs to know: what was asked, what was done, where it stands."""
    lines: list[str] = []
    if history.summary:
        lines += ["Before this:", history.summary, ""]
    lines += ["The user asked, in this order:"]
    lines += [f"{number}. {_short(prompt)}" for number, prompt in enumerate(history.prompts, 1)] or ["(nothing yet)"]
    done = (*history.earlier, *history.exchanges)
    if done:
        lines += ["", "What was done:"]
        lines += [f"- {_told(exchange)}" for exchange in done[-40:]]
    files = sorted({str(each.input["file_path"]) for each in done if "file_path" in each.input})
    if files:
        lines += ["", f"Files it was about: {', '.join(files)}"]
    return "\n".join(lines)


def title(history: History) -> str:
    return _short(history.prompts[0], 48) if history.prompts else "New conversation"


def of_tools(history: History) -> str:
    done = history.exchanges or history.earlier
    return _short("; ".join(_told(exchange) for exchange in done[-3:]) or "nothing yet", 160)


def _told(exchange: Exchange) -> str:
    about = exchange.input.get("file_path") or exchange.input.get("command") or exchange.input.get("pattern") or ""
    outcome = "failed: " + _short(exchange.text, 100) if exchange.is_error else "done"
    return f"{exchange.tool} {_short(str(about), 40)}".strip() + f" ({outcome})"


def _short(text: str, limit: int = 200) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= limit else one_line[: limit - 1] + "…"
