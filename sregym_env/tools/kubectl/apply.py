"""``kubectl apply`` and ``replace``: from what is written to what is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from sregym_env.kube import patch as patches
from sregym_env.kube.ownership.entries import Entry, decode, encode, handed_over
from sregym_env.kube.ownership.fields import has
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_json
from sregym_env.tools.kubectl import lastapplied, managers, pruning, rawwrites
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import (
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECORD,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.output import check_printable, print_value, shown, split_format
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    LAST_APPLIED,
    NAMELESS,
    SAVE_CONFIG,
    TIMEOUT,
    VALIDATE,
    DryRun,
    dry_run_of,
    fail_all,
    from_files,
    introduced,
    recorded,
    report,
    retrieving,
    selected,
    sourced,
    strict_of,
    until,
    warn_unknown,
    with_last_applied,
)

FORCE = Flag("force", kind="bool", help="Delete and re-create where an update is not possible.")


def _need_files(call: Call) -> None:
    if not call.flags.get("filename") and not call.flags.get("kustomize"):
        raise failure("must specify one of -f and -k")


def _check_apply(call: Call) -> None:
    """Refuse combinations of flags that kubectl refuses."""
    flags = call.flags
    if call.args:
        raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", call.command)
    _need_files(call)
    dry_run = dry_run_of(call)
    if flags["force-conflicts"] and not flags["server-side"]:
        raise failure("--force-conflicts only works with --server-side")
    if flags["subresource"] and not flags["server-side"]:
        raise failure("--subresource can only be specified for --server-side")
    if dry_run == "client" and flags["server-side"]:
        raise failure(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"
        )
    if flags["force"] and flags["server-side"]:
        raise failure("--force cannot be used with --server-side")
    if dry_run == "server" and flags["force"]:
        raise failure("--dry-run=server cannot be used with --force")
    if flags["prune"]:
        if flags["selector"] and flags["all"]:
            raise failure("cannot set --all and --selector at the same time")
        if not flags["selector"] and not flags["all"]:
            raise failure(
                "all resources selected for prune without explicitly passing --all. To prune all resources, pass "
                "the --all flag. If you did not mean to prune all resources, specify a label selector"
            )
        if flags["server-side"]:
            raise failure(
                "--prune is in alpha and doesn't currently work on objects created by server-side apply"
            )


def apply(call: Call) -> None:
    """Create what is missing and patch what differs, object by object."""
    _check_apply(call)
    prunable = pruning.allowed(call) if call.flags["prune"] else ()
    visited = pruning.Visited()
    applied: list[Info] = []
    errors: list[StatusError] = []
    empty = True
    for source, resource, manifest in selected(call, from_files(call)):
        empty = False
        try:
            if call.flags["server-side"]:
                done: Manifest | None = _apply_on_server(call, resource, manifest)
            else:
                done = _apply_one(call, resource, recorded(call, manifest), source)
            if done is not None:
                visited.add(resource, done)
                applied.append(Info(resource, done))
        except StatusError as error:
            errors.append(error if call.flags["server-side"] else introduced(error, "creating", source))
        except KubectlError as error:
            call.fail(error if call.flags["server-side"] else _retrieving(error, resource, manifest, source))
    fail_all(call, errors)
    if empty:
        raise failure("no objects passed to apply")
    if not call.exit_code:
        _print_all(call, applied)
    if call.flags["prune"] and not call.exit_code:
        pruning.prune(call, visited, prunable)


def _say(call: Call, resource: Resource, obj: Manifest, operation: str, dry_run: DryRun) -> None:
    """Report one object, unless all are printed in the end."""
    if split_format(call)[0] in ("", "name"):
        report(call, resource, obj, operation, dry_run)
    else:
        check_printable(call)


def _print_all(call: Call, infos: Sequence[Info]) -> None:
    """With ``-o``, print the objects when all are done: several as a List."""
    name, argument = split_format(call)
    if name in ("", "name"):
        return
    objects = [shown(call, info, name, argument) for info in infos]
    if len(objects) == 1:
        print_value(call, name, argument, objects[0])
        return
    listed = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}
    if name != "json":
        print_value(call, name, argument, listed)
        return
    # kubectl makes this list itself: its fields are in the order of the Go struct.
    _, version, *items, kind, _, last = to_json(listed).splitlines()
    items[-1] = items[-1].rstrip(",")
    lines = ["{", kind, version, '    "metadata": {},', *items, last]
    call.print("\n".join(lines) + "\n")


def _retrieving(error: KubectlError, resource: Resource, manifest: Manifest, source: str) -> KubectlError:
    """A complaint about a manifest without a name, as applying from the client introduces it."""
    if error.text != f"error: {NAMELESS}":
        return error
    namespace = manifest["metadata"].get("namespace", "")
    return failure(retrieving(resource, "", namespace, source) + NAMELESS)


def find_live(call: Call, resource: Resource, manifest: Manifest) -> Manifest | None:
    """The object that a manifest is about as it is now; None if there is none."""
    metadata = manifest["metadata"]
    name = metadata.get("name")
    if not name and metadata.get("generateName"):
        raise failure(f"from {metadata['generateName']}: cannot use generate name with apply")
    if not name:
        raise failure(NAMELESS)
    try:
        return call.cluster.get(resource.address, name, metadata.get("namespace"))
    except StatusError as error:
        if error.code == 404:
            return None
        raise


def _absent(call: Call, resource: Resource, manifest: Manifest) -> bool:
    return find_live(call, resource, manifest) is None


def _apply_one(call: Call, resource: Resource, manifest: Manifest, source: str) -> Manifest | None:
    """Apply from the client; the object, or None where that failed and has been told."""
    dry_run = dry_run_of(call)
    modified = with_last_applied(manifest)
    current = find_live(call, resource, manifest)
    if current is None:
        if dry_run == "client":
            _say(call, resource, modified, "created", dry_run)
            return modified
        stored = call.cluster.create(
            modified, dry_run=dry_run == "server", strict=strict_of(call), field_manager=call.manager
        )
        warn_unknown(call, resource, modified)
        _say(call, resource, stored, "created", dry_run)
        return stored
    applied = (current["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    if applied is None:
        call.warn(
            f"Warning: resource {resource.plural}/{current['metadata']['name']} is missing the {LAST_APPLIED} "
            "annotation which is required by kubectl apply. kubectl apply should only be used on resources "
            "created declaratively by either kubectl create --save-config or kubectl apply. The missing "
            "annotation will be patched automatically."
        )
    delta = patches.three_way(lastapplied.parsed(applied), modified, current, resource)
    if not delta:
        _say(call, resource, current, "unchanged", dry_run)
        return current
    if dry_run == "client":
        _say(call, resource, current, "configured", dry_run)
        return current
    try:
        stored = call.cluster.patch(
            resource.address,
            current["metadata"]["name"],
            delta,
            namespace=current["metadata"].get("namespace"),
            # Of custom resources the server knows no merge keys: it refuses strategic patches (415).
            type="merge" if resource.custom else "strategic",
            dry_run=dry_run == "server",
            strict=strict_of(call),
            field_manager=call.manager,
        )
    except StatusError as error:
        if error.reason in ("Invalid", "Conflict") and call.flags["force"]:
            stored = _recreate(call, resource, current, modified)
        else:
            _explain(call, resource, current, delta, source, error)
            return None
    warn_unknown(call, resource, manifest)
    _say(call, resource, stored, "configured", dry_run)
    return stored


def _explain(
    call: Call, resource: Resource, current: Manifest, delta: Manifest, source: str, error: StatusError
) -> None:
    """kubectl shows the patch that was refused, except where the error is about validation."""
    if error.reason == "Invalid":
        call.fail(error)
        return
    name, namespace = current["metadata"]["name"], current["metadata"].get("namespace", "")
    head = (
        f"error when applying patch:\n{json.dumps(delta, separators=(',', ':'))}\nto:\n"
        f'Resource: "{resource.gvr_text}", GroupVersionKind: "{resource.gvk_text}"\n'
        f'Name: "{name}", Namespace: "{namespace}"\nfor: "{source}": error when patching "{source}": '
    )
    call.fail(StatusError(error.code, error.reason, head + error.message, error.details))


def _recreate(call: Call, resource: Resource, current: Manifest, wanted: Manifest) -> Manifest:
    metadata = current["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    call.cluster.delete(resource.address, name, namespace, grace_period_seconds=0)
    until(call, lambda: find_live(call, resource, wanted) is None, 60.0)
    return call.cluster.create(wanted, field_manager=call.manager)


def _apply_on_server(call: Call, resource: Resource, manifest: Manifest) -> Manifest:
    dry_run = dry_run_of(call)
    if not manifest["metadata"].get("name"):
        raise failure(NAMELESS)
    try:
        stored = _server_side(
            call, resource, manifest, _server_side_manager(call), call.flags["force-conflicts"]
        )
    except StatusError as error:
        if error.reason != "Conflict":
            raise
        raise KubectlError(f"error: {error.message}\n{_REVIEW}") from None
    stored = _from_client_side(call, resource, manifest, stored)
    warn_unknown(call, resource, manifest)
    _say(call, resource, stored, "serverside-applied", dry_run)
    return stored


_FAILED = (
    "Warning: failed to migrate kubectl.kubernetes.io/last-applied-configuration for Server-Side Apply.",
    "Warning: server rejected managed fields migration to Server-Side Apply.",
    "Warning: failed to re-apply configuration after performing Server-Side Apply migration.",
)
_RETRIED = "This is non-fatal and will be retried next time you apply. Error:"


def _from_client_side(call: Call, resource: Resource, manifest: Manifest, stored: Manifest) -> Manifest:
    """The object after the steps that lead from client-side to server-side apply; none of them may fail it."""
    step = 0
    try:
        stored = _saved_annotation(call, resource, stored)
        step = 1
        moved = _migrated(call, resource, stored)
        step = 2
        if moved is not None:
            # Once more, so that fields that were dropped from the manifest go.
            stored = moved
            force = call.flags["force-conflicts"]
            stored = _server_side(call, resource, manifest, _server_side_manager(call), force)
    except StatusError as error:
        call.warn(f"{_FAILED[step]} {_RETRIED} {error.message}")
    return stored


_REVIEW = """\
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""


