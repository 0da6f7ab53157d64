"""HTML to Markdown, for reading: headings, paragraphs, lists, links, code, tables and quotes; the rest as plain text.

One pass with the standard library's tolerant parser; no tree is built, so deep nesting costs nothing. Markup that no
browser would show (scripts, styles, templates) is dropped. Knows nothing of the network.
"""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_HIDDEN = frozenset((
    "script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas", "select", "button",
))  # fmt: skip
_BLOCKS = frozenset((
    "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption", "address",
    "details", "summary", "dl", "dt", "dd", "form", "fieldset", "table", "tr", "ul", "ol", "li", "blockquote",
    "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "body",
))  # fmt: skip
_VOID = frozenset((
    "br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr",
))  # fmt: skip
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}


def to_markdown(html: str, *, base_url: str = "") -> str:
    """The readable part of a page. A title comes first, as a heading."""
    converter = _Converter(base_url)
    converter.feed(html)
    converter.close()
    return converter.finished()


class _Converter(HTMLParser):
    def __init__(self, base_url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base_url
        self._out: list[str] = []
        self._hidden: list[str] = []  # open elements that are not shown, innermost last
        self._in_title = False
        self._title = ""
        self._pre = 0
        self._quotes = 0
        self._lists: list[int | None] = []  # of each open list: the next number, or None for bullets
        self._links: list[tuple[str, int]] = []  # where each open link goes, and where its text begins
        self._row: list[str] | None = None
        self._rows = 0  # of the open table, so far
        self._cell_at = 0

    def finished(self) -> str:
        while self._links:
            self._close_link()
        text = "".join(self._out)
        text = re.sub(r"[ \t]+\n", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text).strip()
        title = " ".join(self._title.split())
        if title and not text.startswith("# "):
            return f"# {title}\n\n{text}".strip()
        return text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and self._hidden == ["head"]:
            self._hidden.clear()  # a head that was never closed
        if tag == "title":
            self._in_title = not self._title and self._hidden in ([], ["head"])
            return
        if tag in _HIDDEN and not (tag == "head" and self._hidden):
            self._hidden.append(tag)
        if self._hidden:
            return
        attributes = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self._break(tag)
        if tag in _MARKS and not self._pre:
            self._out.append(_MARKS[tag])
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._out.append("#" * int(tag[1]) + " ")
            case "br":
                self._out.append("\n" + self._indent())
            case "hr":
                self._out.append("---\n\n")
            case "pre":
                self._pre += 1
                self._out.append("```\n")
            case "code" | "kbd" | "samp" if not self._pre:
                self._out.append("`")
            case "ul":
                self._lists.append(None)
            case "ol":
                start = attributes.get("start", "1")
                self._lists.append(int(start) if start.isdecimal() and len(start) < 9 else 1)
            case "li":
                self._out.append(self._bullet())
            case "blockquote":
                self._quotes += 1
                self._out.append("> ")
            case "a":
                self._links.append((attributes.get("href", ""), len(self._out)))
            case "img":
                if alt := " ".join(attributes.get("alt", "").split()):
                    self._out.append(f"![{alt}]({urljoin(self._base, attributes.get('src', ''))[:300]})")
            case "table":
                self._rows = 0
            case "tr":
                self._row = []
            case "td" | "th":
                self._cell_at = len(self._out)
            case _:
                pass

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
            return
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
            return
        if tag in _MARKS and not self._pre:
            self._out.append(_MARKS[tag])
        match tag:
            case "pre" if self._pre:
                self._pre -= 1
                self._out.append("\n```\n\n")
            case "code" | "kbd" | "samp" if not self._pre:
                self._out.append("`")
            case "ul" | "ol" if self._lists:
                self._lists.pop()
                self._out.append("\n" if self._lists else "\n\n")
            case "blockquote" if self._quotes:
                self._quotes -= 1
                self._out.append("\n\n")
            case "a" if self._links:
                self._close_link()
            case "td" | "th" if self._row is not None:
                cell = " ".join("".join(self._out[self._cell_at :]).split()).replace("|", "\\|")
                del self._out[self._cell_at :]
                self._row.append(cell)
            case "tr" if self._row is not None:
                self._close_row(self._row)
                self._row = None
            case "table" | "p" | "div" | "section" | "article" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dl":
                self._out.append("\n\n")
            case _:
                pass

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title += data
        if self._hidden or self._in_title:
            return
        if self._pre:
            self._out.append(data)
            return
        text = re.sub(r"\s+", " ", data)
        if text == " " and (not self._out or self._out[-1].endswith(("\n", " "))):
            return
        if self._out and self._out[-1].endswith(("\n", " ", "\n" + self._indent())):
            text = text.lstrip(" ")
        self._out.append(text)

    def _break(self, tag: str) -> None:
        """Begin a block on a line of its own."""
        if self._row is not None:  # inside a table cell everything is one line
            self._out.append(" ")
        elif not self._out or self._out[-1].endswith(("- ", ". ", "> ")):
            return
        elif tag in ("li", "dt", "dd", "tr", "ul", "ol"):
            self._out.append("\n" if not self._out[-1].endswith("\n") else "")
        else:
            self._out.append("\n\n" + self._indent())

    def _indent(self) -> str:
        return "> " * self._quotes + "  " * (len(self._lists) - 1)

    def _bullet(self) -> str:
        indent = self._indent()
        if not self._lists or self._lists[-1] is None:
            return f"{indent}- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _close_link(self) -> None:
        href, start = self._links.pop()
        text = " ".join("".join(self._out[start:]).split())
        del self._out[start:]
        if not text:
            return
        try:
            target = urljoin(self._base, href)
        except ValueError:
            target = ""
        plain = not href or href.startswith(("#", "javascript:", "data:")) or len(target) > 500 or not target
        self._out.append(text if plain else f"[{text}]({target})")

    def _close_row(self, cells: list[str]) -> None:
        if not cells:
            return
        self._out.append(f"| {' | '.join(cells)} |\n")
        if self._rows == 0:
            self._out.append(f"|{' --- |' * len(cells)}\n")
        self._rows += 1
