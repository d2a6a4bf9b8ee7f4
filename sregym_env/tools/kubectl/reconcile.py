"""``kubectl auth reconcile``: roles and bindings brought to hold at least what files say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, Flag
from sregym_env.tools.kubectl.manifests import read_sources
from sregym_env.tools.kubectl.writing import dry_run_of, report

_ROLES = ("roles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io")
_BINDINGS = ("rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io")


def reconcile(call: Call) -> None:
    """Create what is missing and add missing rules and subjects; take extra ones away only when asked."""
    files = call.flags["filename"]
    if not files and not call.flags["kustomize"]:
        raise failure("must specify one of -f and -k")
    if dry_run_of(call) == "server":
        raise failure("--dry-run=server for command reconcile is not supported yet")
    for _, manifest in read_sources(call, files):
        resource = call.resource_of(manifest)
        if resource is None or resource.key not in (*_ROLES, *_BINDINGS):
            continue  # kubectl passes over other kinds in silence
        try:
            _reconcile_one(call, resource, manifest)
        except KubectlError as error:
            call.fail(error)


def _reconcile_one(call: Call, resource: Resource, manifest: Manifest) -> None:
    dry_run = dry_run_of(call)
    namespace = (manifest["metadata"].get("namespace") or "") if resource.namespaced else None
    field = "rules" if resource.key in _ROLES else "subjects"
    if namespace == "" and dry_run == "none":
        raise KubectlError("resource name may not be empty")
    existing = _existing(call, resource, manifest["metadata"]["name"], namespace)
    wanted = manifest.get(field) or []
    held = (existing or {}).get(field) or []
    missing = [entry for entry in wanted if _plain(entry) not in [_plain(other) for other in held]]
    extra = [entry for entry in held if _plain(entry) not in [_plain(other) for other in wanted]]
    flag = "remove-extra-permissions" if field == "rules" else "remove-extra-subjects"
    removed = extra if call.flags[flag] else []
    operation = "create" if existing is None else "update" if missing or removed else ""
    kept = [entry for entry in held if entry not in removed]
    result = {**(existing or manifest), field: [*kept, *missing]}
    if dry_run == "none" and operation == "create":
        result = call.cluster.create(manifest, namespace=namespace, field_manager=call.manager)
    elif dry_run == "none" and operation:
        result = call.cluster.replace(result, field_manager=call.manager)
    _tell(call, field, operation, missing, extra, removed)
    report(call, resource, result, "reconciled", dry_run)


def _existing(call: Call, resource: Resource, name: str, namespace: str | None) -> Manifest | None:
    try:
        return call.cluster.get(resource.address, name, namespace or None)
    except StatusError as error:
        if error.code != 404:
            raise
        return None


def _tell(
    call: Call,
    field: str,
    operation: str,
    missing: Sequence[Any],
    extra: Sequence[Any],
    removed: Sequence[Any],
) -> None:
    if not (operation or extra):
        return
    if operation:
        call.warn(f"\treconciliation required {operation}")
    told = [(f"missing {field} added:", missing)]
    told.append((f"extra {field} removed:" if removed else f"extra {field}", extra))
    for text, entries in told:
        if entries:
            call.warn(f"\t{text}")
            for entry in entries:
                call.warn(f"\t\t{_shown(field, entry)}")


def _plain(entry: Manifest) -> Manifest:
    return {key: sorted(value) if isinstance(value, list) else value for key, value in entry.items() if value}


def _shown(field: str, entry: Manifest) -> str:
    """A rule or subject as Go prints the struct."""
    if field == "subjects":
        parts = [("Kind", "kind"), ("APIGroup", "apiGroup"), ("Name", "name"), ("Namespace", "namespace")]
        return "{" + " ".join(f"{label}:{entry.get(key) or ''}" for label, key in parts) + "}"
    names = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    labels = ("Verbs", "APIGroups", "Resources", "ResourceNames", "NonResourceURLs")
    shown = (f"{label}:[{' '.join(entry.get(key) or ())}]" for label, key in zip(labels, names, strict=True))
    return "{" + " ".join(shown) + "}"


VERB = Verb(
    "reconcile",
    "Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects",
    reconcile,
    flags=(
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        OUTPUT,
        DRY_RUN,
        Flag(
            "remove-extra-permissions", kind="bool", help="If true, removes extra permissions added to roles"
        ),
        Flag(
            "remove-extra-subjects", kind="bool", help="If true, removes extra subjects added to rolebindings"
        ),
    ),
    usage="auth reconcile -f FILENAME [options]",
)
