"""``kubectl rollout``: status, history, undo, restart, pause, resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sregym_env.kube.describe.pods import template
from sregym_env.kube.describe.text import Sheet
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.goorder import with_zeros
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    PRINTING,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.output import check_format, print_value, split_format, without_managed_fields
from sregym_env.tools.kubectl.resolve import Info, need_typed, targets, visit
from sregym_env.tools.kubectl.writing import (
    CAUSE,
    FIELD_MANAGER,
    TIMEOUT,
    dry_run_of,
    patch_object,
    report,
    timeout_of,
)

REVISION = "deployment.kubernetes.io/revision"
RESTARTED = "kubectl.kubernetes.io/restartedAt"

_DEPLOYMENTS, _DAEMONSETS, _STATEFULSETS = "deployments.apps", "daemonsets.apps", "statefulsets.apps"
_ROLLED = (_DEPLOYMENTS, _DAEMONSETS, _STATEFULSETS)

_VISITED = ("Pod", "ReplicaSet", "ReplicationController", "Job", "CronJob")
"""Kinds that kubectl's visitor of workloads knows, though they have no revisions."""

STATUS_LIMIT = 600.0
"""Virtual seconds after which ``rollout status`` stops watching when no ``--timeout`` was given."""


_GLANCE = 0.02
"""Virtual seconds between two looks at an object whose every change is told."""


def _wanted(call: Call) -> list[Info]:
    found = targets(call)
    if not found:
        raise failure("required resource not specified")
    infos = list(visit(call, found))
    if not infos and not call.exit_code:
        if call.command.split(" ")[1] not in ("restart", "status", "pause", "resume"):
            raise failure(f"no resources found in {call.namespace} namespace")
        call.warn(f"No resources found in {call.namespace} namespace.")
    return infos


# --- status ---------------------------------------------------------------------------------------


def status(call: Call) -> None:
    """Watch a rollout until it is done, telling its state after each change."""
    for info in _wanted(call):
        need_typed(info)
        viewer = _VIEWERS.get(info.resource.key)
        if viewer is None:
            raise failure(f"no status viewer has been implemented for {info.resource.kind}")
        revision = int(call.flags["revision"])
        limit = timeout_of(call, STATUS_LIMIT)
        waited = 0.0
        seen = None
        while True:
            obj = call.cluster.get(info.resource.address, info.name, info.namespace)
            text, done = viewer(obj, revision)
            version = obj["metadata"].get("resourceVersion")
            if version != seen:
                # One line for each event of the watch, whether or not it says something new.
                call.print(text)
                seen = version
            if done or not call.flags["watch"]:
                break
            if waited >= limit:
                raise KubectlError("error: timed out waiting for the condition")
            call.advance(_GLANCE)
            waited += _GLANCE


def _deployment(obj: Manifest, revision: int) -> tuple[str, bool]:
    name, spec, state = obj["metadata"]["name"], obj["spec"], obj.get("status", {})
    current = int((obj["metadata"].get("annotations") or {}).get(REVISION, 0))
    if revision and revision != current:
        raise failure(f"desired revision ({revision}) is different from the running revision ({current})")
    if obj["metadata"].get("generation", 0) > state.get("observedGeneration", 0):
        return "Waiting for deployment spec update to be observed...\n", False
    for condition in state.get("conditions", ()):
        if condition["type"] == "Progressing" and condition.get("reason") == "ProgressDeadlineExceeded":
            raise failure(f'deployment "{name}" exceeded its progress deadline')
    wanted, updated = int(spec.get("replicas", 1)), int(state.get("updatedReplicas", 0))
    total, available = int(state.get("replicas", 0)), int(state.get("availableReplicas", 0))
    waiting = f'Waiting for deployment "{name}" rollout to finish: '
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated...\n", False
    if total > updated:
        return f"{waiting}{total - updated} old replicas are pending termination...\n", False
    if available < updated:
        return f"{waiting}{available} of {updated} updated replicas are available...\n", False
    return f'deployment "{name}" successfully rolled out\n', True


def _daemonset(obj: Manifest, _revision: int) -> tuple[str, bool]:
    name, state = obj["metadata"]["name"], obj.get("status", {})
    if obj["spec"].get("updateStrategy", {}).get("type", "RollingUpdate") != "RollingUpdate":
        raise failure("rollout status is only available for RollingUpdate strategy type")
    if obj["metadata"].get("generation", 0) > state.get("observedGeneration", 0):
        return "Waiting for daemon set spec update to be observed...\n", False
    wanted, updated = state.get("desiredNumberScheduled", 0), state.get("updatedNumberScheduled", 0)
    waiting = f'Waiting for daemon set "{name}" rollout to finish: '
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new pods have been updated...\n", False
    available = state.get("numberAvailable", 0)
    if available < wanted:
        return f"{waiting}{available} of {wanted} updated pods are available...\n", False
    return f'daemon set "{name}" successfully rolled out\n', True


