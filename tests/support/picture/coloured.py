"""Neovim's screen with its colours: what the user interface protocol draws, kept cell by cell and painted."""

from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from nvimscreen import Screen

Colour = tuple[int, int, int]
FONTS = ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")
SIZE = 15


@dataclass(frozen=True, slots=True)
class Style:
    foreground: Colour
    background: Colour
    bold: bool


class ColouredScreen(Screen):
    """Beside the text of each cell, the number of its highlighting; what the numbers mean comes with the events."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self.numbers = [[0] * columns for _ in range(rows)]
        self.meanings: dict[int, dict[str, Any]] = {0: {}}
        self.usual: tuple[int, int] = (0xFFFFFF, 0)
        self.cursor = (0, 0)

    def apply(self, events: list[Any]) -> None:
        for name, *calls in events:
            for call in calls:
                match name:
                    case "default_colors_set":
                        self.usual = (call[0], call[1])
                    case "hl_attr_define":
                        self.meanings[call[0]] = call[1]
                    case "grid_cursor_goto":
                        self.cursor = (call[1], call[2])
                    case "grid_resize":
                        self.numbers = [[0] * call[1] for _ in range(call[2])]
                    case "grid_clear":
                        self.numbers = [[0] * len(row) for row in self.numbers]
                    case "grid_line":
                        self._number(*call[1:4])
                    case "grid_scroll":
                        self._move(*call[1:6])
                    case _:
                        pass
                super().apply([[name, call]])

    def painted(self) -> Image.Image:
        plain, bold = (ImageFont.truetype(name, SIZE) for name in FONTS)
        width, height = round(plain.getlength("M" * 100)) / 100, SIZE + 5
        rows = self.grids[1]
        picture = Image.new("RGB", (round(len(rows[0]) * width), len(rows) * height), _rgb(self.usual[1]))
        draw = ImageDraw.Draw(picture)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                style = self._style(self.numbers[row][column], at_cursor=(row, column) == self.cursor)
                left, top = column * width, row * height
                draw.rectangle((left, top, left + width, top + height), fill=style.background)
                if text.strip():
                    draw.text((left, top + 1), text, font=bold if style.bold else plain, fill=style.foreground)
        return picture

    def _number(self, row: int, column: int, cells: list[Any]) -> None:
        number = 0
        for cell in cells:
            number = cell[1] if len(cell) > 1 else number  # a cell without one is like the one before it
            for _ in range(cell[2] if len(cell) > 2 else 1):
                self.numbers[row][column] = number
                column += 1

    def _move(self, top: int, bottom: int, left: int, right: int, rows: int) -> None:
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self.numbers[row][left:right] = self.numbers[row + rows][left:right]

    def _style(self, number: int, *, at_cursor: bool) -> Style:
        means = self.meanings.get(number, {})
        colours = _rgb(means.get("foreground", self.usual[0])), _rgb(means.get("background", self.usual[1]))
        turned = bool(means.get("reverse")) != at_cursor
        front, back = reversed(colours) if turned else colours
        return Style(front, back, bool(means.get("bold")))


def _rgb(number: int) -> Colour:
    return number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF
