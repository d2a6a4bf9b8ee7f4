"""What few clusters have and harms nobody: tasks every few minutes that ask the API server, policies that are asked and
answer, workloads of unusual images and settings.

Each is an independent draw with a rate of its own, like an oddity. None selects, constrains or writes anything of the
application, even where it lies in the application's namespace.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster import apply as edits_apply
from sregym_env.cluster import certificates
from sregym_env.cluster.apply import ref
from sregym_env.cluster.edits import IssueCertificate, ObjectRef
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, MINUTE, SECOND
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds.tenants import tasks
from sregym_env.worlds.tenants.deeds import Deed, Install, Story, joined
from sregym_env.worlds.tenants.oddities import Oddity, Place

RBAC, ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"

BY: Mapping[str, float] = {
    "kubectl-client-side-apply": 0.5,
    "kubectl-create": 0.3,
    "OpenAPI-Generator": 0.1,
    "node-fetch": 0.1,
}
"""Who makes such things past any delivery."""


def rarities(place: Place, chance: Chance) -> Story:
    """Draw every rarity by its rate."""
    return joined(
        place.fitted(rarity(place, chance.at(name)))
        for name, (rate, rarity) in RARITIES.items()
        if chance.yes(name, rate)
    )


def _object(version: str, kind: str, namespace: str, name: str, **more: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


# --- a task every few minutes ---------------------------------------------------------------------------

SCHEDULES: Mapping[str, float] = {
    "*/30 * * * *": 0.4, "*/20 * * * *": 0.22, "*/15 * * * *": 0.2, "7,37 * * * *": 0.08, "*/10 * * * *": 0.07, "*/5 * * * *": 0.03,
}  # fmt: skip
"""When they run; every run is simulated, so that the frequent ones are few."""

_WATCHED = (("", "pods"), ("", "configmaps"), ("", "services"), ("apps", "deployments"))
"""(group, resource) that such a task looks at."""

_ASKS = (
    "sa=/var/run/secrets/kubernetes.io/serviceaccount; curl -sS -m 5 -o /dev/null -w 'HTTP %{{http_code}}\\n' --cacert $sa/ca.crt "
    '-H "Authorization: Bearer $(cat $sa/token)" '
    "https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/{path}/namespaces/{namespace}/{resource}?limit=1 || echo unreachable"
)


def _frequent_task(place: Place, chance: Chance) -> Story:
    """A CronJob that runs every few minutes, mostly with an account of its own, and looks at what there is."""
    namespace = place.namespace(chance, 0.5)
    name = chance.choice(
        "name", ("inventory", "heartbeat", "pod-report", "config-audit", "usage-sampler", "quota-report", "drift-report", "cache-warmer")
    )  # fmt: skip
    account = chance.yes("account", 0.7)
    group, resource = chance.choice("watched", _WATCHED)
    image = chance.choice(
        "image", ("curlimages/curl:8.7.1", "curlimages/curl:8.10.1", "bitnami/kubectl:1.31")
    )
    made: list[Manifest] = []
    script = f"echo {name} started; sleep {chance.between('seconds', 2, 12)}; echo {name} done"
    if account:
        path = f"apis/{group}/v1" if group else "api/v1"
        script = _ASKS.format(path=path, namespace=namespace, resource=resource)
        verbs = ["get", "list", "patch"] if chance.yes("writes", 0.4) else ["get", "list"]
        rule = {"apiGroups": [group], "resources": [resource], "verbs": verbs}
        who = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
        role = {"apiGroup": RBAC, "kind": "Role", "name": name}
        made += [
            _object("v1", "ServiceAccount", namespace, name),
            _object(f"{RBAC}/v1", "Role", namespace, name, rules=[rule]),
            _object(f"{RBAC}/v1", "RoleBinding", namespace, name, roleRef=role, subjects=[who]),
        ]
    container = {
        "name": chance.choice("container", ("main", "run", name)),
        "image": image,
        "command": ["sh", "-c", script],
    }
    pod: Manifest = {
        "containers": [container],
        "restartPolicy": chance.choice("restart", ("Never", "OnFailure")),
    }
    if account:
        pod["serviceAccountName"] = name
    spec: Manifest = {
        "schedule": chance.weighted("schedule", SCHEDULES),
        "suspend": True,
        "concurrencyPolicy": chance.choice("concurrency", ("Forbid", "Forbid", "Allow")),
        "successfulJobsHistoryLimit": chance.choice("kept", (1, 1, 3)),
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "spec": {"backoffLimit": chance.choice("retries", (0, 1)), "template": {"spec": pod}}
        },
    }
    task = _object("batch/v1", "CronJob", namespace, name, spec=spec)
    target, by = ref(task), chance.weighted("by", BY)
    time = place.some_time(chance)
    since = max(time + MINUTE, tasks.since(spec, 1, place.span.present, chance))
    deeds = (
        Deed(time, Install((*made, task), by)),
        Deed(since, tasks.Ran(target)),
        Deed(since, tasks.GoesOn(target, by)),
    )
    return Story(deeds, pods=1)


# --- policies that are asked ----------------------------------------------------------------------------

AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.53"

_POLICIES = (
    ("tag-policy", "tags.policy.example.com"),
    ("ownership", "ownership.rules.example.com"),
    ("limits-advisor", "limits.advisor.example.com"),
    ("sandbox-rules", "rules.sandbox.example.com"),
)
"""(name of a server, name of its webhook)."""

YEARS = 3650 * 86400.0
"""Seconds for which a server's certificate is valid."""


