"""What a repair has no business with, and is charged for where it may change the object."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.rewards import upkeep


def deployment(**spec: Any) -> dict[str, Any]:
    """A Deployment of one replica."""
    return {"kind": "Deployment", "metadata": {}, "spec": {"replicas": 1, "template": {}, **spec}}


def service(**spec: Any) -> dict[str, Any]:
    """A Service."""
    return {"kind": "Service", "metadata": {}, "spec": spec}


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (deployment(), deployment(), []),
        (deployment(), deployment(strategy={"type": "Recreate"}), ["strategy"]),
        (deployment(strategy={"type": "Recreate"}), deployment(strategy={"type": "Recreate"}), []),
        (deployment(), deployment(strategy={"rollingUpdate": {"maxUnavailable": "100%"}}), ["strategy"]),
        (deployment(), deployment(strategy={"rollingUpdate": {"maxUnavailable": 1}}), []),
        (deployment(), deployment(replicas=2), []),
        (deployment(), deployment(replicas=3), ["replicas"]),
        (deployment(replicas=0), deployment(replicas=2), []),
        (deployment(replicas=4), deployment(replicas=8), []),
        (service(), service(sessionAffinity="ClientIP"), ["sessionAffinity"]),
        (service(), service(sessionAffinity="None"), []),
        (service(sessionAffinity="ClientIP"), service(sessionAffinity="ClientIP"), []),
    ],
)
def test_what_engineers_differ_on_is_named(then: Any, now: Any, told: list[str]) -> None:
    assert list(upkeep.beside(then, now)) == told
