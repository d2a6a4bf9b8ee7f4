"""``kubectl cordon``, ``uncordon`` and ``drain``."""

from __future__ import annotations

from functools import partial

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import DRY_RUN, SELECTOR, Flag
from sregym_env.tools.kubectl.resolve import Info, Target, visit
from sregym_env.tools.kubectl.writing import (
    TIMEOUT,
    dry_run_of,
    timeout_of,
    until,
)


def check_words(call: Call) -> None:
    """Refuse words that do not go together: these commands look at them before everything else."""
    if call.args and call.flags["selector"]:
        raise usage_failure("cannot specify both a node name and a --selector option", call.command)
    if not call.args and not call.flags["selector"]:
        raise failure(
            f"USAGE: {call.command} NODE [flags]\nSee 'kubectl {call.command} -h' for help and examples"
        )


def _nodes(call: Call) -> list[Info]:
    resource = call.find("nodes")
    words = [word.removeprefix("node/").removeprefix("nodes/") for word in call.args]
    wanted = [Target(resource, name) for name in words] or [Target(resource)]
    return list(visit(call, wanted))


def _dry(call: Call) -> str:
    return {"none": "", "client": " (dry run)", "server": " (server dry run)"}[dry_run_of(call)]


def _cordon(call: Call, info: Info, wanted: bool) -> None:
    word = "cordoned" if wanted else "uncordoned"
    if bool(info.object["spec"].get("unschedulable")) == wanted:
        call.print(f"node/{info.name} already {word}{_dry(call)}\n")
        return
    if dry_run_of(call) != "client":
        body = {"spec": {"unschedulable": True if wanted else None}}
        dry_run = dry_run_of(call) == "server"
        call.cluster.patch("nodes", info.name, body, dry_run=dry_run, field_manager=call.manager)
    call.print(f"node/{info.name} {word}{_dry(call)}\n")


def cordon(call: Call) -> None:
    """Mark nodes unschedulable."""
    for info in _nodes(call):
        _cordon(call, info, True)


def uncordon(call: Call) -> None:
    """Mark nodes schedulable."""
    for info in _nodes(call):
        _cordon(call, info, False)


# --- drain ----------------------------------------------------------------------------------------


class _Undrainable(KubectlError):
    """Pods that the flags do not allow to be removed, by reason."""

    def __init__(self, text: str, problems: list[str]) -> None:
        super().__init__(text)
        self.problems = problems


def drain(call: Call) -> None:
    """Cordon nodes and evict their pods."""
    for info in _nodes(call):
        _cordon(call, info, True)
        try:
            evicted = _evictable(call, info)
        except _Undrainable as error:
            call.warn(
                f'error: unable to drain node "{info.name}" due to error: {error.text}, continuing command...'
            )
            separate = "\n".join(error.problems)
            call.warn(f"There are pending nodes to be drained:\n {info.name}\n{separate}")
            call.exit_code = 1
            continue
        _evict(call, evicted)
        call.print(f"node/{info.name} drained{_dry(call)}\n")


def _evictable(call: Call, info: Info) -> list[Manifest]:
    pods = call.cluster.list("pods", None, field_selector=f"spec.nodeName={info.name}")
    selector = call.flags["pod-selector"]
    if selector:
        keep = {p["metadata"]["uid"] for p in call.cluster.list("pods", None, label_selector=selector)}
        pods = [pod for pod in pods if pod["metadata"]["uid"] in keep]
    chosen, daemons, bare, local = [], [], [], []
    for pod in pods:
        metadata = pod["metadata"]
        name = f"{metadata['namespace']}/{metadata['name']}"
        if "kubernetes.io/config.mirror" in (metadata.get("annotations") or {}):
            continue
        owner = next((o for o in metadata.get("ownerReferences", ()) if o.get("controller")), None)
        finished = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if owner is not None and owner["kind"] == "DaemonSet" and not finished:
            daemons.append(name)
            continue
        if owner is None and not finished:
            bare.append(name)
        if any("emptyDir" in volume for volume in pod["spec"].get("volumes", ())) and not finished:
            local.append(name)
        chosen.append(pod)
    problems = []
    if bare and not call.flags["force"]:
        problems.append(
            # kubectl says it twice.
            f"cannot delete cannot delete Pods that declare no controller (use --force to override): {', '.join(bare)}"
        )
    if daemons and not call.flags["ignore-daemonsets"]:
        problems.append(
            f"cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): {', '.join(daemons)}"
        )
    if local and not call.flags["delete-emptydir-data"]:
        problems.append(
            f"cannot delete Pods with local storage (use --delete-emptydir-data to override): {', '.join(local)}"
        )
    if problems:
        text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise _Undrainable(text, problems)
    warnings = []
    if daemons:
        warnings.append(f"ignoring DaemonSet-managed Pods: {', '.join(daemons)}")
    if bare:
        warnings.append(f"deleting Pods that declare no controller: {', '.join(bare)}")
    if warnings:
        call.warn(f"Warning: {'; '.join(warnings)}")
    return chosen


