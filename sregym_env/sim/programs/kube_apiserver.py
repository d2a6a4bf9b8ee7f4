"""``kube-apiserver`` as programs inside the cluster reach it: HTTPS, tokens of service accounts, the REST paths.

It answers ``curl https://kubernetes.default.svc/...`` from a pod with the objects of the world and the
permissions of the caller, and lets it write them. Watches, tables and discovery documents are the business of
the server for real clients.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.identity import User
from sregym_env.kube import status
from sregym_env.sim.containers.volumes import decoded, mounted_token
from sregym_env.sim.network import pki
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import kube_writes
from sregym_env.sim.programs.servers import Daemon
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.program import HttpRequest, HttpResponse

PORT = 6443
LATENCY = 0.002
"""Seconds to answer a request."""

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
_HEALTH = ("/healthz", "/livez", "/readyz")
_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
"""Beginnings of the user agents for which the server prints documents nicely."""


class KubeApiserver(Daemon):
    """The API server's own process on the control plane."""

    name = "kube_apiserver"

    def certificate(self, ctx: ProcessContext, port: int) -> str:
        """The certificate that kubeadm made for it."""
        return pki.api_server(ctx.world.plan, ctx.now()) if port == PORT else ""

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """One request to the API."""
        ctx.unnoted()
        if port != PORT:
            return None
        try:
            code, answer = _answered(ctx.world, request)
        except status.StatusError as error:
            code, answer = error.code, error.status
        if isinstance(answer, str):
            return HttpResponse(code, answer, {"Content-Type": "text/plain; charset=utf-8"}, LATENCY)
        nicely = _header(request, "user-agent").startswith(_PEOPLE)
        body = orjson.dumps(answer, option=orjson.OPT_INDENT_2 if nicely else None).decode()
        return HttpResponse(code, body, {"Content-Type": "application/json"}, LATENCY)


def _header(request: HttpRequest, name: str) -> str:
    return next((value for key, value in request.headers.items() if key.lower() == name), "")


def identify(world: SimWorld, token: str) -> User | None:
    """Whom a bearer token stands for: the account of a pod or of a token Secret; None where it is nobody's."""
    for pod in world.store.list("pods"):
        if mounted_token(pod) == token:
            return _account(pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName") or "default")
    for secret in world.store.list("secrets"):
        if secret.get("type") == "kubernetes.io/service-account-token" and decoded(secret, "token") == token:
            annotations = secret["metadata"].get("annotations") or {}
            return _account(
                secret["metadata"]["namespace"], annotations.get("kubernetes.io/service-account.name", "")
            )
    return None


def _account(namespace: str, name: str) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def _answered(world: SimWorld, request: HttpRequest) -> tuple[int, Any]:
    """(HTTP status, document or text). Raises the API's errors."""
    user = ANONYMOUS
    credentials = _header(request, "authorization")
    if credentials.startswith("Bearer "):
        found = identify(world, credentials.removeprefix("Bearer ").strip())
        if found is None:
            raise status.unauthorized()
        user = found
    parts = urlsplit(request.path)
    path = parts.path.rstrip("/") or "/"
    cluster = world.api(user)
    words = path.split("/")[1:]
    resource = (len(words) > 2 and words[0] == "api") or (len(words) > 3 and words[0] == "apis")
    if not resource:
        if not cluster.review_access(request.method.lower(), path):
            raise status.forbidden_path(user.name, request.method.lower(), path)
        if path in _HEALTH or path.startswith(("/livez/", "/readyz/", "/healthz/")):
            return 200, "ok"
        if path == "/version":
            return 200, dict(cluster.version())
        if path == "/":
            return 200, {"paths": ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/readyz", "/version"]}
        raise status.unknown_path()
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return _resource(world, cluster, request, words, query)


def _resource(
    world: SimWorld, cluster: Cluster, request: HttpRequest, words: list[str], query: dict[str, str]
) -> tuple[int, Any]:
    group, version, rest = ("", words[1], words[2:]) if words[0] == "api" else (words[1], words[2], words[3:])
    namespace: str | None = None
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = cluster.registry.by_plural(group, version, rest[0])
    if kind is None:
        raise status.unknown_path()
    name, subresource = (rest[1] if len(rest) > 1 else ""), (rest[2] if len(rest) > 2 else "")
    method = request.method
    if subresource == "log" and method == "GET" and namespace is not None:
        return 200, cluster.logs(namespace, name, container=query.get("container"))
    if method == "GET" and name:
        return 200, cluster.get(kind.key, name, namespace)
    if method == "GET":
        selectors = {"label_selector": "labelSelector", "field_selector": "fieldSelector"}
        chosen = {field: query.get(parameter, "") for field, parameter in selectors.items()}
        items = cluster.list(kind.key, namespace, **chosen)
        return 200, {
            "kind": kind.list_kind,
            "apiVersion": kind.api_version,
            "metadata": {"resourceVersion": str(world.store.revision)},
            "items": [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")} for item in items],
        }
    media = _header(request, "content-type").partition(";")[0].strip().lower()
    agent = _header(request, "user-agent")
    asked = kube_writes.Write(method, kind, namespace, name, subresource, media, request.body, query, agent)
    done = kube_writes.answer(world, cluster, asked)
    if done is not None:
        return done
    raise status.StatusError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )
