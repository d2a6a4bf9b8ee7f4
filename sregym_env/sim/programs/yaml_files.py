"""YAML files that servers read at their start."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

from sregym_env.kube import yamlin


@lru_cache(maxsize=64)
def document(text: str) -> Any:
    """What a file says; nobody may change it. Raises ValueError with the parser's first line, from its error.

    Whoever may write such a file may write anything: the reader bounds how deeply it is nested and how far aliases go.
    """
    try:
        return yamlin.load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from error


def under(found: Any, *keys: str) -> Any:
    """What stands under nested keys; None where there is nothing."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