@dataclass(frozen=True, slots=True)
class Certify:
    """The certificate of a server is issued and laid into its Secret."""

    target: ObjectRef
    names: tuple[str, ...]
    by: str

    def do(self, world: EmbeddedWorld) -> None:
        """Issue it."""
        edits_apply.apply(world, IssueCertificate(self.target, self.names, 86400.0, YEARS), self.by)


def _policy(place: Place, chance: Chance) -> Story:
    """A server that is asked about the pods of a neighbour's namespace, and lets them through."""
    if not place.spaces:
        return Story()
    asked = chance.choice("asked", tuple(place.spaces))
    name, webhook = chance.choice("policy", _POLICIES)
    space, by = chance.choice("space", ("default", "kube-system")), chance.weighted("by", BY)
    secret = ObjectRef("secrets", f"{name}-tls", space)
    host = f"{name}.{space}.svc"
    kind, path = chance.choice("kind", (("Validating", "/pods"), ("Mutating", "/mutating-pods")))
    authority = certificates.authority(f"{space}/{secret.name}")
    service = {"namespace": space, "name": name, "path": path, "port": 443}
    hook = {
        "name": webhook,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service, "caBundle": b64encode(authority.encode()).decode()},
        "failurePolicy": chance.choice("failure", ("Fail", "Ignore")),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": asked}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "sideEffects": "None",
        "timeoutSeconds": chance.choice("timeout", (3, 5, 10)),
    }  # fmt: skip
    configuration = _object(f"{ADMISSION}/v1", f"{kind}WebhookConfiguration", "", name, webhooks=[hook])
    time = place.some_time(chance)
    deeds = (
        Deed(time, Certify(secret, (host, f"{host}.cluster.local"), by)),
        Deed(time + 2 * SECOND, Install(tuple(_server(name, space)), by)),
        Deed(time + 3 * MINUTE, Install((configuration,), by)),
    )
    return Story(deeds, pods=1)


