"""``kubectl label`` and ``annotate``."""

from __future__ import annotations

from sregym_env.kube import names
from sregym_env.kube.status import StatusError
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.resolve import Info, targets, visit
from sregym_env.tools.kubectl.writing import (
    ALL,
    FIELD_MANAGER,
    LOCAL,
    dry_run_of,
    patch_object,
    report,
)


def label(call: Call) -> None:
    """Set and remove labels."""
    _mark(call, "labels", "label", "labeled", "unlabeled")


def annotate(call: Call) -> None:
    """Set and remove annotations."""
    _mark(call, "annotations", "annotation", "annotated", "annotated")


def _mark(call: Call, field: str, word: str, added: str, removed: str) -> None:
    flags = call.flags
    objects, changes = _split(call, word)
    wanted = targets(call, objects)
    named = any(target.name is not None for target in wanted)
    if not wanted:
        raise failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    if not named and not (flags["all"] or flags["selector"] or flags["field-selector"] or flags["filename"]):
        raise failure("resource(s) were provided, but no name, label selector, or --all flag specified")
    if flags["list"]:
        for info in visit(call, wanted):
            call.print(
                f"Listing {word}s for {info.resource.kind}.{info.resource.group or 'v1'}/{info.name}:\n"
            )
            call.print(
                "".join(f" {k}={v}\n" for k, v in sorted((info.object["metadata"].get(field) or {}).items()))
            )
        return
    if not changes:
        raise failure(f"at least one {word} update is required")
    for info in visit(call, wanted):
        try:
            _mark_one(call, info, field, word, changes, added, removed)
        except StatusError as error:
            call.fail(error)


def _split(call: Call, word: str) -> tuple[list[str], dict[str, str | None]]:
    objects: list[str] = []
    changes: dict[str, str | None] = {}
    for arg in call.args:
        key, equals, value = arg.partition("=")
        if equals and key:
            if word == "label" and (problems := [*names.qualified_name(key), *names.label_value(value)]):
                raise failure(f'invalid label value: "{arg}": {"; ".join(problems)}')
            changes[key] = value
        elif (
            arg.endswith("-")
            and len(arg) > 1
            and objects
            and (
                len(objects) > 1
                or "/" in objects[0]
                or changes
                or call.flags["all"]
                or call.flags["selector"]
            )
        ):
            changes[arg[:-1]] = None
        elif changes:
            raise failure(f"all resources must be specified before {word} changes: {arg}")
        else:
            objects.append(arg)
    return objects, changes


def _mark_one(
    call: Call, info: Info, field: str, word: str, changes: dict[str, str | None], added: str, removed: str
) -> None:
    current: dict[str, str] = info.object["metadata"].get(field) or {}
    if not call.flags["overwrite"]:
        for key, value in changes.items():
            if value is not None and key in current and current[key] != value:
                raise KubectlError(
                    f"error: '{key}' already has a value ({current[key]}), and --overwrite is false"
                )
    for key, value in changes.items():
        if value is None and key not in current:
            call.print(f'{word} "{key}" not found.\n')
    real = {k: v for k, v in changes.items() if current.get(k) != v}
    if not real:
        report(call, info.resource, info.object, f"not {added}", dry_run_of(call))
        return
    operation = added if any(v is not None for v in real.values()) else removed
    patch_object(call, info, {"metadata": {field: real}}, operation, type="merge")


_SELECTION = (
    FILENAME,
    KUSTOMIZE,
    RECURSIVE,
    SELECTOR,
    FIELD_SELECTOR,
    ALL,
    ALL_NAMESPACES,
    OUTPUT,
    DRY_RUN,
    FIELD_MANAGER,
    LOCAL,
)
_MARKING = (
    *_SELECTION,
    Flag("overwrite", kind="bool", help="If true, allow labels to be overwritten."),
    Flag("list", kind="bool", help="If true, display the labels or annotations for a given resource."),
    Flag(
        "resource-version", help="If non-empty, the update will only succeed if this is the current version."
    ),
)

LABEL = Verb(
    "label",
    "Update the labels on a resource",
    label,
    _MARKING,
    usage="label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    group="Settings Commands",
)
ANNOTATE = Verb(
    "annotate",
    "Update the annotations on a resource",
    annotate,
    _MARKING,
    usage="annotate [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    group="Settings Commands",
)
