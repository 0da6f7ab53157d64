"""Someone else's words where there is one line for them."""


def one_line(text: str, *, most: int | None = None) -> str:
    """Without line ends and without characters that are not seen or turn the reading order around; cut to `most`."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"
