"""Recording who writes what: ``metadata.managedFields`` of stored objects.

Only writes that name a field manager are recorded: those of the agent, of its tools and of HTTP clients. The
world's own writes (controllers, the deployment of the application, faults) leave no records; see
:mod:`sregym_env.kube.ownership.inferred` for what is shown then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sregym_env.kube import conversion, status
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.ownership import checked, clientside, inferred, shape, writes
from sregym_env.kube.ownership.entries import Entry, decode, encode, same_but_time, stored
from sregym_env.kube.ownership.fields import Fields, difference, field, has, path, union
from sregym_env.kube.ownership.writes import Versions, Writer
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.sim.apiserver import custom, strategy
from sregym_env.sim.world import SimWorld


@dataclass(frozen=True, slots=True)
class Tracking:
    """How one write is to be recorded."""

    manager: str
    """The field manager."""
    kind: Resource
    """The resource in the version of the request."""
    subresource: str = ""
    given: Json = None
    """``metadata.managedFields`` of the request's body."""
    entries: tuple[Entry, ...] | None = None
    """The owners after an apply, which are known before it is stored."""


MAX_MANAGER = 128
"""Length of a field manager in bytes."""


def manager_errors(manager: str) -> list[status.FieldError]:
    """What is wrong with the name of a field manager."""
    errors = []
    if len(manager.encode()) > MAX_MANAGER:
        errors.append(status.too_long("fieldManager", MAX_MANAGER))
    if not manager.isprintable():
        at = 0
        for char in manager:
            if not char.isprintable():
                text = f"invalid character U+{ord(char):04X} (at position {at})"
                errors.append(status.invalid_value("fieldManager", manager, text))
            at += len(char.encode())
    return errors


def check_manager(manager: str, options: str) -> None:
    """Raises Invalid for a field manager that cannot be one; ``options`` is ``CreateOptions`` or the like."""
    errors = manager_errors(manager) if manager else []
    if errors:
        raise status.invalid(f"{options}.meta.k8s.io", "", errors)


def of_request(manager: str, kind: Resource, body: Json, subresource: str = "") -> Tracking | None:
    """The tracking of a request with a body; None where it names no manager."""
    if not manager:
        return None
    return Tracking(manager, kind, subresource, given_in(body))


def of_scaling(kind: Resource, target: Manifest) -> Tracking | None:
    """The tracking of an autoscaler's write: it becomes an owner where owners are recorded already."""
    if not target["metadata"].get("managedFields"):
        return None
    return Tracking(inferred.CONTROLLERS, kind, "scale")


