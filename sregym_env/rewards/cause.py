"""Whether the cause is gone: the wrong values that a fault has put into objects no longer take effect.

It follows from the declaration. A wrong value that is no longer there takes no effect. One that is still there may be
harmless, because what it asks for exists by now or something else outweighs it: then the users are served, every pod
comes up by it, and that lasts. Some values are never harmless as long as they stand, for what they harm does not show at once: a probe
that asks where nobody answers (of one that asks the right server only the timing can be wrong), a name that is sent astray, a limit that starves, a node that takes no pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.apply import execute
from sregym_env.cluster.edits import REMOVED
from sregym_env.cluster.targets import ROLLED
from sregym_env.errors import ClusterError
from sregym_env.faults.traces import Wrong
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.checks import current
from sregym_env.rewards.objects import Objects, containers, named, pod_spec, shown, sources, template
from sregym_env.rewards.probing import finds
from sregym_env.rewards.verdict import Check

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

_TIMING = frozenset(
    ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold", "successThreshold",
     "terminationGracePeriodSeconds")
)  # fmt: skip
"""Settings of a probe that change when it fails and not what it asks."""

_MISSING = object()

_EMPTY: tuple[Any, ...] = (None, "", [], {}, ())


def gone(world: World, then: Objects, wrongs: Sequence[Wrong], well: bool, name: str = "cause") -> Check:
    """Whether the wrong values of one fault no longer take effect; where it has left none in objects, what it did shows
    in how the users fare alone.

    ``then`` are the healthy system's objects, ``well`` says that the users are served and every workload is available.
    Values of one fault on nodes hurt each by itself; other values of one fault hurt together, so that it is over when
    one of them is gone.
    """
    groups = _groups([wrong for wrong in wrongs if not _is_note(wrong)])
    if not groups:
        observed = "it takes no effect" if well else "what it broke is broken still"
        return Check(name, well, observed, "what it broke works again", weight=2.0)
    standing = [group for group in groups if all(_stands(world, then, wrong) for wrong in group)]
    harmful = [group for group in standing if not _is_harmless(world, then, group, well)]
    lines = [_told(group[0]) for group in harmful]
    told = "; ".join(_told(group[0]) for group in groups[:1])
    observed = shown(lines) or ("it takes no effect" if standing else "it is gone")
    return Check(
        name,
        not harmful,
        observed,
        f"no longer in force: {told}",
        weight=2.0,
        share=1.0 - len(harmful) / len(groups),
    )


def _groups(wrongs: Sequence[Wrong]) -> list[list[Wrong]]:
    nodes = [[wrong] for wrong in wrongs if wrong.key[0] == "nodes"]
    others = [wrong for wrong in wrongs if wrong.key[0] != "nodes"]
    return [*nodes, *([others] if others else [])]


def _is_note(wrong: Wrong) -> bool:
    """Whether a value is only something for people to read, or only says how soon another one bites."""
    return wrong.pointer.startswith("/metadata/annotations") or wrong.pointer.rpartition("/")[2] in _TIMING


def _told(wrong: Wrong) -> str:
    if wrong.works:
        return f"{wrong.key[2]}: what its clients may do there"
    field = " ".join(part for part in _parts(wrong.pointer) if not part.isdigit() and part not in _PLAIN)
    return f"{named(wrong.key)}: {field or 'missing'}" if field or not wrong.pointer else named(wrong.key)


_PLAIN = ("spec", "template", "containers", "-")


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


# --- whether it stands there ------------------------------------------------------------------------


def _stands(world: World, then: Objects, wrong: Wrong) -> bool:
    """Whether the wrong value is there still."""
    if wrong.works:
        return not _works(world, wrong)
    now = current(world, wrong.key)
    if now is None or not wrong.pointer:
        return now is None and not wrong.pointer
    before = then.get(wrong.key)
    found = _at(now, before, _parts(wrong.pointer))
    if wrong.value is REMOVED:
        return found is _MISSING
    if wrong.inside:
        return isinstance(found, str) and _plain(str(wrong.value)) in _plain(found)
    healthy = _MISSING if before is None else _at(before, before, _parts(wrong.pointer))
    if wrong.pointer.endswith("/-"):
        return isinstance(found, list) and any(_contains(each, wrong.value, _MISSING) for each in found)
    return _contains(found, wrong.value, healthy)


def _works(world: World, wrong: Wrong) -> bool:
    """Whether a command that the wrong value makes fail succeeds in the component's pods."""
    try:
        execute(world, wrong.key[2], wrong.works, patience=0.0)
    except (StatusError, ClusterError):
        return False
    return True


def _plain(text: str) -> str:
    """A text without what only sets it out."""
    return " ".join(text.split())


