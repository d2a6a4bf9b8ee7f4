"""What ``ready`` and ``started`` of a container say, by what kind of container it is and how it stands.

An ordinary init container is ready when it has done its work and never while it runs; one that restarts always and an
ordinary container are ready when their probes say so; an ephemeral one has no probes and is never ready.
"""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld

SLEEP: dict[str, Any] = {"command": ["sleep", "3600"]}
FAILS: dict[str, Any] = {"command": ["false"]}
ENDS: dict[str, Any] = {"command": ["true"]}
SIDECAR = {**SLEEP, "restartPolicy": "Always"}


def probed(which: str, *command: str) -> dict[str, Any]:
    return {f"{which}Probe": {"exec": {"command": list(command)}, "periodSeconds": 1}}


def world_with(field: str, container: dict[str, Any], policy: str) -> EmbeddedWorld:
    """A pod with one container of interest among those of a field, some seconds old."""
    world = bare_cluster()
    made = {"name": "seen", "image": "busybox:1.36", **container}
    spec: dict[str, Any] = {"restartPolicy": policy}
    main = {"name": "main", "image": "busybox:1.36", **SLEEP}
    spec["containers"] = [made] if field == "containers" else [main]
    if field == "initContainers":
        spec[field] = [made]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    world.cluster.create(pod, namespace="default")
    world.advance(8)
    if field == "ephemeralContainers":
        patch = {"spec": {field: [made]}}
        world.cluster.patch("pods", "p", patch, namespace="default", subresource=field.lower())
        world.advance(8)
    return world


@pytest.mark.parametrize(
    ("field", "container", "policy", "state", "ready", "started"),
    [
        ("containers", SLEEP, "Always", "running", True, True),
        ("containers", {**SLEEP, **probed("readiness", "false")}, "Always", "running", False, True),
        ("containers", {**SLEEP, **probed("startup", "false")}, "Always", "running", False, False),
        ("containers", ENDS, "Never", "terminated", False, False),
        ("initContainers", SLEEP, "Always", "running", False, True),
        ("initContainers", ENDS, "Always", "terminated", True, False),
        ("initContainers", FAILS, "Never", "terminated", False, False),
        ("initContainers", {"image": "nothing/here:1"}, "Always", "waiting", False, False),
        ("initContainers", SIDECAR, "Always", "running", True, True),
        ("initContainers", {**SIDECAR, **probed("readiness", "false")}, "Always", "running", False, True),
        ("initContainers", {**SIDECAR, **probed("startup", "false")}, "Always", "running", False, False),
        ("ephemeralContainers", SLEEP, "Always", "running", False, None),
        ("ephemeralContainers", ENDS, "Always", "terminated", False, None),
        ("ephemeralContainers", FAILS, "Always", "terminated", False, None),
    ],
)  # fmt: skip
def test_ready_and_started(
    field: str, container: dict[str, Any], policy: str, state: str, ready: bool, started: bool | None
) -> None:
    status = world_with(field, container, policy).cluster.get("pods", "p", "default")["status"]
    key = {"containers": "container", "initContainers": "initContainer"}.get(field, "ephemeralContainer")
    (shown,) = [each for each in status[f"{key}Statuses"] if each["name"] == "seen"]
    assert list(shown["state"]) == [state]
    assert (shown["ready"], shown.get("started")) == (ready, started)
    # A pod is counted ready by its containers, and by those init containers that stay.
    counted = field == "containers" or container.get("restartPolicy") == "Always"
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    if counted and state == "running" and not (field == "initContainers" and not started):
        assert conditions["ContainersReady"] == str(ready)
    if field == "ephemeralContainers":
        assert conditions["ContainersReady"] == "True"
