"""The monitoring in the cluster: namespace ``observe`` as the benchmark deploys it, as far as people touch it.

Names, images, ports and arguments are those of its charts (prometheus 25.6, loki). So that worlds stay cheap, there are no
claims for volumes, no health checks of exporters, and no promtail: the machines themselves ship what containers write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.oncall import ONCALL, rule
from sregym_env.kube.types import Manifest
from sregym_env.sim.monitoring.alerts import rules_text
from sregym_env.sim.programs.monitoring_images import PUBLISHED_RELEASES

NAMESPACE = "observe"
NODE_PORT = 32000
"""Of Prometheus on every machine, in the published cluster."""

_ANYWHERE = [{"operator": "Exists", "effect": "NoSchedule"}]
_CONTROL_PLANE = {"node-role.kubernetes.io/control-plane": ""}

_CONFIG = """\
global:
  evaluation_interval: 1m
  scrape_interval: 1m
  scrape_timeout: 10s
rule_files:
- /etc/config/recording_rules.yml
- /etc/config/alerting_rules.yml
scrape_configs:
- job_name: prometheus-self
  static_configs:
  - targets:
    - localhost:9090
- job_name: kube-state-metrics
  static_configs:
  - targets:
    - prometheus-kube-state-metrics.observe:8080
- job_name: kubernetes-cadvisor
  scheme: https
  kubernetes_sd_configs:
  - role: node
  relabel_configs:
  - action: labelmap
    regex: __meta_kubernetes_node_label_(.+)
  - target_label: __address__
    replacement: kubernetes.default.svc:443
  - source_labels: [__meta_kubernetes_node_name]
    target_label: __metrics_path__
    replacement: /api/v1/nodes/$1/proxy/metrics/cadvisor
- job_name: node-exporter
  kubernetes_sd_configs:
  - role: endpoints
  relabel_configs:
  - action: keep
    source_labels: [__meta_kubernetes_endpoints_name]
    regex: prometheus-prometheus-node-exporter
- job_name: otel-spanmetrics
  scrape_interval: 15s
  static_configs:
  - targets:
    - otel-collector.observe:8889
"""
"""``prometheus.yml``."""

_BLACKBOX = """\
modules:
  http_2xx:
    prober: http
    timeout: 5s
  tcp_connect:
    prober: tcp
    timeout: 5s
"""

_LOKI = """\
auth_enabled: false
common:
  path_prefix: /var/loki
  replication_factor: 1
  storage:
    filesystem:
      chunks_directory: /var/loki/chunks
      rules_directory: /var/loki/rules
limits_config:
  max_cache_freshness_per_query: 10m
  reject_old_samples: true
  reject_old_samples_max_age: 24h
  retention_period: 24h
server:
  grpc_listen_port: 9095
  http_listen_port: 3100
