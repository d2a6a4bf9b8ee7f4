"""Validation of CustomResourceDefinitions: names, versions, structural schemas and rules.

Source of rules and texts: ``k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`` and
``pkg/apiserver/schema`` of v1.32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sregym_env.kube import names
from sregym_env.kube.custom import apply_schema_defaults, is_pattern, validate_at
from sregym_env.kube.jsonpath import JSONPathError, compile_template, relaxed
from sregym_env.kube.rules import Rule, compile_rule, declared_type
from sregym_env.kube.status import (
    FieldError,
    GoValue,
    duplicate,
    forbidden_field,
    go_quote,
    invalid_value,
    required,
    unsupported,
)
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import IMMUTABLE, Errors

APPROVAL = "api-approved.kubernetes.io"
_APPROVAL_LINK = "https://github.com/kubernetes/enhancements/pull/1111"
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_REASONS = ("FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate")
_UNSUPPORTED = ("id", "patternProperties", "additionalItems", "definitions", "dependencies")
_ONE_STORAGE = "must have exactly one version marked as storage version"


def validate_definition(obj: Manifest, out: Errors) -> None:
    """A new or changed CustomResourceDefinition."""
    spec: Manifest = obj.get("spec") or {}
    metadata = obj.get("metadata") or {}
    kinds: Manifest = spec.get("names") or {}
    expected = f"{kinds.get('plural', '')}.{spec.get('group', '')}"
    if metadata.get("name") != expected:
        text = 'must be spec.names.plural+"."+spec.group'
        out.append(invalid_value("metadata.name", metadata.get("name") or "", text))
    _group(spec, out)
    _scope(spec, out)
    versions = [v for v in spec.get("versions") or () if isinstance(v, dict)]
    _versions(spec, versions, out)
    _names(kinds, "spec.names", out)
    _conversion(spec, out)
    for where, schema in _schemas(versions):
        _Schemas(where, out).root(schema)
    _subresources(versions, out)
    _columns(versions, out)
    _selectable(versions, out)
    _stored(obj, versions, out)
    _approval(spec, metadata, out)


def update_definition(new: Manifest, old: Manifest, out: Errors) -> None:
    """What may not change once it is established."""
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(c["type"] == "Established" and c["status"] == "True" for c in conditions)
    if not established:
        return
    before, after = old["spec"], new.get("spec") or {}
    if before.get("scope") != after.get("scope"):
        out.append(invalid_value("spec.scope", after.get("scope") or "", IMMUTABLE))
    for key in ("kind", "plural"):
        was, now = before["names"].get(key), (after.get("names") or {}).get(key)
        if was != now:
            out.append(invalid_value(f"spec.names.{key}", now or "", IMMUTABLE))
    if before.get("group") != after.get("group"):
        out.append(invalid_value("spec.group", after.get("group") or "", IMMUTABLE))


def _group(spec: Manifest, out: Errors) -> None:
    group = spec.get("group") or ""
    if not group:
        out.append(required("spec.group"))
        return
    complaints = names.dns1123_subdomain(group)
    if complaints:
        out.append(invalid_value("spec.group", group, ",".join(complaints)))
    elif "." not in group:
        out.append(invalid_value("spec.group", group, "should be a domain with at least one dot"))


def _scope(spec: Manifest, out: Errors) -> None:
    scope = spec.get("scope") or ""
    if not scope:
        out.append(required("spec.scope"))
    elif scope not in ("Cluster", "Namespaced"):
        out.append(unsupported("spec.scope", scope, ("Cluster", "Namespaced")))


def _versions(spec: Manifest, versions: list[Manifest], out: Errors) -> None:
    shown = GoValue(_go_versions(versions))
    for index, version in enumerate(versions):
        name = version.get("name") or ""
        for text in names.dns1035_label(name):
            out.append(invalid_value(f"spec.versions[{index}].name", name, text))
    found = [version.get("name") for version in versions]
    if len(set(found)) != len(found):
        out.append(invalid_value("spec.versions", shown, "must contain unique version names"))
    if sum(1 for version in versions if version.get("storage")) != 1:
        out.append(invalid_value("spec.versions", shown, _ONE_STORAGE))
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            out.append(required(f"spec.versions[{index}].schema.openAPIV3Schema", "schemas are required"))


def _go_versions(versions: list[Manifest]) -> str:
    if not versions:
        return "[]apiextensions.CustomResourceDefinitionVersion(nil)"
    shown = ", ".join(_go_version(version) for version in versions)
    return f"[]apiextensions.CustomResourceDefinitionVersion{{{shown}}}"


def _go_version(version: Manifest) -> str:
    def flag(key: str) -> str:
        return "true" if version.get(key) else "false"

    return (
        f"apiextensions.CustomResourceDefinitionVersion{{Name:{go_quote(version.get('name') or '')}, "
        f"Served:{flag('served')}, Storage:{flag('storage')}, Deprecated:{flag('deprecated')}, "
        "DeprecationWarning:(*string)(nil), Schema:(*apiextensions.CustomResourceValidation)(nil), "
        "Subresources:(*apiextensions.CustomResourceSubresources)(nil), "
        "AdditionalPrinterColumns:[]apiextensions.CustomResourceColumnDefinition(nil), "
        "SelectableFields:[]apiextensions.SelectableField(nil)}"
    )


def _names(kinds: Manifest, where: str, out: Errors) -> None:
    for key in ("plural", "singular", "kind", "listKind"):
        if not kinds.get(key):
            out.append(required(f"{where}.{key}"))
    for key in ("plural", "singular"):
        if kinds.get(key):
            complaints = names.dns1035_label(kinds[key])
            if complaints:
                out.append(invalid_value(f"{where}.{key}", kinds[key], ",".join(complaints)))
    for key in ("kind", "listKind"):
        if kinds.get(key):
            complaints = names.dns1035_label(kinds[key].lower())
            if complaints:
                text = "may have mixed case, but should otherwise match: " + ",".join(complaints)
                out.append(invalid_value(f"{where}.{key}", kinds[key], text))
    for key in ("shortNames", "categories"):
        for index, name in enumerate(kinds.get(key) or ()):
            complaints = names.dns1035_label(name)
            if complaints:
                out.append(invalid_value(f"{where}.{key}[{index}]", name, ",".join(complaints)))
    if kinds.get("kind") and kinds.get("kind") == kinds.get("listKind"):
        out.append(
            invalid_value(f"{where}.listKind", kinds["listKind"], "kind and listKind may not be the same")
        )


def _conversion(spec: Manifest, out: Errors) -> None:
    conversion = spec.get("conversion") or {}
    strategy = conversion.get("strategy") or ""
    if strategy not in ("None", "Webhook"):
        if not strategy:
            out.append(required("spec.conversion.strategy"))
        else:
            out.append(unsupported("spec.conversion.strategy", strategy, ("None", "Webhook")))
    webhook = conversion.get("webhook") or {}
    if strategy == "Webhook":
        if not webhook.get("clientConfig"):
            out.append(
                required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")
            )
        if not webhook.get("conversionReviewVersions"):
            out.append(required("spec.conversion.conversionReviewVersions"))
    elif webhook:
        text = "should not be set when strategy is not set to Webhook"
        out.append(forbidden_field("spec.conversion.webhookClientConfig", text))


def _hoisted(versions: list[Manifest], key: str, top: str) -> list[tuple[str, Any]]:
    """A part of every version with its path: one path above the versions where it is the same in all."""
    parts = [version.get(key) for version in versions]
    if parts and all(part == parts[0] for part in parts[1:]):
        return [(f"spec.{top}", parts[0])]
    return [(f"spec.versions[{i}].{key}", part) for i, part in enumerate(parts)]


def _schemas(versions: list[Manifest]) -> list[tuple[str, Mapping[str, Any]]]:
    return [
        (f"{where}.openAPIV3Schema", part["openAPIV3Schema"])
        for where, part in _hoisted(versions, "schema", "validation")
        if isinstance(part, dict)
        and isinstance(part.get("openAPIV3Schema"), dict)
        and part["openAPIV3Schema"]
    ]


_SIMPLE_PATH = re.compile(r"(\.[a-zA-Z_][a-zA-Z0-9_-]*|\[['\"][^'\"]+['\"]\])+")


def _subresources(versions: list[Manifest], out: Errors) -> None:
    for where, part in _hoisted(versions, "subresources", "subresources"):
        scale = (part or {}).get("scale")
        if scale is None:
            continue
        rules = (
            ("specReplicasPath", (".spec.",), "should be a json path under .spec", True),
            ("statusReplicasPath", (".status.",), "should be a json path under .status", True),
            (
                "labelSelectorPath",
                (".spec.", ".status."),
                "should be a json path under either .spec or .status",
                False,
            ),
        )
        for key, prefixes, text, needed in rules:
            path = scale.get(key) or ""
            if not path:
                if needed:
                    out.append(required(f"{where}.scale.{key}"))
            elif not _SIMPLE_PATH.fullmatch(path):
                out.append(invalid_value(f"{where}.scale.{key}", path, "should be a simple json path"))
            elif not path.startswith(prefixes):
                out.append(invalid_value(f"{where}.scale.{key}", path, text))


def _columns(versions: list[Manifest], out: Errors) -> None:
    for where, columns in _hoisted(versions, "additionalPrinterColumns", "additionalPrinterColumns"):
        for index, column in enumerate(columns or ()):
            at = f"{where}[{index}]"
            if not column.get("name"):
                out.append(required(f"{at}.name"))
            if not column.get("type"):
                out.append(required(f"{at}.type", f"must be one of {','.join(_COLUMN_TYPES)}"))
            elif column["type"] not in _COLUMN_TYPES:
                text = f"must be one of {','.join(_COLUMN_TYPES)}"
                out.append(invalid_value(f"{at}.type", column["type"], text))
            if column.get("format") and column["format"] not in _COLUMN_FORMATS:
                text = f"must be one of {','.join(_COLUMN_FORMATS)}"
                out.append(invalid_value(f"{at}.format", column["format"], text))
            path = column.get("jsonPath") or ""
            if not path:
                out.append(required(f"{at}.JSONPath"))
                continue
            if not path.startswith("."):
                out.append(
                    invalid_value(f"{at}.JSONPath", path, "must be a simple json path starting with .")
                )
                continue
            try:
                compile_template(relaxed(path))
            except JSONPathError as error:
                out.append(invalid_value(f"{at}.JSONPath", path, str(error)))


def _selectable(versions: list[Manifest], out: Errors) -> None:
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") or {} for version in versions]
    for position, (where, fields) in enumerate(_hoisted(versions, "selectableFields", "selectableFields")):
        seen: set[str] = set()
        if len(fields or ()) > 8:
            out.append(FieldError("Too many", where, len(fields), "must have at most 8 items"))
        for index, entry in enumerate(fields or ()):
            at, path = f"{where}[{index}].jsonPath", str(entry.get("jsonPath") or "")
            if not path:
                out.append(required(at))
                continue
            found = _field_at(schemas[position], path)
            if found is None:
                out.append(invalid_value(at, path, "is an invalid path: does not refer to a valid field"))
            elif found.get("type") not in ("string", "boolean", "integer"):
                text = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
                out.append(invalid_value(at, path, text))
            if path.startswith(".metadata"):
                out.append(invalid_value(at, path, "must not point to fields in metadata"))
            if path in seen:
                out.append(duplicate(at, path))
            seen.add(path)


def _field_at(schema: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    found: Any = schema
    for name in re.findall(r"\.([^.\[]+)|\[['\"]([^'\"]+)['\"]\]", path):
        found = (found.get("properties") or {}).get(name[0] or name[1])
        if not isinstance(found, Mapping):
            return None
    return found if isinstance(found, Mapping) else None


def _stored(obj: Manifest, versions: list[Manifest], out: Errors) -> None:
    stored = (obj.get("status") or {}).get("storedVersions")
    if stored is None:
        return
    known = [version.get("name") for version in versions]
    for index, name in enumerate(stored):
        if name not in known:
            text = "missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions"
            text = text.replace("v1", name)
            out.append(invalid_value(f"status.storedVersions[{index}]", name, text))


def _approval(spec: Manifest, metadata: Manifest, out: Errors) -> None:
    group = spec.get("group") or ""
    if not (group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))):
        return
    value = (metadata.get("annotations") or {}).get(APPROVAL) or ""
    where = f"metadata.annotations[{APPROVAL}]"
    if not value:
        text = f'protected groups must have approval annotation "{APPROVAL}", see {_APPROVAL_LINK}'
        out.append(required(where, text))
    elif not value.startswith("unapproved") and not re.match(r"https?://[^/]+", value):
        text = (
            f'protected groups must have approval annotation "{APPROVAL}" with either a URL or a reason starting '
            f'with "unapproved", see {_APPROVAL_LINK}'
        )
        out.append(invalid_value(where, value, text))


# --- schemas ---------------------------------------------------------------------------------------


class _Schemas:
    """Walks one schema and notes what is wrong with it."""

    def __init__(self, where: str, out: Errors) -> None:
        self.base = where
        self.out = out

    def root(self, schema: Mapping[str, Any]) -> None:
        kind = schema.get("type")
        if not kind:
            self.out.append(required(f"{self.base}.type", "must not be empty at the root"))
        elif kind != "object":
            self.out.append(invalid_value(f"{self.base}.type", kind, "must be object at the root"))
        if schema.get("nullable"):
            self.out.append(forbidden_field(f"{self.base}.nullable", "nullable cannot be true at the root"))
        self._implicit(schema)
        self.walk(schema, self.base, root=True, correlatable=True)

    def _implicit(self, schema: Mapping[str, Any]) -> None:
        known = schema.get("properties") or {}
        for key, kind in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
            field = known.get(key)
            if field is not None and field.get("type") != kind:
                text = f"must be {kind}"
                self.out.append(
                    invalid_value(f"{self.base}.properties[{key}].type", field.get("type") or "", text)
                )
        metadata = known.get("metadata") or {}
        others = [key for key in metadata if key not in ("type", "properties", "description")]
        named = [key for key in metadata.get("properties") or {} if key not in ("name", "generateName")]
        if others or named:
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            self.out.append(forbidden_field(f"{self.base}.properties[metadata]", text))

    def walk(self, schema: Mapping[str, Any], where: str, *, root: bool = False, correlatable: bool) -> None:
        """One schema and everything below it."""
        self._unsupported(schema, where)
        self._type(schema, where)
        self._strings(schema, where)
        self._lists(schema, where)
        self._rules(schema, where, root, correlatable)
        self._default(schema, where)
        for name, inner in (schema.get("properties") or {}).items():
            at = f"{where}.properties[{name}]"
            if not self._typed(inner) and not (root and name in ("apiVersion", "kind", "metadata")):
                self.out.append(required(f"{at}.type", "must not be empty for specified object fields"))
            self.walk(inner, at, correlatable=correlatable)
        others = schema.get("additionalProperties")
        if isinstance(others, Mapping):
            at = f"{where}.additionalProperties"
            if not self._typed(others):
                self.out.append(required(f"{at}.type", "must not be empty for specified object fields"))
            self.walk(others, at, correlatable=correlatable)
        items = schema.get("items")
        if isinstance(items, Mapping):
            at = f"{where}.items"
            if not self._typed(items):
                self.out.append(required(f"{at}.type", "must not be empty for specified array items"))
            self.walk(items, at, correlatable=correlatable and schema.get("x-kubernetes-list-type") == "map")
        for word in ("allOf", "anyOf", "oneOf"):
            for index, part in enumerate(schema.get(word) or ()):
                self._nested(part, f"{where}.{word}[{index}]", schema)
        if isinstance(schema.get("not"), Mapping):
            self._nested(schema["not"], f"{where}.not", schema)

    @staticmethod
    def _typed(schema: Mapping[str, Any]) -> bool:
        free = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
        return bool(schema.get("type")) or any(schema.get(key) for key in free)

    def _nested(self, part: Mapping[str, Any], where: str, outer: Mapping[str, Any]) -> None:
        """A schema inside a logical junctor: values only, no structure."""
        int_or_string = outer.get("x-kubernetes-int-or-string")
        for key in ("type", "default", "nullable", "description", "title", "additionalProperties"):
            if key in part and part[key] not in (None, "", False):
                if key == "type" and int_or_string:
                    continue
                self.out.append(forbidden_field(f"{where}.{key}", "must be empty to be structural" if key == "type"
                                                else "must be undefined to be structural"))  # fmt: skip
        for name, inner in (part.get("properties") or {}).items():
            self._nested(inner, f"{where}.properties[{name}]", {})
        if isinstance(part.get("items"), Mapping):
            self._nested(part["items"], f"{where}.items", {})

    def _unsupported(self, schema: Mapping[str, Any], where: str) -> None:
        for key in _UNSUPPORTED:
            if schema.get(key):
                self.out.append(forbidden_field(f"{where}.{key}", f"{key} is not supported"))
        if schema.get("$ref"):
            self.out.append(forbidden_field(f"{where}.$ref", "$ref is not supported"))
        if schema.get("uniqueItems"):
            text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            self.out.append(forbidden_field(f"{where}.uniqueItems", text))
        others = schema.get("additionalProperties")
        if others is False:
            self.out.append(
                forbidden_field(
                    f"{where}.additionalProperties", "additionalProperties cannot be set to false"
                )
            )
        elif others and schema.get("properties"):
            text = "additionalProperties and properties are mutual exclusive"
            self.out.append(forbidden_field(f"{where}.additionalProperties", text))
        if isinstance(schema.get("items"), list):
            text = "items must be a schema object and not an array"
            self.out.append(forbidden_field(f"{where}.items", text))
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            text = "must be true or undefined"
            self.out.append(invalid_value(f"{where}.x-kubernetes-preserve-unknown-fields", False, text))
        if schema.get("x-kubernetes-embedded-resource"):
            if schema.get("type") != "object":
                text = "must be object if x-kubernetes-embedded-resource is true"
                self.out.append(invalid_value(f"{where}.type", schema.get("type") or "", text))
            if not schema.get("properties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
                text = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
                self.out.append(required(f"{where}.properties", text))

    def _type(self, schema: Mapping[str, Any], where: str) -> None:
        kind = schema.get("type")
        if schema.get("x-kubernetes-int-or-string"):
            if kind:
                text = "must be empty if x-kubernetes-int-or-string is true"
                self.out.append(invalid_value(f"{where}.type", kind, text))
            return
        if kind and kind not in _TYPES:
            self.out.append(unsupported(f"{where}.type", kind, _TYPES))
        if kind == "array" and not isinstance(schema.get("items"), (Mapping, list)):
            self.out.append(required(f"{where}.items", "must be specified"))

    def _strings(self, schema: Mapping[str, Any], where: str) -> None:
        pattern = schema.get("pattern")
        if pattern and not is_pattern(pattern):
            text = "must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax"
            self.out.append(invalid_value(f"{where}.pattern", pattern, text))

    def _lists(self, schema: Mapping[str, Any], where: str) -> None:
        kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or ()
        at = f"{where}.x-kubernetes-list-type"
        if kind is not None and schema.get("type") != "array":
            text = "must be array if x-kubernetes-list-type is specified"
            self.out.append(invalid_value(f"{where}.type", schema.get("type") or "", text))
        if kind is not None and kind not in ("atomic", "set", "map"):
            self.out.append(unsupported(at, kind, ("atomic", "set", "map")))
        if keys and kind != "map":
            text = "must be map if x-kubernetes-list-map-keys is non-empty"
            self.out.append(invalid_value(at, kind or "", text) if kind else required(at, text))
        if kind != "map":
            return
        if not keys:
            text = "must not be empty if x-kubernetes-list-type is map"
            self.out.append(required(f"{where}.x-kubernetes-list-map-keys", text))
        items = schema.get("items") or {}
        if items.get("type") != "object":
            text = "must be object if parent array's x-kubernetes-list-type is map"
            self.out.append(invalid_value(f"{where}.items.type", items.get("type") or "", text))
            return
        known, needed = items.get("properties") or {}, items.get("required") or ()
        for index, key in enumerate(keys):
            if key not in known:
                text = "entries must all be names of item properties"
                self.out.append(invalid_value(f"{where}.x-kubernetes-list-map-keys[{index}]", key, text))
            elif key not in needed and "default" not in known[key]:
                text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
                self.out.append(required(f"{where}.items.properties[{key}].default", text))

    def _default(self, schema: Mapping[str, Any], where: str) -> None:
        if "default" not in schema or schema["default"] is None:
            return
        value = apply_schema_defaults(schema, schema["default"])
        found: Errors = []
        validate_at(schema, value, f"{where}.default", found)
        self.out.extend(found)

    def _rules(self, schema: Mapping[str, Any], where: str, root: bool, correlatable: bool) -> None:
        declared = schema.get("x-kubernetes-validations") or ()
        if not declared:
            return
        type_ = declared_type(schema, root)
        for index, entry in enumerate(declared):
            at = f"{where}.x-kubernetes-validations[{index}]"
            if not str(entry.get("rule") or "").strip():
                self.out.append(required(f"{at}.rule", "rule is not specified"))
                continue
            message = entry.get("message")
            if message is not None and not str(message).strip() and message:
                text = "message must be non-empty if specified"
                self.out.append(invalid_value(f"{at}.message", message, text))
            elif message and "\n" in str(message):
                text = "message must not contain line breaks"
                self.out.append(invalid_value(f"{at}.message", message, text))
            elif not message and "\n" in str(entry["rule"]).strip():
                text = "message must be specified if rule contains line breaks"
                self.out.append(required(f"{at}.message", text))
            reason = entry.get("reason")
            if reason is not None and reason not in _REASONS:
                self.out.append(unsupported(f"{at}.reason", reason, _REASONS))
            path = entry.get("fieldPath")
            if path and _field_at(schema, str(path)) is None:
                self.out.append(invalid_value(f"{at}.fieldPath", path, "fieldPath must be a valid path: "
                                              "does not refer to a valid field"))  # fmt: skip
            self._compiled(compile_rule(entry, type_), at, correlatable)

    def _compiled(self, rule: Rule, at: str, correlatable: bool) -> None:
        shown = GoValue(_go_rule(rule.declared))
        if rule.error:
            self.out.append(invalid_value(f"{at}.rule", shown, rule.error))
            return
        if rule.message_error:
            self.out.append(invalid_value(f"{at}.messageExpression", shown, rule.message_error))
        if rule.transition and not correlatable:
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {self.base}"
            self.out.append(invalid_value(f"{at}.rule", str(rule.declared["rule"]), text))
        elif rule.optional_old and not rule.transition:
            text = "may not be set if oldSelf is not used in rule"
            self.out.append(invalid_value(f"{at}.optionalOldSelf", True, text))


def _go_rule(declared: Mapping[str, Any]) -> str:
    def text(key: str) -> str:
        return go_quote(str(declared.get(key) or ""))

    pointers = {
        key: f"({name})(nil)" if declared.get(json) is None else f"({name})(0xc000000000)"
        for key, json, name in (
            ("Reason", "reason", "*apiextensions.FieldValueErrorReason"),
            ("OptionalOldSelf", "optionalOldSelf", "*bool"),
        )
    }
    return (
        f"apiextensions.ValidationRule{{Rule:{text('rule')}, Message:{text('message')}, "
        f"MessageExpression:{text('messageExpression')}, Reason:{pointers['Reason']}, "
        f"FieldPath:{text('fieldPath')}, OptionalOldSelf:{pointers['OptionalOldSelf']}}}"
    )
