"""A source of truth that is wrong, and a program that applies it again and again."""

from __future__ import annotations

import shlex
from typing import Any

import orjson

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Create, JsonPatch, ObjectRef, RecreatePods, RunCronJob
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import one_of
from sregym_env.faults.choices import wrong_port as another_port
from sregym_env.faults.commands import put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.faults.writers import ACCOUNT, API, PATCH, cronjob, rights, settings
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

RECONCILERS = (
    "state-sync", "config-sync", "manifest-sync", "fleet-sync", "release-sync", "baseline-apply", "desired-state", "cluster-sync",
    "delivery-sync", "drift-correction", "service-catalogue", "env-promoter",
)  # fmt: skip
"""Names of programs that apply what lies at a source."""

PLACES = ("gitops", "delivery", "platform-cd", "release-automation", "cd-system", "fleet")
"""Namespaces in which they run."""

DIRECTORY = "/desired"
SCRIPT = (
    f"{ACCOUNT}for f in {DIRECTORY}/*.json; do s=$(basename $f .json); "
    f"{PATCH} -d @$f {API}/api/v1/namespaces/$NAMESPACE/services/$s && echo synced service/$s; done"
)
"""What they do: every file is the desired state of the Service that it is called like."""

MORE = 3
"""How many other Services of the application the source holds."""


@fault(
    layer="kubernetes",
    mechanism="wrong_source_of_truth",
    targets=services(where=lambda target: not target.headless),
    level="hard",
)
def gitops_reverts(
    target: ServiceTarget,
    wrong_port: int = drawn(another_port, published=9999),
    reconciler: str = drawn(one_of(*RECONCILERS), published=RECONCILERS[0]),
    place: str = drawn(one_of(*PLACES), published=PLACES[0]),
    schedule: str = drawn(one_of("*/5 * * * *", "*/10 * * * *", "*/15 * * * *", "*/20 * * * *", "7,37 * * * *"), published="*/5 * * * *"),
) -> Fault:  # fmt: skip
    """A CronJob in another namespace applies the desired state of several Services, and a port in one of them is wrong.

    Who only mends the Service has it wrong again after the next run; who takes the program away leaves all its Services to
    themselves.
    """
    cron = ObjectRef("cronjobs.batch", reconciler, place)
    source = ObjectRef("configmaps", f"{reconciler}-desired", place)
    key = f"{target.name}.json"
    right, wrong = (
        _desired(target.manifest, target.port_index),
        target.manifest["spec"]["ports"][target.port_index],
    )
    wrong = _state(wrong["port"], wrong_port)
    path = f"/spec/ports/{target.port_index}/targetPort"
    container = {
        "name": "sync",
        "command": ["sh", "-c", SCRIPT],
        "env": [{"name": "NAMESPACE", "value": target.namespace}],
        "volumeMounts": [{"name": "desired", "mountPath": DIRECTORY}],
    }
    volume: Manifest = {"name": "desired", "configMap": {"name": source.name}}
    mended = f"kubectl patch configmap {source.name} -n {place} -p {shlex.quote(orjson.dumps({'data': {key: right}}).decode())}"
    live = put(target.service, path, target.target_port)
    suspended = 'kubectl patch cronjob {} -n {} -p \'{{"spec":{{"suspend":{}}}}}\''
    return Fault(
        resource=source,
        cause=f"ConfigMap {source.name} in namespace {place}, from which CronJob {reconciler} applies the desired state of Services "
        f"({schedule}), says targetPort {wrong_port} for Service {target.name}, where {target.components[0]} listens on port "
        f"{target.port}; a Service that is mended by hand is reverted by the next run.",
        earlier=[
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}),
            *(Create(each) for each in rights(reconciler, place, target.namespace, "", "services")),
            Create(settings(source.name, place, {**_others(target), key: right})),
            Create(cronjob(cron, schedule, container, (volume,))),
        ],
        edits=[
            JsonPatch(source, f"/data/{key}", wrong),
            JsonPatch(target.service, path, wrong_port, by="curl"),
        ],
        trigger=[RunCronJob(cron), *(RecreatePods(caller) for caller in target.callers)],
        details={"field": "targetPort", "wrong": wrong_port, "right": target.port},
        facts={"writer": reconciler, "elsewhere": place, "port": target.port},
        remedies=[
            [mended, live],
            [
                suspended.format(reconciler, place, "true"),
                live,
                mended,
                suspended.format(reconciler, place, "false"),
            ],
        ],
        look=[
            f"kubectl get service {target.name} -n {target.namespace} -o yaml --show-managed-fields",
            "kubectl get cronjobs -A",
            f"kubectl get cronjob {reconciler} -n {place} -o yaml",
            f"kubectl get configmap {source.name} -n {place} -o yaml",
        ],
        accepts=[target.service, cron],
        aliases=[reconciler, source.name],
        cured=[_declares_another(cron, source, key, wrong_port)],
    )


def _state(port: int, target: int | str) -> str:
    return orjson.dumps({"spec": {"ports": [{"port": port, "targetPort": target}]}}).decode()


def _desired(service: Manifest, index: int = 0) -> str:
    """One port of a Service as a desired state."""
    port = service["spec"]["ports"][index]
    return _state(port["port"], port.get("targetPort", port["port"]))


def _others(target: ServiceTarget) -> dict[str, str]:
    """The desired state of other Services of its namespace, by file."""
    found = [
        (f"{name}.json", _desired(manifest))
        for (resource, namespace, name), manifest in target.inventory.declared.items()
        if resource == "services"
        and namespace == target.namespace
        and name != target.name
        and manifest["spec"].get("ports")
        and manifest["spec"].get("clusterIP") != "None"
    ]
    return dict(found[:MORE])


def _declares_another(cron: ObjectRef, source: ObjectRef, key: str, wrong: int) -> Predicate:
    """Whether the source says something else, and is applied still."""

    def cured(world: World) -> Finding:
        expected = f"{source.name} does not say {wrong}, and {cron.name} applies it"
        try:
            data = world.cluster.get(source.resource, source.name, source.namespace).get("data") or {}
            spec = world.cluster.get(cron.resource, cron.name, cron.namespace)["spec"]
        except StatusError as error:
            return Finding("source of truth", False, str(error), expected)
        if spec.get("suspend"):
            return Finding("source of truth", False, f"{cron.name} is suspended", expected)
        said = _target_ports(data.get(key, ""))
        return Finding(
            "source of truth", bool(said) and wrong not in said, f"it says {said or 'nothing'}", expected
        )

    return cured


def _target_ports(text: str) -> list[Any]:
    """The ports to which a desired state forwards."""
    try:
        return [port.get("targetPort") for port in orjson.loads(text)["spec"]["ports"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
