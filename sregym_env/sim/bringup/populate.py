"""The base cluster: everything a fresh kubeadm cluster with Calico, metrics-server and OpenEBS holds.

It is made as the world's plan has it. :func:`populate` creates the objects; controllers, scheduler and kubelets then bring the system pods up on
the same path as any application's.
"""

from __future__ import annotations

from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.bringup import roles, server_objects
from sregym_env.sim.machines import leaders, nodes
from sregym_env.sim.world import SimWorld, interfaces
from sregym_env.sim.world.plan import VERSION, ClusterPlan, Machine

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease", "openebs")
CALICO_VERSION = "v3.27.0"

COREDNS_IMAGE = "registry.k8s.io/coredns/coredns:v1.11.3"
KUBE_PROXY_IMAGE = f"registry.k8s.io/kube-proxy:{VERSION}"
ETCD_IMAGE = "registry.k8s.io/etcd:3.5.16-0"
CALICO_NODE_IMAGE = f"docker.io/calico/node:{CALICO_VERSION}"
CALICO_CONTROLLERS_IMAGE = f"docker.io/calico/kube-controllers:{CALICO_VERSION}"
METRICS_IMAGE = "registry.k8s.io/metrics-server/metrics-server:v0.7.2"
LOCALPV_IMAGE = "openebs/provisioner-localpv:3.5.0"
CONTROL_PLANE_COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
"""Their images are ``registry.k8s.io/<name>:<version>``."""

