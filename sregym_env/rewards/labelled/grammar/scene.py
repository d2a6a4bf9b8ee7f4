"""A fault on a target as those who tell of it see it: names and values, by the slots of the wordings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.cluster.app import App, Component
from sregym_env.faults.spec import FaultSpec
from sregym_env.runtime.streams import keyed_bits

_LOCAL_TO = re.compile(r"local to node ([\w-]+)")
_DIGITS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes the random ends of names of."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One fault, its application, and what can be said about them."""

    spec: FaultSpec
    app: App

    @property
    def component(self) -> Component:
        """Where it lies, or the first of several."""
        return self.app.by_name[self.spec.components[0]]

    @property
    def caller(self) -> str:
        """Who misses it first."""
        return self.spec.affected[0] if self.spec.affected else "the load generator"

    @property
    def names(self) -> Mapping[str, str]:
        """Names and values that may be set in quotation marks or code; empty where this fault has none."""
        spec = self.spec
        return {
            "obj": spec.resource_name,
            "wrong": spec.wrong,
            "right": spec.right,
            "key": spec.field,
            "ns": spec.namespace,
            "env": spec.field.removeprefix("env "),
            "secret": spec.wrong.removeprefix("secretKeyRef "),
            "sa": spec.wrong,
            "node": _selected(spec) or spec.resource_name,
            "vnode": _found(_LOCAL_TO, spec.cause),
            "pvc": self.component.volume,
            "db": self.component.database,
            "user": "admin" if "admin" in spec.aliases else "",
            "fqdn": f"{self.component.name}.{spec.namespace}.svc.cluster.local",
            "label": _label(spec),
            "stranger": spec.aliases[-1] if spec.aliases else "",
            "path": spec.wrong.partition(":")[0],
            "ip": spec.wrong.partition(" ")[0],
            "host": spec.wrong.partition(" ")[2],
        }

    @property
    def numbers(self) -> Mapping[str, str]:
        """What stands as it is: ports, a pod's name, lists."""
        spec = self.spec
        nodes = [spec.resource_name, *(name for name in spec.aliases if name.startswith("sre-"))]
        return {
            "port": str(self.component.port),
            "pport": spec.wrong.partition(":")[2],
            "pod": self.pod,
            "container": self.component.container,
            "caller": self.caller,
            "comps": joined(spec.components),
            "nodes": joined(tuple(dict.fromkeys(nodes))),
            "none": "<none>",
        }

    @property
    def pod(self) -> str:
        """A pod's name as its ReplicaSet would make it."""
        name = self.component.name
        return f"{name}-{_suffix(name, 'set', 10)}-{_suffix(name, 'pod', 5)}"

    def moved(self, other: str) -> Scene:
        """The same fault as if another component had it."""
        name = re.compile(rf"(?<![\w]){re.escape(self.component.name)}(?![\w])")
        told = {
            key: name.sub(other, value)
            if isinstance(value, str)
            else [name.sub(other, each) for each in value]
            for key, value in self.spec.model_dump(exclude={"fault", "mechanism", "journeys"}).items()
        }
        there = {**told, "fault": self.spec.fault, "mechanism": self.spec.mechanism}
        return Scene(FaultSpec.model_validate(there | {"affected": self.app.affected(other)}), self.app)


def joined(names: tuple[str, ...], conjunction: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} {conjunction} {last}" if most else last


def _selected(spec: FaultSpec) -> str:
    """The host that a node selector asks for."""
    return json.loads(spec.wrong)["kubernetes.io/hostname"] if spec.field == "nodeSelector" else ""


def _label(spec: FaultSpec) -> str:
    """What a Service's selector asks for beyond what it should."""
    if spec.field != "selector":
        return ""
    right = json.loads(spec.right)
    return ",".join(
        f"{key}={value}" for key, value in json.loads(spec.wrong).items() if right.get(key) != value
    )


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _suffix(name: str, what: str, length: int) -> str:
    bits = keyed_bits("labelled pods", name, what)
    return "".join(_DIGITS[bits // len(_DIGITS) ** place % len(_DIGITS)] for place in range(length))
