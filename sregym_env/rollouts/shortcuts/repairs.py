"""Repairs without understanding, of one named object or of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sregym_env.cluster.app import App
from sregym_env.rollouts.shortcuts.cues import Blamed
from sregym_env.rollouts.shortcuts.lines import fed, piped, restart, roll_back
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
    both = f"service/{blamed.name} deployment/{blamed.name}"
    yield from piped(both, f"-n {known.namespace}", LIVE)


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

LIVE = """
[.items[] | select(.kind == "Deployment" or .kind == "StatefulSet")] as $w
| .items[] |= (
  if .kind == "Service" then
    .metadata.name as $n | ([$w[] | select(.metadata.name == $n)] | first) as $d
    | if $d and ((.spec.selector // {}) | length) > 0 then
        [$d.spec.template.spec.containers[].ports[]?] as $open
        | .spec.selector = $d.spec.selector.matchLabels
        | .spec.internalTrafficPolicy = "Cluster"
        | .spec.ports |= map(. as $p | if ([$open[] | select(.containerPort == $p.targetPort or .name == $p.targetPort)] | length) > 0
            then . elif ([$open[] | select(.containerPort == $p.port)] | length) > 0 then .targetPort = .port
            elif ($open | length) > 0 then .targetPort = $open[0].containerPort else . end)
      else . end
  else
    ((.status.availableReplicas // 0) < (.spec.replicas // 1)) as $red
    | .spec.replicas = ([.spec.replicas // 1, 1] | max)
    | .spec.template.spec |= (
        del(.hostAliases, .dnsConfig) | .dnsPolicy = "ClusterFirst"
        | (.containers[0].ports // [] | map(.containerPort)) as $first
        | (if $red then del(.initContainers, .nodeSelector, .nodeName, .affinity, .serviceAccountName, .serviceAccount)
            | .terminationGracePeriodSeconds = 30
            | (if .volumes then .volumes |= map(if .configMap then .configMap.optional = true else . end) else . end)
            | .containers = [.containers[0]] + [.containers[1:][] | select([.ports[]?.containerPort | select(IN($first[]))] == [])]
          else . end)
        | .containers |= map(
            ([.ports[]?.containerPort] | first) as $port
            | (if ((.resources.limits.cpu // "1") | test("^[1-9][0-9]?m$")) then .resources.limits.cpu = "1" else . end)
            | (if $red then
                with_entries(if (.key | IN("livenessProbe", "readinessProbe", "startupProbe")) and $port
                  then .value |= (del(.httpGet, .grpc, .exec) | .tcpSocket = {port: $port}) else . end)
                | (if .envFrom then .envFrom |= map(if .secretRef then .secretRef.optional = true
                     else .configMapRef.optional = true end) else . end)
                | (if .env then .env |= map(if .valueFrom.secretKeyRef then .valueFrom.secretKeyRef.optional = true
                     elif .valueFrom.configMapKeyRef then .valueFrom.configMapKeyRef.optional = true else . end) else . end)
                | (if ((.resources.requests.memory // "1Mi") | test("^[0-9]{4,}Mi$|^[0-9]{2,}Gi$"))
                     then .resources.requests.memory = (.resources.limits.memory // "128Mi") else . end)
                | (if ((.resources.limits.memory // "1Gi") | test("^[0-9]{1,2}Mi$"))
                     then .resources.limits.memory = "512Mi" else . end)
              else . end)))
  end)
"""
"""Services select and reach the workload of their name; what is not available loses whatever is unusual, and what it
cannot find becomes optional."""

_RED = "jq -r '.items[] | select((.status.availableReplicas // 0) < (.spec.replicas // 1)) | .metadata.name'"

_DENYING = (
    "jq -r '.items[] | select(((.spec.ingress // []) | length) == 0 and ((.spec.egress // []) | length) == 0 "
    "and ((.spec.podSelector.matchLabels // {}) | length) > 0) | .metadata.name'"
)
"""Policies that name pods and allow nothing."""

_REFUSING = (
    'jq -r \'if ([.items[] | select(.kind == "Deployment") | .status.conditions[]? | select(.type == "ReplicaFailure")] '
    '| length) > 0 then [.items[] | select(.kind == "ResourceQuota")] | sort_by(.metadata.creationTimestamp) | last | .metadata.name '
    "else empty end'"
)
"""The newest quota, where pods are refused."""


def live_normalise(known: Knowledge) -> Script:
    """Read every object, and write it back clean: the unavailable ones bare, the rest nearly as they are."""
    for namespace in known.app.namespaces:
        yield from piped("services,deployments,statefulsets", f"-n {namespace}", LIVE)
    yield SETTLE


def undo_the_unavailable(known: Knowledge) -> Script:
    """Back to the revision before, for what is not available."""
    for namespace in known.app.namespaces:
        yield (
            f"for each in $(kubectl get deployments -n {namespace} -o json | {_RED}); "
            f"do kubectl rollout undo deployment $each -n {namespace}; done"
        )
    yield SETTLE


def roll_back_the_unavailable(known: Knowledge) -> Script:
    """Back to the last revision that has stood for three hours, for what is not available."""
    for namespace in known.app.namespaces:
        yield from roll_back(namespace, 3, every=False)
    yield SETTLE


def triage(known: Knowledge) -> Script:
    """Roll back what is unavailable; lift what blocks nodes, names and pods; then clean what is still not well."""
    yield from restore_missing(known)
    for namespace in known.app.namespaces:
        yield from roll_back(namespace, 3, every=False)
        policies = f"kubectl get networkpolicies -n {namespace} -o json | {_DENYING}"
        yield f"{policies} | xargs -r kubectl delete networkpolicy -n {namespace}"
        quotas = f"kubectl get deployments,resourcequotas -n {namespace} -o json | {_REFUSING}"
        yield f"{quotas} | xargs -r kubectl delete resourcequota -n {namespace}"
    yield "sleep 120"
    yield from live_normalise(known)
    yield from restart(known.app)
    yield SETTLE


def restore_missing(known: Knowledge) -> Iterator[str]:
    """Create what is remembered and not there; lift every cordon, taint and block of a name."""
    there = known.elsewhere
    yield from fed("kubectl create -f -", there.objects if there else known.app.manifests)
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
