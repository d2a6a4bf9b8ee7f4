"""What went wrong inside an episode: whose fault it is, and what of it can go to another process."""

from __future__ import annotations

from sregym_env.errors import ClusterError
from sregym_env.rewards.judge import JudgeError


class Travelled(RuntimeError):
    """What is left of a failure in another process: its kind and its text."""


def portable(failure: BaseException | None) -> BaseException | None:
    """A failure without what belongs to this process: where it was raised, and locks or handles that it holds."""
    for kind in (JudgeError, ClusterError, Travelled):
        if isinstance(failure, kind):
            return kind(str(failure))
    return None if failure is None else Travelled(f"{type(failure).__name__}: {failure}")


def attributed(failure: BaseException | None) -> tuple[str, str] | None:
    """Whose fault a failure is, and what it says."""
    if failure is None:
        return None
    kind = (
        "judge"
        if isinstance(failure, JudgeError)
        else "world"
        if isinstance(failure, ClusterError)
        else "ours"
    )
    travelled = isinstance(failure, Travelled)
    return kind, str(failure) if travelled else f"{type(failure).__name__}: {failure}"
