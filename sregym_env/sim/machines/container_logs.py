"""Reading container logs through the API: which run, which lines, and the kubelet's refusals."""

from __future__ import annotations

from typing import Any

from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.world import SimWorld, wallclock
from sregym_env.sim.world.logs import single, stamps

LINE_EFFORT = 2.5
"""What a line that is read costs (units of ``runtime/effort.py``)."""

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def container_names(pod: Manifest) -> list[str]:
    """Every container of a pod that may have a log: ordinary, init, ephemeral."""
    spec = pod["spec"]
    fields = ("containers", "initContainers", "ephemeralContainers")
    return [container["name"] for field in fields for container in spec.get(field, ())]


def choose_container(pod: Manifest, wanted: str | None) -> str:
    """The container meant by a request. Raises BadRequest as the API server does."""
    name = pod["metadata"]["name"]
    if wanted:
        if wanted not in container_names(pod):
            raise status.bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    containers = [container["name"] for container in pod["spec"]["containers"]]
    if len(containers) == 1:
        return str(containers[0])
    annotated = pod["metadata"].get("annotations", {}).get(DEFAULT_CONTAINER)
    if annotated in containers:
        return str(annotated)
    choices = f"choose one of: [{' '.join(containers)}]"
    inits = [container["name"] for container in pod["spec"].get("initContainers", ())]
    if inits:
        choices += f" or one of the init containers: [{' '.join(inits)}]"
    raise status.bad_request(f"a container name must be specified for pod {name}, {choices}")


def container_status(pod: Manifest, container: str) -> dict[str, Any] | None:
    """The status of one container, whatever its kind, or None before the kubelet has said anything."""
    state = pod.get("status", {})
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for found in state.get(field, ()):
            if found["name"] == container:
                return dict(found)
    return None


def run_of(pod: Manifest, container: str, previous: bool) -> int:
    """Which run (restart count) of a container a log request means. Raises BadRequest."""
    name = pod["metadata"]["name"]
    if not pod["spec"].get("nodeName"):
        raise status.bad_request(f"pod {name} does not have a host assigned")
    found = container_status(pod, container)
    state = {} if found is None else found.get("state", {})
    restarts = 0 if found is None else int(found["restartCount"])
    last = None if found is None else found.get("lastState", {}).get("terminated")
    if previous:
        if last is None:
            text = f'previous terminated container "{container}" in pod "{name}" not found'
            raise status.bad_request(text)
        # A waiting container has not been restarted yet: its last run is the newest one.
        return restarts if "waiting" in state else max(0, restarts - 1)
    if "running" in state or "terminated" in state or ("waiting" in state and last is not None):
        return restarts
    reason = state.get("waiting", {}).get("reason") or "ContainerCreating"
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        reason = "trying and failing to pull image"
    raise status.bad_request(f'container "{container}" in pod "{name}" is waiting to start: {reason}')


def read(
    world: SimWorld,
    pod: Manifest,
    container: str,
    *,
    previous: bool = False,
    tail: int | None = None,
    since_seconds: int | None = None,
    timestamps: bool = False,
    limit_bytes: int | None = None,
) -> str:
    """The text of a container's log."""
    run = run_of(pod, container, previous)
    if tail == 0:
        return ""
    key = (pod["metadata"]["uid"], container)
    log = world.logs.get((*key, run))
    since = 0 if since_seconds is None else world.now() - since_seconds * SECOND
    shown = wallclock.reader(world, pod["spec"].get("nodeName", ""))
    lines = [] if log is None else log.read(world.now(), since=since, limit=tail, shown=shown)
    process = world.processes.get(key)
    if process is not None and process.restart == run:
        lines = [*lines, *lifecycle.live_lines(world, key, since=since, limit=tail)]
    lines = list(single(lines))
    lines = lines if tail is None else lines[-tail:]
    effort.spend(LINE_EFFORT * len(lines))
    if timestamps:
        texts = [f"{stamp} {line.text}" for stamp, line in zip(stamps(lines, shown), lines, strict=True)]
    else:
        texts = [line.text for line in lines]
    text = "".join(f"{line}\n" for line in texts)
    return text if limit_bytes is None else text.encode()[:limit_bytes].decode(errors="ignore")
