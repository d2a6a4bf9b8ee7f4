"""The shapes of Kubernetes data: plain JSON trees that nobody mutates once they are stored."""

from __future__ import annotations

from typing import Any

Json = Any
"""Any JSON value: dict, list, str, int, float, bool or None."""

Manifest = dict[str, Any]
"""A Kubernetes object as a JSON object. Treat it as frozen: build a changed one by path copy."""
