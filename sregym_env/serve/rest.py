"""The verbs of the REST API on objects and collections."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube import status
from sregym_env.serve import deletions, lists, parameters, subresources
from sregym_env.serve.asking import Ask
from sregym_env.serve.incoming import addressed, incoming, metadata_of
from sregym_env.serve.message import Reply, Stream, json_response
from sregym_env.serve.negotiate import check_streamable, representation
from sregym_env.serve.patching import patch
from sregym_env.serve.watching import watch


def handle(ask: Ask) -> Reply:
    """Answer a request for an object, a collection or a subresource."""
    where, method = ask.where, ask.request.method
    parameters.check_name(where.name)
    if method in _OPTIONS:
        parameters.check_writing(ask.request, _OPTIONS[method])
    if where.subresource:
        return subresources.handle(ask)
    if where.name:
        verbs = {"GET": get, "PUT": replace, "PATCH": patch, "DELETE": delete}
    else:
        verbs = {"GET": list_, "POST": create, "DELETE": delete_collection}
    chosen = verbs.get(method)
    if chosen is None:
        raise status.StatusError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )
    _check_verb(ask, chosen)
    return chosen(ask)


_OPTIONS = {
    "POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"
}  # fmt: skip

_VERBS: dict[Callable[[Ask], Reply], str] = {}


def _check_verb(ask: Ask, chosen: Callable[[Ask], Reply]) -> None:
    if _VERBS[chosen] not in ask.resource.verbs:
        raise status.StatusError(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
        )


def get(ask: Ask) -> Reply:
    """One object."""
    if ask.request.flag("watch"):
        return list_(ask)
    shape = representation(ask.request.header("accept"))
    found = ask.cluster.get(ask.resource.address, ask.where.name, ask.where.namespace)
    return ask.answer(lists.presented(ask.resource, found), shape=shape)


def list_(ask: Ask) -> Reply:
    """A collection, or a watch on it."""
    shape = representation(ask.request.header("accept"))
    parameters.check_reading(ask.request)
    if ask.request.flag("watch"):
        check_streamable(ask.request.header("accept"))
        if "watch" not in ask.resource.verbs:
            raise status.method_not_allowed(ask.resource, "watch")
        return Stream(watch(ask.hosted, ask.cluster, ask.where, ask.request, shape))
    return json_response(lists.listing(ask.hosted, ask.cluster, ask.where, ask.request, shape))


def create(ask: Ask) -> Reply:
    """A new object of a collection."""
    shape = representation(ask.request.header("accept"))
    obj, warnings = incoming(ask)
    if ask.resource.kind == "TokenReview":
        return ask.answer(subresources.review_token(ask, obj), 201)
    if ask.resource.kind == "Binding":
        name = metadata_of(ask, obj).get("name", "")
        made = ask.cluster.create(obj, namespace=ask.where.namespace, subresource="binding", name=name)
        return ask.answer(made, 201)
    made = ask.cluster.create(
        obj,
        namespace=ask.where.namespace,
        dry_run=ask.dry_run,
        strict=ask.validation == "Strict",
        field_manager=ask.manager,
    )
    return ask.answer(lists.presented(ask.resource, made), 201, warnings, shape)


def replace(ask: Ask) -> Reply:
    """A whole object in the place of another."""
    shape = representation(ask.request.header("accept"))
    obj, warnings = incoming(ask)
    made = ask.cluster.replace(
        addressed(ask, obj),
        dry_run=ask.dry_run,
        strict=ask.validation == "Strict",
        field_manager=ask.manager,
    )
    return ask.answer(lists.presented(ask.resource, made), 200, warnings, shape)


def delete(ask: Ask) -> Reply:
    """Ask for an object's deletion."""
    options = deletions.options(ask.request)
    where = ask.where
    key = ask.resource.storage_key
    ask.demand("delete")
    before = ask.hosted.world.store.get(key, where.namespace or "", where.name)
    options.check(ask.resource, before)
    left = ask.cluster.delete(
        ask.resource.address,
        where.name,
        where.namespace,
        grace_period_seconds=options.grace_period_seconds,
        propagation=options.propagation,
        dry_run=options.dry_run,
    )
    remains = ask.hosted.world.store.get(key, where.namespace or "", where.name)
    if ask.resource.delete_returns_object or (remains is not None and not options.dry_run):
        return ask.answer(lists.presented(ask.resource, left))
    uid = left["metadata"].get("uid", "")
    return ask.answer(status.success(where.name, ask.resource, uid))


def delete_collection(ask: Ask) -> Reply:
    """Ask for the deletion of everything the selectors choose."""
    ask.demand("deletecollection")
    parameters.check_reading(ask.request)
    options = deletions.options(ask.request)
    # As the administrator: deletecollection is a right of its own and needs no right to delete or list.
    chosen = lists.found(ask.admin, ask.where, ask.request)
    head = str(ask.hosted.world.store.revision)
    for obj in chosen:
        metadata = obj["metadata"]
        ask.admin.delete(
            ask.resource.address,
            metadata["name"],
            metadata.get("namespace"),
            grace_period_seconds=options.grace_period_seconds,
            propagation=options.propagation,
            dry_run=options.dry_run,
        )
    return ask.answer(
        {
            "kind": ask.resource.list_kind,
            "apiVersion": ask.resource.api_version,
            "metadata": {"resourceVersion": head},
            "items": [ask.hosted.encoder.item(lists.presented(ask.resource, obj)) for obj in chosen],
        }
    )


_VERBS.update(
    {
        get: "get",
        list_: "list",
        create: "create",
        replace: "update",
        patch: "patch",
        delete: "delete",
        delete_collection: "deletecollection",
    }
)
