"""A rollout that takes every old pod away before a new one is ready, and none ever is."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import until
from sregym_env.faults.commands import drop, mend, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance

STRATEGIES: tuple[dict[str, Any], ...] = (
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": "0%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": "25%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 5, "maxSurge": 1}},
)

PREPARATIONS = (
    ("prepare", "sleep infinity"), ("warm-up", "sleep inf"), ("fetch-assets", "sleep 864000"),
    ("migrate", "echo waiting for the operator; sleep infinity"), ("init-data", "nc -lk -p 18080"),
    ("copy-config", "echo ready; sleep 604800"), ("wait-for-approval", "until test -f /tmp/approved; do sleep 60; done"),
)  # fmt: skip
"""Init containers that never end."""


def _preparation(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    taken = {each["name"] for each in target.pod_spec.get("initContainers") or ()}
    found: tuple[str, str] = until(
        chance, lambda by: by.choice("init", PREPARATIONS), lambda pair: pair[0] not in taken, PREPARATIONS[0]
    )
    return found


def _rolls(target: ComponentTarget) -> bool:
    return target.component.workload == "deployments.apps"


@fault(
    layer="configuration",
    mechanism="unsafe_rollout_strategy",
    targets=components(at_request=True, where=_rolls),
)
def rolling_update_misconfigured(
    target: ComponentTarget,
    strategy: dict[str, Any] = drawn(
        lambda target, chance: chance.choice("strategy", STRATEGIES), published=STRATEGIES[0]
    ),
    preparation: tuple[str, str] = drawn(_preparation, published=("hang-init", "sleep infinity")),
) -> Fault:
    """The update strategy lets every old pod go at once, and the new ones hang in an init container.

    Without it the rollout would only have stalled, and the old pods would serve on.
    """
    name, work = preparation
    declared = target.manifest["spec"].get("strategy")
    steps = target.template_declares("initContainers")
    path = target.template_path("initContainers")
    init = {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", work]}
    most = strategy["rollingUpdate"]["maxUnavailable"]
    repaired = restore(target.workload, "/spec/strategy", declared)
    undone = drop(target.workload, path) if not steps else drop(target.workload, f"{path}/{len(steps)}")
    return Fault(
        resource=target.workload,
        cause=f"The update strategy of {target.kind} {target.name} allows maxUnavailable {most}, so its rollout took every old "
        f"pod away before a new one was ready; the new pods hang in the init container {name}, which never ends.",
        **revision(
            target, {"/spec/strategy": strategy, **({path: [init]} if not steps else {f"{path}/-": init})}
        )
        | {"trigger": [], "rollback": ()},
        details={"field": "maxUnavailable", "wrong": str(most)},
        facts={"init": name},
        remedies=[mend(target, repaired, undone)],
        look=[show(target), f"kubectl rollout history deployment/{target.name} -n {target.namespace}"],
        aliases=[name],
        cured=[_Keeps(target.workload, declared)],
    )


class _Keeps:
    """Whether a rollout keeps at least one pod until another is ready, or is as it was declared."""

    def __init__(self, workload: ObjectRef, declared: Any) -> None:
        self._workload = workload
        self._declared = declared

    def __call__(self, world: World) -> Finding:
        where = self._workload
        expected = "a rollout keeps a pod that serves"
        try:
            spec = world.cluster.get(where.resource, where.name, where.namespace)["spec"]
        except StatusError:
            return Finding("rollouts are safe", False, "the workload is gone", expected)
        rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
        kind = (spec.get("strategy") or {}).get("type", "RollingUpdate")
        wanted, most = int(spec.get("replicas", 1)), rolling.get("maxUnavailable", "25%")
        share = int(most[:-1]) * wanted // 100 if isinstance(most, str) else int(most)
        safe = kind != "RollingUpdate" or share < wanted or spec.get("strategy") == self._declared
        return Finding("rollouts are safe", safe, f"maxUnavailable is {most}", expected)
