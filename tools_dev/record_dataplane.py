"""Play every scenario of tests/dataplane by the reference simulation and record what came out.

``python tools_dev/record_dataplane.py`` takes half an hour on a quiet machine; ``... verdicts`` or ``... latencies`` does one part.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.dataplane.latencies import networks
from tests.dataplane.reference import Reference
from tests.dataplane.scenarios import RECOVERED, played, scenarios

GOLDEN = Path(__file__).parent.parent / "tests/dataplane/golden"


def verdicts() -> None:
    """The share of calls that succeed in the end, with two seeds, with a third where these disagree."""
    found = {}
    for scenario in scenarios():
        shares = [round(played(scenario, seed), 3) for seed in (1, 2)]
        if (shares[0] >= RECOVERED) != (shares[1] >= RECOVERED):
            shares.append(round(played(scenario, 3), 3))
        found[scenario.name] = shares
        print(scenario.name, shares, flush=True)
    _write("verdicts", found)


def latencies() -> None:
    """Mean, median, 95th and 99th percentile of the calls' durations, seconds; attempts per call."""
    found = {}
    for name, network in networks().items():
        durations, calls, attempts = [], 0, 0
        rate = network.sources[0].rate
        for seed in (1, 2):
            run = Reference(network, seed)
            end = 50.0 + 60_000.0 / rate
            run.run(end)
            durations += run.records["users"].durations(50.0, end)
            calls += len(run.records["users"].began)
            attempts += run.records["users"].attempts
        durations.sort()
        count = len(durations)
        quantiles = [durations[int(count * p)] for p in (0.5, 0.95, 0.99)]
        found[name] = [float(f"{x:.4g}") for x in (sum(durations) / count, *quantiles, attempts / calls)]
        print(name, found[name], flush=True)
    _write("latencies", found)


def _write(name: str, found: dict[str, list[float]]) -> None:
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    (GOLDEN / f"{name}.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["latencies", "verdicts"]:
        {"verdicts": verdicts, "latencies": latencies}[part]()
