"""All functions that an expression may call: the language's own and what Kubernetes adds to it."""

from __future__ import annotations

from functools import lru_cache

from sregym_env.kube.cel import kubernetes, standard, strings, times
from sregym_env.kube.cel.overloads import Overloads


@lru_cache(maxsize=1)
def library() -> Overloads:
    """The table of all functions, put together when first needed and never changed afterwards."""
    table = Overloads()
    for module in (standard, strings, times, kubernetes):
        module.register(table)
    return table
