"""What expressions about admission requests may name: policies and the ``matchConditions`` of webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.kube import cel
from sregym_env.kube.status import FieldError, invalid_value

_KIND = cel.ObjectType(
    "kubernetes.GroupVersionKind", {"group": "string", "version": "string", "kind": "string"}
)
_RESOURCE = cel.ObjectType(
    "kubernetes.GroupVersionResource", {"group": "string", "version": "string", "resource": "string"}
)
_USER = cel.ObjectType(
    "kubernetes.UserInfo",
    {
        "username": "string",
        "uid": "string",
        "groups": ("list", "string"),
        "extra": ("map", "string", ("list", "string")),
    },
)
REQUEST = cel.ObjectType(
    "kubernetes.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": "string",
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": _USER,
        "dryRun": "bool",
        "options": "dyn",
    },
)
_STRINGS = ("map", "string", "string")
_META = cel.ObjectType(
    "kubernetes.NamespaceMetadata",
    {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "UID": "string",
        "creationTimestamp": "dyn",
        "deletionTimestamp": "dyn",
        "deletionGracePeriodSeconds": "int",
        "generation": "int",
        "resourceVersion": "string",
        "finalizers": ("list", "string"),
    },
)
NAMESPACE = cel.ObjectType(
    "kubernetes.Namespace",
    {
        "metadata": _META,
        "spec": cel.ObjectType("kubernetes.NamespaceSpec", {"finalizers": ("list", "string")}),
        "status": cel.ObjectType("kubernetes.NamespaceStatus", {"phase": "string"}),
    },
)
AUTHORIZER = "kubernetes.authorization.Authorizer"
RESOURCE_CHECK = "kubernetes.authorization.ResourceCheck"

MATCHING: Mapping[str, cel.Type] = {
    "object": "dyn",
    "oldObject": "dyn",
    "request": REQUEST,
    "authorizer": AUTHORIZER,
    "authorizer.requestResource": RESOURCE_CHECK,
}
"""What ``matchConditions`` of webhooks may name."""


def compilation(error: cel.CompileError) -> str:
    """Why an expression does not compile."""
    text = str(error)
    return text if text.startswith("must evaluate") else f"compilation failed: {text}"


def types_of(spec: Mapping[str, Any]) -> dict[str, cel.Type]:
    """What the expressions of a policy may name, with the types of its variables."""
    types: dict[str, cel.Type] = {**MATCHING, "namespaceObject": NAMESPACE}
    if spec.get("paramKind"):
        types["params"] = "dyn"
    known: dict[str, cel.Type] = {}
    for variable in spec.get("variables") or ():
        types["variables"] = cel.ObjectType("kubernetes.variables", dict(known))
        try:
            program = cel.compile_expression(str(variable.get("expression") or "").strip(), types)
            known[variable["name"]] = program.type
        except cel.CompileError:
            known[variable["name"]] = "dyn"
    types["variables"] = cel.ObjectType("kubernetes.variables", known)
    return types


# --- validation ------------------------------------------------------------------------------------


def check_conditions(
    conditions: Iterable[Mapping[str, Any]], where: str, types: Mapping[str, cel.Type] | None = None
) -> list[FieldError]:
    """Complaints about ``matchConditions`` that do not compile."""
    known = MATCHING if types is None else types
    out: list[FieldError] = []
    for index, condition in enumerate(conditions):
        _check(condition, "expression", f"{where}[{index}]", known, "bool", out)
    return out


def check_policy(spec: Mapping[str, Any]) -> list[FieldError]:
    """Complaints about expressions of a ValidatingAdmissionPolicy that do not compile."""
    types = types_of(spec)
    out: list[FieldError] = []
    known: dict[str, cel.Type] = {}
    for index, variable in enumerate(spec.get("variables") or ()):
        seen = {**types, "variables": cel.ObjectType("kubernetes.variables", dict(known))}
        _check(variable, "expression", f"spec.variables[{index}]", seen, cel.DYN, out)
        known[str(variable.get("name") or "")] = "dyn"
    out += check_conditions(spec.get("matchConditions") or (), "spec.matchConditions", types)
    messages = {name: type_ for name, type_ in types.items() if not name.startswith("authorizer")}
    for index, validation in enumerate(spec.get("validations") or ()):
        at = f"spec.validations[{index}]"
        _check(validation, "expression", at, types, "bool", out)
        _check(validation, "messageExpression", at, messages, "string", out)
    for index, annotation in enumerate(spec.get("auditAnnotations") or ()):
        _check(annotation, "valueExpression", f"spec.auditAnnotations[{index}]", types, cel.DYN, out)
    return out


def _check(
    owner: Mapping[str, Any],
    field: str,
    where: str,
    types: Mapping[str, cel.Type],
    returns: cel.Type,
    out: list[FieldError],
) -> None:
    source = str(owner.get(field) or "")
    if not source.strip():
        return
    try:
        cel.compile_expression(source.strip(), types, returns)
    except cel.CompileError as error:
        out.append(invalid_value(f"{where}.{field}", source, compilation(error)))
