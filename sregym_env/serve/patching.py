"""``PATCH``: a change to an object, or to one of its parts."""

from __future__ import annotations

from sregym_env.cluster.api import PatchType
from sregym_env.kube import status
from sregym_env.kube.types import Json
from sregym_env.serve import lists, parameters
from sregym_env.serve.asking import Ask
from sregym_env.serve.bodies import media_type, patch_body
from sregym_env.serve.incoming import addressed
from sregym_env.serve.message import Reply, Request
from sregym_env.serve.negotiate import representation

_PATCHES: dict[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


def patch(ask: Ask, subresource: str = "") -> Reply:
    """A change to an object."""
    shape = representation(ask.request.header("accept"))
    kind = patch_type(ask.request)
    where = ask.where
    parameters.check_manager(ask.request, "PatchOptions", kind)
    change = patch_body(ask.request, kind)
    exists = (
        ask.hosted.world.store.get(ask.resource.storage_key, where.namespace or "", where.name) is not None
    )
    if kind == "apply":
        change = _applied(ask, change)
    made = ask.cluster.patch(
        ask.resource.address,
        where.name,
        change,
        namespace=where.namespace,
        type=kind,
        subresource=subresource,
        dry_run=ask.dry_run,
        strict=ask.validation == "Strict",
        field_manager=ask.manager,
        force=ask.request.flag("force"),
    )
    return ask.answer(lists.presented(ask.resource, made), 200 if exists else 201, (), shape)


def _applied(ask: Ask, change: Json) -> Json:
    """The body of a server-side apply, about the object that the URL names."""
    if not isinstance(change, dict):
        raise status.bad_request("error decoding YAML: the patch is not an object")
    return addressed(ask, change)


def patch_type(request: Request) -> PatchType:
    """Which of the four patch formats a body is in. Raises UnsupportedMediaType."""
    found = _PATCHES.get(media_type(request))
    if found is None:
        raise status.unsupported_media_type(tuple(_PATCHES))
    return found