COREFILE = """\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""

_ANY_TAINT = [{"operator": "Exists"}]
_CRITICAL = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
_ON_CONTROL_PLANE = {"effect": "NoSchedule", "key": "node-role.kubernetes.io/control-plane"}


def populate(world: SimWorld) -> None:
    """Create every object of the base cluster; its add-ons come when the plan says."""
    found(world)
    installed = world.plan.installed
    if installed:
        server_objects.publish(world)
        world.run_until(world.now() + installed)
    install(world)
    if not installed:
        server_objects.publish(world)


def found(world: SimWorld) -> None:
    """Create the cluster itself: its first machines, what configures it, and the control plane."""
    for name in NAMESPACES:
        _create(world, "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    # Before any pod: its admission looks up the priority classes.
    for manifest in _cluster_scoped():
        _create_any(world, manifest)
    for manifest in roles.manifests():
        _create_any(world, manifest)
    plan = world.plan
    for machine in plan.machines:
        if not machine.joins:
            nodes.create(world, machine)
    for manifest in (*_service_accounts(), *_configuration(plan), *_services(plan)):
        _create_any(world, manifest)
    _publish_api_server(world)
    for machine in plan.control_planes:
        for manifest in _control_plane(world, machine):
            _create(world, "pods", manifest)
    # The published cluster's leaders have always been there.
    for name in nodes.LEADERS if plan.key else ():
        leaders.contest(world, "kube-system", name, {"component": name, "tier": "control-plane"})


def install(world: SimWorld) -> None:
    """Create the add-ons: network, DNS, metrics and local volumes."""
    for manifest in (*_daemon_sets(world.plan), *_deployments()):
        _create_any(world, manifest)
    if world.plan.key:
        leaders.contest(
            world, "openebs", "openebs.io-local", {"openebs.io/component-name": "openebs-localpv-provisioner"}
        )


_KEYS = {
    "ConfigMap": "configmaps",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "PriorityClass": "priorityclasses.scheduling.k8s.io",
    "StorageClass": "storageclasses.storage.k8s.io",
    "Deployment": "deployments.apps",
    "DaemonSet": "daemonsets.apps",
    "ClusterRole": "clusterroles.rbac.authorization.k8s.io",
    "ClusterRoleBinding": "clusterrolebindings.rbac.authorization.k8s.io",
    "Role": "roles.rbac.authorization.k8s.io",
    "RoleBinding": "rolebindings.rbac.authorization.k8s.io",
    "APIService": "apiservices.apiregistration.k8s.io",
}


def _create_any(world: SimWorld, manifest: Manifest) -> None:
    _create(world, _KEYS[manifest["kind"]], manifest)


def _create(world: SimWorld, resource: str, manifest: Manifest) -> None:
    """Create an object unless a controller has been faster (default service accounts)."""
    metadata = manifest["metadata"]
    if world.store.get(resource, metadata.get("namespace", ""), metadata["name"]) is None:
        apiserver.create(world, resource, manifest)


def _cluster_scoped() -> list[Manifest]:
    critical = (
        ("system-cluster-critical", 2000000000, "cluster"),
        ("system-node-critical", 2000001000, "node"),
    )
    classes: list[Manifest] = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "preemptionPolicy": "PreemptLowerPriority",
            "description": f"Used for system critical pods that must {text}.",
        }
        for name, value, text in (
            (
                critical[0][0],
                critical[0][1],
                "run in the cluster, but can be moved to another node if necessary",
            ),
            (critical[1][0], critical[1][1], "not be moved from their current node"),
        )
    ]
    storage: Manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "openebs-hostpath",
            "annotations": {
                "cas.openebs.io/config": '- name: StorageType\n  value: "hostpath"\n'
                '- name: BasePath\n  value: "/var/openebs/local"\n',
                "openebs.io/cas-type": "local",
                "storageclass.kubernetes.io/is-default-class": "true",
            },
        },
        "provisioner": "openebs.io/local",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    return [*classes, storage]


def _service_accounts() -> list[Manifest]:
    names = (
        ("kube-system", "coredns"),
        ("kube-system", "kube-proxy"),
        ("kube-system", "calico-node"),
        ("kube-system", "calico-kube-controllers"),
        ("kube-system", "metrics-server"),
        ("openebs", "openebs-maya-operator"),
        *((namespace, "default") for namespace in NAMESPACES),
    )
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        for namespace, name in names
    ]


def _configuration(plan: ClusterPlan) -> list[Manifest]:
    kubeadm = (
        f"apiVersion: kubeadm.k8s.io/v1beta4\nclusterName: {plan.cluster_name}\ncontrolPlaneEndpoint: "
        f"{plan.endpoint}:6443\nkind: ClusterConfiguration\nkubernetesVersion: {plan.version}\nnetworking:\n"
        f"  dnsDomain: cluster.local\n  podSubnet: {plan.pod_cidr}\n  serviceSubnet: {plan.service_cidr}\n"
    )
    proxy = (
        f"apiVersion: kubeproxy.config.k8s.io/v1alpha1\nbindAddress: 0.0.0.0\nclusterCIDR: {plan.pod_cidr}\n"
        "conntrack:\n  maxPerCore: 0\niptables:\n  minSyncPeriod: 1s\nkind: KubeProxyConfiguration\n"
        "mode: iptables\n"
    )
    calico = {
        "calico_backend": "bird",
        "cni_network_config": '{"name": "k8s-pod-network"}\n',
        "veth_mtu": str(interfaces.USUAL),
    }
    return [
        _config_map("coredns", {"Corefile": COREFILE}),
        _config_map("kubeadm-config", {"ClusterConfiguration": kubeadm}),
        _config_map("kube-proxy", {"config.conf": proxy}),
        _config_map("calico-config", calico),
    ]


def _config_map(name: str, data: dict[str, str]) -> Manifest:
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _services(plan: ClusterPlan) -> list[Manifest]:
    api: Manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": plan.api_address,
            "clusterIPs": [plan.api_address],
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    }
    dns: Manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "annotations": {"prometheus.io/port": "9153", "prometheus.io/scrape": "true"},
            "labels": {
                "k8s-app": "kube-dns",
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
        },
        "spec": {
            "clusterIP": plan.dns_address,
            "clusterIPs": [plan.dns_address],
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
                {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
            ],
            "selector": {"k8s-app": "kube-dns"},
        },
    }
    metrics: Manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "metrics-server",
            "namespace": "kube-system",
            "labels": {"k8s-app": "metrics-server"},
        },
        "spec": {
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "https"}],
            "selector": {"k8s-app": "metrics-server"},
        },
    }
    return [api, dns, metrics]


def _publish_api_server(world: SimWorld) -> None:
    """The API server writes its own endpoints; no selector does."""
    ports = [{"name": "https", "port": 6443, "protocol": "TCP"}]
    metadata = {"name": "kubernetes", "namespace": "default"}
    mirrored = {**metadata, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
    servers = [machine.address for machine in world.plan.control_planes]
    subset = {"addresses": [{"ip": address} for address in servers], "ports": ports}
    _create(
        world,
        "endpoints",
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": mirrored, "subsets": [subset]},
    )
    _create(
        world,
        "endpointslices.discovery.k8s.io",
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**metadata, "labels": {"kubernetes.io/service-name": "kubernetes"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in servers],
            "ports": ports,
        },
    )


# --- the control plane's static pods ----------------------------------------------------------------


def _control_plane(world: SimWorld, machine: Machine) -> list[Manifest]:
    plan, address = world.plan, machine.address
    api = [
        "kube-apiserver",
        f"--advertise-address={address}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--etcd-servers=https://127.0.0.1:2379",
        "--secure-port=6443",
        f"--service-cluster-ip-range={plan.service_cidr}",
    ]
    controllers = [
        "kube-controller-manager",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={plan.pod_cidr}",
        "--controllers=*,bootstrapsigner,tokencleaner",
        "--leader-elect=true",
    ]
    etcd = [
        "etcd",
        f"--advertise-client-urls=https://{address}:2379",
        "--data-dir=/var/lib/etcd",
        f"--name={machine.name}",
    ]
    scheduler = ["kube-scheduler", "--leader-elect=true"]
    images = {name: f"registry.k8s.io/{name}:{plan.version}" for name in CONTROL_PLANE_COMPONENTS}
    api_server, manager, scheduling = CONTROL_PLANE_COMPONENTS
    return [
        _static_pod(world, machine, "etcd", ETCD_IMAGE, etcd, "100m", "100Mi"),
        _static_pod(world, machine, api_server, images[api_server], api, "250m"),
        _static_pod(world, machine, manager, images[manager], controllers, "200m"),
        _static_pod(world, machine, scheduling, images[scheduling], scheduler, "100m"),
    ]


def _static_pod(
    world: SimWorld, machine: Machine, name: str, image: str, command: list[str], cpu: str, memory: str = ""
) -> Manifest:
    node = world.store.get("nodes", "", machine.name)
    assert node is not None
    requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
    hash = f"{len(name):02x}" + "".join(f"{ord(char):02x}" for char in f"{name}-static")[:30]
    if world.plan.key:
        hash = "".join(f"{world.plan.bits('static', machine.name, name, part):016x}" for part in range(2))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-{machine.name}",
            "namespace": "kube-system",
            "labels": {"component": name, "tier": "control-plane"},
            "annotations": {
                "kubernetes.io/config.hash": hash,
                "kubernetes.io/config.mirror": hash,
                "kubernetes.io/config.source": "file",
            },
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "controller": True,
                    "kind": "Node",
                    "name": machine.name,
                    "uid": node["metadata"]["uid"],
                }
            ],
        },
        "spec": {
            "containers": [
                {
                    "name": name,
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": command,
                    "resources": {"requests": requests},
                }
            ],
            "enableServiceLinks": True,
            "hostNetwork": True,
            "nodeName": machine.name,
            "priorityClassName": "system-node-critical",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
        },
    }


# --- add-ons ----------------------------------------------------------------------------------------


def _daemon_sets(plan: ClusterPlan) -> list[Manifest]:
    proxy_command = ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf"]
    node_name = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    proxy = {
        "name": "kube-proxy",
        "image": f"registry.k8s.io/kube-proxy:{plan.version}",
        "imagePullPolicy": "IfNotPresent",
        "command": [*proxy_command, "--hostname-override=$(NODE_NAME)"],
        "env": [node_name],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "kube-proxy", "mountPath": "/var/lib/kube-proxy"}],
    }
    calico = {
        "name": "calico-node",
        "image": CALICO_NODE_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "DATASTORE_TYPE", "value": "kubernetes"},
            {"name": "NODENAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {
                "name": "CALICO_NETWORKING_BACKEND",
                "valueFrom": _config_key("calico-config", "calico_backend"),
            },
            {"name": "CLUSTER_TYPE", "value": "k8s,bgp"},
            {"name": "CALICO_IPV4POOL_CIDR", "value": plan.pod_cidr},
            {"name": "CALICO_IPV4POOL_IPIP", "value": "Always"},
            {"name": "FELIX_IPINIPMTU", "valueFrom": _config_key("calico-config", "veth_mtu")},
        ],
        "resources": {"requests": {"cpu": "250m"}},
        "securityContext": {"privileged": True},
    }
    volume = {"name": "kube-proxy", "configMap": {"name": "kube-proxy"}}
    return [
        _daemon_set("kube-proxy", "kube-proxy", {"containers": [proxy], "volumes": [volume]}),
        _daemon_set("calico-node", "calico-node", {"containers": [calico]}),
    ]


def _config_key(name: str, key: str) -> dict[str, Any]:
    return {"configMapKeyRef": {"name": name, "key": key}}


def _daemon_set(name: str, account: str, pod: dict[str, Any]) -> Manifest:
    labels = {"k8s-app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    **pod,
                    "hostNetwork": True,
                    "nodeSelector": {"kubernetes.io/os": "linux"},
                    "priorityClassName": "system-node-critical",
                    "serviceAccountName": account,
                    "tolerations": _ANY_TAINT,
                },
            },
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        },
    }


def _deployments() -> list[Manifest]:
    return [_coredns(), _calico_controllers(), _metrics_server(), _localpv()]


def _deployment(
    name: str, namespace: str, labels: dict[str, str], pod: dict[str, Any], **spec: Any
) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            **spec,
        },
    }


def _http(path: str, port: int | str, **more: Any) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}, **more}


def _coredns() -> Manifest:
    labels = {"k8s-app": "kube-dns"}
    container = {
        "name": "coredns",
        "image": COREDNS_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9153, "protocol": "TCP"},
        ],
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
        "livenessProbe": _http(
            "/health", 8080, initialDelaySeconds=60, timeoutSeconds=5, successThreshold=1, failureThreshold=5
        ),
        "readinessProbe": _http("/ready", 8181),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    apart = {
        "labelSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": ["kube-dns"]}]},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": apart}]
    items = [{"key": "Corefile", "path": "Corefile"}]
    pod = {
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "containers": [container],
        "dnsPolicy": "Default",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "coredns",
        "tolerations": [*_CRITICAL, _ON_CONTROL_PLANE],
        "volumes": [{"name": "config-volume", "configMap": {"name": "coredns", "items": items}}],
    }
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    return _deployment("coredns", "kube-system", labels, pod, replicas=2, strategy=strategy)


def _calico_controllers() -> Manifest:
    container = {
        "name": "calico-kube-controllers",
        "image": CALICO_CONTROLLERS_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "ENABLED_CONTROLLERS", "value": "node"},
            {"name": "DATASTORE_TYPE", "value": "kubernetes"},
        ],
    }
    pod = {
        "containers": [container],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "calico-kube-controllers",
        "tolerations": [*_CRITICAL, _ON_CONTROL_PLANE],
    }
    labels = {"k8s-app": "calico-kube-controllers"}
    return _deployment("calico-kube-controllers", "kube-system", labels, pod, strategy={"type": "Recreate"})


def _metrics_server() -> Manifest:
    container = {
        "name": "metrics-server",
        "image": METRICS_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "--cert-dir=/tmp",
            "--secure-port=10250",
            "--kubelet-preferred-address-types=InternalIP",
            "--kubelet-use-node-status-port",
            "--metric-resolution=15s",
            "--kubelet-insecure-tls",
        ],
        "ports": [{"name": "https", "containerPort": 10250, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
        "volumeMounts": [{"name": "tmp-dir", "mountPath": "/tmp"}],
    }
    pod = {
        "containers": [container],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "metrics-server",
        "volumes": [{"name": "tmp-dir", "emptyDir": {}}],
    }
    return _deployment("metrics-server", "kube-system", {"k8s-app": "metrics-server"}, pod)


def _localpv() -> Manifest:
    labels = {
        "name": "openebs-localpv-provisioner",
        "openebs.io/component-name": "openebs-localpv-provisioner",
    }
    container = {
        "name": "openebs-provisioner-hostpath",
        "image": LOCALPV_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "args": ["--bd-time-out=$(BDC_BD_BIND_RETRIES)"],
        "env": [
            {"name": "BDC_BD_BIND_RETRIES", "value": "12"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "OPENEBS_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "OPENEBS_IO_BASE_PATH", "value": "/var/openebs/local"},
        ],
    }
    pod = {"containers": [container], "serviceAccountName": "openebs-maya-operator"}
    return _deployment("openebs-localpv-provisioner", "openebs", labels, pod, strategy={"type": "Recreate"})
