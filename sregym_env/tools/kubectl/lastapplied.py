"""``kubectl apply view-last-applied``, ``set-last-applied``: the annotation that ``apply`` compares with."""

from __future__ import annotations

import json

import orjson

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml
from sregym_env.tools.kubectl import edit
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import (
    ALLOW_MISSING,
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECORD,
    RECURSIVE,
    SELECTOR,
    SHOW_MANAGED_FIELDS,
    TEMPLATE,
    Flag,
)
from sregym_env.tools.kubectl.resolve import Info, targets, visit
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LAST_APPLIED,
    NAMELESS,
    NOTHING_GIVEN,
    UNNAMED,
    VALIDATE,
    from_files,
    patch_object,
    retrieving,
    with_last_applied,
)


def parsed(applied: str | None) -> Manifest | None:
    """The annotation's manifest; None if it is absent or broken."""
    if applied is None:
        return None
    try:
        found = json.loads(applied)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def view(call: Call) -> None:
    """Print the configuration that was last applied; objects without one are passed over."""
    wanted = targets(call)
    if not wanted:
        raise failure(NOTHING_GIVEN)
    if not any(target.name is not None for target in wanted) and not (
        call.flags["all"] or call.flags["selector"]
    ):
        raise failure(UNNAMED)
    found = []
    for target in wanted:  # the first that is missing ends it, before anything is printed
        for info in visit(call, [target], failed=_raised):
            applied = parsed((info.object["metadata"].get("annotations") or {}).get(LAST_APPLIED))
            if applied is None and target.source:
                raise failure(
                    f"error when no last-applied-configuration annotation found on resource: {info.name}\n "
                    f'"{target.source}": <nil>'
                )
            found.append(applied)
    for applied in found:
        if applied is None:
            continue
        if call.flags["output"] == "json":
            call.print(
                orjson.dumps(applied, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n"
            )
        else:
            call.print(to_yaml(applied))


def _raised(error: StatusError) -> None:
    raise error


def replace_annotation(call: Call) -> None:
    """Set the annotation to what the files say without changing anything else."""
    if not call.flags["filename"]:
        raise failure(NOTHING_GIVEN)
    for source, resource, manifest in from_files(call):
        metadata = manifest["metadata"]
        if not metadata.get("name"):
            raise failure(retrieving(resource, "", metadata.get("namespace", ""), source) + NAMELESS)
        live = call.cluster.get(resource.address, metadata.get("name", ""), metadata.get("namespace"))
        annotations = live["metadata"].get("annotations") or {}
        if LAST_APPLIED not in annotations and not call.flags["create-annotation"]:
            raise failure(
                f"no last-applied-configuration annotation found on resource: {metadata.get('name', '')}, to "
                "create the annotation, run the command with --create-annotation"
            )
        _put(call, Info(resource, live), manifest, "configured")


def _put(call: Call, info: Info, manifest: Manifest, operation: str) -> None:
    text = with_last_applied(manifest)["metadata"]["annotations"][LAST_APPLIED]
    body = {"metadata": {"annotations": {LAST_APPLIED: text}}}
    patch_object(call, info, body, operation, type="merge")


def edit_annotation(call: Call) -> None:
    """Edit the annotation of objects as a file. Raises kubectl's complaints about what is to be edited."""
    wanted = targets(call)
    if not wanted:
        raise failure(NOTHING_GIVEN)
    for info in list(visit(call, wanted, failed=_raised)):
        applied = parsed((info.object["metadata"].get("annotations") or {}).get(LAST_APPLIED))
        changed = edit.edited(call, applied or {})
        if changed is not None:
            _put(call, info, changed, "edited")


VERBS: tuple[Verb, ...] = (
    Verb(
        "edit-last-applied",
        "Edit latest last-applied-configuration annotations of a resource/object",
        edit_annotation,
        (
            ALLOW_MISSING,
            FIELD_MANAGER,
            FILENAME,
            KUSTOMIZE,
            OUTPUT,
            RECORD,
            RECURSIVE,
            SHOW_MANAGED_FIELDS,
            TEMPLATE,
            VALIDATE,
            Flag(
                "windows-line-endings",
                kind="bool",
                help="Defaults to the line ending native to your platform.",
            ),
        ),
        usage="apply edit-last-applied (RESOURCE/NAME | -f FILENAME)",
    ),
    Verb(
        "set-last-applied",
        "Set the last-applied-configuration annotation on a live object to match the contents of a file",
        replace_annotation,
        (FILENAME, OUTPUT, DRY_RUN, Flag("create-annotation", kind="bool", help="Create the annotation.")),
        usage="apply set-last-applied -f FILENAME",
    ),
    Verb(
        "view-last-applied",
        "View the latest last-applied-configuration annotations of a resource/object",
        view,
        (
            FILENAME,
            KUSTOMIZE,
            RECURSIVE,
            OUTPUT,
            SELECTOR,
            Flag("all", kind="bool", help="Select all resources in the namespace."),
        ),
        usage="apply view-last-applied (TYPE [NAME | -l label] | TYPE/NAME | -f FILENAME)",
    ),
)
