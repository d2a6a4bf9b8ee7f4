"""The OpenAPI v2 (Swagger) document of a served cluster, made from the v3 documents of its API versions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from sregym_env.kube import schema
from sregym_env.kube.registry import Registry
from sregym_env.serve import openapi

_V3, _V2 = "#/components/schemas/", "#/definitions/"
_FORMATS = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]


@lru_cache(maxsize=4)
def document(registry: Registry) -> bytes:
    """The serialised document with the paths and definitions of everything that is served."""
    paths: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for group_path in openapi.index(registry)["paths"]:
        raw = openapi.document(registry, group_path)
        if raw is None:
            continue
        third = orjson.loads(raw)
        paths.update({path: _operations(path, found) for path, found in third["paths"].items()})
        for name, found in third["components"]["schemas"].items():
            definitions.setdefault(name, _schema(found))
    return orjson.dumps(
        {
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": f"v{schema.VERSION}.5"},
            "paths": dict(sorted(paths.items())),
            "definitions": dict(sorted(definitions.items())),
            "securityDefinitions": {
                "BearerToken": {
                    "description": "Bearer Token authentication",
                    "type": "apiKey",
                    "name": "authorization",
                    "in": "header",
                }
            },
            "security": [{"BearerToken": []}],
        }
    )


def _operations(path: str, operations: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {method: _operation(found) for method, found in operations.items()}
    made["parameters"] = [
        {"name": part[1:-1], "in": "path", "required": True, "type": "string", "uniqueItems": True}
        for part in path.split("/")
        if part.startswith("{")
    ]
    return made


def _operation(operation: dict[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters")}
    parameters = [
        {**{k: v for k, v in found.items() if k != "schema"}, **_schema(found.get("schema", {}))}
        for found in operation.get("parameters", ())
    ]
    body = operation.get("requestBody")
    if body is not None:
        content = next(iter(body["content"].values()))
        required = bool(body.get("required"))
        parameters.insert(
            0, {"name": "body", "in": "body", "required": required, "schema": _schema(content["schema"])}
        )
        made["consumes"] = list(body["content"])
    if parameters:
        made["parameters"] = parameters
    made["produces"] = _FORMATS
    return made


def _schema(found: Any) -> Any:
    """A schema in the words of version 2: a reference stands alone, alternatives are left open."""
    if isinstance(found, list):
        return [_schema(item) for item in found]
    if not isinstance(found, dict):
        return found
    reference = found.get("$ref")
    wrapped = found.get("allOf")
    if isinstance(wrapped, list) and len(wrapped) == 1 and isinstance(wrapped[0], dict):
        reference = wrapped[0].get("$ref", reference)
    if isinstance(reference, str):
        made: dict[str, Any] = {"$ref": reference.replace(_V3, _V2)}
        # Beside a reference only what describes it, as the API server writes it.
        made.update({key: _schema(value) for key, value in found.items() if key in _BESIDE})
        return made
    made = {key: _schema(value) for key, value in found.items() if key not in ("oneOf", "nullable")}
    if isinstance(found.get("properties"), dict):  # whose keys are names and no words of a schema
        made["properties"] = {name: _schema(value) for name, value in found["properties"].items()}
    if "oneOf" in found and "type" not in made:
        made["type"] = "string"
    return made


_BESIDE = ("description", "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key")