def given_in(body: Json) -> Json:
    """The ``managedFields`` that a body carries."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return metadata.get("managedFields") if isinstance(metadata, dict) else None


# --- versions -------------------------------------------------------------------------------------


def versions_of(world: SimWorld, kind: Resource) -> Versions:
    """The served versions of a kind, seen from that of a request."""
    if not kind.custom and kind.storage_key not in _SEVERAL:
        return _alone(kind)
    siblings = [r for r in custom.registry_of(world).resources if r.storage_key == kind.storage_key]
    return _together(kind, tuple(siblings))


_SEVERAL = frozenset(("events", "horizontalpodautoscalers.autoscaling"))
"""Built-in resources that are served in more than one version."""


@lru_cache(maxsize=256)
def _alone(kind: Resource) -> Versions:
    return Versions(kind.api_version, {kind.api_version: shape.of_resource(kind)}, lambda obj, _: obj)


@lru_cache(maxsize=256)
def _together(kind: Resource, siblings: tuple[Resource, ...]) -> Versions:
    by_version = {sibling.api_version: sibling for sibling in siblings}

    def convert(obj: Manifest, version: str) -> Manifest:
        source = by_version.get(str(obj.get("apiVersion", "")))
        if source is None or source.api_version == version:
            return obj
        return conversion.from_storage(by_version[version], conversion.to_storage(source, obj))

    return Versions(kind.api_version, {r.api_version: shape.of_resource(r) for r in siblings}, convert)


def _seen(versions: Versions, kind: Resource, obj: Manifest) -> Manifest:
    """A stored object in the version of the request."""
    if obj.get("apiVersion") == versions.current:
        return obj
    return conversion.from_storage(kind, obj)


_STATUS: Fields = path("status")
_SPEC: Fields = path("spec")


def _writer(world: SimWorld, tracked: Tracking) -> Writer:
    ignored: Fields = {}
    if tracked.subresource == "status":
        ignored = _SPEC
    elif not tracked.subresource and strategy.has_status(tracked.kind):
        ignored = _STATUS
    time = rfc3339(world.now())
    return Writer(tracked.manager, "Update", tracked.kind.api_version, time, tracked.subresource, ignored)


# --- writes ---------------------------------------------------------------------------------------


def created(world: SimWorld, obj: Manifest, sent: Manifest, tracked: Tracking | None) -> Manifest:
    """A new object, ``sent`` with its defaults, with its first owner."""
    if tracked is None:
        return obj
    if tracked.entries is not None:
        return with_entries(obj, encode(tracked.entries))
    versions = versions_of(world, tracked.kind)
    nothing = inferred.empty(versions.current, tracked.kind.kind)
    new = _seen(versions, tracked.kind, inferred.without_allocated(tracked.kind, obj, sent))
    return with_entries(obj, encode(writes.updated(versions, nothing, new, (), _writer(world, tracked))))


def updated(
    world: SimWorld, kind: Resource, sent: Manifest, old: Manifest, tracked: Tracking | None
) -> list[Manifest] | None:
    """The ``managedFields`` after an update to ``sent`` (before admission); None where they stay as they are."""
    recorded = old["metadata"].get("managedFields")
    if tracked is None:
        return _unsigned(world, kind, sent, old) if recorded else None
    if tracked.entries is not None:
        return _news(kind, old, encode(tracked.entries))
    start = _start(kind, old, tracked)
    if start is None:
        return None if recorded == [] else []
    if tracked.given is None and sent == old:
        return None
    if not start:
        return None
    versions = versions_of(world, tracked.kind)
    before, after = _seen(versions, tracked.kind, old), _seen(versions, tracked.kind, sent)
    if tracked.subresource == "status":
        before, after = ({"status": obj.get("status") or {}} for obj in (before, after))
    owners = writes.updated(versions, before, after, start, _writer(world, tracked))
    left = (entry for entry in owners if not inferred.is_reporter(kind, entry))
    return _news(kind, old, encode(left, recorded or ()))


def _news(kind: Resource, old: Manifest, found: list[Manifest]) -> list[Manifest] | None:
    """The list, or None where it says what is known.

    A value that its owner changes makes the owner's time new, as upstream's ``managedFieldsUpdater`` has it.
    """
    return None if found == _known(kind, old) else found


def _known(kind: Resource, old: Manifest) -> list[Manifest]:
    recorded: list[Manifest] | None = old["metadata"].get("managedFields")
    return encode(inferred.records(kind, old)) if recorded is None else recorded


def settled(kind: Resource, new: Manifest, old: Manifest, owners: list[Manifest] | None) -> Manifest:
    """An object that is to be stored, with the owners that :func:`updated` found.

    Where admission and allocation have left nothing of the change, times are not worth a write either (upstream's
    ``IgnoreManagedFieldsTimestampsTransformer``).
    """
    if owners is not None and same_but_time(owners, _known(kind, old)) and _bare(new) == _bare(old):
        return old
    return with_entries(new, owners)


def _start(kind: Resource, old: Manifest, tracked: Tracking) -> tuple[Entry, ...] | None:
    """The owners that an update starts from; None where it empties the list."""
    given = tracked.given
    if given is not None and not tracked.subresource:
        # Upstream's ``isResetManagedFields``: both ask for a fresh start.
        if given in ([], [{}]):
            return None
        try:
            # What comes back as it was read need not be looked through again.
            found = stored(old) if given and given is old["metadata"].get("managedFields") else decode(given)
        # Who sends what cannot be read does not understand the field, and must not lose it for others.
        except ValueError:
            found = ()
        if found:
            return tuple(entry for entry in found if not inferred.is_reporter(kind, entry))
    known = inferred.records(kind, old)
    if tracked.subresource == "status":
        reporter = inferred.reported_by(kind, conversion.to_storage(kind, old))
        known = known if reporter is None else (*known, reporter)
    return known


def _unsigned(world: SimWorld, kind: Resource, sent: Manifest, old: Manifest) -> list[Manifest] | None:
    """A write without an author to an object with records: it must not show who wrote what."""
    if sent == old:
        return None
    if strategy.has_status(kind):
        sent, old = ({key: value for key, value in obj.items() if key != "status"} for obj in (sent, old))
    versions = versions_of(world, kind)
    known = stored(old)
    # Never one who applies: what the world added would go with that manager's next apply.
    keeper = next((i for i, entry in enumerate(known) if _keeps(entry)), -1)
    found = encode(
        writes.revised(versions, _seen(versions, kind, old), _seen(versions, kind, sent), known, keeper)
    )
    return None if same_but_time(found, old["metadata"]["managedFields"]) else found


def _keeps(entry: Entry) -> bool:
    """Whether an owner can be given fields that it did not write."""
    return entry.operation == "Update" and entry.manager != inferred.CLIENT_SIDE


def with_entries(obj: Manifest, found: list[Manifest] | None) -> Manifest:
    """The object with a list of entries; None leaves it alone."""
    if found is None:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "managedFields": found}}


# --- server-side apply ----------------------------------------------------------------------------


def applied(
    world: SimWorld,
    kind: Resource,
    live: Manifest | None,
    config: Manifest,
    manager: str,
    *,
    force: bool = False,
    subresource: str = "",
) -> tuple[Manifest, Tracking]:
    """(The object that a server-side apply asks for, its owners). ``live`` is None where it creates.

    Raises BadRequest, Conflict, and the plain error 500 with which the API server answers a configuration
    that does not fit the schema.
    """
    _check_config(kind, config)
    versions = versions_of(world, kind)
    problem = checked.complaint(versions.shape, config)
    if problem:
        metadata = config.get("metadata") or {}
        where = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {kind.gvk_text}"
        raise status.StatusError(500, "", f"failed to create typed patch object ({where}): {problem}")
    tracked = Tracking(manager, kind, subresource)
    base = _writer(world, tracked)
    writer = Writer(manager, "Apply", kind.api_version, base.time, subresource, base.ignored)
    nothing = inferred.empty(versions.current, kind.kind)
    bare = nothing if live is None else _bare(_seen(versions, kind, live))
    start = () if live is None else inferred.entries(kind, live)
    if live is not None and not start:
        before = Writer(writes.BEFORE_APPLY, "Update", kind.api_version, base.time, subresource, base.ignored)
        start = writes.updated(versions, nothing, bare, (), before)
    found = clientside.applied(versions, bare, config, start, writer, force=force)
    owners = tuple(entry for entry in found.entries if not inferred.is_reporter(kind, entry))
    return found.object, Tracking(manager, kind, subresource, entries=owners)


def applied_scale(
    world: SimWorld, kind: Resource, old: Manifest, view: Manifest, config: Json, manager: str, force: bool
) -> tuple[Manifest, Tracking]:
    """(The Scale that a server-side apply of a Scale asks for, the owners of the scaled object)."""
    if not isinstance(config, dict):
        raise status.bad_request("error decoding YAML: the patch is not an object")
    if (config.get("apiVersion"), config.get("kind")) != (_SCALE, "Scale"):
        group, _, version = str(config.get("apiVersion") or "").rpartition("/")
        raise status.bad_request(f"invalid object type: {group}/{version}, Kind={config.get('kind') or ''}")
    of_scale = shape.of_definition(f"io.k8s.api.autoscaling.v1.{_SCALE_KIND}")
    versions = Versions(_SCALE, {_SCALE: of_scale}, lambda obj, _: obj)
    problem = checked.complaint(of_scale, config)
    if problem:
        metadata = config.get("metadata") or {}
        where = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; autoscaling/v1, Kind=Scale"
        raise status.StatusError(500, "", f"failed to create typed patch object ({where}): {problem}")
    start = inferred.records(kind, old)
    names = _replicas_path(kind)
    elements, replicas = tuple(field(name) for name in names), path(*names)
    scaling = [replace(e, fields=_REPLICAS, api_version=_SCALE) for e in start if has(e.fields, *elements)]
    time = rfc3339(world.now())
    writer = Writer(manager, "Apply", _SCALE, time, "scale", path("status"))
    found = clientside.applied(versions, view, config, scaling, writer, force=force)
    others = [e.having(difference(e.fields, replicas)) for e in start]
    back = [replace(entry, api_version=kind.api_version, fields=replicas) for entry in found.entries]
    owners = {entry.key: entry for entry in others if entry.fields}
    for entry in back:
        known = owners.get(entry.key)
        owners[entry.key] = entry if known is None else known.having(union(known.fields, entry.fields))
    return found.object, Tracking(manager, kind, "scale", entries=tuple(owners.values()))


_SCALE, _SCALE_KIND = "autoscaling/v1", "Scale"
_REPLICAS: Fields = path("spec", "replicas")


def _replicas_path(kind: Resource) -> tuple[str, ...]:
    """Where a kind keeps the number that its Scale sets."""
    if kind.custom_type is None:
        return ("spec", "replicas")
    where = str(kind.custom_type.subresources["scale"]["specReplicasPath"])
    return tuple(where.strip(".").split("."))


def _check_config(kind: Resource, config: Manifest) -> None:
    api_version, name = str(config.get("apiVersion") or ""), str(config.get("kind") or "")
    if (api_version, name) != (kind.api_version, kind.kind):
        group, _, version = api_version.rpartition("/")
        raise status.bad_request(f"invalid object type: {group}/{version}, Kind={name}")
    if given_in(config) is not None:
        raise status.bad_request("metadata.managedFields must be nil")


def _bare(obj: Manifest) -> Manifest:
    metadata = obj["metadata"]
    if "managedFields" not in metadata:
        return obj
    kept: dict[str, Any] = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**obj, "metadata": kept}


__all__ = [
    "Tracking",
    "applied",
    "applied_scale",
    "check_manager",
    "created",
    "given_in",
    "manager_errors",
    "of_request",
    "of_scaling",
    "settled",
    "updated",
    "with_entries",
]
