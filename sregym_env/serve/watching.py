"""Watches: the store's changes as a stream of events, from any revision that is still remembered."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace

import orjson

from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.serve import lists, parameters
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, encode
from sregym_env.serve.negotiate import META, Representation, partial, table
from sregym_env.serve.paths import ApiPath
from sregym_env.sim.apiserver import conversions
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.machines import nodes
from sregym_env.sim.world.store import Change

DEFAULT_SECONDS = 1800
"""How long a watch lasts that says nothing else: the server's ``--min-request-timeout``."""

# As the API server's watch cache: one about every minute.
BOOKMARK_SECONDS = 60.0
LOOK_SECONDS = 0.5
"""The longest time between two looks at a world that nobody rings the bell of."""

STEP_SPEED = 60.0
"""Virtual seconds per second at which a watch drives a world in step mode: a client's own time limits
still mean something."""

PORTION = 100
"""Events written at once."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a watch is about."""

    where: ApiPath
    shape: Representation
    include: str
    matches: lists.Matches
    bookmarks: bool

    @property
    def resource(self) -> Resource:
        """The watched resource, in the version asked for."""
        return self.where.resource


def watch(
    hosted: Hosted, cluster: SimCluster, where: ApiPath, request: Request, shape: Representation
) -> AsyncIterator[bytes]:
    """The stream of a watch request. Raises Forbidden and BadRequest before it begins; a revision that is no
    longer remembered is told as an ERROR event (410), as the API server's watch cache does."""
    resource = where.resource
    if not cluster.review_access("watch", resource.key, where.namespace):
        raise status.forbidden(resource, where.name, cluster.user.name, "watch", where.namespace or "")
    fields = request.first("fieldSelector")
    if where.name:
        fields = ",".join(filter(None, (fields, f"metadata.name={where.name}")))
    wanted = Wanted(
        where,
        shape,
        request.first("includeObject", "Metadata"),
        lists.matcher(resource, request.first("labelSelector"), fields),
        request.flag("allowWatchBookmarks"),
    )
    version = request.first("resourceVersion")
    initial = version in ("", "0") or request.flag("sendInitialEvents")
    known = hosted.world.store.revision
    if not initial:
        known = parameters.revision(version)
        expired = _expired(hosted, known)
        if expired is not None:
            return _failed(expired)
    seconds = request.number("timeoutSeconds")
    return _stream(hosted, cluster, wanted, request, initial, known, seconds)


async def _stream(
    hosted: Hosted,
    cluster: SimCluster,
    wanted: Wanted,
    request: Request,
    initial: bool,
    known: int,
    seconds: int | None,
) -> AsyncIterator[bytes]:
    """Initial events, then changes as they come, until the time is over."""
    first = True
    if initial:
        known = hosted.world.store.revision  # of the list, which is made only now
        whole = replace(wanted.where, name="")
        listed = lists.found(cluster, whole, replace(request, query=_selectors(request)))
        events = [("ADDED", obj) for obj in listed if wanted.matches(obj)]
        for portion in _portions(events):
            yield _lines(hosted, wanted, portion, first)
            first = False
        if not events:
            yield b""
        if request.flag("sendInitialEvents") and wanted.bookmarks:
            yield _bookmark(hosted, wanted, known, {INITIAL_EVENTS_END: "true"})
    else:
        yield b""
    deadline = _Deadline(hosted, seconds)
    marked = time.monotonic()
    while not hosted.closing:
        world = hosted.world
        if world.store.newest > known:
            expired = _expired(hosted, known)
            if expired is not None:
                # A client so slow that changes it has not seen are forgotten must begin anew.
                yield _error(expired)
                return
            news = list(_changes_since(world.store.changes.newest_first(), known))
            known = world.store.revision
            events = [event for change in news for event in _event(hosted, wanted, change)]
            for portion in _portions(events):
                yield _lines(hosted, wanted, portion, first)
                first = False
            if events:
                continue
        if deadline.reached():
            break
        if wanted.bookmarks and time.monotonic() - marked > BOOKMARK_SECONDS:
            marked = time.monotonic()
            yield _bookmark(hosted, wanted, known)
        await deadline.rest(known)
    if wanted.bookmarks:
        yield _bookmark(hosted, wanted, known)


def _selectors(request: Request) -> dict[str, list[str]]:
    return {k: list(v) for k, v in request.query.items() if k in ("labelSelector", "fieldSelector")}


