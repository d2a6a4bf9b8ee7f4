"""What the faults have in common that come with a new revision of a workload's pod template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.edits import Cycle, Edit, RecreatePods, Rollout
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.faults.commands import mend, rollback


def revision(
    target: ComponentTarget, changes: Mapping[str, Any], *, starts: bool = False, before: Sequence[Edit] = ()
) -> dict[str, Any]:
    """``edits``, ``trigger`` and ``rollback`` of a fault that is rolled out.

    ``changes`` are of the pod template, by JSON pointer; ``before`` are edits that come first; ``starts`` says that the
    new pods become ready as far as they are not probed, so that the old ones go by themselves.
    """
    return {
        "edits": [*before, Rollout(target.workload, changes)],
        "trigger": [
            *([] if starts and not target.declares("readinessProbe") else succession(target)),
            *(RecreatePods(name) for name in target.dependents if not starts),
        ],
        "rollback": mend(target, rollback(target.workload)),
    }


def succession(target: ComponentTarget) -> list[Edit]:
    """What makes pods of the newest revision take the place of the old ones, where those would serve on."""
    if target.component.workload == "daemonsets.apps":
        return [RecreatePods(target.component.name)]
    strategy = target.manifest["spec"].get("strategy", {}).get("type", "RollingUpdate")
    if target.component.workload == "deployments.apps" and strategy == "RollingUpdate":
        return [Cycle(target.component.name)]
    return []
