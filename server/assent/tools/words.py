"""Words: counting in them for people (one file, two files), and tables written as plain lists of them."""


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`, `1 match`, `3 matches`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("ch") else f"{number} {noun}s"


def names(text: str) -> tuple[str, ...]:
    """The words of a table."""
    return tuple(text.split())
