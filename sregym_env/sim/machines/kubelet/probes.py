"""Startup, liveness and readiness probes of running containers.

A probe whose verdict stands is not run again until something in the world has changed
(``kubelet.look`` in :data:`sregym_env.sim.machines.kubelet.HANDLERS`): a healthy cluster costs no events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.disturbances import (
    OF_MACHINES,
    KubeletSetting,
    KubeletStopped,
    NodeDown,
    RegistryLogin,
)
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.containers import pids
from sregym_env.sim.machines.kubelet import runtime
from sregym_env.sim.machines.kubelet.state import Container, PodRecord, Probe, ProbeKind
from sregym_env.sim.machines.kubelet.sync import Sync
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.inquiry import Read
from sregym_env.sim.world.program import HttpRequest
from sregym_env.sim.world.store import Key

KINDS: tuple[ProbeKind, ...] = ("startup", "liveness", "readiness")
_FIELDS: Mapping[ProbeKind, str] = {
    "startup": "startupProbe",
    "liveness": "livenessProbe",
    "readiness": "readinessProbe",
}


def planned(spec: Mapping[str, Any], started_at: int, phase: float) -> dict[ProbeKind, Probe]:
    """The probes of a container that has just started; ``phase`` in [0, 1) of a second spreads them."""
    made: dict[ProbeKind, Probe] = {}
    for kind in KINDS:
        probe = spec.get(_FIELDS[kind])
        if probe is not None:
            first = started_at + probe.get("initialDelaySeconds", 0) * SECOND + round(phase * SECOND)
            # Until a probe has spoken a container counts as alive, but not as ready (``prober/worker.go``).
            made[kind] = Probe(next_at=first, passed=kind == "liveness")
    return made


def run(sync: Sync, spec: Mapping[str, Any], container: Container) -> str:
    """Run the probes that are due; the message with which the container must be killed, or ``""``."""
    for kind in KINDS:
        probe = container.probes.get(kind)
        # Until the startup probe has passed it runs alone; after that it never runs again.
        if probe is None or (kind == "startup") == container.started:
            continue
        config = spec.get(_FIELDS[kind])
        if config is None:
            continue
        if probe.next_at > sync.now:
            if probe.epoch != sync.world.epoch or not _settled(sync.world, probe, kind, config):
                sync.look_again(probe.next_at)
            continue
        probe = _look(sync, container, kind, config, probe)
        container = sync.put(evolve(container, probes={**container.probes, kind: probe}))
        if probe.streak < 0 and not probe.passed and kind != "readiness":
            if -probe.streak >= config.get("failureThreshold", 3):
                return f"Container {container.name} failed {kind} probe, will be restarted"
        if kind == "startup" and probe.passed:
            ready = "readiness" not in container.probes
            container = sync.put(evolve(container, started=True, ready=ready))
        if kind == "readiness" and container.ready != probe.passed:
            container = sync.put(evolve(container, ready=probe.passed))
        if not _settled(sync.world, probe, kind, config):
            sync.look_again(probe.next_at)
    return ""


def _settled(world: SimWorld, probe: Probe, kind: ProbeKind, config: Mapping[str, Any]) -> bool:
    """Whether repeating the probe can only say the same again: it passes, and chance has no part in it."""
    if not probe.passed or probe.streak <= 0 or kind == "startup" or probe.chanced:
        return False
    if probe.reads:
        return True
    # A failing disk is in the way of commands alone, and what a registry says in that of no probe.
    return all(
        isinstance(each, KubeletSetting | KubeletStopped | NodeDown | RegistryLogin)
        or (isinstance(each, OF_MACHINES) and "exec" not in config)
        for each in world.disturbances
    )


def _look(
    sync: Sync, container: Container, kind: ProbeKind, config: Mapping[str, Any], probe: Probe
) -> Probe:
    (passed, text), reads, chanced = _noted(sync.world, sync.pod, sync.record, container.name, config)
    if not passed and "exec" in config and pids.full(sync.world, sync.record.node):
        return _thrown_away(sync, container, kind, config, probe, text)
    if passed:
        streak = max(probe.streak, 0) + 1
        verdict = probe.passed or streak >= config.get("successThreshold", 1)
    else:
        streak = min(probe.streak, 0) - 1
        verdict = probe.passed and -streak < config.get("failureThreshold", 3)
        sync.event("Warning", "Unhealthy", f"{kind.capitalize()} probe failed: {text}", container)
    period = config.get("periodSeconds", 10) * SECOND
    return Probe(_next(probe.next_at, period, sync.now), verdict, streak, sync.world.epoch, reads, chanced)


def _thrown_away(
    sync: Sync, container: Container, kind: ProbeKind, config: Mapping[str, Any], probe: Probe, text: str
) -> Probe:
    """A command that the runtime could not start says nothing of the container: what is known of it stands (``prober/worker.go``)."""
    why = f"rpc error: code = Unknown desc = {text[text.find('failed to exec') :]}"
    words = f"{kind.capitalize()} probe errored and resulted in unknown state: {why}"
    sync.event("Warning", "Unhealthy", words, container)
    after = _next(probe.next_at, config.get("periodSeconds", 10) * SECOND, sync.now)
    return Probe(after, probe.passed, probe.streak, sync.world.epoch, (), probe.chanced)


def _noted(
    world: SimWorld, pod: Manifest, record: PodRecord, container: str, config: Mapping[str, Any]
) -> tuple[tuple[bool, str], tuple[Read, ...], bool]:
    """The result of a probe, what it follows from, and whether chance had a part in it: nobody notes what a command looks at."""
    if "exec" in config:
        return check(world, pod, record, container, config), (), False
    return runtime.noted(world, lambda: check(world, pod, record, container, config))


def _next(phase: int, period: int, now: int) -> int:
    """The first instant after ``now`` on the probe's own grid."""
    return phase + ((now - phase) // period + 1) * period


def wake_settled(world: SimWorld) -> None:
    """Something changed: have every container with probes probed again at its next turn."""
    now = world.clock
    disturbed = not all(isinstance(each, (*OF_MACHINES, RegistryLogin)) for each in world.disturbances)
    standing = runtime.standing(world)
    for record in standing.doubted(world.runtime.values()):
        if not isinstance(record, PodRecord):
            continue
        turns, stood = [], []
        steady = True
        for container in record.containers.values():
            if not container.probes or not container.alive:
                continue
            for kind, probe in container.probes.items():
                if (kind == "startup") != container.started:
                    passes = kind != "startup" and probe.passed and probe.streak > 0
                    if passes and probe.reads and standing.holds(probe.reads):
                        stood.append(probe.reads)
                        continue
                    turns.append(probe.next_at)
                    stands = passes and not probe.chanced and (bool(probe.reads) or not disturbed)
                    steady = steady and stands
        if turns:
            who = PROBER if steady else "kubelet"
            world.wake(who, (record.namespace, record.name), max(0, min(turns) - now))
        else:
            standing.held(record, stood)
    standing.keep()


PROBER = "prober"
"""The control loop that repeats probes of which nothing but the same is expected."""


def repeat(world: SimWorld, key: Key) -> int | None:
    """Repeat the probes of a pod whose verdicts stand; microseconds until the next one's turn.

    As long as they say the same the pod's status stays as it is; the first that does not is the kubelet's to run.
    """
    pod = world.store.get("pods", *key)
    if pod is None or f"node.down:{pod['spec'].get('nodeName', '')}" in world.memory:
        return None
    record = world.runtime.get(pod["metadata"]["uid"])
    if not isinstance(record, PodRecord):
        return None
    specs = {
        spec["name"]: spec for kind in ("initContainers", "containers") for spec in pod["spec"].get(kind, ())
    }
    due: int | None = None
    for name, container in record.containers.items():
        if not container.probes or not container.alive or name not in specs:
            continue
        probes = dict(container.probes)
        for kind, probe in container.probes.items():
            if (kind == "startup") == container.started:
                continue
            config = specs[name].get(_FIELDS[kind])
            if config is None:
                continue
            if not _settled(world, probe, kind, config):
                world.wake("kubelet", key, 0)
                return None
            if probe.reads and runtime.holds(world, probe.reads):
                continue
            if probe.next_at > world.clock:
                if probe.epoch != world.epoch:
                    due = probe.next_at if due is None else min(due, probe.next_at)
                continue
            (passed, _), reads, chanced = _noted(world, pod, record, name, config)
            if not passed:
                world.wake("kubelet", key, 0)
                return None
            period = config.get("periodSeconds", 10) * SECOND
            after = _next(probe.next_at, period, world.clock)
            probes[kind] = Probe(after, True, probe.streak + 1, world.epoch, reads, chanced)
        if probes != container.probes:
            record = record.with_container(evolve(container, probes=probes))
    world.runtime[record.uid] = record
    return None if due is None else max(0, due - world.clock)


CONTROLLER = Controller(PROBER, {}, repeat)


def check(
    world: SimWorld, pod: Manifest, record: PodRecord, container: str, config: Mapping[str, Any]
) -> tuple[bool, str]:
    """Run one handler of a probe or hook: whether it succeeded, and what it said."""
    timeout = float(config.get("timeoutSeconds", 1))
    if "exec" in config:
        result = runtime.execute(world, pod, container, config["exec"].get("command", ()))
        if result.seconds > timeout:
            asked = " ".join(config["exec"].get("command", ()))
            return False, f'command timed out: "{asked}" timed out after {timeout:g}s'
        return result.exit_code == 0, result.text.strip()
    if "httpGet" in config:
        return _http(world, pod, record, container, config["httpGet"], timeout)
    if "tcpSocket" in config:
        host, port = _address(pod, record, container, config["tcpSocket"])
        return runtime.probe(world, record.node, host, port, "tcp", timeout=timeout)
    if "grpc" in config:
        port, service = int(config["grpc"]["port"]), config["grpc"].get("service") or ""
        return runtime.probe(world, record.node, record.ip, port, "grpc", service=service, timeout=timeout)
    return True, ""


def _http(
    world: SimWorld,
    pod: Manifest,
    record: PodRecord,
    container: str,
    config: Mapping[str, Any],
    timeout: float,
) -> tuple[bool, str]:
    host, port = _address(pod, record, container, config)
    scheme = str(config.get("scheme", "HTTP")).lower()
    path = config.get("path") or "/"
    headers = {header["name"]: header["value"] for header in config.get("httpHeaders", ())}
    request = HttpRequest("GET", path if path.startswith("/") else f"/{path}", headers)
    return runtime.probe(
        world, record.node, host, port, "http", scheme=scheme, request=request, timeout=timeout
    )


def _address(pod: Manifest, record: PodRecord, container: str, config: Mapping[str, Any]) -> tuple[str, int]:
    port = config["port"]
    if isinstance(port, str) and not port.isdigit():
        port = _named_port(pod, container, port)
    return config.get("host") or record.ip, int(port)


def _named_port(pod: Manifest, container: str, name: str) -> int:
    for spec in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())):
        if spec["name"] == container:
            for port in spec.get("ports", ()):
                if port.get("name") == name:
                    return int(port["containerPort"])
    return 0
