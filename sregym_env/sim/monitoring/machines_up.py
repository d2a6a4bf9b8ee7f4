"""Which machines answer Prometheus, and when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.monitoring.past import Version
from sregym_env.sim.monitoring.readings import Times
from sregym_env.sim.monitoring.scrapes import Job, Question, Target
from sregym_env.sim.programs.machine import kubelet_unit

SLACK = 30 * SECOND
"""Until a kubelet that has started has said so."""


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


def powered(question: Question, node: str, times: Times) -> NDArray[np.bool_]:
    """At which instants a machine was on: whatever runs on it answers then, whether its kubelet does or not."""
    mask = reachable(question, node, times)
    world = question.world
    turns = kubelet_unit.of(world, node).turns
    for turn, after in zip_longest(turns, turns[1:]):
        if turn.kind != "running":
            # The node is called unknown for a while after its kubelet has come back.
            end = world.clock + 1 if after is None else after.time + SLACK
            mask |= (times >= turn.time) & (times < end)
    return mask


def _ready(node: Manifest) -> str:
    for condition in node.get("status", {}).get("conditions") or ():
        if condition["type"] == "Ready":
            return str(condition.get("status", ""))
    return ""
