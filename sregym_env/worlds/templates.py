"""What teams change about their pods without any effect on users: everything but builds, timings and sizes.

Faults write all over a pod template. Where innocent changes did not, whatever else differs between two neighbouring
ReplicaSets would be what is wrong. So they too add containers, names, mounts, references and rules, each of which
is right, or concerns nothing that the component does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.cluster.app import App, Component
from sregym_env.cluster.edits import REMOVED
from sregym_env.kube.pulling import PULL_SECRET
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

Path = tuple[str | int, ...]
"""Where a field stands in a pod template."""

Fields = Mapping[Path, Any]
"""Fields and what they become."""

ATTEMPTS = 6
"""How many sorts of changes are tried until one is possible."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a component, of which something is changed."""

    app: App
    component: Component
    namespace: str
    template: Manifest
    index: int
    """The place of its own container."""
    chance: Chance
    bounded: bool
    """Whether pods may not ask for more: by rules of the namespace, or as an autoscaler would answer."""

    @property
    def spec(self) -> Manifest:
        """The pods' spec."""
        found: Manifest = self.template["spec"]
        return found

    @property
    def container(self) -> Manifest:
        """The component's own container."""
        found: Manifest = self.spec["containers"][self.index]
        return found

    def own(self, *path: str | int) -> Path:
        """Where a field of its own container stands."""
        return ("spec", "containers", self.index, *path)

    @property
    def containers(self) -> list[Manifest]:
        """All containers."""
        return [*(self.spec.get("initContainers") or ()), *self.spec["containers"]]

    @property
    def ports(self) -> set[int]:
        """What is listened on as far as anybody knows."""
        declared = {p["containerPort"] for c in self.containers for p in c.get("ports") or ()}
        return {*declared, self.component.port}


def drawn(pods: Pods) -> Fields | None:
    """Fields of the template that become otherwise; None where nothing is possible."""
    left = dict(_SORTS)
    for attempt in range(ATTEMPTS):
        sort = pods.chance.weighted(f"sort{attempt}", left)
        del left[sort]
        if (found := sort(pods)) is not None:
            return found
    return None


def _entry(known: Sequence[Manifest] | None, made: Manifest, chance: Chance) -> list[Manifest] | object:
    """A list with an entry more, or anew, or without the one of that name."""
    others = [each for each in known or () if each["name"] != made["name"]]
    if len(others) < len(known or ()):
        if made in (known or ()) or chance.yes("goes", 0.4):
            return others or REMOVED
        return [made if each["name"] == made["name"] else each for each in known or ()]
    return [*others, made]


# --- containers beside the component's own --------------------------------------------------------------

_BUSYBOXES = (
    "busybox:1.36",
    "busybox:1.35",
    "busybox:1.37",
    "busybox:1.36.1",
    "busybox:1.32",
    "busybox:stable",
    "busybox",
)
_SHELLS = (*_BUSYBOXES, "alpine:3.19", "alpine:3.20", "alpine:latest")
_FIRST: Mapping[str, tuple[str, ...]] = {
    "init-permissions": ("mkdir -p /tmp/work && chmod 0770 /tmp/work", "mkdir -p /tmp/cache && ls -ld /tmp/cache"),
    "print-environment": ("env | sort | head -20", "id; date"),
    "check-hosts": ("until [ -s /etc/hosts ]; do echo waiting for hosts; sleep 2; done", "cat /etc/hosts /etc/resolv.conf"),
    "warm-cache": ("echo warming; sleep 2; echo done", "sleep 1"),
    "banner": ("echo starting; date", "echo release of $(date)"),
    "wait-for-network": ("sleep 3", "until [ -s /etc/resolv.conf ]; do sleep 1; done"),
    "migrate-settings": ("echo no settings to migrate", "mkdir -p /tmp/settings; echo 0 migrated"),
    "prepare": ("mkdir -p /tmp/run /tmp/log", "echo prepared"),
}  # fmt: skip
"""Init containers and what they do."""

