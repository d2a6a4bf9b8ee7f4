"""Writes to the API server by programs in pods: what a request's method, media type and body ask the cluster for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
import yaml

from sregym_env.cluster.api import Cluster, PatchType, Propagation
from sregym_env.cluster.identity import ADMIN
from sregym_env.kube import status, yamlin
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime.numbers import whole
from sregym_env.sim.world import SimWorld

LONGEST = 256 * 1024
"""Characters of a body."""
_ACCEPTED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCHES: Mapping[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
_PROPAGATIONS: Mapping[str, Propagation] = {
    "Background": "Background",
    "Foreground": "Foreground",
    "Orphan": "Orphan",
}


class Write(NamedTuple):
    """One request that changes something."""

    method: str
    kind: Resource
    namespace: str | None
    name: str
    subresource: str
    media: str
    """The body's media type."""
    body: str
    query: Mapping[str, str]
    agent: str
    """The ``User-Agent``."""

    @property
    def manager(self) -> str:
        """The owner of the fields: the one the request names, else the client."""
        return self.query.get("fieldManager") or self.agent.partition("/")[0]

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored."""
        return self.query.get("dryRun") == "All"


def answer(world: SimWorld, cluster: Cluster, asked: Write) -> tuple[int, Any] | None:
    """(HTTP status, document); None for a method that the path does not know. Raises the API's errors."""
    if asked.method == "POST" and not (asked.name and not asked.subresource):
        return _create(cluster, asked)
    if not asked.name:
        return _delete_all(world, cluster, asked) if asked.method == "DELETE" else None
    if asked.method == "PUT":
        return _replace(cluster, asked)
    if asked.method == "PATCH":
        return _patch(world, cluster, asked)
    if asked.method == "DELETE" and not asked.subresource:
        return _delete(world, cluster, asked)
    return None


def _create(cluster: Cluster, asked: Write) -> tuple[int, Any]:
    _demand(cluster, "create", asked)
    obj = _object(asked)
    if asked.subresource:
        made = cluster.create(
            obj,
            namespace=asked.namespace,
            subresource=asked.subresource,
            name=asked.name,
            dry_run=asked.dry_run,
        )
    else:
        made = cluster.create(
            _placed(asked, obj), namespace=asked.namespace, dry_run=asked.dry_run, field_manager=asked.manager
        )
    return 201, made


def _replace(cluster: Cluster, asked: Write) -> tuple[int, Any]:
    _demand(cluster, "update", asked)
    obj = _placed(asked, _object(asked))
    made = cluster.replace(
        obj, subresource=asked.subresource, dry_run=asked.dry_run, field_manager=asked.manager
    )
    return 200, made


def _patch(world: SimWorld, cluster: Cluster, asked: Write) -> tuple[int, Any]:
    _demand(cluster, "patch", asked)
    type = _PATCHES.get(asked.media)
    if type is None:
        raise status.unsupported_media_type(tuple(_PATCHES))
    change = _parsed(asked)
    manager = asked.manager
    if type == "apply":
        manager = asked.query.get("fieldManager", "")
        if not isinstance(change, dict):
            raise status.bad_request("error decoding YAML: the patch is not an object")
        change = _placed(asked, _typed(asked, change))
    known = world.store.get(asked.kind.storage_key, asked.namespace or "", asked.name) is not None
    made = cluster.patch(
        asked.kind.address,
        asked.name,
        change,
        namespace=asked.namespace,
        type=type,
        subresource=asked.subresource,
        dry_run=asked.dry_run,
        field_manager=manager,
        force=asked.query.get("force") == "true",
    )
    return 200 if known else 201, made


