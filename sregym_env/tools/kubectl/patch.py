"""``kubectl patch``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import yaml

from sregym_env.kube import gojson, yamlin
from sregym_env.kube.status import StatusError, bad_request
from sregym_env.kube.types import Json, Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECORD, RECURSIVE, Flag
from sregym_env.tools.kubectl.manifests import is_json, json_type, yaml_text
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LOCAL,
    UNNAMED,
    chosen,
    dry_run_of,
    patched,
    record,
    report,
)

Kind = Literal["strategic", "merge", "json"]


def patch(call: Call) -> None:
    """Send a strategic, merge or JSON patch."""
    flags = call.flags
    if flags["patch"] and flags["patch-file"]:
        raise failure("cannot specify --patch and --patch-file together")
    kind = str(flags["type"]).lower()
    if kind not in ("strategic", "merge", "json"):
        raise KubectlError(
            f"error: --type must be one of [json merge strategic], not {flags['type']!r}".replace("'", '"')
        )
    body = _body(call)
    for info in chosen(call, need_name=UNNAMED):
        try:
            _patch_one(call, info, body, kind)  # type: ignore[arg-type]
        except StatusError as error:
            call.fail(error)


@dataclass(frozen=True, slots=True)
class _Body:
    """What is to be sent: a value, or a text that begins like JSON and is none."""

    value: Json
    wrong: str = ""
    """What Go's JSON decoder says about the text."""

    def refusal(self, kind: Kind) -> str:
        """Why it is no patch of that kind, in Go's words; empty where it is one."""
        if self.wrong:
            return self.wrong
        if kind == "json":
            if not isinstance(self.value, list):
                return f"json: cannot unmarshal {json_type(self.value)} into Go value of type jsonpatch.Patch"
            for item in self.value:
                if not isinstance(item, dict | None):
                    return (
                        f"json: cannot unmarshal {json_type(item)} into Go value of type jsonpatch.Operation"
                    )
        elif not isinstance(self.value, dict | None):
            return f"json: cannot unmarshal {json_type(self.value)} into Go value of type map[string]interface {{}}"
        return ""

    def check_here(self, kind: Kind) -> None:
        """Raise what kubectl itself says, where it carries the patch out on its own copy."""
        why = self.refusal(kind)
        if not why:
            return
        if kind == "json":
            raise failure(why)
        if kind == "strategic":
            raise failure("invalid JSON document")
        if not self.wrong and isinstance(self.value, list):
            raise failure("json: cannot unmarshal array into Go value of type unstructured.detector")
        raise failure("Invalid JSON Patch")


def _body(call: Call) -> _Body:
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
    if is_json(text):
        return _json(text)
    try:
        parsed = yamlin.load(text)
    except yaml.YAMLError as error:
        raise failure(f'unable to parse "{text}": yaml: {yaml_text(error)}') from None
    except ValueError as error:
        raise failure(f'unable to parse "{text}": {error}') from None
    # Whether it can be a patch is the server's to say.
    return _Body(parsed)


def _json(text: str) -> _Body:
    """A patch that begins with a brace goes to the server as it was typed, who refuses what is no JSON."""
    wrong = gojson.syntax_error(text.encode(errors="replace"))
    if wrong is None:
        try:
            return _Body(yamlin.plain(json.loads(text)))
        except (ValueError, RecursionError, yaml.YAMLError):
            raise failure("unable to parse the patch: exceeded max depth") from None
    return _Body(None, wrong)


def _check_subresource(call: Call, info: Info) -> None:
    if call.flags["subresource"] not in ("", *info.resource.subresources):
        raise KubectlError("Error from server (NotFound): the server could not find the requested resource")


def _patch_one(call: Call, info: Info, body: _Body, kind: Kind) -> None:
    _check_subresource(call, info)
    dry_run = dry_run_of(call)
    if dry_run == "client" or call.flags["local"]:
        body.check_here(kind)
        _say(call, info, patched(info, body.value, kind))
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
    if why := body.refusal(kind):
        raise bad_request(f"error decoding patch: {why}" if kind == "merge" else why)
    stored = call.cluster.patch(
        info.resource.address,
        info.name,
        body.value,
        namespace=info.namespace,
        type="merge" if kind == "strategic" and call.flags["subresource"] == "scale" else kind,
        subresource=call.flags["subresource"],
        dry_run=dry_run == "server",
        strict=False,
        field_manager=call.manager,
    )
    record(call, info)
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
        FILENAME, KUSTOMIZE, RECURSIVE, OUTPUT, DRY_RUN, FIELD_MANAGER, LOCAL, RECORD,
        Flag("patch", "p", help="The patch to be applied to the resource JSON file."),
        Flag("patch-file", help="A file containing a patch to be applied to the resource."),
        Flag("subresource", help="If specified, patch will operate on the subresource of the requested object."),
        Flag("type", default="strategic", help="The type of patch being provided; one of [json merge strategic]"),
    ),
    usage="patch (-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]",
    examples=("""kubectl patch deployment web -p '{"spec":{"replicas":2}}'""",),
    group="Advanced Commands",
)  # fmt: skip
