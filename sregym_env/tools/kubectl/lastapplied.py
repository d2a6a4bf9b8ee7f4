"""``kubectl apply view-last-applied``, ``set-last-applied``: the annotation that ``apply`` compares with."""

from __future__ import annotations

import json

import orjson

from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, Flag
from sregym_env.tools.kubectl.resolve import Info, targets, visit
from sregym_env.tools.kubectl.writing import (
    LAST_APPLIED,
    NOTHING_GIVEN,
    from_files,
    patch_object,
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
    for info in visit(call, wanted):
        applied = parsed((info.object["metadata"].get("annotations") or {}).get(LAST_APPLIED))
        if applied is None:
            continue
        if call.flags["output"] == "json":
            call.print(
                orjson.dumps(applied, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n"
            )
        else:
            call.print(to_yaml(applied))


def replace_annotation(call: Call) -> None:
    """Set the annotation to what the files say without changing anything else."""
    for _, resource, manifest in from_files(call):
        metadata = manifest["metadata"]
        live = call.cluster.get(resource.address, metadata.get("name", ""), metadata.get("namespace"))
        annotations = live["metadata"].get("annotations") or {}
        if LAST_APPLIED not in annotations and not call.flags["create-annotation"]:
            raise failure(
                f"no last-applied-configuration annotation found on resource: {metadata.get('name', '')}, to "
                "create the annotation, run the command with --create-annotation"
            )
        text = with_last_applied(manifest)["metadata"]["annotations"][LAST_APPLIED]
        body = {"metadata": {"annotations": {LAST_APPLIED: text}}}
        patch_object(call, Info(resource, live), body, "configured", type="merge")


VERBS: tuple[Verb, ...] = (
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
