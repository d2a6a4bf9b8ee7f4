"""The roles and accounts that a control plane set up by kubeadm gives to its own parts.

Nothing in the simulation asks whether a controller may do what it does; these are what an operator finds when
looking around, and what a pod is allowed that runs under one of these accounts.

Source: the bootstrap policy of the API server (``bootstrappolicy``) and of kubeadm, v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sregym_env.kube.types import Manifest

CLUSTER_ROLES = "clusterroles.rbac.authorization.k8s.io"
CLUSTER_BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"
ROLES = "roles.rbac.authorization.k8s.io"
BINDINGS = "rolebindings.rbac.authorization.k8s.io"

_GROUP = "rbac.authorization.k8s.io"
_PREFIX = "system:controller:"
_SYSTEM, _PUBLIC = "kube-system", "kube-public"

_EVENTS = "create,patch,update core,events.k8s.io events"

_CONTROLLERS = """
attachdetach-controller
  list,watch core persistentvolumeclaims,persistentvolumes
  get,list,watch core nodes
  patch,update core nodes/status
  list,watch core pods
  events
  create,delete,get,list,watch storage.k8s.io volumeattachments
  get,list,watch storage.k8s.io csidrivers
  get,list,watch storage.k8s.io csinodes
certificate-controller
  delete,get,list,watch certificates.k8s.io certificatesigningrequests
  update certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
  sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,\
kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create authorization.k8s.io subjectaccessreviews
  events
clusterrole-aggregation-controller
  escalate,get,list,patch,update,watch rbac.authorization.k8s.io clusterroles
cronjob-controller
  get,list,update,watch batch cronjobs
  create,delete,get,list,patch,update,watch batch jobs
  update batch cronjobs/status
  update batch cronjobs/finalizers
  delete,list core pods
  events
daemon-set-controller
  get,list,watch apps,extensions daemonsets
  update apps,extensions daemonsets/status
  update apps,extensions daemonsets/finalizers
  list,watch core nodes
  create,delete,list,patch,watch core pods
  create core pods/binding
  create,delete,get,list,patch,update,watch apps controllerrevisions
  events
deployment-controller
  get,list,update,watch apps,extensions deployments
  update apps,extensions deployments/status
  update apps,extensions deployments/finalizers
  create,delete,get,list,patch,update,watch apps,extensions replicasets
  get,list,update,watch core pods
  events
disruption-controller
  get,list,watch apps,extensions deployments
  get,list,watch apps,extensions replicasets
  get,list,watch core replicationcontrollers
  get,list,watch policy poddisruptionbudgets
  get,list,watch apps statefulsets
  update policy poddisruptionbudgets/status
  patch,update core pods/status
  get * */scale
  events
endpoint-controller
  get,list,watch core pods,services
  create,delete,get,list,update core endpoints
  create core endpoints/restricted
  events
endpointslice-controller
  get,list,watch core nodes,pods,services
  update core services/finalizers
  create,delete,get,list,update discovery.k8s.io endpointslices
  events
endpointslicemirroring-controller
  get,list,watch core endpoints,services
  update core services/finalizers
  update core endpoints/finalizers
  create,delete,get,list,update discovery.k8s.io endpointslices
  events
ephemeral-volume-controller
  get,list,watch core pods
  update core pods/finalizers
  create,get,list,watch core persistentvolumeclaims
  events
expand-controller
  get,list,patch,update,watch core persistentvolumes
  patch,update core persistentvolumeclaims/status
  get,list,watch core persistentvolumeclaims
  get,list,watch storage.k8s.io storageclasses
  get core endpoints,services
  get core secrets
  events
generic-garbage-collector
  delete,get,list,patch,update,watch * *
  events
horizontal-pod-autoscaler
  get,list,watch autoscaling horizontalpodautoscalers
  update autoscaling horizontalpodautoscalers/status
  get,update * */scale
  list core pods
  list metrics.k8s.io pods
  get,list custom.metrics.k8s.io *
  get,list external.metrics.k8s.io *
  events
job-controller
  get,list,patch,update,watch batch jobs
  update batch jobs/status
  update batch jobs/finalizers
  create,delete,list,patch,watch core pods
  events
