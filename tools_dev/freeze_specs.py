"""Write the fault specs that the labelled diagnoses are about. A test holds the files current."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sregym_env.envs.tasks.pairs import inventory_of, pairs
from sregym_env.errors import AppError
from sregym_env.faults.problems import FaultChoice
from sregym_env.faults.registry import declaration
from sregym_env.rewards.labelled.specs import APP_NAME, APPS, file_of, frozen

DATA = Path(__file__).parents[1] / "sregym_env" / "rewards" / "labelled" / "data"


UNSPOKEN = frozenset(
    (
        "kubelet_does_not_run",
        "node_clock_drift",
        "node_disk_filled_by_neighbour",
        "node_pids_taken_by_neighbour",
    )
)
"""Faults of which no labelled text speaks: of these there is one machine, whose wrong places cannot be told by moving it."""


def texts() -> Mapping[Path, str]:
    """Every file and its text: all pairs of one application, of the others each fault on a middle one of its targets.

    What strikes a whole namespace lies in no component of its own, of which labelled texts could speak.
    """
    return {DATA / file_of(app): _text(app) for app in APPS}


def _text(app: str) -> str:
    inventory = inventory_of(app)
    if isinstance(inventory, AppError):
        raise inventory
    by_fault: dict[str, list[FaultChoice]] = {}
    for problem in pairs(app=app):
        if problem.faults[0].target in inventory.app.namespaces or problem.faults[0].fault in UNSPOKEN:
            continue
        by_fault.setdefault(problem.faults[0].fault, []).append(problem.faults[0])
    struck = [
        each
        for choices in by_fault.values()
        for each in (choices if app == APP_NAME else [choices[len(choices) // 2]])
    ]
    return frozen(
        (each.target, declaration(each.fault).bind(inventory, each.target, {}).spec) for each in struck
    )


if __name__ == "__main__":
    for file, text in texts().items():
        file.write_text(text)
