"""Train, validation and test: by fault family or by target, the same for everybody.

Where a problem belongs follows from its fault's family, or from the component that is struck, and from nothing else:
neither from a seed nor from what else is listed, so that no two people split differently and a new fault or
application moves nothing. A problem whose faults belong to different splits belongs to none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, get_args

from sregym_env.envs.tasks.pairs import inventory_of, pairs
from sregym_env.errors import AppError, UsageError
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.problems import FaultChoice, Problem, struck
from sregym_env.faults.registry import declaration

Split = Literal["train", "validation", "test"]
By = Literal["family", "target"]

SPLITS: tuple[Split, ...] = get_args(Split)
WAYS: tuple[By, ...] = get_args(By)

_SHARES: tuple[tuple[Split, int], ...] = (("train", 70), ("validation", 85), ("test", 100))
"""Upper bounds, in percent."""

_SALT = "108"
"""Chosen once so that the families, and the components of Hotel Reservation, fall well apart. Never changed."""


def family(fault: str) -> str:
    """The family of a fault: faults of one family teach each other. Raises ProblemError for an unknown one."""
    return MECHANISMS[declaration(fault).mechanism].family


def split_of(problem: Problem, by: By = "family") -> Split | None:
    """Where a problem belongs; None where its faults belong to different splits, or it has none."""
    _demand("by", by, WAYS)
    keys = {key for choice in problem.faults for key in _keys(problem.app, choice, by)}
    places = {_place(key) for key in keys}
    return places.pop() if len(places) == 1 else None


def split(
    name: Split, *, by: By = "family", problems: Iterable[Problem] | None = None
) -> tuple[Problem, ...]:
    """The problems of a split, of those given or of every pair, in their order.

    Raises UsageError for a split or a way of splitting that there is not.
    """
    _demand("split", name, SPLITS)
    _demand("by", by, WAYS)
    return tuple(each for each in (pairs() if problems is None else problems) if split_of(each, by) == name)


def demand_within(problem: Problem, name: Split, by: By) -> None:
    """Raise UsageError where a problem does not belong to a split."""
    found = split_of(problem, by)
    if found != name:
        where = (
            f"to the {found} split" if found else "to no split, because its faults belong to different ones"
        )
        raise UsageError(
            f"problem {problem.id} belongs {where} by {by}, and this environment plays {name}; choose another "
            "problem, or make an environment of that split"
        )


def _keys(app: str, choice: FaultChoice, by: By) -> tuple[str, ...]:
    if by == "family":
        return (family(choice.fault),)
    part, target = struck(app, choice.target)
    return tuple(f"{part}/{component}" for component in _components(part, choice.fault, target))


@lru_cache(maxsize=4096)
def _components(app: str, fault: str, target: str) -> tuple[str, ...]:
    """The components that a fault on a target strikes: a volume's is the one whose data lie on it."""
    inventory = inventory_of(app)
    if isinstance(inventory, AppError):
        raise inventory
    return tuple(declaration(fault).bind(inventory, target, {}).target.components)


def _place(key: str) -> Split:
    digest = blake2b(f"{_SALT}\x1f{key}".encode(), digest_size=4).digest()
    percent = int.from_bytes(digest, "big") % 100
    return next(name for name, below in _SHARES if percent < below)


def _demand(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"no {what} {value!r}; there are {', '.join(allowed)}")
