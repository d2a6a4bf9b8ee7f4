"""Argo CD's application controller: what of an Application is as it was delivered last, and how well it is.

An Application's objects say by an annotation which Application they belong to, and by another what was applied last. What Argo CD
itself has applied last stands for what lies in Git: the cluster sees nothing else of it. Whatever differs from that is
out of sync, whoever has changed it, and stays so until somebody asks for a sync or lets it heal by itself (``operation``,
``syncPolicy.automated.selfHeal``). Every write by Argo CD's own field manager is a sync, and one more revision.

It works while a pod of ``argocd-application-controller`` is ready in the Application's namespace, as ``v2.9`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from sregym_env.kube import assessment
from sregym_env.kube import patch as patches
from sregym_env.kube.drift import drifted
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.registry import BUILTIN, Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.tracking import Tracking
from sregym_env.sim.world import CUSTOM, Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

APPLICATIONS = "applications.argoproj.io"
MANAGER = "argocd-controller"
"""The field manager of what it applies."""
TRACKED = "argocd.argoproj.io/tracking-id"
"""``application:group/Kind:namespace/name``."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

WORKERS: Final = ("app.kubernetes.io/name", "argocd-application-controller")
"""The label of its pods."""

WANTED = "argocd.wanted"
"""In a world's memory: by Application, what was applied last, by object."""

KINDS = (
    "deployments.apps", "statefulsets.apps", "daemonsets.apps", "services", "configmaps", "secrets", "serviceaccounts",
    "persistentvolumeclaims", "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy",
    "horizontalpodautoscalers.autoscaling", "cronjobs.batch", "jobs.batch", "resourcequotas", "limitranges",
    "ingresses.networking.k8s.io", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
)  # fmt: skip
"""Resources that are compared."""

EVERY = 180
"""Seconds from one comparison to the next, where nothing changes (``timeout.reconciliation``)."""
HISTORY = 10
"""Revisions that an Application remembers unless it says otherwise."""
ONE_SYNC = 90 * SECOND
"""Writes that lie no farther apart belong to one sync."""
NOTICED = SECOND
"""How long after a change its Application is compared."""
HEALED = 5 * SECOND
"""``--self-heal-timeout-seconds``."""

_ANNOTATION = f"f:{LAST_APPLIED}"
_IMAGED = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job")


