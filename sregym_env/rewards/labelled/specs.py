"""The fault specs that the set is about: frozen, so that a change of the code cannot quietly change what a label means.

``tools_dev/freeze_specs.py`` writes the file, and a test holds it current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from sregym_env.faults.spec import FaultSpec

APP_NAME = "hotel-reservation"
"""The application of every diagnosis that names no other, as it is published."""

APPS = (APP_NAME, "social-network", "astronomy-shop")
"""The applications that are written about."""

Pair = tuple[str, str]
"""(fault, target)."""


@lru_cache(maxsize=8)
def specs(app: str = APP_NAME) -> Mapping[Pair, FaultSpec]:
    """The ground truth of every pair of an application, in the order of the declarations; elsewhere than in
    :data:`APP_NAME` of each fault on a middle one of its targets.
    """
    data = files(__package__).joinpath("data", file_of(app))
    rows = json.loads(data.read_text("utf-8")) if data.is_file() else []
    return MappingProxyType({(row["spec"]["fault"], row["target"]): FaultSpec(**row["spec"]) for row in rows})


def file_of(app: str) -> str:
    """The name of the file with an application's specs."""
    return "specs.json" if app == APP_NAME else f"specs_{app}.json"


def frozen(pairs: Iterable[tuple[str, FaultSpec]]) -> str:
    """The file's text for targets and their specs: a pair a line, so that a change shows as what it is."""
    rows = [json.dumps({"target": target, "spec": spec.model_dump(mode="json")}) for target, spec in pairs]
    return "[\n" + ",\n".join(rows) + "\n]\n"
