"""``kubectl patch``."""

from __future__ import annotations

import json
from typing import Literal

import yaml

from sregym_env.kube import yamlin
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json, Manifest
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
from sregym_env.tools.kubectl.manifests import yaml_text
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LOCAL,
    UNNAMED,
    chosen,
    dry_run_of,
    patched,
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
    if flags["patch"] and flags["patch-file"]:
        raise failure("cannot specify --patch and --patch-file together")
    body = _body(call)
    for info in chosen(call, need_name=UNNAMED):
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
        return yamlin.plain(json.loads(text))
    except (RecursionError, yaml.YAMLError):
        raise failure("unable to parse the patch: exceeded max depth") from None
    except ValueError:
        pass
    try:
        parsed = yamlin.load(text)
    except yaml.YAMLError as error:
        raise failure(f'unable to parse "{text}": yaml: {yaml_text(error)}') from None
    except ValueError as error:
        raise failure(f'unable to parse "{text}": {error}') from None
    # Whether it can be a patch is the server's to say.
    result: Json = parsed
    return result


def _check_subresource(call: Call, info: Info) -> None:
    if call.flags["subresource"] not in ("", *info.resource.subresources):
        raise KubectlError("Error from server (NotFound): the server could not find the requested resource")


def _patch_one(call: Call, info: Info, body: Json, kind: Literal["strategic", "merge", "json"]) -> None:
    _check_subresource(call, info)
    if kind == "json" and isinstance(body, dict):
        text = "json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        raise KubectlError(f"Error from server (BadRequest): {text}")
    dry_run = dry_run_of(call)
    if not isinstance(body, dict | list) and (dry_run == "client" or call.flags["local"]):
        raise failure("invalid JSON document")
    if dry_run == "client" or call.flags["local"]:
        _say(call, info, patched(info, body, kind))
        return
    if info.resource.custom and kind == "strategic" and call.flags["subresource"] != "scale":
        kinds = ", ".join(
            f"application/{name}" for name in ("json-patch+json", "merge-patch+json", "apply-patch+yaml")
        )
        raise failure(
            "application/strategic-merge-patch+json is not supported by "
            f"{info.resource.gvk_text}: the body of the request was in an unknown format - "
            f"accepted media types include: {kinds}"
        )
    stored = call.cluster.patch(
        info.resource.address,
        info.name,
        body,
        namespace=info.namespace,
        type="merge" if kind == "strategic" and call.flags["subresource"] == "scale" else kind,
        subresource=call.flags["subresource"],
        dry_run=dry_run == "server",
        strict=False,
        field_manager=call.manager,
    )
    _say(call, info, stored)


def _say(call: Call, info: Info, stored: Manifest) -> None:
    """kubectl tells a dry run of a patch apart neither in words nor by comparing versions."""
    old, new = info.object["metadata"].get("resourceVersion"), stored["metadata"].get("resourceVersion")
    same = stored == info.object if old is None or dry_run_of(call) != "none" else old == new
    operation = "patched (no change)" if same else "patched"
    if call.flags["subresource"] == "scale" and not call.flags["output"]:
        call.print(f"scale.autoscaling/{info.name} {operation}\n")
        return
    report(call, info.resource, stored, operation)


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
