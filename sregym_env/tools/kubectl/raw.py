"""``get --raw``: GETs of API paths, as the API server takes them: who may not ask is told so before anything else.

Writes are in :mod:`sregym_env.tools.kubectl.rawwrites`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from sregym_env.cluster.http import HttpCall
from sregym_env.kube import discovery, health, nodeproxy
from sregym_env.kube.instrumentation import Counters, exposition
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.status import (
    StatusError,
    bad_request,
    forbidden,
    forbidden_path,
    service_unavailable,
    unknown_path,
)
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole
from sregym_env.tools.kubectl.call import Call

PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/(?!(?:status|finalize)\Z)[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?"
    r"(?P<rest>/.*)?\Z"
)


def get_raw(call: Call, uri: str) -> None:
    """Print the response to a GET of ``uri``. Raises Forbidden, and NotFound for what the server does not serve."""
    parts = urlsplit(uri)
    path = parts.path.rstrip("/") or "/"
    query = parse_qs(parts.query, keep_blank_values=True)
    match = PATH.match(path)
    if match is not None:
        _resource(call, match, query)
        return
    if not call.cluster.review_access("get", path):
        raise forbidden_path(call.cluster.user.name, "get", path)
    call.print(document(call, path, query))


def document(call: Call, path: str, query: dict[str, list[str]]) -> str:
    """What is no object: health, version, discovery. Raises NotFound."""
    registry = call.registry
    if path.strip("/").partition("/")[0] in health.ENDPOINTS:
        return health.report(path, verbose="verbose" in query, excluded=query.get("exclude", ()))
    if path == "/metrics":
        return exposition(Counters(), _stored(call), dict(call.cluster.version()))
    if path == "/version":
        return json.dumps(dict(call.cluster.version()), indent=2)
    if path in ("/api", "/apis"):
        address = call.kubeconfig.content.server.removeprefix("https://")
        found = discovery.core_versions(address) if path == "/api" else discovery.groups(registry)
        return served_json(found) + "\n"
    served = re.fullmatch(r"/api/(v1)|/apis/([^/]+/[^/]+)|/apis/([^/]+)", path)
    if served is None:
        raise unknown_path()
    document = discovery.group(registry, served[3]) if served[3] else None
    document = document or discovery.resources(registry, served[1] or served[2] or "")
    if document is None:
        raise unknown_path()
    return served_json(document) + "\n"


def _stored(call: Call) -> dict[str, int]:
    """How many objects of each resource there are, as far as the caller may look."""
    found = {}
    for resource in sorted(call.registry.resources, key=lambda each: each.key):
        if (
            "list" in resource.verbs
            and resource.kind != "ComponentStatus"
            and resource.group != "metrics.k8s.io"
        ):
            try:
                found[resource.key] = len(call.cluster.list(resource.address))
            except StatusError:
                continue
    return found


def _resource(call: Call, match: re.Match[str], query: dict[str, list[str]]) -> None:
    where = placed(call, match)
    resource, namespace, name, sub = where.resource, where.namespace, where.name, where.sub
    plain = nodeproxy.node_of(name or "") if sub == "proxy" and match["plural"] == "nodes" else name or ""
    verb = "get" if name else "list"
    if not call.cluster.review_access(verb, where.token, namespace, plain, sub):
        user = call.cluster.user.name
        raise forbidden(resource or where.token, name or "", user, verb, namespace or "", sub)
    if resource is None:
        raise unknown_path()
    first = {key: values[0] for key, values in query.items()}
    if sub == "proxy" and name:
        proxied(call, resource, namespace or "", name, match["rest"] or "/", query)
    elif sub == "log" and resource.key == "pods" and name:
        _log(call, namespace or "", name, first)
    elif sub and (sub not in resource.subresources or sub not in ("status", "scale")):
        raise unknown_path()
    else:
        call.print(served_json(_body(call, where, resource, first)) + "\n")


def _log(call: Call, namespace: str, name: str, query: dict[str, str]) -> None:
    tail = whole(query["tailLines"]) if "tailLines" in query else None
    if tail is None and "tailLines" in query:
        raise bad_request(f'strconv.ParseInt: parsing "{query["tailLines"]}": invalid syntax')
    call.print(call.cluster.logs(namespace, name, container=query.get("container"), tail=tail))


# --- proxies --------------------------------------------------------------------------------------


def proxied(
    call: Call,
    resource: Resource,
    namespace: str,
    name: str,
    rest: str,
    query: dict[str, list[str]],
    method: str = "GET",
    body: str = "",
) -> None:
    """What a kubelet, a pod or one of a Service's pods answers. Raises ServiceUnavailable."""
    if resource.key == "nodes":
        told = nodeproxy.answer(nodeproxy.look(call.cluster, nodeproxy.node_of(name)), rest)
        if told.code != 200:
            raise unknown_path()
        call.print(told.body)
        return
    parts = name.split(":")
    own, port = (parts[1], parts[2]) if len(parts) == 3 else (parts[0], parts[1] if len(parts) == 2 else "")
    if resource.key == "services":
        pod, number = _behind(call, namespace, own, port)
    elif resource.key == "pods":
        pod, number = own, _port_of(call.cluster.get("pods", own, namespace), port or "80")
    else:
        raise unknown_path()
    asked = urlencode([(key, value) for key, values in query.items() for value in values])
    done = call.cluster.forward(
        namespace,
        pod,
        number,
        HttpCall(rest + (f"?{asked}" if asked else ""), method, body=body, timeout=30.0),
    )
    if done.outcome != "ok":
        reason = {"refused": "connect: connection refused", "timeout": "i/o timeout"}.get(
            done.outcome, done.outcome
        )
        address = call.cluster.get("pods", pod, namespace).get("status", {}).get("podIP", "")
        raise service_unavailable(f"error trying to reach service: dial tcp {address}:{number}: {reason}")
    if done.status >= 400:
        raise _refused(done.status, done.body)
    call.print(done.body)


