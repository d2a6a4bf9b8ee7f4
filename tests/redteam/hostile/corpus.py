"""All attempts, in a fixed order."""

from __future__ import annotations

from functools import cache

from . import clusters, mixtures, shells, texts
from .attempt import Attempt


@cache
def corpus() -> tuple[Attempt, ...]:
    """Every attempt there is."""
    return (*shells.corpus(), *texts.corpus(), *clusters.corpus(), *mixtures.corpus())
