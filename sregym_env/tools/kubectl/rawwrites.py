"""``--raw`` of ``create``, ``replace`` and ``delete``: a file's text as it is, sent to a path of the API."""

from __future__ import annotations

import json
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from sregym_env.cluster.api import Propagation
from sregym_env.kube import gojson, incoming, schema
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import (
    StatusError,
    bad_request,
    forbidden,
    forbidden_path,
    invalid,
    success,
    unknown_path,
    unsupported,
)
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.raw import PATH, Place, document, listing, placed, proxied, served_json

Method = Literal["POST", "PUT", "DELETE"]

_VERBS: dict[Method, str] = {"POST": "create", "PUT": "update", "DELETE": "delete"}
_POLICIES: tuple[Propagation, ...] = ("Foreground", "Background", "Orphan")
_MANAGER = "kubectl"
"""The owner of what is sent so: nobody names one, so that it is the program."""


def write(call: Call, method: Method) -> None:
    """Send what a file holds to the path of ``--raw`` and print the answer. Raises kubectl's complaints."""
    _check(call, method)
    body = _text(call).encode(errors="replace")
    call.connect()
    parts = urlsplit(call.flags["raw"])
    path = parts.path.rstrip("/") or "/"
    match = PATH.match(path)
    query = parse_qs(parts.query)
    if match is None:
        _refuse(call, method, path)
        return
    where = placed(call, match)
    _allow(call, method, where)
    if where.resource is None:
        raise unknown_path()
    if where.sub == "proxy" and where.name:
        namespace, rest = where.namespace or "", match["rest"] or "/"
        proxied(call, where.resource, namespace, where.name, rest, query, method, body.decode())
    elif method == "DELETE":
        if where.sub:
            raise _not_allowed()
        _delete(call, where, where.resource, body, query)
    else:
        _send(call, method, where, where.resource, body)


def _check(call: Call, method: Method) -> None:
    flags = call.flags
    files = flags["filename"]
    if flags.get("edit"):
        raise failure("--raw and --edit are mutually exclusive")
    if len(files) > 1 or (not files and method != "DELETE"):
        raise failure("--raw can only use a single local file or stdin")
    if files and files[0].startswith(("http://", "https://")):
        raise failure("--raw cannot read from a url")
    if flags["recursive"]:
        raise failure("--raw and --recursive are mutually exclusive")
    if flags["output"]:
        raise failure("--raw and --output are mutually exclusive")
    if not flags["raw"].startswith("/"):
        raise failure(f'--raw must be a valid URL path: parse "{flags["raw"]}": invalid URI for request')


def _text(call: Call) -> str:
    files = call.flags["filename"]
    if not files or files[0] == "-":
        return call.stdin if files else ""
    try:
        if call.files is None:
            raise FileNotFoundError(files[0])
        return call.files.read_text(files[0])
    except OSError:
        raise KubectlError(f"error: open {files[0]}: no such file or directory") from None


def _refuse(call: Call, method: Method, path: str) -> None:
    """What is no object takes no writes. Raises Forbidden, MethodNotAllowed, NotFound."""
    verb = _VERBS[method]
    if not call.cluster.review_access(verb, path):
        raise forbidden_path(call.cluster.user.name, verb, path)
    document(call, path, {})  # there is none: that is what is wrong
    raise _not_allowed()


def _not_allowed() -> StatusError:
    return StatusError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def _allow(call: Call, method: Method, where: Place) -> None:
    """Raises Forbidden."""
    verb = _VERBS[method] if where.name or method == "POST" else "deletecollection"
    plain = where.name or ""
    if not call.cluster.review_access(verb, where.token, where.namespace, plain, where.sub):
        user = call.cluster.user.name
        raise forbidden(where.token, plain, user, verb, where.namespace or "", where.sub)


def _send(call: Call, method: Method, where: Place, resource: Resource, body: bytes) -> None:
    # A new object goes to its collection; of an existing one, a part or the whole can be sent.
    if (method == "POST") is not (where.name is None or where.sub in _POSTED):
        raise _not_allowed()
    kind = _POSTED.get(where.sub)
    version = "authentication.k8s.io/v1" if kind == "TokenRequest" else "policy/v1" if kind else ""
    kind = kind or resource.kind
    obj = incoming.typed(_object(body, kind), version or resource.api_version, kind)
    if method == "PUT":
        obj = incoming.addressed(obj, where.name or "", where.namespace)
    for text in () if where.sub else schema.decode(resource, obj, strict=False)[1]:
        call.warn(f"Warning: {text}")
    if method == "PUT":
        made = call.cluster.replace(obj, subresource=where.sub, strict=False, field_manager=_MANAGER)
    else:
        name = (where.name or "") if where.sub else ""
        made = call.cluster.create(
            obj, namespace=where.namespace, subresource=where.sub, name=name, strict=False, field_manager=_MANAGER,
        )  # fmt: skip
    shown = made if where.sub in ("scale", *_POSTED) else with_managed_fields(resource, made)
    call.print(served_json(shown) + "\n")


_POSTED = {"eviction": "Eviction", "binding": "Binding", "token": "TokenRequest"}
"""What is posted to a subresource of an object."""


def _object(body: bytes, kind: str) -> Manifest:
    """The object in a body; ``kind`` is what should be in it. Raises BadRequest."""
    problem = gojson.syntax_error(body)
    found: Any = None if problem else json.loads(body)
    if problem is None and not isinstance(found, dict):
        problem = "the document is no object"
    if problem is not None:
        raise incoming.unrecognized(kind, f"couldn't get version/kind; json parse error: {problem}", body)
    return dict(found)


# --- deletions ------------------------------------------------------------------------------------


def _delete(call: Call, where: Place, resource: Resource, body: bytes, query: dict[str, list[str]]) -> None:
    options = _object(body, "DeleteOptions") if body.strip() else {}
    for key in ("propagationPolicy", "gracePeriodSeconds"):
        if key in query:
            options[key] = query[key][0]
    policy = options.get("propagationPolicy") or None
    if policy is not None and policy not in _POLICIES:
        wrong = unsupported("propagationPolicy", policy, (*_POLICIES, "nil"))
        raise invalid("DeleteOptions.meta.k8s.io", "", [wrong])
    grace = options.get("gracePeriodSeconds")
    if grace is not None and not str(grace).lstrip("-").isdecimal():
        raise bad_request("gracePeriodSeconds is no number")
    seconds = None if grace is None else max(0, int(grace))

    def gone(name: str, namespace: str | None) -> Manifest:
        return call.cluster.delete(
            resource.address, name, namespace, grace_period_seconds=seconds, propagation=policy
        )

    if where.name is None:
        found = listing(call, where, {key: values[0] for key, values in query.items()})
        for item in found["items"]:
            gone(item["metadata"]["name"], item["metadata"].get("namespace"))
        call.print(served_json(found) + "\n")
        return
    left = gone(where.name, where.namespace)
    if resource.delete_returns_object or _is_there(call, where, resource, left):
        call.print(served_json(with_managed_fields(resource, left)) + "\n")
    else:
        told = success(where.name, resource, left["metadata"].get("uid", ""))
        call.print(served_json(told) + "\n")


def _is_there(call: Call, where: Place, resource: Resource, left: Manifest) -> bool:
    """Whether something still holds what was to be deleted."""
    try:
        found = call.cluster.get(resource.address, where.name or "", where.namespace)
    except StatusError:
        return False
    return bool(found["metadata"].get("uid") == left["metadata"].get("uid"))
