"""``kubectl patch``, ``label``, ``annotate`` and ``scale``: small changes to objects that exist."""

from __future__ import annotations

import json
from typing import Any, Literal

import yaml

from sregym_env.kube import names
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json
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
    TIMEOUT,
    dry_run_of,
    patch_object,
    report,
    timeout_of,
    until,
)


def patch(call: Call) -> None:
    """Send a strategic, merge or JSON patch."""
    flags = call.flags
    kind = str(flags["type"]).lower()
    if kind not in ("strategic", "merge", "json"):
        raise KubectlError(
            f"error: --type must be one of [json merge strategic], not {flags['type']!r}".replace("'", '"')
        )
    body = _body(call)
    wanted = targets(call)
    if not wanted:
        raise failure("You must provide one or more resources by argument or filename.")
    for info in visit(call, wanted):
        try:
            _patch_one(call, info, body, kind)  # type: ignore[arg-type]
        except StatusError as error:
            call.fail(error)


def _body(call: Call) -> Json:
    text, path = call.flags["patch"], call.flags["patch-file"]
    if path:
        if call.files is None:
            raise failure(f"unable to read patch file: open {path}: no such file or directory")
        try:
            text = call.files.read_text(path)
        except OSError:
            raise failure(f"unable to read patch file: open {path}: no such file or directory") from None
    if not text:
        raise failure("must specify --patch or --patch-file containing the contents of the patch")
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        parsed = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise failure(f'unable to parse "{text}": yaml: {first}') from None
    if not isinstance(parsed, (dict, list)):
        raise failure(
            f'unable to parse "{text}": json: cannot unmarshal string into Go value of type map[string]interface {{}}'
        )
    return parsed


def _patch_one(call: Call, info: Info, body: Json, kind: Literal["strategic", "merge", "json"]) -> None:
    dry_run = dry_run_of(call)
    if dry_run == "client":
        report(call, info.resource, info.object, "patched", dry_run)
        return
    stored = call.cluster.patch(
        info.resource.key,
        info.name,
        body,
        namespace=info.namespace,
        type="merge" if kind == "strategic" and call.flags["subresource"] == "scale" else kind,
        subresource=call.flags["subresource"],
        dry_run=dry_run == "server",
        strict=False,
    )
    old, new = dict(info.object), dict(stored)
    same = old["metadata"].get("resourceVersion") == new["metadata"].get("resourceVersion")
    if dry_run == "server":
        same = old == new
    report(call, info.resource, stored, "patched (no change)" if same else "patched", dry_run)


# --- label and annotate ---------------------------------------------------------------------------


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


# --- scale ----------------------------------------------------------------------------------------


def scale(call: Call) -> None:
    """Set the number of replicas."""
    flags = call.flags
    if "replicas" not in call.given:
        raise failure('required flag(s) "replicas" not set')
    replicas = int(flags["replicas"])
    if replicas < 0:
        raise failure("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    wanted = targets(call)
    if not wanted:
        raise failure("one or more resources must be specified as <resource> <name>")
    infos = list(visit(call, wanted))
    if not infos and not call.exit_code:
        raise failure("no objects passed to scale")
    for info in infos:
        if "scale" not in info.resource.subresources:
            raise KubectlError(
                "Error from server (NotFound): the server could not find the requested resource"
            )
        expected = int(flags["current-replicas"])
        now = int(info.object["spec"].get("replicas", 1))
        if expected >= 0 and expected != now:
            raise failure(f"Expected replicas to be {expected}, was {now}")
        dry_run = dry_run_of(call)
        try:
            if dry_run != "client":
                body: dict[str, Any] = {"spec": {"replicas": replicas}}
                call.cluster.patch(
                    info.resource.key, info.name, body, namespace=info.namespace, type="merge",
                    subresource="scale", dry_run=dry_run == "server",
                )  # fmt: skip
        except StatusError as error:
            call.fail(error)
            continue
        report(call, info.resource, info.object, "scaled", dry_run)
        if flags["timeout"] and dry_run == "none":
            _wait_scaled(call, info, replicas)


def _wait_scaled(call: Call, info: Info, replicas: int) -> None:
    def reached() -> bool:
        found = call.cluster.get(info.resource.key, info.name, info.namespace)
        return bool(found.get("status", {}).get("replicas", 0) == replicas)

    if not until(call, reached, timeout_of(call)):
        raise KubectlError(f'error: timed out waiting for "{info.name}" to be synced')


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

PATCH = Verb(
    "patch",
    "Update fields of a resource",
    patch,
    (
        FILENAME, KUSTOMIZE, RECURSIVE, OUTPUT, DRY_RUN, FIELD_MANAGER, LOCAL,
        Flag("patch", "p", help="The patch to be applied to the resource JSON file."),
        Flag("patch-file", help="A file containing a patch to be applied to the resource."),
        Flag("subresource", help="If specified, patch will operate on the subresource of the requested object."),
        Flag("type", default="strategic", help="The type of patch being provided; one of [json merge strategic]"),
    ),
    usage="patch (-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]",
    examples=("""kubectl patch deployment web -p '{"spec":{"replicas":2}}'""",),
    group="Advanced Commands",
)  # fmt: skip
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
SCALE = Verb(
    "scale",
    "Set a new size for a deployment, replica set, or replication controller",
    scale,
    (
        FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR, ALL, OUTPUT, DRY_RUN, TIMEOUT,
        Flag("replicas", kind="int", default=0, help="The new desired number of replicas. Required."),
        Flag("current-replicas", kind="int", default=-1, help="Precondition for current size."),
        Flag("resource-version", help="Precondition for resource version."),
    ),
    usage="scale [--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)",
    group="Deploy Commands",
)  # fmt: skip