legacy-service-account-token-cleaner
  get core configmaps kube-apiserver-legacy-service-account-token-tracking
  delete,patch core secrets
namespace-controller
  delete,get,list,watch core namespaces
  update core namespaces/finalize,namespaces/status
  delete,deletecollection,get,list * *
node-controller
  delete,get,list,patch,update core nodes
  patch,update core nodes/status
  patch,update core pods/status
  delete,get,list core pods
  get,list networking.k8s.io clustercidrs
  events
persistent-volume-binder
  create,delete,get,list,update,watch core persistentvolumes
  update core persistentvolumes/status
  get,list,update,watch core persistentvolumeclaims
  update core persistentvolumeclaims/status
  create,delete,get,list,watch core pods
  get,list,watch storage.k8s.io storageclasses
  get,list,watch core nodes
  get core secrets
  events
pod-garbage-collector
  delete,list,watch core pods
  get,list core nodes
  patch,update core pods/status
pv-protection-controller
  get,list,update,watch core persistentvolumes
  events
pvc-protection-controller
  get,list,update,watch core persistentvolumeclaims
  get,list,watch core pods
  events
replicaset-controller
  get,list,update,watch apps,extensions replicasets
  update apps,extensions replicasets/status
  update apps,extensions replicasets/finalizers
  create,delete,list,patch,watch core pods
  events
replication-controller
  get,list,update,watch core replicationcontrollers
  update core replicationcontrollers/status
  update core replicationcontrollers/finalizers
  create,delete,list,patch,watch core pods
  events
resourcequota-controller
  list,watch * *
  update core resourcequotas/status
  events
root-ca-cert-publisher
  create,update core configmaps
  events
service-account-controller
  create core serviceaccounts
  events
statefulset-controller
  list,watch core pods
  get,list,watch apps statefulsets
  update apps statefulsets/status
  update apps statefulsets/finalizers
  create,delete,get,patch,update core pods
  create,delete,get,list,patch,update,watch apps controllerrevisions
  create,get core persistentvolumeclaims
  events
ttl-after-finished-controller
  delete,get,list,watch batch jobs
  events
ttl-controller
  list,patch,update,watch core nodes
  events
validatingadmissionpolicy-status-controller
  get,list,watch admissionregistration.k8s.io validatingadmissionpolicies
  get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status
  events
"""
"""Rules of the controllers: verbs, API groups, resources and, perhaps, names of resources. Each has an account."""

_WITHOUT_ACCOUNT = """
route-controller
  list,watch core nodes
  patch core nodes/status
  events
service-controller
  get,list,watch core services
  patch,update core services/status
  list,watch core nodes
  events
"""
"""Controllers of cloud providers: their roles are there without anybody to use them."""

_ROLES = """
kubeadm:get-nodes
  get core nodes
system:auth-delegator
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create certificates.k8s.io certificatesigningrequests/nodeclient
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create certificates.k8s.io certificatesigningrequests/selfnodeclient
system:certificates.k8s.io:kube-apiserver-client-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
system:certificates.k8s.io:kubelet-serving-approver
  approve certificates.k8s.io signers kubernetes.io/kubelet-serving
system:certificates.k8s.io:legacy-unknown-approver
  approve certificates.k8s.io signers kubernetes.io/legacy-unknown
system:heapster
  get,list,watch core events,namespaces,nodes,pods
  get,list,watch extensions deployments
system:kube-aggregator
  get,list,watch core endpoints,services
system:kube-dns
  list,watch core endpoints,services
system:kubelet-api-admin
  get,list,watch core nodes
  proxy core nodes
  * core nodes/log,nodes/metrics,nodes/proxy,nodes/stats
system:monitoring
  url get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
system:node-bootstrapper
  create,get,list,watch certificates.k8s.io certificatesigningrequests
system:node-problem-detector
  get core nodes
  patch core nodes/status
  events
system:persistent-volume-provisioner
  create,delete,get,list,watch core persistentvolumes
  get,list,update,watch core persistentvolumeclaims
  get,list,watch storage.k8s.io storageclasses
  watch core events
  events
