"""Writing the report of a run."""

from __future__ import annotations

from pathlib import Path

from sregym_env.cli.terminal import console
from sregym_env.rollouts.report import write_report


def report(folder: Path, out: Path, *, episodes: int, truth: bool) -> None:
    """Write it and say where it is. Raises UsageError where there is nothing to report."""
    write_report(folder, out, episodes=episodes, truth=truth)
    console().print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, opens in any browser", markup=False)
