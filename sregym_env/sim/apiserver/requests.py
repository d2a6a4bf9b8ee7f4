"""The API server's write path: strategy, defaulting, admission, validation, storage.

These are the calls that controllers, the scheduler and the kubelets make; :mod:`sregym_env.sim.cluster`
puts identity and authorisation in front of them. All raise
:class:`~sregym_env.kube.status.StatusError` with the real reasons and messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sregym_env.cluster.api import Propagation
from sregym_env.cluster.identity import User
from sregym_env.kube import status, validation
from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.warnings import warnings_of
from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.apiserver import admission, allocation, conversions, guarded, tracking
from sregym_env.sim.apiserver.admission import warnings
from sregym_env.sim.apiserver.custom import (
    DEFINITIONS,
    doomed,
    is_custom,
    refuse_while_terminating,
    resource_of,
    served,
    version_of,
)
from sregym_env.sim.apiserver.identities import SYSTEM, is_component
from sregym_env.sim.apiserver.strategy import (
    REQUESTS,
    completed,
    has_generation,
    has_status,
    prepared_for_create,
    prepared_for_update,
    requested_by,
)
from sregym_env.sim.apiserver.tracking import Tracking
from sregym_env.sim.world import SimWorld

MOST_PODS, PODS_EACH = 400, 50
"""Pods that an embedded cluster keeps at once: so many, or so many a machine where that is more. Three workers hold 330 by
kubelet default (110 each); more would only be waiting, so that a slip of the keyboard (``--replicas=100000``) costs no
more than this."""

Changes = Mapping[str, str | None]
"""Keys to set; None removes."""


def create(
    world: SimWorld,
    resource: str,
    obj: Manifest,
    user: User = SYSTEM,
    *,
    dry_run: bool = False,
    tracked: Tracking | None = None,
) -> Manifest:
    """Create an object. Raises AlreadyExists, Invalid, Forbidden (admission), NotFound (namespace)."""
    if dry_run:
        with _no_trace(world):
            return _admitted(world, resource, obj, user, dry_run=True, tracked=tracked)
    made = _admitted(world, resource, obj, user, tracked=tracked)
    if not is_custom(resource):
        return world.store.put(resource, made)
    kind = version_of(world, resource, made)
    return conversions.presented(
        world, kind, world.store.put(resource, conversions.stored(world, kind, made))
    )


@contextmanager
def _no_trace(world: SimWorld) -> Iterator[None]:
    """A dry run draws names and addresses without the world's chance having moved."""
    streams = world.streams
    world.streams = streams.fork()
    try:
        yield
    finally:
        world.streams = streams


def _admitted(
    world: SimWorld,
    resource: str,
    obj: Manifest,
    user: User,
    *,
    dry_run: bool = False,
    tracked: Tracking | None = None,
) -> Manifest:
    kind = version_of(world, resource, obj)
    if kind.custom:
        refuse_while_terminating(world, kind)
    if resource == "pods" and world.store.count("pods") >= _most_pods(world):
        raise status.too_many_requests(
            "the server has received too many requests and has asked us to try again later"
        )
    named = _named(world, kind, obj)
    fresh = prepared_for_create(kind, named, uid=ids.uid(world.streams), now=world.now())
    if resource == REQUESTS:
        fresh = requested_by(fresh, user.name, user.groups)
    # Defaulting is part of decoding, so admission sees the defaults, as upstream.
    fresh = tracking.created(world, apply_defaults(kind, completed(kind, fresh)), obj, tracked)
    generated = "" if named is obj else fresh["metadata"]["name"]
    if generated:
        # A generated name is known only after the mutating phase.
        fresh = {**fresh, "metadata": {k: v for k, v in fresh["metadata"].items() if k != "name"}}
    if admission.is_guarded(world):
        user = guarded.asker(world, user)
    request = admission.attributes_of("CREATE", kind, fresh, user, dry_run=dry_run)
    fresh = _unmoved(request, admission.mutate(world, request, fresh, None))
    if generated and not fresh["metadata"].get("name"):
        fresh = {**fresh, "metadata": {"name": generated, **fresh["metadata"]}}
    if resource == "services":
        # Where the registry does it: after the mutating phase, before the validation that wants addresses.
        fresh = allocation.with_addresses(world, fresh, None)
    # The kind's own validation speaks before validating admission (``rest.BeforeCreate``, then
    # ``createValidation``).
    errors = validation.validate_create(kind, fresh)
    name = fresh["metadata"].get("name", "")
    if not name and not errors:
        errors = [status.required("metadata.name", "name or generateName is required")]
    if errors:
        raise status.invalid(kind, name, errors)
    if generated:
        waited = request.waited
        request = admission.attributes_of("CREATE", kind, fresh, user, dry_run=dry_run, waited=waited)
    admission.validate(world, request, fresh, None)
    # Storage is asked last: admission's refusal is told even where the name is taken.
    if world.store.get(resource, fresh["metadata"].get("namespace", ""), name) is not None:
        raise status.already_exists(kind, name)
    _warn(world, user, kind, fresh, None)
    return fresh