def _delete(world: SimWorld, cluster: Cluster, asked: Write) -> tuple[int, Any]:
    given = _parsed(asked) if asked.body.strip() else {}
    options = given if isinstance(given, dict) else {}
    grace = asked.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
    policy = asked.query.get("propagationPolicy") or options.get("propagationPolicy") or ""
    left = cluster.delete(
        asked.kind.address,
        asked.name,
        asked.namespace,
        grace_period_seconds=whole(str(grace), None),
        propagation=_PROPAGATIONS.get(policy),
        dry_run=asked.dry_run,
    )
    remains = world.store.get(asked.kind.storage_key, asked.namespace or "", asked.name)
    if asked.kind.delete_returns_object or (remains is not None and not asked.dry_run):
        return 200, left
    return 200, status.success(asked.name, asked.kind, left["metadata"].get("uid", ""))


def _delete_all(world: SimWorld, cluster: Cluster, asked: Write) -> tuple[int, Any]:
    _demand(cluster, "deletecollection", asked)
    # Who may delete a collection needs neither to list nor to delete its objects.
    master = world.api(ADMIN)
    chosen = master.list(
        asked.kind.key,
        asked.namespace,
        label_selector=asked.query.get("labelSelector", ""),
        field_selector=asked.query.get("fieldSelector", ""),
    )
    for obj in chosen:
        metadata = obj["metadata"]
        master.delete(asked.kind.address, metadata["name"], metadata.get("namespace"), dry_run=asked.dry_run)
    return 200, {
        "kind": asked.kind.list_kind,
        "apiVersion": asked.kind.api_version,
        "metadata": {"resourceVersion": str(world.store.revision)},
        "items": chosen,
    }


def _demand(cluster: Cluster, verb: str, asked: Write) -> None:
    """Who asks may do it; judged before the body is read. Raises Forbidden."""
    kind, name = asked.kind, asked.name
    if not cluster.review_access(verb, kind.key, asked.namespace, name, asked.subresource):
        raise status.forbidden(kind, name, cluster.user.name, verb, asked.namespace or "", asked.subresource)


# --- bodies -----------------------------------------------------------------------------------------


def _parsed(asked: Write) -> Json:
    if len(asked.body) > LONGEST:
        raise status.StatusError(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")
    try:
        if asked.media.endswith("yaml"):
            found: Json = yamlin.load(asked.body)
            return found
        parsed: Json = orjson.loads(asked.body)
        return parsed
    except (ValueError, yaml.YAMLError) as error:
        shown = asked.body[:30] or "<empty>"
        raise status.bad_request(
            f"the object provided is unrecognized (must be of type {asked.kind.kind}): couldn't get "
            f"version/kind; json parse error: {error} ({shown})"
        ) from None


def _object(asked: Write) -> Manifest:
    if asked.media and asked.media not in _ACCEPTED[:2]:
        raise status.unsupported_media_type(_ACCEPTED)
    found = _parsed(asked)
    if not isinstance(found, dict):
        raise status.bad_request("the object provided is not an object")
    return found if asked.subresource else _typed(asked, found)


def _typed(asked: Write, obj: Manifest) -> Manifest:
    """The object with the type that its path implies. Raises BadRequest where it says it is something else."""
    version, kind = obj.get("apiVersion") or asked.kind.api_version, obj.get("kind") or asked.kind.kind
    if version != asked.kind.api_version:
        raise status.bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({asked.kind.api_version})"
        )
    if kind != asked.kind.kind:
        text = f"{kind} in version {status.go_quote(version)} cannot be handled as a {asked.kind.kind}"
        raise status.bad_request(text)
    return {**obj, "apiVersion": version, "kind": kind}


def _placed(asked: Write, obj: Manifest) -> Manifest:
    """The object with the name and namespace of the path. Raises BadRequest where its own differ."""
    given = obj.get("metadata")
    metadata = dict(given) if isinstance(given, dict) else {}
    if asked.name:
        name = metadata.setdefault("name", asked.name)
        if name != asked.name:
            text = f"the name of the object ({name}) does not match the name on the URL ({asked.name})"
            raise status.bad_request(text)
    if asked.namespace is not None:
        namespace = metadata.setdefault("namespace", asked.namespace)
        if namespace != asked.namespace:
            raise status.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
    return {**obj, "metadata": metadata}
