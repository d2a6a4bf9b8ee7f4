"""Two checkouts compared in one run: the probes of this one on the code of either, in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import sregym_env
from sregym_env.errors import SREGymError, UsageError
from sregym_env.rollouts.bench import measurable
from sregym_env.rollouts.bench.promises import Comparison

HERE = Path(sregym_env.__file__).parents[1]
"""The folder that holds this package."""

ROUNDS = 5
"""Rounds by default: that all of one lie above all of the other happens by chance once in 126 times."""


def compare(other: Path, *, rounds: int = ROUNDS, only: str = "") -> list[Comparison]:
    """The promises of :func:`measurable` that are quantities, in both checkouts.

    Every round has a process for each checkout; which goes first changes from round to round. Where one cannot
    be measured, the comparison says why. Raises UsageError for a folder that is no checkout.
    """
    if not (other / "sregym_env" / "__init__.py").is_file():
        raise UsageError(f"{other} is no checkout to compare with: it has no sregym_env/__init__.py")
    chosen = [promise for promise in measurable(only) if promise.unit]
    names = list(dict.fromkeys(promise.name for promise in chosen))
    here: list[list[float | str]] = []
    there: list[list[float | str]] = []
    for number in range(rounds):
        turns = [(HERE, here), (other.resolve(), there)]
        for root, found in turns if number % 2 else reversed(turns):
            found.append(_values(root, names))
    return [
        Comparison(promise, _numbers(a), _numbers(b), next((v for v in (*a, *b) if isinstance(v, str)), ""))
        for promise, a, b in zip(chosen, zip(*here, strict=True), zip(*there, strict=True), strict=True)
    ]


def _numbers(values: Sequence[float | str]) -> tuple[float, ...]:
    return tuple(value for value in values if not isinstance(value, str))


def _values(root: Path, names: Sequence[str]) -> list[float | str]:
    """The calibrated value of every promise of those names, or why there is none, for the package below a folder."""
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("elsewhere.py")), *names],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SREGymError(f"nothing can be measured in {root}: {done.stderr.strip()[-2000:]}")
    values: list[float | str] = []
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        found = json.loads(line)
        values += found.get("values") or [found["error"]] * sum(p.name == name for p in measurable(name))
    return values