def _most_pods(world: SimWorld) -> int:
    return max(MOST_PODS, PODS_EACH * world.store.count("nodes"))


def _warn(world: SimWorld, user: User, kind: Resource, new: Manifest, old: Manifest | None) -> None:
    """Tell people, not components, what they should know of what they wrote."""
    if not is_component(user):
        for text in warnings_of(kind, new, old):
            warnings.tell(world, user, text)


def _unmoved(request: admission.Attributes, obj: Manifest) -> Manifest:
    """The object, made sure that no webhook has moved it. Raises BadRequest."""
    if request.resource.namespaced and obj["metadata"].get("namespace") != request.namespace:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise status.bad_request(text)
    return obj


def update(
    world: SimWorld,
    resource: str,
    obj: Manifest,
    user: User = SYSTEM,
    *,
    dry_run: bool = False,
    tracked: Tracking | None = None,
    admitted: bool = False,
) -> Manifest:
    """Put a whole object. A resourceVersion in it must be the current one. Unchanged objects are not written.

    ``admitted``: the request was one to a subresource, which admission has seen already.
    """
    if dry_run:
        with _no_trace(world):
            return _revised(world, resource, obj, user, dry_run=True, tracked=tracked, admitted=admitted)[0]
    new, old = _revised(world, resource, obj, user, tracked=tracked, admitted=admitted)
    if new is old:
        return old
    kind = version_of(world, resource, new)
    if not kind.custom:
        return _commit(world, kind, new)
    return conversions.presented(world, kind, _commit(world, kind, conversions.stored(world, kind, new)))


