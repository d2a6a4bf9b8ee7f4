"""The diagnoses that were written one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.specs import specs


@lru_cache(maxsize=1)
def written() -> tuple[Diagnosis, ...]:
    """Those that were written one by one. Raises ValueError for a line that is no labelled diagnosis."""
    folder = files(__package__).joinpath("data")
    found = sorted((file for file in folder.iterdir() if _is_written(file.name)), key=lambda file: file.name)
    return tuple(each for file in found for each in _read(file))


def _is_written(name: str) -> bool:
    return name.startswith("written_") and name.endswith(".jsonl")


def _read(file: Traversable) -> Iterator[Diagnosis]:
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            each = Diagnosis(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file.name}, line {number}: {error}") from None
        if unknown := [pair for pair in each.pairs if pair not in specs(each.app)]:
            raise ValueError(f"{file.name}, line {number}: there is no {' on '.join(unknown[0])}")
        yield each
