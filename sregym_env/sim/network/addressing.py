"""Who has which address: services, pods, machines and processes by IP, and where a client sits.

Indexes are derived from the store's sorted lists (:mod:`sregym_env.sim.world.derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import is_, is_not, itemgetter
from typing import Any, NamedTuple, TypeVar

from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import OfOnePod, ServiceRulesStuck
from sregym_env.kube.types import Manifest
from sregym_env.sim.network import conntrack, service_rules
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach
from sregym_env.sim.world.inquiry import Inquiry, Read
from sregym_env.sim.world.process import Process, ProcessKey
from sregym_env.sim.world.store import Key, Objects
from sregym_env.sim.world.strain import (
    NO_STRAINS,
    Ended,
    Strain,
    full_of,
    lacking_of,
    load_of,
    longest_wait,
    strain_of,
)

K = TypeVar("K")
V = TypeVar("V")

SLICES = "endpointslices.discovery.k8s.io"
_SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class NodeSource:
    """A client on a machine's own network: a kubelet, or a person logged in there.

    An empty ``node`` is a machine outside the cluster, which reaches nodes but neither pods nor ClusterIPs.
    """

    node: str = ""
    cluster_dns: bool = False
    """Whether it is set up to ask the cluster's DNS instead of the machine's own resolver."""


OUTSIDE = NodeSource()
"""A client that is no part of the cluster."""

Source = Process | NodeSource
"""Where a connection starts."""


class Endpoint(NamedTuple):
    """One address behind a Service port."""

    ip: str
    port: int
    """0 where the slice names no port."""
    node: str
    pod: str
    ready: bool
    serving: bool
    terminating: bool
    hostname: str


HostPort = tuple[str, int]
"""A pod's address and the port of its container."""


class Known(NamedTuple):
    """An answer of the network, and everything that was read for it: it holds while that reads the same."""

    answer: Any
    reads: Mapping[tuple[str, Any], Read]
    """By their first halves."""


class Past(NamedTuple):
    """What is known of earlier states of one ground, to which a world may come back: disturbances come and go."""

    ground: tuple[Any, ...]
    before: Mapping[Any, Known]
    seen_before: Mapping[tuple[str, Any], Read]


class Recent(NamedTuple):
    """What held in a state, and what may read otherwise in the next one."""

    cache: Mapping[Any, Known]
    changed: frozenset[Asked]


RECENT = 6
"""States whose changes are remembered one by one."""

PASTS = 2
"""Other grounds that are remembered."""


@dataclass(slots=True)
class Present:
    """What is derived from one state of a world (one ``epoch``)."""

    epoch: int
    running: list[Process]
    """Every process, and below what is derived from them."""
    by_pod: dict[str, list[Process]]
    by_node: dict[str, list[Process]]
    """Processes on the machines' own network, by node name."""
    pods: Objects
    by_ip: dict[str, Key]
    """Keys of the pods that have an address of their own."""
    slices: Objects
    manual: Objects
    """Endpoints, of which those are read whose Service has no slices."""
    volumes: dict[str, Any]
    """What is read of the world besides: how it was then."""
    app: App | None
    ground: tuple[Any, ...]
    """What any answer may depend on: while it stays equal, answers can outlive a change of the world."""
    naming: tuple[Any, ...]
    """What decides what the cluster's DNS says."""
    cache: dict[Any, Known]
    """Answers of the layers above that hold now, by their own keys; shared by forks while nothing happens, and with
    states that read the same."""
    before: Mapping[Any, Known]
    """Answers of earlier states of the same ground, which may still hold."""
    recent: tuple[Recent, ...]
    """Those that held in each of the last states, the latest first."""
    seen: dict[tuple[str, Any], Read]
    """What was read of this state, and of earlier ones where nothing has changed since."""
    seen_before: Mapping[tuple[str, Any], Read]
    """What was read of earlier ones: what says the same is the same value."""
    claimed: dict[tuple[str, int, str], HostPort] | None = None
    """What :func:`host_port` found out."""
    strains: Mapping[ProcessKey, Strain] = field(default_factory=lambda: NO_STRAINS)
    ended: tuple[Ended, ...] = ()
    """What load does."""
    struck: tuple[OfOnePod, ...] = ()
    """What strikes single pods."""
    short: tuple[Mapping[Any, Any], ...] = ()
    """Who has run out of ports, and who of file descriptors."""
    pasts: tuple[Past, ...] = ()
    """Other grounds, the latest first."""
    standing: Mapping[int, Held] = field(default_factory=dict)
    """What held when it was last looked at together (:class:`Standing`), by identity."""
    unsure: frozenset[Asked] | None = None
    """What may read otherwise since then; None where it could be anything."""
    found: dict[int, Reads] = field(default_factory=dict)
    """Readings that hold now (:func:`still`), by identity; shared as the answers are."""


