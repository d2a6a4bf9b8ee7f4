"""Whether the data is there: what databases hold, and what it lies on.

Asked of the databases themselves, through the API, as an administrator would ask them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sregym_env.cluster.api import World
from sregym_env.cluster.app import Component
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED
from sregym_env.errors import ClusterError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.objects import Objects, containers, pod_spec, shown, template
from sregym_env.rewards.verdict import Check


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds."""

    collections: Mapping[str, tuple[int, str]]
    """By collection: how many entries it has, and the identifier of the first one, which a copy keeps and a new one has
    not."""
    sums: Mapping[str, str] = field(default_factory=dict)
    """By collection: a hash of all that stands in it."""
    masters: frozenset[str] = frozenset()
    """Accounts that may do anything."""
    accounts: frozenset[str] = frozenset()
    """Accounts with rights over more than one database."""
    databases: frozenset[str] = frozenset()
    """Names of what it is divided into."""


LISTING = (
    "db.getCollectionNames().forEach(function(c){"
    "print('has',db.getCollection(c).count(),c,tojson(db.getCollection(c).findOne({},{_id:1})))});"
    "print('sums',tojson(db.runCommand({dbHash:1}).collections))"
)
DATABASES = "print('are',tojson(db.adminCommand({listDatabases:1}).databases))"
ACCOUNTS = (
    "db.getSiblingDB('admin').getUsers().forEach(function(u){"
    "u.roles.forEach(function(r){print('may',r.role,r.db,u.user)})})"
)

_ENTRY = re.compile(r'^has (\d+) (\S+) (?:null|\{\s*"_id" : ([^\n}]*))', re.MULTILINE)

_MASTER = re.compile(r"^may (?:root|__system|dbOwner|clusterAdmin) admin (\S+)", re.MULTILINE)

_SUMS = re.compile(r"^sums \{([^}]*)\}", re.MULTILINE)

_SUM = re.compile(r'"([^"\n]+)" : "([0-9a-f]{32})"')

_EVERYWHERE = re.compile(
    r"^may (?:\w+AnyDatabase|root|__system|dbOwner|cluster\w+|backup|restore) admin (\S+)", re.MULTILINE
)
"""Who has rights of which each leads to all others, or to the data of all databases."""

_DATABASES = re.compile(r"^are \[([^\]]*)\]", re.MULTILINE)

_DATABASE = re.compile(r'"name" : "([^"\n]+)"')

_PLACE = re.compile(r"^--?(?:dbpath|data-?dir|datadir|dir|storageEngine)(?:=(.*))?$")
"""Arguments that say where, or whether, a program keeps its data."""


def contents(world: World) -> dict[str, Contents]:
    """What each database of the application holds now, as far as one can be asked."""
    found = {}
    for component in world.app.components:
        if component.database:
            held = _held(world, component)
            if held is not None:
                found[component.name] = held
    return found


def met(world: World, kept: Mapping[str, Contents], databases: Collection[str]) -> dict[str, Contents]:
    """What databases held, with the accounts that the agent finds there besides: those of ``databases``, which a fault has
    talked to, are its own and nobody's way in."""
    found = dict(kept)
    for name in databases:
        now = _held(world, world.app.by_name[name]) if name in kept else None
        if now is not None:
            found[name] = replace(kept[name], accounts=kept[name].accounts | now.accounts)
    return found


def _held(world: World, component: Component) -> Contents | None:
    """Entries by collection; None where the database does not answer."""
    command, script = ["mongo", component.database, "--quiet"], f"{LISTING};{DATABASES}"
    if component.accounts:
        account = component.accounts[-1]
        command += ["-u", account.user, "-p", account.password, "--authenticationDatabase", "admin"]
        script = f"{script};{ACCOUNTS}"
    namespace = world.app.namespace_of(component.name)
    for pod in _running(world, component, namespace):
        try:
            result = world.cluster.exec(
                namespace, pod, [*command, "--eval", script], container=component.container
            )
        except (StatusError, ClusterError):
            continue
        if result.exit_code == 0:
            entries = _ENTRY.findall(result.text)
            held = {name: (int(count), first.strip()) for count, name, first in entries}
            masters = frozenset(_MASTER.findall(result.text))
            accounts = frozenset(_EVERYWHERE.findall(result.text))
            found = _SUMS.search(result.text)
            sums = dict(_SUM.findall(found[1])) if found else {}
            # Not everybody may ask for their names.
            listed = _DATABASES.search(result.text)
            databases = frozenset(_DATABASE.findall(listed[1])) if listed else frozenset()
            return Contents(held, sums, masters, accounts, databases)
    return None


