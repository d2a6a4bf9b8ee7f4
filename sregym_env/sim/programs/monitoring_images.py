"""The images of the monitoring in the cluster, in the releases that clusters run."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.measured import ExporterSettings

MB = 1_000_000

RELEASES: Mapping[str, tuple[str, ...]] = {
    "quay.io/prometheus/prometheus": ("v2.45.3", "v2.47.2", "v2.50.1", "v2.53.1"),
    "registry.k8s.io/kube-state-metrics/kube-state-metrics": ("v2.9.2", "v2.10.1", "v2.12.0", "v2.13.0"),
    "quay.io/prometheus/node-exporter": ("v1.6.1", "v1.7.0", "v1.8.1", "v1.8.2"),
    "quay.io/prometheus/blackbox-exporter": ("v0.24.0", "v0.25.0"),
    "docker.io/grafana/loki": ("2.9.3", "2.9.6", "2.9.10"),
}
"""Tags by repository, oldest first."""

PUBLISHED_RELEASES: Mapping[str, str] = {
    "quay.io/prometheus/prometheus": "v2.47.2",
    "registry.k8s.io/kube-state-metrics/kube-state-metrics": "v2.9.2",
    "quay.io/prometheus/node-exporter": "v1.7.0",
    "quay.io/prometheus/blackbox-exporter": "v0.24.0",
    "docker.io/grafana/loki": "2.9.6",
}
"""What the benchmark deploys."""

_KLOG = "I{time|%m%d %H:%M:%S.%L}000       1 "
_LOGFMT = "ts={time|%Y-%m-%dT%H:%M:%S.%L}Z "
_EXPORTERS: Mapping[str, tuple[str, int, ExporterSettings]] = {
    "registry.k8s.io/kube-state-metrics/kube-state-metrics": ("/kube-state-metrics", 13, ExporterSettings(
        "Kube Metrics Server",
        (f'{_KLOG}wrapper.go:78] "Starting kube-state-metrics"', f'{_KLOG}server.go:218] "Used resources" resources=["pods" "nodes"]',
         f'{_KLOG}server.go:344] "Started kube-state-metrics self metrics server" telemetryAddress="[::]:8081"',
         f'{_KLOG}server.go:73] levelinfomsgListening onaddress[::]:8080'),
        8080, "kube-state-metrics", ready=("/healthz", "/livez", "/readyz"), memory=38 * MIB)),
    "quay.io/prometheus/node-exporter": ("/bin/node_exporter", 12, ExporterSettings(
        "Node Exporter",
        (f'{_LOGFMT}caller=node_exporter.go:192 level=info msg="Starting node_exporter"',
         f'{_LOGFMT}caller=tls_config.go:274 level=info msg="Listening on" address=[::]:9100'),
        9100, "node-exporter", of_machine=True, memory=18 * MIB, cpu=0.002)),
    "quay.io/prometheus/blackbox-exporter": ("/bin/blackbox_exporter", 11, ExporterSettings(
        "Blackbox Exporter",
        (f'{_LOGFMT}caller=main.go:78 level=info msg="Starting blackbox_exporter"',
         f'{_LOGFMT}caller=main.go:258 level=info msg="Loaded config file"',
         f'{_LOGFMT}caller=tls_config.go:274 level=info msg="Listening on" address=[::]:9115'),
        9115, ready=("/-/healthy",), memory=16 * MIB)),
}  # fmt: skip
"""By repository: the binary, megabytes, and what it does."""

_SERVERS: Mapping[str, tuple[str, int, str]] = {
    "quay.io/prometheus/prometheus": ("/bin/prometheus", 102, "prometheus_server"),
    "docker.io/grafana/loki": ("/usr/bin/loki", 27, "loki_server"),
}


def _images() -> tuple[Image, ...]:
    found = []
    for repository, tags in RELEASES.items():
        shell = "none" if "k8s.io" in repository else "busybox"
        if repository in _SERVERS:
            binary, size, program = _SERVERS[repository]
            made = Binary(program)
        else:
            binary, size, settings = _EXPORTERS[repository]
            made = Binary("exporter", settings)
        found += [
            Image(f"{repository}:{tag}", size * MB, {binary: made}, (binary,), toolbox=shell, user=65534)  # type: ignore[arg-type]
            for tag in tags
        ]
    return tuple(found)


MONITORING_IMAGES: tuple[Image, ...] = _images()
"""What can be pulled."""
