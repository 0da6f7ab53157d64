"""`benchmarks/RESULTS.md`: the last whole run as a page. What a person wrote below its mark is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.aims import AIMS, Row
from benchmarks.growth import Curve, draw

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "RESULTS.md", HERE / "growth.svg"
MARK = "<!-- written by hand from here on -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    machine: str
    commit: str
    date: str
    parts: dict[str, list[Row]]
    curves: Sequence[Curve]
    peers: Sequence[str]  # lines of a table


def write(run: Run) -> None:
    PICTURE.write_text(draw(run.curves), encoding="utf-8")
    kept = PAGE.read_text(encoding="utf-8").partition(MARK)[2] if PAGE.exists() else "\n"
    PAGE.write_text("\n".join(_page(run)) + f"\n\n{MARK}{kept}", encoding="utf-8")


def _page(run: Run) -> list[str]:
    lines = [
        "# The last whole run of `make bench`",
        "",
        f"{run.date}, commit {run.commit}; {run.machine}. Ours and the floor (the bare library doing only that step) "
        "alternate in one run on default settings; medians. Ratios count, absolute times depend on the machine.",
    ]
    for part, rows in run.parts.items():
        lines += ["", f"## {part}", "", "| | ours | floor | unit | ratio | aim |", "|---|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
    lines += ["", "## Growth", "", f"![four curves]({PICTURE.name})", ""]
    for curve in run.curves:
        lines.append(
            f"- {curve.title}: " + ", ".join(f"{at:g}: {value:.2f}" for at, value in curve.points) + f" {curve.unit}"
        )
    if run.peers:
        lines += [
            "",
            "## Beside other agents",
            "",
            "One interleaved run on the same endpoint (`benchmarks/peers.py`).",
            "",
        ]
        lines += run.peers
    return lines


def _line(row: Row) -> str:
    aim = AIMS.get(row["name"])
    verdict = "" if aim is None else f"{aim} {'met' if aim.met(row) else '**missed**'}"
    ratio = row.get("ratio")
    cells = (row["name"].strip(), _number(row["ours"]), _number(row.get("floor")), row.get("unit", ""))
    return f"| {' | '.join(cells)} | {f'{ratio:.2f}×' if isinstance(ratio, float | int) else '—'} | {verdict} |"


def _number(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else "—" if value is None else f"{value:,}"
