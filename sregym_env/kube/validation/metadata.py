"""Validation of ``metadata`` and of the label selectors that many kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sregym_env.kube import names
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import (
    FieldError,
    GoValue,
    duplicate,
    forbidden_field,
    go_literal,
    go_quote,
    invalid_value,
    required,
    too_long,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime.numbers import whole

Errors = list[FieldError]

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotations of an object together."""

_LABEL_NAMES = frozenset(("namespaces",))
_SERVICE_NAMES = frozenset(("services",))
_PATH_NAMES = frozenset(
    f"{plural}.rbac.authorization.k8s.io"
    for plural in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
)
_PARTS = ("labels", "annotations", "ownerReferences", "finalizers")
_STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"


def name_rule(resource: Resource) -> Callable[[str], names.Complaints]:
    """The check that the names of a resource's objects must pass."""
    if resource.key in _LABEL_NAMES:
        return names.dns1123_label
    if resource.key in _SERVICE_NAMES:
        return names.dns1035_label
    if resource.key in _PATH_NAMES:
        return names.path_segment
    return names.dns1123_subdomain


def validate_metadata(resource: Resource, obj: Manifest, old: Manifest | None = None) -> Errors:
    """``ValidateObjectMeta``; parts that are the very same objects in ``old`` were valid before."""
    out: Errors = []
    metadata = obj.get("metadata") or {}
    if old is not None:
        known = old.get("metadata") or {}
        kept = {part for part in _PARTS if metadata.get(part) is known.get(part)}
        metadata = {key: value for key, value in metadata.items() if key not in kept}
    check = name_rule(resource)
    prefix = metadata.get("generateName")
    if prefix:
        # A trailing dash is fine in a prefix: the random suffix follows.
        probe = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        out += [invalid_value("metadata.generateName", prefix, text) for text in check(probe)]
    name = metadata.get("name")
    if name:
        out += [invalid_value("metadata.name", name, text) for text in check(name)]
    elif not prefix:
        out.append(required("metadata.name", "name or generateName is required"))
    namespace = metadata.get("namespace")
    if not resource.namespaced and namespace:
        out.append(forbidden_field("metadata.namespace", "not allowed on this type"))
    elif namespace:
        complaints = names.dns1123_label(namespace)
        out += [invalid_value("metadata.namespace", namespace, text) for text in complaints]
    validate_labels(metadata.get("labels"), "metadata.labels", out)
    _annotations(metadata.get("annotations"), out)
    _owners(metadata.get("ownerReferences"), out)
    for finalizer in metadata.get("finalizers") or ():
        complaints = names.qualified_name(finalizer)
        out += [invalid_value("metadata.finalizers", finalizer, text) for text in complaints]
        if not complaints and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            out.append(invalid_value("metadata.finalizers", finalizer, text))
    return out


def validate_labels(labels: Mapping[str, str] | None, where: str, out: Errors) -> None:
    """Label keys and values."""
    for key, value in (labels or {}).items():
        out += [invalid_value(where, key, text) for text in names.qualified_name(key)]
        out += [invalid_value(where, value, text) for text in names.label_value(value)]


def _annotations(annotations: Mapping[str, str] | None, out: Errors) -> None:
    if not annotations:
        return
    size = 0
    for key, value in annotations.items():
        out += [invalid_value("metadata.annotations", key, t) for t in names.qualified_name(key.lower())]
        size += len(key) + len(value)
    if size > ANNOTATIONS_LIMIT:
        out.append(too_long("metadata.annotations", ANNOTATIONS_LIMIT))


def _owners(references: list[Manifest] | None, out: Errors) -> None:
    controllers = []
    for index, reference in enumerate(references or ()):
        where = f"metadata.ownerReferences[{index}]"
        for key in ("apiVersion", "kind", "name", "uid"):
            if not reference.get(key):
                out.append(invalid_value(f"{where}.{key}", "", "must not be empty"))
        if reference.get("controller"):
            controllers.append(f"{reference.get('kind')}/{reference.get('name')}")
    if len(controllers) > 1:
        text = (
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {controllers[1]}"
        )
        shown = GoValue("[]v1.OwnerReference{" + ", ".join(controllers) + "}")
        out.append(invalid_value("metadata.ownerReferences", shown, text))


def validate_metadata_update(new: Manifest, old: Manifest) -> Errors:
    """``ValidateObjectMetaUpdate``: what identifies an object cannot change."""
    out: Errors = []
    before, after = old.get("metadata") or {}, new.get("metadata") or {}
    for key in ("name", "namespace", "uid", "creationTimestamp"):
        value = after.get(key)
        if value is not None and value != before.get(key):
            out.append(invalid_value(f"metadata.{key}", value, IMMUTABLE))
    if before.get("deletionTimestamp"):
        added = [f for f in after.get("finalizers") or () if f not in (before.get("finalizers") or ())]
        if added:
            listed = ", ".join(go_quote(f) for f in added)
            text = (
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}"
            )
            out.append(forbidden_field("metadata.finalizers", text))
    return out


