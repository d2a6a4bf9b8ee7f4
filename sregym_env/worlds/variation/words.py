"""Names that teams give to what they add: of the application and of the team, never of a component alone.

The name of a component with a word behind it is kept for what happens to that component.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

T = TypeVar("T")

TEAMS = ("atlas", "backend", "booking", "core", "delta", "edge", "growth", "harbor", "inventory", "journeys", "kestrel",
         "lodestar", "marketplace", "merlin", "nova", "orders", "osprey", "platform", "product", "puffin", "quartz",
         "reservations", "runtime", "shared-services", "sirius", "storefront", "tango", "travel", "vega",
         "web-platform")  # fmt: skip

HEX = "0123456789abcdef"
SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
"""What generated names end in."""


def team(chance: Chance, namespace: str) -> str:
    """The team that looks after a namespace."""
    return chance.at("team", namespace).choice("name", TEAMS)


def text(chance: Chance, name: str, length: int, letters: str = HEX) -> str:
    """Random letters, ten for every draw."""
    found: list[str] = []
    for part in range(0, length, 10):
        left = chance.bits(f"{name}.{part}")
        for _ in range(10):
            left, letter = divmod(left, len(letters))
            found.append(letters[letter])
    return "".join(found[:length])


def named(kind: str, name: str, namespace: str = "", version: str = "v1", **more: object) -> Manifest:
    """An object with nothing but a name; ``more`` are its further fields."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def few(chance: Chance, name: str, items: Sequence[T], count: int) -> list[T]:
    """``count`` different items of a short list, in one draw."""
    left = list(items)
    bits = chance.bits(name) if count else 0
    found: list[T] = []
    for _ in range(min(count, len(left))):
        bits, index = divmod(bits, len(left))
        found.append(left.pop(index))
    return found


def some(chance: Chance, name: str, items: Sequence[str], mean: float) -> list[str]:
    """Some of the items, ``mean`` of them on average."""
    return few(chance, name, items, chance.poisson(f"{name}.count", mean))