_NAMES = (
    "audit-tail", "log-tail", "metrics", "status", "heartbeat", "toolbox", "debug", "telemetry", "agent", "relay", "sidecar",
    "config-watch", "gateway", "statsd", "config-reloader", "shell",
)  # fmt: skip
_IDLE = ("sleep infinity", "exec tail -f /dev/null", "exec sleep infinity", "sleep 31536000")
_LISTENING = (
    "mkdir -p /www && echo ok > /www/index.html && exec httpd -f -p {port} -h /www",
    "exec httpd -f -p {port} -h /tmp",
)
_FREE = (9102, 9113, 9187, 9216, 9464, 8125, 15020, 2020, 9901, 8099, 7001, 18080, 9999)
"""Ports on which a sidecar may listen."""

_SMALL: Manifest = {"requests": {"cpu": "5m", "memory": "16Mi"}, "limits": {"cpu": "100m", "memory": "64Mi"}}


def _first(pods: Pods) -> Fields | None:
    """An init container that is soon done."""
    if pods.bounded or _is_strict(pods):
        return None
    chance, known = pods.chance.at("first"), pods.spec.get("initContainers")
    name = chance.choice("name", tuple(_FIRST))
    if any(
        each["name"] == name and each.get("command", [])[-1:] not in _scripts(name) for each in known or ()
    ):
        return None
    made: Manifest = {
        "name": name,
        "image": chance.choice("image", _SHELLS),
        "command": ["sh", "-c", chance.choice("script", _FIRST[name])],
    }
    if chance.yes("sized", 0.6):
        made["resources"] = _SMALL
    return {("spec", "initContainers"): _entry(known, made, chance)}


def _scripts(name: str) -> list[list[str]]:
    return [[script] for script in _FIRST[name]]


def _is_strict(pods: Pods) -> bool:
    """Whether a container that runs as root would not be started, or would take a port of the machine."""
    context = pods.spec.get("securityContext") or {}
    return bool({"runAsNonRoot", "runAsUser"} & set(context)) or bool(pods.spec.get("hostNetwork"))


def _beside(pods: Pods) -> Fields | None:
    """A sidecar that idles, or listens where nothing else does."""
    if pods.bounded or _is_strict(pods):
        return None
    chance, known = pods.chance.at("beside"), pods.spec["containers"]
    there = {each["name"] for each in pods.containers}
    made: Manifest = {"name": chance.choice("name", _NAMES), "image": chance.choice("image", _SHELLS)}
    script = chance.choice("idle", _IDLE)
    free = [port for port in _FREE if port not in pods.ports]
    if chance.yes("listens", 0.5) and made["name"] not in there:
        port = chance.choice("port", free)
        script = chance.choice("listening", _LISTENING).format(port=port)
        # Alpine has no server of its own.
        made["image"] = chance.choice("server", _BUSYBOXES)
        made["ports"] = [{"containerPort": port}]
    made["command"] = ["sh", "-c", script]
    if chance.yes("sized", 0.6):
        made["resources"] = _SMALL
    if made["name"] in there and not any(_is_ours(each) for each in known if each["name"] == made["name"]):
        return None
    return {("spec", "containers"): _entry(known, made, chance)}


def _is_ours(container: Manifest) -> bool:
    return container["image"] in _SHELLS and container["name"] in _NAMES


# --- names, references, mounts --------------------------------------------------------------------------

_WORDS = (
    "LEGACY",
    "BATCH",
    "AUDIT",
    "REPORTING",
    "EXPORT",
    "NEWSLETTER",
    "PARTNER",
    "INVOICE",
    "ARCHIVE",
    "LOYALTY",
)
_ENDS: Mapping[str, tuple[str, ...]] = {
    "TIMEOUT_MS": ("500", "1500", "3000", "10000"),
    "RETRIES": ("0", "1", "3", "5"),
    "URL": ("http://legacy.example.com", "https://partner.example.com/v2", "http://10.20.4.17:8080"),
    "ENABLED": ("true", "false"),
    "HOST": ("reports.example.com", "archive.example.com:5432", "10.41.7.12"),
    "BATCH_SIZE": ("50", "100", "500"),
    "BUCKET": ("exports-prod", "audit-archive"),
    "LEVEL": ("info", "warn", "debug"),
    "CONCURRENCY": ("2", "4", "16"),
    "PASSWORD_FILE": ("/run/secrets/legacy", "/etc/legacy/password"),
}


