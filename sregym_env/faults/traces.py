"""What a fault leaves in a system, read off its declaration: the wrong values, and how far its repair may reach.

Whoever grades a repair asks these, and knows no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.edits import (
    REMOVED,
    Create,
    Delete,
    Edit,
    Exec,
    JsonPatch,
    MergePatch,
    ObjectRef,
    Redeploy,
    Rollout,
    Substitute,
)
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.kube.registry import BUILTIN


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong value: where it stands, and what it is."""

    key: ObjectKey
    pointer: str
    """JSON pointer of a field of the object as it was before; ends with ``/-`` where the value was added to a list, empty
    for the object itself."""
    value: Any
    """``REMOVED`` where something was taken away."""
    inside: bool = False
    """Whether the value is a piece of the text that stands there."""
    works: tuple[str, ...] = ()
    """For what stands in no object: a command that fails, in the pods of the component that the key names, as long as
    the value is there."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a repair of a fault may change, replace and restart without doing harm to anybody."""

    objects: frozenset[ObjectKey]
    """Objects that it may change, lose or make anew: those that are wrong, and those that the fault has changed."""
    names: frozenset[str]
    """Names of the cause's place: what is made under one of them belongs to the repair."""
    components: frozenset[str]
    """Components whose pods it may restart: the faulty ones and those that suffer from them."""
    everywhere: bool
    """Whether it lies in no workload or Service but in what all share, so that all may have to restart."""
    answers: tuple[str, ...]
    """Fields of a pod, by name, by which any workload may come to terms with the cause."""
    additions: frozenset[tuple[str, str]] = frozenset()
    """(resource, namespace) of what it may make there, under whatever name."""
    machines: frozenset[str] = frozenset()
    """Nodes whose pods it may send elsewhere, whosesoever they are."""


def wrongs(edits: tuple[Edit, ...]) -> tuple[Wrong, ...]:
    """The wrong values that edits put into objects, in their order.

    What is made beside something that is deleted, its data under another name, is not wrong.
    """
    lost = any(isinstance(edit, Delete) for edit in edits)
    return tuple(wrong for edit in edits if not (lost and isinstance(edit, Create)) for wrong in _of(edit))


def _of(edit: Edit) -> Iterator[Wrong]:
    match edit:
        case Rollout() | Redeploy():
            for pointer, value in edit.changes.items():
                yield Wrong(key_of(edit.target), pointer, value)
        case JsonPatch():
            yield Wrong(key_of(edit.target), edit.path, edit.value)
        case MergePatch():
            for pointer, value in _leaves("", edit.patch):
                yield Wrong(key_of(edit.target), pointer, value)
        case Substitute():
            yield Wrong(key_of(edit.target), edit.path, edit.after.replace(edit.before, ""), inside=True)
        case Exec() if edit.works:
            yield Wrong(("", "", edit.component), "", REMOVED, works=edit.works)
        case Delete():
            yield Wrong(key_of(edit.target), "", REMOVED)
        case Create():
            manifest = edit.manifest
            for part in ("spec", "data", "endpoints"):
                if part in manifest:
                    yield Wrong(made(manifest), f"/{part}", manifest[part])
        case _:
            return


def _leaves(pointer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", inner)
    else:
        yield pointer, value


def changed(edits: tuple[Edit, ...]) -> Iterator[ObjectKey]:
    """The objects that edits change, make or delete."""
    for edit in edits:
        target = getattr(edit, "target", None)
        if isinstance(target, ObjectRef):
            yield key_of(target)
        elif isinstance(edit, Create):
            yield made(edit.manifest)


def key_of(ref: ObjectRef) -> ObjectKey:
    """A reference as a key."""
    return ref.resource, ref.namespace or "", ref.name


def made(manifest: Any) -> ObjectKey:
    """The key of an object of a built-in kind that is to be created."""
    resource = BUILTIN.by_kind(manifest["apiVersion"], manifest["kind"])
    metadata = manifest["metadata"]
    name: str = metadata["name"]
    return "" if resource is None else resource.key, metadata.get("namespace", ""), name
