"""Comparing in processes of their own: one job is some cases of one state."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.parity.corpus.files import FILES
from tests.parity.harness import Case, Outcome, sides
from tests.parity.recording import Recording
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
    """Some cases of a state, and how its world is to look."""

    state: str
    digest: str
    cases: tuple[Case, ...]


def jobs_of(name: str, words: Sequence[str]) -> list[Job]:
    """The jobs of one state: its lines that contain all of ``words``."""
    chosen = state(name)
    world = chosen.make()
    cases = [case for case in chosen.cases(world) if all(word in str(case) for word in words)]
    digest = world.digest()
    return [Job(name, digest, tuple(cases[at : at + PIECE])) for at in range(0, len(cases), PIECE)]


def run_job(job: Job) -> list[Compared]:
    """Both outcomes of each case."""
    with sides(state(job.state).make(), FILES) as both:
        return [Compared(case, *both.compare(case)) for case in job.cases]


def run_all(
    names: Sequence[str], words: Sequence[str], processes: int
) -> Iterator[tuple[Job, list[Compared]]]:
    """Every job with what came of it, in order."""
    jobs = [job for name in names for job in jobs_of(name, words)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from zip(jobs, pool.map(run_job, jobs), strict=True)


def recording_of(done: Sequence[tuple[Job, list[Compared]]], kubectl: str) -> Recording:
    """What the real kubectl printed in all the jobs of one state."""
    outcomes = [(each.case, each.real) for _, compared in done for each in compared]
    return Recording(done[0][0].state, kubectl, done[0][0].digest, outcomes)


def version_of(binary: Path) -> str:
    """``v1.32.4``."""
    done = subprocess.run([str(binary), "version", "--client", "-o", "json"], capture_output=True, check=True)
    return str(json.loads(done.stdout)["clientVersion"]["gitVersion"])