def _behind(call: Call, namespace: str, name: str, port: str) -> tuple[str, int]:
    """A ready pod behind a Service, and the port it listens on."""
    service = call.cluster.get("services", name, namespace)
    ports = service["spec"].get("ports") or ()
    wanted = next((each for each in ports if port in ("", each.get("name"), str(each["port"]))), None)
    slices = call.cluster.list(
        "endpointslices.discovery.k8s.io", namespace, label_selector=f"kubernetes.io/service-name={name}"
    )
    for each in slices if wanted is not None else ():
        numbers = [
            p["port"] for p in each.get("ports") or () if p.get("name") == (wanted or {}).get("name", "")
        ]
        for endpoint in each.get("endpoints") or ():
            target = endpoint.get("targetRef") or {}
            if numbers and target.get("kind") == "Pod" and (endpoint.get("conditions") or {}).get("ready"):
                return str(target["name"]), int(numbers[0])
    raise service_unavailable(f'no endpoints available for service "{name}"')


def _port_of(pod: Manifest, text: str) -> int:
    if text.isdecimal():
        return int(text)
    for container in pod["spec"]["containers"]:
        for declared in container.get("ports") or ():
            if declared.get("name") == text:
                return int(declared["containerPort"])
    raise bad_request(f'no port with name "{text}"')


def _refused(code: int, body: str) -> StatusError:
    """An answer of the far end that client-go takes for an error of the server."""
    known = {404: ("NotFound", "the server could not find the requested resource")}
    reason, text = known.get(
        code,
        (
            "InternalError",
            f"an error on the server ({json.dumps(body.strip())[:200]}) has prevented the request from succeeding",
        ),
    )
    return StatusError(code, reason, text)


# --- objects --------------------------------------------------------------------------------------


def served_json(body: Manifest) -> str:
    """A body as the server writes it: the order of keys is the stored one, nothing is escaped."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Place:
    """What a path of the API leads to."""

    resource: Resource | None
    """None where the server does not have it."""
    token: str
    """What rights are about: the resource as they name it."""
    namespace: str | None
    name: str | None
    """None for the collection."""
    sub: str


def placed(call: Call, match: re.Match[str]) -> Place:
    """Where a path leads that :data:`PATH` matches."""
    resource = _served(call.registry, match)
    group = match["group"] or ""
    token = resource.key if resource else f"{match['plural']}.{group}" if group else match["plural"]
    return Place(resource, str(token), match["namespace"], match["name"], match["sub"] or "")


def _served(registry: Registry, match: re.Match[str]) -> Resource | None:
    group, version = match["group"] or "", match["version"] or match["core"]
    for resource in registry.resources:
        if (resource.group, resource.version, resource.plural) == (group, version, match["plural"]):
            return resource
    return None


def _body(call: Call, where: Place, resource: Resource, query: dict[str, str]) -> Manifest:
    if where.name:
        found = call.cluster.get(resource.address, where.name, where.namespace, subresource=where.sub)
        return found if where.sub == "scale" else with_managed_fields(resource, found)
    return listing(call, where, query)


def listing(call: Call, where: Place, query: dict[str, str]) -> Manifest:
    """A collection, as far as the query's selectors choose it."""
    resource = where.resource
    assert resource is not None
    items = call.cluster.list(
        resource.address,
        where.namespace,
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
    )
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": {"resourceVersion": head} if (head := call.cluster.head(resource.address)) else {},
        "items": [
            {k: v for k, v in with_managed_fields(resource, item).items() if k not in ("kind", "apiVersion")}
            for item in items
        ],
    }
