"""The words of repairs and investigations: kubectl command lines as an engineer would type them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml

SHORT = {
    "deployments.apps": "deployment",
    "statefulsets.apps": "statefulset",
    "services": "service",
    "configmaps": "configmap",
    "persistentvolumeclaims": "pvc",
    "networkpolicies.networking.k8s.io": "networkpolicy",
    "resourcequotas": "resourcequota",
    "pods": "pod",
    "nodes": "node",
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


def restart(namespace: str, components: Iterable[str]) -> list[str]:
    """Restart Deployments and wait for them; nothing for none."""
    names = list(components)
    if not names:
        return []
    listed = " ".join(f"deployment/{name}" for name in names)
    return [
        f"kubectl rollout restart {listed} -n {namespace}",
        *(f"kubectl rollout status deployment/{name} -n {namespace} --timeout=180s" for name in names),
    ]


def await_rollout(target: ObjectRef) -> str:
    """Wait until a workload's pods are up."""
    return f"kubectl rollout status {named(target)}{scope(target)} --timeout=180s"


def mongo_shell(namespace: str, component: str, user: str, password: str, script: str) -> str:
    """Run a statement in a component's MongoDB as one of its accounts."""
    login = f"mongo admin -u {user} -p {password} --authenticationDatabase admin --quiet"
    return f"kubectl exec -n {namespace} deploy/{component} -- {login} --eval {shlex.quote(script)}"


def mend(target: ComponentTarget, *commands: str) -> list[str]:
    """A workload's repair: the commands, then waiting for it, then restarting what gave up without it."""
    return [*commands, await_rollout(target.workload), *restart(target.namespace, target.dependents)]
