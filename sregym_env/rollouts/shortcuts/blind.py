"""Shortcuts without observation: whatever is printed, they type the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.cluster.targets import ROLLED
from sregym_env.faults.mongodb import create, grant, session
from sregym_env.kube import registry
from sregym_env.kube.types import Manifest
from sregym_env.rollouts.shortcuts.lines import WORKLOADS, fed, heredoc, piped, restart, roll_back
from sregym_env.rollouts.shortcuts.shortcut import SETTLE, Elsewhere, Knowledge, Script
from sregym_env.sim.bringup.populate import COREFILE

_POLICIES = "networkpolicies,resourcequotas,limitranges"

_NODES = """
.items[].spec |= (del(.unschedulable)
  | if .taints then .taints |= map(select(.key | startswith("node-role.kubernetes.io/"))) else . end)
"""


# --- one thing to everything ----------------------------------------------------------------------


def nothing(known: Knowledge) -> Script:
    """Hand in at once."""
    yield from ()


def wait(known: Knowledge) -> Script:
    """Perhaps it goes away."""
    yield "sleep 1200"


def restart_everything(known: Knowledge) -> Script:
    """Every workload of the application, then the cluster's DNS."""
    yield from restart(known.app)
    yield "kubectl rollout restart deployment coredns -n kube-system"
    yield SETTLE


def delete_every_pod(known: Knowledge) -> Script:
    """What no rollout replaces is replaced all the same."""
    for namespace in known.app.namespaces:
        yield f"kubectl delete pods --all -n {namespace} --wait=false"
    yield SETTLE


def undo_every_rollout(known: Knowledge) -> Script:
    """Every workload goes back to the revision before."""
    for namespace in known.app.namespaces:
        yield (
            f"for each in $(kubectl get {WORKLOADS} -n {namespace} -o name); "
            f"do kubectl rollout undo $each -n {namespace}; done"
        )
    yield SETTLE


def roll_everything_back(known: Knowledge) -> Script:
    """Every Deployment goes back to the revision that it had ten hours ago."""
    for namespace in known.app.namespaces:
        yield from roll_back(namespace, 10, every=True)
    yield SETTLE


_REMEMBERED = """
{apiVersion: "v1", kind: "List", items: [.items[].metadata.annotations
  | select(.) | .["kubectl.kubernetes.io/last-applied-configuration"] | select(.) | fromjson]}
"""


def last_applied(verb: str) -> Any:
    """A script by which every object becomes what its annotation says was applied last."""

    def script(known: Knowledge) -> Script:
        yield heredoc("cat > /tmp/remembered.jq", _REMEMBERED)
        for namespace in known.app.namespaces:
            yield (
                "kubectl get deployments,statefulsets,daemonsets,services,configmaps,secrets,serviceaccounts,ingresses,"
                "networkpolicies,resourcequotas,limitranges,poddisruptionbudgets,horizontalpodautoscalers,"
                f"persistentvolumeclaims -n {namespace} -o json | jq -f /tmp/remembered.jq > /tmp/remembered.json; "
                f"kubectl {verb} -f /tmp/remembered.json"
            )
        yield SETTLE

    return script


_DRIFTED = """
[.items[] | . as $now | .metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] // empty | fromjson
 | . as $then | select(any(paths(scalars); . as $path | $path[0:2] != ["metadata", "annotations"] and $path != ["spec", "replicas"]
   and ($then | getpath($path)) != ($now | getpath($path)))) ] | {apiVersion: "v1", kind: "List", items: .}
"""
"""A jq program that gives what was applied last of those objects that are something else now, replicas aside."""


def apply_drifted(known: Knowledge) -> Script:
    """What was applied last, by its annotation, is applied again where the object has become another since."""
    yield heredoc("cat > /tmp/drifted.jq", _DRIFTED)
    for namespace in known.app.namespaces:
        yield (
            "kubectl get deployments,statefulsets,daemonsets,services,configmaps,secrets,serviceaccounts,ingresses,"
            "networkpolicies,resourcequotas,limitranges,poddisruptionbudgets,horizontalpodautoscalers,"
            f"persistentvolumeclaims -n {namespace} -o json | jq -f /tmp/drifted.jq > /tmp/drifted.json; "
            "kubectl apply -f /tmp/drifted.json"
        )
    yield SETTLE


