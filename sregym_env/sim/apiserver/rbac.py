"""Role-based access control: what an identity may do.

Source of the rules: the RBAC authorizer of the API server (plugin/pkg/auth/authorizer/rbac).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.identity import User
from sregym_env.kube.types import Manifest
from sregym_env.sim.world import SimWorld

CLUSTER_ROLES = "clusterroles.rbac.authorization.k8s.io"
CLUSTER_BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"
ROLES = "roles.rbac.authorization.k8s.io"
BINDINGS = "rolebindings.rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Grant:
    """One rule that a binding gives an identity, in one namespace or, if empty, in all and cluster-wide."""

    namespace: str
    rule: Manifest
    binding: Manifest
    """The binding that gives it."""
    subject: Manifest
    """Whom of its subjects the identity is."""

    @property
    def reason(self) -> str:
        """Why a request is allowed, as the authorizer words it."""
        metadata, ref, subject = self.binding["metadata"], self.binding["roleRef"], self.subject
        name = f"{metadata['name']}/{metadata['namespace']}" if self.namespace else metadata["name"]
        whom = subject["name"]
        if subject["kind"] == "ServiceAccount":
            whom += f"/{subject.get('namespace') or self.namespace}"
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        text = f'{kind} "{name}" of {ref["kind"]} "{ref["name"]}" to {subject["kind"]} "{whom}"'
        return f"RBAC: allowed by {text}"

    def allows(self, verb: str, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether it covers a request. ``resource`` may be ``pods/log``."""
        rule = self.rule
        if self.namespace and self.namespace != namespace:
            return False
        if "nonResourceURLs" in rule or not _has(rule.get("verbs"), verb):
            return False
        if not _has(rule.get("apiGroups"), group) or not _covers(rule.get("resources", ()), resource):
            return False
        names = rule.get("resourceNames")
        return not names or name in names


def _has(values: Iterable[str] | None, wanted: str) -> bool:
    return values is not None and any(value in ("*", wanted) for value in values)


def _covers(values: Iterable[str], wanted: str) -> bool:
    _, _, subresource = wanted.partition("/")
    return any(value in ("*", wanted) or (subresource and value == f"*/{subresource}") for value in values)


def grants(world: SimWorld, user: User) -> tuple[Grant, ...]:
    """Every rule bound to an identity."""
    found: list[Grant] = []
    for binding in world.store.list(CLUSTER_BINDINGS):
        subject = _bound(binding, user)
        if subject is not None:
            found.extend(Grant("", rule, binding, subject) for rule in _rules(world, binding, ""))
    for binding in world.store.list(BINDINGS):
        subject = _bound(binding, user)
        if subject is not None:
            namespace = binding["metadata"]["namespace"]
            rules = _rules(world, binding, namespace)
            found.extend(Grant(namespace, rule, binding, subject) for rule in rules)
    return tuple(found)


def _bound(binding: Manifest, user: User) -> Manifest | None:
    """The subject of a binding that the identity is, or None."""
    for subject in binding.get("subjects", ()):
        kind = subject["kind"]
        if kind == "User" and subject["name"] == user.name:
            return dict(subject)
        if kind == "Group" and subject["name"] in user.groups:
            return dict(subject)
        if kind == "ServiceAccount":
            namespace = subject.get("namespace", binding["metadata"].get("namespace", ""))
            if user.name == f"system:serviceaccount:{namespace}:{subject['name']}":
                return dict(subject)
    return None


def _rules(world: SimWorld, binding: Manifest, namespace: str) -> Iterable[Manifest]:
    reference = binding["roleRef"]
    if reference["kind"] == "ClusterRole":
        role = world.store.get(CLUSTER_ROLES, "", reference["name"])
    else:
        role = world.store.get(ROLES, namespace, reference["name"])
    return () if role is None else role.get("rules") or ()


class Authorizer:
    """Answers for one identity in one world, remembering its grants while no role or binding changes."""

    __slots__ = ("_grants", "_seen", "_user", "_world")

    def __init__(self, world: SimWorld, user: User) -> None:
        self._world = world
        self._user = user
        self._seen: tuple[list[Manifest], ...] = ()
        self._grants: tuple[Grant, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Authorizer, (self._world, self._user)

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The identity's rules as they are now."""
        store = self._world.store
        seen = (
            store.list(CLUSTER_BINDINGS),
            store.list(BINDINGS),
            store.list(CLUSTER_ROLES),
            store.list(ROLES),
        )
        # The store hands out the same list until something in it changes.
        if len(seen) != len(self._seen) or any(a is not b for a, b in zip(seen, self._seen, strict=True)):
            self._grants = grants(self._world, self._user)
            self._seen = seen
        return self._grants

    def allows(
        self, verb: str, group: str, resource: str, namespace: str | None = None, name: str = ""
    ) -> bool:
        """Whether the identity may do ``verb`` on ``resource`` (``pods``, ``pods/exec``)."""
        if "system:masters" in self._user.groups:
            return True
        where = namespace or ""
        return any(grant.allows(verb, group, resource, where, name) for grant in self.grants)

    def granted(
        self, verb: str, group: str, resource: str, namespace: str = "", name: str = ""
    ) -> Grant | None:
        """The first rule that allows a request, or None."""
        found = (grant for grant in self.grants if grant.allows(verb, group, resource, namespace, name))
        return next(found, None)

    def allows_path(self, verb: str, path: str) -> bool:
        """Whether the identity may do ``verb`` on a non-resource path such as ``/healthz``."""
        return "system:masters" in self._user.groups or self.granted_path(verb, path) is not None

    def granted_path(self, verb: str, path: str) -> Grant | None:
        """The first rule that allows ``verb`` on a non-resource path, or None."""
        for grant in self.grants:
            urls = grant.rule.get("nonResourceURLs") or ()
            covered = any(url == path or (url.endswith("*") and path.startswith(url[:-1])) for url in urls)
            if covered and not grant.namespace and _has(grant.rule.get("verbs"), verb):
                return grant
        return None
