"""The README's picture: the demo, run on a real terminal and drawn as it looks there.

    PYTHONPATH=tests/support python -m terminal.picture docs/demo.svg      (`make picture`)

A test runs the same and compares, so the picture is what one sees.
"""

import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pyte

from terminal.typescript import Typescript

COLUMNS = 100
CHARACTER, LINE, MARGIN, BAR = 8.4, 19.0, 18.0, 40.0
ROWS = 400  # more than the demo prints
STYLES = {
    "brightblack": 'fill="#8b949e"',
    "red": 'fill="#ff7b72"',
    "green": 'fill="#7ee787"',
    "brown": 'fill="#e3b341"',  # what terminals call yellow
    "blue": 'fill="#79c0ff"',
    "cyan": 'fill="#76e3ea"',
}
BOLD = 'fill="#ffffff" font-weight="bold"'
PLAIN = 'fill="#c9d1d9"'


def demo(home: Path) -> str:
    """What a person sees of `make demo` who answers yes twice and leaves."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    env = {**kept, "HOME": str(home), "TMPDIR": str(home)}
    argv = [sys.executable, "-I", "-m", "assent.cli.main", "demo"]
    with Typescript(argv, env=env, cwd=home, columns=COLUMNS) as run:
        for _ in range(2):
            run.expect("[n] no")  # "allow?" alone is also drawn again when the question before is answered
            run.expect("allow?")
            run.type("y")
        run.expect("✓ completed")
        run.expect("❯")
        run.type("\x04")
        run.process.wait(timeout=120)
    return tidied(run.raw)


def tidied(raw: str) -> str:
    """Without what differs from run to run: the scratch folder, the session, the time, the count of tokens."""
    before, completed, after = raw.partition("✓ completed")
    text = before + completed + after.partition("\n")[0]  # up to the prompt at which the person leaves
    text = re.sub(r"/\S*/assent-demo-\w+", "/tmp/greeter", text)
    text = re.sub(r"session s\w+", "session s7k2m9q4x1ab", text)
    text = re.sub(r"in \d+\.\d+s", "in 0.000s", text)
    return re.sub(r"[\d,]+ tokens", "40,000 tokens", text)


def drawn(text: str, *, title: str) -> str:
    lines = list(_lines(text))
    width = COLUMNS * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + BAR + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-size="14"'
        " font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">",
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{20 + 20 * at}" cy="20" r="6" fill="{fill}"/>' for at, fill in enumerate(_LIGHTS)),
        f'<text x="{width / 2:g}" y="25" fill="#8b949e" text-anchor="middle">{escape(title)}</text>',
    ]
    for row, line in enumerate(lines):
        column = 0
        for style, words in line:
            if words.strip():
                x, y = MARGIN + column * CHARACTER, BAR + (row + 0.75) * LINE
                size = f'textLength="{len(words) * CHARACTER:g}"'
                out.append(f'<text x="{x:g}" y="{y:g}" xml:space="preserve" {size} {style}>{escape(words)}</text>')
            column += len(words)
    return "\n".join([*out, "</svg>"]) + "\n"


_LIGHTS = ("#ff5f57", "#febc2e", "#28c840")


def _lines(text: str) -> Iterator[list[tuple[str, str]]]:
    """What a terminal would show, line by line, as runs of a style; the terminal's emulator knows no dim text."""
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(text.replace("\x1b[2m", "\x1b[90m"))
    last = max(row for row, line in enumerate(screen.display) if line.strip())
    for row in range(last + 1):
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        runs = itertools.groupby(cells, key=lambda cell: BOLD if cell.bold else STYLES.get(cell.fg, PLAIN))
        yield [(style, "".join(cell.data for cell in group)) for style, group in runs]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        Path(sys.argv[1]).write_text(drawn(demo(Path(scratch)), title="make demo"), encoding="utf-8")
