"""Neighbours' namespaces: services, stores and tasks of other teams, delivered and upgraded in their own habits."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.apply import ref
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND, seconds
from sregym_env.worlds import standards
from sregym_env.worlds.changes import Change, Kind, Step, manager_of
from sregym_env.worlds.tenants import software, tasks
from sregym_env.worlds.tenants.deeds import SETTLING, Alter, Deed, Install, Release, Story
from sregym_env.worlds.tenants.delivery import FLUX, HELM, Delivery, delivery_of
from sregym_env.worlds.tenants.software import Software

BUSYBOX = "busybox:1.36"


@dataclass(frozen=True, slots=True)
class Span:
    """The life of a cluster: when it was made and when the story is told, microseconds since the Unix epoch."""

    born: int
    present: int

    @property
    def length(self) -> int:
        """Microseconds."""
        return self.present - self.born

    def at(self, share: float) -> int:
        """The time at which a share of that life is over."""
        return self.born + round(share * self.length)

    def ago(self, age: float) -> int:
        """The time that lies ``age`` microseconds back, never before the first hundredth of that life."""
        return max(self.present - round(age), self.at(0.01))

    def installed(self, chance: Chance) -> int:
        """When something was installed: mostly early, else at any time (55 and 45 % of a real cluster's objects)."""
        if chance.yes("early", 0.55):
            return self.at(chance.uniform("share", 0.02, 0.10))
        return self.at(chance.uniform("share", 0.10, 0.93))


@dataclass(frozen=True, slots=True)
class Habits:
    """How a team writes its manifests."""

    tool: str
    labels: str
    """``app``, ``standard`` or ``both``."""
    registry: str
    probes: str
    """``none``, ``ready`` or ``both``."""
    resources: str
    """``none``, ``memory``, ``wide`` or ``equal``."""
    team: str


def habits_of(chance: Chance, tool: str, registry: str) -> Habits:
    """The habits of one team."""
    return Habits(
        tool,
        chance.weighted("labels", {"standard": 0.55, "app": 0.30, "both": 0.15}),
        registry,
        chance.weighted("probes", {"none": 0.2, "ready": 0.3, "both": 0.5}),
        chance.weighted("resources", {"none": 0.1, "memory": 0.3, "wide": 0.35, "equal": 0.25}),
        chance.choice(
            "team", ("alpha", "core", "platform", "growth", "data", "payments", "web", "mobile", "ops")
        ),
    )


def labels_of(habits: Habits, name: str, release: str) -> dict[str, str]:
    """Labels by which a workload's pods are selected."""
    standard = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": release}
    if habits.labels == "standard":
        return standard
    return {"app": name} if habits.labels == "app" else {"app": name, **standard}


@dataclass(frozen=True, slots=True)
class Workload:
    """A service of a tenant as it is put together."""

    name: str
    namespace: str
    release: str
    what: Software
    image: str
    replicas: int
    habits: Habits

    @property
    def labels(self) -> dict[str, str]:
        """The selector."""
        return labels_of(self.habits, self.name, self.release)

    def metadata(self, name: str = "") -> Manifest:
        """Metadata of one of its objects."""
        return {"name": name or self.name, "namespace": self.namespace, "labels": self.labels}

    def deployment(self, chance: Chance) -> Manifest:
        """The Deployment."""
        pod: Manifest = {"containers": [self._container(chance), *_sidecars(chance)]}
        if chance.yes("init", 0.15):
            pod["initContainers"] = [_init(chance)]
        if chance.yes("selector", 0.12):
            pod["nodeSelector"] = {"kubernetes.io/os": "linux"}
        if chance.yes("aliases", 0.05):
            pod["hostAliases"] = [
                {"ip": f"10.20.{chance.below('alias', 250)}.14", "hostnames": ["legacy.internal"]}
            ]
        if chance.yes("token", 0.3):
            pod["automountServiceAccountToken"] = False
        if chance.yes("secure", 0.3):
            pod["securityContext"] = {"fsGroup": 2000, "seccompProfile": {"type": "RuntimeDefault"}}
        template = {"metadata": {"labels": {**self.labels, "team": self.habits.team}}, "spec": pod}
        spec: Manifest = {
            "replicas": self.replicas,
            "selector": {"matchLabels": self.labels},
            "template": template,
        }
        if chance.yes("history", 0.35):
            spec["revisionHistoryLimit"] = chance.choice("limit", (3, 3, 5, 2, 25))
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(), "spec": spec}

    def service(self) -> Manifest:
        """The Service in front of it."""
        ports = [
            {"name": "http" if self.what.http else f"tcp-{port}", "port": 80 if self.what.http else port, "targetPort": port}
            for port in self.what.ports[:1]
        ]  # fmt: skip
        spec = {"ports": ports, "selector": self.labels}
        return {"apiVersion": "v1", "kind": "Service", "metadata": self.metadata(), "spec": spec}

    def _container(self, chance: Chance) -> Manifest:
        ports = [{"containerPort": port} for port in self.what.ports]
        found: Manifest = {"name": self.name, "image": self.image, "ports": ports}
        if env := _environment(chance, self):
            found["env"] = env
        if limits := _resources(chance, self.habits.resources, self.what):
            found["resources"] = limits
        for name in ("readinessProbe", "livenessProbe")[
            : {"none": 0, "ready": 1, "both": 2}[self.habits.probes]
        ]:
            found[name] = _probe(chance.at(name), self.what)
        return found