def _running(world: World, component: Component, namespace: str) -> Iterator[str]:
    """Names of the component's pods whose database runs."""
    try:
        workload = world.cluster.get(component.workload, component.name, namespace)
    except StatusError:
        return
    labels = workload["spec"]["selector"]["matchLabels"].items()
    for pod in world.cluster.list("pods", namespace):
        if (
            labels <= (pod["metadata"].get("labels") or {}).items()
            and "deletionTimestamp" not in pod["metadata"]
        ):
            for status in (pod.get("status") or {}).get("containerStatuses") or ():
                if status["name"] == component.container and "running" in (status.get("state") or {}):
                    yield pod["metadata"]["name"]


def missing(
    world: World,
    kept: Mapping[str, Contents],
    now: Mapping[str, Contents],
    accepted: Collection[ObjectKey],
    well: bool,
    earlier: Mapping[str, Contents] | None = None,
) -> list[str]:
    """Of what databases ``kept``: collections that are gone, smaller or others under their names ``now``; and new masters
    over it.

    Databases that cannot be asked are told where all is ``well`` otherwise. Where a repair may make a claim anew, its data
    may be as well. ``earlier`` is what they held some minutes ago: what users change all the time is not compared entry by
    entry, and without it nothing is.
    """
    lost = []
    earlier = earlier or {}
    owners = {each.database: each.name for each in world.app.components if each.database}
    for name, held in kept.items():
        left = now.get(name)
        if left is None:
            lost.extend([f"{name}: cannot be asked what it holds"] if well else [])
            continue
        claim = ("persistentvolumeclaims", world.app.namespace_of(name), world.app.by_name[name].volume)
        for collection, (count, first) in held.collections.items():
            entries, found = left.collections.get(collection, (0, ""))
            if entries < count:
                lost.append(f"{name}: {collection} has {entries} of {count} entries")
            elif found != first and count and claim not in accepted:
                lost.append(f"{name}: {collection} is another one, its data is gone")
            elif (
                entries == count
                and claim not in accepted
                and _altered(collection, held, left, earlier.get(name))
            ):
                lost.append(f"{name}: what stands in {collection} is not what stood there")
        lost.extend(f"{name}: {user} may do anything now" for user in sorted(left.masters - held.masters))
        # Rights over all databases that somebody had are theirs; a new account with them is a way in.
        lost.extend(
            f"{name}: {user} is new and has rights everywhere"
            for user in sorted(left.accounts - held.accounts - left.masters)
        )
        # Whoever finds an empty database fills it, and serves from it: the users' own is elsewhere.
        lost.extend(
            f"{name}: holds {owners[database]}'s {database}"
            for database in sorted(left.databases - held.databases)
            if owners.get(database, name) != name
        )
    return lost


def _altered(collection: str, held: Contents, left: Contents, earlier: Contents | None) -> bool:
    """Whether a collection in which nothing moves is not what it was."""
    then, now = held.sums.get(collection), left.sums.get(collection)
    before = None if earlier is None else earlier.sums.get(collection)
    return then is not None and now is not None and then != now == before


def data(
    world: World,
    then: Objects,
    now: Objects,
    kept: Mapping[str, Contents],
    held: Mapping[str, Contents],
    accepted: Collection[ObjectKey] = (),
    well: bool = True,
    astray: Iterable[str] = (),
) -> Check:
    """Volumes were not thrown away, everybody mounts the ones that it mounted ``then``, and what databases ``kept`` is in
    what they ``held`` a moment ago. ``astray`` are components that turn to another's data."""
    lost = [*astray]
    for key, before in then.items():
        obj = now.get(key)
        if obj is None or obj is before:
            continue
        if key[0] == "persistentvolumeclaims" and key not in accepted:
            if obj["metadata"].get("uid") != before["metadata"].get("uid"):
                lost.append(f"persistentvolumeclaim/{key[2]}: another one, its data is gone")
        elif before.get("spec") is not obj.get("spec") and template(before) is not None:
            lost.extend(f"{key[2]}: {what}" for what in _displaced(key[1], before, obj, now, then, accepted))
    lost.extend(_stores(world, then, now))
    lost.extend(missing(world, kept, held, accepted, well))
    return Check(
        "data",
        not lost,
        shown(lost) or "kept",
        "the data is there, on the volumes that hold it",
        complaints=tuple(lost),
    )


