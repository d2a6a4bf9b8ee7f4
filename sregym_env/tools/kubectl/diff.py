"""``kubectl diff``: what ``apply`` would change, as a unified diff."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sregym_env.kube import patch as patches
from sregym_env.kube import schema
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.linediff import unified
from sregym_env.tools.kubectl import lastapplied, managers, pruning
from sregym_env.tools.kubectl.apply import find_live
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, server_text, usage_failure
from sregym_env.tools.kubectl.flags import FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR, Flag
from sregym_env.tools.kubectl.output import without_managed_fields
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LAST_APPLIED,
    from_files,
    selected,
)

SIDES = ("LIVE", "MERGED")

EACH = 7_000_000
"""Nanoseconds that the two requests for an object take."""

WRITING = 90_000
"""Nanoseconds in which a file is written, at least."""


def diff(call: Call) -> None:
    """Print the difference; the exit code is 1 when there is one and greater when the command fails."""
    try:
        if call.flags["force-conflicts"] and not call.flags["server-side"]:
            raise KubectlError("error: --force-conflicts only works with --server-side")
        if call.args:
            raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", call.command)
        if not call.flags["filename"] and not call.flags["kustomize"]:
            raise KubectlError("error: must specify one of -f and -k")
        prunable = pruning.allowed(call) if call.flags["prune"] else ()
        versions = _versions(call, prunable)
    except StatusError as error:
        raise KubectlError(server_text(error), 2) from None
    except KubectlError as error:
        raise KubectlError(error.text, 2) from None
    folders = tuple(_folder(call, side) for side in SIDES)
    times = {label: _written(call, number) for number, label in enumerate(versions)}
    for label in sorted(versions):
        _print_one(call, folders, label, times[label], *versions[label])


def _versions(call: Call, prunable: Sequence[Resource]) -> dict[str, tuple[str, str]]:
    """What the files of the two directories hold that ``diff`` is run on: live and merged, by name."""
    found: dict[str, tuple[str, str]] = {}
    visited = pruning.Visited()
    keep = bool(call.flags["show-managed-fields"])
    for _, resource, manifest in selected(call, from_files(call)):
        live = find_live(call, resource, manifest)
        merged = _merged(call, resource, manifest, live)
        for text in _unknown(call, resource, manifest):
            call.warn(f"Warning: {text}")
        visited.add(resource, merged if live is None else live)
        before = "" if live is None else to_yaml(_shown(resource, live, keep))
        found[_label(resource, merged)] = (before, to_yaml(_shown(resource, merged, keep)))
    if call.flags["prune"]:
        for info in pruning.unwanted(call, visited, prunable):
            whole = to_yaml(with_managed_fields(info.resource, info.object))
            found[_label(info.resource, info.object)] = (whole, "")
    return found


def _unknown(call: Call, resource: Resource, manifest: Manifest) -> tuple[str, ...]:
    if resource.custom or call.flags["server-side"]:
        return ()
    return schema.decode(resource, manifest, strict=False)[1]


def _label(resource: Resource, obj: Manifest) -> str:
    metadata = obj["metadata"]
    version, kind = resource.api_version.replace("/", "."), resource.kind
    return f"{version}.{kind}.{metadata.get('namespace', '')}.{metadata['name']}"


def _print_one(
    call: Call, folders: Sequence[str], label: str, times: Sequence[str], before: str, after: str
) -> None:
    if before == after:
        return
    old, new = (f"{folder}/{label}" for folder in folders)
    names = (f"{old}\t{times[0]}", f"{new}\t{times[1]}")
    lines = unified(before.splitlines(keepends=True), after.splitlines(keepends=True), names)
    call.print(f"diff -u -N {old} {new}\n{lines}")
    call.exit_code = 1


def _shown(resource: Resource, obj: Manifest, keep: bool) -> Manifest:
    return with_managed_fields(resource, obj) if keep else without_managed_fields(obj)


def _folder(call: Call, side: str) -> str:
    """The temporary directory in which one side's files are written."""
    # Looks as random as the real name and is the same in every run.
    return f"/tmp/{side}-{keyed_bits(call.cluster.now(), 'kubectl diff', side) % 4_294_967_296}"


def _written(call: Call, number: int) -> tuple[str, str]:
    """When the two files of an object are written, as ``diff`` shows it: they are compared one after the other."""
    now = call.cluster.now()
    bits = keyed_bits(now, "kubectl diff", number)
    live = now * 1000 + number * EACH + bits % EACH
    return _stamp(live), _stamp(live + WRITING + (bits >> 32) % WRITING)


def _stamp(nanoseconds: int) -> str:
    whole, fraction = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%d %H:%M:%S}.{fraction:09} +0000"


def _merged(call: Call, resource: Resource, manifest: Manifest, live: Manifest | None) -> Manifest:
    if call.flags["server-side"]:
        return _merged_on_server(call, resource, manifest)
    if live is None:
        # A new object is shown as written; the annotation comes with the apply itself.
        return call.cluster.create(
            manifest, dry_run=True, strict=False, field_manager=managers.CLIENT_SIDE_APPLY
        )
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
        strict=False,
        field_manager=managers.CLIENT_SIDE_APPLY,
    )


def _merged_on_server(call: Call, resource: Resource, manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    try:
        return call.cluster.patch(
            resource.address,
            metadata["name"],
            manifest,
            namespace=metadata.get("namespace"),
            type="apply",
            dry_run=True,
            field_manager=str(call.flags["field-manager"] or managers.SERVER_SIDE_APPLY),
            force=bool(call.flags["force-conflicts"]),
        )
    except StatusError as error:
        if error.reason == "Conflict":
            # A conflict is taken for a change in between and tried again, the last time without a lock.
            what = f"({resource.gvk_text}: {metadata['name']})"
            call.warn(f"W0806 diff.go:723] Object {what} keeps changing, diffing without lock")
        raise


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
        Flag("concurrency", kind="int", default=1, help="Number of objects to process in parallel."),
        Flag("server-side", kind="bool", help="If true, apply runs in the server instead of the client."),
        Flag("force-conflicts", kind="bool", help="If true, server-side apply forces conflicting changes."),
        Flag("prune", kind="bool", help="Include resources that would be deleted by pruning."),
        Flag("prune-allowlist", kind="strings", help="Overwrite the default allowlist for --prune."),
        Flag("show-managed-fields", kind="bool", help="If true, include managed fields in the diff."),
    ),
    usage="diff -f FILENAME",
    group="Advanced Commands",
)