def _name(chance: Chance) -> tuple[str, str]:
    end = chance.choice("end", tuple(_ENDS))
    return f"{chance.choice('word', _WORDS)}_{end}", chance.choice("value", _ENDS[end])


def _variable(pods: Pods) -> Fields | None:
    """A variable of something that the program does not have, with a value, or from where one is."""
    chance = pods.chance.at("variable")
    name, value = _name(chance)
    made: Manifest = {"name": name, "value": value}
    objects = list(_unread(pods))
    if chance.yes("from an object", 0.5) and objects:
        found = chance.choice("object", objects)
        field = "secretKeyRef" if found["kind"] == "Secret" else "configMapKeyRef"
        key = chance.choice("key", sorted(found["data"]))
        other = found["metadata"]["name"]
        name = re.sub("[^A-Z0-9]+", "_", f"{other}_{key.partition('.')[0]}".upper()).strip("_")
        made = {"name": name, "valueFrom": {field: {"name": other, "key": key}}}
    elif chance.yes("from the pod", 0.25):
        field = chance.choice(
            "field", ("metadata.name", "spec.nodeName", "status.podIP", "metadata.namespace")
        )
        made = {"name": name, "valueFrom": {"fieldRef": {"fieldPath": field}}}
    return {pods.own("env"): _entry(pods.container.get("env"), made, chance)}


def _all_of_one(pods: Pods) -> Fields | None:
    """All keys of an object that nothing else reads, with a prefix that no program knows."""
    chance, objects = pods.chance.at("all of one"), list(_unread(pods))
    known = pods.container.get("envFrom") or []
    if not objects or known:
        return None
    found = chance.choice("object", objects)
    field = "secretRef" if found["kind"] == "Secret" else "configMapRef"
    made = {"prefix": f"{chance.choice('word', _WORDS)}_", field: {"name": found["metadata"]["name"]}}
    return {pods.own("envFrom"): [made]}


def _unread(pods: Pods) -> Iterator[Manifest]:
    """ConfigMaps and Secrets beside the component that no pod reads: nobody needs them, and nothing becomes of them."""
    near = [m for m in pods.app.manifests if m["metadata"].get("namespace") == pods.namespace]
    read = b"".join(orjson.dumps(m["spec"]) for m in near if m.get("spec"))
    for manifest in near:
        if manifest["kind"] in ("ConfigMap", "Secret") and manifest.get("data"):
            plain = manifest["kind"] == "ConfigMap" or manifest.get("type", "Opaque") == "Opaque"
            if plain and f'"{manifest["metadata"]["name"]}"'.encode() not in read:
                yield manifest


_MOUNTS = (
    "/etc/extra",
    "/opt/settings",
    "/etc/partner",
    "/var/lib/exports",
    "/etc/templates",
    "/srv/shared",
    "/var/spool/audit",
)


def _mount(pods: Pods) -> Fields | None:
    """A volume that the program does not look into: an empty one, or an object that nothing else reads."""
    chance = pods.chance.at("mount")
    name = chance.choice(
        "name", ("extra", "exports", "templates", "partner-settings", "scratch", "audit-spool")
    )
    volumes, mounts = pods.spec.get("volumes") or [], pods.container.get("volumeMounts") or []
    if any(each["name"] == name for each in volumes):
        left = [each for each in volumes if each["name"] != name]
        mounted = [each for each in mounts if each["name"] != name]
        if len(mounted) == len(mounts) or _mounts(pods.containers, name) > 1:
            return None
        return {("spec", "volumes"): left or REMOVED, pods.own("volumeMounts"): mounted or REMOVED}
    path = chance.choice("path", _MOUNTS)
    if any(each["mountPath"].startswith(path) for each in mounts):
        return None
    volume: Manifest = {"name": name, "emptyDir": {}}
    mount: Manifest = {"name": name, "mountPath": path}
    objects = list(_unread(pods))
    if objects and chance.yes("of an object", 0.75):
        found = chance.choice("object", objects)
        other = found["metadata"]["name"]
        volume = {"name": name, "configMap": {"name": other}}
        if found["kind"] == "Secret":
            volume = {"name": name, "secret": {"secretName": other}}
        if chance.yes("read-only", 0.5):
            mount["readOnly"] = True
    return {("spec", "volumes"): [*volumes, volume], pods.own("volumeMounts"): [*mounts, mount]}


