"""What the chart's dependencies add: the collector on every node, Grafana, Jaeger, OpenSearch."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from sregym_env.apps.astronomy_shop import files, helm
from sregym_env.apps.astronomy_shop.edition import NAMESPACE, RELEASE, Edition
from sregym_env.kube.types import Manifest

COLLECTOR_LABELS = {
    "app.kubernetes.io/name": "opentelemetry-collector",
    "app.kubernetes.io/instance": RELEASE,
    "component": "agent-collector",
}
GRAFANA_LABELS = {"app.kubernetes.io/name": "grafana", "app.kubernetes.io/instance": RELEASE}
JAEGER_LABELS = {
    "app.kubernetes.io/name": "jaeger",
    "app.kubernetes.io/instance": RELEASE,
    "app.kubernetes.io/component": "all-in-one",
}
OPENSEARCH_LABELS = {"app.kubernetes.io/name": "opensearch", "app.kubernetes.io/instance": RELEASE}


def objects(edition: Edition) -> Iterator[Manifest]:
    """Everything of the four, accounts and roles first."""
    yield from _collector(edition)
    yield from _jaeger(edition)
    yield from _opensearch(edition)
    yield from _grafana(edition)


def _named(kind: str, name: str, labels: dict[str, str], version: str = "v1", **more: object) -> Manifest:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def _service(
    name: str, labels: dict[str, str], selector: dict[str, str], ports: list[Manifest], **more: object
) -> Manifest:
    return _named(
        "Service", name, labels, spec={"type": "ClusterIP", "ports": ports, "selector": selector, **more}
    )


def _role(name: str, account: str, labels: dict[str, str], rules: list[Manifest]) -> Iterator[Manifest]:
    group = "rbac.authorization.k8s.io"
    yield {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels},
        "rules": rules,
    }
    yield {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": labels},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
    }


# --- the collector -----------------------------------------------------------------------------------------

_RECEIVES = (
    ("jaeger-compact", 6831, "UDP"), ("jaeger-grpc", 14250, "TCP"), ("jaeger-thrift", 14268, "TCP"),
    ("metrics", 8888, "TCP"), ("otlp", 4317, "TCP"), ("otlp-http", 4318, "TCP"), ("zipkin", 9411, "TCP"),
)  # fmt: skip


def _collector(edition: Edition) -> Iterator[Manifest]:
    labels = helm.part_labels("opentelemetry-collector-0.142.2", "0.142.0", "opentelemetry-collector")
    yield _named("ServiceAccount", "otel-collector", labels)
    read = ["get", "list", "watch"]
    yield from _role("otel-collector", "otel-collector", labels, [
        {"apiGroups": [""], "resources": ["events", "namespaces", "namespaces/status", "nodes", "nodes/spec", "pods", "pods/status",
                                          "replicationcontrollers", "replicationcontrollers/status", "resourcequotas", "services"], "verbs": read},
        {"apiGroups": ["apps"], "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"], "verbs": read},
        {"apiGroups": ["extensions"], "resources": ["daemonsets", "deployments", "replicasets"], "verbs": read},
        {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": read},
        {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": read},
        {"apiGroups": [""], "resources": ["nodes/stats"], "verbs": read},
    ])  # fmt: skip
    yield _named("ConfigMap", "otel-collector-agent", labels, data={"relay": files.COLLECTOR})
    probe = {"httpGet": {"path": "/", "port": 13133}}
    env: list[Manifest] = [
        {"name": "MY_POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
        {
            "name": "K8S_NODE_NAME",
            "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
        },
        {"name": "GOMEMLIMIT", "value": "160MiB"},
    ]
    container: Manifest = {
        "name": "opentelemetry-collector",
        "image": edition.builds["otel-collector"].runs,
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config=/conf/relay.yaml"],
        "ports": [
            {"name": name, "containerPort": port, "protocol": protocol} for name, port, protocol in _RECEIVES
        ],
        "env": env,
        "livenessProbe": probe,
        "readinessProbe": probe,
        "resources": {"limits": {"memory": f"{edition.limits.get('otel-collector', 200)}Mi"}},
        "securityContext": {"runAsUser": 0, "runAsGroup": 0},
        "volumeMounts": [
            {"mountPath": "/conf", "name": "opentelemetry-collector-configmap"},
            {
                "name": "hostfs",
                "mountPath": "/hostfs",
                "readOnly": True,
                "mountPropagation": "HostToContainer",
            },
        ],
    }
    pod: Manifest = {
        "serviceAccountName": "otel-collector",
        "containers": [container],
        "volumes": [
            {
                "name": "opentelemetry-collector-configmap",
                "configMap": {
                    "name": "otel-collector-agent",
                    "items": [{"key": "relay", "path": "relay.yaml"}],
                },
            },
            {"name": "hostfs", "hostPath": {"path": "/"}},
        ],
    }
    yield _named("DaemonSet", "otel-collector-agent", labels, "apps/v1", spec={
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": COLLECTOR_LABELS},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {"metadata": {"labels": COLLECTOR_LABELS}, "spec": pod},
    })  # fmt: skip
    ports: list[Manifest] = [
        {"name": name, "port": port, "targetPort": port, "protocol": protocol}
        for name, port, protocol in _RECEIVES
    ]
    yield _service(
        "otel-collector",
        {**labels, "component": "agent-collector"},
        COLLECTOR_LABELS,
        ports,
        internalTrafficPolicy="Local",
    )


# --- Jaeger ------------------------------------------------------------------------------------------------

_JAEGER_PORTS = (
    ("zk-compact-trft", 5775, "UDP"), ("config-rest", 5778, "TCP"), ("jg-compact-trft", 6831, "UDP"),
    ("jg-binary-trft", 6832, "UDP"), ("zipkin", 9411, "TCP"), ("grpc-http", 14250, "TCP"), ("c-tchan-trft", 14267, "TCP"),
    ("http-c-binary-trft", 14268, "TCP"), ("otlp-grpc", 4317, "TCP"), ("otlp-http", 4318, "TCP"),
    ("grpc-query", 16685, "TCP"), ("http-query", 16686, "TCP"),
)  # fmt: skip


def _jaeger(edition: Edition) -> Iterator[Manifest]:
    labels = helm.part_labels(
        "jaeger-4.3.0", "2.14.1", "jaeger", **{"app.kubernetes.io/component": "all-in-one"}
    )
    yield _named("ServiceAccount", "jaeger", labels)
    yield _named("ConfigMap", "user-config", labels, data={"user-config.yaml": files.JAEGER})
    container: Manifest = {
        "name": "jaeger",
        "image": edition.builds["jaeger"].runs,
        "imagePullPolicy": "IfNotPresent",
        "args": ["--config", "/etc/jaeger/user-config.yaml"],
        "env": [
            {"name": "MEMORY_MAX_TRACES", "value": "25000"},
            {"name": "PROMETHEUS_ADDR", "value": "prometheus:9090"},
        ],
        "ports": [{"containerPort": port, "protocol": protocol} for _, port, protocol in _JAEGER_PORTS],
        "livenessProbe": {
            "httpGet": {"path": "/status", "port": 13133},
            "failureThreshold": 5,
            "initialDelaySeconds": 5,
            "periodSeconds": 15,
        },
        "readinessProbe": {"httpGet": {"path": "/status", "port": 13133}, "initialDelaySeconds": 1},
        "resources": {"limits": {"memory": f"{edition.limits.get('jaeger', 600)}Mi"}},
        "volumeMounts": [{"name": "user-config", "mountPath": "/etc/jaeger"}],
    }
    pod: Manifest = {
        "serviceAccountName": "jaeger",
        "containers": [container],
        "volumes": [{"name": "user-config", "configMap": {"name": "user-config"}}],
    }
    yield _named("Deployment", "jaeger", labels, "apps/v1", spec={
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": JAEGER_LABELS},
        "template": {"metadata": {"labels": JAEGER_LABELS}, "spec": pod},
    })  # fmt: skip
    ports: list[Manifest] = [
        {"name": name, "port": port, "targetPort": port, "protocol": protocol}
        for name, port, protocol in _JAEGER_PORTS
    ]
    yield _service("jaeger", labels, JAEGER_LABELS, ports)


# --- OpenSearch --------------------------------------------------------------------------------------------


def _opensearch(edition: Edition) -> Iterator[Manifest]:
    labels = helm.part_labels(
        "opensearch-3.4.0", "3.4.0", "opensearch", **{"app.kubernetes.io/component": "opensearch"}
    )
    yield _named("PodDisruptionBudget", "opensearch-pdb", labels, "policy/v1",
                 spec={"maxUnavailable": 1, "selector": {"matchLabels": OPENSEARCH_LABELS}})  # fmt: skip
    yield _named("ConfigMap", "opensearch-config", labels, data={"opensearch.yml": files.OPENSEARCH})
    image = edition.builds["opensearch"].runs
    env = [
        {"name": "node.name", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
        {"name": "discovery.seed_hosts", "value": "opensearch-cluster-master-headless"},
        {"name": "cluster.name", "value": "demo-cluster"},
        {"name": "network.host", "value": "0.0.0.0"},
        {"name": "OPENSEARCH_JAVA_OPTS", "value": "-Xms400m -Xmx400m"},
        {"name": "node.roles", "value": "master,ingest,data,remote_cluster_client,"},
        {"name": "discovery.type", "value": "single-node"},
        {"name": "DISABLE_INSTALL_DEMO_CONFIG", "value": "true"},
        {"name": "DISABLE_SECURITY_PLUGIN", "value": "true"},
    ]
    numbers = (("http", 9200), ("transport", 9300), ("metrics", 9600))
    container: Manifest = {
        "name": "opensearch",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True, "runAsUser": 1000},
        "readinessProbe": {
            "failureThreshold": 3,
            "periodSeconds": 5,
            "tcpSocket": {"port": 9200},
            "timeoutSeconds": 3,
        },
        "startupProbe": {
            "failureThreshold": 30,
            "initialDelaySeconds": 5,
            "periodSeconds": 10,
            "tcpSocket": {"port": 9200},
            "timeoutSeconds": 3,
        },
        "ports": [{"name": name, "containerPort": port} for name, port in numbers],
        "env": env,
        "resources": {
            "limits": {"memory": f"{edition.limits.get('opensearch', 1100)}Mi"},
            "requests": {"cpu": "1000m", "memory": "100Mi"},
        },
        "volumeMounts": [
            {
                "name": "config-emptydir",
                "mountPath": "/usr/share/opensearch/config/opensearch.yml",
                "subPath": "opensearch.yml",
            },
        ],
    }
    copies: Manifest = {
        "name": "configfile",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", "cp -r /tmp/configfolder/* /tmp/config/"],
        "volumeMounts": [
            {"name": "config-emptydir", "mountPath": "/tmp/config/"},
            {"name": "config", "mountPath": "/tmp/configfolder/opensearch.yml", "subPath": "opensearch.yml"},
        ],
    }
    pod: Manifest = {
        "securityContext": {"fsGroup": 1000, "runAsUser": 1000},
        "terminationGracePeriodSeconds": 120,
        "initContainers": [copies],
        "containers": [container],
        "volumes": [
            {"name": "config", "configMap": {"name": "opensearch-config"}},
            {"name": "config-emptydir", "emptyDir": {}},
        ],
    }
    yield _named("StatefulSet", "opensearch", labels, "apps/v1", spec={
        "serviceName": "opensearch-headless",
        "replicas": 1,
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate"},
        "selector": {"matchLabels": OPENSEARCH_LABELS},
        "template": {"metadata": {"labels": {**labels, **OPENSEARCH_LABELS}, "name": "opensearch"}, "spec": pod},
    })  # fmt: skip
    served = [{"name": name, "port": port, "protocol": "TCP", "targetPort": port} for name, port in numbers]
    yield _service("opensearch", labels, OPENSEARCH_LABELS, [served[0], served[1], served[2]])
    yield _named("Service", "opensearch-headless", labels, spec={
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": OPENSEARCH_LABELS,
        "ports": served,
    })  # fmt: skip


# --- Grafana -----------------------------------------------------------------------------------------------


def _grafana(edition: Edition) -> Iterator[Manifest]:
    labels = helm.part_labels("grafana-10.5.8", "12.3.1", "grafana")
    yield _named("ServiceAccount", "grafana", labels, automountServiceAccountToken=False)
    yield from _role("grafana-clusterrole", "grafana", labels,
                     [{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "watch", "list"]}])  # fmt: skip
    secret = {"admin-user": "admin", "admin-password": edition.grafana_password, "ldap-toml": ""}
    yield _named("Secret", "grafana", labels, type="Opaque",
                 data={key: b64encode(text.encode()).decode() for key, text in secret.items()})  # fmt: skip
    yield _named(
        "ConfigMap",
        "grafana",
        labels,
        data={"grafana.ini": files.GRAFANA, "plugins": "grafana-opensearch-datasource"},
    )
    yield _named("ConfigMap", "grafana-config-dashboards", labels,
                 data={"provider.yaml": "apiVersion: 1\nproviders:\n  - name: 'sidecarProvider'\n    orgId: 1\n    type: file\n"
                       "    options:\n      path: /tmp/dashboards\n"})  # fmt: skip
    login = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": "grafana", "key": key}}}
        for name, key in (
            ("GF_SECURITY_ADMIN_USER", "admin-user"),
            ("GF_SECURITY_ADMIN_PASSWORD", "admin-password"),
        )
    ]
    paths = {
        "DATA": "/var/lib/grafana/",
        "LOGS": "/var/log/grafana",
        "PLUGINS": "/var/lib/grafana/plugins",
        "PROVISIONING": "/etc/grafana/provisioning",
    }
    container: Manifest = {
        "name": "grafana",
        "image": edition.builds["grafana"].runs,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/grafana/grafana.ini", "subPath": "grafana.ini"},
            {"name": "storage", "mountPath": "/var/lib/grafana"},
            {"name": "sc-dashboard-volume", "mountPath": "/tmp/dashboards"},
        ],
        "ports": [{"name": "grafana", "containerPort": 3000, "protocol": "TCP"}],
        "env": [
            *login,
            {
                "name": "GF_INSTALL_PLUGINS",
                "valueFrom": {"configMapKeyRef": {"name": "grafana", "key": "plugins"}},
            },
            *({"name": f"GF_PATHS_{key}", "value": text} for key, text in paths.items()),
        ],
        "livenessProbe": {
            "failureThreshold": 10,
            "httpGet": {"path": "/api/health", "port": 3000},
            "initialDelaySeconds": 60,
            "timeoutSeconds": 30,
        },
        "readinessProbe": {"httpGet": {"path": "/api/health", "port": 3000}},
        "resources": {"limits": {"memory": f"{edition.limits.get('grafana', 175)}Mi"}},
    }
    pod: Manifest = {
        "serviceAccountName": "grafana",
        "automountServiceAccountToken": True,
        "securityContext": {"fsGroup": 472, "runAsGroup": 472, "runAsNonRoot": True, "runAsUser": 472},
        "containers": [
            *(_sidecar(edition, what) for what in ("alerts", "dashboard", "datasources")),
            container,
        ],
        "volumes": [
            {"name": "config", "configMap": {"name": "grafana"}},
            {"name": "storage", "emptyDir": {}},
            {"name": "sc-dashboard-volume", "emptyDir": {}},
            {"name": "sc-alerts-volume", "emptyDir": {}},
            {"name": "sc-datasources-volume", "emptyDir": {}},
        ],
    }
    yield _named("Deployment", "grafana", labels, "apps/v1", spec={
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": GRAFANA_LABELS},
        "strategy": {"type": "RollingUpdate"},
        "template": {"metadata": {"labels": GRAFANA_LABELS}, "spec": pod},
    })  # fmt: skip
    yield _service("grafana", labels, GRAFANA_LABELS,
                   [{"name": "service", "port": 80, "protocol": "TCP", "targetPort": 3000}])  # fmt: skip


def _sidecar(edition: Edition, what: str) -> Manifest:
    """A watcher of ConfigMaps with a label, which it writes into a folder."""
    label = f"grafana_{what}" if what != "alerts" else "grafana_alert"
    env = {"METHOD": "WATCH", "LABEL": label, "FOLDER": f"/tmp/{what}", "RESOURCE": "both"}
    return {
        "name": f"grafana-sc-{what}",
        "image": edition.builds["k8s-sidecar"].runs,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": key, "value": text} for key, text in env.items()],
        "resources": {
            "requests": {"cpu": "100m", "memory": "100Mi"},
            "limits": {"cpu": "100m", "memory": "100Mi"},
        },
        "volumeMounts": [{"name": f"sc-{what}-volume", "mountPath": f"/tmp/{what}"}],
    }
