"""Somebody who sets a memory limit too low again and again."""

from __future__ import annotations

from typing import Any

import orjson

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods, Rollout, RunCronJob
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, drop, mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.resource_request_too_small import MARGIN, _too_small
from sregym_env.faults.revisions import succession
from sregym_env.faults.writers import ACCOUNT, API, PATCH, cronjob, rights, settings
from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.chance import Chance

WRITERS = (
    "rightsizer", "vpa-updater", "cost-optimizer", "resource-tuner", "capacity-planner", "node-packer", "bin-packer",
    "limits-sync", "usage-trimmer", "finops-agent", "workload-tuner", "budget-keeper",
)  # fmt: skip
"""Names of programs that set the resources of others."""

SCRIPT = (
    f'{ACCOUNT}{PATCH} -d "$PATCH" "{API}/apis/apps/v1/namespaces/$NAMESPACE/deployments/$TARGET" '
    "&& echo applied to $NAMESPACE/$TARGET"
)
"""What it does: the patch of its policy, to the Deployment of its policy."""


def _place(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("namespace", ("kube-system", "default"))


@fault(
    layer="kubernetes",
    mechanism="recurring_overwrite",
    targets=components(
        where=lambda target: (
            target.component.workload == "deployments.apps"
            and target.component.memory > bytes_("10Mi") * MARGIN
        )
    ),
    level="hard",
)
def recurring_memory_cut(
    target: ComponentTarget,
    memory: str = drawn(_too_small, published="10Mi"),
    writer: str = drawn(one_of(*WRITERS), published="vpa-updater"),
    place: str = drawn(_place, published="kube-system"),
    schedule: str = drawn(
        one_of("*/10 * * * *", "*/15 * * * *", "*/20 * * * *", "*/30 * * * *", "17 * * * *", "0 */2 * * *", "15 3 * * *"),
        published="*/10 * * * *",
    ),
) -> Fault:  # fmt: skip
    """A CronJob in another namespace sets the container's memory limit below what the program needs, whenever it runs.

    Who only raises the limit has it back at its next hour.
    """
    cron = ObjectRef("cronjobs.batch", writer, place)
    limits, resources = target.container_path("resources", "limits"), target.declares("resources")
    wrong: dict[str, Any] = {f"{limits}/memory": memory}
    asked: dict[str, Any] = {"limits": {"memory": memory}}
    requested = target.declares("resources", "requests", "memory")
    if requested is not None and bytes_(requested) > bytes_(memory):
        wrong[target.container_path("resources", "requests", "memory")] = memory
        asked["requests"] = {"memory": memory}
    named = {"name": target.component.container, "resources": asked}
    patch = orjson.dumps({"spec": {"template": {"spec": {"containers": [named]}}}}).decode()
    policy = {"NAMESPACE": target.namespace, "TARGET": target.name, "PATCH": patch}
    container = {
        "name": "patch",
        "command": ["sh", "-c", SCRIPT],
        "envFrom": [{"configMapRef": {"name": f"{writer}-policy"}}],
    }
    whole = target.container_path("resources")
    healthy = drop(target.workload, whole) if resources is None else put(target.workload, whole, resources)
    return Fault(
        resource=cron,
        cause=f"CronJob {writer} in namespace {place} writes a memory limit of {memory} into {target.kind} {target.name} every "
        f"time it runs ({schedule}), less than {target.name} needs: it is OOMKilled, and a limit that is raised is "
        "overwritten again.",
        edits=[
            *(Create(each) for each in rights(writer, place, target.namespace, "apps", "deployments")),
            Create(settings(f"{writer}-policy", place, policy)),
            Create(cronjob(cron, schedule, container)),
            Rollout(target.workload, wrong, by="curl"),
        ],
        trigger=[*succession(target), *map(RecreatePods, target.dependents), RunCronJob(cron)],
        details={"field": "memory limit", "wrong": memory},
        facts={"writer": writer, "elsewhere": place},
        remedies=[
            mend(target, delete(cron).replace("cronjobs.batch", "cronjob"), healthy),
            mend(
                target,
                f"""kubectl patch cronjob {writer} -n {place} -p '{{"spec":{{"suspend":true}}}}'""",
                healthy,
            ),
        ],
        look=[
            show(target),
            "kubectl get cronjobs -A",
            f"kubectl get cronjob {writer} -n {place} -o yaml",
            f"kubectl get configmap {writer}-policy -n {place} -o yaml",
        ],
        accepts=[ObjectRef("configmaps", f"{writer}-policy", place)],
        aliases=[writer, f"{writer}-policy"],
    )