Asked = tuple[str, Any]
"""What is read of a world: by which reader, and of what."""

Reads = tuple[Read, ...]


class Held(NamedTuple):
    """Readings that held, or somebody whose readings all did."""

    thing: object
    asked: frozenset[Asked]
    """What was read."""
    parts: tuple[tuple[int, Held], ...] = ()
    """Somebody's readings, one by one, by identity."""


_POLICIES = "networkpolicies.networking.k8s.io"

REMEMBERED = 4096
"""Answers of earlier states that are kept."""


def _ground(world: SimWorld) -> tuple[Any, ...]:
    """Resources whose every change may lead connections elsewhere (so lists are compared), the machines, and what strikes more than one
    pod."""
    store = world.store
    nodes = store.list("nodes")
    return (
        _selecting(store.list("services")),
        _machines(nodes),
        store.list("namespaces"),
        _selecting(store.list(_POLICIES)),
        [each for each in world.disturbances if not isinstance(each, OfOnePod)],
        [
            node["metadata"]["name"]
            for node in nodes
            if not reachable_machine(world, node["metadata"]["name"])
        ],
        [
            each.node
            for each in world.disturbances
            if isinstance(each, ServiceRulesStuck) and service_rules.left(world, each.node)
        ],
        conntrack.full_tables(world),
    )


_MARKS = frozenset(("annotations", "labels", "managedFields", "resourceVersion"))
"""What is written about a Service or a policy that leads no connection elsewhere: no selector asks for theirs."""


def _unmarked(objects: Objects) -> list[Any]:
    found: list[Any] = []
    for obj in objects:
        metadata = obj["metadata"]
        found.append({name: value for name, value in metadata.items() if name not in _MARKS})
        found.append({name: value for name, value in obj.items() if name != "metadata"})
    return found


_selecting = DerivedFrom(_unmarked)


def _built(nodes: Objects) -> list[Any]:
    """What of machines matters to connections and to what runs there: not who may be scheduled to them, or when they were last heard of."""
    found: list[Any] = []
    for node in nodes:
        status = node.get("status", {})
        found.append((node["metadata"]["name"], *(status.get(name) for name in _MAKE)))
    return found


_MAKE = ("addresses", "allocatable", "capacity")
_machines = DerivedFrom(_built)


