"""Write the fault specs that the labelled diagnoses are about. A test holds the file current."""

from __future__ import annotations

from pathlib import Path

from sregym_env.envs.tasks.pairs import inventory_of, pairs
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.rewards.labelled.specs import APP_NAME, frozen

FILE = Path(__file__).parents[1] / "sregym_env" / "rewards" / "labelled" / "data" / "specs.json"


def text() -> str:
    """The specs of every pair of the published application."""
    inventory = inventory_of(APP_NAME)
    if isinstance(inventory, AppError):
        raise inventory
    struck = [problem.faults[0] for problem in pairs(app=APP_NAME)]
    return frozen(
        (each.target, declaration(each.fault).bind(inventory, each.target, {}).spec) for each in struck
    )


if __name__ == "__main__":
    FILE.write_text(text())