def _mounts(containers: Sequence[Manifest], name: str) -> int:
    return sum(mount["name"] == name for each in containers for mount in each.get("volumeMounts") or ())


_OUTSIDE = (
    "legacy-db",
    "ldap",
    "smtp-relay",
    "mainframe",
    "reports",
    "licence-server",
    "partner-api",
    "old-warehouse",
    "sftp",
)


def _alias(pods: Pods) -> Fields | None:
    """A name outside the cluster in the pods' hosts file, which nothing asks for."""
    chance, known = pods.chance.at("alias"), pods.spec.get("hostAliases") or []
    host = f"{chance.choice('host', _OUTSIDE)}.example.com"
    left = [each for each in known if host not in each["hostnames"]]
    if len(left) < len(known):
        return {("spec", "hostAliases"): left or REMOVED}
    net = chance.choice("net", ("10.0", "10.41", "192.168", "172.20", "172.31"))
    names = [host, host.partition(".")[0]] if chance.yes("short", 0.4) else [host]
    made = {
        "ip": f"{net}.{chance.between('low', 0, 254)}.{chance.between('last', 2, 253)}",
        "hostnames": names,
    }
    return {("spec", "hostAliases"): [*known, made]}


_EXTRA_PORTS = {
    "metrics": (9464, 9102, 2112),
    "admin": (9901, 8085),
    "debug": (6060, 5005),
    "profiling": (6061, 7777),
}


def _port(pods: Pods) -> Fields | None:
    """A port that is declared, and on which nobody calls."""
    chance, known = pods.chance.at("port"), pods.container.get("ports")
    name = chance.choice("name", tuple(_EXTRA_PORTS))
    number = chance.choice("number", _EXTRA_PORTS[name])
    taken = {port.get("name") for each in pods.containers for port in each.get("ports") or ()}
    if name in taken or number in pods.ports:
        return None
    return {pods.own("ports"): [*(known or ()), {"name": name, "containerPort": number}]}


# --- how it is started, asked and ended -----------------------------------------------------------------


def _command(pods: Pods) -> Fields | None:
    """The image's own command written down, or left to the image again."""
    container = pods.container
    image = next((each for each in pods.app.images if each.reference == container["image"]), None)
    if image is None or not pods.component.stateless:
        return None
    if "command" in container:
        same = container["command"] == list(image.entrypoint) and container.get("args") == _own_words(pods)
        return (
            {pods.own("command"): REMOVED, pods.own("args"): REMOVED} if same and image.entrypoint else None
        )
    if image.entrypoint:
        given = {} if "args" in container or not image.command else {pods.own("args"): list(image.command)}
        return {pods.own("command"): list(image.entrypoint), **given}
    if image.command and "args" not in container:
        return {pods.own("command"): list(image.command)}
    return None


def _own_words(pods: Pods) -> list[str] | None:
    image = next(each for each in pods.app.images if each.reference == pods.container["image"])
    return list(image.command) if image.command else None


