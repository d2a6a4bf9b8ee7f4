"""What lies about in every cluster and harms nobody: left-overs, broken experiments, odd but intended settings.

Each oddity is an independent draw with a rate of its own, so that no two worlds carry the same bundle. None selects,
routes to or constrains a pod of the application, even where it lies in the application's namespace.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.apply import ref
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.worlds.tenants.deeds import SETTLING, Deed, Install, Patch, Remove, Story, joined
from sregym_env.worlds.tenants.tasks import GoesOn, Ran, RunByHand
from sregym_env.worlds.tenants.workloads import BUSYBOX, Span, task


@dataclass(frozen=True, slots=True)
class Place:
    """Where an oddity is found."""

    spaces: Mapping[str, int]
    """Namespaces of neighbours, and since when each exists."""
    own: str
    """The application's namespace; empty where its quota leaves no room for what is not its own."""
    since: int
    """Since when that exists."""
    span: Span
    tool: str
    """The delivery tool of the cluster."""
    names: tuple[str, ...]
    """Names of the application's components."""
    served: tuple[Manifest, ...] = ()
    """Deployments in the application's namespace whose pods a Service selects."""

    @property
    def foreign(self) -> tuple[str, ...]:
        """Namespaces of others."""
        return (*self.spaces, "default")

    def namespace(self, chance: Chance, share: float = 0.35) -> str:
        """The application's namespace with a probability, else a neighbour's or ``default``."""
        if self.own and chance.yes("own", share):
            return self.own
        return chance.choice("foreign", self.foreign)

    def ago(self, age: float) -> int:
        """The time that lies so many microseconds back."""
        return min(self.span.ago(age), self.span.present - 15 * MINUTE)

    def some_time(self, chance: Chance) -> int:
        """Any time: days and weeks ago."""
        return self.ago(chance.lognormal("ago", 20.0, 1.1) * DAY)

    def fitted(self, story: Story) -> Story:
        """A story in which nothing is done in a namespace before that is there."""
        deeds = []
        for index, deed in enumerate(story.deeds):
            earliest = max((self._exists(name) for name in _spaces(deed)), default=0)
            latest = self.span.present - SETTLING - (len(story.deeds) - index) * SECOND
            deeds.append(Deed(min(max(deed.time, earliest + (index + 1) * MINUTE), latest), deed.act))
        return Story(tuple(deeds), story.images, story.pods)

    def _exists(self, namespace: str) -> int:
        return self.since if namespace and namespace == self.own else self.spaces.get(namespace, 0)


def _spaces(deed: Deed) -> list[str]:
    """The namespaces in which something is done."""
    match deed.act:
        case Install(manifests=manifests):
            return [m["metadata"].get("namespace", "") for m in manifests]
        case (
            Remove(target=target)
            | Patch(target=target)
            | Ran(target=target)
            | GoesOn(target=target)
            | RunByHand(target=target)
        ):
            return [target.namespace or ""]
        case _:
            return []


Oddity = Callable[[Place, Chance], Story]


def oddities(place: Place, chance: Chance) -> Story:
    """Draw every oddity by its rate."""
    found = []
    for name, (rate, oddity) in ODDITIES.items():
        if chance.yes(name, rate):
            found.append(place.fitted(oddity(place, chance.at(name))))
    return joined(found)