def _probe(chance: Chance, what: Software) -> Manifest:
    how: Manifest = {"tcpSocket": {"port": what.ports[0]}}
    if what.http:
        how = {"httpGet": {"path": what.path, "port": what.ports[0]}}
    if chance.yes("tuned", 0.5):
        how["initialDelaySeconds"] = chance.choice("delay", (5, 10, 15, 30))
        how["periodSeconds"] = chance.choice("period", (5, 10, 10, 15, 20))
        how["timeoutSeconds"] = chance.choice("timeout", (1, 2, 3, 5))
    return how


_MEMORY = (32, 64, 128, 192, 256, 384, 512, 768, 1024)


def _resources(chance: Chance, style: str, what: Software) -> Manifest:
    memory = next(size for size in _MEMORY if size >= what.memory * 1.4)
    cpu = chance.choice("cpu", ("10m", "25m", "50m", "100m"))
    if style == "none":
        return {}
    if style == "memory":
        return {"limits": {"memory": f"{memory}Mi"}}
    if style == "equal":
        both = {"cpu": "100m", "memory": f"{memory}Mi"}
        return {"limits": both, "requests": both}
    limits = {"cpu": chance.choice("limit", ("500m", "1", "2")), "memory": f"{memory * 2}Mi"}
    return {"limits": limits, "requests": {"cpu": cpu, "memory": f"{memory}Mi"}}


