"""What the faults that misconfigure a probe have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.choices import HEALTH_PATHS, wrong_port
from sregym_env.faults.drawn import Choose
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

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


def published_probe(target: ComponentTarget) -> Manifest:
    """The published probe: HTTP ``/healthz`` where the component does not listen."""
    return http_probe("/healthz", closed_port(target))


def failing_probe(impatient: bool) -> Choose:
    """A probe of any kind that the component never passes.

    It looks for a port on which nobody listens, or has a command fail; ``impatient`` ones soon draw the consequences.
    """

    def choose(target: ComponentTarget, chance: Chance) -> Manifest:
        port = wrong_port(target, chance.at("port"))
        path = chance.choice("path", HEALTH_PATHS)
        kinds: Mapping[str, Manifest] = {
            "http": {"httpGet": {"path": path, "port": port}},
            "tcp": {"tcpSocket": {"port": port}},
            "grpc": {"grpc": {"port": port}},
            "exec": {"exec": {"command": _command(target, port, path, chance)}},
        }
        weights = {
            "http": 0.5,
            "tcp": 0.2,
            "exec": 0.15,
            "grpc": 0.15 if target.component.kind == "grpc_service" else 0.0,
        }
        probe = dict(kinds[chance.weighted("kind", weights)])
        delay = chance.choice("delay", (0, 3, 5, 8, 10, 15))
        if delay:
            probe["initialDelaySeconds"] = delay
        probe["periodSeconds"] = chance.choice("period", (2, 3, 5) if impatient else (2, 3, 5, 8, 10))
        if chance.yes("timeout", 0.5):
            probe["timeoutSeconds"] = chance.between("timeout", 1, 2 if impatient else 5)
        probe["failureThreshold"] = chance.between("failures", 1, 2 if impatient else 3)
        return probe

    return choose


def _command(target: ComponentTarget, port: int, path: str, chance: Chance) -> list[str]:
    """A command that fails: it asks a port where nobody listens, or for a file that nobody writes."""
    file = chance.choice(
        "file", ("/tmp/ready", "/tmp/healthy", "/var/run/app.ready", "/tmp/live", "/run/health", "/app/ready")
    )
    commands = (
        ["sh", "-c", f"wget -q -O- http://127.0.0.1:{port}{path}"],
        ["sh", "-c", f"nc -z localhost {port}"],
        ["cat", file],
        ["test", "-f", file],
    )
    return list(chance.choice("command", commands))


def asked(probe: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a probe asks for, in words; and the same as facts of an account."""
    if "httpGet" in probe:
        path, port = probe["httpGet"].get("path", "/"), probe["httpGet"]["port"]
        words = f"{path} on port {port}"
        return words, {"asked": words, "path": path, "port": port}
    if "tcpSocket" in probe:
        words = f"a TCP connection on port {probe['tcpSocket']['port']}"
    elif "grpc" in probe:
        words = f"gRPC health on port {probe['grpc']['port']}"
    else:
        words = f"the success of the command `{' '.join(probe['exec']['command'])}`"
    return words, {"asked": words}


TIMINGS = ((0, 1, 1), (0, 1, 2), (0, 2, 1), (1, 1, 1), (0, 3, 1), (1, 2, 1), (0, 1, 3), (2, 1, 1))
"""Timings of probes that give up soon: initial delay, period, failure threshold."""


def impatient_timings(target: ComponentTarget) -> list[tuple[int, int, int]]:
    """Those by which a probe gives up before the component listens, wherever in its period the first one falls."""
    starts = target.component.starts if target.component.port else 0.0
    return [each for each in TIMINGS if each[0] + each[1] * each[2] <= starts]


def timing(probe: Mapping[str, Any]) -> tuple[int, int, int]:
    """Initial delay, period and failure threshold of a probe, those that it leaves to the API included."""
    return (
        probe.get("initialDelaySeconds", 0),
        probe.get("periodSeconds", 10),
        probe.get("failureThreshold", 3),
    )


def allows(probe: Mapping[str, Any]) -> int:
    """Seconds that a container has in any case before a probe gives up on it: its first turn may come at once."""
    delay, period, failures = timing(probe)
    return int(delay + period * (failures - 1))


def impatient_probe(target: ComponentTarget, chance: Chance) -> Manifest:
    """A probe that asks the component for what it serves, and gives up before it has started."""
    delay, period, failures = chance.choice("timing", impatient_timings(target))
    probe: Manifest = dict(_right_handler(target))
    if delay or chance.yes("said", 0.5):
        probe["initialDelaySeconds"] = delay
    probe["periodSeconds"] = period
    if chance.yes("timeout", 0.5):
        probe["timeoutSeconds"] = 1
    if chance.yes("success", 0.3):
        probe["successThreshold"] = 1
    return probe | {"failureThreshold": failures}


def published_impatience(target: ComponentTarget) -> Manifest:
    """The published timing: at once, every second, dead at the first failure."""
    return {
        **_right_handler(target),
        "initialDelaySeconds": 0,
        "periodSeconds": 1,
        "failureThreshold": 1,
    }


_TIMED = frozenset(
    ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "successThreshold", "failureThreshold")
)


def _right_handler(target: ComponentTarget) -> Mapping[str, Any]:
    """What the component's own liveness probe asks, or whether it listens where it has none."""
    declared = target.declares("livenessProbe") or {"tcpSocket": {"port": target.component.port}}
    return {name: value for name, value in declared.items() if name not in _TIMED}


def with_liveness_probe(
    target: ComponentTarget, probe: Mapping[str, Any], grace: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What gives a component a liveness probe, by JSON pointer, and the JSON patch that gives it its own back.

    ``grace`` is the pod's termination grace period in seconds, negative to leave it as it is.
    """
    field = target.container_path("livenessProbe")
    period = target.template_path("terminationGracePeriodSeconds")
    declared = target.declares("livenessProbe")
    patience = target.template_declares("terminationGracePeriodSeconds")
    back: list[dict[str, Any]] = [{"op": "remove", "path": field}]
    if declared is not None:
        back = [{"op": "replace", "path": field, "value": declared}]
    changes: dict[str, Any] = {field: probe}
    if grace >= 0:
        # A program that ignores SIGTERM would serve on for half a minute each time.
        changes[period] = grace
        back.append({"op": "add", "path": period, "value": 30 if patience is None else patience})
    return changes, back
