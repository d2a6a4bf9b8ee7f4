"""What the faults that misconfigure a probe have in common."""

from __future__ import annotations

from sregym_env.kube.types import Manifest


def http_probe(path: str, port: int) -> Manifest:
    """A probe over HTTP that gives up at its first failure."""
    return {
        "httpGet": {"path": path, "port": port},
        "initialDelaySeconds": 10,
        "periodSeconds": 10,
        "failureThreshold": 1,
    }
