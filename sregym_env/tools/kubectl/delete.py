"""``kubectl delete``."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.cluster.api import Propagation
from sregym_env.kube.status import StatusError
from sregym_env.tools.kubectl import rawwrites
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import NAMELESS, KubectlError, failure
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
from sregym_env.tools.kubectl.resolve import Info, Target, namespace_of, targets, visit
from sregym_env.tools.kubectl.writing import (
    ALL,
    NOTHING_GIVEN,
    TIMEOUT,
    UNNAMED,
    dry_run_of,
    sourced,
    timeout_of,
    until,
)

_PROPAGATION: dict[str, Propagation] = {
    "background": "Background",
    "foreground": "Foreground",
    "orphan": "Orphan",
    "true": "Background",
    "false": "Orphan",
}


def delete(call: Call) -> None:
    """Delete objects by name, selector or file, and wait until they are gone."""
    flags = call.flags
    propagation = _PROPAGATION.get(str(flags["cascade"]))
    if propagation is None:
        raise failure(
            f'invalid cascade value ({flags["cascade"]}). Must be "background", "foreground", or "orphan"'
        )
    if flags["raw"]:
        rawwrites.write(call, "DELETE")
        return
    wanted = targets(call)
    if not wanted and flags["filename"]:
        call.print("No resources found\n")
        return
    if not wanted:
        if flags["all"] or flags["selector"] or flags["field-selector"]:
            raise failure("at least one resource must be specified to use a selector")
        raise failure(NOTHING_GIVEN)
    named = any(target.name is not None for target in wanted)
    if not named and not (flags["all"] or flags["selector"] or flags["field-selector"]):
        raise failure(UNNAMED)
    if flags["all"] and (named or flags["selector"]):
        text = "name cannot be provided when a selector is specified" if named else ""
        if named and any("/" in arg for arg in call.args):
            text = "selectors and the all flag cannot be used when passing resource/name arguments"
        raise failure(text or "setting 'all' parameter but found a non empty selector. ")
    if flags["output"] not in ("", "name"):
        raise failure(f"unexpected -o output mode: {flags['output']}. We only support '-o name'")
    if flags["cascade"] in ("true", "false"):
        other = "background" if flags["cascade"] == "true" else "orphan"
        call.warn(
            f"warning: --cascade={flags['cascade']} is deprecated (boolean value) and can be replaced with "
            f"--cascade={other}."
        )
    grace, how = _grace(call)
    if flags["interactive"] and not _confirmed(call, wanted):
        return
    if dry_run_of(call) == "client":
        wanted, known = _split(call, wanted)
        for info in known:
            _delete_one(call, info, grace, propagation, how)
    gone: list[Info] = []
    found = False
    for target in wanted:
        for info in _visited(call, target):
            found = True
            if _delete_one(call, info, grace, propagation, how, target.source):
                gone.append(info)
    if not found and not call.exit_code and not named:
        call.print("No resources found\n")
    if flags["wait"] and dry_run_of(call) == "none" and gone:
        limit = timeout_of(call)
        if not until(call, lambda: all(_is_gone(call, info) for info in gone), limit):
            raise KubectlError(
                "error: timed out waiting for the condition"
                + "".join(
                    f" on {info.resource.plural}/{info.name}" for info in gone if not _is_gone(call, info)
                )
            )


def _confirmed(call: Call, wanted: list[Target]) -> bool:
    """Whether the person who was asked on standard input wants it."""
    infos = [info for target in wanted for info in _visited(call, target)]
    call.print(f"You are about to delete the following {len(infos)} resource(s):\n")
    call.print("".join(f"{info.label}\n" for info in infos))
    call.print("Do you want to continue? (y/n): ")
    if call.stdin.partition("\n")[0].strip().lower() in ("y", "yes"):
        return True
    call.print("deletion is cancelled\n")
    return False


def _visited(call: Call, target: Target) -> Iterator[Info]:
    """The objects a target names. kubectl asks for no namespace here: it deletes without looking first."""

    def failed(error: StatusError) -> None:
        call.fail(sourced(error, "deleting", target.source) if target.source else error)

    ignore = bool(call.flags["ignore-not-found"])
    if target.name is None:
        yield from visit(call, [target], ignore_not_found=ignore, failed=failed)
        return
    if target.nameless is not None:
        call.fail(failure(f'error when deleting "{target.source}": {NAMELESS}'))
        return
    try:
        found = call.cluster.get(target.resource.address, target.name, namespace_of(call, target))
    except StatusError as error:
        if error.code == 403:
            # Who may delete need not read; who may do neither is told of the deletion.
            found = {"metadata": {"name": target.name, "namespace": namespace_of(call, target)}}
        else:
            if not (ignore and error.code == 404):
                failed(error)
            return
    yield Info(target.resource, found)


def _grace(call: Call) -> tuple[int, str]:
    """Grace period in seconds (-1: the object's own), and how the report names an immediate deletion."""
    flags = call.flags
    grace = int(flags["grace-period"])
    if flags["now"]:
        if grace != -1:
            raise failure("--now and --grace-period cannot be specified together")
        grace = 1
    if flags["force"] and grace > 0:
        raise failure("--force and --grace-period greater than 0 cannot be specified together")
    if flags["force"]:
        call.warn(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been "
            "terminated. The resource may continue to run on the cluster indefinitely."
        )
        return 0, "force "
    # Without --force, kubectl turns zero into the shortest graceful deletion.
    return (1, "") if grace == 0 else (grace, "")


def _split(call: Call, wanted: list[Target]) -> tuple[list[Target], list[Info]]:
    """Targets to look up, and objects that are named: a client-side dry run believes that those exist."""
    known = [
        Info(target.resource, {"metadata": {"name": target.name, "namespace": namespace_of(call, target)}})
        for target in wanted
        if target.name is not None
    ]
    return [target for target in wanted if target.name is None], known


def _delete_one(
    call: Call, info: Info, grace: int, propagation: Propagation, how: str, source: str = ""
) -> bool:
    dry_run = dry_run_of(call)
    try:
        if dry_run != "client":
            call.cluster.delete(
                info.resource.address,
                info.name,
                info.namespace,
                grace_period_seconds=None if grace < 0 else grace,
                propagation=propagation,
                dry_run=dry_run == "server",
            )
    except StatusError as error:
        if not (error.code == 404 and call.flags["ignore-not-found"]):
            call.fail(sourced(error, "deleting", source) if source else error)
        return False
    note = {"none": "", "client": " (dry run)", "server": " (server dry run)"}[dry_run]
    kind = info.resource.group_kind.lower()
    if call.flags["output"] == "name":
        call.print(f"{kind}/{info.name}\n")
    else:
        call.print(f'{kind} "{info.name}" {how}deleted{note}\n')
    return True


def _is_gone(call: Call, info: Info) -> bool:
    try:
        found = call.cluster.get(info.resource.address, info.name, info.namespace)
    except StatusError as error:
        return error.code in (404, 403)
    return bool(found["metadata"]["uid"] != info.object["metadata"]["uid"])


DELETE = Verb(
    "delete",
    "Delete resources by file names, stdin, resources and names, or by resources and label selector",
    delete,
    (
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        SELECTOR,
        FIELD_SELECTOR,
        ALL,
        ALL_NAMESPACES,
        OUTPUT,
        DRY_RUN,
        TIMEOUT,
        Flag(
            "cascade",
            bare="background",
            default="background",
            help='Must be "background", "orphan", or "foreground".',
        ),
        Flag(
            "force",
            kind="bool",
            help="If true, immediately remove resources from API and bypass graceful deletion.",
        ),
        Flag(
            "grace-period",
            kind="int",
            default=-1,
            help="Period of time in seconds given to the resource to terminate gracefully.",
        ),
        Flag("ignore-not-found", kind="bool", help='Treat "resource not found" as a successful delete.'),
        Flag(
            "now",
            kind="bool",
            help="If true, resources are signaled for immediate shutdown (same as --grace-period=1).",
        ),
        Flag(
            "wait", kind="bool", default=True, help="If true, wait for resources to be gone before returning."
        ),
        Flag("raw", help="Raw URI to DELETE to the server."),
        Flag("interactive", "i", kind="bool", help="If true, delete resource only when user confirms."),
    ),
    usage="delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])",
    group="Basic Commands (Intermediate)",
)
