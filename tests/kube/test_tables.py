"""Table cells of pods in every state, and of the other kinds where a rule decides."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube import registry, tables
from sregym_env.kube.durations import rfc3339

NOW = 1_760_000_000_000_000
CREATED = rfc3339(NOW - 3_600_000_000)


def pod(status: dict[str, Any], *, init: int = 0, containers: int = 1, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "creationTimestamp": CREATED, **metadata},
        "spec": {
            "containers": [{"name": f"c{i}"} for i in range(containers)],
            "initContainers": [{"name": f"i{i}"} for i in range(init)],
        },
        "status": status,
    }


def container(name: str = "c0", ready: bool = False, restarts: int = 0, **state: Any) -> dict[str, Any]:
    last = state.pop("last", None)
    return {
        "name": name,
        "ready": ready,
        "restartCount": restarts,
        "state": state,
        "lastState": {"terminated": {"finishedAt": last}} if last else {},
    }


RUNNING: dict[str, Any] = {"startedAt": CREATED}


@pytest.mark.parametrize(
    ("obj", "cells"),
    [
        (pod({"phase": "Pending"}), ("0/1", "Pending", "0")),
        (pod({"phase": "Running", "containerStatuses": [container(ready=True, running=RUNNING)]}), ("1/1", "Running", "0")),
        (
            pod({"phase": "Running", "containerStatuses": [
                container(restarts=3, waiting={"reason": "CrashLoopBackOff"}, last=rfc3339(NOW - 25_000_000))]}),
            ("0/1", "CrashLoopBackOff", "3 (25s ago)"),
        ),
        (pod({"phase": "Pending", "containerStatuses": [container(waiting={"reason": "ImagePullBackOff"})]}), ("0/1", "ImagePullBackOff", "0")),
        (pod({"phase": "Failed", "reason": "Evicted"}), ("0/1", "Evicted", "0")),
        (pod({"phase": "Succeeded", "containerStatuses": [container(terminated={"exitCode": 0, "reason": "Completed"})]}), ("0/1", "Completed", "0")),
        (pod({"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 2})]}), ("0/1", "ExitCode:2", "0")),
        (pod({"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 0, "signal": 9})]}), ("0/1", "Signal:9", "0")),
        (
            pod({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [
                container("c0", terminated={"exitCode": 0, "reason": "Completed"}), container("c1", True, running=RUNNING)]}, containers=2),
            ("1/2", "NotReady", "0"),
        ),
        (
            pod({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
                container("c0", terminated={"exitCode": 0, "reason": "Completed"}), container("c1", True, running=RUNNING)]}, containers=2),
            ("1/2", "Running", "0"),
        ),
        (pod({"phase": "Pending", "initContainerStatuses": [container("i0", running=RUNNING)]}, init=2), ("0/1", "Init:0/2", "0")),
        (
            pod({"phase": "Pending", "initContainerStatuses": [
                container("i0", terminated={"exitCode": 0}), container("i1", waiting={"reason": "PodInitializing"})]}, init=2),
            ("0/1", "Init:1/2", "0"),
        ),
        (pod({"phase": "Pending", "initContainerStatuses": [container("i0", restarts=2, waiting={"reason": "CrashLoopBackOff"})]}, init=1), ("0/1", "Init:CrashLoopBackOff", "2")),
        (pod({"phase": "Failed", "initContainerStatuses": [container("i0", terminated={"exitCode": 1, "reason": "Error"})]}, init=1), ("0/1", "Init:Error", "0")),
        (pod({"phase": "Running", "containerStatuses": [container(ready=True, running=RUNNING)]}, deletionTimestamp=CREATED), ("1/1", "Terminating", "0")),
        (pod({"phase": "Running", "reason": "NodeLost"}, deletionTimestamp=CREATED), ("0/1", "Unknown", "0")),
        (pod({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}), ("0/1", "SchedulingGated", "0")),
    ],
)  # fmt: skip
def test_pod_cells(obj: dict[str, Any], cells: tuple[str, str, str]) -> None:
    row = tables.PRINTERS["pods"].row(obj, NOW)
    assert tuple(row[1:4]) == cells
    assert row[4] == "60m"


def test_every_printer_names_a_resource_and_fills_its_columns() -> None:
    for key in tables.PRINTERS:
        assert registry.by_key(key) is not None, key


@pytest.mark.parametrize(
    ("service", "external", "ports"),
    [
        ({"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP"}]}, "<none>", "80/TCP"),
        ({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}, "<none>", "80:30080/TCP,53/UDP"),
        ({"type": "LoadBalancer"}, "<pending>", "<none>"),
        ({"type": "ExternalName", "externalName": "a.example"}, "a.example", "<none>"),
        ({"externalIPs": ["1.1.1.1", "2.2.2.2"]}, "1.1.1.1,2.2.2.2", "<none>"),
    ],
)  # fmt: skip
def test_service_cells(service: dict[str, Any], external: str, ports: str) -> None:
    row = tables.PRINTERS["services"].row({"metadata": {"name": "s"}, "spec": service}, NOW)
    assert (row[3], row[4], row[5]) == (external, ports, "<unknown>")


def test_custom_resources_use_their_own_columns() -> None:
    definition = {
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "additionalPrinterColumns": [
                        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
                        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                }
            ],
        }
    }
    resource = registry.custom_resources(definition)[0]
    printer = tables.printer(resource)
    obj = {"metadata": {"name": "f", "creationTimestamp": CREATED}, "spec": {"size": 3}}
    assert printer.headers(wide=False) == ["NAME", "PHASE", "AGE"]
    assert list(printer.cells(obj, NOW, wide=True)) == ["f", None, 3, "60m"]


def test_align_pads_like_the_tabwriter() -> None:
    assert tables.align([["A", "B"], ["long-name", "x"]]) == "A           B\nlong-name   x\n"
    assert tables.align([]) == ""
    assert tables.cell_text("one\ntwo") == "one..."
