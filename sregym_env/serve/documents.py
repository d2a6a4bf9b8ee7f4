"""What is not a resource: version, health, metrics, keys, discovery, schemas."""

from __future__ import annotations

import orjson

from sregym_env.cluster.identity import User
from sregym_env.kube import discovery, status
from sregym_env.kube.instrumentation import exposition
from sregym_env.kube.types import Manifest
from sregym_env.serve import health, openapi, openapi2
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, Response, json_response, text_response
from sregym_env.sim.apiserver import custom, tokens
from sregym_env.sim.cluster import release
from sregym_env.sim.controllers import apiservice

_ROOT = (
    "/.well-known/openid-configuration", "/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2",
    "/openapi/v3", "/openid/v1/jwks", "/readyz", "/version",
)  # fmt: skip


def answer(hosted: Hosted, request: Request, user: User) -> Response:
    """The document at a path. Raises Forbidden, NotFound, MethodNotAllowed."""
    path = request.path.rstrip("/") or "/"
    verb = request.method.lower()
    if not hosted.cluster(user).review_access(verb, request.path):
        raise status.forbidden_path(user.name, verb, request.path)
    found = _document(hosted, request, path)
    if found is None:
        raise status.unknown_path()
    if request.method not in ("GET", "HEAD"):
        raise status.StatusError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    return found


def _document(hosted: Hosted, request: Request, path: str) -> Response | None:
    if path == "/":
        return json_response({"paths": list(_ROOT)})
    if path == "/version":
        return Response(
            200, orjson.dumps(dict(release(hosted.world.plan.version)), option=orjson.OPT_INDENT_2)
        )
    if path.split("/")[1] in health.ENDPOINTS:
        return health.answer(path, request)
    if path == "/metrics":
        return _metrics(hosted)
    if path == "/.well-known/openid-configuration":
        return Response(200, orjson.dumps(_discovery_of_keys(hosted)), headers=_KEPT)
    if path == "/openid/v1/jwks":
        keys = {"keys": [tokens.signing_key(hosted.world).jwk]}
        return Response(200, orjson.dumps(keys), "application/jwk-set+json", _KEPT)
    return _schemas(hosted, request, path) or _discovered(hosted, request, path)


_KEPT = (("Cache-Control", "public, max-age=3600"),)


def _discovery_of_keys(hosted: Hosted) -> Manifest:
    return {
        "issuer": tokens.ISSUER,
        "jwks_uri": f"https://{hosted.address}{hosted.base}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }


def _metrics(hosted: Hosted) -> Response:
    store = hosted.world.store
    objects = {resource: len(store.list(resource)) for resource in store.resources()}
    made = text_response(exposition(hosted.counters, objects, release(hosted.world.plan.version)))
    return Response(200, made.body, "text/plain; version=0.0.4; charset=utf-8")


def _schemas(hosted: Hosted, request: Request, path: str) -> Response | None:
    registry = custom.registry_of(hosted.world)
    if path == "/openapi/v2" and openapi.V2_ACCEPTED in request.header("accept"):
        return Response(200, openapi.second(), openapi.V2_PROTOBUF)
    if path == "/openapi/v2":
        return Response(200, openapi2.document(registry))
    if path == "/openapi/v3":
        return json_response(_below(hosted.base, openapi.index(registry)))
    if path.startswith("/openapi/v3/"):
        document = openapi.document(registry, path.removeprefix("/openapi/v3/"))
        return None if document is None else Response(200, document)
    return None


def _below(base: str, index: dict[str, dict[str, dict[str, str]]]) -> dict[str, dict[str, dict[str, str]]]:
    """The index of schemas with its links below a base path."""
    if not base:
        return index
    key = "serverRelativeURL"
    return {"paths": {path: {key: base + entry[key]} for path, entry in index["paths"].items()}}


def _discovered(hosted: Hosted, request: Request, path: str) -> Response | None:
    aggregated = discovery.aggregated_version(request.header("accept"))
    registry = custom.registry_of(hosted.world)
    if path in ("/api", "/apis") and aggregated:
        stale = tuple(apiservice.stale(hosted.world))
        made = json_response(discovery.aggregated(registry, path == "/api", aggregated, stale))
        return Response(200, made.body, discovery.aggregated_type(aggregated))
    if path == "/api":
        return json_response(discovery.core_versions(hosted.address))
    if path == "/apis":
        return json_response(discovery.groups(registry))
    parts = path.strip("/").split("/")
    found = None
    if parts[0] == "api" and len(parts) == 2:
        found = discovery.resources(registry, parts[1])
    elif parts[0] == "apis" and len(parts) == 2:
        found = discovery.group(registry, parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        found = discovery.resources(registry, f"{parts[1]}/{parts[2]}")
    return None if found is None else json_response(found)