def _at(obj: Any, before: Any, parts: Sequence[str]) -> Any:
    """The value at a pointer that was made for the object as it was ``before``: items of lists are found by name."""
    for part in parts:
        if part == "-":
            return obj
        if isinstance(obj, list):
            item = before[int(part)] if isinstance(before, list) and int(part) < len(before) else None
            name = item.get("name") if isinstance(item, Mapping) else None
            if name is not None:
                obj = next((each for each in obj if each.get("name") == name), _MISSING)
            else:
                obj = obj[int(part)] if int(part) < len(obj) else _MISSING
            before = item
        elif isinstance(obj, Mapping):
            obj = obj.get(part, _MISSING)
            before = before.get(part) if isinstance(before, Mapping) else None
        if obj is _MISSING:
            return _MISSING
    return obj


def _contains(found: Any, wrong: Any, healthy: Any) -> bool:
    """Whether what is wrong about a value, compared with the healthy one, is all there still."""
    if isinstance(wrong, Mapping) and isinstance(found, Mapping):
        kept = healthy if isinstance(healthy, Mapping) else {}
        differing = [
            key
            for key in wrong
            # What is empty is not stored.
            if key not in _TIMING and wrong[key] not in _EMPTY and wrong[key] != kept.get(key, _MISSING)
        ]
        lost = [key for key in kept if key not in wrong and key not in _TIMING]
        return all(
            key in found and _contains(found[key], wrong[key], kept.get(key)) for key in differing
        ) and (bool(differing) or all(key not in found for key in lost))
    if isinstance(wrong, list) and isinstance(found, list):
        known = healthy if isinstance(healthy, list) else []
        added = [item for item in wrong if item not in known]
        if not added:
            return len(found) <= len(wrong)
        return all(any(_contains(each, item, _MISSING) for each in found) for item in added)
    return bool(found == wrong)


# --- whether it does any harm -----------------------------------------------------------------------


def _is_harmless(world: World, then: Objects, group: Sequence[Wrong], well: bool) -> bool:
    return any(_harmless(world, then, wrong, well) for wrong in group)


def _harmless(world: World, then: Objects, wrong: Wrong, well: bool) -> bool:
    """Whether a wrong value that stands takes no effect."""
    resource, namespace, name = wrong.key
    last = wrong.pointer.rpartition("/")[2]
    if resource == "nodes":
        return last == "taints" and _tolerated(world, then, wrong)
    if resource in ROLLED and last in _PROBES and _finds(then, wrong):
        return well
    if resource in ROLLED and (last in (*_PROBES, "hostAliases") or "/resources" in wrong.pointer):
        return False
    if resource in ROLLED and _takes_from_nobody(world, then, wrong):
        return False
    if resource == "configmaps":
        return well and (not wrong.inside or not _referenced(world, namespace, name))
    if resource == "services" and last == "targetPort":
        return well and wrong.value in set(_offered(world, wrong))
    return well


def _finds(then: Objects, wrong: Wrong) -> bool:
    """Whether a probe asks the very server of its container, so that nothing but its timing can be wrong."""
    before = then.get(wrong.key)
    container = _at(before, before, _parts(wrong.pointer)[:-1])
    return isinstance(container, dict) and isinstance(wrong.value, dict) and finds(wrong.value, container)


def _takes_from_nobody(world: World, then: Objects, wrong: Wrong) -> bool:
    """Whether a workload takes settings from what does not exist, and did not do so before: where that was made optional
    its pods only wait for it no longer."""
    before = set(sources(pod_spec(then.get(wrong.key) or {})))
    for source in dict.fromkeys(sources(pod_spec(current(world, wrong.key) or {}))):
        if source[0] not in ("configmaps", "secrets") or not source[1] or source in before:
            continue
        if current(world, (source[0], wrong.key[1], source[1])) is None:
            return True
    return False


def _tolerated(world: World, then: Objects, wrong: Wrong) -> bool:
    """Whether every workload of the application tolerates the taints that were added to a node."""
    healthy = (then.get(wrong.key) or {}).get("spec", {}).get("taints") or ()
    added = [taint for taint in wrong.value if taint not in healthy]
    return all(
        any(_covers(toleration, taint) for toleration in pod_spec(workload).get("tolerations") or ())
        for workload in _workloads(world)
        for taint in added
    )


def _workloads(world: World) -> Iterator[Manifest]:
    for component in world.app.components:
        if component.workload in ROLLED:
            found = current(world, world.app.workload_of(component.name))
            if found is not None:
                yield found


def _covers(toleration: Manifest, taint: Manifest) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


def _referenced(world: World, namespace: str, name: str) -> bool:
    """Whether pods of some workload take anything from a ConfigMap."""
    for resource in ROLLED:
        for workload in world.cluster.list(resource, namespace):
            if ("configmaps", name) in sources(pod_spec(workload)):
                return True
    return False


def _offered(world: World, wrong: Wrong) -> Iterator[Any]:
    """Ports on which the pods behind a Service say that they listen."""
    service = current(world, wrong.key)
    selector = ((service or {}).get("spec") or {}).get("selector") or {}
    for resource in ROLLED:
        for workload in world.cluster.list(resource, wrong.key[1]):
            labels = ((template(workload) or {}).get("metadata") or {}).get("labels") or {}
            if not selector.items() <= labels.items():
                continue
            for container in containers(pod_spec(workload)).values():
                for port in container.get("ports") or ():
                    yield port["containerPort"]
                    yield port.get("name")
