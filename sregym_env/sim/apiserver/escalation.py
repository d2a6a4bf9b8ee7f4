"""Nobody grants what they do not hold: the API server's check on writes to roles and bindings.

Source: pkg/registry/rbac (``escalation_check.go``, ``policybased/storage.go``) and
``pkg/registry/rbac/validation/rule.go``: a rule is covered if every combination of what it lists is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from sregym_env.cluster.identity import User
from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.rbac import BINDINGS, CLUSTER_BINDINGS, CLUSTER_ROLES, ROLES, Authorizer, Grant
from sregym_env.sim.world import SimWorld


def check(
    world: SimWorld, user: User, authorizer: Authorizer, kind: Resource, obj: Manifest, old: Manifest | None
) -> None:
    """Raise Forbidden if a role or binding would give more than ``user`` has. Other kinds pass."""
    if kind.storage_key not in _GUARDED or "system:masters" in user.groups:
        return
    if old is not None and _same_but_collected(old, obj):
        return
    metadata = obj["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
    if kind.storage_key in (ROLES, CLUSTER_ROLES):
        rules = obj.get("rules") or []
        if authorizer.allows("escalate", kind.group, kind.plural, namespace, name):
            return
    else:
        reference = obj.get("roleRef") or {}
        cluster_wide = reference.get("kind") == "ClusterRole"
        plural = "clusterroles" if cluster_wide else "roles"
        if authorizer.allows("bind", kind.group, plural, namespace, reference.get("name", "")):
            return
        key, where = (CLUSTER_ROLES, "") if cluster_wide else (ROLES, namespace)
        role = world.store.get(key, where, reference.get("name", ""))
        rules = [] if role is None else role.get("rules") or []
    missing = [rule for rule in rules if not _covered(rule, authorizer.grants, namespace)]
    if missing:
        listed = "\n".join(_text(rule) for rule in missing)
        groups = " ".join(f'"{group}"' for group in user.groups)
        raise status.forbidden_admission(
            kind,
            name,
            f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions not currently '
            f"held:\n{listed}",
        )
    if _aggregates(obj) or (old is not None and _aggregates(old)):
        if not all(_covered(rule, authorizer.grants, namespace) for rule in _EVERYTHING):
            # It could gather anything.
            text = "must have cluster-admin privileges to use the aggregationRule"
            raise status.forbidden_admission(kind, name, text)


_EVERYTHING: tuple[Manifest, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)

_COLLECTED = ("ownerReferences", "finalizers", "managedFields")
"""Metadata that anybody may change who may update a role: the garbage collector needs it."""


def _same_but_collected(old: Manifest, new: Manifest) -> bool:
    return _without_collected(old) == _without_collected(new)


def _without_collected(obj: Manifest) -> Manifest:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTED}
    return {**obj, "metadata": metadata}


def _aggregates(obj: Manifest) -> bool:
    return bool((obj.get("aggregationRule") or {}).get("clusterRoleSelectors"))


_GUARDED = frozenset({ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS})


def _covered(rule: Manifest, grants: Iterable[Grant], namespace: str) -> bool:
    held = [grant.rule for grant in grants if not grant.namespace or grant.namespace == namespace]
    return all(any(_holds(own, single) for own in held) for single in _singles(rule))


Single = tuple[str, str, str, str, str]
"""(verb, API group, resource, resource name, URL): one thing that a rule allows."""


def _singles(rule: Manifest) -> Iterator[Single]:
    verbs = rule.get("verbs") or ()
    for verb, url in product(verbs, rule.get("nonResourceURLs") or ()):
        yield verb, "", "", "", url
    names = rule.get("resourceNames") or ("",)
    for verb, group, resource, name in product(
        verbs, rule.get("apiGroups") or (), rule.get("resources") or (), names
    ):
        yield verb, group, resource, name, ""


def _holds(own: Manifest, single: Single) -> bool:
    verb, group, resource, name, url = single
    verbs = own.get("verbs") or ()
    if "*" not in verbs and verb not in verbs:
        return False
    if url:
        urls = own.get("nonResourceURLs") or ()
        return any(mine == url or (mine.endswith("*") and url.startswith(mine[:-1])) for mine in urls)
    groups, resources = own.get("apiGroups") or (), own.get("resources") or ()
    names = own.get("resourceNames") or ()
    return (
        ("*" in groups or group in groups)
        and _has_resource(resources, resource)
        and (not names or name in names)
    )


def _has_resource(resources: Iterable[str], wanted: str) -> bool:
    _, _, subresource = wanted.partition("/")
    return any(mine in ("*", wanted) or (subresource and mine == f"*/{subresource}") for mine in resources)


def _text(rule: Manifest) -> str:
    """A rule as the API server prints it: ``{APIGroups:["*"], Resources:["*"], Verbs:["*"]}``."""
    parts = []
    for field, title in _FIELDS:
        values = rule.get(field) or ()
        if values:
            listed = " ".join(f'"{value}"' for value in values)
            parts.append(f"{title}:[{listed}]")
    return "{" + ", ".join(parts) + "}"


_FIELDS = (
    ("nonResourceURLs", "NonResourceURLs"),
    ("apiGroups", "APIGroups"),
    ("resources", "Resources"),
    ("resourceNames", "ResourceNames"),
    ("verbs", "Verbs"),
)
