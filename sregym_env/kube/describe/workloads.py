"""Describing the controllers of pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube.describe.pods import template
from sregym_env.kube.describe.text import (
    Reader,
    Sheet,
    conditions_table,
    controller_of,
    events_of,
    go_bool,
    rfc1123,
)
from sregym_env.kube.durations import human_duration, parse_rfc3339
from sregym_env.kube.tables import format_labels, format_selector
from sregym_env.kube.types import Manifest


def describe_deployment(obj: Manifest, reader: Reader) -> str:
    """A Deployment with its replica sets."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(metadata.get('creationTimestamp'))}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Selector:\t{format_selector(spec.get('selector'))}")
    sheet.line(
        0,
        f"Replicas:\t{spec.get('replicas', 1)} desired | {status.get('updatedReplicas', 0)} updated | "
        f"{status.get('replicas', 0)} total | {status.get('availableReplicas', 0)} available | "
        f"{status.get('unavailableReplicas', 0)} unavailable",
    )
    strategy = spec.get("strategy") or {}
    sheet.line(0, f"StrategyType:\t{strategy.get('type', '')}")
    sheet.line(0, f"MinReadySeconds:\t{spec.get('minReadySeconds', 0)}")
    rolling = strategy.get("rollingUpdate")
    if rolling:
        text = f"{rolling.get('maxUnavailable', '25%')} max unavailable, {rolling.get('maxSurge', '25%')} max surge"
        sheet.line(0, f"RollingUpdateStrategy:\t{text}")
    template(sheet, spec.get("template"))
    conditions_table(sheet, obj)
    old, new = replica_sets(obj, reader)
    sheet.line(0, f"OldReplicaSets:\t{_replica_sets(old)}")
    sheet.line(0, f"NewReplicaSet:\t{_replica_sets([new] if new else [])}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def replica_sets(deployment: Manifest, reader: Reader) -> tuple[list[Manifest], Manifest | None]:
    """The deployment's old replica sets and the one of its present template."""
    metadata = deployment["metadata"]
    owned = [
        rs
        for rs in reader.list(
            "replicasets.apps",
            metadata.get("namespace"),
            label_selector=_match_labels(deployment["spec"].get("selector")),
        )
        if any(o.get("uid") == metadata.get("uid") and o.get("controller") for o in _owners(rs))
    ]
    owned.sort(key=lambda rs: rs["metadata"].get("creationTimestamp") or "")
    wanted = _comparable(deployment["spec"].get("template"))
    new = next((rs for rs in owned if _comparable(rs["spec"].get("template")) == wanted), None)
    return [rs for rs in owned if rs is not new], new


def _owners(obj: Manifest) -> Sequence[Mapping[str, Any]]:
    return obj["metadata"].get("ownerReferences") or ()


def _match_labels(selector: Mapping[str, Any] | None) -> str:
    return ",".join(f"{k}={v}" for k, v in sorted(((selector or {}).get("matchLabels") or {}).items()))


def _comparable(pod_template: Mapping[str, Any] | None) -> Any:
    if not pod_template:
        return None
    metadata = pod_template.get("metadata") or {}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != "pod-template-hash"}
    return (labels, metadata.get("annotations") or {}, pod_template.get("spec"))


def _replica_sets(items: Sequence[Manifest]) -> str:
    return (
        ", ".join(
            f"{rs['metadata']['name']} ({(rs.get('status') or {}).get('replicas', 0)}/{rs['spec'].get('replicas', 1)}"
            " replicas created)"
            for rs in items
        )
        or "<none>"
    )


def _pods_status(obj: Manifest, reader: Reader, selector: str) -> str:
    uid = obj["metadata"].get("uid")
    counts = dict.fromkeys(("Running", "Pending", "Succeeded", "Failed"), 0)
    for pod in reader.list("pods", obj["metadata"].get("namespace"), label_selector=selector):
        if any(owner.get("controller") and owner.get("uid") != uid for owner in _owners(pod)):
            continue
        phase = (pod.get("status") or {}).get("phase", "Pending")
        if phase in counts:
            counts[phase] += 1
    return (
        f"{counts['Running']} Running / {counts['Pending']} Waiting / {counts['Succeeded']} Succeeded / "
        f"{counts['Failed']} Failed"
    )