def _server_side_manager(call: Call) -> str:
    if "field-manager" in call.given:
        return str(call.flags["field-manager"])
    return managers.SERVER_SIDE_APPLY


def _server_side(
    call: Call, resource: Resource, manifest: Manifest, manager: str, force: bool = False
) -> Manifest:
    metadata = manifest["metadata"]
    return call.cluster.patch(
        resource.address,
        metadata["name"],
        manifest,
        namespace=metadata.get("namespace"),
        type="apply",
        dry_run=dry_run_of(call) == "server",
        strict=strict_of(call),
        field_manager=manager,
        force=force,
    )


def _owners(resource: Resource, stored: Manifest) -> tuple[Entry, ...]:
    shown = with_managed_fields(resource, stored)["metadata"].get("managedFields")
    return decode(shown) if shown else ()


def _saved_annotation(call: Call, resource: Resource, stored: Manifest) -> Manifest:
    """The object, its last-applied annotation owned by an applier so that it is not lost to the next apply."""
    metadata = stored["metadata"]
    text = (metadata.get("annotations") or {}).get(LAST_APPLIED)
    if _server_side_manager(call) != managers.SERVER_SIDE_APPLY or text is None:
        return stored
    if any(e.operation == "Apply" and has(e.fields, *_ANNOTATION) for e in _owners(resource, stored)):
        return stored
    kept = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    body = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {**kept, "annotations": {LAST_APPLIED: text}},
    }
    return _server_side(call, resource, body, managers.LAST_APPLIED_ANNOTATION)


