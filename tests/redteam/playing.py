"""Playing a pair against the oracle: a fork of the injected world, typed commands, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sregym_env.cluster.api import World
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts.validate import Subject
from sregym_env.tools.workstation import Workstation

APP = "hotel-reservation"
NAMESPACE = "hotel-reservation"


@lru_cache(maxsize=64)
def subject(fault: str, target: str, app: str = APP) -> Subject:
    """A pair with its symptoms showing."""
    # What is typed against it knows the published names.
    played = problems.pair(app, fault, target, {}).model_copy(update={"variation": False})
    return Subject(played, seed=5)


def typed(world: World, commands: Sequence[str]) -> list[str]:
    """Type commands as the agent; the answers of those that failed."""
    workstation = Workstation(world, ONCALL)
    complaints = []
    for command in commands:
        outcome = workstation.run(command)
        if outcome.exit_code:
            complaints.append(f"{command[:90]!r}: {outcome.text.strip()[:200]}")
    return complaints


def tried(fault: str, target: str, commands: Sequence[str]) -> tuple[Verdict, list[str]]:
    """The oracle's verdict after the commands, and what failed on the way."""
    pair = subject(fault, target)
    world = pair.world()
    complaints = typed(world, commands)
    return pair.judge(world), complaints


def why(verdict: Verdict) -> str:
    """The failed checks in words."""
    return "; ".join(f"{check.name}: {check.observed}" for check in verdict.failed)