def _asked(pods: Pods) -> Fields | None:
    """A probe more, of the port on which the component serves; or one that names its port otherwise."""
    chance, container, port = pods.chance.at("asked"), pods.container, pods.component.port
    names = {
        each["name"]: each["containerPort"]
        for each in container.get("ports") or ()
        if each.get("name") and each.get("protocol", "TCP") == "TCP"
    }
    found: list[Fields] = []
    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        for way in ("httpGet", "tcpSocket"):
            asked = (container.get(probe) or {}).get(way)
            if asked is not None and "port" in asked:
                now = asked["port"]
                others = [n for n, number in names.items() if number == now] or [names.get(now)]
                found += [{pods.own(probe, way, "port"): other} for other in others if other is not None]
        if port and probe not in container and probe != "livenessProbe":
            made: Manifest = {"tcpSocket": {"port": port}, "periodSeconds": chance.choice("period", (5, 10))}
            if probe == "startupProbe":
                made["failureThreshold"] = 30
            found.append({pods.own(probe): made})
    return chance.choice("which", found) if found else None


def _ended(pods: Pods) -> Fields | None:
    """How long pods may take to end."""
    chance, known = pods.chance.at("ended"), pods.spec.get("terminationGracePeriodSeconds", REMOVED)
    if chance.yes("hook", 0.3):
        if "lifecycle" in pods.container:
            return None
        seconds = chance.choice("seconds", (2, 3, 5))
        return {pods.own("lifecycle"): {"preStop": {"sleep": {"seconds": seconds}}}}
    others = [each for each in (5, 10, 15, 20, 45, 60, 90) if each != known]
    return {("spec", "terminationGracePeriodSeconds"): chance.choice("grace", others)}


# --- who pods are and where they go ---------------------------------------------------------------------


def _account(pods: Pods) -> Fields | None:
    """The account that pods have anyway, or its token, written down."""
    if "serviceAccountName" not in pods.spec and "serviceAccount" not in pods.spec:
        # The API server keeps the field's old name in step with it.
        return {("spec", "serviceAccountName"): "default", ("spec", "serviceAccount"): "default"}
    if "automountServiceAccountToken" not in pods.spec:
        return {("spec", "automountServiceAccountToken"): True}
    return None


def _pull(pods: Pods) -> Fields | None:
    """The pull secret that several others have as well."""
    known = pods.spec.get("imagePullSecrets") or []
    near = [m for m in pods.app.manifests if m["metadata"].get("namespace") == pods.namespace]
    text = [orjson.dumps(m["spec"]) for m in near if m["kind"] in ("Deployment", "StatefulSet")]
    for secret in near:
        if secret["kind"] == "Secret" and secret.get("type") == PULL_SECRET:
            entry = {"name": secret["metadata"]["name"]}
            if entry not in known and sum(orjson.dumps(entry) in each for each in text) > 2:
                return {("spec", "imagePullSecrets"): [*known, entry]}
    return None


_SECURITY: tuple[tuple[str, Any], ...] = (
    ("allowPrivilegeEscalation", False),
    ("readOnlyRootFilesystem", False),
    ("privileged", False),
)


def _secured(pods: Pods) -> Fields | None:
    """What the container may not do, and never does."""
    chance, known = pods.chance.at("secured"), pods.container.get("securityContext") or {}
    context = pods.spec.get("securityContext") or {}
    if chance.yes("pod", 0.5):
        made: Manifest = {"seccompProfile": {"type": "RuntimeDefault"}}
        if chance.yes("groups", 0.4):
            made = {"supplementalGroups": [chance.choice("group", (2000, 3000, 10001))]}
        return None if set(made) & set(context) else {("spec", "securityContext"): {**context, **made}}
    field, value = chance.choice("field", _SECURITY)
    if field in known or known.get("privileged") or (known.get("capabilities") or {}).get("add"):
        return None
    return {pods.own("securityContext"): {**known, field: value}}


_SEARCHED = ("corp.example.com", "prod.example.com", "svc.example.com")


def _names_asked(pods: Pods) -> Fields | None:
    """How names are asked for: nothing that changes what is found."""
    if "dnsConfig" in pods.spec:
        return {("spec", "dnsConfig"): REMOVED} if _is_mild(pods.spec["dnsConfig"]) else None
    if pods.spec.get("dnsPolicy", "ClusterFirst") != "ClusterFirst":
        return None
    chance = pods.chance.at("names")
    options = {
        "ndots": chance.choice("ndots", ("3", "4", "5")),
        "timeout": chance.choice("timeout", ("2", "3")),
        "attempts": chance.choice("attempts", ("3", "4")),
    }
    chosen = chance.sample("options", tuple(options), chance.between("count", 1, 2))
    made: Manifest = {"options": [{"name": name, "value": options[name]} for name in chosen]}
    if chance.yes("search", 0.25):
        made["searches"] = [chance.choice("searched", _SEARCHED)]
    return {("spec", "dnsConfig"): made}