class _Deadline:
    """When a watch ends: after wall seconds, or in step mode after virtual ones, which it then drives."""

    def __init__(self, hosted: Hosted, seconds: int | None) -> None:
        limit = DEFAULT_SECONDS if seconds is None else seconds
        self._hosted = hosted
        self._drives = hosted.pace.mode == "step" and seconds is not None
        self._began = (time.monotonic(), hosted.world.now())
        self._wall = time.monotonic() + limit
        self._virtual = hosted.world.now() + limit * SECOND
        self._over = False

    def reached(self) -> bool:
        """Whether the time is over."""
        return self._over or time.monotonic() >= self._wall

    async def rest(self, known: int) -> None:
        """Wait for something to happen; in step mode, make it happen."""
        if self._drives:
            # The client gets a moment to close the connection before time goes on.
            await self._hosted.bell.wait(0.002)
            if self._hosted.world.store.newest <= known:
                wall, virtual = self._began
                reach = virtual + int((time.monotonic() - wall) * STEP_SPEED * SECOND)
                over = self._hosted.pace.skip(min(reach, self._virtual))
                self._over = over and reach >= self._virtual
            self._hosted.announce()
            return
        await self._hosted.bell.wait(min(LOOK_SECONDS, max(0.0, self._wall - time.monotonic())))


def _expired(hosted: Hosted, known: int) -> status.StatusError | None:
    """The error of a watch that would begin before the oldest change that is kept."""
    oldest = hosted.world.store.oldest
    return status.gone(known, oldest) if known < oldest else None


async def _failed(error: status.StatusError) -> AsyncIterator[bytes]:
    yield _error(error)


def _error(error: status.StatusError) -> bytes:
    return orjson.dumps({"type": "ERROR", "object": error.status}) + b"\n"


def _portions(events: list[tuple[str, Manifest]]) -> Iterator[list[tuple[str, Manifest]]]:
    """Events in portions after each of which a slow client makes the server wait."""
    for start in range(0, len(events), PORTION):
        yield events[start : start + PORTION]


def _changes_since(newest_first: Iterator[Change], known: int) -> Iterator[Change]:
    fresh = []
    for change in newest_first:
        if change.revision <= known:
            break
        fresh.append(change)
    return reversed(fresh)


def _seen(hosted: Hosted, resource: Resource, obj: Manifest) -> Manifest | None:
    """A stored object in the version that is watched; None where it cannot be converted."""
    if not resource.custom:
        return lists.as_served(resource, obj)
    try:
        return conversions.presented(hosted.world, resource, obj)
    except status.StatusError:
        return None


def _event(hosted: Hosted, wanted: Wanted, change: Change) -> Iterator[tuple[str, Manifest]]:
    """What a change means to one watch: objects may come into and fall out of its selectors."""
    resource = wanted.resource
    if change.resource != resource.storage_key:
        return
    if wanted.where.namespace is not None and change.key[0] != wanted.where.namespace:
        return
    new = None if change.new is None else _seen(hosted, resource, change.new)
    old = None if change.old is None else _seen(hosted, resource, change.old)
    before = old is not None and wanted.matches(old)
    if new is not None and wanted.matches(new):
        if resource.key in ("nodes", "leases.coordination.k8s.io"):
            new = nodes.present(hosted.world, new)
        yield ("MODIFIED" if before else "ADDED"), new
    elif before:
        last = new if new is not None else old
        assert last is not None
        # With the revision of the deletion, from which a client that lost its connection goes on.
        yield "DELETED", {**last, "metadata": {**last["metadata"], "resourceVersion": str(change.revision)}}


def _lines(hosted: Hosted, wanted: Wanted, events: list[tuple[str, Manifest]], first: bool) -> bytes:
    out = []
    for type_, obj in events:
        out.append(b'{"type":"%b","object":%b}\n' % (type_.encode(), _shaped(hosted, wanted, obj, first)))
        first = False
    return b"".join(out)


def _shaped(hosted: Hosted, wanted: Wanted, obj: Manifest, first: bool) -> bytes:
    """The object of an event; many watches see the same one, which is encoded once."""
    encoder = hosted.encoder
    if wanted.shape == "table":
        metadata = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        made = table(
            wanted.resource,
            [obj],
            hosted.world.now(),
            include=wanted.include,
            definitions=first,
            metadata=metadata,
            embed=lists.embedding(encoder),
        )
        return encode(made)
    obj = lists.presented(wanted.resource, obj)
    if wanted.shape == "metadata":
        return encode(encoder.metadata(obj, partial))
    return encoder.whole(obj)


def _bookmark(
    hosted: Hosted, wanted: Wanted, revision: int, annotations: dict[str, str] | None = None
) -> bytes:
    metadata: Manifest = {"resourceVersion": str(revision), "creationTimestamp": None}
    if annotations:
        metadata["annotations"] = annotations
    resource = wanted.resource
    obj: Manifest = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    if wanted.shape == "metadata":
        obj = {**obj, "kind": "PartialObjectMetadata", "apiVersion": META}
    elif wanted.shape == "table":
        obj = {
            "kind": "Table",
            "apiVersion": META,
            "metadata": {"resourceVersion": str(revision)},
            "rows": [],
        }
    return orjson.dumps({"type": "BOOKMARK", "object": obj}) + b"\n"
