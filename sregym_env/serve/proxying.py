"""``.../proxy``: HTTP requests to pods and services through the API server."""

from __future__ import annotations

from urllib.parse import urlencode

from sregym_env.cluster.http import HttpCall
from sregym_env.kube import nodeproxy, status
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.serve.asking import Ask
from sregym_env.serve.message import Response

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def handle(ask: Ask) -> Response:
    """Forward a request to a pod or service. Raises ServiceUnavailable with the transport's complaint."""
    ask.demand(_VERBS.get(ask.request.method, "get"), "proxy")
    where = ask.where
    ask.cluster.connecting(
        where.namespace or "", where.name, "proxy", resource=ask.resource.key, path=where.rest
    )
    scheme, name, port = _target(where.name)
    if ask.resource.key == "services":
        host, number = _service(ask, name, port)
    elif ask.resource.key == "pods":
        host, number = _pod(ask, name, port)
    else:
        told = nodeproxy.answer(nodeproxy.look(ask.admin, name), where.rest)
        return Response(told.code, told.body.encode(), told.media)
    query = urlencode([(k, v) for k, values in ask.request.query.items() for v in values])
    url = f"{scheme or 'http'}://{host}:{number}{ask.where.rest or '/'}" + (f"?{query}" if query else "")
    call = HttpCall(
        url,
        ask.request.method,
        body=ask.request.body.decode(errors="replace"),
        timeout=30.0,
        insecure=True,  # The API server does not verify those it proxies to.
    )
    done = ask.hosted.world.request(call)
    if done.outcome == "tls":
        raise status.service_unavailable(
            "error trying to reach service: tls: first record does not look like a TLS handshake"
        )
    if done.outcome != "ok":
        reason = {"refused": "connect: connection refused", "timeout": "i/o timeout"}.get(
            done.outcome, done.outcome
        )
        raise status.service_unavailable(
            f"error trying to reach service: dial tcp {done.address or host}:{number}: {reason}"
        )
    kind = next((v for k, v in done.headers.items() if k.lower() == "content-type"), "text/plain")
    return Response(done.status or 200, done.body.encode(), kind)


def _target(text: str) -> tuple[str, str, str]:
    """``[scheme:]name[:port]`` taken apart."""
    parts = text.split(":")
    if len(parts) == 3:
        return parts[0], parts[1], parts[2]
    return "", parts[0], parts[1] if len(parts) == 2 else ""


def _service(ask: Ask, name: str, port: str) -> tuple[str, int]:
    service = ask.admin.get("services", name, ask.where.namespace)
    ports = service["spec"].get("ports") or ()
    for candidate in ports:
        if port in ("", candidate.get("name"), str(candidate["port"])):
            return f"{name}.{ask.where.namespace}.svc.cluster.local", int(candidate["port"])
    raise status.service_unavailable(f'no endpoints available for service "{name}"')


def _pod(ask: Ask, name: str, port: str) -> tuple[str, int]:
    pod: Manifest = ask.admin.get("pods", name, ask.where.namespace)
    address = pod.get("status", {}).get("podIP", "")
    if not address:
        raise status.bad_request("address not allowed")
    if is_whole(port):
        return address, whole(port, 0)
    for container in pod["spec"]["containers"]:
        for declared in container.get("ports") or ():
            if port in ("", declared.get("name")):
                return address, int(declared["containerPort"])
    return address, 80
