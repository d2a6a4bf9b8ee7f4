"""Answers for people: indented JSON with the fields in the order in which the API server writes them."""

from __future__ import annotations

import json
from typing import Any

from sregym_env.kube import goorder
from sregym_env.kube.types import Manifest
from sregym_env.serve.message import Request

_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
"""How the User-Agents begin whose users read with their own eyes: the API server indents for them."""

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
"""What Go's ``strconv.ParseBool`` takes for true."""


def wanted(request: Request) -> bool:
    """Whether the client asks for indents, or is one whose users like them."""
    asked = request.first("pretty")
    return asked in _TRUE if asked else request.header("user-agent").startswith(_PEOPLE)


def indented(body: bytes) -> bytes:
    """A JSON document, laid out."""
    document = json.loads(body)
    if isinstance(document, dict):
        document = _in_order(document)
    return json.dumps(document, indent=2, ensure_ascii=False).encode(errors="replace")


def _in_order(document: Manifest) -> Manifest:
    items = document.get("items")
    if not isinstance(items, list):
        return goorder.in_go_order(document)
    kind = {
        "kind": str(document.get("kind")).removesuffix("List"),
        "apiVersion": document.get("apiVersion"),
    }
    return {**document, "items": [_item(item, kind) for item in items]}


def _item(item: Any, kind: Manifest) -> Any:
    """An item of a list, which does not say of what kind it is."""
    if not isinstance(item, dict) or "kind" in item:
        return item
    ordered = goorder.in_go_order({**kind, **item})
    return {key: value for key, value in ordered.items() if key in item}
