"""What the writing verbs share: dry runs, reports, sources of errors, and waiting in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from sregym_env.kube import patch as patches
from sregym_env.kube import quantity, schema
from sregym_env.kube.goorder import to_compact_go_json, with_zeros
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import Resource
from sregym_env.kube.selectors import parse_labels
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.yamlout import to_compact_json
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import NAMELESS, KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.manifests import read_sources
from sregym_env.tools.kubectl.output import print_object
from sregym_env.tools.kubectl.resolve import Info, Target, no_match, targets, visit

NOTHING_GIVEN = (
    "You must provide one or more resources by argument or filename.\n"
    "Example resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n"
    "   '<resource> <name>'\n   '<resource>'"
)
UNNAMED = "resource(s) were provided, but no name was specified"

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

DryRun = Literal["none", "client", "server"]

FIELD_MANAGER = Flag("field-manager", help="Name of the manager used to track field ownership.")
VALIDATE = Flag(
    "validate",
    bare="strict",
    default="strict",
    help="Must be one of: strict (or true), warn, ignore (or false).",
)
SAVE_CONFIG = Flag("save-config", kind="bool", help="Save the configuration of the object in its annotation.")
LOCAL = Flag("local", kind="bool", help="If true, do not contact the API server.")
ALL = Flag("all", kind="bool", help="Select all resources in the namespace of the specified resource types.")
TIMEOUT = Flag("timeout", kind="duration", help="The length of time to wait before giving up.")

PATIENCE = 300.0
"""Virtual seconds after which a waiting command gives up even without a --timeout."""


def dry_run_of(call: Call) -> DryRun:
    """The dry-run strategy. Raises kubectl's complaint about an unknown one."""
    value = str(call.flags.get("dry-run", "none"))
    if value in ("none", "client", "server"):
        return value  # type: ignore[return-value]
    if value in ("unchanged", "true"):
        return "client"
    return "none"


def strict_of(call: Call) -> bool:
    """Whether unknown fields are refused."""
    return str(call.flags.get("validate", "strict")) not in ("ignore", "false", "warn")


def warn_unknown(call: Call, resource: Resource, obj: Manifest) -> None:
    """With ``--validate=warn``, say which fields of a manifest the server does not know and drops."""
    if call.flags.get("validate") == "warn":
        for text in schema.decode(resource, obj, strict=False)[1]:
            call.warn(f"Warning: {text}")


def identity(resource: Resource, obj: Manifest) -> str:
    """``deployment.apps/web``."""
    return f"{resource.group_kind.lower()}/{obj['metadata'].get('name', '')}"


def report(call: Call, resource: Resource, obj: Manifest, operation: str, dry_run: DryRun = "none") -> None:
    """Say what was done to an object, in the format that ``-o`` asks for."""
    note = {"none": "", "client": " (dry run)", "server": " (server dry run)"}[dry_run]
    print_object(call, Info(resource, obj), f"{operation}{note}")


def fail_all(call: Call, errors: Sequence[StatusError]) -> None:
    """Report what went wrong with objects: several failures are told in full, a single one in its short form."""
    if len(errors) == 1:
        call.fail(errors[0])
        return
    for error in errors:
        reason = f" ({error.reason})" if error.reason not in ("", "Unknown") else ""
        call.warn(f"Error from server{reason}: {error.message}")
        call.exit_code = 1


def introduced(error: StatusError, doing: str, source: str) -> StatusError:
    """An API error that says which file it is about, in whatever form it is told."""
    return StatusError(
        error.code, error.reason, f'error when {doing} "{source}": {error.message}', error.details
    )


def sourced(error: StatusError, doing: str, source: str) -> StatusError:
    """An API error that says which file it is about; validation errors name their object already."""
    if error.reason == "Invalid":
        return error
    message = f'error when {doing} "{source}": {error.message}'
    return StatusError(error.code, error.reason, message, error.details)


def from_files(call: Call) -> Iterator[tuple[str, Resource, Manifest]]:
    """(source, resource, manifest in the request's namespace) for every object that ``-f`` names."""
    files = call.flags.get("filename") or ()
    for source, manifest in read_sources(call, files):
        resource = call.resource_of(manifest)
        if resource is None:
            raise no_match(manifest, files)
        yield source, resource, in_namespace(call, resource, manifest)


def selected(
    call: Call, found: Iterable[tuple[str, Resource, Manifest]]
) -> Iterator[tuple[str, Resource, Manifest]]:
    """The manifests that ``-l`` chooses by their labels."""
    text = str(call.flags.get("selector") or "")
    chosen = parse_labels(text) if text else None
    for source, resource, manifest in found:
        if chosen is None or chosen.matches(manifest["metadata"].get("labels") or {}):
            yield source, resource, manifest


