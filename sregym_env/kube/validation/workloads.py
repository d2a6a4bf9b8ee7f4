"""Validation of the kinds that make pods: deployments, sets, jobs, cron jobs."""

from __future__ import annotations

from sregym_env.kube import selectors
from sregym_env.kube.status import (
    GoValue,
    forbidden_field,
    go_literal,
    go_quote,
    invalid_value,
    required,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.validation.cron import schedule_error
from sregym_env.kube.validation.jobs import validate_ends
from sregym_env.kube.validation.metadata import (
    IMMUTABLE,
    NOT_NEGATIVE,
    Errors,
    count_or_percent,
    immutable,
    not_negative,
    one_of,
    percentage,
    selector_value,
    validate_selector,
)
from sregym_env.kube.validation.pods import validate_template


def _spec(obj: Manifest) -> Manifest:
    spec: Manifest = obj.get("spec") or {}
    return spec


def _selector_and_template(spec: Manifest, empty: str, out: Errors, with_spec: bool = True) -> None:
    selector = spec.get("selector")
    if selector is None:
        out.append(required("spec.selector"))
    else:
        validate_selector(selector, "spec.selector", out)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            out.append(invalid_value("spec.selector", selector_value(selector), empty))
    template = spec.get("template")
    if template is not None:
        _labels_match(selector, template, out)
    validate_template(template, "spec.template", out, with_spec)
    _always_restarts(template, out)


def _labels_match(selector: Manifest | None, template: Manifest, out: Errors) -> None:
    if not selector or not (selector.get("matchLabels") or selector.get("matchExpressions")):
        return
    labels = (template.get("metadata") or {}).get("labels") or {}
    try:
        matches = selectors.from_dict(selector).matches(labels)
    except ValueError:
        return  # the selector itself is wrong, which has been said
    if not matches:
        shown = GoValue(go_literal(labels) if labels else "map[string]string(nil)")
        text = "`selector` does not match template `labels`"
        out.append(invalid_value("spec.template.metadata.labels", shown, text))


def _always_restarts(template: Manifest | None, out: Errors) -> None:
    spec = (template or {}).get("spec") or {}
    policy = spec.get("restartPolicy", "Always")
    if policy != "Always":
        out.append(unsupported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        where = "spec.template.spec.activeDeadlineSeconds"
        out.append(forbidden_field(where, "activeDeadlineSeconds in ReplicaSet is not Supported"))


def _int_or_string(value: Json) -> GoValue:
    if isinstance(value, str):
        return GoValue(f"intstr.IntOrString{{Type:1, IntVal:0, StrVal:{go_quote(value)}}}")
    return GoValue(f'intstr.IntOrString{{Type:0, IntVal:{value}, StrVal:""}}')


def _is_zero(value: Json) -> bool:
    return value == 0 if isinstance(value, int) else percentage(value) == 0


def validate_deployment(obj: Manifest, out: Errors) -> None:
    """A Deployment."""
    spec = _spec(obj)
    not_negative(spec, "replicas", "spec", out)
    _selector_and_template(spec, "empty selector is invalid for deployment", out)
    _deployment_strategy(spec.get("strategy") or {}, out)
    not_negative(spec, "minReadySeconds", "spec", out)
    not_negative(spec, "revisionHistoryLimit", "spec", out)
    not_negative(spec, "progressDeadlineSeconds", "spec", out)
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        text = "must be greater than minReadySeconds"
        out.append(invalid_value("spec.progressDeadlineSeconds", deadline, text))


def _deployment_strategy(strategy: Manifest, out: Errors) -> None:
    kind = strategy.get("type", "RollingUpdate")
    rolling = strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            text = "may not be specified when strategy `type` is 'Recreate'"
            out.append(forbidden_field("spec.strategy.rollingUpdate", text))
    elif kind != "RollingUpdate":
        shown = GoValue(
            f"apps.DeploymentStrategy{{Type:{go_quote(kind)}, RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}}"
        )
        out.append(unsupported("spec.strategy", shown, ("Recreate", "RollingUpdate")))
    elif rolling is not None:
        where = "spec.strategy.rollingUpdate"
        unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
        count_or_percent(unavailable, f"{where}.maxUnavailable", out)
        count_or_percent(surge, f"{where}.maxSurge", out)
        if _is_zero(unavailable) and _is_zero(surge):
            text = "may not be 0 when `maxSurge` is 0"
            out.append(invalid_value(f"{where}.maxUnavailable", _int_or_string(unavailable), text))
        too_high = percentage(unavailable)
        if too_high is not None and too_high > 100:
            shown = _int_or_string(unavailable)
            out.append(invalid_value(f"{where}.maxUnavailable", shown, "must not be greater than 100%"))


def update_deployment(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a Deployment cannot change."""
    selector = _spec(new).get("selector")
    immutable(_spec(new), _spec(old), "selector", "spec", out, selector_value(selector))


def validate_replica_set(obj: Manifest, out: Errors) -> None:
    """A ReplicaSet."""
    spec = _spec(obj)
    not_negative(spec, "replicas", "spec", out)
    not_negative(spec, "minReadySeconds", "spec", out)
    _selector_and_template(spec, "empty selector is invalid for deployment", out)


def validate_pod_template(obj: Manifest, out: Errors) -> None:
    """A PodTemplate."""
    validate_template(obj.get("template"), "template", out)


def validate_replication_controller(obj: Manifest, out: Errors) -> None:
    """A ReplicationController, whose selector is a plain map."""
    spec = _spec(obj)
    not_negative(spec, "replicas", "spec", out)
    not_negative(spec, "minReadySeconds", "spec", out)
    selector = spec.get("selector")
    if not selector:
        out.append(required("spec.selector"))
    elif spec.get("template") is not None:
        _labels_match({"matchLabels": selector}, spec["template"], out)
    validate_template(spec.get("template"), "spec.template", out)
    _always_restarts(spec.get("template"), out)


_STATEFUL_FIELDS = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def validate_stateful_set(obj: Manifest, out: Errors) -> None:
    """A StatefulSet."""
    spec = _spec(obj)
    policy = spec.get("podManagementPolicy")
    if policy is None:
        out.append(required("spec.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        text = "must be 'OrderedReady' or 'Parallel'"
        out.append(invalid_value("spec.podManagementPolicy", policy, text))
    strategy = spec.get("updateStrategy") or {}
    kind = strategy.get("type")
    rolling = strategy.get("rollingUpdate")
    if kind == "OnDelete" and rolling is not None:
        text = "only allowed for updateStrategy 'RollingUpdate'"
        out.append(invalid_value("spec.updateStrategy.rollingUpdate", _go_map(rolling), text))
    elif kind not in ("OnDelete", "RollingUpdate", None):
        text = "must be 'RollingUpdate' or 'OnDelete'"
        out.append(invalid_value("spec.updateStrategy", _go_map(strategy), text))
    elif rolling is not None:
        not_negative(rolling, "partition", "spec.updateStrategy.rollingUpdate", out)
    not_negative(spec, "replicas", "spec", out)
    not_negative(spec, "minReadySeconds", "spec", out)
    _selector_and_template(spec, "empty selector is invalid for statefulset", out, with_spec=False)
    template = spec.get("template")
    if template is not None and not (template.get("spec") or {}).get("containers"):
        out.append(required("spec.template.spec.containers"))
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        if not (claim.get("metadata") or {}).get("name"):
            out.append(required(f"spec.volumeClaimTemplates[{index}].metadata.name"))


def _go_map(value: Manifest) -> GoValue:
    return GoValue(
        "{" + ", ".join(f"{k[:1].upper()}{k[1:]}:{go_literal(value[k])}" for k in sorted(value)) + "}"
    )


def update_stateful_set(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a StatefulSet cannot change."""
    after, before = _spec(new), _spec(old)
    changeable = (*_STATEFUL_FIELDS, "revisionHistoryLimit")
    if _without(after, changeable) != _without(before, changeable):
        listed = ", ".join(f"'{f}'" for f in _STATEFUL_FIELDS[:-1])
        text = (
            f"updates to statefulset spec for fields other than {listed} and "
            f"'{_STATEFUL_FIELDS[-1]}' are forbidden"
        )
        out.append(forbidden_field("spec", text))


def _without(spec: Manifest, fields: tuple[str, ...]) -> Manifest:
    rest = {k: v for k, v in spec.items() if k not in fields}
    claims = rest.get("volumeClaimTemplates")
    if claims:
        # Status of a claim template means nothing and differs between writers.
        rest["volumeClaimTemplates"] = [{k: v for k, v in c.items() if k != "status"} for c in claims]
    return rest


def validate_daemon_set(obj: Manifest, out: Errors) -> None:
    """A DaemonSet."""
    spec = _spec(obj)
    _selector_and_template(spec, "empty selector is invalid for daemonset", out)
    not_negative(spec, "minReadySeconds", "spec", out)
    strategy = spec.get("updateStrategy") or {}
    one_of(strategy, "type", "spec.updateStrategy", ("OnDelete", "RollingUpdate"), out)
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        where = "spec.updateStrategy.rollingUpdate"
        unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
        count_or_percent(unavailable, f"{where}.maxUnavailable", out)
        count_or_percent(surge, f"{where}.maxSurge", out)
        if not _is_zero(unavailable) and surge is not None and not _is_zero(surge):
            text = "may not be set when maxUnavailable is non-zero"
            out.append(invalid_value(f"{where}.maxSurge", _int_or_string(surge), text))
        elif _is_zero(unavailable) and (surge is None or _is_zero(surge)):
            text = "cannot be 0 when maxSurge is 0"
            out.append(invalid_value(f"{where}.maxUnavailable", _int_or_string(unavailable), text))
    not_negative(spec, "revisionHistoryLimit", "spec", out)


def validate_job(obj: Manifest, out: Errors) -> None:
    """A Job."""
    _job_spec(_spec(obj), "spec", out)


def _job_spec(spec: Manifest, where: str, out: Errors) -> None:
    for key in (
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ):
        not_negative(spec, key, where, out)
    one_of(spec, "completionMode", where, ("NonIndexed", "Indexed"), out)
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        text = "when completion mode is Indexed"
        out.append(required(f"{where}.completions", text))
    validate_ends(spec, where, out)
    template = spec.get("template")
    validate_template(template, f"{where}.template", out)
    policy = ((template or {}).get("spec") or {}).get("restartPolicy")
    at = f"{where}.template.spec.restartPolicy"
    if policy in (None, "Always"):
        # A policy that was left out has been defaulted to Always by now.
        out.append(required(at, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        out.append(unsupported(at, policy, ("OnFailure", "Never")))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        out.append(invalid_value(at, policy, text))


def update_job(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a Job cannot change."""
    after, before = _spec(new), _spec(old)
    if before.get("completionMode", "NonIndexed") != "Indexed":
        immutable(after, before, "completions", "spec", out)
    immutable(after, before, "selector", "spec", out, selector_value(after.get("selector")))
    suspended = before.get("suspend") and not (old.get("status") or {}).get("startTime")
    if not suspended and after.get("template") != before.get("template"):
        template = after.get("template") or {}
        shown = GoValue(f"core.PodTemplateSpec{_go_map(_named(template)).text}")
        out.append(invalid_value("spec.template", shown, IMMUTABLE))
    immutable(after, before, "completionMode", "spec", out)
    immutable(after, before, "podFailurePolicy", "spec", out)
    immutable(after, before, "backoffLimitPerIndex", "spec", out)


def _named(template: Manifest) -> Manifest:
    return {"objectMeta": template.get("metadata") or {}, "spec": template.get("spec") or {}}


def validate_cron_job(obj: Manifest, out: Errors) -> None:
    """A CronJob."""
    name = (obj.get("metadata") or {}).get("name") or ""
    if len(name) > 52:
        out.append(invalid_value("metadata.name", name, "must be no more than 52 characters"))
    spec = _spec(obj)
    schedule = spec.get("schedule")
    if not schedule:
        out.append(required("spec.schedule"))
    else:
        error = schedule_error(schedule)
        if error:
            out.append(invalid_value("spec.schedule", schedule, error))
        if schedule.startswith(("TZ=", "CRON_TZ=")):
            text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            out.append(invalid_value("spec.schedule", schedule, text))
    deadline = spec.get("startingDeadlineSeconds")
    if deadline is not None and deadline < 0:
        out.append(invalid_value("spec.startingDeadlineSeconds", deadline, NOT_NEGATIVE))
    zone = spec.get("timeZone")
    if zone is not None and not _is_zone(zone):
        text = "unknown time zone " + zone if zone else "timeZone must be nil or non-empty string"
        out.append(invalid_value("spec.timeZone", zone, text))
    policy = spec.get("concurrencyPolicy")
    if policy is not None and policy not in ("Allow", "Forbid", "Replace"):
        out.append(unsupported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace")))
    not_negative(spec, "successfulJobsHistoryLimit", "spec", out)
    not_negative(spec, "failedJobsHistoryLimit", "spec", out)
    template = spec.get("jobTemplate")
    if template is None:
        out.append(required("spec.jobTemplate"))
    else:
        _job_spec(template.get("spec") or {}, "spec.jobTemplate.spec", out)


def _is_zone(zone: str) -> bool:
    """Whether a name looks like one of the tz database; the database itself is not consulted."""
    area, _, place = zone.partition("/")
    if not place:
        return zone in ("UTC", "GMT", "EST", "MST", "HST", "CET", "EET", "WET", "MET", "Japan", "Israel")
    plain = place.replace("/", "").replace("_", "").replace("-", "").replace("+", "")
    return area in _AREAS and plain.isalnum()


_AREAS = frozenset(
    (
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Etc",
        "Europe",
        "Indian",
        "Pacific",
        "US",
    )
)
