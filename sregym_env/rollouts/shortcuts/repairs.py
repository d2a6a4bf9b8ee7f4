"""Repairs without understanding, of one named object or of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.rollouts.shortcuts.blind import conventions
from sregym_env.rollouts.shortcuts.cues import Blamed
from sregym_env.rollouts.shortcuts.lines import WORKLOADS, fed, piped, restart
from sregym_env.rollouts.shortcuts.shortcut import SETTLE, Knowledge, Script

Repair = Callable[[Blamed, Knowledge], Iterator[str]]
"""Command lines that do something to what was blamed."""

_STRIPPED = (
    "del(.status, .metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.generation, "
    ".metadata.managedFields, .spec.clusterIP, .spec.clusterIPs, .spec.nodeSelector, .spec.template.spec.nodeSelector, "
    ".spec.template.spec.initContainers, .spec.template.spec.hostAliases)"
)


def undo(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """Back to the revision before."""
    workload = blamed.reference if _rolled(blamed) else f"deployment/{blamed.name}"
    yield f"kubectl rollout undo {workload} -n {known.namespace}"


def template_before(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """The pod template of the ReplicaSet before the newest."""
    yield (
        f"kubectl get replicasets -n {known.namespace} -o json | jq '"
        f'[.items[] | select(.metadata.ownerReferences[0].name == "{blamed.name}")] '
        '| sort_by(.metadata.annotations["deployment.kubernetes.io/revision"] | tonumber) | .[-2] // .[-1] '
        '| {spec: {template: (.spec.template | del(.metadata.labels["pod-template-hash"]) '
        '| . + {"$patch": "replace"})}}\' > /tmp/before.json'
    )
    yield f"kubectl patch deployment {blamed.name} -n {known.namespace} --patch-file /tmp/before.json"


def sibling(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """The specification of a namesake's neighbour, with the names exchanged."""
    other = neighbour(blamed.name, known.app)
    old, new = _differing(other, blamed.name)
    reference = f"{blamed.kind.lower()} {other} -n {known.namespace}"
    yield (
        f"kubectl get {reference} -o json | jq '{_STRIPPED}' | sed 's/{old}/{new}/g' > /tmp/copy.json; "
        "kubectl replace -f /tmp/copy.json || kubectl create -f /tmp/copy.json"
    )