def _object(version: str, kind: str, namespace: str, name: str, **more: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


def _pod(namespace: str, name: str, script: str, **more: Any) -> Manifest:
    """A pod that runs a script; extra fields go into its spec."""
    container = {"name": "main", "image": BUSYBOX, "command": ["sh", "-c", script]}
    spec = {"containers": [container], "restartPolicy": "Never", **more}
    made = _object("v1", "Pod", namespace, name, spec=spec)
    return {**made, "metadata": {**made["metadata"], "labels": {"run": name}}}


def _by(chance: Chance) -> str:
    """Who makes things by hand."""
    return chance.weighted(
        "by",
        {
            "kubectl-create": 0.5,
            "kubectl-run": 0.0001,
            "kubectl-client-side-apply": 0.35,
            "node-fetch": 0.07,
            "Mozilla": 0.08,
        },
    )


def _suffix(chance: Chance, length: int = 5) -> str:
    letters = "bcdfghjklmnpqrstvwxz2456789"
    return "".join(chance.choice(f"letter{index}", letters) for index in range(length))


def _one(time: int, manager: str, *manifests: Manifest) -> Story:
    return Story((Deed(time, Install(manifests, manager)),))


# --- pods that ended ------------------------------------------------------------------------------------

_CHORES = (
    "db-migrate",
    "load-test",
    "import",
    "backfill",
    "smoke-test",
    "seed-data",
    "reindex",
    "export",
    "copy-bucket",
    "rotate-keys",
)


def _ended_pods(place: Place, chance: Chance) -> Story:
    """Completed and failed pods that nobody has deleted."""
    stories = []
    for index in range(chance.between("count", 1, 3)):
        mine = chance.at(index)
        name = f"{mine.choice('chore', _CHORES)}-{_suffix(mine)}"
        namespace = place.namespace(mine)
        # Alerting rules watch the application's namespace: a failed pod would not stay there unnoticed.
        well = namespace == place.own or mine.yes("completed", 0.5)
        code = 0 if well else mine.choice("code", (1, 1, 2, 137))
        script = f"echo {name}; sleep {mine.between('seconds', 2, 200)}; exit {code}"
        pod = _pod(namespace, name, script)
        stories.append(_one(place.some_time(mine), "kubectl-run", pod))
    return joined(stories)


def _evicted_pod(place: Place, chance: Chance) -> Story:
    """A pod that wrote more than its volume may hold, and was evicted."""
    name = f"{chance.choice('chore', _CHORES)}-{_suffix(chance)}"
    namespace = chance.choice("namespace", place.foreign)
    pod = _pod(namespace, name, "head -c 3000000 /dev/zero > /scratch/dump; sleep infinity")
    spec = pod["spec"]
    container = {**spec["containers"][0], "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
    volume = {"name": "scratch", "emptyDir": {"sizeLimit": "1Mi"}}
    pod = {**pod, "spec": {**spec, "containers": [container], "volumes": [volume]}}
    return _one(place.some_time(chance), "kubectl-run", pod)


def _debug_pod(place: Place, chance: Chance) -> Story:
    """A shell that somebody has left behind."""
    name = chance.choice(
        "name", ("debug", "tmp-shell", "netshoot", "toolbox", "test", "curl", "dnsutils", "shell")
    )
    pod = _pod(place.namespace(chance), f"{name}-{_suffix(chance, 3)}", "sleep infinity")
    return _one(place.some_time(chance), "kubectl-run", pod)


def _bare_pod(place: Place, chance: Chance) -> Story:
    """A server without a controller."""
    name = chance.choice("name", ("nginx", "static", "mock-api", "echo", "whoami", "proxy-test"))
    pod = _object("v1", "Pod", chance.choice("foreign", place.foreign), f"{name}-{_suffix(chance, 2)}")
    pod["metadata"]["labels"] = {"run": name}
    pod["spec"] = {"containers": [{"name": name, "image": "nginx:1.25"}]}
    return _one(place.some_time(chance), "kubectl-run", pod)


def _broken_sandbox(place: Place, chance: Chance) -> Story:
    """An experiment of somebody else that never ran, or does not any more, or ends every few days.

    A container that fails every five minutes would cost as much as all the rest of its world, for as long as it
    lives; none is left here.
    """
    namespace = chance.choice("foreign", place.foreign)
    name = f"{chance.choice('name', _TRIALS)}-{chance.choice('kind', ('test', 'poc', 'demo', 'sandbox', 'spike'))}"
    how = chance.weighted("how", {"unschedulable": 0.5, "error": 0.3, "ends": 0.2})
    labels = {"app": name}
    container: Manifest = {"name": name, "image": BUSYBOX, "command": ["sh", "-c", "sleep infinity"]}
    pod: Manifest = {"containers": [container]}
    time = place.ago(chance.lognormal("age", 45.0, 0.8) * DAY)
    if how == "unschedulable":
        pod["nodeSelector"] = chance.choice("selector", _ABSENT)
    elif how == "error":
        script = f"echo {chance.choice('error', _WORDS)}; exit {chance.choice('code', (1, 1, 2, 3))}"
        return _one(time, _by(chance), _pod(namespace, f"{name}-{_suffix(chance)}", script))
    else:
        days = max(chance.choice("days", (1, 2, 3, 5)), (place.span.present - time) // DAY // 14)
        seconds = days * 86_400 + chance.below("odd", 86_400)
        container["command"] = ["sh", "-c", f"sleep {seconds}; echo {chance.choice('error', _WORDS)}; exit 1"]
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return _one(time, _by(chance), _object("apps/v1", "Deployment", namespace, name, spec=spec))


_ABSENT = ({"gpu": "true"}, {"nodepool": "highmem"}, {"kubernetes.io/arch": "s390x"}, {"disk": "nvme"})
"""Node labels that no machine has."""
_TRIALS = (
    "llm",
    "spark",
    "ml",
    "kafka",
    "flink",
    "airflow",
    "dask",
    "vllm",
    "ray",
    "superset",
    "druid",
    "trino",
    "feature-store",
)
_WORDS = (
    "panic: missing DSN",
    "config not found",
    "Error: Cannot find module 'express'",
    "no credentials",
    "KeyError: 'TOKEN'",
)

# --- tasks ----------------------------------------------------------------------------------------------


def _failing_task(place: Place, chance: Chance) -> Story:
    """A CronJob that fails, and that nobody looks at."""
    name = chance.choice(
        "name", ("old-export", "legacy-sync", "mail-digest", "cert-check", "bucket-cleanup", "ldap-sync")
    )
    namespace = chance.choice("foreign", place.foreign)
    return task(namespace, name, chance, place.span, place.tool, fails=True)


def _suspended_task(place: Place, chance: Chance) -> Story:
    """A CronJob that is switched off."""
    name = chance.choice(
        "name", ("manual-reindex", "yearly-report", "migrate-once", "rebuild-cache", "gdpr-export")
    )
    return task(place.namespace(chance, 0.2), name, chance, place.span, place.tool, suspended=True)


# --- services -------------------------------------------------------------------------------------------


def _empty_service(place: Place, chance: Chance) -> Story:
    """A Service of something that is no more, or not yet."""
    stories = []
    for index in range(chance.between("count", 1, 2)):
        mine = chance.at(index)
        name = f"{mine.choice('stem', (*place.names, 'api', 'web', 'portal'))}-{mine.choice('end', ('v1', 'old', 'blue', 'canary', 'legacy'))}"
        port = mine.choice("port", (80, 8080, 9090, 5000))
        spec: Manifest = {
            "ports": [{"port": port, "targetPort": mine.choice("target", (port, 8080, 9999, 3000))}],
            "selector": {"app": name, "slot": "idle"},
        }
        if mine.yes("external", 0.15):
            spec = {"type": "ExternalName", "externalName": f"{name}.internal.example.com"}
        namespace = place.namespace(mine, 0.5)
        stories.append(
            _one(place.some_time(mine), _by(mine), _object("v1", "Service", namespace, name, spec=spec))
        )
    return joined(stories)


def _deaf_port(place: Place, chance: Chance) -> Story:
    """A Service of a running pod that forwards to a port on which nobody listens; nobody calls it."""
    name = f"metrics-{chance.choice('name', ('sidecar', 'proxy', 'shim', 'bridge'))}"
    namespace = chance.choice("foreign", place.foreign)
    labels = {"run": name}
    pod = _object("v1", "Pod", namespace, name)
    pod["metadata"]["labels"] = labels
    pod["spec"] = {"containers": [{"name": name, "image": "nginx:1.25"}]}
    port = chance.choice("port", (9090, 9999, 9113, 8125))
    spec = {"ports": [{"port": port, "targetPort": port}], "selector": labels}
    return _one(
        place.some_time(chance), _by(chance), pod, _object("v1", "Service", namespace, name, spec=spec)
    )


# --- storage --------------------------------------------------------------------------------------------


def _waiting_claim(place: Place, chance: Chance) -> Story:
    """A claim that waits for its first consumer for ever, as its class says."""
    name = f"{chance.choice('name', ('data', 'cache', 'scratch', 'uploads', 'backup'))}-{chance.choice('of', (*_TRIALS,))}"
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": chance.choice("size", ("1Gi", "5Gi", "10Gi", "20Gi"))}},
    }
    namespace = chance.choice("foreign", place.foreign)
    return _one(
        place.some_time(chance),
        _by(chance),
        _object("v1", "PersistentVolumeClaim", namespace, name, spec=spec),
    )


def _released_volume(place: Place, chance: Chance) -> Story:
    """A volume whose claim has been deleted and whose data are kept."""
    name = f"{chance.choice('name', ('legacy', 'restore', 'archive', 'nfs'))}-{_suffix(chance)}"
    size = {"storage": chance.choice("size", ("5Gi", "10Gi", "50Gi"))}
    namespace = chance.choice("foreign", place.foreign)
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": size,
            "hostPath": {"path": f"/mnt/{name}"},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "manual",
        },
    }
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": size},
        "storageClassName": "manual",
        "volumeName": name,
    }
    claim = _object("v1", "PersistentVolumeClaim", namespace, name, spec=spec)
    time = place.some_time(chance)
    gone = min(time + 3 * MINUTE + chance.below("kept", 20) * HOUR, place.span.present - 5 * MINUTE)
    deeds = (Deed(time, Install((volume, claim), _by(chance))), Deed(gone, Remove(ref(claim))))
    return Story(deeds)


