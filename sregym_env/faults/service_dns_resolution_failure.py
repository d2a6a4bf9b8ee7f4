"""A name that the cluster's name server denies."""

from __future__ import annotations

import re

from sregym_env.cluster.edits import AwaitRollout, MergePatch, ObjectRef, RecreatePods, Substitute
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.commands import restart
from sregym_env.faults.fault import Fault, fault

CONFIG = ObjectRef("configmaps", "coredns", "kube-system")
SERVER = ObjectRef("deployments.apps", "coredns", "kube-system")
RESTART = {
    "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "rev-2"}}}}
}


@fault(layer="network", mechanism="dns_record_blocked", targets=services(), level="hard")
def service_dns_resolution_failure(target: ServiceTarget) -> Fault:
    """CoreDNS answers NXDOMAIN for one Service's name, which exists."""
    host = f"{target.name}.{target.namespace}.svc.cluster.local"
    block = (
        f"    template ANY ANY {host} {{\n"
        f'       match "^{re.escape(host)}\\.$"\n'
        "       rcode NXDOMAIN\n"
        "       fallthrough\n"
        "    }\n"
    )
    clean = f"sed '/template ANY ANY {host}/,/}}/d'"
    return Fault(
        resource=CONFIG,
        cause=f"The Corefile in ConfigMap kube-system/coredns has a template block that answers NXDOMAIN for "
        f"{host}; clients cannot resolve Service {target.name}.",
        edits=[
            Substitute(CONFIG, "/data/Corefile", "    kubernetes ", block + "    kubernetes "),
            MergePatch(SERVER, RESTART),
            AwaitRollout(SERVER),
        ],
        trigger=[RecreatePods(caller) for caller in target.callers],
        details={"field": "Corefile", "wrong": f"template ANY ANY {host} rcode NXDOMAIN"},
        facts={"host": host, "service": target.name},
        remedies=[
            [
                f"kubectl get configmap coredns -n kube-system -o yaml | {clean} | kubectl apply -f -",
                "kubectl rollout restart deployment/coredns -n kube-system",
                "kubectl rollout status deployment/coredns -n kube-system --timeout=180s",
                *restart(target, target.callers),
            ]
        ],
        look=["kubectl get configmap coredns -n kube-system -o yaml"],
        accepts=[SERVER],
        aliases=["coredns"],
    )