def in_namespace(call: Call, resource: Resource, manifest: Manifest) -> Manifest:
    """The manifest with the request's namespace where it names none. Raises on a mismatch with ``-n``."""
    metadata = manifest.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise failure("unable to decode metadata")
    own = metadata.get("namespace")
    if not resource.namespaced:
        return manifest
    if own and "namespace" in call.given and own != call.namespace:
        raise failure(
            f'the namespace from the provided object "{own}" does not match the namespace '
            f"\"{call.namespace}\". You must pass '--namespace={own}' to perform this operation."
        )
    if own:
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": call.namespace}}


CAUSE = "kubernetes.io/change-cause"


def recorded(call: Call, obj: Manifest) -> Manifest:
    """An object, or a patch of one, that says by which command it was written, where ``--record`` asks for that."""
    cause = call.change_cause
    if not cause:
        return obj
    metadata = obj.get("metadata") or {}
    return {
        **obj,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), CAUSE: cause}},
    }


def record(call: Call, info: Info) -> None:
    """Say by which command an object was written, in a patch of its own."""
    if call.change_cause and dry_run_of(call) == "none" and not call.flags.get("local"):
        call.cluster.patch(
            info.resource.address, info.name, recorded(call, {}), namespace=info.namespace, type="merge",
            field_manager=call.manager,
        )  # fmt: skip


def create_object(call: Call, resource: Resource, obj: Manifest, operation: str = "created") -> None:
    """Create an object unless this is a client-side dry run, and report it."""
    report(call, resource, made(call, resource, obj), operation, dry_run_of(call))


def made(call: Call, resource: Resource, obj: Manifest) -> Manifest:
    """Create an object unless this is a client-side dry run: the object as it is to be printed."""
    dry_run = dry_run_of(call)
    if resource.namespaced:
        obj = in_namespace(call, resource, obj)
    obj = recorded(call, obj)
    if call.flags.get("save-config"):
        made_here = "filename" not in call.given and not call.flags.get("kustomize")
        obj = with_last_applied(shown_locally(call, obj) if made_here else obj, made_here=made_here)
        if made_here and resource.namespaced:
            obj = in_namespace(call, resource, obj)
    if dry_run == "client":
        return shown_locally(call, obj)
    stored = call.cluster.create(
        obj, dry_run=dry_run == "server", strict=strict_of(call), field_manager=call.manager
    )
    warn_unknown(call, resource, obj)
    return stored


def shown_locally(call: Call, obj: Manifest) -> Manifest:
    """An object that never went to the server, as kubectl prints it: no namespace unless one was asked for."""
    metadata = obj["metadata"]
    if "namespace" in call.given or not call.command.startswith(("create ", "run", "expose", "autoscale")):
        return obj
    return {**obj, "metadata": {k: v for k, v in metadata.items() if k != "namespace"}}


def with_last_applied(manifest: Manifest, *, made_here: bool = False) -> Manifest:
    """The manifest carrying itself in the annotation that ``kubectl apply`` compares with.

    ``made_here``: it was not read but is a Go struct of kubectl's own, which is written in another order.
    """
    if made_here:
        metadata = dict(manifest["metadata"])
        text = to_compact_go_json(manifest) + "\n"
        return {**manifest, "metadata": {**metadata, "annotations": {LAST_APPLIED: text}}}
    metadata = dict(manifest["metadata"])
    annotations = {k: v for k, v in (metadata.get("annotations") or {}).items() if k != LAST_APPLIED}
    bare = {**manifest, "metadata": {**metadata, "annotations": annotations}}
    text = to_compact_json(bare) + "\n"
    return {**bare, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: text}}}


def patch_object(
    call: Call,
    info: Info,
    patch: Json,
    operation: str,
    *,
    type: Literal["strategic", "merge", "json"] = "strategic",
    unchanged: str = "",
    own_copy: bool = False,
) -> None:
    """Patch an object and report it; ``unchanged`` is said instead where nothing changed.

    With ``own_copy`` what is printed is the client's copy of the object, not the server's answer.
    """
    dry_run = dry_run_of(call) if "dry-run" in call.flags else "none"
    read = info
    if call.flags.get("show-managed-fields") and not call.flags.get("local"):
        read = Info(info.resource, with_managed_fields(info.resource, info.object))
    if dry_run == "client" or call.flags.get("local"):
        made = patched(read, patch, type)
        if call.flags.get("local") and call.command.startswith("set "):
            made = with_zeros(made)
        report(call, info.resource, made, operation, dry_run)
        return
    stored = call.cluster.patch(
        info.resource.address,
        info.name,
        patch,
        namespace=info.namespace,
        type=type,
        dry_run=dry_run == "server",
        field_manager=call.manager,
    )
    same = stored["metadata"].get("resourceVersion") == info.object["metadata"].get("resourceVersion")
    same = same and (dry_run == "none" or stored == info.object)
    if own_copy:
        stored = patched(read, patch, type)
    report(call, info.resource, stored, unchanged if same and unchanged else operation, dry_run)