def describe_replicaset(obj: Manifest, reader: Reader) -> str:
    """A ReplicaSet or ReplicationController."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    controller = obj["kind"] == "ReplicationController"
    selector = spec.get("selector") or {}
    text = format_labels(selector) if controller else format_selector(selector)
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"Selector:\t{text}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    if controller_of(obj):
        sheet.line(0, f"Controlled By:\t{controller_of(obj)}")
    sheet.line(0, f"Replicas:\t{status.get('replicas', 0)} current / {spec.get('replicas', 1)} desired")
    labels = (
        ",".join(f"{k}={v}" for k, v in sorted(selector.items())) if controller else _match_labels(selector)
    )
    sheet.line(0, f"Pods Status:\t{_pods_status(obj, reader, labels)}")
    template(sheet, spec.get("template"))
    conditions_table(sheet, obj)
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_statefulset(obj: Manifest, reader: Reader) -> str:
    """A StatefulSet."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(metadata.get('creationTimestamp'))}")
    sheet.line(0, f"Selector:\t{format_selector(spec.get('selector'))}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Replicas:\t{spec.get('replicas', 1)} desired | {status.get('replicas', 0)} total")
    strategy = spec.get("updateStrategy") or {}
    sheet.line(0, f"Update Strategy:\t{strategy.get('type', '')}")
    partition = (strategy.get("rollingUpdate") or {}).get("partition")
    if partition is not None:
        sheet.line(1, f"Partition:\t{partition}")
    sheet.line(0, f"Pods Status:\t{_pods_status(obj, reader, _match_labels(spec.get('selector')))}")
    template(sheet, spec.get("template"))
    _claim_templates(sheet, spec.get("volumeClaimTemplates") or ())
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _claim_templates(sheet: Sheet, claims: Sequence[Manifest]) -> None:
    if not claims:
        sheet.line(0, "Volume Claims:\t<none>")
        return
    sheet.line(0, "Volume Claims:")
    for claim in claims:
        metadata, spec = claim["metadata"], claim.get("spec") or {}
        sheet.line(1, f"Name:\t{metadata['name']}")
        sheet.line(1, f"StorageClass:\t{spec.get('storageClassName', '')}")
        sheet.labels("Labels", metadata.get("labels"), "  ")
        sheet.labels("Annotations", metadata.get("annotations"), "  ")
        requests = (spec.get("resources") or {}).get("requests") or {}
        sheet.line(1, f"Capacity:\t{requests.get('storage', '<default>')}")
        sheet.line(1, f"Access Modes:\t[{' '.join(spec.get('accessModes') or ())}]")


