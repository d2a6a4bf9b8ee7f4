"""Who asks the API."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """An API identity: a name and its groups, as authentication would find them."""

    name: str
    groups: tuple[str, ...] = ("system:authenticated",)


ADMIN = User("kubernetes-admin", ("system:masters", "system:authenticated"))
"""The identity of the environment itself; RBAC allows it everything."""
