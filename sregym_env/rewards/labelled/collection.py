"""The whole set, in its two parts.

Whoever makes a judge looks at :func:`development` alone; :func:`held_out` is for the report (``sregym judge-eval``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.grammar.generate import generated
from sregym_env.rewards.labelled.specs import specs
from sregym_env.rewards.labelled.written import written


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
