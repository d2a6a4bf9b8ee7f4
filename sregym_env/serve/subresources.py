"""Subresources: status, scale, logs, eviction, binding, tokens, proxies and what upgrades a connection."""

from __future__ import annotations

from typing import Any

from sregym_env.kube import status
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.registry import SCALE
from sregym_env.kube.types import Manifest
from sregym_env.serve import following, lists, parameters, proxying, upgrades
from sregym_env.serve.asking import Ask
from sregym_env.serve.bodies import body, patch_body
from sregym_env.serve.incoming import addressed, incoming
from sregym_env.serve.message import Reply, Response
from sregym_env.serve.negotiate import representation, table
from sregym_env.serve.patching import patch, patch_type
from sregym_env.sim.apiserver import subresources as views

_KINDS = {"eviction": "Eviction", "binding": "Binding", "token": "TokenRequest", "scale": "Scale"}
_UPGRADES = ("exec", "attach", "portforward")


def handle(ask: Ask) -> Reply:
    """Answer a request for a subresource. Raises the API's errors."""
    name, method = ask.where.subresource, ask.request.method
    if name in _UPGRADES:
        if name != "portforward":
            upgrades.running_container(ask, name)
        raise status.bad_request("Upgrade request required")
    if name == "proxy":
        return proxying.handle(ask)
    if name == "log" and method == "GET":
        return following.log(ask)
    if name in ("eviction", "binding", "token") and method == "POST":
        return _post(ask, name)
    if name == "scale":
        return _scale(ask)
    if name in ("status", "approval", "ephemeralcontainers", "finalize"):
        return _part(ask, name)
    raise status.StatusError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def _posted(ask: Ask) -> Manifest:
    kind = _KINDS.get(ask.where.subresource, ask.resource.kind)
    found = body(ask.request, kind) if ask.request.body.strip() else {}
    assert isinstance(found, dict)
    return found


def _post(ask: Ask, subresource: str) -> Response:
    where, posted = ask.where, _posted(ask)
    made = ask.cluster.create(
        posted,
        namespace=where.namespace,
        subresource=subresource,
        name=where.name,
        dry_run=ask.dry_run or "All" in ((posted.get("deleteOptions") or {}).get("dryRun") or ()),
    )
    if subresource == "token":
        account = ask.admin.get("serviceaccounts", where.name, where.namespace)
        until = parse_rfc3339(made["status"]["expirationTimestamp"])
        ask.hosted.identities.admit(made["status"]["token"], account, until)
    return ask.answer(made, 201)


def _scale(ask: Ask) -> Response:
    where, method = ask.where, ask.request.method
    verb = {"GET": "get", "PUT": "update", "PATCH": "patch"}.get(method)
    if verb is None:
        raise status.method_not_allowed(ask.resource, method.lower())
    ask.demand(verb, "scale")
    current = ask.admin.get(ask.resource.address, where.name, where.namespace)
    if method == "GET":
        view = views.scale_of(current, ask.resource)
        if representation(ask.request.header("accept")) == "table":
            include = ask.request.first("includeObject", "Metadata")
            listed = {"resourceVersion": view["metadata"].get("resourceVersion", "")}
            view = table(SCALE, [view], ask.hosted.world.now(), include=include, metadata=listed)
        return ask.answer(view)
    kind = patch_type(ask.request) if method == "PATCH" else "merge"
    if method == "PATCH":
        parameters.check_manager(ask.request, "PatchOptions", kind)
    change: Any = _posted(ask) if method == "PUT" else patch_body(ask.request, kind)
    if method == "PUT":
        version = parts_of(change, "metadata").get("resourceVersion")
        if version and version != current["metadata"]["resourceVersion"]:
            raise status.conflict(ask.resource, where.name)
        change = {"spec": parts_of(change, "spec")}
    made = ask.admin.patch(
        ask.resource.address,
        where.name,
        change,
        namespace=where.namespace,
        type=kind,
        subresource="scale",
        dry_run=ask.dry_run,
        field_manager=ask.manager,
        force=ask.request.flag("force"),
    )
    return ask.answer(made)


def parts_of(scale: Manifest, field: str) -> Manifest:
    """A field of a Scale that is an object. Raises BadRequest where it is something else."""
    found = scale.get(field) or {}
    if isinstance(found, dict):
        return found
    go_type = {"metadata": "v1.ObjectMeta", "spec": "v1.ScaleSpec"}[field]
    text = f"json: cannot unmarshal value into Go struct field Scale.{field} of type {go_type}"
    raise status.cannot_handle("Scale", "v1", text)


def _part(ask: Ask, name: str) -> Reply:
    """An object through one of its parts: reading gives it whole, writing changes that part only."""
    where, method = ask.where, ask.request.method
    if method == "GET":
        ask.demand("get", name)
        return ask.answer(
            lists.presented(ask.resource, ask.admin.get(ask.resource.address, where.name, where.namespace)),
            shape=representation(ask.request.header("accept")),
        )
    if method == "PATCH":
        return patch(ask, name)
    if method != "PUT":
        raise status.method_not_allowed(ask.resource, method.lower())
    obj, _ = incoming(ask)
    obj = addressed(ask, obj)
    made = ask.cluster.replace(obj, subresource=name, dry_run=ask.dry_run, field_manager=ask.manager)
    return ask.answer(lists.presented(ask.resource, made))


def review_token(ask: Ask, review: Manifest) -> Manifest:
    """A ``TokenReview`` answered: whom a token stands for."""
    ask.demand("create")
    spec = review.get("spec")
    token = str(spec.get("token") or "") if isinstance(spec, dict) else ""
    user = ask.hosted.identities.user(token, ask.hosted.world)
    if user is None:
        text = "[invalid bearer token, token lookup failed]"
        return {**review, "status": {"user": {}, "error": text}}
    found = {"username": user.name, "groups": list(user.groups)}
    return {**review, "status": {"authenticated": True, "user": found}}