def describe_daemonset(obj: Manifest, reader: Reader) -> str:
    """A DaemonSet."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Selector:\t{format_selector(spec.get('selector'))}")
    sheet.line(0, f"Node-Selector:\t{format_labels(spec['template']['spec'].get('nodeSelector'))}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    for title, key in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        sheet.line(0, f"{title}: {status.get(key, 0)}")
    sheet.line(0, f"Pods Status:\t{_pods_status(obj, reader, _match_labels(spec.get('selector')))}")
    template(sheet, spec.get("template"))
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_job(obj: Manifest, reader: Reader) -> str:
    """A Job."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    if spec.get("selector") is not None:
        sheet.line(0, f"Selector:\t{format_selector(spec['selector'])}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    if controller_of(obj):
        sheet.line(0, f"Controlled By:\t{controller_of(obj)}")
    _job_spec(sheet, spec)
    start, end = status.get("startTime"), status.get("completionTime")
    if start:
        sheet.line(0, f"Start Time:\t{rfc1123(start)}")
    if end:
        sheet.line(0, f"Completed At:\t{rfc1123(end)}")
    if start and end:
        seconds = (parse_rfc3339(end) - parse_rfc3339(start)) // 1_000_000
        sheet.line(0, f"Duration:\t{human_duration(seconds)}")
    if spec.get("activeDeadlineSeconds") is not None:
        sheet.line(0, f"Active Deadline Seconds:\t{spec['activeDeadlineSeconds']}s")
    counts = f"{status.get('succeeded', 0)} Succeeded / {status.get('failed', 0)} Failed"
    ready = "" if status.get("ready") is None else f" ({status['ready']} Ready)"
    sheet.line(0, f"Pods Statuses:\t{status.get('active', 0)} Active{ready} / {counts}")
    if spec.get("completionMode") == "Indexed":
        sheet.line(0, f"Completed Indexes:\t{status.get('completedIndexes') or '<none>'}")
    template(sheet, spec.get("template"))
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _job_spec(sheet: Sheet, spec: Mapping[str, Any]) -> None:
    for title, key in (("Parallelism", "parallelism"), ("Completions", "completions")):
        value = spec.get(key)
        if value is not None or key == "completions":
            sheet.line(0, f"{title}:\t{'<unset>' if value is None else value}")
    if spec.get("completionMode") is not None:
        sheet.line(0, f"Completion Mode:\t{spec['completionMode']}")
    if spec.get("suspend") is not None:
        sheet.line(0, f"Suspend:\t{go_bool(spec['suspend'])}")
    if spec.get("backoffLimit") is not None:
        sheet.line(0, f"Backoff Limit:\t{spec['backoffLimit']}")
    if spec.get("ttlSecondsAfterFinished") is not None:
        sheet.line(0, f"TTL Seconds After Finished:\t{spec['ttlSecondsAfterFinished']}")


def describe_cronjob(obj: Manifest, reader: Reader) -> str:
    """A CronJob."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Schedule:\t{spec['schedule']}")
    sheet.line(0, f"Concurrency Policy:\t{spec.get('concurrencyPolicy', '')}")
    sheet.line(0, f"Suspend:\t{title(spec.get('suspend'))}")
    for label, key in (
        ("Successful Job History Limit", "successfulJobsHistoryLimit"),
        ("Failed Job History Limit", "failedJobsHistoryLimit"),
    ):
        sheet.line(0, f"{label}:\t{spec.get(key, '<unset>')}")
    deadline = spec.get("startingDeadlineSeconds")
    sheet.line(0, f"Starting Deadline Seconds:\t{'<unset>' if deadline is None else f'{deadline}s'}")
    job = spec["jobTemplate"]["spec"]
    sheet.line(0, f"Selector:\t{format_selector(job['selector']) if job.get('selector') else '<unset>'}")
    for label, key in (("Parallelism", "parallelism"), ("Completions", "completions")):
        value = job.get(key)
        sheet.line(0, f"{label}:\t{'<unset>' if value is None else value}")
    if job.get("activeDeadlineSeconds") is not None:
        sheet.line(0, f"Active Deadline Seconds:\t{job['activeDeadlineSeconds']}s")
    template(sheet, job.get("template"))
    last = status.get("lastScheduleTime")
    sheet.line(0, f"Last Schedule Time:\t{rfc1123(last) if last else '<unset>'}")
    active = ", ".join(ref["name"] for ref in status.get("active") or ())
    sheet.line(0, f"Active Jobs:\t{active or '<none>'}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def title(value: object) -> str:
    """``True``, ``False``, or ``<unset>`` for None."""
    return "<unset>" if value is None else str(bool(value))


def describe_hpa(obj: Manifest, reader: Reader) -> str:
    """A HorizontalPodAutoscaler."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(metadata.get('creationTimestamp'))}")
    target = spec["scaleTargetRef"]
    sheet.line(0, f"Reference:\t{target['kind']}/{target['name']}")
    sheet.line(0, "Metrics:\t( current / target )")
    current = status.get("currentMetrics") or ()
    for i, metric in enumerate(spec.get("metrics") or ()):
        _metric(sheet, metric, current[i] if i < len(current) else {})
    minimum = spec.get("minReplicas")
    sheet.line(0, f"Min replicas:\t{'<unset>' if minimum is None else minimum}")
    sheet.line(0, f"Max replicas:\t{spec['maxReplicas']}")
    _behavior(sheet, spec.get("behavior") or {})
    sheet.line(
        0,
        f"{target['kind']} pods:\t{status.get('currentReplicas', 0)} current / {status.get('desiredReplicas', 0)} desired",
    )
    conditions = status.get("conditions") or ()
    if conditions:
        sheet.line(0, "Conditions:\n  Type\tStatus\tReason\tMessage")
        sheet.line(1, "----\t------\t------\t-------")
        for c in conditions:
            sheet.line(1, f"{c['type']}\t{c['status']}\t{c.get('reason', '')}\t{c.get('message', '')}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _metric(sheet: Sheet, metric: Mapping[str, Any], status: Mapping[str, Any]) -> None:
    kind = metric["type"]
    field = kind[0].lower() + kind[1:]
    source = metric.get(field) or {}
    current = (status.get(field) or {}).get("current") or {}
    target = source.get("target") or {}
    name = (source.get("metric") or {}).get("name", "")
    if kind in ("Resource", "ContainerResource"):
        of = f"resource {source['name']} "
        if kind == "ContainerResource":
            of += f'of container "{source["container"]}" '
        if target.get("averageValue") is not None:
            sheet.line(
                1, f"{of}on pods:\t{current.get('averageValue', '<unknown>')} / {target['averageValue']}"
            )
            return
        value = "<unknown>"
        if current.get("averageUtilization") is not None:
            value = f"{current['averageUtilization']}% ({current.get('averageValue', '')})"
        wanted = target.get("averageUtilization")
        sheet.line(
            1,
            f"{of}on pods  (as a percentage of request):\t{value} / {'<auto>' if wanted is None else f'{wanted}%'}",
        )
    elif kind == "Pods":
        sheet.line(
            1, f'"{name}" on pods:\t{current.get("averageValue", "<unknown>")} / {target.get("averageValue")}'
        )
    elif kind == "Object":
        ref = source.get("describedObject") or {}
        average = target.get("averageValue") is not None
        key = "averageValue" if average else "value"
        sheet.line(
            1,
            f'"{name}" on {ref.get("kind")}/{ref.get("name")} ({"target average value" if average else "target value"})'
            f":\t{current.get(key, '<unknown>')} / {target.get(key)}",
        )
    else:
        average = target.get("averageValue") is not None
        key = "averageValue" if average else "value"
        sheet.line(
            1,
            f'"{name}" ({"target average value" if average else "target value"}):\t'
            f"{current.get(key, '<unknown>')} / {target.get(key)}",
        )


def _behavior(sheet: Sheet, behavior: Mapping[str, Any]) -> None:
    if not behavior:
        return
    sheet.line(0, "Behavior:")
    for key, word in (("scaleUp", "Scale Up"), ("scaleDown", "Scale Down")):
        rules = behavior.get(key)
        if not rules:
            continue
        sheet.line(1, f"{word}:")
        window = rules.get("stabilizationWindowSeconds")
        if window is not None:
            sheet.line(2, f"Stabilization Window: {window} seconds")
        if rules.get("policies"):
            sheet.line(2, f"Select Policy: {rules.get('selectPolicy', 'Max')}")
            sheet.line(2, "Policies:")
            for policy in rules["policies"]:
                sheet.line(
                    3,
                    f"- Type: {policy['type']}\tValue: {policy['value']}\tPeriod: {policy['periodSeconds']} seconds",
                )


def describe_pdb(obj: Manifest, reader: Reader) -> str:
    """A PodDisruptionBudget."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    if spec.get("minAvailable") is not None:
        sheet.line(0, f"Min available:\t{spec['minAvailable']}")
    elif spec.get("maxUnavailable") is not None:
        sheet.line(0, f"Max unavailable:\t{spec['maxUnavailable']}")
    selector = spec.get("selector")
    sheet.line(0, f"Selector:\t{format_selector(selector) if selector is not None else '<unset>'}")
    sheet.line(0, "Status:")
    for label, key in (
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ):
        sheet.line(2, f"{label}:\t{status.get(key, 0)}")
    sheet.events(events_of(reader, obj))
    return sheet.render()