def scale_everything(replicas: int) -> Any:
    """A script that gives every workload so many replicas."""

    def script(known: Knowledge) -> Script:
        for namespace in known.app.namespaces:
            for kind in ("deployments", "statefulsets"):
                yield f"kubectl scale {kind} --all --replicas={replicas} -n {namespace}"
        yield SETTLE

    return script


def delete_policies(known: Knowledge) -> Script:
    """Whatever restrains pods goes: network policies, quotas, limit ranges."""
    yield from _without_policies(known)
    yield SETTLE


_HOOKS = "validatingwebhookconfigurations,mutatingwebhookconfigurations"


def delete_webhooks(known: Knowledge) -> Script:
    """Nobody is asked before anything is made."""
    yield f"kubectl delete {_HOOKS} --all"
    yield from restart(known.app)
    yield SETTLE


def delete_pod_webhooks(known: Knowledge) -> Script:
    """Nobody is asked before a pod is made."""
    program = (
        '.items[] | select(any(.webhooks[]?.rules[]?.resources[]?; . == "pods" or . == "*")) '
        '| (.kind | ascii_downcase) + "/" + .metadata.name'
    )
    yield f"kubectl get {_HOOKS} -o json | jq -r {shlex.quote(program)} | xargs -r kubectl delete"
    yield from restart(known.app)
    yield SETTLE


def ignore_webhooks(known: Knowledge) -> Script:
    """Whoever is asked need not answer, and is not waited for."""
    program = '.items[].webhooks[]? |= (.failurePolicy = "Ignore" | .timeoutSeconds = 1)'
    yield f"kubectl get {_HOOKS} -o json | jq {shlex.quote(program)} | kubectl replace -f -"
    yield from restart(known.app)
    yield SETTLE


def unlabel_namespaces(known: Knowledge) -> Script:
    """No namespace of the application says anything of the Pod Security Standards."""
    for namespace in known.app.namespaces:
        yield f"kubectl label namespace {namespace} {_SAID}"
    yield from restart(known.app)
    yield SETTLE


def enforce(level: str) -> Callable[[Knowledge], Script]:
    """Every namespace of the application enforces one of the Pod Security Standards."""

    def script(known: Knowledge) -> Script:
        for namespace in known.app.namespaces:
            yield f"kubectl label namespace {namespace} --overwrite pod-security.kubernetes.io/enforce={level}"
        yield from restart(known.app)
        yield SETTLE

    return script


_SAID = " ".join(
    f"pod-security.kubernetes.io/{mode}{end}-"
    for mode in ("enforce", "warn", "audit")
    for end in ("", "-version")
)


def delete_slices(known: Knowledge) -> Script:
    """Whatever adds an address to a Service goes, and the controller makes its own anew."""
    for namespace in known.app.namespaces:
        yield f"kubectl delete endpointslices --all -n {namespace}"
    yield SETTLE


def rank_everything(known: Knowledge) -> Script:
    """Every workload gets the highest class that people have made."""
    highest = "kubectl get priorityclasses --no-headers | grep -v '^system-' | sort -k2 -n | tail -1 | awk '{print $1}'"
    patch = '{"spec":{"template":{"spec":{"priorityClassName":"\'"$CLASS"\'"}}}}'
    for namespace in known.app.namespaces:
        yield (
            f"CLASS=$({highest}); for w in $(kubectl get deploy,sts -n {namespace} -o name); do "
            f"kubectl patch $w -n {namespace} -p '{patch}'; done"
        )
    yield SETTLE


