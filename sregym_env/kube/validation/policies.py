"""Validation of access rules, quotas, autoscalers, disruption budgets, nodes and definitions."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube import names, quantity
from sregym_env.kube.status import (
    GoValue,
    duplicate,
    forbidden_field,
    go_quote,
    invalid_value,
    required,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.validation.metadata import (
    IMMUTABLE,
    NOT_NEGATIVE,
    Errors,
    count_or_percent,
    needed,
    one_of,
    validate_selector,
)


def _spec(obj: Manifest) -> Manifest:
    spec: Manifest = obj.get("spec") or {}
    return spec


# --- access ---------------------------------------------------------------------------------------------------


def validate_role(obj: Manifest, out: Errors) -> None:
    """A Role."""
    _rules(obj, True, out)


def validate_cluster_role(obj: Manifest, out: Errors) -> None:
    """A ClusterRole."""
    _rules(obj, False, out)


def _rules(obj: Manifest, namespaced: bool, out: Errors) -> None:
    for index, rule in enumerate(obj.get("rules") or ()):
        where = f"rules[{index}]"
        needed(rule, "verbs", where, out, "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            if namespaced:
                text = "namespaced rules cannot apply to non-resource URLs"
                out.append(invalid_value(f"{where}.nonResourceURLs", rule["nonResourceURLs"], text))
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                text = "rules cannot apply to both regular resources and non-resource URLs"
                out.append(invalid_value(f"{where}.nonResourceURLs", rule["nonResourceURLs"], text))
            continue
        needed(rule, "apiGroups", where, out, "resource rules must supply at least one api group")
        needed(rule, "resources", where, out, "resource rules must supply at least one resource")


_RBAC = "rbac.authorization.k8s.io"


def validate_role_binding(obj: Manifest, out: Errors) -> None:
    """A RoleBinding."""
    _binding(obj, ("Role", "ClusterRole"), out)


def validate_cluster_role_binding(obj: Manifest, out: Errors) -> None:
    """A ClusterRoleBinding."""
    _binding(obj, ("ClusterRole",), out)


def _binding(obj: Manifest, kinds: tuple[str, ...], out: Errors) -> None:
    ref = obj.get("roleRef") or {}
    if ref.get("apiGroup") != _RBAC:
        out.append(unsupported("roleRef.apiGroup", ref.get("apiGroup", ""), (_RBAC,)))
    if ref.get("kind") not in kinds:
        out.append(unsupported("roleRef.kind", ref.get("kind", ""), kinds))
    if not ref.get("name"):
        out.append(required("roleRef.name"))
    for index, subject in enumerate(obj.get("subjects") or ()):
        where = f"subjects[{index}]"
        needed(subject, "name", where, out)
        kind = subject.get("kind")
        if kind == "ServiceAccount":
            name = subject.get("name")
            if name:
                complaints = names.dns1123_subdomain(name)
                out += [invalid_value(f"{where}.name", name, text) for text in complaints]
            if subject.get("apiGroup"):
                out.append(unsupported(f"{where}.apiGroup", subject["apiGroup"], ("",)))
            needed(subject, "namespace", where, out)
        elif kind in ("User", "Group"):
            if subject.get("apiGroup") != _RBAC:
                out.append(unsupported(f"{where}.apiGroup", subject.get("apiGroup", ""), (_RBAC,)))
        else:
            out.append(unsupported(f"{where}.kind", kind or "", ("ServiceAccount", "User", "Group")))


def update_binding(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a binding cannot change: the role it gives."""
    ref = new.get("roleRef") or {}
    if ref != old.get("roleRef"):
        fields = ", ".join(
            f"{go}:{go_quote(ref.get(key, ''))}"
            for go, key in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
        )
        out.append(invalid_value("roleRef", GoValue(f"rbac.RoleRef{{{fields}}}"), "cannot change roleRef"))


# --- scaling and disruption ---------------------------------------------------------------------------------------


