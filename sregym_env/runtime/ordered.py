"""Documents in an order that does not depend on who wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def in_order(value: Any) -> Any:
    """JSON with the keys of all mappings in order: equal documents are written alike."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value, key=str)}
    return [in_order(each) for each in value] if isinstance(value, list) else value