def grant_settings(known: Knowledge) -> Script:
    """Every cluster role that is bound where the application lives lets its accounts read ConfigMaps, and pods start anew."""
    rules = '{"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]}]}'
    for namespace in known.app.namespaces:
        bound = f"kubectl get rolebindings -n {namespace} -o jsonpath='{{.items[*].roleRef.name}}'"
        yield f"for r in $({bound}); do kubectl patch clusterrole $r --type=merge -p '{rules}'; done"
        yield f"kubectl delete pods -n {namespace} --field-selector status.phase=Pending"
    yield SETTLE


def open_nodes(known: Knowledge) -> Script:
    """Every node takes every pod: those that wait for one need nothing else."""
    yield from _open_nodes()
    yield SETTLE


def same_kubelets(known: Knowledge) -> Script:
    """The kubelet's files of the first machine that is Ready on every machine, and every kubelet started anew."""
    files = ("/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env")
    yield "kubectl get nodes --no-headers | awk '$2 == \"Ready\" { print $1 }' | head -1 > /tmp/good"
    for number, path in enumerate(files):
        yield f"ssh $(cat /tmp/good) cat {path} > /tmp/{number}"
    copied = "; ".join(f"ssh $n 'cat > {path}' < /tmp/{number}" for number, path in enumerate(files))
    yield f"for n in $(kubectl get nodes -o name | cut -d/ -f2); do {copied}; ssh $n systemctl restart kubelet; done"
    yield SETTLE


def keep_time(known: Knowledge) -> Script:
    """The time service of every machine runs, and comes up with it."""
    started = "systemctl unmask chrony; systemctl enable --now chrony; systemctl restart chrony"
    yield f"for n in $(kubectl get nodes -o name | cut -d/ -f2); do ssh $n '{started}'; done"
    yield SETTLE


def default_dns(known: Knowledge) -> Script:
    """The cluster's DNS as it came."""
    yield from _default_dns()
    yield SETTLE


def lift_everything(known: Knowledge) -> Script:
    """No policies, every node open, DNS as it came: whatever restrains, anywhere."""
    yield from _lifted(known)
    yield SETTLE


def lift_and_restart(known: Knowledge) -> Script:
    """The same, and what has waited for it is not waited for."""
    yield from _lifted(known)
    yield from restart(known.app)
    yield SETTLE


def published_accounts(known: Knowledge) -> Script:
    """The databases' accounts as they are published."""
    yield from _accounts(known.app)
    yield from restart(known.app)
    yield SETTLE


# --- one field of everything ----------------------------------------------------------------------

_POD = ".items[].spec.template.spec |= "

FIELDS: Mapping[str, str] = {
    "no_init_containers": _POD + "del(.initContainers)",
    "no_placement": _POD + "del(.nodeSelector, .nodeName, .affinity, .topologySpreadConstraints)",
    "default_account": _POD + "del(.serviceAccountName, .serviceAccount)",
    "own_names": _POD + 'del(.hostAliases, .dnsConfig) + {dnsPolicy: "ClusterFirst"}',
    "optional_sources": _POD
    + """(.containers[] |= (
        (if .envFrom then .envFrom |= map(if .secretRef then .secretRef.optional = true
            else .configMapRef.optional = true end) else . end)
        | (if .env then .env |= map(if .valueFrom.secretKeyRef then .valueFrom.secretKeyRef.optional = true
            elif .valueFrom.configMapKeyRef then .valueFrom.configMapKeyRef.optional = true else . end) else . end)))""",
    "no_requests": _POD
    + '(.containers[].resources |= if . then .requests = {cpu: "1m", memory: "1Mi"} else . end)',
    "at_least_one": ".items[].spec |= if .replicas == 0 then .replicas = 1 else . end",
}
"""jq programs that make one field of every workload plain, by name."""


def plain(*names: str) -> Any:
    """A script that makes some fields of every workload plain; who has nothing unusual there is not changed."""

    def script(known: Knowledge) -> Script:
        for name in names:
            for namespace in known.app.namespaces:
                yield from piped(WORKLOADS, f"-n {namespace}", FIELDS[name])
        yield SETTLE

    return script


