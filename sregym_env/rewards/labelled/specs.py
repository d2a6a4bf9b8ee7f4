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
"""The application of every diagnosis, as it is published."""

Pair = tuple[str, str]
"""(fault, target)."""


@lru_cache(maxsize=1)
def specs() -> Mapping[Pair, FaultSpec]:
    """The ground truth of every pair, in the order of the declarations."""
    rows = json.loads(files(__package__).joinpath("data", "specs.json").read_text("utf-8"))
    return MappingProxyType({(row["spec"]["fault"], row["target"]): FaultSpec(**row["spec"]) for row in rows})


def frozen(pairs: Iterable[tuple[str, FaultSpec]]) -> str:
    """The file's text for targets and their specs: a pair a line, so that a change shows as what it is."""
    rows = [json.dumps({"target": target, "spec": spec.model_dump(mode="json")}) for target, spec in pairs]
    return "[\n" + ",\n".join(rows) + "\n]\n"
