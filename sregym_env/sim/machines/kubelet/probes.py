"""Startup, liveness and readiness probes of running containers.

A probe whose verdict stands is not run again until something in the world has changed
(``kubelet.look`` in :data:`sregym_env.sim.machines.kubelet.HANDLERS`): a healthy cluster costs no events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.disturbances import DiskReadErrors
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.machines.kubelet import runtime
from sregym_env.sim.machines.kubelet.state import Container, PodRecord, Probe, ProbeKind
from sregym_env.sim.machines.kubelet.sync import Sync
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import HttpRequest

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
    if not probe.passed or probe.streak <= 0 or kind == "startup":
        return False
    # A failing disk is in the way of commands alone.
    return all(isinstance(each, DiskReadErrors) and "exec" not in config for each in world.disturbances)


def _look(
    sync: Sync, container: Container, kind: ProbeKind, config: Mapping[str, Any], probe: Probe
) -> Probe:
    passed, text = check(sync.world, sync.pod, sync.record, container.name, config)
    if passed:
        streak = max(probe.streak, 0) + 1
        verdict = probe.passed or streak >= config.get("successThreshold", 1)
    else:
        streak = min(probe.streak, 0) - 1
        verdict = probe.passed and -streak < config.get("failureThreshold", 3)
        sync.event("Warning", "Unhealthy", f"{kind.capitalize()} probe failed: {text}", container)
    period = config.get("periodSeconds", 10) * SECOND
    return Probe(_next(probe.next_at, period, sync.now), verdict, streak, sync.world.epoch)


def _next(phase: int, period: int, now: int) -> int:
    """The first instant after ``now`` on the probe's own grid."""
    return phase + ((now - phase) // period + 1) * period


def wake_settled(world: SimWorld) -> None:
    """Something changed: have every container with probes probed again at its next turn."""
    now = world.clock
    for record in world.runtime.values():
        if not isinstance(record, PodRecord):
            continue
        turns = [
            probe.next_at
            for container in record.containers.values()
            if container.probes and container.alive
            for kind, probe in container.probes.items()
            if (kind == "startup") != container.started
        ]
        if turns:
            world.wake("kubelet", (record.namespace, record.name), max(0, min(turns) - now))


def check(
    world: SimWorld, pod: Manifest, record: PodRecord, container: str, config: Mapping[str, Any]
) -> tuple[bool, str]:
    """Run one handler of a probe or hook: whether it succeeded, and what it said."""
    timeout = float(config.get("timeoutSeconds", 1))
    if "exec" in config:
        result = runtime.execute(world, pod, container, config["exec"].get("command", ()))
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