def validate_autoscaler(obj: Manifest, out: Errors) -> None:
    """A HorizontalPodAutoscaler (v1 or v2)."""
    spec = _spec(obj)
    least, most = spec.get("minReplicas", 1), spec.get("maxReplicas") or 0
    if least < 1:
        out.append(invalid_value("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        out.append(invalid_value("spec.maxReplicas", most, "must be greater than 0"))
    if most < least:
        text = "must be greater than or equal to `minReplicas`"
        out.append(invalid_value("spec.maxReplicas", most, text))
    target = spec.get("scaleTargetRef") or {}
    needed(target, "kind", "spec.scaleTargetRef", out)
    needed(target, "name", "spec.scaleTargetRef", out)
    for index, metric in enumerate(spec.get("metrics") or ()):
        _metric(metric, f"spec.metrics[{index}]", out)
    behavior = spec.get("behavior") or {}
    for way in ("scaleUp", "scaleDown"):
        if behavior.get(way) is not None:
            _scaling_rules(behavior[way], f"spec.behavior.{way}", out)


LONGEST_STABILIZATION = 3600
"""Seconds for which an autoscaler may look back at most."""
LONGEST_SCALING_PERIOD = 1800
"""Seconds that the period of a scaling policy may have at most."""


def _scaling_rules(rules: Manifest, where: str, out: Errors) -> None:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        text = "must be greater than or equal to zero"
        out.append(invalid_value(f"{where}.stabilizationWindowSeconds", window, text))
    if window is not None and window > LONGEST_STABILIZATION:
        text = f"must be less than or equal to {LONGEST_STABILIZATION}"
        out.append(invalid_value(f"{where}.stabilizationWindowSeconds", window, text))
    one_of(rules, "selectPolicy", where, ("Disabled", "Max", "Min"), out)
    policies = rules.get("policies")
    if not policies:
        out.append(required(f"{where}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies or ()):
        at = f"{where}.policies[{index}]"
        one_of(policy, "type", at, ("Percent", "Pods"), out)
        for field in ("value", "periodSeconds"):
            if policy.get(field, 0) <= 0:
                out.append(invalid_value(f"{at}.{field}", policy.get(field, 0), "must be greater than zero"))
        if policy.get("periodSeconds", 0) > LONGEST_SCALING_PERIOD:
            text = f"must be less than or equal to {LONGEST_SCALING_PERIOD}"
            out.append(invalid_value(f"{at}.periodSeconds", policy["periodSeconds"], text))


_METRIC_FIELDS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _metric(metric: Manifest, where: str, out: Errors) -> None:
    kind = metric.get("type")
    if not kind:
        out.append(required(f"{where}.type", "must specify a metric source type"))
        return
    field = _METRIC_FIELDS.get(kind)
    if field is None:
        out.append(unsupported(f"{where}.type", kind, tuple(_METRIC_FIELDS)))
    elif metric.get(field) is None:
        text = "must populate information for the given metric source"
        out.append(required(f"{where}.{field}", text))
    else:
        target = metric[field].get("target") or {}
        at = f"{where}.{field}.target"
        needed(target, "type", at, out, "must specify a metric target type")
        share = target.get("averageUtilization")
        if share is not None and share < 1:
            out.append(invalid_value(f"{at}.averageUtilization", share, "must be greater than 0"))


def validate_disruption_budget(obj: Manifest, out: Errors) -> None:
    """A PodDisruptionBudget."""
    spec = _spec(obj)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        text = "minAvailable and maxUnavailable cannot be both set"
        out.append(invalid_value("spec", GoValue("policy.PodDisruptionBudgetSpec{...}"), text))
    for key, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            count_or_percent(value, f"spec.{key}", out)
    policies = ("AlwaysAllow", "IfHealthyBudget")
    one_of(spec, "unhealthyPodEvictionPolicy", "spec", policies, out)
    validate_selector(spec.get("selector"), "spec.selector", out)


def validate_priority_class(obj: Manifest, out: Errors) -> None:
    """A PriorityClass."""
    name = (obj.get("metadata") or {}).get("name") or ""
    value = obj.get("value") or 0
    if name.startswith("system-"):
        complaint = _system_class(name, value, bool(obj.get("globalDefault")))
        if complaint:
            text = f"priority class names with 'system-' prefix are reserved for system use only. error: {complaint}"
            out.append(forbidden_field("metadata.name", text))
    elif value > 1_000_000_000:
        text = "maximum allowed value of a user defined priority is 1000000000"
        out.append(forbidden_field("value", text))
    policy = obj.get("preemptionPolicy")
    if policy is not None and policy not in ("Never", "PreemptLowerPriority"):
        out.append(unsupported("preemptionPolicy", policy, ("Never", "PreemptLowerPriority")))


_SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def _system_class(name: str, value: int, default: bool) -> str:
    """What is wrong with a class of that reserved name, or ``""``."""
    known = _SYSTEM_CLASSES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def update_priority_class(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a PriorityClass cannot change."""
    if new.get("value") != old.get("value"):
        out.append(forbidden_field("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        out.append(invalid_value("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE))


# --- quotas and limits ----------------------------------------------------------------------------------------------

_QUOTA_NAMES = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    )
)


def validate_quota(obj: Manifest, out: Errors) -> None:
    """A ResourceQuota."""
    for name, amount in (_spec(obj).get("hard") or {}).items():
        where = f"spec.hard[{name}]"
        complaints = names.qualified_name(name)
        out += [invalid_value(where, name, text) for text in complaints]
        known = name in _QUOTA_NAMES or "/" in name or "hugepages-" in name or name.startswith("count/")
        if not complaints and not known:
            text = "must be a standard resource for quota"
            out.append(invalid_value(where, name, "must be a standard resource type or fully qualified"))
            out.append(invalid_value(where, name, text))
        if quantity.nano(amount or 0) < 0:
            out.append(invalid_value(where, amount, NOT_NEGATIVE))
    _quota_scopes(_spec(obj), out)
    _quota_selector((_spec(obj).get("scopeSelector") or {}).get("matchExpressions") or (), out)


_SCOPES = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
)
_SCOPED_NAMES = frozenset(
    ("pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
)
_OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))


def _quota_scopes(spec: Manifest, out: Errors) -> None:
    scopes = [scope or "" for scope in spec.get("scopes") or ()]
    shown = GoValue("[]core.ResourceQuotaScope{" + ", ".join(go_quote(scope) for scope in scopes) + "}")
    for scope in scopes:
        if scope not in _SCOPES:
            out.append(invalid_value("spec.scopes", shown, "unsupported scope"))
        allowed = frozenset(("pods",)) if scope == "BestEffort" else _SCOPED_NAMES
        for name in sorted(spec.get("hard") or ()):
            if name in _QUOTA_NAMES and name not in allowed:
                out.append(invalid_value("spec.scopes", shown, "unsupported scope applied to resource"))
    if any(left in scopes and right in scopes for left, right in _OPPOSITES):
        out.append(invalid_value("spec.scopes", shown, "conflicting scopes"))


def _quota_selector(terms: Sequence[Manifest], out: Errors) -> None:
    for index, term in enumerate(terms):
        where = f"spec.scopeSelector.matchExpressions[{index}]"
        operator, values = term.get("operator") or "", term.get("values") or ()
        if term.get("scopeName") not in _SCOPES:
            out.append(invalid_value(f"{where}.scopeName", term.get("scopeName") or "", "unsupported scope"))
        elif term["scopeName"] != "PriorityClass" and operator != "Exists":
            text = (
                "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort "
                "or ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            out.append(invalid_value(f"{where}.operator", operator, text))
        if operator in ("In", "NotIn") and not values:
            text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            out.append(required(f"{where}.values", text))
        elif operator in ("Exists", "DoesNotExist") and values:
            text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            out.append(invalid_value(f"{where}.values", list(values), text))
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            out.append(invalid_value(f"{where}.operator", operator, "not a valid selector operator"))


def validate_limit_range(obj: Manifest, out: Errors) -> None:
    """A LimitRange."""
    seen: set[Json] = set()
    for index, limit in enumerate(_spec(obj).get("limits") or ()):
        where = f"spec.limits[{index}]"
        kind = limit.get("type")
        if kind in seen:
            out.append(duplicate(f"{where}.type", kind))
        seen.add(kind)
        if kind == "Pod":
            for key in ("default", "defaultRequest"):
                if limit.get(key):
                    text = "may not be specified when `type` is 'Pod'"
                    out.append(forbidden_field(f"{where}.{key}", text))
        _limit_order(limit, where, out)


_ORDER = (
    ("min", "max", "min value {0} is greater than max value {1}"),
    ("defaultRequest", "default", "default request value {0} is greater than default limit value {1}"),
    ("min", "defaultRequest", "min value {0} is greater than default request value {1}"),
    ("min", "default", "min value {0} is greater than default value {1}"),
    ("defaultRequest", "max", "default request value {0} is greater than max value {1}"),
    ("default", "max", "default value {0} is greater than max value {1}"),
)


def _limit_order(limit: Manifest, where: str, out: Errors) -> None:
    for low, high, text in _ORDER:
        lows, highs = limit.get(low) or {}, limit.get(high) or {}
        for name in lows:
            if name in highs and quantity.compare(lows[name] or 0, highs[name] or 0) > 0:
                field = low if low != "defaultRequest" else "defaultRequest"
                message = text.format(lows[name], highs[name])
                out.append(invalid_value(f"{where}.{field}[{name}]", lows[name], message))


# --- cluster -----------------------------------------------------------------------------------------------------------


def validate_node(obj: Manifest, out: Errors) -> None:
    """A Node."""
    seen: set[Json] = set()
    for index, taint in enumerate(_spec(obj).get("taints") or ()):
        # The API server looks for taints in metadata, where they once were.
        where = f"metadata.taints[{index}]"
        key = taint.get("key") or ""
        out += [invalid_value(f"{where}.key", key, text) for text in names.qualified_name(key)]
        value = taint.get("value") or ""
        out += [invalid_value(f"{where}.value", value, text) for text in names.label_value(value)]
        effect = taint.get("effect")
        if not effect:
            out.append(required(f"{where}.effect"))
        elif effect not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            allowed = ("NoSchedule", "PreferNoSchedule", "NoExecute")
            out.append(unsupported(f"{where}.effect", effect, allowed))
        if (key, effect) in seen:
            shown = GoValue(
                f"core.Taint{{Key:{go_quote(key)}, Value:{go_quote(value)}, Effect:{go_quote(effect or '')}, "
                "TimeAdded:<nil>}"
            )
            out.append(duplicate(where, shown))
        seen.add((key, effect))
