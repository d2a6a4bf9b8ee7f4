"""Play the corpus and measure what every action costs: ``python -m tests.redteam.hostile [--family F] [--jobs N]``.

Fails when an action takes more than its second of the processor (five with what it sets running), voids its episode,
or does not end. Seconds are those of the reference machine: a calibration loop says how slow this one is now.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from sregym_env.rollouts.bench.calibration import REFERENCE_MS, timed_loop

from .corpus import corpus
from .playing import Cost, played

LIMIT = 1.0
"""Seconds of the processor that an action may take by itself."""
LIMIT_ALL = 5.0
"""The same with everything that it sets running until it returns."""


def _batch(indices: list[int], patience: float) -> list[Cost]:
    """The costs of some attempts, in seconds of the reference machine."""
    found = []
    attempts = corpus()
    for index in indices:
        slowness = max(1.0, timed_loop() / REFERENCE_MS)
        for cost in played(attempts[index], patience * slowness):
            found.append(Cost(**{**asdict(cost), "seconds": cost.seconds / slowness}))
    return found


def measured(indices: list[int], jobs: int, patience: float) -> Iterable[Cost]:
    """All costs, in the order in which they are found."""
    size = 8
    parts = [indices[at : at + size] for at in range(0, len(indices), size)]
    if jobs < 2:
        for part in parts:
            yield from _batch(part, patience)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for costs in pool.map(_batch, parts, [patience] * len(parts)):
            yield from costs


def share(seconds: list[float], quantile: float) -> float:
    """A quantile of sorted values."""
    return seconds[min(int(len(seconds) * quantile), len(seconds) - 1)]


def main() -> int:
    """Play, print the distribution and what is over the limit; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="", help="only attempts whose id contains this")
    parser.add_argument("--every", type=int, default=1, help="only every n-th attempt")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--patience", type=float, default=20.0, help="seconds after which an action is stopped"
    )
    parser.add_argument("--out", type=Path, help="write every cost as a line of JSON")
    args = parser.parse_args()
    chosen = [at for at, attempt in enumerate(corpus()) if args.family in attempt.id][:: args.every]
    costs: list[Cost] = []
    out = args.out.open("w") if args.out else None
    for cost in measured(chosen, args.jobs, args.patience):
        costs.append(cost)
        if out:
            print(json.dumps(asdict(cost)), file=out, flush=True)
    seconds = sorted(cost.seconds for cost in costs)
    print(f"{len(chosen)} attempts, {len(costs)} actions, {sum(seconds):.0f} s of the processor")
    quantiles = ", ".join(f"{name} {share(seconds, q):.3f}" for name, q in
                          (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)))  # fmt: skip
    print(f"seconds per action: {quantiles}; above {LIMIT:g} s: {sum(s > LIMIT for s in seconds)}")
    bad = [cost for cost in costs if cost.seconds > LIMIT_ALL or cost.exit_reason in ("infra", "endless")]
    for cost in sorted(costs, key=lambda cost: -cost.seconds):
        if cost.seconds > LIMIT or cost in bad:
            print(
                f"{cost.seconds:7.2f} s {cost.exit_reason or '-':8} {cost.attempt}#{cost.action} {cost.failure}"
            )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
