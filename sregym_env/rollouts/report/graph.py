"""The picture of an application's call graph: components in layers, callers left of what they call.

What all others need in the background (a registry, a tracer) would draw an arrow from everywhere; it stands on a shelf
below, without arrows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sregym_env.cluster.app import App, Component, Dependency

NODE_HEIGHT: Final = 36
ROW: Final = 46
"""Distance of two components of one layer, top to top."""
GAP: Final = 36
"""Between layers, for the arrows."""
LETTER: Final = 7.3
"""Width of a letter of a name in the widest of the usual fonts."""
MARGIN: Final = 34
"""Of a component's width, what is not its name: the mark before it, and air."""
NARROWEST: Final = 112
"""What the line below the name needs."""
SHARED: Final = 3
"""So many components must need one in the background for it to stand on the shelf."""
SWEEPS: Final = 12


def drawn(app: App) -> dict[str, Any]:
    """Where every component and arrow of an application is drawn, in pixels of the picture; plain JSON."""
    shelf = shared(app.components)
    shown = [component for component in app.components if component.name not in shelf]
    arrows = [
        (component.name, dependency.on, "request" if _asked(dependency) else "start")
        for component in shown
        for dependency in component.dependencies
        if dependency.on not in shelf
    ]
    callees = {component.name: [to for of, to, _ in arrows if of == component.name] for component in shown}
    layers = ordered(layered(callees), callees)
    places = _places(layers, callees)
    nodes: list[dict[str, Any]] = []
    left = 0
    for column in layers:
        width = max(map(node_width, column))
        nodes += [_node(name, left, places[name], width) for name in column]
        left += width + GAP
    whole = max(left - GAP, NARROWEST)
    top = max((node["y"] for node in nodes), default=-ROW) + ROW + 12
    nodes += _shelved([each.name for each in app.components if each.name in shelf], top, whole)
    return {
        "nodes": nodes,
        "arrows": [list(arrow) for arrow in arrows],
        "node_height": NODE_HEIGHT,
        "width": max(node["x"] + node["width"] for node in nodes),
        "height": max(node["y"] for node in nodes) + NODE_HEIGHT,
        "shelf": top - 12 if shelf else None,
    }


def node_width(name: str) -> int:
    """What a component of this name needs."""
    return max(NARROWEST, round(len(name) * LETTER) + MARGIN)


def _node(name: str, left: float, top: float, width: int) -> dict[str, Any]:
    return {"name": name, "x": left, "y": round(top, 1), "width": width}


def _shelved(names: Sequence[str], top: float, whole: float) -> list[dict[str, Any]]:
    """Side by side, in as many rows as they need."""
    nodes = []
    left = 0
    for name in names:
        width = node_width(name)
        if left and left + width > whole:
            left, top = 0, top + ROW
        nodes.append(_node(name, left, top, width))
        left += width + GAP
    return nodes


def _asked(dependency: Dependency) -> bool:
    """Whether users' requests go there."""
    return "request" in dependency.at and dependency.essential


def shared(components: Sequence[Component]) -> frozenset[str]:
    """What many need, and none to answer a request."""
    needs: dict[str, list[Dependency]] = {}
    for component in components:
        for dependency in component.dependencies:
            needs.setdefault(dependency.on, []).append(dependency)
    return frozenset(
        name for name, listed in needs.items() if len(listed) >= SHARED and not any(map(_asked, listed))
    )


def layered(callees: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Every component right of all its callers: by the longest way from where nobody calls. Cycles are cut."""
    depth: dict[str, int] = {}
    callers: dict[str, list[str]] = {name: [] for name in callees}
    for name, called in callees.items():
        for callee in called:
            callers[callee].append(name)

    def level(name: str, above: frozenset[str]) -> int:
        if name not in depth:
            upper = [caller for caller in callers[name] if caller not in above]
            depth[name] = max((level(caller, above | {name}) + 1 for caller in upper), default=0)
        return depth[name]

    for name in callees:
        level(name, frozenset({name}))
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in callees:
        layers[depth[name]].append(name)
    return layers


def ordered(layers: list[list[str]], callees: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Each layer sorted so that few arrows cross: again and again by the middle of its neighbours' places."""
    neighbours: dict[str, set[str]] = {name: set(called) for name, called in callees.items()}
    for name, called in callees.items():
        for callee in called:
            neighbours[callee].add(name)
    layers = [sorted(layer) for layer in layers]
    best, fewest = layers, _crossings(layers, callees)
    for sweep in range(SWEEPS):
        walk = range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1)
        layers = [list(layer) for layer in layers]
        for index in walk:
            place = {name: at / max(1, len(layer)) for layer in layers for at, name in enumerate(layer)}
            side = index - 1 if sweep % 2 == 0 else index + 1
            known = set(layers[side]) if 0 <= side < len(layers) else set()
            wanted = {name: _middle(neighbours[name] & known, place, place[name]) for name in layers[index]}
            layers[index] = [name for _, name in sorted((at, name) for name, at in wanted.items())]
        crossings = _crossings(layers, callees)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _middle(names: set[str], place: Mapping[str, float], own: float) -> float:
    return sum(place[name] for name in sorted(names)) / len(names) if names else own


def _crossings(layers: Sequence[Sequence[str]], callees: Mapping[str, Sequence[str]]) -> int:
    """How many pairs of arrows between the same two layers cross."""
    at = {name: (column, row) for column, layer in enumerate(layers) for row, name in enumerate(layer)}
    arrows = [(at[name], at[callee]) for name, called in callees.items() for callee in called]
    return sum(
        1
        for index, (start, end) in enumerate(arrows)
        for other, other_end in arrows[index + 1 :]
        if start[0] == other[0] and end[0] == other_end[0]
        if (start[1] - other[1]) * (end[1] - other_end[1]) < 0
    )


def _places(layers: Sequence[Sequence[str]], callees: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The top of every component: near the middle of what it calls, without touching its neighbours."""
    tallest = max((len(layer) for layer in layers), default=0)
    tops = {
        name: (row + (tallest - len(layer)) / 2) * ROW for layer in layers for row, name in enumerate(layer)
    }
    for layer in reversed(layers):
        wanted = []
        for name in layer:
            called = [tops[callee] for callee in callees[name]]
            wanted.append(sum(called) / len(called) if called else tops[name])
        tops.update(_spread(wanted, layer, (tallest - 1) * ROW))
    return tops


def _spread(wanted: Sequence[float], names: Sequence[str], bottom: float) -> dict[str, float]:
    """Tops in the given order, at least a row apart, between 0 and ``bottom``, near what is wanted."""
    tops: list[float] = []
    for top in wanted:
        tops.append(max(top, tops[-1] + ROW if tops else 0.0))
    limit = bottom
    for index in range(len(tops) - 1, -1, -1):
        tops[index] = min(tops[index], limit)
        limit = tops[index] - ROW
    return dict(zip(names, tops, strict=True))