def _environment(chance: Chance, workload: Workload) -> list[Manifest]:
    pool = (
        {"name": "LOG_LEVEL", "value": chance.choice("level", ("info", "INFO", "warn", "debug"))},
        {"name": "REDIS_HOST", "value": "redis"},
        {"name": "DATABASE_URL", "value": f"postgres://{workload.name}@postgres:5432/{workload.name}"},
        {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://otel-collector.monitoring:4317"},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "GOMAXPROCS", "value": "2"},
        {"name": "JAVA_OPTS", "value": "-XX:MaxRAMPercentage=75"},
        {"name": "PORT", "value": str(workload.what.ports[0])},
        # Looks like a reference to nothing, and is meant so.
        {"name": "BANNER", "valueFrom": {"configMapKeyRef": {"name": f"{workload.name}-overrides", "key": "banner", "optional": True}}},
        {"name": "FEATURE_FLAGS", "value": "a,b"},
    )  # fmt: skip
    return chance.sample("env", pool, chance.choice("count", (0, 2, 3, 4, 5, 6)))


def _sidecars(chance: Chance) -> list[Manifest]:
    if not chance.yes("sidecar", 0.12):
        return []
    script = "echo tailing /var/log/app; sleep infinity"
    return [{"name": "log-tail", "image": BUSYBOX, "command": ["sh", "-c", script]}]


def _init(chance: Chance) -> Manifest:
    name, script = chance.choice(
        "script",
        (
            ("fix-permissions", "chown -R 1000:1000 /tmp || true"),
            ("migrate", "echo no pending migrations"),
            ("copy-config", "echo copied"),
        ),
    )
    return {"name": name, "image": BUSYBOX, "command": ["sh", "-c", script]}


# --- namespaces -----------------------------------------------------------------------------------------


def tenant(
    name: str, chance: Chance, span: Span, habits: Habits, roles: Sequence[str], borrowed: str = ""
) -> Story:
    """One tenant's namespace and everything that has happened in it.

    ``roles`` are the services that it runs, ``borrowed`` is the name that one of them shares with a component of
    the application.
    """
    installed = span.installed(chance.at("installed"))
    release = name if chance.yes("release", 0.6) else f"{name.partition('-')[0]}-app"
    delivery = delivery_of(chance.at("delivery"), habits.tool, release)
    labels = {"team": habits.team, **standards.labels(chance.at("standards"))}
    namespace: Manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }
    parts = []
    for index, role in enumerate(roles):
        own = borrowed if index == 0 and borrowed else role
        parts.append(_part(name, own, role, chance.at("part", index), habits, release))
    configuration = _configuration(name, release, chance.at("configuration"))
    first = [namespace, *configuration, *(m for part in parts for m in part.manifests)]
    deeds = [
        # One run of a tool takes its time: objects of one install are seconds apart.
        Deed(
            installed + seconds(index * chance.uniform("pace", 0.3, 4.0)),
            Install((delivery.marked(m),), habits.tool),
        )
        for index, m in enumerate(first)
    ]
    deeds += [deed for part in parts for deed in part.upgrades(installed + 10 * MINUTE, span, habits)]
    if habits.tool == HELM:
        deeds += _releases(delivery, name, deeds, installed, chance.at("releases"), span)
    deeds += _rules(name, parts, delivery, chance.at("rules"), span, habits)
    images = {
        reference: software.image(part.workload.what, reference)
        for part in parts
        for reference in part.builds
    }
    return Story(tuple(deeds), images, sum(part.workload.replicas for part in parts))


@dataclass(frozen=True, slots=True)
class _Part:
    """A workload of a tenant, its manifests, and the builds that it has run."""

    workload: Workload
    manifests: tuple[Manifest, ...]
    builds: tuple[str, ...]
    """Oldest first; the last one is in use."""
    chance: Chance

    def upgrades(self, earliest: int, span: Span, habits: Habits) -> list[Deed]:
        """From the first build to the last one, at drawn times."""
        changes = len(self.builds) - 1
        ages = sorted((last_change(self.chance.at("age", index)) for index in range(changes)), reverse=True)
        target = ref(self.manifests[0])
        found = []
        for index, age in enumerate(ages):
            chance = self.chance.at("upgrade", index)
            path = "/spec/template/spec/containers/0/image"
            step = Step(path, self.builds[index], self.builds[index + 1])
            change = Change("image", target, _manager("image", habits.tool, chance), (step,))
            # What would come after the present has not been done yet.
            time = max(min(span.ago(age), span.present - 10 * MINUTE), earliest + index * 20 * MINUTE)
            found.append(Deed(time, Alter(change)))
        return found


def _manager(kind: Kind, tool: str, chance: Chance) -> str:
    """Who makes a change of what a tool delivers: nobody else where that is Flux, which would put it back."""
    return tool if tool == FLUX else manager_of(kind, tool, chance)


def last_change(chance: Chance) -> int:
    """How long ago a workload was changed, microseconds: days and weeks, hardly ever hours.

    The law of working clusters has 15 % within the last five hours; those are left to the changes of the present.
    """
    kind = chance.weighted("kind", {"hours": 0.03, "days": 0.27, "weeks": 0.40, "months": 0.30})
    if kind == "hours":
        return round(chance.uniform("age", 0.5, 5.0) * HOUR)
    if kind == "days":
        return round(chance.uniform("age", 5.0, 48.0) * HOUR)
    if kind == "weeks":
        return round(chance.lognormal("age", 7.0, 0.8) * DAY)
    return round(chance.lognormal("age", 60.0, 0.9) * DAY)