def _evict(call: Call, pods: list[Manifest]) -> None:
    if dry_run_of(call) != "none":
        for pod in pods:
            call.print(f"evicting pod {pod['metadata']['namespace']}/{pod['metadata']['name']}{_dry(call)}\n")
        return
    limit = timeout_of(call)
    for pod in pods:
        metadata = pod["metadata"]
        call.print(f"evicting pod {metadata['namespace']}/{metadata['name']}\n")
        _evict_one(call, pod, limit)
    for pod in pods:
        metadata = pod["metadata"]
        if not until(call, partial(_gone, call, metadata), limit):
            raise failure(
                f'error when waiting for pod "{metadata["name"]}" in namespace "{metadata["namespace"]}" to terminate: global timeout reached: {limit:.0f}s'
            )
        call.print(f"pod/{metadata['name']} evicted\n")


def _evict_one(call: Call, pod: Manifest, limit: float) -> None:
    metadata = pod["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    grace = int(call.flags["grace-period"])
    if call.flags["disable-eviction"]:
        call.cluster.delete("pods", name, namespace, grace_period_seconds=None if grace < 0 else grace)
        return
    body: Manifest = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    if grace >= 0:
        body["deleteOptions"] = {"gracePeriodSeconds": grace}
    waited = 0.0
    while True:
        try:
            call.cluster.create(body, namespace=namespace, subresource="eviction", name=name)
            return
        except StatusError as error:
            if error.code == 404:
                return
            if error.code != 429:
                raise
            if waited >= limit:
                raise failure(
                    f'error when evicting pods/"{name}" -n "{namespace}": global timeout reached: {limit:.0f}s'
                ) from None
            call.warn(
                f'error when evicting pods/"{name}" -n "{namespace}" (will retry after 5s): {error.message}'
            )
            call.advance(5.0)
            waited += 5.0


def _gone(call: Call, metadata: Manifest) -> bool:
    try:
        found = call.cluster.get("pods", metadata["name"], metadata["namespace"])
    except StatusError as error:
        return error.code == 404
    return bool(found["metadata"]["uid"] != metadata["uid"])


_FLAGS = (SELECTOR, DRY_RUN)
CORDON = Verb(
    "cordon",
    "Mark node as unschedulable",
    cordon,
    _FLAGS,
    usage="cordon NODE",
    group="Cluster Management Commands",
)
UNCORDON = Verb(
    "uncordon",
    "Mark node as schedulable",
    uncordon,
    _FLAGS,
    usage="uncordon NODE",
    group="Cluster Management Commands",
)
DRAIN = Verb(
    "drain",
    "Drain node in preparation for maintenance",
    drain,
    (
        *_FLAGS,
        TIMEOUT,
        Flag("delete-emptydir-data", kind="bool", help="Continue even if there are pods using emptyDir."),
        Flag(
            "disable-eviction", kind="bool", help="Force drain to use delete, even if eviction is supported."
        ),
        Flag("force", kind="bool", help="Continue even if there are pods that do not declare a controller."),
        Flag(
            "grace-period",
            kind="int",
            default=-1,
            help="Period of time in seconds given to each pod to terminate gracefully.",
        ),
        Flag("ignore-daemonsets", kind="bool", help="Ignore DaemonSet-managed pods."),
        Flag("pod-selector", help="Label selector to filter pods on the node"),
        Flag(
            "skip-wait-for-delete-timeout",
            kind="int",
            help="Skip waiting for pods deleted longer ago than this.",
        ),
        Flag("chunk-size", kind="int", default=500, help="Return large lists in chunks."),
    ),
    usage="drain NODE",
    group="Cluster Management Commands",
)
