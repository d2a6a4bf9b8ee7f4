"""The configuration files that Astronomy Shop's ConfigMaps and images carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.apps.astronomy_shop.edition import NAMESPACE


def _flag(description: str, off: Any, **variants: Any) -> dict[str, Any]:
    return {
        "description": description,
        "state": "ENABLED",
        "variants": {**variants, "off": off},
        "defaultVariant": "off",
    }


FLAGS: dict[str, dict[str, Any]] = {
    "productCatalogFailure": _flag("Fail product catalog service on a specific product", False, on=True),
    "recommendationCacheFailure": _flag("Fail recommendation service cache", False, on=True),
    "adManualGc": _flag("Triggers full manual garbage collections in the ad service", False, on=True),
    "adHighCpu": _flag("Triggers high cpu load in the ad service", False, on=True),
    "adFailure": _flag("Fail ad service", False, on=True),
    "kafkaQueueProblems": _flag("Overloads Kafka queue while simultaneously introducing a consumer side delay leading to a lag spike", 0, on=100),
    "cartFailure": _flag("Fail cart service", False, on=True),
    "paymentFailure": _flag("Fail payment service charge requests n%", 0,
                            **{"100%": 1, "90%": 0.95, "75%": 0.75, "50%": 0.5, "25%": 0.25, "10%": 0.1}),
    "paymentUnreachable": _flag("Payment service is unavailable", False, on=True),
    "loadGeneratorFloodHomepage": _flag("Flood the frontend with a large amount of requests.", 0, on=100),
    "imageSlowLoad": _flag("slow loading images in the frontend", 0, **{"10sec": 10000, "5sec": 5000}),
    "failedReadinessProbe": _flag("readiness probe failure for cart service", False, on=True),
    "emailMemoryLeak": _flag("Memory leak in the email service.", 0,
                             **{"1x": 1, "10x": 10, "100x": 100, "1000x": 1000, "10000x": 10000}),
    "llmInaccurateResponse": _flag("LLM returns an inaccurate product summary for product ID L9ECAV7KIM", False, on=True),
    "llmRateLimitError": _flag("LLM intermittently returns a RateLimitError", False, on=True),
}  # fmt: skip
"""The demo's feature flags, all off."""


def flags(own: Mapping[str, bool]) -> str:
    """flagd's file, with the flags of a team's ``own`` and whether they are on."""
    made = {
        name: {**_flag(f"Rollout of {name}", False, on=True), "defaultVariant": "on" if on else "off"}
        for name, on in own.items()
    }
    document = {"$schema": "https://flagd.dev/schema/v0/flags.json", "flags": FLAGS | made}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


ROUTES = (
    ("/loadgen/", "loadgen", "/"), ("/otlp-http/", "opentelemetry_collector_http", "/"), ("/jaeger/", "jaeger", ""),
    ("/grafana/", "grafana", ""), ("/images/", "image-provider", "/"), ("/flagservice/", "flagservice", "/"),
    ("/feature", "flagd-ui", ""), ("/", "frontend", ""),
)  # fmt: skip
"""(prefix, cluster, what the prefix becomes), in the order in which they are tried."""
CLUSTERS = (
    ("opentelemetry_collector_grpc", "OTEL_COLLECTOR_HOST", "OTEL_COLLECTOR_PORT_GRPC"),
    ("opentelemetry_collector_http", "OTEL_COLLECTOR_HOST", "OTEL_COLLECTOR_PORT_HTTP"),
    ("frontend", "FRONTEND_HOST", "FRONTEND_PORT"),
    ("image-provider", "IMAGE_PROVIDER_HOST", "IMAGE_PROVIDER_PORT"),
    ("flagservice", "FLAGD_HOST", "FLAGD_PORT"),
    ("flagd-ui", "FLAGD_UI_HOST", "FLAGD_UI_PORT"),
    ("loadgen", "LOCUST_WEB_HOST", "LOCUST_WEB_PORT"),
    ("grafana", "GRAFANA_HOST", "GRAFANA_PORT"),
    ("jaeger", "JAEGER_HOST", "JAEGER_UI_PORT"),
)
"""(name, variable of the host, variable of the port)."""