def _server(name: str, space: str) -> list[Manifest]:
    labels = {"app": name}
    container = {
        "name": "policy",
        "image": AGNHOST,
        "args": ["webhook", "--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key", "--port=9443"],
        "ports": [{"containerPort": 9443}],
        "volumeMounts": [{"name": "tls", "mountPath": "/tls", "readOnly": True}],
        "resources": {"requests": {"cpu": "10m", "memory": "24Mi"}},
    }  # fmt: skip
    pod = {
        "containers": [container],
        "volumes": [{"name": "tls", "secret": {"secretName": f"{name}-tls"}}],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    service = {"selector": labels, "ports": [{"port": 443, "targetPort": 9443}]}
    return [
        _object("apps/v1", "Deployment", space, name, spec=deployment),
        _object("v1", "Service", space, name, spec=service),
    ]


# --- unusual workloads ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a small workload runs."""

    names: tuple[str, ...]
    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    port: int = 0
    settings: tuple[str, str, str] | None = None
    """A file that it reads: its directory, name and text."""


_IDLE = ("sh", "-c", "echo ready; sleep infinity")
_KINDS = (
    _Kind(("mqtt", "broker", "telemetry-broker"), "eclipse-mosquitto:2.0.20", port=1883,
          settings=("/mosquitto/config", "mosquitto.conf", "listener 1883\nallow_anonymous true\n")),
    _Kind(("echo", "connectivity-check", "ping"), "registry.k8s.io/e2e-test-images/agnhost:2.45",
          args=("netexec", "--http-port=8080"), port=8080),
    _Kind(("requests", "probe-client", "http-toolbox"), "curlimages/curl:8.10.1", command=_IDLE),
    _Kind(("cert-toolbox", "tls-check"), "alpine/openssl:3.3.2", command=_IDLE),
    _Kind(("mqtt-load", "device-simulator"), "emqx/emqtt-bench:0.4.17", command=_IDLE),
    _Kind(("transcoder", "thumbnails"), "jrottenberg/ffmpeg:6.1-ubuntu2404", command=_IDLE),
    _Kind(("ops-shell", "kubectl-proxy"), "bitnami/kubectl:1.31", command=_IDLE),
)  # fmt: skip


def _unusual(place: Place, chance: Chance) -> Story:
    """One or two small workloads of images and with settings that few have."""
    stories = []
    for index, kind in enumerate(chance.sample("kinds", _KINDS, chance.between("count", 1, 2))):
        mine = chance.at(index)
        name = mine.choice("name", kind.names)
        namespace = mine.choice("foreign", place.foreign)
        labels = {"app": name}
        container: Manifest = {"name": name, "image": kind.image}
        if kind.command:
            container["command"] = list(kind.command)
        if kind.args:
            container["args"] = list(kind.args)
        pod: Manifest = {"containers": [container]}
        if mine.yes("resolver", 0.3):
            pod["dnsPolicy"] = "Default"
        if mine.yes("apart", 0.3):
            rule = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
            pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
        spec = {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }
        made = [_object("apps/v1", "Deployment", namespace, name, spec=spec)]
        if kind.settings is not None:
            folder, file, text = kind.settings
            container["volumeMounts"] = [{"name": "settings", "mountPath": folder}]
            pod["volumes"] = [{"name": "settings", "configMap": {"name": name}}]
            made.insert(0, _object("v1", "ConfigMap", namespace, name, data={file: text}))
        if kind.port:
            container["ports"] = [{"containerPort": kind.port}]
            service: Manifest = {"selector": labels, "ports": [{"port": kind.port}]}
            if mine.yes("headless", 0.5):
                service["clusterIP"] = "None"
            made.append(_object("v1", "Service", namespace, name, spec=service))
        time = place.ago(mine.lognormal("ago", 30.0, 1.0) * DAY)
        stories.append(Story((Deed(time, Install(tuple(made), mine.weighted("by", BY))),), pods=1))
    return joined(stories)


def _ordinary_class(place: Place, chance: Chance) -> Story:
    """A priority class that ranks no higher than having none."""
    name = chance.choice("name", ("ordinary", "usual-work", "regular", "team-usual"))
    made: Manifest = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 0,
        "description": chance.choice("says", ("Whatever asks for nothing else", "As if there were no class", "Ordinary workloads")),
    }  # fmt: skip
    return Story((Deed(place.some_time(chance), Install((made,), chance.weighted("by", BY))),))


def _space(place: Place, chance: Chance) -> Story:
    """A namespace that somebody has made by hand, with settings and nothing that runs."""
    name = chance.choice(
        "name",
        ("scratch", "ops-tools", "platform-tools", "automation", "load-tests", "experiments", "maintenance"),
    )
    made = [_object("v1", "Namespace", "", name)]
    if chance.yes("settings", 0.6):
        data = {"owner": chance.choice("owner", ("platform", "ops", "sre")), "mode": "manual"}
        made.append(_object("v1", "ConfigMap", name, f"{name}-settings", data=data))
    return Story((Deed(place.some_time(chance), Install(tuple(made), chance.weighted("by", BY))),))


RARITIES: Mapping[str, tuple[float, Oddity]] = {
    "frequent task": (0.2, _frequent_task),
    "policy": (0.08, _policy),
    "unusual": (0.22, _unusual),
    "ordinary class": (0.1, _ordinary_class),
    "space": (0.2, _space),
}
"""Rate and maker of each rarity."""
