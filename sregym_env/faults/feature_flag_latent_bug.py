"""A flag that turns on a code path that fails."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, ObjectRef, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import drop, mend, restart, show
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="application",
    mechanism="feature_flag_enabled",
    targets=components(where=lambda target: bool(target.component.flag)),
    level="hard",
)
def feature_flag_latent_bug(target: ComponentTarget) -> Fault:
    """A runtime configuration flag turns on a dormant code path whose every request fails."""
    flag = target.component.flag
    config = ObjectRef("configmaps", f"{target.name}-runtime-config", target.namespace)
    index = len(target.container.get("env", ()))
    variable = {"name": flag, "valueFrom": {"configMapKeyRef": {"name": config.name, "key": flag}}}
    off = f"kubectl patch configmap {config.name} -n {target.namespace} --type=merge -p "
    return Fault(
        resource=config,
        cause=f"ConfigMap {config.name} sets {flag}=true, which reaches {target.name} as an environment variable "
        "and turns on a code path that answers with internal server errors.",
        edits=[
            Create(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": config.name, "namespace": target.namespace},
                    "data": {flag: "true"},
                }
            ),
            Redeploy(target.workload, {target.container_path("env", "-"): variable}),
        ],
        details={"field": flag, "wrong": "true", "right": "false"},
        remedies=[
            [off + f'\'{{"data":{{"{flag}":"false"}}}}\'', *restart(target, [target.name])],
            mend(target, drop(target.workload, target.container_path("env", index))),
        ],
        look=[
            f"kubectl get configmap {config.name} -n {target.namespace} -o yaml",
            show(target),
        ],
        accepts=[target.workload],
    )