system:service-account-issuer-discovery
  url get /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
system:volume-scheduler
  get,list,patch,update,watch core persistentvolumes
  get,list,watch storage.k8s.io storageclasses
  get,list,patch,update,watch core persistentvolumeclaims
"""

_BOUND = (
    ("kubeadm:cluster-admins", "cluster-admin", "Group kubeadm:cluster-admins"),
    ("kubeadm:get-nodes", "kubeadm:get-nodes", "Group system:bootstrappers:kubeadm:default-node-token"),
    (
        "kubeadm:kubelet-bootstrap",
        "system:node-bootstrapper",
        "Group system:bootstrappers:kubeadm:default-node-token",
    ),
    (
        "kubeadm:node-autoapprove-bootstrap",
        "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
        "Group system:bootstrappers:kubeadm:default-node-token",
    ),
    (
        "kubeadm:node-autoapprove-certificate-rotation",
        "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
        "Group system:nodes",
    ),
    ("system:kube-dns", "system:kube-dns", f"ServiceAccount {_SYSTEM}/kube-dns"),
    ("system:monitoring", "system:monitoring", "Group system:monitoring"),
    ("system:node-proxier", "system:node-proxier", "User system:kube-proxy"),
    (
        "system:service-account-issuer-discovery",
        "system:service-account-issuer-discovery",
        "Group system:serviceaccounts",
    ),
    ("system:volume-scheduler", "system:volume-scheduler", "User system:kube-scheduler"),
)
"""Name of a ClusterRoleBinding, its role, its subject."""

_LOCAL_ROLES = (
    (_SYSTEM, "extension-apiserver-authentication-reader", ("get,list,watch core configmaps extension-apiserver-authentication",)),
    (_SYSTEM, "kube-proxy", ("get core configmaps kube-proxy",)),
    (_SYSTEM, "kubeadm:kubelet-config", ("get core configmaps kubelet-config",)),
    (_SYSTEM, "kubeadm:nodes-kubeadm-config", ("get core configmaps kubeadm-config",)),
    (
        _SYSTEM,
        "system::leader-locking-kube-controller-manager",
        ("watch core configmaps", "get,update core configmaps kube-controller-manager"),
    ),
    (
        _SYSTEM,
        "system::leader-locking-kube-scheduler",
        ("watch core configmaps", "get,update core configmaps kube-scheduler"),
    ),
    (_SYSTEM, f"{_PREFIX}bootstrap-signer", ("get,list,watch core secrets",)),
    (_SYSTEM, f"{_PREFIX}cloud-provider", ("create,get,list,watch core configmaps",)),
    (_SYSTEM, f"{_PREFIX}token-cleaner", ("delete,get,list,watch core secrets", _EVENTS)),
    (_PUBLIC, "kubeadm:bootstrap-signer-clusterinfo", ("get core configmaps cluster-info",)),
    (
        _PUBLIC,
        f"{_PREFIX}bootstrap-signer",
        ("get,list,watch core configmaps", "update core configmaps cluster-info", _EVENTS),
    ),
)  # fmt: skip

_MANAGER, _SCHEDULER = "User system:kube-controller-manager", "User system:kube-scheduler"
_NODES = ("Group system:bootstrappers:kubeadm:default-node-token", "Group system:nodes")
_LOCAL_BOUND = (
    (_SYSTEM, "kube-proxy", "kube-proxy", _NODES[:1]),
    (_SYSTEM, "kubeadm:kubelet-config", "kubeadm:kubelet-config", _NODES[::-1]),
    (_SYSTEM, "kubeadm:nodes-kubeadm-config", "kubeadm:nodes-kubeadm-config", _NODES),
    (
        _SYSTEM,
        "metrics-server-auth-reader",
        "extension-apiserver-authentication-reader",
        (f"ServiceAccount {_SYSTEM}/metrics-server",),
    ),
    (
        _SYSTEM,
        "system::extension-apiserver-authentication-reader",
        "extension-apiserver-authentication-reader",
        (_MANAGER, _SCHEDULER),
    ),
    (
        _SYSTEM,
        "system::leader-locking-kube-controller-manager",
        "system::leader-locking-kube-controller-manager",
        (_MANAGER, f"ServiceAccount {_SYSTEM}/kube-controller-manager"),
    ),
    (
        _SYSTEM,
        "system::leader-locking-kube-scheduler",
        "system::leader-locking-kube-scheduler",
        (_SCHEDULER, f"ServiceAccount {_SYSTEM}/kube-scheduler"),
    ),
    *(
        (_SYSTEM, _PREFIX + name, _PREFIX + name, (f"ServiceAccount {_SYSTEM}/{name}",))
        for name in ("bootstrap-signer", "cloud-provider", "token-cleaner")
    ),
    (
        _PUBLIC,
        "kubeadm:bootstrap-signer-clusterinfo",
        "kubeadm:bootstrap-signer-clusterinfo",
        ("User system:anonymous",),
    ),
    (
        _PUBLIC,
        f"{_PREFIX}bootstrap-signer",
        f"{_PREFIX}bootstrap-signer",
        (f"ServiceAccount {_SYSTEM}/bootstrap-signer",),
    ),
)
"""Namespace and name of a RoleBinding, its role, its subjects."""


def manifests() -> Iterator[tuple[str, Manifest]]:
    """Resource and manifest of every one of them."""
    controllers = dict(_parsed(_CONTROLLERS))
    for name, rules in (*controllers.items(), *_parsed(_WITHOUT_ACCOUNT)):
        yield CLUSTER_ROLES, _role(_PREFIX + name, rules)
        subject = f"ServiceAccount {_SYSTEM}/{name}"
        yield CLUSTER_BINDINGS, _binding(_PREFIX + name, "ClusterRole", _PREFIX + name, (subject,))
    for name, rules in _parsed(_ROLES):
        yield CLUSTER_ROLES, _role(name, rules)
    for name, role, subject in _BOUND:
        yield CLUSTER_BINDINGS, _binding(name, "ClusterRole", role, (subject,))
    for namespace, name, lines in _LOCAL_ROLES:
        yield ROLES, _role(name, [_rule(line) for line in lines], namespace)
    for namespace, name, role, subjects in _LOCAL_BOUND:
        yield BINDINGS, _binding(name, "Role", role, subjects, namespace)
    for name in (*controllers, "bootstrap-signer", "token-cleaner"):
        yield "serviceaccounts", {"metadata": {"name": name, "namespace": _SYSTEM}}


def _parsed(text: str) -> Iterator[tuple[str, list[Manifest]]]:
    """Names and rules of a table of roles."""
    name, rules = "", []
    for line in text.strip().split("\n"):
        if line.startswith(" "):
            rules.append(_rule(_EVENTS if line == "  events" else line))
            continue
        if name:
            yield name, rules
        name, rules = line, []
    yield name, rules


def _rule(line: str) -> Manifest:
    words = line.split()
    if words[0] == "url":
        return {"nonResourceURLs": words[2].split(","), "verbs": words[1].split(",")}
    groups = ["" if group == "core" else group for group in words[1].split(",")]
    rule = {"apiGroups": groups, "resources": words[2].split(","), "verbs": words[0].split(",")}
    return {**rule, "resourceNames": words[3].split(",")} if len(words) > 3 else rule


def _metadata(name: str, namespace: str) -> Manifest:
    metadata: Manifest = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if name.startswith(("system:", "extension-")):
        metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
        metadata["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    return metadata


def _role(name: str, rules: list[Manifest], namespace: str = "") -> Manifest:
    return {"metadata": _metadata(name, namespace), "rules": rules}


def _binding(name: str, kind: str, role: str, subjects: Iterable[str], namespace: str = "") -> Manifest:
    return {
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": role},
        "subjects": [_subject(subject) for subject in subjects],
    }


def _subject(text: str) -> Manifest:
    kind, _, name = text.partition(" ")
    if kind != "ServiceAccount":
        return {"apiGroup": _GROUP, "kind": kind, "name": name}
    namespace, _, account = name.partition("/")
    return {"kind": kind, "name": account, "namespace": namespace}
