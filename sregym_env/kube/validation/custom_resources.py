"""Custom resources: their schema, the rules in it, and what their scale reads."""

from __future__ import annotations

from sregym_env.kube import rules
from sregym_env.kube.custom import validate
from sregym_env.kube.registry import CustomType
from sregym_env.kube.status import invalid_value
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.validation.metadata import Errors


def validate_object(custom: CustomType, obj: Manifest, old: Manifest | None, out: Errors) -> None:
    """An object of a custom resource by its schema and the rules in it."""
    found = validate(custom.schema, obj, old)
    found += _scale(custom, obj)
    out += found
    out += rules.complaints(custom, obj, old, found)


def _scale(custom: CustomType, obj: Manifest) -> Errors:
    """The replicas that the scale subresource reads."""
    paths = custom.subresources.get("scale") or {}
    out: Errors = []
    for key in ("specReplicasPath", "statusReplicasPath"):
        value: Json = obj
        for name in str(paths.get(key) or "").strip(".").split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and paths.get(key):
            if value < 0:
                out.append(invalid_value(paths[key], value, "should be a non-negative integer"))
            elif value > _MOST:
                out.append(invalid_value(paths[key], value, f"should be less than or equal to {_MOST}"))
    return out


_MOST = (1 << 31) - 1