# --- selectors ------------------------------------------------------------------------------------------

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def validate_selector(selector: Manifest | None, where: str, out: Errors) -> None:
    """A ``LabelSelector``."""
    if not selector:
        return
    validate_labels(selector.get("matchLabels"), f"{where}.matchLabels", out)
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        at = f"{where}.matchExpressions[{index}]"
        operator = expression.get("operator")
        values = expression.get("values") or ()
        if operator in ("In", "NotIn") and not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            out.append(required(f"{at}.values", text))
        elif operator in ("Exists", "DoesNotExist") and values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            out.append(forbidden_field(f"{at}.values", text))
        elif operator not in _OPERATORS:
            out.append(invalid_value(f"{at}.operator", operator, "not a valid selector operator"))
        key = expression.get("key") or ""
        out += [invalid_value(f"{at}.key", key, text) for text in names.qualified_name(key)]


def selector_value(selector: Mapping[str, Any] | None) -> GoValue:
    """A ``LabelSelector`` in Go syntax, as error messages show it."""
    selector = selector or {}
    labels = selector.get("matchLabels")
    shown = go_literal(labels) if labels else "map[string]string(nil)"
    expressions = selector.get("matchExpressions")
    listed = "[]v1.LabelSelectorRequirement(nil)"
    if expressions:
        items = ", ".join(
            f"v1.LabelSelectorRequirement{{Key:{go_quote(e.get('key', ''))}, Operator:{go_quote(e.get('operator', ''))}, "
            f"Values:{go_literal(e['values']) if e.get('values') else '[]string(nil)'}}}"
            for e in expressions
        )
        listed = f"[]v1.LabelSelectorRequirement{{{items}}}"
    return GoValue(f"v1.LabelSelector{{MatchLabels:{shown}, MatchExpressions:{listed}}}")


# --- small checks -----------------------------------------------------------------------------------------


def not_negative(obj: Manifest, key: str, where: str, out: Errors) -> None:
    """An integer field that must not be negative, when it is set."""
    value = obj.get(key)
    if value is not None and value < 0:
        out.append(invalid_value(f"{where}.{key}", value, NOT_NEGATIVE))


def one_of(obj: Manifest, key: str, where: str, allowed: tuple[str, ...], out: Errors) -> None:
    """A string field that must be one of ``allowed``, when it is set."""
    value = obj.get(key)
    if value is not None and value not in allowed:
        out.append(unsupported(f"{where}.{key}", value, allowed))


def needed(obj: Manifest, key: str, where: str, out: Errors, detail: str = "") -> bool:
    """A field that must be there and not empty; returns whether it is."""
    if obj.get(key) in (None, "", [], {}):
        out.append(required(f"{where}.{key}", detail))
        return False
    return True


def unique(seen: set[Json], value: Json, where: str, out: Errors) -> None:
    """Complain about the second sight of a value."""
    if value in seen:
        out.append(duplicate(where, value))
    seen.add(value)


def immutable(new: Manifest, old: Manifest, key: str, where: str, out: Errors, value: Json = None) -> None:
    """A field that cannot change."""
    if new.get(key) != old.get(key):
        shown = value if value is not None else new.get(key)
        out.append(invalid_value(f"{where}.{key}", shown, IMMUTABLE))


def port_or_name(value: Json, where: str, out: Errors) -> None:
    """A port given by number or by name."""
    if isinstance(value, int):
        out += [invalid_value(where, value, text) for text in names.port_number(value)]
    elif isinstance(value, str):
        out += [invalid_value(where, value, text) for text in names.port_name(value)]
    else:
        out.append(required(where))


def percentage(value: Json) -> int | None:
    """The number of a text like ``25%``, else None."""
    if isinstance(value, str) and value.endswith("%"):
        return whole(value[:-1])
    return None


PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def count_or_percent(value: Json, where: str, out: Errors) -> None:
    """A non-negative integer or a percentage."""
    if isinstance(value, int):
        if value < 0:
            out.append(invalid_value(where, value, NOT_NEGATIVE))
    elif isinstance(value, str) and percentage(value) is None:
        out.append(invalid_value(where, value, PERCENT_TEXT))


def spec_diff(go_struct: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    """What changed between two specs, in the manner of Go's ``cmp.Diff``."""
    lines = [f"  {go_struct}{{"]
    same = 0
    for key in sorted(set(new) | set(old)):
        if new.get(key) == old.get(key):
            same += 1
            continue
        field = key[:1].upper() + key[1:]
        if key in old:
            lines.append(f"- \t{field}: {_go_short(old[key])},")
        if key in new:
            lines.append(f"+ \t{field}: {_go_short(new[key])},")
    if same:
        lines.append(f"  \t... // {same} identical fields")
    return "\n".join([*lines, "  }", ""])


def _go_short(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_go_short(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(_go_short(v) for v in value) + "}"
    return go_literal(value)
