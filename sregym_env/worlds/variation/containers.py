"""Containers beside the main one: sidecars, and init containers that wait for what is there."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.cluster.app import Binary, Image
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs.servers import DaemonSettings
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import MI, Draft, Work

SIDECARS = 0.32
"""Share of namespaces whose team puts something beside its containers."""

WAITS = 0.3
"""Share of components that need something to start whose pods wait for it."""

TEAMS_WAIT = 0.8
"""Share of namespaces in which pods have init containers of this kind."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Something that stands beside a main container and does not concern it."""

    name: str
    repository: str
    tags: tuple[str, ...]
    binary: str
    port: int
    line: str
    """What it writes when it starts."""
    memory: int
    """MiB at rest."""
    arguments: tuple[str, ...] = ()


LOG_SHIPPER = Sidecar("fluent-bit", "fluent/fluent-bit", ("2.2.2", "3.0.4", "3.1.9"), "/fluent-bit/bin/fluent-bit", 2020,
                      "[info] [sp] stream processor started", 14,
                      ("-c", "/fluent-bit/etc/fluent-bit.conf"))  # fmt: skip
COLLECTOR = Sidecar("otel-agent", "otel/opentelemetry-collector-contrib", ("0.96.0", "0.103.1", "0.111.0"),
                    "/otelcol-contrib", 13133, "info service@v0.96.0/service.go:169 Everything is ready. Begin running "
                    "and processing data.", 46, ("--config=/etc/otelcol-contrib/config.yaml",))  # fmt: skip
SECRETS_AGENT = Sidecar("vault-agent", "hashicorp/vault", ("1.15.6", "1.16.3", "1.17.2"), "/bin/vault", 8200,
                        "==> Vault Agent started! Log data will stream in below:", 38,
                        ("agent", "-config=/etc/vault/config.hcl"))  # fmt: skip
STATSD = Sidecar("statsd-exporter", "prom/statsd-exporter", ("v0.24.0", "v0.26.1"), "/bin/statsd_exporter", 9102,
                 "level=info msg=\"Starting StatsD -> Prometheus Exporter\"", 12)  # fmt: skip
BEYOND = {
    "mongodb": Sidecar("mongodb-exporter", "percona/mongodb_exporter", ("0.39", "0.40", "0.42.0"), "/mongodb_exporter",
                       9216, "level=info msg=\"Starting HTTP server for http://:9216/metrics ...\"", 18),
    "memcached": Sidecar("exporter", "prom/memcached-exporter", ("v0.13.0", "v0.14.3"), "/bin/memcached_exporter", 9150,
                         "level=info msg=\"Starting memcached_exporter\"", 10),
}  # fmt: skip
"""Exporters of stores, by kind of component."""

_HABITS = {"log": 0.35, "collector": 0.25, "secrets": 0.15, "statsd": 0.1, "exporter": 0.15}
_BY_HABIT = {"log": LOG_SHIPPER, "collector": COLLECTOR, "secrets": SECRETS_AGENT, "statsd": STATSD}

SHELL = "busybox"
SHELL_TAGS = ("1.36", "1.35", "1.36.1", "1.37", "1.32")


def draw(draft: Draft, chance: Chance) -> None:
    """Sidecars by the habit of the team, and init containers."""
    for namespace in draft.namespaces:
        own = chance.at("containers", namespace)
        if own.yes("sidecars", SIDECARS):
            _sidecars(draft, own, namespace)
        if own.yes("waits", TEAMS_WAIT):
            for work in draft.inside(namespace):
                _waits(draft, work, own.at(work.name))
    if draft.names:
        _awaits_outside(draft, chance.at("containers"))


def _sidecars(draft: Draft, chance: Chance, namespace: str) -> None:
    habit = chance.weighted("habit", _HABITS)
    tag = chance.unit("tag")
    native = chance.yes("native", 0.2)
    for work in draft.inside(namespace):
        sidecar = BEYOND.get(work.component.kind) if habit == "exporter" else _BY_HABIT[habit]
        if habit != "exporter" and not work.component.stateless:
            continue
        if sidecar is None or sidecar.port in work.ports or not chance.yes(work.name, 0.5):
            continue
        container = _beside(draft, sidecar, chance, tag)
        if native:
            work.pod.setdefault("initContainers", []).append({**container, "restartPolicy": "Always"})
        elif habit == "secrets" and chance.yes("first", 0.5):
            work.pod["containers"].insert(0, container)
        else:
            work.pod["containers"].append(container)