def _revised(
    world: SimWorld,
    resource: str,
    obj: Manifest,
    user: User,
    *,
    dry_run: bool = False,
    tracked: Tracking | None = None,
    admitted: bool = False,
) -> tuple[Manifest, Manifest]:
    """(The object as it would be stored, as it is stored); one and the same where nothing changes."""
    kind = version_of(world, resource, obj)
    old = _existing(world, kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    if kind.custom:
        old = conversions.presented(world, kind, old)
    _check_preconditions(kind, obj, old)
    new = prepared_for_update(kind, apply_defaults(kind, completed(kind, obj)), old)
    owners = tracking.updated(world, kind, new, old, tracked)
    if admission.is_guarded(world):
        user = guarded.asker(world, user)
    request = admission.attributes_of("UPDATE", kind, old, user, dry_run=dry_run)
    mutated = new if admitted else admission.mutate(world, request, new, old)
    # A webhook may not change what the server owns, and its changes count in the generation.
    if mutated is not new:
        new = prepared_for_update(kind, mutated, old)
    if resource == "services":
        new = allocation.with_addresses(world, new, old)
    new = tracking.settled(kind, new, old, owners)
    if new == old:
        # Nothing is written, but webhooks and policies are asked all the same.
        if not admitted and admission.is_guarded(world):
            admission.validate(world, request, new, old)
        return old, old
    errors = validation.validate_update(kind, new, old)
    if errors:
        raise status.invalid(kind, old["metadata"]["name"], errors)
    if not admitted:
        admission.validate(world, request, new, old)
    _warn(world, user, kind, new, old)
    return new, old


def update_status(
    world: SimWorld, resource: str, namespace: str, name: str, new_status: Mapping[str, Any]
) -> Manifest | None:
    """Replace an object's status; nothing is written when it is equal. None if the object is gone.

    Where a webhook or policy refuses, the object stays as it was, and its controllers look at it again later.
    """
    old = world.store.get(resource, namespace, name)
    if old is None:
        return None
    if old.get("status") == new_status:
        return old
    new = {**old, "status": dict(new_status)}
    if admission.is_guarded(world):
        try:
            new = guarded.status(world, resource_of(world, resource), new, old)
        except status.StatusError:
            guarded.look_again(world, resource, old)
            return old
    return world.store.put(resource, new)


def patch_metadata(
    world: SimWorld,
    resource: str,
    namespace: str,
    name: str,
    *,
    annotations: Changes | None = None,
    labels: Changes | None = None,
    finalizers: Sequence[str] | None = None,
    owner_references: Sequence[Mapping[str, Any]] | None = None,
) -> Manifest | None:
    """Change metadata of an object. Taking away the last finalizer of a deleted object removes it.

    Raises what a webhook or policy says.
    """
    old = world.store.get(resource, namespace, name)
    if old is None:
        return None
    metadata = dict(old["metadata"])
    for field, changes in (("annotations", annotations), ("labels", labels)):
        if changes is not None:
            _replace(metadata, field, _merged(metadata.get(field, {}), changes))
    if finalizers is not None:
        _replace(metadata, "finalizers", list(finalizers))
    if owner_references is not None:
        _replace(metadata, "ownerReferences", [dict(owner) for owner in owner_references])
    if metadata == old["metadata"]:
        return old
    kind, new = resource_of(world, resource), {**old, "metadata": metadata}
    if admission.is_guarded(world):
        new = guarded.updated(world, kind, new, old)
    return _commit(world, kind, new)


def delete(
    world: SimWorld,
    resource: str,
    namespace: str,
    name: str,
    *,
    grace: int | None = None,
    propagation: Propagation = "Background",
    uid: str | None = None,
    user: User = SYSTEM,
    dry_run: bool = False,
    admitted: bool = False,
) -> Manifest | None:
    """Begin or complete the deletion of an object; what is left of it, or None if it was not there.

    A scheduled pod gets ``grace`` seconds (its own by default) and is removed by its kubelet; finalizers
    keep any object; ``Foreground`` and ``Orphan`` add theirs for the garbage collector. Raises Forbidden for
    a namespace that must stay, and what a webhook or policy says (unless ``admitted``: it has been asked).
    """
    kind = resource_of(world, resource)
    old = world.store.get(resource, namespace, name)
    if old is None or (uid is not None and old["metadata"]["uid"] != uid):
        return None
    # Of the built-in plugins only NamespaceLifecycle judges deletions, and only those of namespaces.
    if not admitted and (resource == "namespaces" or admission.is_guarded(world)):
        guarded.deletion(world, kind, old, user, grace, propagation, dry_run=dry_run)
    if dry_run:
        return old
    if resource == DEFINITIONS:
        old = doomed(old, world.now())
    metadata = dict(old["metadata"])
    finalizers = list(metadata.get("finalizers", ()))
    for wanted, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
        if propagation == wanted and finalizer not in finalizers and "deletionTimestamp" not in metadata:
            finalizers.append(finalizer)
    seconds = _grace(kind, old, grace)
    if resource == "namespaces":
        return _terminate_namespace(world, kind, old)
    if not finalizers and seconds == 0:
        world.store.remove(resource, namespace, name)
        return old
    if finalizers:
        metadata["finalizers"] = finalizers
    known = metadata.get("deletionGracePeriodSeconds")
    # A second deletion can shorten the grace period, never prolong it.
    if known is None or (resource == "pods" and seconds < known):
        # In the future: the instant at which the grace period ends.
        metadata["deletionTimestamp"] = rfc3339(world.now() + seconds * SECOND)
        metadata["deletionGracePeriodSeconds"] = seconds
        if has_generation(kind):
            # Controllers treat an object that is going otherwise, so ``rest.BeforeDelete`` bumps it.
            metadata["generation"] = metadata.get("generation", 1) + 1
    if metadata == old["metadata"]:
        return old
    return world.store.put(resource, {**old, "metadata": metadata})


def finalize_delete(world: SimWorld, resource: str, namespace: str, name: str) -> bool:
    """Remove an object for good, unless finalizers still keep it. False where a webhook or policy keeps a pod."""
    old = world.store.get(resource, namespace, name)
    if old is None:
        return True
    if resource == "pods" and admission.is_guarded(world):
        kind = resource_of(world, resource)
        try:
            guarded.deletion(world, kind, old, guarded.component(world, kind, old), 0, "Background")
        except status.StatusError:
            return False
    if old["metadata"].get("finalizers"):
        if old["metadata"].get("deletionGracePeriodSeconds"):
            # With no grace left, taking away the last finalizer removes it (:func:`_commit`).
            metadata = {**old["metadata"], "deletionGracePeriodSeconds": 0}
            world.store.put(resource, {**old, "metadata": metadata})
        return True
    world.store.remove(resource, namespace, name)
    return True


def _named(world: SimWorld, kind: Resource, obj: Manifest) -> Manifest:
    metadata = obj.get("metadata") or {}
    if metadata.get("name"):
        return obj
    prefix = metadata.get("generateName")
    if not prefix:
        error = status.required("metadata.name", "name or generateName is required")
        raise status.invalid(kind, "", [error])
    # 63 characters less the suffix of 5 (``maxGeneratedNameLength``).
    name = prefix[:58] + ids.name_suffix(world.streams)
    return {**obj, "metadata": {**metadata, "name": name}}


def _existing(world: SimWorld, kind: Resource, namespace: str, name: str) -> Manifest:
    if kind.namespaced and not namespace:
        namespace = "default"
    old = world.store.get(kind.storage_key, namespace, name)
    if old is None:
        raise status.not_found(kind, name)
    return old


_HEARTBEATS = ("nodes", "leases.coordination.k8s.io")
"""Resources that show newer revisions than what is stored: the heartbeats in between are not written."""


def is_current(kind: Resource, version: str, old: Manifest) -> bool:
    """Whether nothing has been written to an object since it was read at a resourceVersion."""
    known = old["metadata"]["resourceVersion"]
    if version == known:
        return True
    return kind.key in _HEARTBEATS and version.isdecimal() and int(version) > int(known)


def _check_preconditions(kind: Resource, obj: Manifest, old: Manifest) -> None:
    metadata, known = obj["metadata"], old["metadata"]
    version = metadata.get("resourceVersion")
    if version and not is_current(kind, version, old):
        raise status.conflict(kind, known["name"])
    if metadata.get("uid") not in (None, "", known["uid"]):
        text = (
            f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {known['uid']}"
        )
        raise status.conflict(kind, known["name"], text)


def _commit(world: SimWorld, kind: Resource, new: Manifest) -> Manifest:
    metadata = new["metadata"]
    stored = world.store.put(kind.storage_key, new)
    gone = "deletionTimestamp" in metadata and not metadata.get("finalizers")
    if gone and metadata.get("deletionGracePeriodSeconds", 0) == 0 and kind.key != "namespaces":
        world.store.remove(kind.storage_key, metadata.get("namespace", ""), metadata["name"])
    return stored


def _grace(kind: Resource, obj: Manifest, grace: int | None) -> int:
    """Seconds of grace; only pods that a node may be running have any."""
    if kind.key != "pods":
        return 0
    spec = obj["spec"]
    if not spec.get("nodeName") or obj.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    if grace is None:
        grace = int(spec.get("terminationGracePeriodSeconds", 30))
    return max(0, grace)


def _terminate_namespace(world: SimWorld, kind: Resource, old: Manifest) -> Manifest:
    if "deletionTimestamp" in old["metadata"]:
        return old
    metadata = {**old["metadata"], "deletionTimestamp": rfc3339(world.now())}
    terminating = {**old.get("status", {}), "phase": "Terminating"}
    return world.store.put(kind.key, {**old, "metadata": metadata, "status": terminating})


def _replace(metadata: dict[str, Any], field: str, value: Any) -> None:
    if value:
        metadata[field] = value
    else:
        metadata.pop(field, None)


def _merged(current: Mapping[str, str], changes: Changes) -> dict[str, str]:
    merged = {**current, **{key: value for key, value in changes.items() if value is not None}}
    return {key: value for key, value in merged.items() if changes.get(key, value) is not None}


__all__ = [
    "SYSTEM", "create", "delete", "finalize_delete", "has_status", "is_current", "patch_metadata", "resource_of",
    "served", "update", "update_status",
]  # fmt: skip