_ANNOTATION = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")


def _migrated(call: Call, resource: Resource, stored: Manifest) -> Manifest | None:
    """The object, what client-side apply owned of it handed over; None where there was nothing."""
    manager = _server_side_manager(call)
    entries = _owners(resource, stored)
    names = sorted({e.manager for e in entries if e.operation == "Update" and has(e.fields, *_ANNOTATION)})
    moved = entries
    for name in names:
        moved = handed_over(moved, name, manager)
    if moved == entries:
        return None
    metadata = stored["metadata"]
    body = [
        {"op": "replace", "path": "/metadata/managedFields", "value": encode(moved)},
        # So that a write in between makes this fail, and the next apply tries again.
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
    ]
    return call.cluster.patch(
        resource.address,
        metadata["name"],
        body,
        namespace=metadata.get("namespace"),
        type="json",
        dry_run=dry_run_of(call) == "server",
        field_manager=manager,
    )


def replace(call: Call) -> None:
    """Put whole objects; with ``--force`` delete them first."""
    for flag in ("grace-period", "timeout"):
        if flag in call.given and call.flags[flag] != _UNSET[flag] and not call.flags["force"]:
            raise failure(f"--{flag} must have --force specified")
    _need_files(call)
    if call.flags["raw"]:
        rawwrites.write(call, "PUT")
        return
    dry_run = dry_run_of(call)
    for source, resource, manifest in from_files(call):
        if call.flags["save-config"]:
            manifest = with_last_applied(manifest)
        try:
            if not manifest["metadata"].get("name"):
                raise failure(f'error when replacing "{source}": resource name may not be empty')
            current = find_live(call, resource, manifest)
            if call.flags["force"] and dry_run == "none":
                if current is not None:
                    name, namespace = current["metadata"]["name"], current["metadata"].get("namespace")
                    call.cluster.delete(resource.address, name, namespace, grace_period_seconds=0)
                    call.print(f'{resource.singular} "{name}" deleted\n')
                    until(call, partial(_absent, call, resource, manifest), 60.0)
                bare = {k: v for k, v in manifest["metadata"].items() if k not in ("resourceVersion", "uid")}
                stored = call.cluster.create(
                    {**manifest, "metadata": bare}, strict=strict_of(call), field_manager=call.manager
                )
            elif dry_run == "client":
                stored = manifest
            else:
                stored = call.cluster.replace(
                    manifest, dry_run=dry_run == "server", strict=strict_of(call), field_manager=call.manager
                )
                warn_unknown(call, resource, manifest)
        except StatusError as error:
            call.fail(sourced(error, "replacing", source))
            continue
        report(call, resource, stored, "replaced", dry_run)


