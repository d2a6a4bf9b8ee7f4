"""Pods that want to run as a service account nobody made."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh
from sregym_env.faults.commands import drop, makers, mend, named, patch
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision


@fault(layer="kubernetes", mechanism="missing_service_account", targets=components())
def missing_service_account(
    target: ComponentTarget,
    account: str = drawn(
        fresh("serviceaccounts", "{name}-runner", "{name}-sa", "{name}", "sa-{name}", "{app}-{name}", "{name}-app", "{app}-app",
              "{name}-workload", "{name}-svc", "{app}-runtime", "{name}-identity", "{name}-reader", "{app}-backend"),
        published=lambda target: f"{target.name}-runner",
    ),
) -> Fault:  # fmt: skip
    """The pod template names a service account that does not exist, so no pod can be created.

    The events of what makes the pods say so; there is no pod to look at.
    """
    path = target.template_path("serviceAccountName")
    declared = target.template_declares("serviceAccountName")
    # The API server keeps the deprecated field equal to the new one, and fills either from the other.
    legacy = target.template_path("serviceAccount")
    back = (
        drop(target.workload, path, legacy)
        if declared is None
        else patch(target.workload, [{"op": "replace", "path": p, "value": declared} for p in (path, legacy)])
    )
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} uses the service account {account}, which does not exist; its {target.maker} "
        "cannot create pods.",
        **revision(target, {path: account, legacy: account}),
        details={"field": "serviceAccountName", "wrong": account},
        remedies=[
            mend(target, back),
            [
                f"kubectl create serviceaccount {account} -n {target.namespace}",
                *mend(target, f"kubectl rollout restart {named(target.workload)} -n {target.namespace}"),
            ],
        ],
        look=[
            makers(target),
            f"kubectl get serviceaccounts -n {target.namespace}",
        ],
        aliases=[account],
    )
