"""The verbs of the REST API on objects and collections."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sregym_env.cluster.api import PatchType
from sregym_env.cluster.identity import ADMIN
from sregym_env.kube import schema, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.serve import deletions, lists, parameters, subresources
from sregym_env.serve.bodies import body, duplicates, media_type, patch_body
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Reply, Request, Response, Stream, json_response
from sregym_env.serve.negotiate import Representation, check_streamable, partial, representation, table
from sregym_env.serve.paths import ApiPath
from sregym_env.serve.watching import watch
from sregym_env.sim.cluster import SimCluster

Validation = Literal["Strict", "Warn", "Ignore"]

_PATCHES: dict[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One API request on its way: who asks whom for what."""

    hosted: Hosted
    cluster: SimCluster
    where: ApiPath
    request: Request

    @property
    def resource(self) -> Resource:
        """The resource the path names."""
        return self.where.resource

    @property
    def admin(self) -> SimCluster:
        """The same cluster without questions; for what has been authorised already."""
        return self.cluster.as_user(ADMIN)

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be kept."""
        return self.request.first("dryRun") == "All"

    @property
    def validation(self) -> Validation:
        """How unknown fields are treated."""
        chosen = self.request.first("fieldValidation")
        return chosen if chosen in ("Strict", "Ignore") else "Warn"  # type: ignore[return-value]

    @property
    def manager(self) -> str:
        """The field manager of a write: the one it names, else the client by its ``User-Agent``."""
        named = self.request.first("fieldManager")
        return named or parameters.manager_of_agent(self.request.header("user-agent"))

    def with_query(self, query: dict[str, list[str]]) -> Ask:
        """The same question with other parameters."""
        return dataclasses.replace(self, request=dataclasses.replace(self.request, query=query))

    def demand(self, verb: str, subresource: str = "") -> None:
        """Raises Forbidden where RBAC does not allow the verb."""
        where = self.where
        if not self.cluster.review_access(verb, self.resource.key, where.namespace, where.name, subresource):
            raise status.forbidden(
                self.resource, where.name, self.cluster.user.name, verb, where.namespace or "", subresource
            )

    def answer(
        self, obj: Manifest, code: int = 200, warnings: tuple[str, ...] = (), shape: Representation = "object"
    ) -> Response:
        """An object as the response, its timestamps in the client's time."""
        if shape == "table" and obj.get("kind") == self.resource.kind:
            include = self.request.first("includeObject", "Metadata")
            version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            obj = table(self.resource, [obj], self.hosted.world.now(), include=include, metadata=version)
        elif shape == "metadata" and obj.get("kind") == self.resource.kind:
            obj = partial(obj)
        made = json_response(obj, code, tuple(("Warning", f'299 - "{quoted(text)}"') for text in warnings))
        return Response(made.status, self.hosted.pace.outward(made.body), made.content_type, made.headers)


def quoted(text: str) -> str:
    """A text inside the quotation marks of a ``Warning`` header."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


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
        name = _metadata(ask, obj).get("name", "")
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


def patch(ask: Ask, subresource: str = "") -> Reply:
    """A change to an object."""
    shape = representation(ask.request.header("accept"))
    kind = patch_type(ask.request)
    where = ask.where
    parameters.check_manager(ask.request, "PatchOptions", kind)
    change = patch_body(ask.request, ask.hosted.pace, kind)
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


def delete(ask: Ask) -> Reply:
    """Ask for an object's deletion."""
    options = deletions.options(ask.request, ask.hosted.pace)
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
    options = deletions.options(ask.request, ask.hosted.pace)
    chosen = lists.found(ask.admin, ask.where, ask.request)
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
            "metadata": {"resourceVersion": str(ask.hosted.world.store.revision)},
            "items": chosen,
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


def incoming(ask: Ask) -> tuple[Manifest, tuple[str, ...]]:
    """The object in the body, its type made sure of, and warnings about fields it should not have."""
    obj = body(ask.request, ask.hosted.pace, ask.resource.kind)
    assert isinstance(obj, dict)
    obj = typed(obj, ask.resource.api_version, ask.resource.kind)
    _metadata(ask, obj)
    if ask.validation == "Ignore":
        return obj, ()
    doubles = [f'duplicate field "{path}"' for path in duplicates(ask.request.body)]
    if ask.validation == "Strict":
        if doubles:
            text = f"strict decoding error: {', '.join(doubles)}"
            raise status.cannot_handle(ask.resource.kind, ask.resource.version, text)
        return obj, ()
    _, warnings = schema.decode(ask.resource, obj, strict=False)
    return obj, (*doubles, *warnings)


def typed(obj: Manifest, api_version: str, kind: str) -> Manifest:
    """The object with the type its path implies. Raises BadRequest where it says it is something else."""
    own_version, own_kind = obj.get("apiVersion") or api_version, obj.get("kind") or kind
    if own_version != api_version:
        raise status.bad_request(
            f"the API version in the data ({own_version}) does not match the expected API version ({api_version})"
        )
    if own_kind != kind:
        raise status.bad_request(
            f"{own_kind} in version {status.go_quote(own_version)} cannot be handled as a {kind}"
        )
    return {**obj, "apiVersion": api_version, "kind": kind}


def _metadata(ask: Ask, obj: Manifest) -> Manifest:
    """The object's metadata, empty where there is none. Raises BadRequest where it is something else."""
    found = obj.get("metadata") or {}
    if isinstance(found, dict):
        return found
    names = {bool: "bool", int: "number", float: "number", str: "string"}
    kind, version = ask.resource.kind, ask.resource.version
    text = f"cannot unmarshal {names.get(type(found), 'array')} into Go struct field {kind}.metadata"
    raise status.cannot_handle(kind, version, f"json: {text} of type v1.ObjectMeta")


def addressed(ask: Ask, obj: Manifest) -> Manifest:
    """The object with the name and namespace of the URL. Raises BadRequest where its own differ."""
    metadata = dict(_metadata(ask, obj))
    where = ask.where
    name = metadata.get("name") or where.name
    if name != where.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({where.name})"
        )
    metadata["name"] = name
    if where.namespace is not None:
        if (metadata.get("namespace") or where.namespace) != where.namespace:
            raise status.bad_request(
                f"the namespace of the object ({metadata['namespace']}) does not match the namespace on the "
                f"request ({where.namespace})"
            )
        metadata["namespace"] = where.namespace
    return {**obj, "metadata": metadata}