def create_missing(known: Knowledge) -> Script:
    """What is published and not there is made."""
    yield from fed("kubectl create -f -", known.app.manifests)
    yield SETTLE


def published_services(known: Knowledge) -> Script:
    """Every Service as it is published."""
    services = [each for each in known.app.manifests if each["kind"] == "Service"]
    yield from fed("kubectl create -f -", services)
    for namespace in known.app.namespaces:
        yield from piped("services", f"-n {namespace}", _SERVICES, conventions(services))
    yield SETTLE


# --- what is remembered ---------------------------------------------------------------------------


def apply_published(known: Knowledge) -> Script:
    """``kubectl apply`` of the published manifests."""
    yield from fed("kubectl apply -f -", known.app.manifests)
    yield SETTLE


def replace_published(known: Knowledge) -> Script:
    """The published manifests over whatever is there, and the accounts."""
    yield from _over(known.app.manifests)
    yield from _accounts(known.app)
    yield from restart(known.app)
    yield SETTLE


def recreate_published(known: Knowledge) -> Script:
    """Everything that can be made anew from the published manifests is deleted first."""
    yield from _anew(known.app, known.app.manifests)
    yield from _accounts(known.app)
    yield SETTLE


def apply_elsewhere(known: Knowledge) -> Script:
    """``kubectl apply`` of another world's objects."""
    yield from fed("kubectl apply -f -", _elsewhere(known).objects)
    yield SETTLE


def replace_elsewhere(known: Knowledge) -> Script:
    """Another world's objects over whatever is there, and its accounts."""
    there = _elsewhere(known)
    yield from _over(there.objects)
    yield from _accounts(there.app)
    yield from restart(known.app)
    yield SETTLE


def recreate_elsewhere(known: Knowledge) -> Script:
    """Everything that can be made anew from another world's objects is deleted first."""
    there = _elsewhere(known)
    yield from _anew(known.app, there.objects)
    yield from _accounts(there.app)
    yield SETTLE


# --- normalising ----------------------------------------------------------------------------------

_CONSTANT = """
.items[] |= ($k[.kind + "/" + .metadata.name] as $o | if $o then
    .spec.replicas = $o.replicas
    | .spec.template.metadata.labels += $o.labels
    | .spec.template.spec |= ($o.spec + {restartPolicy, schedulerName})
  else . end)
"""
"""Every pod template becomes what is published."""

_SHAPE = """
.items[] |= ($k[.kind + "/" + .metadata.name] as $o | if $o then
    .spec.replicas = ([.spec.replicas, $o.replicas] | max)
    | .spec.template.metadata.labels += $o.labels
    | .spec.template.spec |= (
        ($o.spec.containers | map({key: .name, value: .}) | from_entries) as $c
        | ([.containers[] | select($c[.name])]) as $own
        | del(.initContainers, .nodeSelector, .affinity, .hostAliases, .dnsPolicy, .dnsConfig, .nodeName,
              .serviceAccountName, .serviceAccount, .terminationGracePeriodSeconds, .topologySpreadConstraints)
        | .volumes = $o.spec.volumes
        | .containers = ((if $own == [] then .containers[:1] else $own end)
            | map(del(.livenessProbe, .readinessProbe, .startupProbe, .envFrom, .volumeMounts)
                | $c[.name] as $p
                | (if $p then .command = $p.command | .args = $p.args | .ports = $p.ports
                     | .volumeMounts = $p.volumeMounts | .resources = $p.resources else . end)
                | (if .env then .env |= map(select(.valueFrom == null)) else . end)
                | with_entries(select(.value != null)))))
  else . end)
"""
"""Probes off, nothing that constrains, ports, commands and mounts as published; images and plain settings stay."""

_SERVICES = """
.items[] |= ($k["Service/" + .metadata.name] as $o | if $o then
    .spec.selector = $o.selector | .spec.ports = $o.ports | .spec.internalTrafficPolicy = "Cluster"
  else . end)
"""
"""Every Service selects and forwards as published."""


