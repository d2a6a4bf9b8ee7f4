"""``kubectl diff``: what ``apply`` would change, as a unified diff."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime

from sregym_env.kube import patch as patches
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml
from sregym_env.tools.kubectl import lastapplied, managers
from sregym_env.tools.kubectl.apply import find_live
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, server_text, usage_failure
from sregym_env.tools.kubectl.flags import FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR, Flag
from sregym_env.tools.kubectl.output import without_managed_fields
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LAST_APPLIED,
    from_files,
    sourced,
)


def diff(call: Call) -> None:
    """Print the difference; the exit code is 1 when there is one and greater when the command fails."""
    try:
        if call.args:
            raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", call.command)
        if not call.flags["filename"] and not call.flags["kustomize"]:
            raise KubectlError("error: must specify one of -f and -k")
        for source, resource, manifest in from_files(call):
            try:
                _diff_one(call, resource, manifest)
            except StatusError as error:
                raise KubectlError(server_text(sourced(error, "applying", source))) from None
    except KubectlError as error:
        raise KubectlError(error.text, 2) from None


def _diff_one(call: Call, resource: Resource, manifest: Manifest) -> None:
    live = find_live(call, resource, manifest)
    merged = _merged(call, resource, manifest, live)
    metadata = merged["metadata"]
    parts = (
        resource.api_version.replace("/", "."),
        resource.kind,
        metadata.get("namespace", ""),
        metadata["name"],
    )
    label = ".".join(part for part in parts if part)
    keep = bool(call.flags["show-managed-fields"])
    before = "" if live is None else to_yaml(_shown(resource, live, keep))
    after = to_yaml(_shown(resource, merged, keep))
    if before == after:
        return
    stamp = _stamp(call.cluster.now())
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"/tmp/LIVE/{label}",
        f"/tmp/MERGED/{label}",
        stamp,
        stamp,
    )
    call.print(f"diff -u -N /tmp/LIVE/{label} /tmp/MERGED/{label}\n{''.join(lines)}")
    call.exit_code = 1


def _shown(resource: Resource, obj: Manifest, keep: bool) -> Manifest:
    return with_managed_fields(resource, obj) if keep else without_managed_fields(obj)


def _stamp(now: int) -> str:
    """A file's time as ``diff`` shows it."""
    return f"{datetime.fromtimestamp(now / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}000 +0000"


def _merged(call: Call, resource: Resource, manifest: Manifest, live: Manifest | None) -> Manifest:
    if call.flags["server-side"]:
        name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
        return call.cluster.patch(
            resource.address,
            name,
            manifest,
            namespace=namespace,
            type="apply",
            dry_run=True,
            field_manager=str(call.flags["field-manager"] or managers.SERVER_SIDE_APPLY),
            force=bool(call.flags["force-conflicts"]),
        )
    if live is None:
        # A new object is shown as written; the annotation comes with the apply itself.
        return call.cluster.create(manifest, dry_run=True, field_manager=managers.CLIENT_SIDE_APPLY)
    metadata = manifest["metadata"]
    modified = {**manifest, "metadata": {**metadata, "annotations": dict(metadata.get("annotations") or {})}}
    applied = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    delta = patches.three_way(lastapplied.parsed(applied), modified, live, resource)
    if not delta:
        return live
    return call.cluster.patch(
        resource.address,
        live["metadata"]["name"],
        delta,
        namespace=live["metadata"].get("namespace"),
        type="merge" if resource.custom else "strategic",
        dry_run=True,
        field_manager=managers.CLIENT_SIDE_APPLY,
    )


DIFF = Verb(
    "diff",
    "Diff the live version against a would-be applied version",
    diff,
    (
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        SELECTOR,
        FIELD_MANAGER,
        Flag("server-side", kind="bool", help="If true, apply runs in the server instead of the client."),
        Flag("force-conflicts", kind="bool", help="If true, server-side apply forces conflicting changes."),
        Flag("prune", kind="bool", help="Include resources that would be deleted by pruning."),
        Flag("show-managed-fields", kind="bool", help="If true, include managed fields in the diff."),
    ),
    usage="diff -f FILENAME",
    group="Advanced Commands",
)
