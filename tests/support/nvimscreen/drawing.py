"""A screen of text as a picture."""

from html import escape

CHARACTER, LINE, MARGIN, BAR = 7.2, 16.0, 14.0, 30.0


def drawn(screen: str, *, title: str) -> str:
    rows = screen.split("\n")
    width = max(map(len, rows)) * CHARACTER + 2 * MARGIN
    height = len(rows) * LINE + BAR + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" font-size="12"'
        ' font-family="DejaVu Sans Mono, monospace">',
        f'<rect width="{width:g}" height="{height:g}" fill="#0d1117"/>',
        f'<text x="{width / 2:g}" y="20" fill="#8b949e" text-anchor="middle">{escape(title)}</text>',
    ]
    for at, row in enumerate(rows):
        if row.strip():
            size = f'textLength="{len(row) * CHARACTER:g}"'
            y = BAR + (at + 0.75) * LINE
            out.append(
                f'<text x="{MARGIN:g}" y="{y:g}" xml:space="preserve" {size} fill="#c9d1d9">{escape(row)}</text>'
            )
    return "\n".join([*out, "</svg>"]) + "\n"
