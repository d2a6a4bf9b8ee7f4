"""What else Prometheus scrapes: the blackbox exporter, the applications' own metrics, CoreDNS; and ``up`` of everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sregym_env.sim.monitoring import cadvisor, kube_state, node_exporter, span_metrics
from sregym_env.sim.monitoring.machines_up import powered, reachable
from sregym_env.sim.monitoring.readings import Run, Times
from sregym_env.sim.monitoring.scrapes import Family, Job, Question, Row, Target, shaken, steady
from sregym_env.sim.network import corefile
from sregym_env.sim.programs.servers import DNS_PLUGINS
from sregym_env.sim.programs.services.settings import ServiceSettings
from sregym_env.sim.users.components import app_of

# --- blackbox ---------------------------------------------------------------------------------------------

_REFUSED_SECONDS, _UP_SECONDS = 0.0006, 0.0019
"""How long a TCP probe takes that fails at once, and one that connects."""


def _probed(question: Question) -> dict[tuple[str, str, int], list[tuple[int, int, bool]]]:
    """What was probed, and the stretches of time with what came of it, oldest first."""

    def found() -> dict[tuple[str, str, int], list[tuple[int, int, bool]]]:
        stretches: dict[tuple[str, str, int], list[tuple[int, int, bool]]] = {}
        for state in question.readings.states(question.start, question.end):
            for namespace, service, port, up in state.probes:
                stretches.setdefault((namespace, service, port), []).append((state.start, state.end, up))
        return stretches

    return question.once("probes", found)


def _probe_targets(question: Question) -> Sequence[Target]:
    app = app_of(question.world)
    if app is None:
        return ()
    return [
        Target(
            Job(f"blackbox-{app.at(namespace).name}"),
            f"{service}.{namespace}:{port}",
            (("namespace", namespace),),
        )
        for namespace, service, port in sorted(_probed(question))
    ]


def _outcomes(
    question: Question, target: Target, times: Times
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    up = np.zeros(len(times), dtype=np.bool_)
    looked = np.zeros(len(times), dtype=np.bool_)
    for (namespace, service, port), stretches in _probed(question).items():
        if f"{service}.{namespace}:{port}" == target.instance:
            for start, end, reached in stretches:
                held = (times >= start) & (times < end)
                looked |= held
                up[held] = reached
    return up, looked


def _probe_success(question: Question, target: Target, times: Times) -> Iterator[Row]:
    up, looked = _outcomes(question, target, times)
    yield {}, up.astype(np.float64), looked


def _probe_seconds(question: Question, target: Target, times: Times) -> Iterator[Row]:
    up, looked = _outcomes(question, target, times)
    seconds = np.where(up, _UP_SECONDS, _REFUSED_SECONDS)
    yield {}, seconds * (1.0 + 0.2 * shaken(times, "probe", target.instance)), looked


# --- the applications' own --------------------------------------------------------------------------------

_REQUESTS = {
    "search": (("search_requests_total", None), ("search_rate_attempts_total", "rate")),
    "rate": (("rate_requests_received_total", None), ("rate_requests_completed_total", "ok")),
}
"""Counters of services that have a port for metrics, with what they count."""


def _exposing(question: Question) -> list[tuple[Target, list[Run]]]:
    """Services with a port for metrics of their own, and the runs behind each."""

    def found() -> list[tuple[Target, list[Run]]]:
        app = app_of(question.world)
        if app is None:
            return []
        targets: dict[str, tuple[Target, list[Run]]] = {}
        for run in question.readings.runs:
            settings = _settings(question, run)
            place = question.readings.place(run.process)
            if settings is None or not settings.metrics or place is None:
                continue
            instance = f"{place.name}.{place.namespace}:{settings.metrics[0]}"
            job = Job(f"{app.at(place.namespace).name}-application")
            target = Target(job, instance, (("namespace", place.namespace),))
            targets.setdefault(instance, (target, []))[1].append(run)
        return [targets[instance] for instance in sorted(targets)]

    return question.once("exposing", found)


def _settings(question: Question, run: Run) -> ServiceSettings | None:
    image = question.world.images.get(run.process.image)
    binary = None if image is None else image.binaries.get(run.process.binary)
    settings = None if binary is None else binary.settings
    return settings if isinstance(settings, ServiceSettings) else None


def _application_targets(question: Question) -> Sequence[Target]:
    return [target for target, _ in _exposing(question)]


def _application(name: str, question: Question, target: Target, times: Times) -> Iterator[Row]:
    for known, runs in _exposing(question):
        if known != target:
            continue
        service = target.instance.partition(".")[0]
        counted = dict(_REQUESTS.get(service, ()))
        if name not in counted:
            continue
        values, present = np.zeros(len(times)), np.zeros(len(times), dtype=np.bool_)
        for run in runs:
            alive = run.alive(times)
            if alive.any():
                values[alive] += question.readings.requests(run, times[alive])
                present |= alive
        yield {}, np.floor(values), present


# --- CoreDNS ----------------------------------------------------------------------------------------------

_DNS = Job("coredns")


def _dns_runs(question: Question) -> list[Run]:
    return [
        run
        for run in question.readings.runs
        if run.process.program == "coredns" and run.process.namespace == "kube-system" and run.process.ip
    ]


def _dns_targets(question: Question) -> Sequence[Target]:
    found: dict[str, Target] = {}
    for run in _dns_runs(question):
        process = run.process
        labels = (("namespace", process.namespace), ("node", process.node), ("pod", process.pod))
        found[process.pod] = Target(_DNS, f"{process.ip}:9153", labels)
    return list(found.values())


def _dns(question: Question, target: Target, times: Times) -> Iterator[tuple[Run, NDArray[np.bool_]]]:
    for run in _dns_runs(question):
        if f"{run.process.ip}:9153" == target.instance and _exports(run):
            yield run, run.alive(times) & powered(question, run.process.node, times)


def _discovered(question: Question, target: Target, times: Times) -> NDArray[np.bool_] | None:
    """When there was such a target: a pod that is gone is none any more; None for always."""
    if target.job != _DNS:
        return None
    runs = [run for run in _dns_runs(question) if f"{run.process.ip}:9153" == target.instance]
    process = runs[0].process
    if question.world.store.get("pods", process.namespace, process.pod) is not None:
        begun: NDArray[np.bool_] = times >= min(run.process.started_at for run in runs)
        return begun
    there = np.zeros(len(times), dtype=np.bool_)
    for run in runs:
        there |= run.alive(times)
    return there


def _exports(run: Run) -> bool:
    text = str(run.process.state.get("corefile", ""))
    try:
        return bool(text) and corefile.parse(text).has("prometheus")
    except corefile.CorefileError:
        return False


def _dns_build(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for _, there in _dns(question, target, times):
        told = {"goversion": "go1.21.11", "revision": "a6338e9", "version": "1.11.3"}
        yield told, steady(times, 1.0), there


def _dns_panics(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for _, there in _dns(question, target, times):
        yield {}, steady(times, 0.0), there


def _dns_plugins(question: Question, target: Target, times: Times) -> Iterator[Row]:
    for run, there in _dns(question, target, times):
        config = corefile.parse(str(run.process.state.get("corefile", "")))
        for name in DNS_PLUGINS:
            if config.has(name):
                told = {"name": name, "server": "dns://:53", "view": "", "zone": "."}
                yield told, steady(times, 1.0), there


# --- up ---------------------------------------------------------------------------------------------------


def _every_target(question: Question) -> Sequence[Target]:
    return [
        Target(kube_state.JOB, kube_state.INSTANCE),
        Target(Job("prometheus-self"), "localhost:9090"),
        *cadvisor.FAMILIES[0].targets(question),
        *node_exporter.FAMILIES[0].targets(question),
        *span_metrics.FAMILIES[0].targets(question),
        *_probe_targets(question),
        *_application_targets(question),
        *_dns_targets(question),
    ]


def _up(question: Question, target: Target, times: Times) -> Iterator[Row]:
    there = np.ones(len(times), dtype=np.bool_)
    if target.job in (cadvisor.JOB, node_exporter.JOB):
        there = (reachable if target.job == cadvisor.JOB else powered)(question, target.instance, times)
    elif target.job == _DNS:
        there = np.zeros(len(times), dtype=np.bool_)
        for _, alive in _dns(question, target, times):
            there |= alive
    elif target.job.name.endswith("-application"):
        there = np.zeros(len(times), dtype=np.bool_)
        for known, runs in _exposing(question):
            if known == target:
                for run in runs:
                    there |= run.alive(times)
    yield {}, there.astype(np.float64), _discovered(question, target, times)


def _scrape_seconds(question: Question, target: Target, times: Times) -> Iterator[Row]:
    base = 0.004 + 0.02 * ((hash_of(target) % 1000) / 1000)
    taken = base * (1.0 + 0.3 * shaken(times, "scrape", target.job.name, target.instance))
    yield {}, taken, _discovered(question, target, times)


def hash_of(target: Target) -> int:
    """A number that belongs to a target, for how long it takes to be scraped."""
    return sum(ord(letter) * (index + 1) for index, letter in enumerate(target.job.name + target.instance))


_APPLICATION_HELP = "Counted by the service itself."

FAMILIES: tuple[Family, ...] = (
    Family("up", "gauge", "", _every_target, _up),
    Family("scrape_duration_seconds", "gauge", "", _every_target, _scrape_seconds),
    Family("probe_success", "gauge", "Displays whether or not the probe was a success", _probe_targets, _probe_success),
    Family("probe_duration_seconds", "gauge", "Returns how long the probe took to complete in seconds", _probe_targets, _probe_seconds),
    *(
        Family(name, "counter", _APPLICATION_HELP, _application_targets, partial(_application, name))
        for counted in _REQUESTS.values()
        for name, _ in counted
    ),
    Family("coredns_build_info", "gauge", "A metric with a constant '1' value labeled by version, revision, and goversion from which CoreDNS was built.", _dns_targets, _dns_build),
    Family("coredns_panics_total", "counter", "A metrics that counts the number of panics.", _dns_targets, _dns_panics),
    Family("coredns_plugin_enabled", "gauge", "A metric that indicates whether a plugin is enabled on per server and zone basis.", _dns_targets, _dns_plugins),
)  # fmt: skip
"""What Prometheus gets of them."""