def _part(namespace: str, name: str, role: str, chance: Chance, habits: Habits, release: str) -> _Part:
    stores = {store.name: store for store in software.STORES}
    revisions = chance.weighted("revisions", {1: 0.72, 2: 0.19, 3: 0.07, 4: 0.02})
    if role in stores:
        what = stores[role]
        revisions = min(revisions, 2)
        newest = chance.between("newest", revisions - 1, len(what.tags) - 1)
        builds = tuple(f"{what.repository}:{tag}" for tag in what.tags[newest - revisions + 1 : newest + 1])
        replicas = 1
    else:
        what = software.own(role, software.tags_of(chance.at("tags"), revisions), chance.at("own"))
        builds = tuple(f"{habits.registry}/{namespace}-{role}:{tag}" for tag in what.tags)
        replicas = chance.weighted("replicas", {1: 0.75, 2: 0.21, 3: 0.04})
    workload = Workload(name, namespace, release, what, builds[0], replicas, habits)
    manifests = [workload.deployment(chance.at("deployment"))]
    if role not in ("worker", "consumer", "scheduler", "importer") or chance.yes("service", 0.3):
        manifests.append(workload.service())
    return _Part(workload, tuple(manifests), builds, chance)


def _configuration(namespace: str, release: str, chance: Chance) -> list[Manifest]:
    """Accounts, settings and credentials of a namespace."""
    found: list[Manifest] = []
    if chance.yes("account", 0.5):
        found.append(
            _object("v1", "ServiceAccount", namespace, chance.choice("name", (release, "deployer", "app")))
        )
    if chance.yes("settings", 0.7):
        data = {
            "LOG_LEVEL": "info",
            "REGION": chance.choice("region", ("eu-west-1", "us-east-1", "eu-central-1")),
        }
        found.append(_object("v1", "ConfigMap", namespace, f"{release}-config", data=data))
    if chance.yes("credentials", 0.7):
        name = chance.choice("pattern", (f"{release}-secret", f"{release}-db-credentials", f"{release}-env"))
        value = b64encode(f"{chance.bits('value'):016x}".encode()).decode()
        found.append(_object("v1", "Secret", namespace, name, type="Opaque", data={"password": value}))
    return found


def _releases(
    delivery: Delivery, namespace: str, deeds: Sequence[Deed], installed: int, chance: Chance, span: Span
) -> list[Deed]:
    """Helm's records: one of the installation, one of every upgrade, and those that changed no workload."""
    times = [installed - 2 * SECOND]
    times += [deed.time - 3 * SECOND for deed in deeds if isinstance(deed.act, Alter)]
    times += [span.at(chance.uniform(f"idle{index}", 0.1, 0.95)) for index in range(chance.below("idle", 4))]
    times = sorted(time for time in times if time >= installed - 2 * SECOND)
    found = []
    for number, time in enumerate(times, 1):
        # The namespace comes with the first objects.
        due = max(time, installed + 30 * SECOND)
        found.append(Deed(due + number, Release(delivery, namespace, number)))
    return found


def _rules(
    namespace: str, parts: Sequence[_Part], delivery: Delivery, chance: Chance, span: Span, habits: Habits
) -> list[Deed]:
    """Budgets, policies, quotas and limits: put up late, so that they fit what has come about."""
    made: list[Manifest] = []
    workload = parts[0].workload
    if chance.yes("budget", 0.25):
        spec: Manifest = {"maxUnavailable": 1, "selector": {"matchLabels": workload.labels}}
        made.append(_object("policy/v1", "PodDisruptionBudget", namespace, workload.name, spec=spec))
    if chance.yes("policy", 0.3):
        made += _policies(namespace, workload)
    if chance.yes("quota", 0.25):
        used = sum(part.workload.replicas for part in parts)
        hard = {"pods": str(max(used + 1, round(used / chance.uniform("use", 0.3, 0.92))))}
        made.append(_object("v1", "ResourceQuota", namespace, f"{namespace}-quota", spec={"hard": hard}))
    if chance.yes("limits", 0.15):
        default: Manifest = {"type": "Container", "max": {"cpu": "4", "memory": "8Gi"}}
        made.append(_object("v1", "LimitRange", namespace, "limits", spec={"limits": [default]}))
    time = span.at(chance.uniform("time", 0.95, 0.985))
    return [Deed(time, Install(tuple(delivery.marked(m) for m in made), habits.tool))] if made else []


