"""What the faults that misconfigure a probe have in common."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget
from sregym_env.kube.types import Manifest

PORTS = (8080, 8000, 8888, 9090, 3000, 10080)
"""Ports on which people expect a program's health endpoint."""


def closed_port(target: ComponentTarget) -> int:
    """The likeliest port of a health endpoint on which the component does not listen."""
    likely: list[int] = [*PORTS, *range(18080, 18180)]
    return next(port for port in likely if port not in target.ports)


def http_probe(path: str, port: int) -> Manifest:
    """A probe over HTTP that gives up at its first failure."""
    return {
        "httpGet": {"path": path, "port": port},
        "initialDelaySeconds": 10,
        "periodSeconds": 10,
        "failureThreshold": 1,
    }
