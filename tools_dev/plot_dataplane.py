"""Draw what docs/dataplane.md shows, as small SVG files: ``python tools_dev/plot_dataplane.py``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import log10
from pathlib import Path

from sregym_env.runtime.clock import seconds
from sregym_env.sim.dataplane.accounting import EdgeTotal
from sregym_env.sim.dataplane.advance import adopt, advance, at, begin
from sregym_env.sim.dataplane.plan import plan_of
from sregym_env.sim.dataplane.reading import Reading
from tests.dataplane.latencies import networks
from tests.dataplane.reference import Reference
from tests.dataplane.scenarios import START, struck

ROOT = Path(__file__).parent.parent
WIDTH, HEIGHT, LEFT, BOTTOM = 560, 260, 60, 40
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37")

Points = Sequence[tuple[float, float]]


def chart(
    name: str, title: str, x: str, lines: dict[str, Points], dots: dict[str, Points], *, log: bool = False
) -> None:
    """One diagram: lines for the model, dots for the reference."""

    def height(value: float) -> float:
        return log10(max(value, 1e-6)) if log else value

    every = [point for points in (*lines.values(), *dots.values()) for point in points]
    left, right = min(point[0] for point in every), max(point[0] for point in every)
    low, high = min(height(point[1]) for point in every), max(height(point[1]) for point in every)

    def place(point: tuple[float, float]) -> str:
        across = LEFT + (point[0] - left) / (right - left) * (WIDTH - LEFT - 20)
        up = HEIGHT - BOTTOM - (height(point[1]) - low) / (high - low) * (HEIGHT - BOTTOM - 40)
        return f"{across:.1f},{up:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{title}</text>',
        f'<path d="M{LEFT} 36V{HEIGHT - BOTTOM}H{WIDTH - 20}" fill="none" stroke="#888"/>',
        f'<text x="{WIDTH - 20}" y="{HEIGHT - 8}" text-anchor="end">{x}</text>',
    ]
    for share in (0.0, 0.5, 1.0):
        value = low + share * (high - low)
        label = f"{10**value:.3g}" if log else f"{value:.3g}"
        parts.append(
            f'<text x="{LEFT - 6}" y="{HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 40):.0f}" text-anchor="end">{label}</text>'
        )
        along = left + share * (right - left)
        parts.append(
            f'<text x="{LEFT + share * (WIDTH - LEFT - 20):.0f}" y="{HEIGHT - BOTTOM + 14}">{along:.3g}</text>'
        )
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number]
        parts.append(
            f'<polyline points="{" ".join(map(place, points))}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
        parts.append(f'<text x="{LEFT + 12}" y="{50 + 14 * number}" fill="{colour}">{label}</text>')
    for number, points in enumerate(dots.values()):
        for point in points:
            across, up = place(point).split(",")
            parts.append(f'<circle cx="{across}" cy="{up}" r="2.5" fill="{COLOURS[number]}"/>')
    (ROOT / f"docs/images/dataplane-{name}.svg").write_text("\n".join([*parts, "</svg>", ""]))


def latency() -> None:
    """Mean and 99th percentile of a chain and under a CPU limit, over utilisation."""
    recorded = json.loads((ROOT / "tests/dataplane/golden/latencies.json").read_text())
    lines: dict[str, list[tuple[float, float]]] = {}
    dots: dict[str, list[tuple[float, float]]] = {}
    shown = networks()
    for kind in ("chain", "limit of 0.1 cores"):
        for name in (name for name in shown if name.startswith(kind)):
            rho = float(name.rpartition(" ")[2])
            network = shown[name]
            law = Reading(network, begin(network, 0, settled=True)).call("users")
            for label, mine, theirs in (("mean", law.mean, 0), ("p99", law.quantile(0.99), 3)):
                lines.setdefault(f"{kind}: {label}", []).append((rho, mine))
                dots.setdefault(f"{kind}: {label}", []).append((rho, recorded[name][theirs]))
    for kind, file in (("chain", "chain"), ("limit of 0.1 cores", "limit")):
        chosen = {name: points for name, points in lines.items() if name.startswith(kind)}
        title = f"Seconds, {kind}: model (lines), reference (dots)"
        chart(file, title, "utilisation", chosen, {name: dots[name] for name in chosen}, log=True)


def storm() -> None:
    """A retry storm after a fall of capacity, and how it ends; and the same by single requests."""
    rate = 36.0
    timeline = struck(rate, 1.0, 3, 0.05, 0.2, 20.0)
    healed = replace(timeline[-1][1], edges=tuple(replace(e, retries=0) for e in timeline[-1][1].edges))
    timeline = (*timeline, (150.0, healed))
    now, state = timeline[0][1], begin(timeline[0][1], 0)
    mine, last = [], 0.0
    for second in range(5, 405, 5):
        for since, network in timeline[1:]:
            if second - 5 <= since < second:
                state, _ = advance(now, state, seconds(since))
                state, now = adopt(at(now, state, seconds(since)), now, network), network
        state, _ = advance(now, state, seconds(second))
        ok = float(
            at(now, state, seconds(second)).edge_totals[EdgeTotal.OK, plan_of(now).edge_index["users"]]
        )
        mine.append((float(second), (ok - last) / 5.0))
        last = ok
    run = Reference(timeline[0][1], 3)
    for since, network in timeline[1:]:
        run.run(since)
        run.change(network)
    run.run(400.0)
    record = run.records["users"]
    theirs = [(float(end), record.good(end - 5, end) / 5.0) for end in range(5, 405, 5)]
    title = (
        f"Good answers per second: capacity 20 % from {START:.0f} to {START + 20:.0f} s, retries off at 150 s"
    )
    chart("storm", title, "seconds", {"model (line), reference (dots)": mine}, {"reference": theirs})


if __name__ == "__main__":
    latency()
    storm()