def _beside(draft: Draft, sidecar: Sidecar, chance: Chance, tag: float) -> Manifest:
    reference = f"{sidecar.repository}:{sidecar.tags[int(tag * len(sidecar.tags))]}"
    settings = DaemonSettings((sidecar.line,), (), (sidecar.port,), sidecar.memory * MI, 0.002)
    binaries = {sidecar.binary: Binary("daemon", settings)}
    draft.pull(Image(reference, 34_000_000, binaries, (sidecar.binary,), toolbox="none"))
    resources: Manifest = {"requests": {"cpu": chance.choice("cpu", ("5m", "10m", "20m", "25m"))}}
    if chance.yes("limited", 0.7):
        resources["limits"] = {"cpu": chance.choice("cpu limit", ("100m", "200m", "250m"))}
    if chance.yes("memory", 0.6):
        resources["requests"]["memory"] = f"{sidecar.memory * 2}Mi"
        resources.setdefault("limits", {})["memory"] = f"{sidecar.memory * 5}Mi"
    made: Manifest = {
        "name": sidecar.name,
        "image": reference,
        "ports": [{"containerPort": sidecar.port}],
        "resources": resources,
    }
    if sidecar.arguments:
        made["args"] = list(sidecar.arguments)
    return made


def _waits(draft: Draft, work: Work, chance: Chance) -> None:
    needed = [
        (dependency.host or dependency.on, dependency.port)
        for dependency in work.component.dependencies
        if dependency.essential and dependency.via == "service" and "start" in dependency.at
    ]
    first: list[Manifest] = []
    if needed and chance.yes("wait", WAITS / TEAMS_WAIT):
        first.append(_waiting(*chance.choice("for", needed), chance))
    volume = _data(work)
    if volume is not None and chance.yes("prepare", 0.4):
        first.append(_preparing(volume, chance))
    there = work.pod.get("initContainers") or []
    first = [each for each in first if each["name"] not in [known["name"] for known in there]]
    if first:
        work.pod["initContainers"] = [*first, *there]


def _awaits_outside(draft: Draft, chance: Chance) -> None:
    """Pods that do not start before a name outside the cluster is known, as those of old systems are."""
    # One more second in which a registry is away is one in which others register for nothing.
    able = [work for work in draft.works if work.kind != "DaemonSet" and not work.registry]
    for work in words.few(chance, "awaiting", able, chance.between("awaiting count", 2, 4)):
        own = chance.at("outside", work.name)
        host = own.choice("host", draft.names)
        short = host.partition(".")[0]
        name = own.choice("name", (f"wait-for-{short}", f"await-{short}", f"check-{short}", f"{short}-ready"))
        script = f"until nslookup {host}; do echo waiting for {short}; sleep 2; done"
        first = work.pod.get("initContainers") or []
        if all(container["name"] != name for container in first):
            work.pod["initContainers"] = [_script(name, script, own), *first]


def _waiting(host: str, port: int, chance: Chance) -> Manifest:
    short = host.partition(".")[0]
    scripts = {
        "port": f"until nc -z -w 2 {host} {port}; do echo waiting for {host}:{port}; sleep 2; done",
        "name": f"until nslookup {host}; do echo waiting for {short}; sleep 2; done",
    }
    name = chance.choice("name", (f"wait-for-{short}", f"await-{short}", "wait-for-dependencies"))
    return _script(name, scripts[chance.weighted("script", {"port": 0.8, "name": 0.2})], chance)


def _data(work: Work) -> Manifest | None:
    """Where the main container mounts the component's claim."""
    for volume in work.pod.get("volumes") or ():
        if (volume.get("persistentVolumeClaim") or {}).get("claimName") == work.component.volume:
            for mount in work.container.get("volumeMounts") or ():
                if mount["name"] == volume["name"]:
                    found: Manifest = mount
                    return found
    return None


def _preparing(mount: Manifest, chance: Chance) -> Manifest:
    path = mount["mountPath"]
    name = chance.choice("preparing", ("prepare-data", "fix-permissions", "volume-permissions"))
    container = _script(name, f"test -d {path} && chmod 0750 {path} && ls -ld {path}", chance)
    return {**container, "volumeMounts": [{"name": mount["name"], "mountPath": path}]}


def _script(name: str, script: str, chance: Chance) -> Manifest:
    return {
        "name": name,
        "image": f"{SHELL}:{chance.choice('tag', SHELL_TAGS)}",
        "command": ["sh", "-c", script],
        "resources": {"requests": {"cpu": "10m"}, "limits": {"cpu": "100m"}},
    }
