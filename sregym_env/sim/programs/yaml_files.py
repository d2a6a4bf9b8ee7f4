"""YAML files that servers read at their start."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml


@lru_cache(maxsize=64)
def document(text: str) -> Any:
    """What a file says; nobody may change it. Raises ValueError with the parser's first line."""
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from None


def under(found: Any, *keys: str) -> Any:
    """What stands under nested keys; None where there is nothing."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
