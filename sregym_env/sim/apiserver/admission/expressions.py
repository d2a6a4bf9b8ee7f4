"""CEL expressions about requests: what they may name, and their evaluation.

Shared by ValidatingAdmissionPolicies and by the ``matchConditions`` of webhooks. Follows
``k8s.io/apiserver/pkg/admission/plugin/cel`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.identity import User
from sregym_env.kube import cel
from sregym_env.kube.cel.admission import AUTHORIZER, MATCHING, RESOURCE_CHECK, compilation
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import rbac
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.world import SimWorld


class EvaluationError(Exception):
    """An expression that did not give a value, in the API server's words."""


def evaluated(source: str, types: Mapping[str, cel.Type], names: Mapping[str, Any], returns: cel.Type) -> Any:
    """The value of an expression. Raises EvaluationError."""
    source = source.strip()
    try:
        program = cel.compile_expression(source, types, returns)
    except cel.CompileError as error:
        raise EvaluationError(f"compilation error: {compilation(error)}") from None
    try:
        return program.evaluate(names)
    except cel.CostExceeded as error:
        raise EvaluationError(
            f"validation failed due to running out of cost budget, no further validation rules will be run: {error}"
        ) from None
    except cel.CelError as error:
        raise EvaluationError(f"expression '{source}' resulted in error: {error}") from None


# --- names -------------------------------------------------------------------------------------------


def names_of(
    world: SimWorld, request: Attributes, resource: Resource, new: Manifest | None, old: Manifest | None
) -> dict[str, Any]:
    """What expressions about a request see."""
    access = _Access(world, request.user)
    about = _ResourceCheck(
        access,
        request.resource.group,
        request.resource.plural,
        request.subresource,
        request.namespace,
        request.name,
    )
    namespace = None
    if request.namespace and request.resource.key != "namespaces":
        namespace = world.store.get("namespaces", "", request.namespace)
    return {
        "object": new,
        "oldObject": old,
        "request": request_of(request, resource),
        "namespaceObject": namespace,
        "authorizer": access,
        "authorizer.requestResource": about,
    }


def request_of(request: Attributes, resource: Resource) -> Manifest:
    """``request``: the AdmissionRequest without its objects."""
    group, version, kind = request.kind or resource.gvk
    asked_group, asked_version, asked_kind = request.gvk
    found: Manifest = {
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
        "requestKind": {"group": asked_group, "version": asked_version, "kind": asked_kind},
        "requestResource": {
            "group": request.resource.group,
            "version": request.resource.version,
            "resource": request.resource.plural,
        },
        "operation": request.operation,
        "userInfo": {"username": request.user.name, "groups": list(request.user.groups)},
        "dryRun": request.dry_run,
        "options": dict(request.options or {}),
    }
    for key, value in (
        ("name", request.name),
        ("namespace", request.namespace),
        ("subResource", request.subresource),
        ("requestSubResource", request.subresource),
    ):
        if value:
            found[key] = value
    return found


# --- authorizer --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Decision(cel.Host):
    granted: bool
    type_name = "kubernetes.authorization.Decision"

    def cel_allowed(self) -> bool:
        return self.granted

    def cel_reason(self) -> str:
        return ""

    def cel_errored(self) -> bool:
        return False

    def cel_error(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class _Access(cel.Host):
    world: SimWorld
    user: User
    type_name = AUTHORIZER

    @property
    def authorizer(self) -> rbac.Authorizer:
        return rbac.Authorizer(self.world, self.user)

    def cel_path(self, path: str) -> _PathCheck:
        return _PathCheck(self, path)

    def cel_group(self, group: str) -> _GroupCheck:
        return _GroupCheck(self, group)

    def cel_serviceAccount(self, namespace: str, name: str) -> _Access:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return _Access(self.world, User(f"system:serviceaccount:{namespace}:{name}", groups))


@dataclass(frozen=True, slots=True)
class _PathCheck(cel.Host):
    access: _Access
    path: str
    type_name = "kubernetes.authorization.PathCheck"

    def cel_check(self, verb: str) -> _Decision:
        return _Decision(self.access.authorizer.allows_path(verb, self.path))


@dataclass(frozen=True, slots=True)
class _GroupCheck(cel.Host):
    access: _Access
    group: str
    type_name = "kubernetes.authorization.GroupCheck"

    def cel_resource(self, resource: str) -> _ResourceCheck:
        return _ResourceCheck(self.access, self.group, resource)


@dataclass(frozen=True, slots=True)
class _ResourceCheck(cel.Host):
    access: _Access
    group: str
    resource: str
    below: str = ""
    where: str = ""
    which: str = ""
    type_name = RESOURCE_CHECK

    def _with(self, **changes: str) -> _ResourceCheck:
        parts = {"below": self.below, "where": self.where, "which": self.which, **changes}
        return _ResourceCheck(self.access, self.group, self.resource, **parts)

    def cel_subresource(self, name: str) -> _ResourceCheck:
        return self._with(below=name)

    def cel_namespace(self, name: str) -> _ResourceCheck:
        return self._with(where=name)

    def cel_name(self, name: str) -> _ResourceCheck:
        return self._with(which=name)

    def cel_fieldSelector(self, _selector: str) -> _ResourceCheck:
        return self

    def cel_labelSelector(self, _selector: str) -> _ResourceCheck:
        return self

    def cel_check(self, verb: str) -> _Decision:
        what = f"{self.resource}/{self.below}" if self.below else self.resource
        return _Decision(
            self.access.authorizer.allows(verb, self.group, what, self.where or None, self.which)
        )


__all__ = ["MATCHING", "EvaluationError", "evaluated", "names_of", "request_of"]