# --- what is kept ---------------------------------------------------------------------------------------


def _unused(place: Place, chance: Chance) -> Story:
    """ConfigMaps and Secrets that nothing mounts any more."""
    stories = []
    taken: set[tuple[str, str, str]] = set()
    for index in range(1 + chance.poisson("count", 3.0)):
        mine = chance.at(index)
        namespace = place.namespace(mine, 0.5)
        stem = mine.choice("stem", (*place.names, "app", "feature-flags", "nginx", "smtp", "oauth"))
        if mine.yes("secret", 0.45):
            name = f"{stem}-{mine.choice('end', ('token', 'tls-2024', 'credentials-old', 'db-secret', 'api-key'))}"
            value = b64encode(f"{mine.bits('value'):016x}".encode()).decode()
            made = _object("v1", "Secret", namespace, name, type="Opaque", data={"value": value})
        else:
            hashed = f"{mine.bits('hash'):016x}"[:10]
            name = f"{stem}-{mine.choice('end', ('config', 'settings', 'env', 'defaults'))}"
            name += (
                f"-{hashed}"
                if mine.yes("hashed", 0.4)
                else f"-{mine.choice('age', ('old', 'v1', 'v2', 'backup', '2025'))}"
            )
            data = {
                mine.choice(
                    "key", ("config.yaml", "app.properties", "settings.ini")
                ): f"level: {mine.choice('level', ('info', 'warn'))}\n"
            }
            made = _object("v1", "ConfigMap", namespace, name, data=data)
        key = (made["kind"], namespace, name)
        if key not in taken:
            taken.add(key)
            stories.append(_one(place.some_time(mine), _by(mine), made))
    return joined(stories)


