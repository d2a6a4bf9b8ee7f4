"""``kubectl create namespace``, ``quota``, ``priorityclass`` and ``poddisruptionbudget``."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.selectors import parse_labels
from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.create.generator import Generator, verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.writing import amounts

_OPERATORS = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist", "!=": "NotIn"}


def _label_selector(text: str) -> Manifest:
    """``a=b,c in (d)`` as a LabelSelector. Raises kubectl's complaint about what is none."""
    try:
        found = parse_labels(text)
    except ValueError as error:
        raise failure(str(error)) from None
    labels = {r.key: r.values[0] for r in found.requirements if r.operator in ("=", "==")}
    expressions = [
        {"key": r.key, "operator": _OPERATORS[r.operator], **({"values": list(r.values)} if r.values else {})}
        for r in found.requirements
        if r.operator not in ("=", "==")
    ]
    selector: Manifest = {"matchLabels": labels} if labels else {}
    return {**selector, **({"matchExpressions": expressions} if expressions else {})}


def _namespace(_call: Call, _name: str) -> Manifest:
    return {"spec": {}, "status": {}}


def _quota(call: Call, _name: str) -> Manifest:
    hard = amounts(str(call.flags["hard"]))
    spec: dict[str, Any] = {"hard": hard} if hard else {}
    if call.flags["scopes"]:
        spec["scopes"] = str(call.flags["scopes"]).split(",")
    return {"spec": spec, "status": {}}


def _priorityclass(call: Call, _name: str) -> Manifest:
    flags = call.flags
    body: Manifest = {"value": int(flags["value"]), "preemptionPolicy": flags["preemption-policy"]}
    if flags["global-default"]:
        body["globalDefault"] = True
    if flags["description"]:
        body["description"] = flags["description"]
    return body


def _pdb(call: Call, _name: str) -> Manifest:
    flags = call.flags
    least, most = flags["min-available"], flags["max-unavailable"]
    if not flags["selector"]:
        raise failure("a selector must be specified")
    if not least and not most:
        raise failure("one of min-available or max-unavailable must be specified")
    if least and most:
        raise failure("min-available and max-unavailable cannot be both specified")
    amount = str(least or most)
    if not is_whole(amount.removesuffix("%")):
        raise failure(f"invalid format specified for {'min-available' if least else 'max-unavailable'}")
    spec: dict[str, Any] = {
        "minAvailable" if least else "maxUnavailable": whole(amount, amount),
        "selector": _label_selector(str(flags["selector"])),
    }
    status = dict.fromkeys(("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"), 0)
    return {"spec": spec, "status": status}


NAMESPACE = verb(
    "namespace",
    "Create a namespace with the specified name",
    Generator("namespaces", _namespace, ""),
    aliases=("ns",),
)
QUOTA = verb(
    "quota",
    "Create a quota with the specified name",
    Generator("resourcequotas", _quota, "quota:"),
    Flag("hard", help="A comma-delimited set of resource=quantity pairs that define a hard limit."),
    Flag("scopes", help="A comma-delimited set of quota scopes."),
    aliases=("resourcequota",),
)
PRIORITY_CLASS = verb(
    "priorityclass",
    "Create a priority class with the specified name",
    Generator("priorityclasses", _priorityclass, "priorityclass:"),
    Flag("value", kind="int32", help="the value of this priority class."),
    Flag(
        "global-default",
        kind="bool",
        help="global-default specifies whether this PriorityClass should be considered as the default priority.",
    ),
    Flag("description", help="description is an arbitrary string."),
    Flag(
        "preemption-policy",
        default="PreemptLowerPriority",
        help="preemption-policy is the policy for preempting pods with lower priority.",
    ),
    aliases=("pc",),
)
DISRUPTION_BUDGET = verb(
    "poddisruptionbudget",
    "Create a pod disruption budget with the specified name",
    Generator("poddisruptionbudgets", _pdb, "poddisruptionbudgets:"),
    Flag("min-available", help="The minimum number or percentage of available pods this budget requires."),
    Flag(
        "max-unavailable", help="The maximum number or percentage of unavailable pods this budget requires."
    ),
    Flag("selector", help="A label selector to use for this budget. Only equality-based selectors."),
    aliases=("pdb",),
)
