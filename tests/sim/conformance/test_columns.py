"""The columns of ``kubectl get``, kind by kind, as a v1.32 API server sends them; behind the bar those of -o wide."""

from __future__ import annotations

import pytest

from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.tables import printer

COLUMNS = """
pods: Name Ready Status Restarts Age | IP Node Nominated_Node Readiness_Gates
deployments.apps: Name Ready Up-to-date Available Age | Containers Images Selector
replicasets.apps: Name Desired Current Ready Age | Containers Images Selector
replicationcontrollers: Name Desired Current Ready Age | Containers Images Selector
statefulsets.apps: Name Ready Age | Containers Images
daemonsets.apps: Name Desired Current Ready Up-to-date Available Node_Selector Age | Containers Images Selector
services: Name Type Cluster-IP External-IP Port(s) Age | Selector
endpoints: Name Endpoints Age
endpointslices.discovery.k8s.io: Name AddressType Ports Endpoints Age
nodes: Name Status Roles Age Version | Internal-IP External-IP OS-Image Kernel-Version Container-Runtime
configmaps: Name Data Age
secrets: Name Type Data Age
namespaces: Name Status Age
persistentvolumeclaims: Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age | VolumeMode
persistentvolumes: Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age | VolumeMode
storageclasses.storage.k8s.io: Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age
jobs.batch: Name Status Completions Duration Age | Containers Images Selector
cronjobs.batch: Name Schedule Timezone Suspend Active Last_Schedule Age | Containers Images Selector
horizontalpodautoscalers.autoscaling: Name Reference Targets MinPods MaxPods Replicas Age
poddisruptionbudgets.policy: Name Min_Available Max_Unavailable Allowed_Disruptions Age
networkpolicies.networking.k8s.io: Name Pod-Selector Age
ingresses.networking.k8s.io: Name Class Hosts Address Ports Age
ingressclasses.networking.k8s.io: Name Controller Parameters Age
serviceaccounts: Name Secrets Age
roles.rbac.authorization.k8s.io: Name Created_At
clusterroles.rbac.authorization.k8s.io: Name Created_At
limitranges: Name Created_At
customresourcedefinitions.apiextensions.k8s.io: Name Created_At
rolebindings.rbac.authorization.k8s.io: Name Role Age | Users Groups ServiceAccounts
clusterrolebindings.rbac.authorization.k8s.io: Name Role Age | Users Groups ServiceAccounts
resourcequotas: Name Request Limit Age
leases.coordination.k8s.io: Name Holder Age
priorityclasses.scheduling.k8s.io: Name Value Global-Default Age PreemptionPolicy
validatingwebhookconfigurations.admissionregistration.k8s.io: Name Webhooks Age
mutatingwebhookconfigurations.admissionregistration.k8s.io: Name Webhooks Age
validatingadmissionpolicies.admissionregistration.k8s.io: Name Validations ParamKind Age
validatingadmissionpolicybindings.admissionregistration.k8s.io: Name PolicyName ParamRef Age
controllerrevisions.apps: Name Controller Revision Age
runtimeclasses.node.k8s.io: Name Handler Age
volumeattachments.storage.k8s.io: Name Attacher PV Node Attached Age
csinodes.storage.k8s.io: Name Drivers Age
csidrivers.storage.k8s.io: Name AttachRequired PodInfoOnMount StorageCapacity TokenRequests RequiresRepublish Modes Age
csistoragecapacities.storage.k8s.io: Name StorageClassName Capacity
certificatesigningrequests.certificates.k8s.io: Name Age SignerName Requestor RequestedDuration Condition
componentstatuses: Name Status Message Error
apiservices.apiregistration.k8s.io: Name Service Available Age
podtemplates: Name Containers Images Pod_Labels
flowschemas.flowcontrol.apiserver.k8s.io: Name PriorityLevel MatchingPrecedence DistinguisherMethod Age MissingPL
prioritylevelconfigurations.flowcontrol.apiserver.k8s.io: Name Type NominalConcurrencyShares Queues HandSize QueueLengthLimit Age
"""


@pytest.mark.parametrize("line", COLUMNS.strip().splitlines(), ids=lambda line: line.partition(":")[0])
def test_columns(line: str) -> None:
    key, _, columns = line.partition(": ")
    ordinary, _, wide = columns.partition(" | ")
    resource = BUILTIN.by_key(key)
    assert resource is not None
    shown = printer(resource).columns

    def names(which: bool) -> list[str]:
        return [column.name.upper() for column in shown if column.wide is which]

    assert names(False) == [name.replace("_", " ").upper() for name in ordinary.split()]
    assert names(True) == [name.replace("_", " ").upper() for name in wide.split()]


def test_every_kind_has_its_columns() -> None:
    told = {line.partition(":")[0] for line in COLUMNS.strip().splitlines()} | {"events"}
    listed = {
        r.key
        for r in BUILTIN.resources
        if "list" in r.verbs and r.group not in ("metrics.k8s.io", "events.k8s.io")
    }
    assert listed == told
