"""What expressions about admission requests may name: policies and the ``matchConditions`` of webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from sregym_env.kube import cel, schema
from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.rules import declared_type
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


def types_of(spec: Mapping[str, Any], own: Mapping[str, cel.Type] | None = None) -> dict[str, cel.Type]:
    """What the expressions of a policy may name, with the types of its variables."""
    types: dict[str, cel.Type] = {**MATCHING, "namespaceObject": NAMESPACE}
    if spec.get("paramKind"):
        types["params"] = "dyn"
    types.update(own or {})
    known: dict[str, cel.Type] = {}
    for variable in spec.get("variables") or ():
        types["variables"] = cel.ObjectType("kubernetes.variables", dict(known))
        try:
            program = cel.compile_expression(str(variable.get("expression") or "").strip(), types)
            known[str(variable.get("name") or "")] = program.type
        except cel.CompileError:
            known[str(variable.get("name") or "")] = "dyn"
    types["variables"] = cel.ObjectType("kubernetes.variables", known)
    return types


# --- type checking ---------------------------------------------------------------------------------


class _Fields(Mapping[str, cel.Type]):
    """Types of the fields of a built-in definition, looked up when asked for: definitions may be recursive."""

    def __init__(self, definition: str) -> None:
        self._known = schema.compile_struct(definition).fields

    def __getitem__(self, name: str) -> cel.Type:
        return _typed(self._known[name].type)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


_LEAVES = {
    "string": "string",
    "int32": "int",
    "int64": "int",
    "bool": "bool",
    "double": "double",
    "bytes": "bytes",
    "time": "timestamp",
    "microtime": "timestamp",
}


def _typed(type_: schema.Type) -> cel.Type:
    if type_.struct is not None:
        return _struct_type(type_.struct.definition)
    if type_.item is not None:
        return ("list", _typed(type_.item)) if type_.kind == "list" else ("map", "string", _typed(type_.item))
    return _LEAVES.get(type_.kind, "dyn")


@lru_cache(maxsize=1024)
def _struct_type(definition: str) -> cel.ObjectType:
    return cel.ObjectType(definition, _Fields(definition))


def object_type(resource: Resource) -> cel.Type:
    """The static type of a resource's objects."""
    if resource.custom_type is not None:
        return declared_type(resource.custom_type.schema, root=True)
    return _struct_type(resource.definition) if resource.definition else "dyn"


MOST_TYPES = 10
"""Kinds against which the expressions of one policy are checked."""


def type_warnings(spec: Mapping[str, Any], served: Registry) -> list[dict[str, str]]:
    """``status.typeChecking.expressionWarnings`` of a policy: what its expressions get wrong about the kinds that
    its rules name without wildcards."""
    kinds = _kinds(spec, served)[:MOST_TYPES]
    params = spec.get("paramKind") or {}
    about = served.by_kind(str(params.get("apiVersion") or ""), str(params.get("kind") or ""))
    found = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for field, returns in (("expression", "bool"), ("messageExpression", "string")):
            source = str(validation.get(field) or "").strip()
            if not source:
                continue
            texts = []
            for kind in kinds:
                own: dict[str, cel.Type] = {"object": object_type(kind), "oldObject": object_type(kind)}
                if about is not None:
                    own["params"] = object_type(about)
                types = types_of(spec, own)
                try:
                    cel.compile_expression(source, types, returns)
                except cel.CompileError as error:
                    texts.append(f"{kind.api_version}, Kind={kind.kind}: {error}\n")
            if texts:
                found.append(
                    {"fieldRef": f"spec.validations[{index}].{field}", "warning": "".join(texts).rstrip("\n")}
                )
    return found


def _kinds(spec: Mapping[str, Any], served: Registry) -> list[Resource]:
    out: dict[tuple[str, str, str], Resource] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        plurals = [name for name in rule.get("resources") or () if "/" not in name]
        if "*" in (*groups, *versions, *plurals):
            continue
        for group in groups:
            for version in versions:
                for plural in plurals:
                    found = served.by_plural(group, version, plural)
                    if found is not None:
                        out[found.gvk] = found
    return [out[key] for key in sorted(out)]


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
