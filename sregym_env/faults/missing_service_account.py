"""Pods that want to run as a service account nobody made."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import drop, mend
from sregym_env.faults.fault import Fault, fault


@fault(layer="kubernetes", mechanism="missing_service_account", targets=components())
def missing_service_account(target: ComponentTarget, suffix: str = "-runner") -> Fault:
    """The pod template names a service account that does not exist, so no pod can be created.

    The ReplicaSet's events say so; there is no pod to look at.
    """
    path, account = target.template_path("serviceAccountName"), target.name + suffix
    return Fault(
        resource=target.workload,
        cause=f"Deployment {target.name} uses the service account {account}, which does not exist; its ReplicaSet "
        "cannot create pods.",
        edits=[Redeploy(target.workload, {path: account})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "serviceAccountName", "wrong": account},
        remedies=[
            mend(target, drop(target.workload, path, target.template_path("serviceAccount"))),
            [
                f"kubectl create serviceaccount {account} -n {target.namespace}",
                *mend(target, f"kubectl rollout restart deployment/{target.name} -n {target.namespace}"),
            ],
        ],
        look=[
            f"kubectl describe replicasets -l io.kompose.service={target.name} -n {target.namespace}",
            f"kubectl get serviceaccounts -n {target.namespace}",
        ],
        aliases=[account],
    )