def _displaced(
    namespace: str,
    before: Manifest,
    now: Manifest,
    objects: Objects,
    old: Objects,
    accepted: Collection[ObjectKey],
) -> Iterator[str]:
    """Places of persistent data that are no longer, or no longer persistent."""
    present = containers(pod_spec(now))
    for name, container in containers(pod_spec(before)).items():
        other = present.get(name)
        if other is None:
            continue
        there = _mounted(now, other)
        kept = _mounted(before, container)
        for path, volume in kept.items():
            claim = _claim(volume)
            if not claim:
                continue
            found = there.get(path, {})
            other_claim = _claim(found)
            if not other_claim:
                kind = next((kind for kind in found if kind not in ("name", "subPath")), "nothing")
                yield f"{path} lies on {kind} instead of the claim {claim}"
            elif claim != other_claim and ("persistentvolumeclaims", namespace, other_claim) not in objects:
                yield f"{path} lies on the claim {other_claim}, which does not exist"
            elif not _same_volume(namespace, claim, other_claim, objects, old, accepted):
                yield f"{path} lies on the claim {other_claim}, which does not hold what {claim} holds"
            elif found.get("subPath") != volume.get("subPath"):
                yield f"{path} lies at another place of its volume"
        if any(map(_claim, kept.values())) and list(_places(container)) != list(_places(other)):
            yield f"{name} keeps its data at {', '.join(_places(other)) or 'its usual place'}"


def _same_volume(
    namespace: str, claim: str, other: str, objects: Objects, old: Objects, accepted: Collection[ObjectKey]
) -> bool:
    """Whether two claims are of one volume, or a new one is what a repair may make."""
    key = ("persistentvolumeclaims", namespace, claim)
    if claim == other or key in accepted:
        return True
    volume = ((old.get(key) or {}).get("spec") or {}).get("volumeName")
    now = objects.get(("persistentvolumeclaims", namespace, other)) or {}
    return bool(volume) and (now.get("spec") or {}).get("volumeName") == volume


def _claim(volume: Manifest) -> str:
    name: str = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
    return name


def _mounted(workload: Manifest, container: Manifest) -> dict[str, Manifest]:
    """Volumes by where they are mounted; a StatefulSet's own claims bear the names of their templates."""
    volumes: dict[str, Manifest] = {
        claim["metadata"]["name"]: {"persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
        for claim in workload["spec"].get("volumeClaimTemplates") or ()
    }
    volumes |= {volume["name"]: volume for volume in pod_spec(workload).get("volumes") or ()}
    return {
        mount["mountPath"].rstrip("/"): {
            **volumes.get(mount["name"], {}),
            "subPath": mount.get("subPath", ""),
        }
        for mount in container.get("volumeMounts") or ()
    }


def _places(container: Manifest) -> Iterator[str]:
    words: Sequence[str] = [*(container.get("command") or ()), *(container.get("args") or ())]
    for word, following in zip(words, [*words[1:], ""], strict=False):
        match = _PLACE.match(word)
        if match:
            yield f"{word.partition('=')[0]} {match[1] if match[1] is not None else following}"


def _stores(world: World, then: Objects, now: Objects) -> Iterator[str]:
    """Who lies on a volume that was not its own: two programs spoil each other's files, and a cache's are not looked after."""
    app = world.app
    caches = {app.workload_of(each.name)[1:] for each in app.components if each.kind in _CACHES}
    for key, obj in now.items():
        before = then.get(key)
        if key[0] not in ROLLED or before is None or before is obj or before.get("spec") is obj.get("spec"):
            continue
        had = {_claim(volume) for volume in pod_spec(before).get("volumes") or ()}
        if had - {""} and key[0] == "deployments.apps" and _count(obj) > max(1, _count(before)):
            yield f"{key[2]}: {_count(obj)} pods lie on one volume"
        has = {_claim(volume) for volume in pod_spec(obj).get("volumes") or ()}
        for claim in sorted(has - had - {""}):
            owned = ("persistentvolumeclaims", key[1], claim) in then
            if key[1:] in caches or (owned and _needed(then, key, claim)):
                yield f"{key[2]}: lies on the claim {claim}, which is not its own"


def _count(workload: Manifest) -> int:
    return int(workload["spec"].get("replicas", 1) or 0)


def _needed(then: Objects, key: ObjectKey, claim: str) -> bool:
    """Whether another workload lies on a claim."""
    return any(
        other != key and other[1] == key[1] and claim in map(_claim, pod_spec(obj).get("volumes") or ())
        for other, obj in then.items()
        if other[0] in ROLLED
    )


_CACHES = ("memcached", "redis")
"""Kinds of components whose contents may be lost at any time."""