"""


def manifests(
    namespaces: Sequence[str],
    releases: Mapping[str, str] = PUBLISHED_RELEASES,
    *,
    node_port: int = 0,
) -> list[Manifest]:
    """The objects, in the order of their making; the namespace first.

    ``namespaces`` are those that the alerting rules watch, ``releases`` the tags by repository. ``node_port`` opens
    Prometheus on every machine.
    """
    images = {repository.rpartition("/")[2]: f"{repository}:{tag}" for repository, tag in releases.items()}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        *(
            _object("v1", "ServiceAccount", name, {})
            for name in (
                "prometheus-server",
                "prometheus-kube-state-metrics",
                "prometheus-prometheus-node-exporter",
                "loki",
            )
        ),
        _config(
            "prometheus-server",
            {
                "alerting_rules.yml": rules_text(tuple(namespaces)),
                "prometheus.yml": _CONFIG,
                "recording_rules.yml": "{}\n",
            },
        ),
        _config("prometheus-prometheus-blackbox-exporter", {"blackbox.yaml": _BLACKBOX}),
        _config("loki", {"config.yaml": _LOKI}),
        *_asking(),
        *_server(images["prometheus"], node_port),
        *_state_metrics(images["kube-state-metrics"]),
        *_node_exporter(images["node-exporter"]),
        *_blackbox(images["blackbox-exporter"]),
        *_loki(images["loki"]),
    ]


def _object(api: str, kind: str, name: str, labels: Mapping[str, str], **more: Any) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": NAMESPACE}
    if labels:
        metadata["labels"] = dict(labels)
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def _config(name: str, data: Mapping[str, str]) -> Manifest:
    return _object("v1", "ConfigMap", name, {}, data=dict(data))


def _asking() -> list[Manifest]:
    """That whoever is on call may ask through the API server."""
    group, name = "rbac.authorization.k8s.io", "sre-oncall-monitoring"
    allowed = [rule("", "services/proxy", ("get", "create"))]
    subject = {"apiGroup": group, "kind": "User", "name": ONCALL.name}
    to = {"apiGroup": group, "kind": "Role", "name": name}
    return [
        _object(f"{group}/v1", "Role", name, {}, rules=allowed),
        _object(f"{group}/v1", "RoleBinding", name, {}, roleRef=to, subjects=[subject]),
    ]


def _labels(name: str, release: str = "prometheus") -> dict[str, str]:
    return {"app.kubernetes.io/instance": release, "app.kubernetes.io/name": name}


def _service(
    name: str, labels: Mapping[str, str], port: int, target: int, port_name: str = "http", node_port: int = 0
) -> Manifest:
    entry: Manifest = {"name": port_name, "port": port, "targetPort": target}
    spec: Manifest = {"ports": [entry], "selector": dict(labels)}
    if node_port:
        entry["nodePort"] = node_port
        spec["type"] = "NodePort"
    return _object("v1", "Service", name, labels, spec=spec)


def _workload(
    kind: str, name: str, labels: Mapping[str, str], container: Manifest, pod: Manifest, **spec: Any
) -> Manifest:
    template = {"metadata": {"labels": dict(labels)}, "spec": {**pod, "containers": [container]}}
    return _object(
        "apps/v1",
        kind,
        name,
        labels,
        spec={**spec, "selector": {"matchLabels": dict(labels)}, "template": template},
    )


def _container(
    name: str,
    image: str,
    args: Sequence[str],
    port: int,
    memory: int,
    *,
    ready: str = "",
    mount: tuple[str, str] | None = None,
) -> Manifest:
    made: Manifest = {
        "name": name,
        "image": image,
        "args": list(args),
        "ports": [{"containerPort": port}],
        "resources": {"requests": {"cpu": "10m", "memory": f"{memory}Mi"}},
    }
    if ready:
        probe = {"httpGet": {"path": ready, "port": port}, "periodSeconds": 30, "timeoutSeconds": 10}
        made["readinessProbe"] = probe
    if mount is not None:
        made["volumeMounts"] = [{"name": mount[0], "mountPath": mount[1]}]
    return made


def _mounting(name: str) -> list[Manifest]:
    return [{"name": "config", "configMap": {"name": name}}]


def _server(image: str, node_port: int) -> list[Manifest]:
    name, labels = "prometheus-server", {**_labels("prometheus"), "app.kubernetes.io/component": "server"}
    args = (
        "--storage.tsdb.retention.time=15d",
        "--config.file=/etc/config/prometheus.yml",
        "--storage.tsdb.path=/data",
        "--web.console.libraries=/etc/prometheus/console_libraries",
        "--web.console.templates=/etc/prometheus/consoles",
        "--web.enable-lifecycle",
    )
    container = _container(name, image, args, 9090, 128, ready="/-/ready", mount=("config", "/etc/config"))
    pod = {
        "nodeSelector": _CONTROL_PLANE,
        "serviceAccountName": name,
        "tolerations": _ANYWHERE,
        "volumes": _mounting(name),
    }
    return [
        _workload("Deployment", name, labels, container, pod, replicas=1, strategy={"type": "Recreate"}),
        _service(name, labels, 80, 9090, node_port=node_port),
    ]


def _state_metrics(image: str) -> list[Manifest]:
    name, labels = "prometheus-kube-state-metrics", _labels("kube-state-metrics")
    container = _container("kube-state-metrics", image, ("--port=8080",), 8080, 48)
    pod = {"nodeSelector": _CONTROL_PLANE, "serviceAccountName": name, "tolerations": _ANYWHERE}
    return [
        _workload("Deployment", name, labels, container, pod, replicas=1),
        _service(name, labels, 8080, 8080),
    ]


def _node_exporter(image: str) -> list[Manifest]:
    name, labels = "prometheus-prometheus-node-exporter", _labels("prometheus-node-exporter")
    args = ("--path.procfs=/host/proc", "--path.sysfs=/host/sys", "--web.listen-address=:9100")
    container = _container("node-exporter", image, args, 9100, 20)
    container["ports"] = [{"containerPort": 9100, "hostPort": 9100, "name": "metrics"}]
    pod = {"hostNetwork": True, "hostPID": True, "serviceAccountName": name, "tolerations": _ANYWHERE}
    return [
        _workload("DaemonSet", name, labels, container, pod),
        _service(name, labels, 9100, 9100, "metrics"),
    ]


def _blackbox(image: str) -> list[Manifest]:
    name, labels = "prometheus-prometheus-blackbox-exporter", _labels("prometheus-blackbox-exporter")
    args = ("--config.file=/config/blackbox.yaml",)
    container = _container("blackbox-exporter", image, args, 9115, 20, mount=("config", "/config"))
    pod = {"nodeSelector": _CONTROL_PLANE, "tolerations": _ANYWHERE, "volumes": _mounting(name)}
    return [
        _workload("Deployment", name, labels, container, pod, replicas=1),
        _service(name, labels, 9115, 9115),
    ]


def _loki(image: str) -> list[Manifest]:
    name, labels = "loki", {**_labels("loki", "loki"), "app.kubernetes.io/component": "single-binary"}
    args = ("-config.file=/etc/loki/config/config.yaml", "-target=all")
    container = _container(
        "loki", image, args, 3100, 128, ready="/ready", mount=("config", "/etc/loki/config")
    )
    pod = {
        "nodeSelector": _CONTROL_PLANE,
        "serviceAccountName": name,
        "tolerations": _ANYWHERE,
        "volumes": _mounting(name),
    }
    return [
        _service(name, labels, 3100, 3100, "http-metrics"),
        _workload("StatefulSet", name, labels, container, pod, replicas=1, serviceName="loki"),
    ]