def recreated(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """Deleted and made again as it is, without what constrains it."""
    reference = f"{blamed.reference} -n {known.namespace}"
    yield f"kubectl get {reference} -o json | jq '{_STRIPPED}' > /tmp/copy.json"
    yield f"kubectl delete {reference}; kubectl create -f /tmp/copy.json"


def deleted(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """Gone."""
    yield f"kubectl delete {blamed.reference} -n {known.namespace}"


def cleaned(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """Read and written back as it would be without anything unusual; what restrains pods goes."""
    if blamed.kind in ("NetworkPolicy", "ResourceQuota", "LimitRange"):
        yield from deleted(blamed, known)
        return
    programs = {"Service": LIVE_SERVICES, "Deployment": LIVE_WORKLOADS, "StatefulSet": LIVE_WORKLOADS}
    for kind in dict.fromkeys((blamed.kind, "Deployment", "Service")):
        if kind in programs:
            only = f'if .kind == "List" then . else {{kind: "List", apiVersion: "v1", items: [.]}} end | {programs[kind]}'
            yield from piped(
                f"{kind.lower()} {blamed.name}", f"-n {known.namespace}", only, source(known.app)
            )


REPAIRS: Mapping[str, Repair] = {
    "undo": undo,
    "template_before": template_before,
    "sibling": sibling,
    "recreated": recreated,
    "deleted": deleted,
    "cleaned": cleaned,
}
"""What may be done to something that was named, by name."""


# --- live normalising -----------------------------------------------------------------------------

LIVE_WORKLOADS = """
.items[] |= ($k.good[.metadata.name] as $good | $k.main[.metadata.name] as $main
  | ((.status.availableReplicas // 0) < (.spec.replicas // 1) or (.spec.replicas // 1) < 1) as $red
  | .spec.replicas = ([.spec.replicas // 1, 1] | max)
  | .spec.template.spec |= (
      del(.hostAliases, .dnsConfig) | .dnsPolicy = "ClusterFirst"
      | (if $red then del(.initContainers, .nodeSelector, .nodeName, .affinity, .serviceAccountName, .serviceAccount,
            .topologySpreadConstraints, .priorityClassName) | .terminationGracePeriodSeconds = 30
          | .volumes |= (. // [] | map(if .persistentVolumeClaim then .persistentVolumeClaim.claimName |= sub("-broken$"; "")
              else . end))
          | (if ([.containers[] | select(.name == $main)] | length) > 0
              then .containers |= map(select(.name == $main)) else . end)
        else . end)
      | .containers |= map(
          (if $good and (.image as $i | $good | index($i) | not) and .name == $main then .image = $good[-1] else . end)
          | (if .name == $main then (.env // []) as $env
              | .env = ($env | map(select((.name | IN($k.flags[])) | not))) else . end)
          | (if $red then del(.livenessProbe, .readinessProbe, .startupProbe, .envFrom)
               | .resources = $k.resources[.name]
               | .env |= (. // [] | map(select(.valueFrom == null)))
               | (if $k.command[.name] then .command = $k.command[.name] else . end)
             elif (.resources.limits.cpu // "1" | endswith("m")) then .resources.limits.cpu = "1" else . end)
          | with_entries(select(.value != null))))
  | (if .spec.template.spec.volumes == [] then del(.spec.template.spec.volumes) else . end))
"""
"""What is not available loses everything unusual; images that are no good builds become the last good one."""

LIVE_SERVICES = """
.items[] |= ((.spec.selector // {}) as $s | .spec.internalTrafficPolicy = "Cluster"
  | if ($s | length) > 0 then
      .spec.selector = ($s | to_entries | (map(select(.key | IN($k.labels[])))) as $own
        | (if ($own | length) > 0 then $own else .[:1] end) | from_entries)
      | $k.ports[.metadata.name] as $p
      | .spec.ports |= map(if $p and ($p | length) == 1 then .targetPort = $p[0] else .targetPort = .port end)
    else . end)
"""
"""A Service selects by the application's own label alone, and forwards to the port that its program has."""


def source(app: App) -> Mapping[str, Any]:
    """What reading the application's source tells a normaliser: good builds, main containers, flags, labels, ports."""
    commands, labels, resources = {}, {}, {}
    for key, constant in conventions(app.manifests).items():
        for container in constant.get("spec", {}).get("containers", ()):
            resources[container["name"]] = container.get("resources")
            if container.get("command"):
                commands[container["name"]] = container["command"]
        if key.startswith("Service/"):
            labels.update(dict.fromkeys(constant["selector"] or ()))
    return {
        "good": {c.name: good_builds(app, c.name) for c in app.components if good_builds(app, c.name)},
        "main": {c.name: c.container for c in app.components},
        "flags": [c.flag for c in app.components if c.flag],
        "command": commands,
        "resources": resources,
        "labels": list(labels),
        "ports": {c.service: [c.port] for c in app.components if c.service and c.port},
    }


def good_builds(app: App, component: str) -> list[str]:
    """The working images of a component, the one that is published last."""
    found = list(app.by_name[component].releases)
    for key, constant in conventions(app.manifests).items():
        for container in constant.get("spec", {}).get("containers", ()):
            if key.endswith(f"/{component}") and container["name"] == app.by_name[component].container:
                found.append(container["image"])
    return list(dict.fromkeys(found))


def live_normalise(known: Knowledge) -> Script:
    """Read every object, and write it back clean: the red ones bare, the rest nearly as they are."""
    for namespace in known.app.namespaces:
        yield f"kubectl delete resourcequotas,limitranges,networkpolicies --all -n {namespace}"
        yield from piped("services", f"-n {namespace}", LIVE_SERVICES, source(known.app))
        yield from piped(WORKLOADS, f"-n {namespace}", LIVE_WORKLOADS, source(known.app))
    yield SETTLE


def live_normalise_all(known: Knowledge) -> Script:
    """The same after everything missing has been created, nodes opened, DNS reset, and all restarted."""
    yield from restore_missing(known)
    yield from live_normalise(known)
    yield from restart(known.app)
    yield SETTLE


def restore_missing(known: Knowledge) -> Iterator[str]:
    """Create what is published and not there; lift every cordon, taint and block of a name."""
    yield from fed("kubectl create -f -", known.app.manifests)
    yield (
        "kubectl get nodes -o json | jq '.items[].spec |= (del(.unschedulable) | if .taints then .taints |= "
        'map(select(.key | startswith("node-role"))) else . end)\' | kubectl replace -f -'
    )
    yield (
        "kubectl get configmap coredns -n kube-system -o yaml | sed '/template ANY ANY/,/}/d' | kubectl apply -f - "
        "&& kubectl rollout restart deployment coredns -n kube-system"
    )


# --- names ----------------------------------------------------------------------------------------


def neighbour(name: str, app: App) -> str:
    """Another component of the same kind as the named one, or any other."""
    kind = next((c.kind for c in app.components if c.name == name), "")
    alike = [c.name for c in app.components if c.kind == kind and c.name != name]
    return alike[0] if alike else next(c.name for c in app.components if c.name != name)


def _differing(old: str, new: str) -> tuple[str, str]:
    """The parts in which two names differ: ``mongodb-geo`` and ``mongodb-rate`` in ``geo`` and ``rate``."""
    before, after = old.split("-"), new.split("-")
    while len(before) > 1 and len(after) > 1 and before[0] == after[0]:
        before, after = before[1:], after[1:]
    return "-".join(before), "-".join(after)


def _rolled(blamed: Blamed) -> bool:
    return blamed.kind in ("Deployment", "StatefulSet", "DaemonSet")
