"""The words of repairs and investigations: kubectl command lines as an engineer would type them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from sregym_env.cluster.app import Account
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import ROLLED, ComponentTarget, InApp
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml

SHORT = {
    "deployments.apps": "deployment",
    "statefulsets.apps": "statefulset",
    "daemonsets.apps": "daemonset",
    "services": "service",
    "configmaps": "configmap",
    "persistentvolumeclaims": "pvc",
    "networkpolicies.networking.k8s.io": "networkpolicy",
    "resourcequotas": "resourcequota",
    "pods": "pod",
    "nodes": "node",
    "endpointslices.discovery.k8s.io": "endpointslice",
    "cronjobs.batch": "cronjob",
    "horizontalpodautoscalers.autoscaling": "hpa",
}
"""How people call resources on the command line."""


def named(target: ObjectRef) -> str:
    """``deployment/geo``."""
    return f"{SHORT.get(target.resource, target.resource)}/{target.name}"


def scope(target: ObjectRef) -> str:
    """`` -n hotel-reservation``, or nothing for cluster-scoped objects."""
    return f" -n {target.namespace}" if target.namespace else ""


def patch(target: ObjectRef, operations: Sequence[Mapping[str, Any]]) -> str:
    """``kubectl patch`` with a JSON patch."""
    text = orjson.dumps(list(operations)).decode()
    return f"kubectl patch {named(target)}{scope(target)} --type=json -p {shlex.quote(text)}"


def put(target: ObjectRef, path: str, value: Any) -> str:
    """``kubectl patch`` that sets one field."""
    return patch(target, [{"op": "add", "path": path, "value": value}])


def drop(target: ObjectRef, *paths: str) -> str:
    """``kubectl patch`` that removes fields, in the order given."""
    return patch(target, [{"op": "remove", "path": path} for path in paths])


def restore(target: ObjectRef, path: str, declared: Any) -> str:
    """``kubectl patch`` that gives a field its declared value back; None where it was not declared."""
    return drop(target, path) if declared is None else put(target, path, declared)


def apply(*manifests: Manifest) -> str:
    """``kubectl apply -f -`` with manifests in a here-document."""
    documents = "---\n".join(to_yaml(manifest) for manifest in manifests)
    return f"kubectl apply -f - <<'EOF'\n{documents}EOF"


def delete(target: ObjectRef) -> str:
    """``kubectl delete`` of one object."""
    return f"kubectl delete {SHORT.get(target.resource, target.resource)} {target.name}{scope(target)}"


def scale(target: ObjectRef, replicas: int) -> str:
    """``kubectl scale``."""
    return f"kubectl scale {named(target)}{scope(target)} --replicas={replicas}"


def restart(target: InApp, components: Iterable[str]) -> list[str]:
    """Restart components and wait for them; nothing for none."""
    rolled: dict[str, list[ObjectRef]] = {}
    replaced, waits = [], []
    for name in components:
        workload = target.workload_of(name)
        waits.append(await_rollout(workload))
        if workload.resource == STATEFUL:
            replaced.append(replace_pods(target, name))
        else:
            rolled.setdefault(workload.namespace or "", []).append(workload)
    restarts = [
        f"kubectl rollout restart {' '.join(map(named, workloads))} -n {namespace}"
        for namespace, workloads in rolled.items()
    ]
    return [*restarts, *replaced, *waits]


def restart_short(namespace: str) -> str:
    """Restart every Deployment of a namespace that lacks pods."""
    short = 'awk \'{split($2, a, "/"); if (a[1] < a[2]) print "deployment/" $1}\''
    listed = f"kubectl get deployments -n {namespace} --no-headers"
    return f"{listed} | {short} | xargs -r kubectl rollout restart -n {namespace}"


def replace_unready(namespace: str) -> str:
    """Delete every pod of a namespace that should be ready and is not: whoever owns it makes it anew."""
    unready = 'awk \'{split($2, a, "/"); if (a[1] < a[2] && $3 != "Completed") print $1}\''
    listed = f"kubectl get pods -n {namespace} --no-headers"
    return f"{listed} | {unready} | xargs -r kubectl delete pods -n {namespace}"


def revive(target: InApp) -> list[str]:
    """Whoever has ended because nobody was reached is started again, without the pause that grows with every end; and after those all
    who told a registry of themselves when they started, for it may have been among those that have ended."""
    app = target.app
    spaces = dict.fromkeys(app.namespace_of(each.name) for each in app.components)
    workloads = [
        target.workload_of(each.name)
        for each in app.components
        if each.stateless
        and each.kind not in ("load", "registry")
        and each.workload in ROLLED
        and each.name in app.critical
    ]
    return [
        *map(replace_unready, spaces),
        "sleep 60",
        *(f"kubectl rollout restart {named(each)}{scope(each)}" for each in workloads),
        *map(await_rollout, workloads),
    ]


STATEFUL = "statefulsets.apps"


def replace_pods(target: InApp, component: str) -> str:
    """``kubectl delete pods`` of a component.

    A StatefulSet needs it: before it replaces a pod it waits for it to be ready, for ever if need be.
    """
    workload = target.inventory.workload(target.app.by_name[component])
    labels = ",".join(f"{key}={value}" for key, value in workload["spec"]["selector"]["matchLabels"].items())
    return f"kubectl delete pods -l {labels} -n {target.app.namespace_of(component)}"


def await_rollout(target: ObjectRef) -> str:
    """Wait until a workload's pods are up."""
    return f"kubectl rollout status {named(target)}{scope(target)} --timeout=180s"


