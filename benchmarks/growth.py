"""How cost grows with size, as four curves: steps of a turn, live sessions, a transcript, pending hunks."""

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.bench_editor import keystrokes
from benchmarks.bench_sessions import attach_ms, write_transcript
from benchmarks.endpoint import Endpoint
from benchmarks.peer import SERVE, Peer
from benchmarks.processes import pss_mb

STEPS = 1000
AROUND = 10  # steps on either side whose median is the time of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    title: str
    unit: str
    points: tuple[tuple[float, float], ...]


def measure() -> tuple[Curve, ...]:
    endpoint = Endpoint()
    try:
        return (
            Curve(title="a step with a Read, by its number in the turn", unit="ms", points=_steps(endpoint)),
            Curve(title="memory (PSS), by live sessions", unit="MB", points=_sessions(endpoint)),
            Curve(title="attach, by MB of transcript", unit="ms", points=_attach()),
            Curve(title="taking a key in, by pending hunks", unit="µs", points=_hunks()),
        )
    finally:
        endpoint.close()


def _steps(endpoint: Endpoint) -> tuple[tuple[float, float], ...]:
    peer = Peer(SERVE, endpoint.env)
    Path(peer.home, "a.txt").write_text("line a\n" * 40)
    try:
        session = peer.ready(rate=0)
        peer.settle()
        endpoint.times()
        peer.turn(session, f"plan read {STEPS + AROUND}")
        between = [1000 * (after["arrived"] - one["ended"]) for one, after in pairwise(endpoint.times())]
    finally:
        peer.kill()
    return tuple(
        (at, statistics.median(between[max(0, at - AROUND) : at + AROUND])) for at in (10, 50, 100, 250, 500, STEPS)
    )


def _sessions(endpoint: Endpoint) -> tuple[tuple[float, float], ...]:
    peer = Peer(SERVE, endpoint.env)
    Path(peer.home, "a.txt").write_text("line a\n" * 40)
    try:
        points: list[tuple[float, float]] = []
        peer.turn(peer.ready(rate=0), "plan read 1")
        live = 1
        for wanted in (1, 4, 16, 64):
            while live < wanted:
                peer.turn(peer.request("assent/session/new", {})["sessionId"], "plan read 1")
                live += 1
            peer.settle()
            points.append((wanted, pss_mb(peer.process.pid)))
    finally:
        peer.kill()
    return tuple(points)


def _attach() -> tuple[tuple[float, float], ...]:
    with tempfile.TemporaryDirectory() as folder:
        points: list[tuple[float, float]] = []
        for megabytes in (1, 10, 30, 100):
            path = Path(folder, f"{megabytes}.jsonl")
            write_transcript(path, megabytes * 1024 * 1024)
            points.append((megabytes, attach_ms(path)))
            path.unlink()
    return tuple(points)


def _hunks() -> tuple[tuple[float, float], ...]:
    return tuple(
        (hunks, statistics.median(keystrokes(hunks=hunks, listening=True)[0]) * 1e6) for hunks in (1, 10, 30, 100)
    )


# --- the picture ----------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, GAP = 400, 220, 62, 44, 24


def draw(curves: Sequence[Curve]) -> str:
    """Two panels a row; both axes begin at zero, so that a straight line is linear growth."""
    rows = (len(curves) + 1) // 2
    panels = "".join(
        _panel(curve, (at % 2) * (WIDTH + GAP), (at // 2) * (HEIGHT + GAP)) for at, curve in enumerate(curves)
    )
    width, height = 2 * WIDTH + GAP, rows * (HEIGHT + GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>{panels}</svg>\n'
    )


def _panel(curve: Curve, x: int, y: int) -> str:
    wide, high = WIDTH - LEFT - 12, HEIGHT - TOP - 30
    most_x = max(at for at, _ in curve.points)
    most_y = max(value for _, value in curve.points) or 1.0

    def spot(at: float, value: float) -> tuple[float, float]:
        return round(LEFT + wide * at / most_x, 1), round(TOP + high * (1 - value / most_y), 1)

    line = " ".join(f"{px},{py}" for px, py in (spot(*point) for point in curve.points))
    marks = "".join(
        f'<circle cx="{px}" cy="{py}" r="3" fill="#0a5"><title>{at:g}: {value:.2f} {curve.unit}</title></circle>'
        for (at, value), (px, py) in ((point, spot(*point)) for point in curve.points)
    )
    names = "".join(
        f'<text x="{spot(at, 0)[0]}" y="{TOP + high + 18}" text-anchor="middle">{at:g}</text>'
        for at, _ in curve.points
        if at == most_x or at * 6 > most_x
    )
    return (
        f'<g transform="translate({x},{y})"><text x="{LEFT}" y="24" font-weight="bold">{curve.title}</text>'
        f'<path d="M{LEFT},{TOP} V{TOP + high} H{LEFT + wide}" fill="none" stroke="#888"/>'
        f'<text x="{LEFT - 6}" y="{TOP + 5}" text-anchor="end">{most_y:.3g} {curve.unit}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + high}" text-anchor="end">0</text>{names}'
        f'<polyline points="{line}" fill="none" stroke="#0a5" stroke-width="2"/>{marks}</g>'
    )
