"""Sets of fields, in the form in which the API speaks of them (``FieldsV1``).

A set is a tree of path elements: ``f:NAME`` a field, ``k:{...}`` an item of a list by its keys, ``v:VALUE``
an item of a set. A node without children is a member; a node with children is one too when it has the
child ``.``. The root is no member and is empty for the empty set. Sets are values: no function changes one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from sregym_env.kube.status import go_literal
from sregym_env.kube.types import Json

Fields: TypeAlias = "dict[str, Fields]"
"""A set of fields."""

SELF = "."
LEAF: Fields = {}
"""The node of a member without children (and the empty set)."""


# --- elements -------------------------------------------------------------------------------------


def field(name: str) -> str:
    """The element of a field."""
    return "f:" + name


def keyed(keys: tuple[tuple[str, Json], ...]) -> str:
    """The element of a list item with these keys."""
    return "k:" + _compact(dict(sorted(keys)))


def valued(value: Json) -> str:
    """The element of an item of a set."""
    return "v:" + _compact(value)


def _compact(value: Json) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if "<" in text or ">" in text or "&" in text:
        # Go's encoder keeps its output safe inside HTML.
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text


def path(*names: str) -> Fields:
    """The set of one path of field names."""
    tree: Fields = LEAF
    for name in reversed(names):
        tree = {field(name): tree}
    return tree


def from_paths(*paths: tuple[str, ...]) -> Fields:
    """The set of some paths of field names."""
    found: Fields = {}
    for names in paths:
        found = union(found, path(*names))
    return found


# --- algebra --------------------------------------------------------------------------------------


def union(a: Fields, b: Fields) -> Fields:
    """Everything in either set."""
    if not b or a is b:
        return a
    if not a:
        return b
    out = dict(a)
    for element, theirs in b.items():
        ours = out.get(element)
        out[element] = theirs if ours is None else _joined(ours, theirs)
    return out


def _joined(a: Fields, b: Fields) -> Fields:
    """The union of two nodes, where a node without children is a member."""
    if a is b:
        return a
    if not a:
        return b if not b or SELF in b else {SELF: LEAF, **b}
    if not b:
        return a if SELF in a else {SELF: LEAF, **a}
    return union(a, b)


def difference(a: Fields, b: Fields) -> Fields:
    """Everything in the first set that is not in the second."""
    if not a or not b:
        return a
    if a is b:
        return LEAF
    out: Fields = {}
    for element, ours in a.items():
        theirs = b.get(element)
        left = ours if theirs is None else _without(ours, theirs)
        if left is not None:
            out[element] = left
    return out


def _without(a: Fields, b: Fields) -> Fields | None:
    """One node less another; None where nothing is left."""
    member = (not a or SELF in a) and not (not b or SELF in b)
    return _packed(member, difference(_children(a), _children(b)))


def intersection(a: Fields, b: Fields) -> Fields:
    """Everything in both sets."""
    if a is b:
        return a
    out: Fields = {}
    for element, ours in a.items():
        theirs = b.get(element)
        if theirs is None or element == SELF:
            continue
        member = (not ours or SELF in ours) and (not theirs or SELF in theirs)
        both = _packed(member, intersection(_children(ours), _children(theirs)))
        if both is not None:
            out[element] = both
    return out


def outside(a: Fields, roots: Fields) -> Fields:
    """The members of ``a`` that are neither members of ``roots`` nor lie below one."""
    if not roots:
        return a
    out: Fields = {}
    for element, ours in a.items():
        theirs = roots.get(element)
        if theirs is None:
            out[element] = ours
        elif theirs and SELF not in theirs:
            left = _packed(not ours or SELF in ours, outside(_children(ours), theirs))
            if left is not None:
                out[element] = left
    return out


def _children(node: Fields) -> Fields:
    return {element: child for element, child in node.items() if element != SELF} if SELF in node else node


def _packed(member: bool, children: Fields) -> Fields | None:
    if not children:
        return LEAF if member else None
    return {SELF: LEAF, **children} if member else children


def is_member(node: Fields | None) -> bool:
    """Whether a node found below the root stands for a member."""
    return node is not None and (not node or SELF in node)


def has(fields: Fields, *elements: str) -> bool:
    """Whether a path of elements is a member."""
    node: Fields | None = fields
    for element in elements:
        node = None if node is None else node.get(element)
    return is_member(node)


# --- order and text -------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def order(element: str) -> tuple[Any, ...]:
    """Sort key of an element: itself, fields by name, items by keys, items by value."""
    kind, _, rest = element.partition(":")
    if element == SELF:
        return (0,)
    if kind == "f":
        return (1, rest)
    try:
        value = json.loads(rest)
    except ValueError:
        return (4, rest)
    if kind == "k" and isinstance(value, dict):
        return (2, tuple((name, *_rank(value[name])) for name in sorted(value)))
    return (3, *_rank(value))


def _rank(value: Json) -> tuple[int, str | float]:
    if isinstance(value, bool):
        return (3, float(value))
    if isinstance(value, int | float):
        return (1, float(value))
    return (2, str(value))


def canonical(fields: Fields) -> Fields:
    """The same set with its elements in the order in which the API server writes them."""
    return {element: canonical(fields[element]) for element in sorted(fields, key=order)}


def paths(fields: Fields, above: str = "") -> Iterator[str]:
    """Its members as texts (``.spec.containers[name="web"].image``): on each level members come first."""
    ordered = [element for element in sorted(fields, key=order) if element != SELF]
    for element in ordered:
        if is_member(fields[element]):
            yield above + text(element)
    for element in ordered:
        if fields[element]:
            yield from paths(fields[element], above + text(element))


@lru_cache(maxsize=4096)
def text(element: str) -> str:
    """An element as a step of a path: ``.name``, ``[name="web"]``, ``[="a"]``."""
    kind, _, rest = element.partition(":")
    if kind == "f":
        return "." + rest
    if kind == "i":
        return f"[{rest}]"
    value = json.loads(rest)
    if kind == "k":
        return "[" + ",".join(f"{name}={go_literal(value[name])}" for name in sorted(value)) + "]"
    return f"[={go_literal(value)}]"


def is_fields(value: Json) -> bool:
    """Whether a JSON tree is a well-formed set."""
    if not isinstance(value, dict):
        return False
    for element, child in value.items():
        if element == SELF:
            if child != {}:
                return False
            continue
        kind, colon, rest = element.partition(":")
        if not colon or kind not in ("f", "k", "v", "i") or not is_fields(child):
            return False
        if kind in ("k", "v") and not _is_json(rest, dict if kind == "k" else object):
            return False
    return True


def _is_json(text: str, type_: type) -> bool:
    try:
        return isinstance(json.loads(text), type_)
    except ValueError:
        return False
