"""The fault specs of every declared fault on its first targets, as the judge is given them."""

from __future__ import annotations

from functools import lru_cache

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.pairs import pairs
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.sim.bringup.deploy import deployed_world

APP: App = apps.app("hotel-reservation")


@lru_cache(maxsize=1)
def inventory() -> Inventory:
    """What can be struck."""
    return Inventory.of(deployed_world(APP, 0))


@lru_cache(maxsize=512)
def spec(fault: str, target: str = "") -> FaultSpec:
    """The ground truth of one pair."""
    return declaration(fault).bind(inventory(), target, {}).spec


@lru_cache(maxsize=1)
def one_of_each() -> tuple[FaultSpec, ...]:
    """Every fault on a middle one of its targets."""
    targets: dict[str, list[str]] = {}
    for problem in pairs(app=APP.name):
        targets.setdefault(problem.faults[0].fault, []).append(problem.faults[0].target)
    return tuple(spec(fault, names[len(names) // 2]) for fault, names in targets.items())


def graded(text: str, truth: FaultSpec) -> Grade:
    """The judge's answer."""
    return SpecJudge().grade(text, [truth], APP)


def told(grade: Grade) -> str:
    """The score and what was answered with no."""
    no = [f"{answer.id} ({answer.evidence})" for answer in grade.answers if not answer.yes]
    return f"{grade.score} {'; '.join(no)}"