def mongo_shell(target: ComponentTarget, account: Account, script: str) -> str:
    """Run a statement in the component's MongoDB as one of its accounts."""
    login = f"mongo admin -u {account.user} -p {account.password} --authenticationDatabase admin --quiet"
    return execute(target, f"{login} --eval {shlex.quote(script)}")


def execute(target: ComponentTarget, command: str) -> str:
    """Run a command in a pod of the component."""
    short = {"deployments.apps": "deploy", STATEFUL: "sts", "daemonsets.apps": "ds"}[target.workload.resource]
    several = len(target.pod_spec["containers"]) > 1
    container = f" -c {target.component.container}" if several else ""
    return f"kubectl exec -n {target.namespace} {short}/{target.component.name}{container} -- {command}"


def show(target: ComponentTarget, output: str = "yaml") -> str:
    """``kubectl get`` of the component's workload."""
    workload = target.workload
    kind = SHORT.get(workload.resource, workload.resource)
    return f"kubectl get {kind} {workload.name} -n {target.namespace} -o {output}"


def selector(target: ComponentTarget) -> str:
    """``-l`` with the labels of the component's pods."""
    return "-l " + ",".join(f"{key}={value}" for key, value in target.labels.items())


def makers(target: ComponentTarget) -> str:
    """``kubectl describe`` of what creates the component's pods: its events tell why there are none."""
    if target.maker == "ReplicaSet":
        return f"kubectl describe replicasets {selector(target)} -n {target.namespace}"
    kind = SHORT.get(target.workload.resource, target.workload.resource)
    return f"kubectl describe {kind} {target.workload.name} -n {target.namespace}"


def mend(target: ComponentTarget, *commands: str) -> list[str]:
    """A workload's repair: the commands, then waiting for it, then restarting what does not come back by itself."""
    blocked = [replace_pods(target, target.component.name)] if target.workload.resource == STATEFUL else []
    return [*commands, *blocked, await_rollout(target.workload), *restart(target, registrants(target))]


def registrants(target: ComponentTarget) -> tuple[str, ...]:
    """Components that must restart once the component is back: those that have registered there and are forgotten.

    Everything else that needs it tries again by itself.
    """
    return target.dependents if target.component.kind == "registry" else ()


def rollback(target: ObjectRef) -> str:
    """``kubectl rollout undo``: back to the revision before."""
    return f"kubectl rollout undo {named(target)}{scope(target)}"
