"""The fault specs of every declared fault on a target of every application, as the judge is given them."""

from __future__ import annotations

from functools import lru_cache

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world

APP: App = apps.app("hotel-reservation")


@lru_cache(maxsize=8)
def inventory(app: str) -> Inventory:
    """What can be struck."""
    return Inventory.of(deployed_world(apps.app(app), 0))


@lru_cache(maxsize=512)
def spec(fault: str, target: str = "", app: str = APP.name) -> FaultSpec:
    """The ground truth of one pair."""
    return declaration(fault).bind(inventory(app), target, {}).spec


@lru_cache(maxsize=8)
def one_of_each(app: str = "") -> tuple[FaultSpec, ...]:
    """Every fault on a middle one of its targets in an application, or in every one."""
    if not app:
        return tuple(truth for name in apps.names() for truth in one_of_each(name))
    targets: dict[str, list[str]] = {}
    for problem in pairs(app=app):
        targets.setdefault(problem.faults[0].fault, []).append(problem.faults[0].target)
    return tuple(spec(fault, names[len(names) // 2], app) for fault, names in targets.items())


@lru_cache(maxsize=1)
def spread() -> tuple[FaultSpec, ...]:
    """Every fault of every application on a drawn one of its targets.

    The middle target is the same component for most faults of an application: whoever names that one has guessed half of
    them, which tells about the sample and not about the judge.
    """
    found = []
    for name in apps.names():
        targets: dict[str, list[str]] = {}
        for problem in pairs(app=name):
            targets.setdefault(problem.faults[0].fault, []).append(problem.faults[0].target)
        found += [
            spec(fault, Chance(("spread", name, fault)).choice("target", known), name)
            for fault, known in targets.items()
        ]
    return tuple(found)


def app_of(truth: FaultSpec) -> App:
    """The application in which a fault is."""
    return next(app for app in map(apps.app, apps.names()) if truth.namespace in app.namespaces)


def graded(text: str, truth: FaultSpec) -> Grade:
    """The judge's answer."""
    return SpecJudge().grade(text, [truth], app_of(truth))


def told(grade: Grade) -> str:
    """The score and what was answered with no."""
    no = [f"{answer.id} ({answer.evidence})" for answer in grade.answers if not answer.yes]
    return f"{grade.score} {'; '.join(no)}"
