"""Which split an episode belongs to: decided by what is wrong (:mod:`sregym_env.envs.tasks.splits`), never by the episode.

A family of faults belongs to the same split in every dataset, so that nobody can train on what others test on.
"""

from __future__ import annotations

from typing import Final

from sregym_env.envs.tasks import splits as tasks
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.problems import parsed
from sregym_env.rollouts.record import Labels

TRAIN, VALIDATION, TEST = tasks.SPLITS

MIXED: Final = "mixed"
"""Problems with families of several splits, and those in which nothing is wrong: they belong into none of them."""

SPLITS: Final = (TRAIN, VALIDATION, TEST, MIXED)

HEALTHY: Final = "healthy"
"""The family of problems in which nothing is wrong."""


def families(labels: Labels) -> tuple[str, ...]:
    """The families of an episode's faults, in alphabetical order."""
    mechanisms = {str(spec["mechanism"]) for spec in labels.specs}
    known = {MECHANISMS[each].family if each in MECHANISMS else each for each in mechanisms}
    return tuple(sorted(known)) or (HEALTHY,)


def split_of(labels: Labels) -> str:
    """The split of an episode. Raises ProblemError for a fault that this version does not know."""
    return tasks.split_of(parsed(labels.problem)) or MIXED
