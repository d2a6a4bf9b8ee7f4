"""Builds the packaged schema data of ``sregym_env.kube`` from the ``kubernetes-validate`` package.

Run ``python tools_dev/build_schema.py`` after a change of the Kubernetes version or of the resource
registry. It writes two files to ``sregym_env/kube/data``:

``structure-1.32.json.gz``     what decoding, defaulting, patching and validation need: per definition the
                               fields with their types, patch keys and required fields;
``descriptions-1.32.json.gz``  the texts that only ``kubectl explain`` prints.

The type language of the structure file: ``string int32 int64 bool double bytes quantity intorstring
time microtime any``, ``#definition``, ``[]T`` for lists and ``{}T`` for maps with string keys.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import kubernetes_validate

from sregym_env.kube.registry import RESOURCES

VERSION = "1.32"
_SOURCE = (
    Path(kubernetes_validate.__file__).parent
    / "kubernetes-json-schema"
    / f"v{VERSION}.0-local"
    / "_definitions.json"
)
_TARGET = Path(__file__).parent.parent / "sregym_env" / "kube" / "data"

_LEAVES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intorstring",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "any",
}


def _type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _LEAVES.get(name, "#" + name)
    kinds = schema.get("type", "any")
    kind = next((k for k in kinds if k != "null"), "any") if isinstance(kinds, list) else kinds
    if kind == "array":
        return "[]" + _type_of(schema["items"])
    if kind == "object":
        return "{}" + _type_of(schema["additionalProperties"]) if "additionalProperties" in schema else "any"
    if kind == "integer":
        return str(schema.get("format", "int64"))
    if kind == "string":
        return "bytes" if schema.get("format") == "byte" else "string"
    return {"boolean": "bool", "number": "double"}.get(kind, "any")


def _field(schema: dict[str, Any]) -> list[Any]:
    patch = {
        short: schema[long]
        for short, long in (
            ("strategy", "x-kubernetes-patch-strategy"),
            ("merge_key", "x-kubernetes-patch-merge-key"),
            ("list_type", "x-kubernetes-list-type"),
            ("map_keys", "x-kubernetes-list-map-keys"),
            ("map_type", "x-kubernetes-map-type"),
        )
        if long in schema
    }
    return [_type_of(schema), patch] if patch else [_type_of(schema)]


def _references(text: str) -> str:
    _, found, name = text.partition("#")
    return name if found else ""


def build() -> tuple[dict[str, Any], dict[str, Any]]:
    """The two data files as JSON trees."""
    source = json.loads(_SOURCE.read_text())["$defs"]
    structure: dict[str, Any] = {}
    descriptions: dict[str, Any] = {}
    queue = sorted({r.definition for r in RESOURCES if r.definition})
    queue.append("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
    queue += [f"io.k8s.api.autoscaling.v1.{k}" for k in ("Scale",)]
    queue += ["io.k8s.api.policy.v1.Eviction", "io.k8s.api.authentication.v1.TokenRequest"]
    queue += ["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
    while queue:
        name = queue.pop()
        if name in structure:
            continue
        definition = source[name]
        properties = definition.get("properties", {})
        fields = {field: _field(properties[field]) for field in sorted(properties)}
        entry: dict[str, Any] = {"fields": fields}
        if definition.get("required"):
            entry["required"] = sorted(definition["required"])
        if definition.get("x-kubernetes-map-type"):
            entry["map_type"] = definition["x-kubernetes-map-type"]
        structure[name] = entry
        texts = {field: properties[field].get("description", "") for field in fields}
        descriptions[name] = {"": definition.get("description", ""), **texts}
        queue += [r for f in fields.values() if (r := _references(f[0]))]
    for leaf in _LEAVES:
        descriptions[leaf] = {"": source[leaf].get("description", "")}
    return dict(sorted(structure.items())), dict(sorted(descriptions.items()))


def _write(name: str, tree: dict[str, Any]) -> None:
    data = json.dumps(tree, separators=(",", ":"), sort_keys=True).encode()
    path = _TARGET / name
    path.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{path.name}: {len(tree)} definitions, {len(data)} bytes, {path.stat().st_size} compressed")


def main() -> None:
    """Write both files."""
    _TARGET.mkdir(parents=True, exist_ok=True)
    structure, descriptions = build()
    _write(f"structure-{VERSION}.json.gz", structure)
    _write(f"descriptions-{VERSION}.json.gz", descriptions)


if __name__ == "__main__":
    main()