def patched(info: Info, patch: Json, type: Literal["strategic", "merge", "json"]) -> Manifest:
    """The object as a patch would leave it, worked out on the client."""
    made: Any
    if type == "json":
        made = patches.json_patch(info.object, patch)
    elif type == "strategic" and not info.resource.custom and isinstance(patch, dict):
        made = patches.strategic_merge_patch(info.object, patch, info.resource)
    else:
        made = patches.merge_patch(info.object, patch)
    return dict(made) if isinstance(made, dict) else info.object


_LOCAL_FILES = (
    "you must specify resources by --filename when --local is set.\nExample resource specifications include:\n"
    "   '-f rsrc.yaml'\n   '--filename=rsrc.json'"
)


def chosen(
    call: Call,
    words: Sequence[str] | None = None,
    *,
    need_name: str = "",
    failed: Callable[[StatusError], None] | None = None,
    wanted: Sequence[Target] | None = None,
) -> Iterator[Info]:
    """The objects a command changes: from the server, or with ``--local`` from the files alone.

    ``need_name`` is the complaint about a type without names, selector or ``--all``; ``failed`` is told of
    objects that cannot be had, which are reported on the call otherwise; ``wanted`` is what the words mean, where
    that has been looked up.
    """
    wanted = targets(call, words) if wanted is None else wanted
    if not wanted:
        raise failure(NOTHING_GIVEN)
    flags = call.flags
    if flags.get("local"):
        if not flags["filename"] and not flags.get("kustomize"):
            if call.command.startswith("set "):
                raise failure(_LOCAL_FILES)
            raise failure("cannot specify --local and server resources")
        for _, manifest in read_sources(call, flags["filename"]):
            resource = call.resource_of(manifest)
            if resource is not None:
                yield Info(resource, manifest)
        return
    named = any(target.name is not None for target in wanted)
    selected = flags.get("all") or flags.get("selector") or flags.get("field-selector")
    if not named and not selected and need_name:
        raise failure(need_name)
    yield from visit(call, wanted, failed=failed)


def until(call: Call, done: Callable[[], bool], timeout: float, step: float = 1.0) -> bool:
    """Let time pass until ``done()``; False if that takes longer than ``timeout`` virtual seconds."""
    waited = 0.0
    while not done():
        if waited >= timeout:
            return False
        call.advance(min(step, timeout - waited))
        waited += step
    return True


def timeout_of(call: Call, default: float = PATIENCE) -> float:
    """``--timeout`` in seconds; 0 and negative values mean as long as a command may wait."""
    nanoseconds = int(call.flags.get("timeout") or 0)
    return min(nanoseconds / 1e9, 7 * 24 * 3600.0) if nanoseconds > 0 else default


def retrieving(resource: Resource, name: str, namespace: str, source: str) -> str:
    """How kubectl introduces what goes wrong while it reads what is there (``addSourceToErr``)."""
    return (
        "error when retrieving current configuration of:\n"
        f'Resource: "{resource.gvr_text}", GroupVersionKind: "{resource.gvk_text}"\n'
        f'Name: "{name}", Namespace: "{namespace}"\nfrom server for: "{source}": '
    )


def label_specs(text: str) -> dict[str, str]:
    """``a=b,c=d`` as kubectl's generators read labels and selectors. Raises their complaints."""
    found = {}
    for part in text.split(","):
        words = part.split("=")
        if len(words) != 2:
            raise failure(f"unexpected label spec: {part}")
        if not words[0]:
            raise failure("unexpected empty label key")
        found[words[0]] = words[1]
    return found


def pairs(words: tuple[str, ...], what: str) -> dict[str, Any]:
    """``a=b`` words as a mapping. Raises kubectl's complaint about others."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise failure(f"invalid {what}: {word}")
        found[key] = value
    return found


def amounts(text: str) -> dict[str, str]:
    """``cpu=1,memory=1G`` as a resource list. Raises kubectl's complaints."""
    found = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise failure(f"Invalid argument syntax {part}, expected <resource>=<value>")
        if not quantity.is_valid(value):
            raise failure(quantity.FORMAT_ERROR)
        found[name] = value
    return found


__all__ = [
    "ALL",
    "CAUSE",
    "FIELD_MANAGER",
    "LAST_APPLIED",
    "LOCAL",
    "NAMELESS",
    "NOTHING_GIVEN",
    "PATIENCE",
    "SAVE_CONFIG",
    "TIMEOUT",
    "UNNAMED",
    "VALIDATE",
    "DryRun",
    "KubectlError",
    "amounts",
    "chosen",
    "create_object",
    "dry_run_of",
    "fail_all",
    "from_files",
    "identity",
    "in_namespace",
    "introduced",
    "label_specs",
    "made",
    "pairs",
    "patch_object",
    "patched",
    "record",
    "recorded",
    "report",
    "retrieving",
    "selected",
    "shown_locally",
    "sourced",
    "strict_of",
    "timeout_of",
    "until",
    "warn_unknown",
    "with_last_applied",
]