def _statefulset(obj: Manifest, _revision: int) -> tuple[str, bool]:
    spec, state = obj["spec"], obj.get("status", {})
    strategy = spec.get("updateStrategy", {})
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        raise failure("rollout status is only available for RollingUpdate strategy type")
    if obj["metadata"].get("generation", 0) > state.get("observedGeneration", 0):
        return "Waiting for statefulset spec update to be observed...\n", False
    replicas = int(spec.get("replicas", 1))
    if state.get("readyReplicas", 0) < replicas:
        return f"Waiting for {replicas - state.get('readyReplicas', 0)} pods to be ready...\n", False
    partition = strategy.get("rollingUpdate", {}).get("partition")
    updated = state.get("updatedReplicas", 0)
    if partition is not None:  # the API server always sets it
        if updated < replicas - partition:
            return (
                f"Waiting for partitioned roll out to finish: {updated} out of {replicas - partition} new pods have been updated...\n",
                False,
            )
        return f"partitioned roll out complete: {updated} new pods have been updated...\n", True
    if state.get("updateRevision") != state.get("currentRevision"):
        return (
            f"waiting for statefulset rolling update to complete {updated} pods at revision {state.get('updateRevision')}...\n",
            False,
        )
    return (
        f"statefulset rolling update complete {state.get('currentReplicas', 0)} pods at revision {state.get('currentRevision')}...\n",
        True,
    )


_VIEWERS: dict[str, Callable[[Manifest, int], tuple[str, bool]]] = {
    _DEPLOYMENTS: _deployment,
    _DAEMONSETS: _daemonset,
    _STATEFULSETS: _statefulset,
}


# --- history and undo -----------------------------------------------------------------------------


def _revisions(call: Call, info: Info, what: str = "history viewer") -> dict[int, Manifest]:
    """Stored revisions: number to ReplicaSet (Deployments) or ControllerRevision."""
    need_typed(info)
    if info.resource.key not in _ROLLED:
        if info.resource.kind in _VISITED:
            raise failure(f'no {what} has been implemented for "{info.resource.kind}"')
        doing = "retrieving history" if what == "history viewer" else "retrieving rollbacker"
        raise failure(
            f'error {doing} for "{info.resource.kind}", no visitor method exists for {{ {info.resource.kind}}}'
        )
    source = "replicasets.apps" if info.resource.key == _DEPLOYMENTS else "controllerrevisions.apps"
    uid = info.object["metadata"]["uid"]
    found = {}
    for obj in call.cluster.list(source, info.namespace):
        owners = obj["metadata"].get("ownerReferences", ())
        if any(owner["uid"] == uid for owner in owners):
            if source == "replicasets.apps":
                number = int((obj["metadata"].get("annotations") or {}).get(REVISION, 0))
            else:
                number = int(obj["revision"])
            found[number] = obj
    return dict(sorted(found.items()))


def _template(info: Info, revision: Manifest) -> Manifest:
    if info.resource.key == _DEPLOYMENTS:
        template = revision["spec"]["template"]
        # The hash is the ReplicaSet's own; in the Deployment's template it would never match one again.
        labels = {k: v for k, v in template["metadata"].get("labels", {}).items() if k != "pod-template-hash"}
        return {**template, "metadata": {**template["metadata"], "labels": labels}}
    found: Manifest = revision["data"]["spec"]["template"]
    # What controllers store is a strategic patch, with the order to replace the template and not to merge it.
    return {key: value for key, value in found.items() if key != "$patch"}


def _template_text(call: Call, info: Info, revision: Manifest) -> str:
    """The pod template of a revision; kubectl does not align the columns here."""
    spec = revision["spec"]["template"] if info.resource.key == _DEPLOYMENTS else _template(info, revision)
    sheet = Sheet(call.cluster.now())
    template(sheet, spec)
    return sheet.raw()


def history(call: Call) -> None:
    """List stored revisions, or show one."""
    for info in _wanted(call):
        revisions = _revisions(call, info)
        label = f"{info.resource.group_kind.lower()}/{info.name}"
        wanted = int(call.flags["revision"])
        if wanted < 0:
            raise failure(f"revision must be a positive integer: {wanted}")
        if call.flags["output"]:
            _print_revisions(call, [obj for number, obj in revisions.items() if wanted in (0, number)])
            continue
        if wanted:
            if wanted not in revisions:
                raise failure("unable to find the specified revision")
            text = _template_text(call, info, revisions[wanted])
            call.print(f"{label} with revision #{wanted}\n{text}\n")
            continue
        rows = [("REVISION", "CHANGE-CAUSE")]
        for number, obj in revisions.items():
            rows.append((str(number), (obj["metadata"].get("annotations") or {}).get(CAUSE) or "<none>"))
        width = max(len(row[0]) for row in rows) + 2
        lines = "".join(f"{row[0]:<{width}}{row[1]}\n" for row in rows)
        call.print(f"{label} \n{lines}\n")


def _print_revisions(call: Call, revisions: list[Manifest]) -> None:
    """What ``-o`` makes of revisions: the stored objects, as kubectl's own structs."""
    name, argument = split_format(call)
    check_format(call, name, argument)
    for obj in revisions:
        if name == "name":
            call.print(f"{obj['kind'].lower()}.apps/{obj['metadata']['name']}\n")
            continue
        if name == "yaml" and call.out:
            call.print("---\n")
        print_value(call, name, argument, without_managed_fields(with_zeros(obj)))


