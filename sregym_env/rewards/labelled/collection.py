"""The whole set, in its two parts.

Whoever makes a judge looks at :func:`development` alone; :func:`held_out` is for the report (``sregym judge-eval``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.grammar.generate import generated
from sregym_env.rewards.labelled.specs import specs


def development() -> tuple[Diagnosis, ...]:
    """What may be looked at."""
    return _parts()[0]


def held_out() -> tuple[Diagnosis, ...]:
    """What is for reports: a judge that was made with it has been measured with nothing."""
    return _parts()[1]


def fingerprint(diagnoses: Sequence[Diagnosis]) -> str:
    """Twelve digits that are the same for the same texts, labels and truths, to stand beside figures."""
    digest = blake2b(digest_size=6)
    for each in diagnoses:
        truths = [specs(each.app)[pair].model_dump_json() for pair in each.pairs]
        digest.update(json.dumps([each.id, each.label, each.text, *truths]).encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _parts() -> tuple[tuple[Diagnosis, ...], tuple[Diagnosis, ...]]:
    everything = (*generated(), *written())
    ids = Counter(each.id for each in everything)
    if twice := [id for id, count in ids.items() if count > 1]:
        raise ValueError(f"labelled diagnoses: the id {twice[0]} stands twice")
    dev = tuple(each for each in everything if each.part == "dev")
    return dev, tuple(each for each in everything if each.part == "held-out")


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