@dataclass(frozen=True, slots=True)
class _Seen:
    """One object of an Application, compared."""

    resource: Resource
    namespace: str
    name: str
    text: str
    """What should be there; empty where nothing should."""
    entry: Manifest | None
    """As it stands in the Application's status; None where there is nothing and nothing should be."""
    delivered: bool
    """Whether Argo CD has written it since it was compared last."""
    fresh: bool = False
    """Whether that was the first time."""

    @property
    def label(self) -> str:
        """Its name in a world's memory."""
        return f"{self.resource.key}|{self.namespace}|{self.name}"

    @property
    def place(self) -> tuple[str, str, str, str]:
        """By which entries are found and ordered."""
        return (self.resource.group, self.resource.kind, self.namespace, self.name)


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Compare one object of an Application, or all of them, and do what it is asked to do."""
    name, label = key
    application = _application(world, name)
    if application is None:
        return None
    if not works(world, application["metadata"]["namespace"]):
        return None
    wanted: Mapping[str, str] = world.memory.get(WANTED, {}).get(name, {})
    labels = [label] if label else sorted({*wanted, *_marked(world, name)})
    seen = [_compared(world, application, each, wanted.get(each, "")) for each in labels]
    if any(each.text != wanted.get(each.label, "") for each in seen):
        kept = {
            **{each: text for each, text in wanted.items() if each not in labels},
            **{each.label: each.text for each in seen if each.text},
        }
        world.memory[WANTED] = {**world.memory.get(WANTED, {}), name: kept}
    status = _status(world, application, seen)
    if "operation" in application:
        _operate(world, application, status)
        return None
    if status != application.get("status"):
        apiserver.update_status(world, APPLICATIONS, application["metadata"]["namespace"], name, status)
    return _heal(world, application, seen)


def works(world: SimWorld, namespace: str) -> bool:
    """Whether the controller of an Application in some namespace is up."""
    label, value = WORKERS
    for pod in world.store.list("pods", namespace):
        if (pod["metadata"].get("labels") or {}).get(label) == value and _is_ready(pod):
            return True
    return False


def _is_ready(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def present(world: SimWorld, application: Manifest) -> Manifest:
    """An Application as it reads now: it is compared every three minutes, and that is filled in and not written."""
    status = application.get("status")
    if not status or "reconciledAt" not in status or not works(world, application["metadata"]["namespace"]):
        return application
    now, metadata = world.now() // SECOND, application["metadata"]
    last = now - (now - keyed_bits("argocd", metadata["uid"]) % EVERY) % EVERY
    since = parse_rfc3339(metadata["creationTimestamp"]) // SECOND
    if rfc3339(last * SECOND) <= status["reconciledAt"]:
        return application
    counted = metadata.get("generation", 1) + max(0, last - since) // EVERY
    return {
        **application,
        "metadata": {**metadata, "generation": counted},
        "status": {**status, "reconciledAt": rfc3339(last * SECOND)},
    }


def _application(world: SimWorld, name: str) -> Manifest | None:
    for each in world.store.list(APPLICATIONS):
        if each["metadata"]["name"] == name:
            return each
    return None


def _marked(world: SimWorld, name: str) -> Iterator[str]:
    """All that says that it belongs to an Application."""
    for resource in KINDS:
        for obj in world.store.list(resource):
            notes = obj["metadata"].get("annotations") or {}
            if TRACKED in notes and _owner(obj, notes[TRACKED]) == name:
                yield f"{resource}|{obj['metadata'].get('namespace', '')}|{obj['metadata']['name']}"


# --- comparing ------------------------------------------------------------------------------------


def _compared(world: SimWorld, application: Manifest, label: str, wanted: str) -> _Seen:
    key, namespace, name = label.split("|")
    resource = BUILTIN.by_key(key)
    assert resource is not None
    live = world.store.get(key, namespace, name)
    text, belongs = wanted, False
    if live is not None:
        notes = live["metadata"].get("annotations") or {}
        belongs = _owner(live, notes.get(TRACKED, "")) == application["metadata"]["name"]
        if _applied_by_itself(live):
            # What it has applied without its mark it has let go.
            applied = notes.get(LAST_APPLIED, "")
            text = applied if TRACKED in applied else ""
    delivered = text != wanted
    if not text and not belongs:
        return _Seen(resource, namespace, name, "", None, delivered)
    entry: Manifest = {"group": resource.group} if resource.group else {}
    entry |= {"kind": resource.kind, "name": name}
    if namespace:
        entry["namespace"] = namespace
    if live is None:
        entry["health"] = {"status": "Missing"}
    else:
        found = assessment.assessed(live)
        if found is not None:
            entry["health"] = (
                {"status": found[0]} if not found[1] else {"message": found[1], "status": found[0]}
            )
    same = live is not None and bool(text)
    if same:
        same = not drifted(orjson.loads(text), live or {}, _ignored(application, resource))
    entry["status"] = "Synced" if same else "OutOfSync"
    if not text:
        entry["requiresPruning"] = True
    entry["version"] = resource.version
    return _Seen(resource, namespace, name, text, entry, delivered, not wanted)


def _owner(obj: Manifest, mark: str) -> str:
    """The Application that a mark names. One that was copied from another object names none."""
    name, _, rest = mark.partition(":")
    metadata = obj["metadata"]
    group = obj["apiVersion"].rpartition("/")[0]
    mine = f"{group}/{obj['kind']}:{metadata.get('namespace', '')}/{metadata['name']}"
    return name if rest == mine else ""


def _applied_by_itself(obj: Manifest) -> bool:
    """Whether the last apply of an object was Argo CD's."""
    for entry in obj["metadata"].get("managedFields") or ():
        if entry["manager"] == MANAGER:
            fields = entry["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})
            return _ANNOTATION in fields
    return False


def _ignored(application: Manifest, resource: Resource) -> tuple[str, ...]:
    """Fields of ``spec`` in which objects of a kind may differ (``ignoreDifferences``)."""
    return tuple(
        pointer.removeprefix("/spec/")
        for each in application["spec"].get("ignoreDifferences") or ()
        if each.get("kind") == resource.kind and each.get("group", "") == resource.group
        for pointer in each.get("jsonPointers") or ()
        if pointer.startswith("/spec/") and pointer.count("/") == 2
    )


# --- what is said of it ---------------------------------------------------------------------------


def _status(world: SimWorld, application: Manifest, seen: Sequence[_Seen]) -> Manifest:
    before: Manifest = application.get("status") or {}
    known = {_place(entry): entry for entry in before.get("resources") or ()}
    entries = dict(known)
    for each in seen:
        if each.entry is None:
            entries.pop(each.place, None)
        else:
            entries[each.place] = each.entry
    delivered = [each for each in seen if each.delivered]
    if entries == known and not delivered and before:
        return before
    spec, now = application["spec"], rfc3339(world.now())
    compared = {"destination": spec["destination"], "source": spec["source"]}
    if spec.get("ignoreDifferences"):
        compared["ignoreDifferences"] = spec["ignoreDifferences"]
    listed = [entries[place] for place in sorted(entries)]
    well = assessment.worst([each["health"]["status"] for each in listed if "health" in each])
    synced = all(each["status"] == "Synced" for each in listed)
    made: Manifest = {
        **before,
        "controllerNamespace": application["metadata"]["namespace"],
        "health": {"status": well},
        "reconciledAt": now,
        "resources": listed,
        "sourceType": "Kustomize",
        "summary": _summary(world, listed),
    }
    if delivered:
        made |= _history(world, application, before, delivered)
    revision = made["history"][-1]["revision"] if made.get("history") else ""
    made["sync"] = {
        "comparedTo": compared,
        "revision": revision,
        "status": "Synced" if synced else "OutOfSync",
    }
    return made


def _place(entry: Manifest) -> tuple[str, str, str, str]:
    return (entry.get("group", ""), entry["kind"], entry.get("namespace", ""), entry["name"])


def _history(
    world: SimWorld, application: Manifest, before: Manifest, delivered: Sequence[_Seen]
) -> Manifest:
    """What a sync leaves: a revision more, or what comes late of the last one."""
    now, source = world.now(), application["spec"]["source"]
    history: list[Manifest] = list(before.get("history") or ())
    operation: Manifest = before.get("operationState") or {}
    begun, done = now - NOTICED, rfc3339(now)
    results = [_result(each) for each in delivered]
    last = history[-1] if history else None
    if last is not None and now - parse_rfc3339(last["deployedAt"]) <= ONE_SYNC:
        start, revision = last["deployStartedAt"], last["revision"]
        history[-1] = {**last, "deployedAt": done}
        fresh = {_place(each) for each in results}
        kept = [each for each in operation["syncResult"]["resources"] if _place(each) not in fresh]
        results = [*kept, *results]
    else:
        number = 0 if last is None else last["id"] + 1
        start, revision = rfc3339(begun), _revision(application, now)
        history.append(
            {
                "deployStartedAt": start,
                "deployedAt": done,
                "id": number,
                "initiatedBy": {"automated": True},
                "revision": revision,
                "source": source,
            }
        )
    asked = {"initiatedBy": {"automated": True}, "retry": {"limit": 5}, "sync": {"revision": revision}}
    most = application["spec"].get("revisionHistoryLimit", HISTORY)
    return {
        "history": history[-most:] if most else [],
        "operationState": {
            "finishedAt": done,
            "message": "successfully synced (all tasks run)",
            "operation": asked,
            "phase": "Succeeded",
            "startedAt": start,
            "syncResult": {"resources": sorted(results, key=_place), "revision": revision, "source": source},
        },
    }


def _result(each: _Seen) -> Manifest:
    kind = each.resource
    group = {"group": kind.group} if kind.group else {}
    shown = f"{kind.singular}.{kind.group}/{each.name}" if kind.group else f"{kind.singular}/{each.name}"
    pruned = not each.text
    return {
        **group,
        "hookPhase": "Succeeded" if pruned else "Running",
        "kind": kind.kind,
        "message": "pruned" if pruned else f"{shown} {'created' if each.fresh else 'configured'}",
        "name": each.name,
        "namespace": each.namespace,
        "status": "Pruned" if pruned else "Synced",
        "syncPhase": "Sync",
        "version": kind.version,
    }


def _revision(application: Manifest, now: int) -> str:
    """The commit that is delivered."""
    key = application["metadata"]["uid"]
    return "".join(f"{keyed_bits('commit', key, now, part):016x}" for part in range(3))[:40]


def _summary(world: SimWorld, listed: Iterable[Manifest]) -> Manifest:
    images = sorted(set(_images(world, listed)))
    return {"images": images} if images else {}


def _images(world: SimWorld, listed: Iterable[Manifest]) -> Iterator[str]:
    for entry in listed:
        if entry["kind"] not in _IMAGED:
            continue
        kind = BUILTIN.by_kind(f"{entry['group']}/{entry['version']}", entry["kind"])
        live = None if kind is None else world.store.get(kind.key, entry["namespace"], entry["name"])
        if live is not None:
            spec = live["spec"].get("jobTemplate", live)["spec"]["template"]["spec"]
            for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
                yield container["image"]


# --- syncing --------------------------------------------------------------------------------------


def _operate(world: SimWorld, application: Manifest, status: Manifest) -> None:
    """A sync that somebody has asked for: all that is out of sync becomes what was delivered last."""
    metadata, asked = application["metadata"], application["operation"] or {}
    sync = asked.get("sync")
    kept = {name: value for name, value in application.items() if name != "operation"}
    if sync is not None:
        wanted: Mapping[str, str] = world.memory.get(WANTED, {}).get(metadata["name"], {})
        refused = [
            text
            for label in sorted(wanted)
            for text in _applied(world, application, label, wanted[label], status)
        ]
        done = rfc3339(world.now())
        revision = status.get("sync", {}).get("revision", "")
        state = {
            "finishedAt": done,
            "message": "; ".join(refused) if refused else "successfully synced (all tasks run)",
            "operation": asked,
            "phase": "Failed" if refused else "Succeeded",
            "startedAt": done,
            "syncResult": {"revision": revision, "source": application["spec"]["source"]},
        }
        status = {**status, "operationState": state}
    world.store.put(APPLICATIONS, {**kept, "status": status})


def _heal(world: SimWorld, application: Manifest, seen: Sequence[_Seen]) -> int | None:
    """Put right what is out of sync, where the Application is meant to heal by itself."""
    automated = (application["spec"].get("syncPolicy") or {}).get("automated") or {}
    away = [each for each in seen if each.text and each.entry and each.entry["status"] == "OutOfSync"]
    if not automated.get("selfHeal") or not away:
        return None
    status = application.get("status") or {}
    refused = [
        text for each in away for text in _applied(world, application, each.label, each.text, status, True)
    ]
    return HEALED if refused else None


def _applied(
    world: SimWorld, application: Manifest, label: str, text: str, status: Manifest, out: bool = False
) -> Iterator[str]:
    """Apply one object again where it is ``out`` of sync; what the API server says against it."""
    key, namespace, name = label.split("|")
    resource = BUILTIN.by_key(key)
    assert resource is not None
    live, wanted = world.store.get(key, namespace, name), orjson.loads(text)
    ignored = _ignored(application, resource)
    if live is not None and not out and not drifted(wanted, live, ignored):
        return
    notes = {**(wanted["metadata"].get("annotations") or {}), LAST_APPLIED: text}
    whole = {**wanted, "metadata": {**wanted["metadata"], "annotations": notes}}
    tracked = Tracking(MANAGER, resource)
    try:
        if live is None:
            apiserver.create(world, key, whole, tracked=tracked)
            return
        last = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
        delta = patches.three_way(orjson.loads(last) if last else {}, whole, live, resource)
        made = patches.strategic_merge_patch(live, delta, resource)
        if ignored and "spec" in made:
            kept = {field: live["spec"][field] for field in ignored if field in live["spec"]}
            made = {**made, "spec": {**made["spec"], **kept}}
        apiserver.update(world, key, made, tracked=tracked)
    except StatusError as error:
        yield str(error)


# --- waking ---------------------------------------------------------------------------------------


def _tracked(world: SimWorld, change: Change) -> Iterable[Key]:
    """The Application of an object that is another now, or well or ill."""
    if not world.store.holds(APPLICATIONS):
        return
    old, new = change.old, change.new
    if old is not None and new is not None and _alike(old, new):
        return
    label = f"{change.resource}|{change.key[0]}|{change.key[1]}"
    names = [
        _owner(obj, (obj["metadata"].get("annotations") or {}).get(TRACKED, ""))
        for obj in (old, new)
        if obj is not None
    ]
    for name in dict.fromkeys(names):
        if name:
            yield (name, label)


def _alike(old: Manifest, new: Manifest) -> bool:
    """Whether only a status was written that says as much of the object's health as before."""
    mine, theirs = old["metadata"], new["metadata"]
    if any(mine.get(field) is not theirs.get(field) for field in ("annotations", "labels", "managedFields")):
        return False
    if mine.get("generation") != theirs.get("generation"):
        return False
    if any(new[field] is not old.get(field) for field in new if field not in ("metadata", "status")):
        return False
    return assessment.assessed(old) == assessment.assessed(new)


def _own(_: SimWorld, change: Change) -> Iterable[Key]:
    """All of an Application that is new, wants something else, or asks for a sync."""
    if change.resource != APPLICATIONS or change.new is None:
        return
    if change.old is not None and change.old["spec"] is change.new["spec"] and "operation" not in change.new:
        return
    yield (change.key[1], "")


def _worker(world: SimWorld, change: Change) -> Iterable[Key]:
    """Every Application, when the controller comes up: it has seen nothing of what has happened meanwhile."""
    if change.old is None or change.new is None or not world.store.holds(APPLICATIONS):
        return
    label, value = WORKERS
    if (change.new["metadata"].get("labels") or {}).get(label) != value:
        return
    if _is_ready(change.new) and not _is_ready(change.old):
        for each in world.store.list(APPLICATIONS, change.key[0]):
            yield (each["metadata"]["name"], "")


CONTROLLER = Controller(
    "argocd",
    {**dict.fromkeys(KINDS, _tracked), CUSTOM: _own, "pods": _worker},
    reconcile,
    latency=NOTICED,
)