ENVOY_DEFAULT = """\
admin:
  address:
    socket_address:
      protocol: TCP
      address: 0.0.0.0
      port_value: 9901
static_resources:
  listeners:
  - name: listener_0
    address:
      socket_address:
        protocol: TCP
        address: 0.0.0.0
        port_value: 10000
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          scheme_header_transformation:
            scheme_to_overwrite: https
          stat_prefix: ingress_http
          route_config:
            name: local_route
            virtual_hosts:
            - name: local_service
              domains: ["*"]
              routes:
              - match:
                  prefix: "/"
                route:
                  host_rewrite_literal: www.envoyproxy.io
                  cluster: service_envoyproxy_io
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: service_envoyproxy_io
    connect_timeout: 30s
    type: LOGICAL_DNS
    dns_lookup_family: V4_ONLY
    lb_policy: ROUND_ROBIN
    load_assignment:
      cluster_name: service_envoyproxy_io
      endpoints:
      - lb_endpoints:
        - endpoint:
            address:
              socket_address:
                address: www.envoyproxy.io
                port_value: 443
"""
"""What the base image brings and the proxy does not read."""


def envoy_template() -> str:
    """The front proxy's template, into which its environment is put."""
    routes = "".join(
        f'                        - match: {{ prefix: "{prefix}" }}\n'
        f"                          route: {{ cluster: {cluster}"
        + (f', prefix_rewrite: "{rewrite}"' if rewrite else "")
        + (", timeout: 0s" if cluster == "flagservice" else "")
        + " }\n"
        for prefix, cluster, rewrite in ROUTES
    )
    clusters = "".join(
        f"    - name: {name}\n      type: STRICT_DNS\n      lb_policy: ROUND_ROBIN\n      load_assignment:\n"
        f"        cluster_name: {name}\n        endpoints:\n          - lb_endpoints:\n              - endpoint:\n"
        f"                  address:\n                    socket_address:\n                      address: ${{{host}}}\n"
        f"                      port_value: ${{{port}}}\n"
        for name, host, port in CLUSTERS
    )
    return f"""\
static_resources:
  listeners:
    - address:
        socket_address:
          address: ${{ENVOY_ADDR}}
          port_value: ${{ENVOY_PORT}}
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                codec_type: AUTO
                stat_prefix: ingress_http
                route_config:
                  name: local_route
                  virtual_hosts:
                    - name: frontend
                      domains: ["*"]
                      routes:
{routes}                http_filters:
                  - name: envoy.filters.http.fault
                  - name: envoy.filters.http.router
                access_log:
                  - name: envoy.access_loggers.open_telemetry
  clusters:
{clusters}admin:
  address:
    socket_address:
      address: ${{ENVOY_ADMIN_ADDR}}
      port_value: ${{ENVOY_ADMIN_PORT}}
"""


