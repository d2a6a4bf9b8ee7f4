"""Which pods the scopes of a ResourceQuota cover."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.apiserver.quota import in_scope

ACROSS = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["other"]}]}}


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}}


REQUESTING = pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}])


def term(scope: str, operator: str, *values: str) -> dict[str, Any]:
    made: dict[str, Any] = {"scopeName": scope, "operator": operator}
    return {**made, "values": list(values)} if values else made


@pytest.mark.parametrize(
    ("quota", "obj", "covered"),
    [
        ({}, pod(), True),
        ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), True),
        ({"scopes": ["Terminating"]}, pod(), False),
        ({"scopes": ["NotTerminating", "BestEffort"]}, pod(), True),
        ({"scopes": ["BestEffort"]}, REQUESTING, False),
        ({"scopes": ["NotBestEffort"]}, REQUESTING, True),
        ({"scopes": ["PriorityClass"]}, pod(), False),
        ({"scopes": ["PriorityClass"]}, pod(priorityClassName="high"), True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, pod(affinity=ACROSS), True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, pod(), False),
        ({"terms": [term("PriorityClass", "In", "high", "low")]}, pod(priorityClassName="high"), True),
        ({"terms": [term("PriorityClass", "In", "high")]}, pod(priorityClassName="mid"), False),
        ({"terms": [term("PriorityClass", "In", "high")]}, pod(), False),
        ({"terms": [term("PriorityClass", "NotIn", "high")]}, pod(priorityClassName="low"), True),
        ({"terms": [term("PriorityClass", "Exists")]}, pod(), False),
        ({"terms": [term("PriorityClass", "DoesNotExist")]}, pod(), True),
        ({"terms": [term("BestEffort", "Exists")]}, pod(), True),
    ],
)
def test_scopes(quota: dict[str, Any], obj: dict[str, Any], covered: bool) -> None:
    spec: dict[str, Any] = {"scopes": quota.get("scopes", [])}
    if "terms" in quota:
        spec["scopeSelector"] = {"matchExpressions": quota["terms"]}
    assert in_scope({"spec": spec}, "pods", obj) is covered


def test_scoped_quotas_count_nothing_but_pods() -> None:
    assert not in_scope({"spec": {"scopes": ["BestEffort"]}}, "services", {"spec": {}})
