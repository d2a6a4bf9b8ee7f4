"""The verbs of the REST API on objects and collections."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sregym_env.cluster.api import ADMIN, PatchType, Propagation
from sregym_env.kube import schema, status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.serve import lists, subresources
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Reply, Request, Response, Stream, json_response
from sregym_env.serve.negotiate import Representation, body, partial, representation, table
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
        made = json_response(obj, code, tuple(("Warning", f'299 - "{_quoted(text)}"') for text in warnings))
        return Response(made.status, self.hosted.pace.outward(made.body), made.content_type, made.headers)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def handle(ask: Ask) -> Reply:
    """Answer a request for an object, a collection or a subresource."""
    where, method = ask.where, ask.request.method
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
    found = ask.cluster.get(ask.resource.key, ask.where.name, ask.where.namespace)
    return ask.answer(lists.as_served(ask.resource, found), shape=shape)


def list_(ask: Ask) -> Reply:
    """A collection, or a watch on it."""
    shape = representation(ask.request.header("accept"))
    if ask.request.flag("watch"):
        if "watch" not in ask.resource.verbs:
            raise status.method_not_allowed(ask.resource, "watch")
        return Stream(watch(ask.hosted, ask.cluster, ask.where, ask.request, shape))
    return ask.answer(lists.listing(ask.hosted, ask.cluster, ask.where, ask.request, shape))


def create(ask: Ask) -> Reply:
    """A new object of a collection."""
    shape = representation(ask.request.header("accept"))
    obj, warnings = incoming(ask)
    if ask.resource.kind == "TokenReview":
        return ask.answer(subresources.review_token(ask, obj), 201)
    if ask.resource.kind == "Binding":
        name = obj.get("metadata", {}).get("name", "")
        made = ask.cluster.create(obj, namespace=ask.where.namespace, subresource="binding", name=name)
        return ask.answer(made, 201)
    strict = ask.validation == "Strict"
    made = ask.cluster.create(obj, namespace=ask.where.namespace, dry_run=ask.dry_run, strict=strict)
    return ask.answer(lists.as_served(ask.resource, made), 201, warnings, shape)


def replace(ask: Ask) -> Reply:
    """A whole object in the place of another."""
    shape = representation(ask.request.header("accept"))
    obj, warnings = incoming(ask)
    made = ask.cluster.replace(_addressed(ask, obj), dry_run=ask.dry_run, strict=ask.validation == "Strict")
    return ask.answer(lists.as_served(ask.resource, made), 200, warnings, shape)


def patch(ask: Ask, subresource: str = "") -> Reply:
    """A change to an object."""
    shape = representation(ask.request.header("accept"))
    kind = patch_type(ask.request)
    where = ask.where
    change = body(ask.request, ask.hosted.pace)
    exists = (
        ask.hosted.world.store.get(ask.resource.storage_key, where.namespace or "", where.name) is not None
    )
    if kind == "apply":
        change = _applied(ask, change)
    elif kind != "json" and not isinstance(change, dict):
        raise status.bad_request(
            f"json: cannot unmarshal {_json_name(change)} into Go value of type map[string]interface {{}}"
        )
    made = ask.cluster.patch(
        ask.resource.key,
        where.name,
        change,
        namespace=where.namespace,
        type=kind,
        subresource=subresource,
        dry_run=ask.dry_run,
        strict=ask.validation == "Strict",
    )
    return ask.answer(lists.as_served(ask.resource, made), 200 if exists else 201, (), shape)


def _json_name(value: Json) -> str:
    names = {bool: "bool", int: "number", float: "number", str: "string"}
    return names.get(type(value), "array")


def _applied(ask: Ask, change: Json) -> Json:
    """The body of a server-side apply: it must name its object and its manager."""
    if not ask.request.first("fieldManager"):
        error = status.required("fieldManager", "is required for apply patch")
        raise status.invalid("PatchOptions.meta.k8s.io", "", [error])
    if not isinstance(change, dict):
        raise status.bad_request("error decoding YAML: the patch is not an object")
    if not change.get("apiVersion") or not change.get("kind"):
        raise status.bad_request(
            f"invalid object type: {change.get('apiVersion', '')}, Kind={change.get('kind', '')}"
        )
    return _addressed(ask, change)


def patch_type(request: Request) -> PatchType:
    """Which of the four patch formats a body is in. Raises UnsupportedMediaType."""
    kind = request.header("content-type").partition(";")[0].strip()
    found = _PATCHES.get(kind)
    if found is None:
        raise status.unsupported_media_type(tuple(_PATCHES))
    return found


def delete(ask: Ask) -> Reply:
    """Ask for an object's deletion."""
    options = _options(ask)
    where = ask.where
    key = ask.resource.storage_key
    before = ask.hosted.world.store.get(key, where.namespace or "", where.name)
    _check_preconditions(ask, options, before)
    left = ask.cluster.delete(
        ask.resource.key,
        where.name,
        where.namespace,
        grace_period_seconds=options.get("gracePeriodSeconds"),
        propagation=_propagation(options),
        dry_run=ask.dry_run or "All" in (options.get("dryRun") or ()),
    )
    remains = ask.hosted.world.store.get(key, where.namespace or "", where.name)
    if ask.resource.delete_returns_object or (remains is not None and not ask.dry_run):
        return ask.answer(lists.as_served(ask.resource, left))
    uid = left["metadata"].get("uid", "")
    return ask.answer(status.success(where.name, ask.resource, uid))