def _stuck(place: Place, chance: Chance) -> Story:
    """An object whose deletion waits for a controller that is no more."""
    name = f"{chance.choice('name', ('cluster', 'tenant', 'backup', 'bucket'))}-{_suffix(chance, 4)}"
    made = _object(
        "v1",
        "ConfigMap",
        chance.choice("foreign", place.foreign),
        name,
        data={"state": "bound"},
    )
    made["metadata"]["finalizers"] = [
        chance.choice("finalizer", ("operator.example.com/cleanup", "storage.example.com/protect"))
    ]
    time = place.some_time(chance)
    deeds = (Deed(time, Install((made,), "manager")), Deed(time + 4 * MINUTE, Remove(ref(made))))
    return Story(deeds)


def _orphaned_set(place: Place, chance: Chance) -> Story:
    """A ReplicaSet whose Deployment was deleted without it."""
    name = f"{chance.choice('name', _TRIALS)}-{chance.choice('end', ('api', 'ui', 'proxy'))}"
    namespace = chance.choice("foreign", place.foreign)
    made = _idle(namespace, name, 1)
    time = place.some_time(chance)
    deeds = (
        Deed(time, Install((made,), _by(chance))),
        Deed(time + 6 * MINUTE, Remove(ref(made), "Orphan")),
    )
    return Story(deeds, pods=1)


def _idle(namespace: str, name: str, replicas: int) -> Manifest:
    labels = {"app": name}
    container = {"name": name, "image": "nginx:1.25", "ports": [{"containerPort": 80}]}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return _object("apps/v1", "Deployment", namespace, name, spec=spec)


def _switched_off(place: Place, chance: Chance) -> Story:
    """A Deployment of which no pod is wanted."""
    stem = chance.choice("stem", (*place.names, "portal", "api", "landing"))
    name = f"{stem}-{chance.choice('end', ('canary', 'old', 'green', 'preview', 'maintenance'))}"
    made = _idle(chance.choice("foreign", place.foreign), name, 0)
    return _one(place.some_time(chance), _by(chance), made)