def undo(call: Call) -> None:
    """Go back to the previous revision, or to the one asked for."""
    wrong: list[KubectlError] = []
    for info in _wanted(call):
        try:
            _undo_one(call, info)
        except KubectlError as error:
            wrong.append(error)
    for each in wrong:
        # Several failures are told without a prefix.
        call.fail(each if len(wrong) == 1 else KubectlError(each.text.removeprefix("error: ")))


def _undo_one(call: Call, info: Info) -> None:
    if info.object["spec"].get("paused"):
        raise failure(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
        )
    revisions = _revisions(call, info, "rollbacker")
    wanted = int(call.flags["to-revision"])
    if wanted and wanted not in revisions:
        raise failure(f"unable to find specified revision {wanted} in history")
    if not wanted and len(revisions) < 2:
        if info.resource.key == _DAEMONSETS:
            raise failure("no last revision to roll back to")
        raise failure(f'no rollout history found for {info.resource.singular} "{info.name}"')
    number = wanted or sorted(revisions)[-2]
    target = _template(info, revisions[number])
    if target == info.object["spec"]["template"]:
        said = f"skipped rollback (current template already matches revision {number})"
        report(call, info.resource, info.object, said)
        return
    dry_run = dry_run_of(call)
    if dry_run == "client":
        text = _template_text(call, info, revisions[number])
        call.print(f"{info.label} {text} (dry run)\n")
        return
    body: Any = [{"op": "replace", "path": "/spec/template", "value": target}]
    call.cluster.patch(
        info.resource.address, info.name, body, namespace=info.namespace, type="json",
        dry_run=dry_run == "server", field_manager=call.manager,
    )  # fmt: skip
    # kubectl shows the object as it was.
    report(call, info.resource, info.object, "rolled back", dry_run)


# --- restart, pause, resume -----------------------------------------------------------------------


def restart(call: Call) -> None:
    """Have every pod replaced by marking the template."""
    for info in _wanted(call):
        if info.resource.key not in _ROLLED:
            raise failure(f'{info.resource.key} "{info.name}" restarting is not supported')
        if info.object["spec"].get("paused"):
            raise failure(
                f'{info.resource.key} "{info.name}" can\'t restart paused deployment (run rollout resume first)'
            )
        mark = {RESTARTED: rfc3339(call.cluster.now())}
        body = {"spec": {"template": {"metadata": {"annotations": mark}}}}
        try:
            patch_object(call, info, body, "restarted")
        except StatusError as error:
            call.fail(error)


def pause(call: Call) -> None:
    """Stop a deployment from rolling out."""
    _set_paused(call, True)


def resume(call: Call) -> None:
    """Let a paused deployment roll out again."""
    _set_paused(call, False)


def _set_paused(call: Call, wanted: bool) -> None:
    word = "paused" if wanted else "resumed"
    for info in _wanted(call):
        if info.resource.key != _DEPLOYMENTS:
            verb = "pausing" if wanted else "resuming"
            call.fail(failure(f'{info.resource.key} "{info.name}" {verb} is not supported'))
            continue
        if bool(info.object["spec"].get("paused")) == wanted:
            state = "already paused" if wanted else "not paused"
            call.fail(failure(f'{info.resource.key} "{info.name}" is {state}'))
            continue
        patch_object(call, info, {"spec": {"paused": True if wanted else None}}, word)


_NAMED = (FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR)
_SELECTION = (*_NAMED, OUTPUT)
_TO = Flag("to-revision", kind="int", help="The revision to rollback to. Default to 0 (last revision).")

ROLLOUT = Verb(
    "rollout",
    "Manage the rollout of a resource",
    verbs=(
        Verb(
            "history",
            "View rollout history",
            history,
            (
                *_SELECTION,
                *PRINTING,
                Flag("revision", kind="int", help="See the details of the revision specified"),
            ),
        ),
        Verb("pause", "Mark the provided resource as paused", pause, (*_SELECTION, *PRINTING, FIELD_MANAGER)),
        Verb("restart", "Restart a resource", restart, (*_SELECTION, *PRINTING, FIELD_MANAGER)),
        Verb("resume", "Resume a paused resource", resume, (*_SELECTION, *PRINTING, FIELD_MANAGER)),
        Verb(
            "status",
            "Show the status of the rollout",
            status,
            (
                *_NAMED,
                TIMEOUT,
                Flag("revision", kind="int", help="Pin to a specific revision"),
                Flag(
                    "watch",
                    "w",
                    kind="bool",
                    default=True,
                    help="Watch the status of the rollout until it's done.",
                ),
            ),
        ),
        Verb("undo", "Undo a previous rollout", undo, (*_SELECTION, DRY_RUN, _TO)),
    ),
    usage="rollout SUBCOMMAND",
    description="Manage the rollout of one or many resources.\n        \n Valid resource types include:\n\n  *  deployments\n  *  daemonsets\n  *  statefulsets",
    group="Deploy Commands",
)