def delete_collection(ask: Ask) -> Reply:
    """Ask for the deletion of everything the selectors choose."""
    ask.demand("deletecollection")
    options = _options(ask)
    chosen = lists.found(ask.admin, ask.where, ask.request)
    for obj in chosen:
        metadata = obj["metadata"]
        ask.admin.delete(
            ask.resource.key,
            metadata["name"],
            metadata.get("namespace"),
            grace_period_seconds=options.get("gracePeriodSeconds"),
            propagation=_propagation(options),
            dry_run=ask.dry_run,
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
    obj = body(ask.request, ask.hosted.pace)
    if not isinstance(obj, dict):
        raise status.bad_request("the object provided is unrecognized (must be of type Object)")
    obj = typed(obj, ask.resource.api_version, ask.resource.kind)
    if ask.validation != "Warn":
        return obj, ()
    _, warnings = schema.decode(ask.resource, obj, strict=False)
    return obj, warnings


def typed(obj: Manifest, api_version: str, kind: str) -> Manifest:
    """The object with the type its path implies. Raises BadRequest where it says it is something else."""
    own_version, own_kind = obj.get("apiVersion") or api_version, obj.get("kind") or kind
    if own_version != api_version:
        raise status.bad_request(
            f"the API version in the data ({own_version}) does not match the expected API version ({api_version})"
        )
    if own_kind != kind:
        raise status.bad_request(f"{own_kind} in version {own_version!r} cannot be handled as a {kind}")
    return {**obj, "apiVersion": api_version, "kind": kind}


def _addressed(ask: Ask, obj: Manifest) -> Manifest:
    """The object with the name and namespace of the URL. Raises BadRequest where its own differ."""
    metadata = dict(obj.get("metadata") or {})
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


def _options(ask: Ask) -> dict[str, Any]:
    """The ``DeleteOptions`` of the body and of the query."""
    options: dict[str, Any] = {}
    if ask.request.body.strip():
        found = body(ask.request, ask.hosted.pace)
        if isinstance(found, dict):
            options.update(found)
    for name in ("propagationPolicy",):
        if ask.request.first(name):
            options[name] = ask.request.first(name)
    grace = ask.request.number("gracePeriodSeconds")
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    return options


def _propagation(options: dict[str, Any]) -> Propagation | None:
    policy = options.get("propagationPolicy")
    if policy in ("Background", "Foreground", "Orphan"):
        return policy  # type: ignore[no-any-return]
    return "Orphan" if options.get("orphanDependents") is True else None


def _check_preconditions(ask: Ask, options: dict[str, Any], old: Manifest | None) -> None:
    wanted = options.get("preconditions") or {}
    if old is None:
        return
    for field, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        found, known = wanted.get(field), old["metadata"].get(field)
        if found and found != known:
            text = f"Precondition failed: {word} in precondition: {found}, {word} in object meta: {known}"
            raise status.conflict(ask.resource, old["metadata"]["name"], text)