def _former_self(place: Place, chance: Chance) -> Story:
    """What a component was before it became a Deployment, kept at nothing in case that goes wrong.

    It has the component's labels and one more, so that the Service would select its pods: whoever gives it a replica
    sends users to what has been retired. A StatefulSet, because alerting rules watch Deployments without replicas.
    """
    if not place.own or not place.served:
        return Story()
    model = chance.choice("of", place.served)
    key, values = chance.choice(
        "key", (("generation", ("1", "previous")), ("slot", ("idle", "old")), ("kind", ("stateful",)), ("release-line", ("v1", "legacy")))
    )  # fmt: skip
    own = {key: chance.choice("value", values)}
    name, spec = model["metadata"]["name"], model["spec"]
    labels = spec["template"]["metadata"]["labels"]
    made = {
        "replicas": 0,
        "serviceName": name,
        "selector": {"matchLabels": {**spec["selector"]["matchLabels"], **own}},
        "template": {"metadata": {"labels": {**labels, **own}}, "spec": spec["template"]["spec"]},
    }
    called = (
        f"{name}-{chance.choice('end', ('sts', 'old', 'v1', 'legacy', 'stateful', 'previous', 'retired'))}"
    )
    set_ = _object("apps/v1", "StatefulSet", place.own, called, spec=made)
    return _one(
        place.some_time(chance), _by(chance), {**set_, "metadata": {**set_["metadata"], "labels": own}}
    )


def _paused(place: Place, chance: Chance) -> Story:
    """A rollout that somebody has paused and that serves on."""
    name = f"{chance.choice('name', ('docs', 'landing', 'status-page', 'mock'))}-{chance.choice('end', ('site', 'web'))}"
    namespace = chance.choice("foreign", place.foreign)
    made = _idle(namespace, name, 1)
    time = place.some_time(chance)
    deeds = (
        Deed(time, Install((made,), _by(chance))),
        Deed(time + 9 * MINUTE, Patch(ref(made), {"spec": {"paused": True}}, "kubectl-rollout")),
    )
    return Story(deeds, pods=1)


# --- healed ---------------------------------------------------------------------------------------------


def _healed_scheduling(place: Place, chance: Chance) -> Story:
    """A pod that asked for more than there was, until somebody asked for less: its events are still there."""
    name = f"{chance.choice('name', ('etl', 'batch', 'trainer', 'report'))}-{chance.choice('end', ('worker', 'runner'))}"
    namespace = chance.choice("foreign", place.foreign)
    made = _idle(namespace, name, 1)
    big = {"containers": [{"name": name, "resources": {"requests": {"cpu": "64"}}}]}
    small = {"containers": [{"name": name, "resources": {"requests": {"cpu": "50m"}}}]}
    time = place.ago(chance.uniform("ago", 18.0, 55.0) * MINUTE)
    target = ref(made)
    deeds = (
        Deed(place.span.ago(2 * DAY), Install((made,), _by(chance))),
        Deed(time, Patch(target, {"spec": {"template": {"spec": big}}}, "kubectl-edit")),
        Deed(time + 4 * MINUTE, Patch(target, {"spec": {"template": {"spec": small}}}, "kubectl-edit")),
    )
    return Story(deeds, pods=1)


def _healed_pull(place: Place, chance: Chance) -> Story:
    """A tag that did not exist, and was corrected."""
    name = f"{chance.choice('name', ('mock', 'stub', 'fixture', 'sample'))}-{chance.choice('end', ('api', 'service'))}"
    namespace = chance.choice("foreign", place.foreign)
    made = _idle(namespace, name, 1)
    wrong = {"containers": [{"name": name, "image": "nginx:1.25.77"}]}
    right = {"containers": [{"name": name, "image": "nginx:1.26"}]}
    time = place.ago(chance.uniform("ago", 18.0, 55.0) * MINUTE)
    target = ref(made)
    deeds = (
        Deed(place.span.ago(3 * DAY), Install((made,), _by(chance))),
        Deed(time, Patch(target, {"spec": {"template": {"spec": wrong}}}, "kubectl-set")),
        Deed(time + 2 * MINUTE, Patch(target, {"spec": {"template": {"spec": right}}}, "kubectl-set")),
    )
    return Story(deeds, pods=1)


# --- odd, and meant so ----------------------------------------------------------------------------------


