"""The controllers of CustomResourceDefinitions: names are accepted, APIs established, objects cleaned up.

Follows ``pkg/controller/{status,establish,finalizer,apiapproval}`` of ``k8s.io/apiextensions-apiserver`` v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube.status import go_quote
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.custom import CLEANUP, DEFINITIONS, condition, with_condition
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import CUSTOM, Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

RETRY = 5 * SECOND
"""How long the finalizer waits for objects to go before it looks again."""

_APPROVAL = "api-approved.kubernetes.io"
_NAMES = (
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
)


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring one definition forward."""
    crd = world.store.get(DEFINITIONS, *key)
    if crd is None:
        return None
    if "deletionTimestamp" in crd["metadata"]:
        return _clean_up(world, crd) if CLEANUP in (crd["metadata"].get("finalizers") or ()) else None
    found: Manifest = crd.get("status") or {}
    accepted, verdict = _accept(world, crd)
    conditions = with_condition(found.get("conditions") or [], verdict)
    conditions = _approved(world, crd, conditions)
    now = world.now()
    names_fit = verdict["status"] == "True"
    established = next((c for c in conditions if c["type"] == "Established"), None)
    if established is None or established["status"] != "True":
        if names_fit:
            text = "the initial names have been accepted"
            conditions = with_condition(
                conditions, condition("Established", "True", "InitialNamesAccepted", text, now)
            )
        else:
            conditions = with_condition(
                conditions,
                condition("Established", "False", "NotAccepted", "not all names are accepted", now),
            )
    known = found.get("acceptedNames")
    if accepted == known:
        accepted = known
    if accepted is not known or conditions is not found.get("conditions"):
        apiserver.update_status(
            world, DEFINITIONS, *key, {**found, "acceptedNames": accepted, "conditions": conditions}
        )
    return None


def _accept(world: SimWorld, crd: Manifest) -> tuple[Manifest, Manifest]:
    """The names that may be used, and the verdict on those that were asked for."""
    group, wanted = crd["spec"]["group"], crd["spec"]["names"]
    taken = {"names": set[str](), "kinds": set[str]()}
    for other in world.store.list(DEFINITIONS):
        if other["spec"]["group"] != group or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        theirs = (other.get("status") or {}).get("acceptedNames") or {}
        taken["names"] |= {
            theirs.get("plural", ""),
            theirs.get("singular", ""),
            *(theirs.get("shortNames") or ()),
        }
        taken["kinds"] |= {theirs.get("kind", ""), theirs.get("listKind", "")}
    taken["names"].discard("")
    taken["kinds"].discard("")
    accepted: Manifest = dict((crd.get("status") or {}).get("acceptedNames") or {"kind": "", "plural": ""})
    reason, message = "", ""
    for field, code in _NAMES:
        pool = taken["kinds" if field in ("kind", "listKind") else "names"]
        values = wanted.get(field)
        clashes = [v for v in (values if isinstance(values, list) else [values]) if v and v in pool]
        if clashes:
            reason = code
            texts = [f"{go_quote(clash)} is already in use" for clash in clashes]
            message = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
        elif values:
            accepted[field] = values
        else:
            accepted.pop(field, None)
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    else:
        accepted.pop("categories", None)
    now = world.now()
    if reason:
        return accepted, condition("NamesAccepted", "False", reason, message, now)
    return accepted, condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now)


def _approved(world: SimWorld, crd: Manifest, conditions: list[Manifest]) -> list[Manifest]:
    group = crd["spec"]["group"]
    if not (group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))):
        return conditions
    value = (crd["metadata"].get("annotations") or {}).get(_APPROVAL, "")
    kind, now = "KubernetesAPIApprovalPolicyConformant", world.now()
    if value.startswith("unapproved"):
        return with_condition(
            conditions,
            condition(kind, "False", "UnapprovedAnnotation", f"not approved: {go_quote(value)}", now),
        )
    if not value:
        text = f"protected groups must have approval annotation {go_quote(_APPROVAL)}, see https://github.com/kubernetes/enhancements/pull/1111"
        return with_condition(conditions, condition(kind, "False", "MissingAnnotation", text, now))
    return with_condition(
        conditions, condition(kind, "True", "ApprovedAnnotation", f"approved in {value}", now)
    )


def _clean_up(world: SimWorld, crd: Manifest) -> int | None:
    """Delete the objects of a definition that is going; let it go when none is left."""
    name, now = crd["metadata"]["name"], world.now()
    _note(
        world,
        name,
        condition(
            "Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress", now
        ),
    )
    for obj in world.store.list(name):
        metadata = obj["metadata"]
        if "deletionTimestamp" not in metadata:
            apiserver.delete(world, name, metadata.get("namespace", ""), metadata["name"])
    if world.store.list(name):
        text = "could not confirm zero CustomResources remaining: timed out waiting for the condition"
        _note(world, name, condition("Terminating", "True", "InstanceDeletionCheck", text, now))
        return RETRY
    _note(
        world,
        name,
        condition("Terminating", "False", "InstanceDeletionCompleted", "removed all instances", now),
    )
    rest = [f for f in crd["metadata"]["finalizers"] if f != CLEANUP]
    apiserver.patch_metadata(world, DEFINITIONS, "", name, finalizers=rest)
    return None


def _note(world: SimWorld, name: str, new: Manifest) -> None:
    crd = world.store.get(DEFINITIONS, "", name)
    if crd is None:
        return
    found: dict[str, Any] = crd.get("status") or {}
    conditions = with_condition(found.get("conditions") or [], new)
    apiserver.update_status(world, DEFINITIONS, "", name, {**found, "conditions": conditions})


def _siblings(world: SimWorld, change: Change) -> Iterable[Key]:
    """A definition that goes or changes may free names that others of its group wait for."""
    yield from own_key(world, change)
    group = change.object["spec"]["group"]
    for other in world.store.list(DEFINITIONS):
        if other["spec"]["group"] == group and other["metadata"]["name"] != change.key[1]:
            yield ("", other["metadata"]["name"])


def _gone(world: SimWorld, change: Change) -> Iterable[Key]:
    """The last object of a definition that is going lets it go."""
    if change.new is None:
        crd = world.store.get(DEFINITIONS, "", change.resource)
        if crd is not None and "deletionTimestamp" in crd["metadata"]:
            yield ("", change.resource)


CONTROLLER = Controller(
    "customresourcedefinition",
    {DEFINITIONS: _siblings, CUSTOM: _gone},
    retried("customresourcedefinition", reconcile),
)
