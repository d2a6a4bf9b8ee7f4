"""Validation of what a Job does with pods that end: back-off per index, failure and success policies."""

from __future__ import annotations

from sregym_env.kube.status import GoValue, duplicate, invalid_value, required, unsupported
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.cluster import domain_prefixed_path
from sregym_env.kube.validation.metadata import Errors, not_negative

_MOST_PARALLEL = 100_000
_MOST_RULES = 20
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")


def validate_ends(spec: Manifest, where: str, out: Errors) -> None:
    """The fields of a Job's spec that say what its pods' ends mean."""
    not_negative(spec, "backoffLimitPerIndex", where, out)
    not_negative(spec, "maxFailedIndexes", where, out)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        out.append(required(f"{where}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if spec.get("managedBy") is not None:
        domain_prefixed_path(spec["managedBy"], f"{where}.managedBy", out)
    if spec.get("completionMode") == "Indexed":
        _indexed(spec, where, out)
    else:
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(key) is not None:
                out.append(invalid_value(f"{where}.{key}", spec[key], "requires indexed completion mode"))
    if spec.get("podFailurePolicy") is not None:
        _failure_policy(spec, where, out)
    if spec.get("successPolicy") is not None:
        _success_policy(spec, where, out)
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None:
        allowed = (
            ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
        )
        if replacement not in allowed:
            out.append(unsupported(f"{where}.podReplacementPolicy", replacement, allowed))


def _indexed(spec: Manifest, where: str, out: Errors) -> None:
    completions, most = spec.get("completions"), spec.get("maxFailedIndexes")
    parallelism = spec.get("parallelism") or 0
    if parallelism > _MOST_PARALLEL:
        text = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
        out.append(invalid_value(f"{where}.parallelism", parallelism, text))
    if completions is not None and most is not None and most > completions:
        text = "must be less than or equal to completions"
        out.append(invalid_value(f"{where}.maxFailedIndexes", most, text))


def _failure_policy(spec: Manifest, where: str, out: Errors) -> None:
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {c.get("name") for field in ("containers", "initContainers") for c in pod.get(field) or ()}
    rules = spec["podFailurePolicy"].get("rules") or []
    base = f"{where}.podFailurePolicy.rules"
    if len(rules) > _MOST_RULES:
        out.append(invalid_value(base, len(rules), f"must have at most {_MOST_RULES} items"))
    for index, rule in enumerate(rules):
        _failure_rule(spec, rule, names, f"{base}[{index}]", out)


def _failure_rule(spec: Manifest, rule: Manifest, names: set[str | None], where: str, out: Errors) -> None:
    action = rule.get("action")
    if not action:
        out.append(required(f"{where}.action", f"valid values: {list(_ACTIONS)}"))
    elif action not in _ACTIONS:
        out.append(unsupported(f"{where}.action", action, _ACTIONS))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        text = "requires the backoffLimitPerIndex to be set"
        out.append(invalid_value(f"{where}.action", action, text))
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    whole = GoValue("batch.PodFailurePolicyRule{...}")
    if codes is not None and conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        out.append(invalid_value(where, whole, text))
    elif codes is None and not conditions:
        text = "specifying one of OnExitCodes and OnPodConditions is required"
        out.append(invalid_value(where, whole, text))
    if codes is not None:
        _exit_codes(codes, names, f"{where}.onExitCodes", out)
    for index, condition in enumerate(conditions or ()):
        at = f"{where}.onPodConditions[{index}]"
        if condition.get("status", "True") not in ("False", "True", "Unknown"):
            out.append(unsupported(f"{at}.status", condition["status"], ("False", "True", "Unknown")))


def _exit_codes(codes: Manifest, names: set[str | None], where: str, out: Errors) -> None:
    operator, values = codes.get("operator"), codes.get("values") or []
    if operator not in ("In", "NotIn"):
        out.append(unsupported(f"{where}.operator", operator or "", ("In", "NotIn")))
    name = codes.get("containerName")
    if name is not None and name not in names:
        text = "must be one of the container or initContainer names in the pod template"
        out.append(invalid_value(f"{where}.containerName", name, text))
    if not values:
        out.append(invalid_value(f"{where}.values", GoValue("[]int32{}"), "at least one value is required"))
    for index, value in enumerate(values):
        if value == 0 and operator == "In":
            text = "must not be 0 for the In operator"
            out.append(invalid_value(f"{where}.values[{index}]", value, text))
        if value in values[:index]:
            out.append(duplicate(f"{where}.values[{index}]", value))
    if values != sorted(values):
        shown = GoValue("[]int32{" + ", ".join(str(value) for value in values) + "}")
        out.append(invalid_value(f"{where}.values", shown, "must be ordered"))


def _success_policy(spec: Manifest, where: str, out: Errors) -> None:
    at = f"{where}.successPolicy"
    if spec.get("completionMode") != "Indexed":
        shown = GoValue("batch.SuccessPolicy{...}")
        out.append(invalid_value(at, shown, "requires indexed completion mode"))
        return
    rules = spec["successPolicy"].get("rules") or []
    if not rules:
        out.append(
            required(
                f"{at}.rules", "at least one rules must be specified when the successPolicy is specified"
            )
        )
    for index, rule in enumerate(rules):
        if rule.get("succeededIndexes") is None and rule.get("succeededCount") is None:
            text = "at least one of succeededCount or succeededIndexes must be specified"
            out.append(required(f"{at}.rules[{index}]", text))
        not_negative(rule, "succeededCount", f"{at}.rules[{index}]", out)
        completions = spec.get("completions")
        count = rule.get("succeededCount")
        if completions is not None and count is not None and count > completions:
            text = f"must be less than or equal to {completions} (the number of specified completions)"
            out.append(invalid_value(f"{at}.rules[{index}].succeededCount", count, text))
