"""Which split an episode belongs to: decided by the families of its faults, never by the episode.

The same splits as those of what is played (:mod:`sregym_env.envs.tasks.splits`, by family): nothing is drawn, and
nobody can train on what others test on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sregym_env.envs.tasks.splits import SPLITS as OF_TASKS
from sregym_env.envs.tasks.splits import split_of_family
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.rollouts.record import Labels

MIXED: Final = "mixed"
"""Problems with families of several splits, or with none: they belong into none of the others."""

SPLITS: Final = (*OF_TASKS, MIXED)


def families(labels: Labels) -> tuple[str, ...]:
    """The families of an episode's faults, in alphabetical order; none where nothing is wrong."""
    return tuple(sorted({MECHANISMS[str(spec["mechanism"])].family for spec in labels.specs}))


def split_of(families: Iterable[str]) -> str:
    """The split of a problem with these families."""
    found: set[str] = {split_of_family(family) for family in families}
    return found.pop() if len(found) == 1 else MIXED
