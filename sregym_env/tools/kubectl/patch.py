"""``kubectl patch``."""

from __future__ import annotations

import json
from typing import Literal

import yaml

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECURSIVE,
    Flag,
)
from sregym_env.tools.kubectl.resolve import Info, targets, visit
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LOCAL,
    dry_run_of,
    report,
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
