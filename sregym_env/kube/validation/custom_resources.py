"""Custom resources and their definitions: the rules themselves are loaded when there is something to check."""

from __future__ import annotations

from sregym_env.kube.registry import CustomType
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import Errors


def validate_definition(obj: Manifest, out: Errors) -> None:
    """A CustomResourceDefinition."""
    from sregym_env.kube.validation import definitions

    definitions.validate_definition(obj, out)


def update_definition(new: Manifest, old: Manifest, out: Errors) -> None:
    """A changed CustomResourceDefinition."""
    from sregym_env.kube.validation import definitions

    definitions.update_definition(new, old, out)


def validate_object(custom: CustomType, obj: Manifest, old: Manifest | None, out: Errors) -> None:
    """An object of a custom resource by its schema and the rules in it."""
    from sregym_env.kube import rules
    from sregym_env.kube.custom import validate

    found = validate(custom.schema, obj, old)
    out += found
    out += rules.complaints(custom, obj, old, found)