def _policies(namespace: str, workload: Workload) -> list[Manifest]:
    """Nothing in, nothing out, but for what is named: a namespace that is closed in the right way."""
    dns = {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    near: Manifest = {"podSelector": {}}
    closed: Manifest = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    opened = {
        "podSelector": {"matchLabels": workload.labels},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [near], "ports": [{"port": workload.what.ports[0]}]}],
        "egress": [dns, {"to": [near]}],
    }
    version, kind = "networking.k8s.io/v1", "NetworkPolicy"
    return [
        _object(version, kind, namespace, "default-deny", spec=closed),
        _object(version, kind, namespace, f"allow-{workload.name}", spec=opened),
    ]


def _object(version: str, kind: str, namespace: str, name: str, **more: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


# --- tasks ----------------------------------------------------------------------------------------------

SCHEDULES: Mapping[str, tuple[str, ...]] = {
    "nightly": ("0 2 * * *", "30 1 * * *", "15 3 * * *", "0 1 * * *", "45 4 * * *"),
    "hourly": ("0 * * * *", "17 * * * *", "40 * * * *"),
    "weekly": ("0 4 * * 0", "30 5 * * 1", "0 6 * * 6"),
}


def task(
    namespace: str,
    name: str,
    chance: Chance,
    span: Span,
    tool: str,
    *,
    fails: bool = False,
    suspended: bool = False,
    earliest: int = 0,
) -> Story:
    """A CronJob that is old, and of whose runs those are simulated that can be seen.

    A task that had run for months would cost as much as the rest of its world. So it is made switched off, and goes on
    where the run before these is noted as its last; of most nothing tells afterwards that they were ever off.
    """
    kind = chance.weighted("kind", {"nightly": 0.62, "hourly": 0.08, "weekly": 0.3})
    work = f"echo starting {name}; sleep {chance.between('seconds', 4, 70)}; "
    work += f'echo "error: {chance.choice("error", _ERRORS)}"; exit 1' if fails else f"echo {name} done"
    container = {"name": name, "image": BUSYBOX, "command": ["sh", "-c", work]}
    pod = tasks.equipped({"containers": [container], "restartPolicy": "Never"}, chance)
    template = {
        "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": {"task": name}}, "spec": pod}}
    }
    spec: Manifest = {
        "schedule": chance.choice("schedule", SCHEDULES[kind]),
        "suspend": True,
        "concurrencyPolicy": chance.choice("concurrency", ("Allow", "Forbid")),
        "jobTemplate": template,
    }
    delivery = Delivery(tool, f"{namespace}-tasks")
    made = delivery.marked(_object("batch/v1", "CronJob", namespace, name, spec=spec))
    target, installed = ref(made), max(span.installed(chance.at("installed")), earliest)
    deeds = [Deed(installed, Install((made,), tool))]
    started = installed + MINUTE
    if not suspended:
        runs = FAILED_RUNS if fails else tasks.kept(spec)
        manager = _manager("cronjob", tool, chance)
        started = max(started, tasks.since(spec, runs, span.present, chance))
        deeds.append(Deed(started, tasks.Ran(target)))
        switched = Change("cronjob", target, manager, (Step("/spec/suspend", True, False),))
        on = Alter(switched) if chance.yes("switched", tasks.SWITCHED) else tasks.GoesOn(target, tool)
        deeds.append(Deed(started, on))
    latest = span.present - SETTLING
    share = tasks.RERUN_IDLE if suspended else tasks.RERUN
    again = tasks.reruns(target, chance.at("again"), started + MINUTE, latest, share)
    deeds += [Deed(time, act) for time, act in again]
    return Story(tuple(deeds), pods=0 if suspended else 2)


FAILED_RUNS = 2
"""How many runs of a task that fails are simulated; one is kept of them."""

_ERRORS = (
    "connection refused: smtp.example.com:587",
    "bucket nightly-exports does not exist",
    "certificate has expired",
    "permission denied: /backup",
    "API rate limit exceeded",
    "relation \"exports\" does not exist",
)  # fmt: skip
