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
from dataclasses import asdict, replace
from pathlib import Path

from sregym_env.rollouts.bench.calibration import REFERENCE_MS, timed_loop

from .corpus import corpus
from .playing import Cost, played

LIMIT = 1.0
"""Seconds of the processor that an action may take by itself."""
LIMIT_ALL = 5.0
"""The same with everything that it sets running until it returns."""
QUANTILES = (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))


def _measured(index: int, patience: float) -> list[Cost]:
    """The costs of one attempt, in seconds of the reference machine."""
    slowness = max(1.0, timed_loop() / REFERENCE_MS)
    return [
        replace(cost, seconds=cost.seconds / slowness, own=cost.own / slowness)
        for cost in played(corpus()[index], patience * slowness)
    ]


def _attempt(index: int, patience: float) -> list[Cost]:
    """The same; what is over a limit is played once more, and the lesser counts: a core that is shared stalls."""
    found = _measured(index, patience)
    if not any(map(_over, found)):
        return found
    return [
        min(pair, key=lambda cost: (_over(cost), cost.seconds))
        for pair in zip(found, _measured(index, patience), strict=False)
    ]


def _over(cost: Cost) -> bool:
    """Whether an action cost more than it may, did not end, or voided its episode."""
    return cost.own > LIMIT or cost.seconds > LIMIT_ALL or cost.exit_reason in ("infra", "endless")


def measured(indices: list[int], jobs: int, patience: float) -> Iterable[Cost]:
    """All costs, in the order of the corpus."""
    if jobs < 2:
        for index in indices:
            yield from _attempt(index, patience)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for costs in pool.map(_attempt, indices, [patience] * len(indices), chunksize=8):
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
        "--patience", type=float, default=10.0, help="seconds after which an action is stopped"
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
    print(
        f"{len(chosen)} attempts, {len(costs)} actions, {sum(cost.seconds for cost in costs):.0f} s of the processor"
    )
    for name, limit, seconds in (
        ("by itself", LIMIT, sorted(cost.own for cost in costs)),
        ("with all it sets running", LIMIT_ALL, sorted(cost.seconds for cost in costs)),
    ):
        quantiles = ", ".join(f"{label} {share(seconds, q):.3f}" for label, q in QUANTILES)
        print(f"seconds per action {name}: {quantiles}; above {limit:g} s: {sum(s > limit for s in seconds)}")
    bad = [cost for cost in costs if _over(cost)]
    for cost in sorted(bad, key=lambda cost: -cost.seconds):
        print(
            f"{cost.own:7.2f} s of {cost.seconds:.2f} s {cost.exit_reason or '-':8} "
            f"{cost.attempt}#{cost.action} {cost.failure}"
        )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
