"""The table of manifests.yaml: one entry per built-in resource that can be created."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sregym_env.kube.registry import BUILTIN, Resource
from sregym_env.kube.types import Manifest

NAMESPACE = "conformance"


@dataclass(frozen=True)
class Refusal:
    """A change of the rich object that the API server refuses."""

    merge: Manifest
    message: str


@dataclass(frozen=True)
class Entry:
    """What is known of one resource."""

    resource: Resource
    name: str
    minimal: Manifest
    rich: Manifest
    change: Manifest
    refused: tuple[Refusal, ...]

    @property
    def namespace(self) -> str | None:
        """Where its objects live."""
        return NAMESPACE if self.resource.namespaced else None

    def manifest(self, body: Manifest) -> Manifest:
        """A whole object with this body."""
        metadata: Manifest = {"name": self.name, **(body.get("metadata") or {})}
        if self.namespace:
            metadata["namespace"] = self.namespace
        kind = self.resource
        return {"apiVersion": kind.api_version, "kind": kind.kind, **body, "metadata": metadata}


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry, in the order of the file."""
    return tuple(
        _entry(read) for read in yaml.safe_load(Path(__file__).with_name("manifests.yaml").read_text())
    )


def _entry(read: dict[str, Any]) -> Entry:
    resource = next(found for found in BUILTIN.resources if found.key == read["resource"])
    refused = tuple(Refusal(one["merge"], one["message"]) for one in read["refused"] if "skip" not in one)
    name = read.get("name", "made")
    return Entry(resource, name, read["minimal"], read["rich"], read["change"], refused)
