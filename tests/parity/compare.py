"""Comparing in processes of their own: one job is some cases of one state."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.parity.harness import Case, Outcome, sides
from tests.parity.states import state

PIECE = 120
"""Cases per job."""


@dataclass(frozen=True)
class Compared:
    """One case on both sides."""

    case: Case
    real: Outcome
    ours: Outcome


@dataclass(frozen=True)
class Job:
    """Some cases of a state."""

    state: str
    cases: tuple[Case, ...]


def jobs_of(name: str, cases: Sequence[Case]) -> list[Job]:
    """The jobs of one state."""
    return [Job(name, tuple(cases[at : at + PIECE])) for at in range(0, len(cases), PIECE)]


def run_job(job: Job) -> list[Compared]:
    """Both outcomes of each case."""
    chosen = state(job.state)
    with sides(chosen.make(), chosen.files, **chosen.how) as both:
        return [Compared(case, *both.compare(case)) for case in job.cases]


def run_all(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, list[Compared]]]:
    """Every job with what came of it, in order."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from zip(jobs, pool.map(run_job, jobs), strict=True)


def version_of(binary: Path) -> str:
    """``v1.32.4``."""
    done = subprocess.run([str(binary), "version", "--client", "-o", "json"], capture_output=True, check=True)
    return str(json.loads(done.stdout)["clientVersion"]["gitVersion"])