_UNSET = {"grace-period": -1, "timeout": 0}
"""How a re-creation is to be carried out, where nothing is said about it."""

_SUBRESOURCE = Flag(
    "subresource", help="If specified, the command will operate on the subresource of the requested object."
)
_COMMON = (FILENAME, KUSTOMIZE, RECURSIVE, DRY_RUN, OUTPUT, FIELD_MANAGER, VALIDATE)

APPLY = Verb(
    "apply",
    "Apply a configuration to a resource by file name or stdin",
    apply,
    (
        *_COMMON,
        RECORD,
        SELECTOR,
        FORCE,
        TIMEOUT,
        Flag(
            "prune",
            kind="bool",
            help="Automatically delete resource objects that do not appear in the configs.",
        ),
        _SUBRESOURCE,
        Flag("prune-allowlist", kind="strings", help="Overwrite the default allowlist for --prune."),
        Flag("cascade", bare="background", default="background", help="Deletion cascading strategy."),
        Flag("openapi-patch", kind="bool", default=True, help="If true, use openapi to calculate diff."),
        Flag("server-side", kind="bool", help="If true, apply runs in the server instead of the client."),
        Flag(
            "force-conflicts",
            kind="bool",
            help="If true, server-side apply will force the changes against conflicts.",
        ),
        Flag("overwrite", kind="bool", default=True, help="Automatically resolve conflicts."),
        Flag("wait", kind="bool", help="If true, wait for resources to be gone before returning."),
        Flag(
            "grace-period",
            kind="int",
            default=-1,
            help="Period of time in seconds given to the resource to terminate.",
        ),
        Flag(
            "all", kind="bool", help="Select all resources in the namespace of the specified resource types."
        ),
    ),
    usage="apply (-f FILENAME | -k DIRECTORY)",
    examples=("# Apply the manifest passed into stdin\n  cat pod.json | kubectl apply -f -",),
    verbs=lastapplied.VERBS,
    group="Advanced Commands",
)
REPLACE = Verb(
    "replace",
    "Replace a resource by file name or stdin",
    replace,
    (
        *_COMMON,
        FORCE,
        SAVE_CONFIG,
        TIMEOUT,
        _SUBRESOURCE,
        Flag("cascade", bare="background", default="background", help="Deletion cascading strategy."),
        Flag("grace-period", kind="int", default=-1, help="Seconds given to terminate."),
        Flag(
            "raw", help="Raw URI to PUT to the server.  Uses the transport specified by the kubeconfig file."
        ),
        Flag("wait", kind="bool", help="If true, wait for resources to be gone before returning."),
    ),
    usage="replace -f FILENAME",
    group="Advanced Commands",
)

__all__ = ["APPLY", "REPLACE"]
