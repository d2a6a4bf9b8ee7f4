"""Validation of API Priority and Fairness: flow schemas and priority levels."""

from __future__ import annotations

from sregym_env.kube.status import invalid_value, required, unsupported
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import Errors, needed, one_of

_HIGHEST = 10_000
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


def validate_flow_schema(obj: Manifest, out: Errors) -> None:
    """A FlowSchema."""
    spec: Manifest = obj.get("spec") or {}
    name = (obj.get("metadata") or {}).get("name")
    precedence = spec.get("matchingPrecedence", 0)
    where = "spec.matchingPrecedence"
    if precedence <= 0:
        out.append(invalid_value(where, precedence, "must be a positive value"))
    if precedence > _HIGHEST:
        out.append(invalid_value(where, precedence, f"must not be greater than {_HIGHEST}"))
    if precedence == 1 and name != "exempt":
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        out.append(invalid_value(where, precedence, text))
    method = spec.get("distinguisherMethod")
    if method is not None:
        one_of(method, "type", "spec.distinguisherMethod", ("ByNamespace", "ByUser"), out)
    if not (spec.get("priorityLevelConfiguration") or {}).get("name"):
        out.append(required("spec.priorityLevelConfiguration.name", "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules") or ()):
        _rule(rule, f"spec.rules[{index}]", out)


def _rule(rule: Manifest, where: str, out: Errors) -> None:
    needed(rule, "subjects", where, out, "subjects must contain at least one value")
    for index, subject in enumerate(rule.get("subjects") or ()):
        at, kind = f"{where}.subjects[{index}]", subject.get("kind", "")
        field = _SUBJECTS.get(kind)
        if field is None:
            out.append(unsupported(f"{at}.kind", kind, tuple(_SUBJECTS)))
        elif subject.get(field) is None:
            out.append(required(f"{at}.{field}", f"{field} is required when subject kind is '{kind}'"))
        else:
            needed(subject[field], "name", f"{at}.{field}", out)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        out.append(required(where, "at least one of resourceRules and nonResourceRules has to be non-empty"))
    for index, found in enumerate(rule.get("resourceRules") or ()):
        at = f"{where}.resourceRules[{index}]"
        needed(found, "verbs", at, out, "verbs must contain at least one value")
        needed(found, "apiGroups", at, out, "resource rules must supply at least one api group")
        needed(found, "resources", at, out, "resource rules must supply at least one resource")
        if not found.get("namespaces") and not found.get("clusterScope"):
            text = "resource rules that are not cluster scoped must supply at least one namespace"
            out.append(required(f"{at}.namespaces", text))
    for index, found in enumerate(rule.get("nonResourceRules") or ()):
        at = f"{where}.nonResourceRules[{index}]"
        needed(found, "verbs", at, out, "verbs must contain at least one value")
        needed(found, "nonResourceURLs", at, out, "nonResourceURLs must contain at least one value")


def validate_priority_level(obj: Manifest, out: Errors) -> None:
    """A PriorityLevelConfiguration."""
    spec: Manifest = obj.get("spec") or {}
    kind = spec.get("type", "")
    if kind not in ("Exempt", "Limited"):
        out.append(unsupported("spec.type", kind, ("Exempt", "Limited")))
    limited = spec.get("limited")
    if kind == "Limited" and limited is None:
        out.append(required("spec.limited", "must not be empty when type is Limited"))
    if kind != "Limited" or limited is None:
        return
    where = "spec.limited"
    shares = limited.get("nominalConcurrencyShares", 0)
    if shares < 0:
        text = "must be a non-negative integer"
        out.append(invalid_value(f"{where}.nominalConcurrencyShares", shares, text))
    lendable = limited.get("lendablePercent")
    if lendable is not None and not 0 <= lendable <= 100:
        out.append(
            invalid_value(f"{where}.lendablePercent", lendable, "must be between 0 and 100, inclusive")
        )
    _response(limited.get("limitResponse") or {}, f"{where}.limitResponse", out)


def _response(response: Manifest, where: str, out: Errors) -> None:
    if response.get("type") not in ("Queue", "Reject"):
        out.append(unsupported(f"{where}.type", response.get("type", ""), ("Queue", "Reject")))
    queuing = response.get("queuing")
    if response.get("type") == "Queue" and queuing is None:
        out.append(required(f"{where}.queuing", "must not be empty if limited response type is Queue"))
    for field in ("queues", "handSize", "queueLengthLimit"):
        value = (queuing or {}).get(field, 1)
        if value <= 0:
            out.append(invalid_value(f"{where}.queuing.{field}", value, "must be positive"))
    if queuing and queuing.get("handSize", 0) > queuing.get("queues", 0):
        text = f"should not be greater than queues ({queuing.get('queues')})"
        out.append(invalid_value(f"{where}.queuing.handSize", queuing["handSize"], text))
