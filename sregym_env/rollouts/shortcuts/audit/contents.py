"""What an object is made of beside others of its kind: what it has and most lack, lacks and most have, has otherwise than most.

Nothing here knows what a field means. Who learns from these words alone which objects are at fault has found what the makers of
worlds do to some objects and not to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sregym_env.kube.types import Manifest

HAS, LACKS, ODD = "has ", "lacks ", "odd "
"""How a word begins; a path follows."""

SELDOM, OFTEN = 0.4, 0.6
"""Share of a kind's objects up to which having a field says something, and from which lacking it does."""

_LABELS: Final = "/metadata/labels/"
_UNREAD: Final = ("kubectl.kubernetes.io/last-applied-configuration",)
"""Annotations that repeat the object."""


def contents(objects: Sequence[Manifest]) -> list[frozenset[str]]:
    """The words of every object: ``has``, ``lacks`` and ``odd`` with the path of what is written in it.

    An object's own name counts as the same in all of them, so that ``geo-1.2.0`` is like ``rate-1.2.0``. Elements of a list are all
    one path. A value is usual where more than half of the kind's objects have it.
    """
    written = [frozenset(_leaves(obj)) for obj in objects]
    paths = [frozenset(path for path, _ in leaves) for leaves in written]
    kinds: dict[str, list[int]] = {}
    for number, obj in enumerate(objects):
        kinds.setdefault(obj["kind"], []).append(number)
    found: list[frozenset[str]] = [frozenset()] * len(objects)
    for numbers in kinds.values():
        count = len(numbers)
        having = Counter(path for number in numbers for path in paths[number])
        usual = dict(
            leaf
            for leaf, times in Counter(leaf for number in numbers for leaf in written[number]).items()
            if 2 * times > count
        )
        common = {path for path, times in having.items() if times >= OFTEN * count}
        for number in numbers:
            own = paths[number]
            words = {HAS + path for path in own if having[path] <= SELDOM * count}
            words |= {LACKS + path for path in common - own}
            words |= {ODD + path for path, value in written[number] if usual.get(path, value) != value}
            found[number] = frozenset(words)
    return found


def odd(words: frozenset[str]) -> tuple[int, int]:
    """How many labels, and how many other values, are otherwise than in most objects of the kind."""
    labels = sum(word.startswith(ODD + _LABELS) for word in words)
    return labels, sum(word.startswith(ODD) for word in words) - labels


def _leaves(obj: Manifest) -> Iterator[tuple[str, str]]:
    """(path, value) of every label and annotation, and of every value that is no other metadata and no status."""
    metadata = obj["metadata"]
    notes = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _UNREAD}
    kept = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    name = metadata["name"]
    stack: list[tuple[str, Any]] = [("", kept)]
    for field, known in (("labels", metadata.get("labels") or {}), ("annotations", notes)):
        stack += [(f"/metadata/{field}/{key}", value) for key, value in known.items()]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(f"{path}/{key}", each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            stack += [(f"{path}/*", each) for each in value]
        else:
            yield path.replace(f"/{name}", "/"), str(value).replace(name, "")