def _is_mild(config: Manifest) -> bool:
    return "nameservers" not in config and set(config.get("searches") or ()) <= set(_SEARCHED)


_HOST, _ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_HEAVY = (("workload-class", "batch"), ("noisy", "true"), ("tier", "analytics"), ("app", "nightly-import"))


def _apart(pods: Pods) -> Fields | None:
    """Not beside pods that there are none of, or rather not beside each other."""
    known = pods.spec.get("affinity") or {}
    if "podAntiAffinity" in known:
        return None
    chance = pods.chance.at("apart")
    key, value = chance.choice("heavy", _HEAVY)
    asked: Manifest = {"matchLabels": {key: value}}
    if chance.yes("expression", 0.3):
        asked = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    term: Manifest = {"topologyKey": _HOST, "labelSelector": asked}
    if chance.yes("required", 0.6):
        rule: Manifest = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    else:
        labels = pods.template["metadata"].get("labels") or {}
        term = {
            "topologyKey": chance.choice("key", (_HOST, _ZONE)),
            "labelSelector": {"matchLabels": dict(labels)},
        }
        rule = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": term}]}
    return {("spec", "affinity"): {**known, "podAntiAffinity": rule}}


def _placed(pods: Pods) -> Fields | None:
    """Where every machine is right, and how long a pod stays on one that is gone."""
    chance = pods.chance.at("placed")
    selector, known = pods.spec.get("nodeSelector") or {}, pods.spec.get("tolerations") or []
    if chance.yes("selector", 0.5):
        if "kubernetes.io/os" in selector:
            return None
        return {("spec", "nodeSelector"): {**selector, "kubernetes.io/os": "linux"}}
    gone = chance.choice("gone", ("not-ready", "unreachable"))
    made = {"key": f"node.kubernetes.io/{gone}", "operator": "Exists", "effect": "NoExecute"}
    if any(each.get("key") == made["key"] for each in known):
        return None
    patience = {"tolerationSeconds": chance.choice("seconds", (120, 300, 600))}
    return {("spec", "tolerations"): [*known, {**made, **patience}]}


def _ranked(pods: Pods) -> Fields | None:
    """A class of priority that is there and takes nobody's place."""
    classes = [
        m["metadata"]["name"]
        for m in pods.app.manifests
        if m["kind"] == "PriorityClass" and m.get("preemptionPolicy") == "Never"
    ]
    if not classes or "priorityClassName" in pods.spec:
        return None
    return {("spec", "priorityClassName"): classes[0]}


_LABELS = {
    "version": ("v1", "v2", "stable"),
    "release-track": ("stable", "main"),
    "squad": ("core", "growth", "travel"),
}


def _labelled(pods: Pods) -> Fields | None:
    """A label for which nothing asks."""
    chance = pods.chance.at("labelled")
    name = chance.choice("name", tuple(_LABELS))
    value, known = chance.choice("value", _LABELS[name]), pods.template["metadata"].get("labels") or {}
    if name in known:
        return None
    return {("metadata", "labels", name): value}


_SORTS: Mapping[Callable[[Pods], Fields | None], float] = {
    _first: 0.14,
    _beside: 0.12,
    _variable: 0.14,
    _mount: 0.12,
    _asked: 0.09,
    _alias: 0.06,
    _command: 0.06,
    _apart: 0.05,
    _names_asked: 0.05,
    _secured: 0.05,
    _account: 0.04,
    _ended: 0.05,
    _port: 0.04,
    _all_of_one: 0.03,
    _placed: 0.03,
    _labelled: 0.02,
    _pull: 0.03,
    _ranked: 0.02,
}
"""Sorts of changes and how often each is made."""