def normalise(known: Knowledge, templates: str = _CONSTANT) -> Script:
    """The application's conventions over everything, restraints gone, nodes open, DNS as it came, all restarted."""
    app = known.app
    yield from _without_policies(known)
    yield from _open_nodes()
    yield from fed("kubectl create -f -", app.manifests)
    constants = conventions(app.manifests)
    for namespace in app.namespaces:
        yield from piped("services", f"-n {namespace}", _SERVICES, constants)
        yield from piped(WORKLOADS, f"-n {namespace}", templates, constants)
    yield from fed("kubectl replace -f -", (m for m in app.manifests if m["kind"] == "ConfigMap"))
    yield from _default_dns()
    yield from _accounts(app)
    yield from restart(app)
    yield SETTLE


def normalise_shape(known: Knowledge) -> Script:
    """The same, leaving images, plain settings and bigger numbers of replicas as they are."""
    yield from normalise(known, _SHAPE)


def everything_elsewhere(known: Knowledge) -> Script:
    """Another world's objects over everything, restraints gone, nodes open, DNS as it came."""
    yield from _lifted(known)
    yield from replace_elsewhere(known)


def conventions(manifests: Iterable[Manifest]) -> Mapping[str, Any]:
    """``Kind/name`` to what jq programs need to know of a published object."""
    found: dict[str, Any] = {}
    for manifest in manifests:
        spec = manifest.get("spec") or {}
        key = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["kind"] == "Service":
            found[key] = {"selector": spec.get("selector"), "ports": spec.get("ports")}
        elif _resource(manifest) in ROLLED:
            template = spec["template"]
            found[key] = {
                "replicas": spec.get("replicas", 1),
                "labels": template["metadata"].get("labels", {}),
                "spec": template["spec"],
            }
    return found


# --- parts ----------------------------------------------------------------------------------------


def _elsewhere(known: Knowledge) -> Elsewhere:
    assert known.elsewhere is not None, "only shortcuts that remember ask for it"
    return known.elsewhere


def _without_policies(known: Knowledge) -> Iterator[str]:
    for namespace in known.app.namespaces:
        yield f"kubectl delete {_POLICIES} --all -n {namespace}"


def _lifted(known: Knowledge) -> Iterator[str]:
    yield from _without_policies(known)
    yield from _open_nodes()
    yield from _default_dns()


def _open_nodes() -> Iterator[str]:
    yield from piped("nodes", "", _NODES)


def _default_dns() -> Iterator[str]:
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "data": {"Corefile": COREFILE},
    }
    yield from fed("kubectl replace -f -", [manifest])
    yield "kubectl rollout restart deployment coredns -n kube-system"


def _accounts(app: App) -> Iterator[str]:
    for component in app.components:
        for by in component.accounts[1:2]:
            client = component.accounts[0]
            statements = [create(client, component.database)]
            statements += [grant(client.user, role, component.database) for role in client.roles]
            where = f"-n {app.namespace_of(component.name)} {_short(component.workload)}/{component.workload_name}"
            for statement in statements:
                yield f"kubectl exec {where} -- {shlex.join(session(by, statement))}"


def _short(workload: str) -> str:
    return workload.partition(".")[0]


def _resource(manifest: Manifest) -> str:
    found = registry.by_kind(manifest["apiVersion"], manifest["kind"])
    return found.key if found else ""


def _over(manifests: Iterable[Manifest]) -> Iterator[str]:
    """Create what is missing, and put the rest over what is there."""
    listed = list(manifests)
    yield from fed("kubectl create -f -", listed)
    kept = ("Namespace", "PersistentVolumeClaim", "Job")
    yield from fed("kubectl replace -f -", (each for each in listed if each["kind"] not in kept))


def _anew(app: App, manifests: Iterable[Manifest]) -> Iterator[str]:
    listed = list(manifests)
    for namespace in app.namespaces:
        yield f"kubectl delete {WORKLOADS},services,{_POLICIES} --all -n {namespace}"
        yield f"kubectl delete configmaps --all -n {namespace}"
    yield from fed("kubectl create -f -", listed)
