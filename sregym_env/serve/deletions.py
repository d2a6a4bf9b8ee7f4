"""``DeleteOptions``: how a client wants something deleted, from the body and the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.api import Propagation
from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.serve.bodies import body
from sregym_env.serve.message import Request
from sregym_env.sim.apiserver import is_current

_POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How something is deleted."""

    grace_period_seconds: int | None = None
    propagation: Propagation | None = None
    dry_run: bool = False
    uid: str = ""
    resource_version: str = ""

    def check(self, resource: Resource, old: Manifest | None) -> None:
        """Raises Conflict where the preconditions do not hold."""
        if old is None:
            return
        wanted = (("uid", "UID", self.uid), ("resourceVersion", "ResourceVersion", self.resource_version))
        for field, word, found in wanted:
            known = old["metadata"].get(field)
            if field == "resourceVersion" and found and is_current(resource, found, old):
                continue
            if found and found != known:
                text = f"Precondition failed: {word} in precondition: {found}, {word} in object meta: {known}"
                raise status.conflict(resource, old["metadata"]["name"], text)


def options(request: Request) -> DeleteOptions:
    """The options of a request. Raises BadRequest, Invalid."""
    given: dict[str, Any] = {}
    if request.body.strip():
        found = body(request, "DeleteOptions")
        assert isinstance(found, dict)
        given = found
    grace = request.number("gracePeriodSeconds")
    if grace is None:
        grace = _typed(given, "gracePeriodSeconds", int, "int64")
    policy = request.first("propagationPolicy") or _typed(given, "propagationPolicy", str, "string") or ""
    if policy and policy not in _POLICIES:
        error = status.unsupported("propagationPolicy", policy, (*_POLICIES, "nil"))
        raise status.invalid("DeleteOptions.meta.k8s.io", "", [error])
    orphan = _typed(given, "orphanDependents", bool, "bool")
    if "orphanDependents" in request.query:
        orphan = request.flag("orphanDependents")
    preconditions = _typed(given, "preconditions", dict, "v1.Preconditions") or {}
    return DeleteOptions(
        # A negative period counts as one second, as the API server has it.
        1 if grace is not None and grace < 0 else grace,
        _propagation(policy, orphan),
        request.first("dryRun") == "All" or "All" in (_typed(given, "dryRun", list, "[]string") or ()),
        _typed(preconditions, "uid", str, "types.UID", "preconditions.") or "",
        _typed(preconditions, "resourceVersion", str, "string", "preconditions.") or "",
    )


def _typed(given: dict[str, Any], field: str, wanted: type, go_type: str, below: str = "") -> Any:
    """A field of the body, None where it is missing. Raises BadRequest where it has another type."""
    value = given.get(field)
    if value is None or type(value) is wanted:
        return value
    text = f"json: cannot unmarshal {_name(value)} into Go struct field DeleteOptions.{below}{field} of type {go_type}"
    raise status.cannot_handle("DeleteOptions", "v1", text)


def _name(value: Json) -> str:
    if isinstance(value, float):
        return f"number {value:g}"
    names = {bool: "bool", int: "number", str: "string", dict: "object"}
    return names.get(type(value), "array")


def _propagation(policy: str, orphan: bool | None) -> Propagation | None:
    if policy in ("Foreground", "Background", "Orphan"):
        return policy  # type: ignore[return-value]
    return "Orphan" if orphan else None
