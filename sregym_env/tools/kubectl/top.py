"""``kubectl top``: what metrics-server last saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.kube import quantity, selectors
from sregym_env.kube.ordering import go_sorted
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.get import nothing_found

_MI = 1024 * 1024
_NANO_PER_MILLI = 1_000_000
Usage = tuple[int, int]
"""Billionths of a core and bytes. What is shown is rounded, what is added is not."""


def run_pods(call: Call) -> None:
    """CPU and memory of pods."""
    flags = call.flags
    _check_order(flags["sort-by"])
    if call.args and (flags["selector"] or flags["field-selector"]):
        raise failure("only one of NAME or selector can be provided")
    if len(call.args) > 1:
        raise usage_failure("pod [NAME | -l label]", "top pod")
    if call.args and call.all_namespaces:
        raise KubectlError("Error from server (NotFound): the server could not find the requested resource")
    _check_selectors(call)
    metrics = _pod_metrics(call)
    if not metrics:
        _explain_absence(call)
        return
    rows = [
        (item, name, usage)
        for item in metrics
        for name, usage in (_containers(item) if flags["containers"] else [("", _sum(item))])
    ]
    rows = _ordered(rows, flags["sort-by"])
    lines = [
        [
            *([item["metadata"]["namespace"]] if call.all_namespaces else []),
            item["metadata"]["name"],
            *([name] if flags["containers"] else []),
            _cores(usage[0]),
            f"{usage[1] // _MI}Mi",
        ]
        for item, name, usage in rows
    ]
    if not flags["no-headers"]:
        header = ["NAMESPACE"] if call.all_namespaces else []
        header += ["POD", "NAME"] if flags["containers"] else ["NAME"]
        lines.insert(0, [*header, "CPU(cores)", "MEMORY(bytes)"])
    if flags["sum"]:
        lines += _sum_lines(rows, len(lines[0]) if lines else 3)
    call.print(align([[*line, ""] for line in lines]))


def _sum_lines(rows: Sequence[tuple[Manifest, str, Usage]], width: int) -> list[list[str]]:
    cpu, memory = (sum(usage[i] for _, _, usage in rows) for i in (0, 1))
    blank = [""] * (width - 2)
    return [[*blank, "________", "________"], [*blank, _cores(cpu), f"{memory // _MI}Mi"]]


def _cores(nano: int) -> str:
    """Milli-cores, rounded up (``Quantity.MilliValue``)."""
    return f"{_milli(nano)}m"


def _milli(nano: int) -> int:
    return -(-nano // _NANO_PER_MILLI)


def _check_order(order: str) -> None:
    if order not in ("", "cpu", "memory"):
        raise failure("--sort-by accepts only cpu or memory")


def _check_selectors(call: Call) -> None:
    """Selectors are read before anybody is asked."""
    try:
        selectors.parse_labels(call.flags["selector"] or "")
        if call.flags.get("field-selector"):
            selectors.parse_fields(call.flags["field-selector"])
    except selectors.SelectorError as error:
        raise failure(str(error)) from None


def _pod_metrics(call: Call) -> list[Manifest]:
    flags = call.flags
    try:
        if call.args:
            return [call.cluster.get("pods.metrics.k8s.io", call.args[0], call.namespace)]
        metrics = call.cluster.list("pods.metrics.k8s.io", call.scope, label_selector=flags["selector"])
    except StatusError as error:
        raise _unavailable(error) from None
    if not flags["field-selector"]:
        return metrics
    pods = call.cluster.list("pods", call.scope, field_selector=flags["field-selector"])
    names = {(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in pods}
    return [m for m in metrics if (m["metadata"]["namespace"], m["metadata"]["name"]) in names]


def _unavailable(error: StatusError) -> StatusError | KubectlError:
    # Discovery leaves out a version behind which nobody answers, and so does kubectl.
    missing = error.code == 503 or "could not find the requested resource" in error.message
    return failure("Metrics API not available") if missing else error


def _explain_absence(call: Call) -> None:
    pods = call.cluster.list(
        "pods", call.scope, label_selector=call.flags["selector"], field_selector=call.flags["field-selector"]
    )
    if not pods:
        call.warn(nothing_found(call))
        return
    raise failure("metrics not available yet")


def _usage(values: Mapping[str, str]) -> Usage:
    return quantity.nano(values.get("cpu", "0")), quantity.bytes_(values.get("memory", "0"))


def _containers(item: Manifest) -> list[tuple[str, Usage]]:
    return [(container["name"], _usage(container["usage"])) for container in item.get("containers") or ()]


def _sum(item: Manifest) -> Usage:
    usages = [usage for _, usage in _containers(item)]
    return sum(usage[0] for usage in usages), sum(usage[1] for usage in usages)


def _ordered(rows: list[tuple[Manifest, str, Usage]], order: str) -> list[tuple[Manifest, str, Usage]]:
    if order == "cpu":
        return go_sorted(rows, lambda a, b: _milli(a[2][0]) > _milli(b[2][0]))
    if order:
        return go_sorted(rows, lambda a, b: a[2][1] > b[2][1])
    return sorted(rows, key=lambda row: (row[0]["metadata"].get("namespace", ""), row[0]["metadata"]["name"]))


def run_nodes(call: Call) -> None:
    """CPU and memory of nodes, absolute and relative to what pods may use."""
    flags = call.flags
    _check_order(flags["sort-by"])
    if len(call.args) > 1:
        raise usage_failure("node [NAME | -l label]", "top node")
    if call.args and flags["selector"]:
        raise failure("only one of NAME or --selector can be provided")
    _check_selectors(call)
    try:
        if call.args:
            metrics = [call.cluster.get("nodes.metrics.k8s.io", call.args[0])]
        else:
            metrics = call.cluster.list("nodes.metrics.k8s.io", label_selector=flags["selector"])
    except StatusError as error:
        raise _unavailable(error) from None
    if not metrics and not call.args:
        raise failure("metrics not available yet")
    known = {item["metadata"]["name"]: _usage(item.get("usage") or {}) for item in metrics}
    key = "capacity" if flags["show-capacity"] else "allocatable"
    nodes = {
        node["metadata"]["name"]: (node.get("status") or {}).get(key) or {}
        for node in call.cluster.list("nodes")
    }
    rows = [(name, usage, _usage(nodes.get(name, {}))) for name, usage in known.items()]
    index = 1 if flags["sort-by"] == "memory" else 0
    rows.sort(key=(lambda row: (-row[1][index], row[0])) if flags["sort-by"] else (lambda row: (0, row[0])))
    lines = [
        [
            name,
            _cores(used[0]),
            _percent(_milli(used[0]), _milli(whole[0])),
            f"{used[1] // _MI}Mi",
            _percent(used[1], whole[1]),
        ]
        for name, used, whole in rows
    ]
    if not call.args:
        unknown = ["<unknown>"] * 4
        lines += [[name, *unknown] for name in sorted(nodes) if name not in known]
    if not flags["no-headers"]:
        lines.insert(0, ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"])
    call.print(align([[*line, ""] for line in lines]))


def _percent(used: int, whole: int) -> str:
    return f"{used * 100 // whole}%" if whole else "0%"


_SHARED = (
    f.NO_HEADERS,
    f.SELECTOR,
    Flag("sort-by", help="If non-empty, sort using specified field: 'cpu' or 'memory'."),
    Flag("use-protocol-buffers", kind="bool", default=True, help="Enables using protocol-buffers."),
)

VERB = Verb(
    "top",
    "Display resource (CPU/memory) usage",
    description="Display resource (CPU/memory) usage.\n\n The top command allows you to see the resource consumption "
    "for nodes or pods.\n\n This command requires Metrics Server to be correctly configured and working on the server.",
    verbs=(
        Verb(
            "node",
            "Display resource (CPU/memory) usage of nodes",
            run_nodes,
            flags=(
                *_SHARED,
                Flag("show-capacity", kind="bool", help="Print node resources based on Capacity."),
            ),
            usage="top node [NAME | -l label] [options]",
            aliases=("nodes", "no"),
        ),
        Verb(
            "pod",
            "Display resource (CPU/memory) usage of pods",
            run_pods,
            flags=(
                *_SHARED,
                f.ALL_NAMESPACES,
                f.FIELD_SELECTOR,
                Flag("containers", kind="bool", help="If present, print usage of containers within a pod."),
                Flag("sum", kind="bool", help="Print the sum of the resource usage"),
            ),
            usage="top pod [NAME | -l label] [options]",
            aliases=("pods", "po"),
        ),
    ),
    group="Cluster Management Commands",
)