def _naming(world: SimWorld, ground: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the cluster's DNS depends on: it outlives pods that come and go behind ordinary Services."""
    store = world.store
    headless = _headless(store.list("services"))
    return (
        ground,
        [
            _offered(piece)
            for service, pieces in _by_service(store.list(SLICES)).items()
            # The endpoints of the DNS server itself, and those that names lead to directly.
            if service[0] == "kube-system" or service in headless
            for piece in pieces
        ],
        [_wire(process) for process in world.processes.values() if "corefile" in process.state],
    )


def _shape(pod: Manifest | None) -> tuple[Any, ...] | None:
    """What of a pod matters to the network and to who counts it: not its conditions or container states."""
    if pod is None:
        return None
    metadata, status = pod["metadata"], pod.get("status", {})
    return (
        metadata["name"],
        metadata.get("namespace", ""),
        metadata.get("uid"),
        metadata.get("labels"),
        metadata.get("ownerReferences"),
        pod["spec"],
        status.get("podIP"),
        status.get("phase") in ("Succeeded", "Failed"),
    )


def _offered(piece: Manifest) -> tuple[Any, ...]:
    """What of a slice, or of Endpoints, matters to connections: not when or why it was written."""
    metadata = piece["metadata"]
    return (
        metadata.get("namespace", ""),
        metadata["name"],
        (metadata.get("labels") or {}).get(_SERVICE_LABEL),
        piece.get("endpoints"),
        piece.get("ports"),
        piece.get("subsets"),
    )


def _wire(process: Process) -> tuple[Any, ...]:
    """What of a process matters to connections."""
    return process.key, process.ip, process.listening, process.hostname, process.state.get("corefile")


def present(world: SimWorld) -> Present:
    """The derived view of the world as it is now."""
    known: Present | None = world.view
    if known is not None and known.epoch == world.epoch:
        return known
    world.view = fresh = _derived(world, known)
    return fresh


def _derived(world: SimWorld, known: Present | None) -> Present:
    """The view of the world now, made of what is still right in the one before."""
    store = world.store
    running, volumes = list(world.processes.values()), world.volumes.copy()
    pods, slices, manual = store.list("pods"), store.list(SLICES), store.list("endpoints")
    ground = _ground(world)
    if known is None or known.ground != ground:
        by_pod, by_node = _by_place(running)
        naming = _naming(world, ground)
        past, pasts = _other_ground(known, ground)
        return Present(
            world.epoch, running, by_pod, by_node, pods, _pods_by_ip(pods), slices, manual, volumes, world._app,
            ground, naming, {}, past.before, (), {}, past.seen_before, None, *load_of(world),
            _struck(world), (lacking_of(world), full_of(world)), pasts,
        )  # fmt: skip
    strains, ended = load_of(world)
    fresh = replace(
        known,
        epoch=world.epoch,
        running=running,
        pods=pods,
        slices=slices,
        manual=manual,
        volumes=volumes,
        app=world._app,
        strains=strains,
        ended=ended,
        struck=_struck(world),
        short=(lacking_of(world), full_of(world)),
    )
    changed = _changed(world, known, fresh)
    if changed:
        fresh.unsure = _doubted(known, changed)
        fresh.cache, fresh.before, fresh.found = {}, _merged(known.before, known.cache), {}
        # Which claims of ports are in doubt is known of what was seen alone.
        lasts = len(known.seen) < REMEMBERED
        fresh.recent = (Recent(known.cache, frozenset(changed)), *known.recent)[:RECENT] if lasts else ()
        fresh.seen = known.seen.copy() if lasts else {}
        unsure = {what: read for what in changed if (read := fresh.seen.pop(what, None)) is not None}
        fresh.seen_before = _merged(known.seen_before, unsure)
    return fresh


def _other_ground(known: Present | None, ground: tuple[Any, ...]) -> tuple[Past, tuple[Past, ...]]:
    """What is known of a ground from earlier, and of others."""
    nothing = Past(ground, {}, {})
    if known is None:
        return nothing, ()
    left = Past(known.ground, _merged(known.before, known.cache), _merged(known.seen_before, known.seen))
    found = next((past for past in known.pasts if past.ground == ground), nothing)
    return found, (left, *(past for past in known.pasts if past is not found))[:PASTS]


def _doubted(known: Present, changed: Sequence[Asked]) -> frozenset[Asked] | None:
    """What may read otherwise since readings were last looked at together, with what has changed now."""
    # What was forgotten of the past could have changed unnoticed.
    if known.unsure is None or max(len(known.unsure), len(known.seen)) >= REMEMBERED:
        return None
    return known.unsure.union(changed)


def _changed(world: SimWorld, known: Present, fresh: Present) -> list[tuple[str, Any]]:
    """What readers may say otherwise of the fresh state than of the known one, which stands on the same ground; what
    the fresh view derives is put right."""
    changed: list[tuple[str, Any]] = []
    moved = False
    for was, now in _differing(known.pods, fresh.pods):
        old, new = _shape(was), _shape(now)
        if old != new:
            moved = True
            for pod in (was, now):
                if pod is not None:
                    metadata = pod["metadata"]
                    changed.append(("pod", (metadata.get("namespace", ""), metadata["name"])))
                    changed.append(("address", pod.get("status", {}).get("podIP")))
    if moved:
        fresh.by_ip, fresh.claimed = _pods_by_ip(fresh.pods), None
        changed += [what for what in known.seen if what[0] == "port"]
    running = _exchanged(known.running, fresh.running)
    if running:
        fresh.by_pod, fresh.by_node = _by_place_again(known, running, fresh.running)
        changed.append(("offering", None))
        for process in running:
            changed.append(("process", process.key))
            changed.append(("processes", process.key[0]))
            if process.host_network:
                changed.append(("machine", process.node))
    pieces = [(was, now) for was, now in _differing(known.slices, fresh.slices) if not _alike(was, now)]
    for piece in (piece for pair in pieces for piece in pair if piece is not None):
        metadata = piece["metadata"]
        service = (metadata.get("labels") or {}).get(_SERVICE_LABEL, "")
        changed.append(("behind", (metadata.get("namespace", ""), service)))
    for was, now in _differing(known.manual, fresh.manual):
        if not _alike(was, now):
            metadata = (was or now or {})["metadata"]
            changed.append(("behind", (metadata.get("namespace", ""), metadata["name"])))
    if (running or pieces) and known.naming != (naming := _naming(world, known.ground)):
        fresh.naming = naming
        changed.append(("naming", None))
    if fresh.app is not known.app:
        changed.append(("app", None))
    if fresh.strains is not known.strains:
        for key in {**known.strains, **fresh.strains}:
            if known.strains.get(key) != fresh.strains.get(key):
                changed += (("strain", key), ("longest wait", key))
    if fresh.ended != known.ended:
        changed.append(("offered", None))
    if fresh.struck != known.struck:
        changed += {("strikes", (each.namespace, each.pod)): None for each in (*known.struck, *fresh.struck)}
    if fresh.short != known.short:
        changed += (("lacking", None), ("full", None))
    if not _same(known.volumes, fresh.volumes):
        changed += [("volume", name) for name in {**known.volumes, **fresh.volumes}]
    return changed


def _struck(world: SimWorld) -> tuple[OfOnePod, ...]:
    return tuple(each for each in world.disturbances if isinstance(each, OfOnePod))


def _by_place(running: list[Process]) -> tuple[dict[str, list[Process]], dict[str, list[Process]]]:
    """Processes by pod, and those on the machines' own network by node."""
    by_pod: dict[str, list[Process]] = {}
    by_node: dict[str, list[Process]] = {}
    for process in running:
        by_pod.setdefault(process.key[0], []).append(process)
        if process.host_network:
            by_node.setdefault(process.node, []).append(process)
    return by_pod, by_node


def _by_place_again(
    known: Present, exchanged: list[Process], running: list[Process]
) -> tuple[dict[str, list[Process]], dict[str, list[Process]]]:
    """The same, where only some processes are others."""
    if any(process.host_network for process in exchanged):
        return _by_place(running)
    by_pod = known.by_pod.copy()
    pods = {process.key[0] for process in exchanged}
    for pod in pods:
        by_pod.pop(pod, None)
    for process in running:
        if process.key[0] in pods:
            by_pod.setdefault(process.key[0], []).append(process)
    return by_pod, known.by_node


def _exchanged(before: list[V], now: list[V]) -> list[V]:
    """What is in one of two lists and not in the same place of the other."""
    if len(before) == len(now):
        return [each for pair in _pairs(before, now) for each in pair]
    was, is_now = set(map(id, before)), set(map(id, now))
    return [each for each in before if id(each) not in is_now] + [each for each in now if id(each) not in was]


def _differing(before: Objects, now: Objects) -> Iterable[tuple[Manifest | None, Manifest | None]]:
    """Objects that are not the very same any more, before and now."""
    if before is now:
        return ()
    if len(before) == len(now):
        pairs = _pairs(before, now)
        if all(_name(was) == _name(is_now) for was, is_now in pairs):
            return pairs
    found: dict[Key, tuple[Manifest | None, Manifest | None]] = {}
    was = set(map(id, before))
    is_now = set(map(id, now))
    for obj in before:
        if id(obj) not in is_now:
            found[_name(obj)] = (obj, None)
    for obj in now:
        if id(obj) not in was:
            key = _name(obj)
            found[key] = (found.get(key, (None, None))[0], obj)
    return found.values()


def _pairs(before: list[V], now: list[V]) -> list[tuple[V, V]]:
    """What is not the very same in the same place of two lists of one length."""
    return list(compress(zip(before, now, strict=True), map(is_not, before, now)))


def _name(obj: Manifest) -> Key:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _alike(was: Manifest | None, now: Manifest | None) -> bool:
    """Whether connections cannot tell one version of a slice, or of Endpoints, from another."""
    return was is not None and now is not None and _offered(was) == _offered(now)


def _same(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return (
        len(before) == len(now)
        and all(map(is_, before.values(), now.values()))
        and before.keys() == now.keys()
    )


def _merged(before: Mapping[K, V], now: Mapping[K, V]) -> Mapping[K, V]:
    if not before or len(before) >= REMEMBERED:
        return now
    merged = dict(before)
    merged.update(now)
    return merged


# --- answers that outlive a change -------------------------------------------------------------------------


def learned(world: SimWorld, key: Any, find: Callable[[], Any]) -> Any:
    """The answer to a question about the network, found anew only if something that was read for it has changed.

    ``find`` must change nothing.
    """
    view: Present | None = world.view
    if view is None or view.epoch != world.epoch:
        view = present(world)
    known = view.cache.get(key)
    if known is None:
        known = _known_to_hold(world, view, key)
        if known is None:
            with inquiring(world) as inquiry:
                answer = find()
            known = Known(answer, inquiry.reads)
            if inquiry.fleeting:
                if world.inquiry is not None:
                    world.inquiry.fleeting = True
                    world.inquiry.chanced |= inquiry.chanced
                return answer
        view.cache[key] = known
    if world.inquiry is not None:
        world.inquiry.reads.update(known.reads)
    return known.answer


def _known_to_hold(world: SimWorld, view: Present, key: Any) -> Known | None:
    """The answer of an earlier state, if it is right now, too."""
    since: list[frozenset[Asked]] = []
    for cache, changed in view.recent:
        since.append(changed)
        known = cache.get(key)
        if known is not None:
            if all(map(known.reads.keys().isdisjoint, since)):
                return known
            break
    else:
        known = view.before.get(key)
    return known if known is not None and holds(world, known.reads.values()) else None


@contextmanager
def inquiring(world: SimWorld) -> Iterator[Inquiry]:
    """Have everything noted that is read of the world meanwhile."""
    outer, world.inquiry = world.inquiry, Inquiry()
    try:
        # Who keeps an answer for longer than its ground stands must see it go.
        note(world, "ground")
        yield world.inquiry
    finally:
        world.inquiry = outer


def holds(world: SimWorld, reads: Collection[Read]) -> bool:
    """Whether everything still reads the same."""
    seen = present(world).seen
    # Of the thousand things behind an answer nearly all are the very same, and are passed over without a word of Python.
    for read in compress(reads, map(is_not, map(seen.get, map(_ASKED, reads)), reads)):
        now = seen.get(read[0]) or _read(world, read[0])
        if now is not read and now[1] != read[1]:
            return False
    return True


def still(world: SimWorld, reads: Reads) -> bool:
    """The same of readings that somebody keeps: while nothing happens they are looked at once."""
    found = present(world).found
    if found.get(id(reads)) is not reads:
        if not holds(world, reads):
            return False
        found[id(reads)] = reads
    return True


_ASKED: Callable[[Read], Asked] = itemgetter(0)
"""What was asked for a reading."""


class Standing:
    """Many readings that are looked at again and again: of those that held the last time only what may read otherwise since."""

    __slots__ = ("_before", "_held", "_unsure", "_world")

    def __init__(self, world: SimWorld) -> None:
        view = present(world)
        self._world = world
        self._before, self._unsure = view.standing, view.unsure
        self._held: dict[int, Held] = {}

    def holds(self, reads: Reads) -> bool:
        """Whether all of them still say the same."""
        known = self._known(reads)
        sure = known is not None and self._unsure is not None and self._unsure.isdisjoint(known.asked)
        if not sure and not holds(self._world, reads):
            return False
        self._held[id(reads)] = known or Held(reads, frozenset(map(_ASKED, reads)))
        return True

    def _known(self, thing: object) -> Held | None:
        """What is known of it from the time before."""
        known = self._before.get(id(thing))
        return known if known is not None and known.thing is thing else None

    def doubted(self, owners: Iterable[V]) -> list[V]:
        """Those of whose readings (:meth:`held`) some may read otherwise since they all held, or of whom nothing is known."""
        before, unsure, held = self._before, self._unsure, self._held
        if unsure is None:
            return list(owners)
        found = []
        for owner in owners:
            known = before.get(id(owner))
            if known is None or known.thing is not owner or not unsure.isdisjoint(known.asked):
                found.append(owner)
            else:
                held[id(owner)] = known
                held.update(known.parts)
        return found

    def held(self, owner: object, readings: Collection[Reads]) -> None:
        """Remember that all these held, which are all that matters of somebody who never changes."""
        parts = tuple((id(reads), self._held[id(reads)]) for reads in readings)
        known = self._known(owner)
        if known is None or known.parts != parts:
            known = Held(owner, frozenset[Asked]().union(*(part.asked for _, part in parts)), parts)
        self._held[id(owner)] = known

    def keep(self) -> None:
        """Remember what held. Nothing may have been changed since the beginning."""
        self._world.view = replace(present(self._world), standing=self._held, unsure=frozenset())


def note(world: SimWorld, how: str, of: Any = None) -> None:
    """Note that an answer depends on what this reader says of something: a process, a volume, the ``ground`` ..."""
    if world.inquiry is not None:
        what = (how, of)
        view: Present | None = world.view
        if view is None or view.epoch != world.epoch:
            view = present(world)
        world.inquiry.reads[what] = view.seen.get(what) or _read(world, what)


def _read(world: SimWorld, what: tuple[str, Any]) -> Read:
    """What a reader says now: the very same value as in the state before where it says the same."""
    view = present(world)
    how, of = what
    read = (what, _READERS[how](world, of))
    before = view.seen_before.get(what)
    if before is not None and before[1] == read[1]:
        read = before
    view.seen[what] = read
    return read


def _at(world: SimWorld, ip: str) -> Manifest | None:
    key = present(world).by_ip.get(ip)
    return None if key is None else world.store.get("pods", *key)


def _behind(world: SimWorld, service: Key) -> list[tuple[Any, ...]]:
    """The slices of a Service, or, where there are none, its Endpoints."""
    slices = _by_service(world.store.list(SLICES)).get(service)
    if slices:
        return [_offered(piece) for piece in slices]
    manual = world.store.get("endpoints", *service)
    return [] if manual is None else [_offered(manual)]


def _offering(world: SimWorld) -> list[Process]:
    """The processes that make requests of their own accord."""
    return [each for each in world.processes.values() if hasattr(world.programs[each.program], "offers")]


def _declared(world: SimWorld) -> tuple[Any, ...]:
    """What the application is made of and where: what its manifests say is read where it takes effect."""
    app = world._app
    if app is None:
        return ()
    return (app.namespaces, app.components, [(part.namespaces, part.components) for part in app.parts])


_READERS: Mapping[str, Callable[[SimWorld, Any], Any]] = {
    "pod": lambda world, key: _shape(world.store.get("pods", *key)),
    "address": lambda world, ip: _shape(_at(world, ip)),
    "processes": lambda world, uid: [_wire(each) for each in present(world).by_pod.get(uid, ())],
    "machine": lambda world, node: [_wire(each) for each in present(world).by_node.get(node, ())],
    "behind": _behind,
    "port": lambda world, slot: _claimed(world).get(slot),
    "naming": lambda world, _: present(world).naming,
    "ground": lambda world, _: present(world).ground,
    "app": lambda world, _: _declared(world),
    "offering": lambda world, _: _offering(world),
    "process": lambda world, key: world.processes.get(key),
    "volume": lambda world, name: world.volumes.get(name),
    "strain": strain_of,
    "longest wait": longest_wait,
    "full": lambda world, _: full_of(world),
    "lacking": lambda world, _: lacking_of(world),
    "offered": lambda world, _: load_of(world)[1],
    "strikes": lambda world, pod: [
        each for each in present(world).struck if (each.namespace, each.pod) == pod
    ],
}
"""What answers are made of, apart from the ground they stand on."""


def _services_by_ip(services: list[Manifest]) -> dict[str, Manifest]:
    found: dict[str, Manifest] = {}
    for service in services:
        spec = service["spec"]
        for ip in spec.get("clusterIPs") or (spec.get("clusterIP"),):
            if ip and ip != "None":
                found[ip] = service
        for ip in spec.get("externalIPs", ()):
            found.setdefault(ip, service)
        for ingress in service.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                found.setdefault(ingress["ip"], service)
    return found


def _node_ports(services: list[Manifest]) -> dict[int, tuple[Manifest, Manifest]]:
    return {
        port["nodePort"]: (service, port)
        for service in services
        if service["spec"].get("type") in ("NodePort", "LoadBalancer")
        for port in service["spec"].get("ports", ())
        if port.get("nodePort")
    }


def _host_ports(pods: Objects) -> dict[tuple[str, int, str], HostPort]:
    """What the CNI's port mapping forwards: (node, port, protocol) to a pod that has claimed it."""
    found: dict[tuple[str, int, str], HostPort] = {}
    for pod in pods:
        spec, status = pod["spec"], pod.get("status", {})
        address = status.get("podIP")
        if not address or spec.get("hostNetwork") or status.get("phase") in ("Succeeded", "Failed"):
            continue
        for container in spec["containers"]:
            for port in container.get("ports") or ():
                if port.get("hostPort"):
                    slot = (spec.get("nodeName", ""), port["hostPort"], port.get("protocol", "TCP"))
                    found[slot] = (address, port["containerPort"])
    return found


def host_port(world: SimWorld, node: str, port: int, protocol: str) -> HostPort | None:
    """Where a node forwards a port that a pod there has claimed with ``hostPort``, or None."""
    note(world, "port", (node, port, protocol))
    return _claimed(world).get((node, port, protocol))


def _claimed(world: SimWorld) -> dict[tuple[str, int, str], HostPort]:
    view = present(world)
    if view.claimed is None:
        view.claimed = _host_ports(view.pods)
    return view.claimed


def _pods_by_ip(pods: Objects) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for pod in pods:
        status = pod.get("status", {})
        ip = status.get("podIP")
        # A pod on the machine's network has the machine's address, which leads to the machine.
        if ip and not pod["spec"].get("hostNetwork") and status.get("phase") not in ("Succeeded", "Failed"):
            found[ip] = (pod["metadata"].get("namespace", ""), pod["metadata"]["name"])
    return found


def _nodes_by_ip(nodes: list[Manifest]) -> dict[str, str]:
    return {
        address["address"]: node["metadata"]["name"]
        for node in nodes
        for address in node.get("status", {}).get("addresses", ())
        if address.get("type") in ("InternalIP", "ExternalIP")
    }


def _slices_by_service(slices: list[Manifest]) -> dict[tuple[str, str], list[Manifest]]:
    found: dict[tuple[str, str], list[Manifest]] = {}
    for piece in slices:
        metadata = piece["metadata"]
        name = metadata.get("labels", {}).get(_SERVICE_LABEL)
        if name:
            found.setdefault((metadata.get("namespace", ""), name), []).append(piece)
    return found


def _headless_of(services: list[Manifest]) -> frozenset[Key]:
    """Keys of the Services whose names lead straight to their pods."""
    return frozenset(
        (service["metadata"]["namespace"], service["metadata"]["name"])
        for service in services
        if service["spec"].get("clusterIP") == "None"
    )


_headless = DerivedFrom(_headless_of)
_by_cluster_ip = DerivedFrom(_services_by_ip)
_by_node_port = DerivedFrom(_node_ports)
_by_node_ip = DerivedFrom(_nodes_by_ip)
_by_service = DerivedFrom(_slices_by_service)


def service_at(world: SimWorld, ip: str) -> Manifest | None:
    """The Service that has this ClusterIP, external IP or load balancer IP."""
    return _by_cluster_ip(world.store.list("services")).get(ip)


def node_port(world: SimWorld, port: int) -> tuple[Manifest, Manifest] | None:
    """The Service and its port entry behind a node port."""
    return _by_node_port(world.store.list("services")).get(port)


def pod_at(world: SimWorld, ip: str) -> Manifest | None:
    """The pod that has this address now."""
    note(world, "address", ip)
    return _at(world, ip)


def node_at(world: SimWorld, ip: str) -> str | None:
    """Name of the node that has this address."""
    return _by_node_ip(world.store.list("nodes")).get(ip)


def node_address(world: SimWorld, node: str) -> str:
    """The internal address of a node, or an empty string."""
    for ip, name in _by_node_ip(world.store.list("nodes")).items():
        if name == node:
            return ip
    return ""


def pod_of(world: SimWorld, process: Process) -> Manifest | None:
    """The pod object a process belongs to, if it is still there."""
    note(world, "pod", (process.namespace, process.pod))
    pod = world.store.get("pods", process.namespace, process.pod)
    return pod if pod is not None and pod["metadata"].get("uid") == process.key[0] else None


def pod_processes(world: SimWorld, uid: str) -> list[Process]:
    """Running processes of a pod."""
    note(world, "processes", uid)
    return present(world).by_pod.get(uid, [])


def machine_processes(world: SimWorld, node: str) -> list[Process]:
    """Running processes on a machine's own network."""
    note(world, "machine", node)
    return present(world).by_node.get(node, [])


def source_key(source: Source) -> ProcessKey:
    """What identifies a client in caches."""
    if isinstance(source, Process):
        return source.key
    return ("workstation" if source.cluster_dns else "", source.node)


def source_ip(world: SimWorld, source: Source) -> str:
    """The address a client's packets carry."""
    return source.ip if isinstance(source, Process) else node_address(world, source.node)


def endpoints(
    world: SimWorld, namespace: str, service: str, port: Manifest | None = None, *, node: str = ""
) -> list[Endpoint]:
    """Everything behind a Service: all addresses, or those that have the given Service port.

    EndpointSlices are read; a Service without any (one without a selector whose Endpoints are kept by hand)
    is read from its Endpoints. With a ``node`` it is what the rules of that machine say of it.
    """
    note(world, "behind", (namespace, service))
    slices: Sequence[Manifest] | None = _by_service(world.store.list(SLICES)).get((namespace, service))
    if node and world.disturbances and (old := service_rules.left(world, node)) is not None:
        slices = old.slices.get((namespace, service))
    if slices:
        name = None if port is None else port.get("name", "")
        return [endpoint for piece in slices for endpoint in _by_port(piece).get(name, ())]
    manual = world.store.get("endpoints", namespace, service)
    return [] if manual is None else _manual_endpoints(manual, port)


def forwarded(world: SimWorld, node: str, namespace: str, service: str) -> bool:
    """Whether a machine has rules for a Service at all: without any its address leads out of the cluster."""
    old = service_rules.left(world, node) if node and world.disturbances else None
    return old is None or (namespace, service) in old.services


def _ports_of(piece: Manifest) -> dict[str | None, list[Endpoint]]:
    """The endpoints of a slice by the name of the Service port; under None those without a port."""
    found: dict[str | None, list[Endpoint]] = {None: _slice_endpoints(piece, 0)}
    for port in piece.get("ports") or ():
        name = port.get("name") or ""
        if name not in found and port.get("port") is not None:
            found[name] = _slice_endpoints(piece, int(port["port"]))
    return found


_by_port = DerivedFromEach(_ports_of)


def _slice_endpoints(piece: Manifest, port: int) -> list[Endpoint]:
    found = []
    for entry in piece.get("endpoints") or ():
        conditions = entry.get("conditions") or {}
        # The API asks consumers to take an unknown condition for true.
        ready = conditions.get("ready") is not False
        target = entry.get("targetRef") or {}
        for ip in entry.get("addresses") or ():
            found.append(
                Endpoint(
                    ip=ip,
                    port=port,
                    node=entry.get("nodeName", ""),
                    pod=target.get("name", ""),
                    ready=ready,
                    serving=conditions.get("serving", ready) is not False,
                    terminating=bool(conditions.get("terminating")),
                    hostname=entry.get("hostname", ""),
                )
            )
    return found


def _manual_endpoints(manual: Manifest, port: Manifest | None) -> list[Endpoint]:
    found = []
    for subset in manual.get("subsets") or ():
        number = 0
        if port is not None:
            name = port.get("name", "")
            numbers = [p["port"] for p in subset.get("ports", ()) if p.get("name", "") == name]
            if not numbers:
                continue
            number = numbers[0]
        for entry in subset.get("addresses") or ():
            target = entry.get("targetRef") or {}
            found.append(
                Endpoint(
                    ip=entry["ip"],
                    port=number,
                    node=entry.get("nodeName", ""),
                    pod=target.get("name", ""),
                    ready=True,
                    serving=True,
                    terminating=False,
                    hostname=entry.get("hostname", ""),
                )
            )
    return found


def usable(found: list[Endpoint]) -> list[Endpoint]:
    """Endpoints that kube-proxy sends traffic to: the ready ones, else terminating ones that still serve."""
    ready = [endpoint for endpoint in found if endpoint.ready]
    return ready or [endpoint for endpoint in found if endpoint.serving and endpoint.terminating]


def reachable_machine(world: SimWorld, node: str) -> bool:
    """Whether a machine's network works.

    A machine that is off (``world.memory["node.off:<name>"]``) reaches nobody. One whose kubelet alone is
    stopped (``node.down:<name>``) still serves from its pods.
    """
    return not world.memory.get(f"node.off:{node}")