COLLECTOR = """\
connectors:
  spanmetrics: {}
exporters:
  debug: {}
  opensearch:
    http:
      endpoint: http://opensearch:9200
      tls:
        insecure: true
    logs_index: otel-logs
    logs_index_time_format: "yyyy-MM-dd"
  otlp/jaeger:
    endpoint: jaeger:4317
    tls:
      insecure: true
  otlphttp/prometheus:
    endpoint: http://prometheus:9090/api/v1/otlp
    tls:
      insecure: true
extensions:
  health_check:
    endpoint: ${env:MY_POD_IP}:13133
processors:
  batch: {}
  k8sattributes:
    extract:
      metadata:
        - k8s.namespace.name
        - k8s.deployment.name
        - k8s.statefulset.name
        - k8s.daemonset.name
        - k8s.node.name
        - k8s.pod.name
        - k8s.pod.uid
        - k8s.pod.start_time
    filter:
      node_from_env_var: K8S_NODE_NAME
    passthrough: false
    pod_association:
      - sources:
          - from: resource_attribute
            name: k8s.pod.ip
      - sources:
          - from: connection
  memory_limiter:
    check_interval: 5s
    limit_percentage: 80
    spike_limit_percentage: 25
  resource:
    attributes:
      - action: insert
        from_attribute: k8s.pod.uid
        key: service.instance.id
  resourcedetection:
    detectors: [env, system]
  transform:
    error_mode: ignore
    trace_statements:
      - context: span
        statements:
          - replace_pattern(name, "\\\\?.*", "")
receivers:
  hostmetrics:
    collection_interval: 10s
    root_path: /hostfs
    scrapers:
      cpu: null
      disk: null
      filesystem: null
      load: null
      memory: null
      network: null
  jaeger:
    protocols:
      grpc:
        endpoint: ${env:MY_POD_IP}:14250
      thrift_http:
        endpoint: ${env:MY_POD_IP}:14268
  k8s_cluster:
    collection_interval: 10s
  kubeletstats:
    auth_type: serviceAccount
    collection_interval: 20s
  otlp:
    protocols:
      grpc:
        endpoint: ${env:MY_POD_IP}:4317
      http:
        cors:
          allowed_origins:
            - http://*
            - https://*
        endpoint: ${env:MY_POD_IP}:4318
  zipkin:
    endpoint: ${env:MY_POD_IP}:9411
service:
  extensions:
    - health_check
  pipelines:
    logs:
      exporters: [opensearch, debug]
      processors: [k8sattributes, memory_limiter, resourcedetection, resource, batch]
      receivers: [otlp]
    metrics:
      exporters: [otlphttp/prometheus, debug]
      processors: [k8sattributes, memory_limiter, resourcedetection, resource, batch]
      receivers: [otlp, spanmetrics, hostmetrics, kubeletstats, k8s_cluster]
    traces:
      exporters: [otlp/jaeger, debug, spanmetrics]
      processors: [k8sattributes, memory_limiter, resourcedetection, resource, transform, batch]
      receivers: [otlp, jaeger, zipkin]
  telemetry:
    metrics:
      readers:
        - pull:
            exporter:
              prometheus:
                host: ${env:MY_POD_IP}
                port: 8888
"""
"""The collector's pipelines."""

JAEGER = """\
service:
  extensions: [jaeger_storage, jaeger_query, healthcheckv2]
  pipelines:
    traces:
      receivers: [otlp, jaeger, zipkin]
      processors: [batch]
      exporters: [jaeger_storage_exporter]
extensions:
  healthcheckv2:
    use_v2: true
    http:
      endpoint: 0.0.0.0:13133
  jaeger_query:
    base_path: /jaeger/ui
    storage:
      traces: memstore
      metrics: metricstore
    max_clock_skew_adjust: 0s
  jaeger_storage:
    backends:
      memstore:
        memory:
          max_traces: 25000
    metric_backends:
      metricstore:
        prometheus:
          endpoint: http://prometheus:9090
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
      http:
        endpoint: 0.0.0.0:4318
processors:
  batch: {}
exporters:
  jaeger_storage_exporter:
    trace_storage: memstore
"""
"""Jaeger's own pipeline."""

GRAFANA = f"""\
[analytics]
check_for_updates = true
[auth]
disable_login_form = true
[auth.anonymous]
enabled = true
org_name = Main Org.
org_role = Admin
[grafana_net]
url = https://grafana.net
[log]
mode = console
[paths]
data = /var/lib/grafana/
logs = /var/log/grafana
plugins = /var/lib/grafana/plugins
provisioning = /etc/grafana/provisioning
[plugins]
forward_host_env_vars = JAEGER_HOST
[server]
domain = grafana.{NAMESPACE}
root_url = %(protocol)s://%(domain)s:%(http_port)s/grafana
serve_from_sub_path = true
"""
"""``grafana.ini``."""

OPENSEARCH = """\
cluster.name: demo-cluster
bootstrap.memory_lock: true
plugins.security.disabled: true
network.host: 0.0.0.0
discovery.type: single-node
"""
"""``opensearch.yml``."""
