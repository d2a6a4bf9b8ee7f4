"""Merging a configuration over an object by its type, and taking fields out of an object."""

from __future__ import annotations

from sregym_env.kube.ownership.compare import element_of, elements
from sregym_env.kube.ownership.fields import LEAF, SELF, Fields, field, is_member
from sregym_env.kube.ownership.shape import UNTYPED, Shape, resolved
from sregym_env.kube.types import Json, Manifest


def merge(shape: Shape, live: Manifest, config: Manifest) -> Manifest:
    """The live object with everything that the configuration says."""
    merged: Manifest = _merged(shape, live, config)
    return merged


def _merged(shape: Shape, live: Json, config: Json) -> Json:
    if resolved(shape, config).leaf or resolved(shape, live).leaf or not live:
        return config
    if config is None:
        return live
    if isinstance(live, dict) and isinstance(config, dict):
        out = dict(live)
        for name, value in config.items():
            if name in live:
                out[name] = _merged(shape.child(name) or UNTYPED, live[name], value)
            else:
                out[name] = value
        return out
    if isinstance(live, list) and isinstance(config, list):
        return _merged_list(shape, live, config) if config else live
    return config


def _merged_list(shape: Shape, live: list[Json], config: list[Json]) -> list[Json]:
    """Items of both. Shared ones stand in the order of the configuration; what only the live list has keeps
    its place relative to the shared items around it, and what only the configuration has follows them."""
    item_shape = shape.item or UNTYPED
    wanted = {element_of(shape, item): item for item in config}
    known = elements(shape, live)
    shared = [element for element in wanted if element in known]
    left = [(element_of(shape, item), item) for item in live]
    right = list(wanted)
    out: list[Json] = []
    done: set[str] = set()
    i = j = position = 0

    def take() -> None:
        nonlocal j, position
        element = right[j]
        same = known.get(element, [])
        out.append(_merged(item_shape, same[0], wanted[element]) if len(same) == 1 else wanted[element])
        done.add(element)
        j += 1
        if position < len(shared) and shared[position] == element:
            position += 1

    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right):
            if left[i][0] == right[j]:
                take()
                i += 1
                continue
            due = shared[position] if position < len(shared) else None
            if left[i][0] in wanted and due is not None and due != left[i][0]:
                i += 1
                continue
        if i < len(left):
            element, item = left[i]
            if element not in wanted:
                out.append(item)
                i += 1
                continue
            if element in done:
                i += 1
        if j < len(right):
            take()
    return out


def remove(shape: Shape, obj: Manifest, unwanted: Fields) -> Manifest:
    """The object without some fields; containers that lose everything go with them."""
    if not unwanted:
        return obj
    left = _removed(shape, obj, unwanted)
    return left if isinstance(left, dict) else {}


def _removed(shape: Shape, value: Json, unwanted: Fields) -> Json:
    shape = resolved(shape, value)
    if shape.leaf or not value:
        return value
    if isinstance(value, dict):
        return _removed_from_map(shape, value, unwanted)
    return _removed_from_list(shape, value, unwanted) if isinstance(value, list) else value


def _removed_from_map(shape: Shape, value: Manifest, unwanted: Fields) -> Json:
    out = {}
    for name, child in value.items():
        node = unwanted.get(field(name))
        if node is None:
            out[name] = child
        elif not is_member(node):
            left = _removed(shape.child(name) or UNTYPED, child, node)
            if left is not None:
                out[name] = left
    return out or None


def _removed_from_list(shape: Shape, value: list[Json], unwanted: Fields) -> Json:
    item_shape = shape.item or UNTYPED
    out = []
    for item in value:
        try:
            node = unwanted.get(element_of(shape, item))
        except ValueError:
            node = None
        if node is None:
            out.append(item)
        elif not is_member(node):
            left = _removed(item_shape, item, node)
            if left is not None:
                out.append(left)
    return out or None


def with_containers(shape: Shape, fields: Fields) -> Fields:
    """The set in which the declared fields that lead to members are members themselves."""
    out: Fields = {}
    for element, node in fields.items():
        if element == SELF or not node:
            out[element] = node
            continue
        kind, _, name = element.partition(":")
        child = shape.child(name) if kind == "f" else shape.item
        below = with_containers(child or UNTYPED, node)
        if kind == "f" and name in shape.names and SELF not in below:
            below = {SELF: LEAF, **below}
        out[element] = below
    return out