def _recycled(place: Place, chance: Chance) -> Story:
    """A worker that ends by itself every few weeks, so that its restarts are many and old."""
    name = f"{chance.choice('name', ('mail', 'queue', 'thumbnail', 'webhook', 'pdf'))}-{chance.choice('end', ('worker', 'consumer'))}"
    namespace = chance.choice("foreign", place.foreign)
    days = chance.choice("days", (7, 10, 14, 21, 30))
    made = _idle(namespace, name, 1)
    days = max(days, place.span.length // DAY // 12)
    script = f"echo worker started; sleep {days * 86400 + chance.below('odd', 7200)}; echo maximum lifetime reached; exit 1"
    container = {"name": name, "image": BUSYBOX, "command": ["sh", "-c", script]}
    made["spec"]["template"]["spec"]["containers"] = [container]
    return Story(_one(place.span.installed(chance), _by(chance), made).deeds, pods=1)


def _late_store(place: Place, chance: Chance) -> Story:
    """A worker that was installed before its store, and restarted until that was there."""
    stem = chance.choice("stem", ("cart", "feed", "rules", "quota", "audit"))
    namespace = chance.choice("foreign", place.foreign)
    store, worker = _idle(namespace, f"{stem}-store", 1), _idle(namespace, f"{stem}-worker", 1)
    script = f"nc -z -w 2 {stem}-store 80 || (echo cannot reach {stem}-store; exit 1) || exit 1; echo connected; sleep infinity"
    worker["spec"]["template"]["spec"]["containers"] = [
        {"name": f"{stem}-worker", "image": BUSYBOX, "command": ["sh", "-c", script]}
    ]
    spec = {"ports": [{"port": 80}], "selector": {"app": f"{stem}-store"}}
    service = _object("v1", "Service", namespace, f"{stem}-store", spec=spec)
    time = place.some_time(chance)
    deeds = (
        Deed(time, Install((worker, service), place.tool)),
        Deed(time + chance.between("later", 12, 70) * SECOND, Install((store,), place.tool)),
    )
    return Story(deeds, pods=2)


def _namespace_rules(place: Place, chance: Chance) -> Story:
    """A closed, limited namespace in which nothing runs."""
    name = f"{chance.choice('name', ('restricted', 'pci', 'quarantine', 'legacy', 'training', 'hackathon'))}{chance.choice('end', ('', '-zone', '-apps'))}"
    closed = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    hard = {"pods": "10", "requests.cpu": "2", "requests.memory": "4Gi"}
    made = (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        _object("networking.k8s.io/v1", "NetworkPolicy", name, "default-deny-all", spec=closed),
        _object("v1", "ResourceQuota", name, "quota", spec={"hard": hard}),
    )
    return _one(place.some_time(chance), place.tool, *made)


def _accounts(place: Place, chance: Chance) -> Story:
    """Service accounts that no pod uses, with a long-lived token as before 1.24."""
    name = chance.choice(
        "name", ("ci-deployer", "jenkins", "gitlab-runner", "prometheus-scraper", "vault-auth")
    )
    namespace = place.namespace(chance)
    made = [_object("v1", "ServiceAccount", namespace, name)]
    if chance.yes("token", 0.5):
        token = _object(
            "v1", "Secret", namespace, f"{name}-token", type="kubernetes.io/service-account-token"
        )
        token["metadata"]["annotations"] = {"kubernetes.io/service-account.name": name}
        made.append(token)
    return _one(place.some_time(chance), _by(chance), *made)


ODDITIES: Mapping[str, tuple[float, Oddity]] = {
    "ended pods": (0.35, _ended_pods),
    "evicted pod": (0.15, _evicted_pod),
    "debug pod": (0.10, _debug_pod),
    "bare pod": (0.12, _bare_pod),
    "broken sandbox": (0.30, _broken_sandbox),
    "failing task": (0.20, _failing_task),
    "suspended task": (0.15, _suspended_task),
    "empty service": (0.30, _empty_service),
    "deaf port": (0.10, _deaf_port),
    "waiting claim": (0.15, _waiting_claim),
    "released volume": (0.15, _released_volume),
    "unused": (0.95, _unused),
    "stuck": (0.05, _stuck),
    "orphaned set": (0.08, _orphaned_set),
    "switched off": (0.20, _switched_off),
    # More than in reality: whoever gives everything that has no replica one must not be right.
    "former self": (0.75, _former_self),
    "paused": (0.05, _paused),
    "healed scheduling": (0.12, _healed_scheduling),
    "healed pull": (0.08, _healed_pull),
    "recycled": (0.25, _recycled),
    "late store": (0.15, _late_store),
    "namespace rules": (0.15, _namespace_rules),
    "accounts": (0.25, _accounts),
}
"""Rate and maker of each oddity."""
