"""Which machines answer Prometheus, and when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sregym_env.kube.types import Manifest
from sregym_env.sim.monitoring.past import Version
from sregym_env.sim.monitoring.readings import Times
from sregym_env.sim.monitoring.scrapes import Job, Question, Target


def nodes(question: Question) -> dict[str, list[Version]]:
    """The versions of every machine's object, by name."""
    return question.once(
        "nodes", lambda: {each[0].obj["metadata"]["name"]: each for each in question.past.objects("nodes")}
    )


def node_targets(job: Job, question: Question) -> Sequence[Target]:
    """Every machine as a target of a job."""
    found = []
    for name, versions in nodes(question).items():
        labels = versions[0].obj["metadata"].get("labels") or {}
        host = labels.get("kubernetes.io/hostname", name)
        found.append(Target(job, name, (("kubernetes_io_hostname", host), ("node", name))))
    return found


def reachable(question: Question, node: str, times: Times) -> NDArray[np.bool_]:
    """At which instants a machine was there and answered."""
    mask = np.zeros(len(times), dtype=np.bool_)
    for version in nodes(question).get(node, ()):
        if _ready(version.obj) != "Unknown":
            mask |= (times >= version.start) & (times < version.end)
    # An outage that has ended shows in what the control plane made of it; of one that lasts the beginning is known.
    since = question.world.memory.get(f"node.down:{node}")
    if since is not None:
        mask &= times < since
    return mask


def _ready(node: Manifest) -> str:
    for condition in node.get("status", {}).get("conditions") or ():
        if condition["type"] == "Ready":
            return str(condition.get("status", ""))
    return ""
