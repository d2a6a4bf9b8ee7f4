"""The images of Astronomy Shop: what each of their programs does when a container starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sregym_env.apps import stock
from sregym_env.apps.astronomy_shop import files
from sregym_env.apps.astronomy_shop.components import MEAN_REQUESTS
from sregym_env.apps.astronomy_shop.edition import Edition
from sregym_env.apps.astronomy_shop.services import services
from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.programs import envoy, grafana, locust, otel_collector
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.servers import DaemonSettings
from sregym_env.sim.programs.system_images import busybox

_ALPINE = 'NAME="Alpine Linux"\nID=alpine\nPRETTY_NAME="Alpine Linux v3.22"\n'
_DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n'
_UBUNTU = (
    'PRETTY_NAME="Ubuntu 22.04.5 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION="22.04.5 LTS (Jammy Jellyfish)"\n'
    "VERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=jammy\n"
)
_ENVOY_ACCOUNTS = (
    "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\nenvoy:x:101:101::/home/envoy:/bin/sh\n"
)
_MB = 1_000_000

_MADE: Mapping[str, tuple[str, int, tuple[str, ...], str]] = {
    "accounting": ("instrument.sh", 105, ("dotnet", "Accounting.dll"), "debian"),
    "ad": (
        "java",
        118,
        ("-javaagent:/usr/src/app/opentelemetry-javaagent.jar", "oteldemo.AdService"),
        "debian",
    ),
    "cart": ("cart", 58, (), "busybox"),
    "checkout": ("checkout", 12, (), "none"),
    "currency": ("currency", 28, (), "busybox"),
    "email": ("bundle", 80, ("exec", "ruby", "email_server.rb"), "debian"),
    "fraud-detection": ("java", 125, ("-jar", "fraud-detection-1.0-all.jar"), "debian"),
    "frontend": ("node", 132, ("--require", "./Instrumentation.js", "server.js"), "none"),
    "image-provider": ("nginx", 34, ("-g", "daemon off;"), "busybox"),
    "llm": ("python", 52, ("app.py",), "debian"),
    "payment": ("node", 98, ("--require", "./opentelemetry.js", "index.js"), "none"),
    "product-catalog": ("product-catalog", 13, (), "none"),
    "product-reviews": ("opentelemetry-instrument", 72, ("python", "product_reviews_server.py"), "debian"),
    "quote": ("php", 60, ("public/index.php",), "busybox"),
    "recommendation": ("opentelemetry-instrument", 70, ("python", "recommendation_server.py"), "debian"),
    "shipping": ("shipping", 18, (), "none"),
}
"""Of each service: its executable, the image's size in megabytes, the arguments, and what else is in it."""


def images(edition: Edition) -> tuple[Image, ...]:
    """Everything the application's manifests refer to."""
    made: list[Image] = []
    for name, settings in services().items():
        binary, size, arguments, toolbox = _MADE[name]
        made += [
            Image(
                reference,
                size * _MB,
                {binary: Binary("service", settings)},
                (binary,),
                arguments,
                workdir="/usr/src/app",
                files={}
                if toolbox == "none"
                else {"/etc/os-release": _DEBIAN if toolbox == "debian" else _ALPINE},
                toolbox=toolbox,  # type: ignore[arg-type]
            )
            for reference in edition.builds[name].all
        ]
    for name, make in _OTHERS.items():
        built = edition.builds[name]
        versions = built.versions or ("",) * len(built.all)
        made += [make(reference, version) for reference, version in zip(built.all, versions, strict=True)]
    return tuple(made)


def _proxy(reference: str, version: str) -> Image:
    return Image(
        reference,
        62 * _MB,
        {"envoy": Binary("envoy", envoy.Settings())},
        ("envoy",),
        ("-c", envoy.CONFIG),
        workdir="/home/envoy",
        files={
            envoy.TEMPLATE: files.envoy_template(),
            "/etc/envoy/envoy.yaml": files.ENVOY_DEFAULT,
            "/etc/os-release": _UBUNTU,
            "/etc/passwd": _ENVOY_ACCOUNTS,
        },
        toolbox="debian",
        user=101,
    )


def _load(reference: str, version: str) -> Image:
    settings = locust.Settings(requests=MEAN_REQUESTS)
    return Image(
        reference,
        210 * _MB,
        {"locust": Binary("locust", settings)},
        ("locust",),
        ("--skip-log-setup",),
        workdir="/usr/src/app",
        files={"/etc/os-release": _DEBIAN},
        toolbox="debian",
    )


def _collector(reference: str, version: str) -> Image:
    settings = otel_collector.Settings(version or "0.142.0")
    return Image(reference, 96 * _MB, {"otelcol-contrib": Binary("otel_collector", settings)}, ("otelcol-contrib",),
                 ("--config=/etc/otelcol-contrib/config.yaml",), toolbox="none")  # fmt: skip


def _grafana(reference: str, version: str) -> Image:
    settings = grafana.Settings(version or "12.3.1")
    return Image(reference, 195 * _MB, {"/run.sh": Binary("grafana", settings)}, ("/run.sh",),
                 workdir="/usr/share/grafana", files={"/etc/os-release": _ALPINE}, user=472)  # fmt: skip


def _jaeger(reference: str, version: str) -> Image:
    return Image(reference, 42 * _MB, {"/cmd/jaeger/jaeger-linux": Binary("jaeger_v2")}, ("/cmd/jaeger/jaeger-linux",),
                 toolbox="none", user=10001)  # fmt: skip


def _daemon(binary: str, size: int, settings: DaemonSettings, *arguments: str) -> Callable[[str, str], Image]:
    def make(reference: str, version: str) -> Image:
        return Image(
            reference, size * _MB, {binary: Binary("daemon", settings)}, (binary,), arguments, toolbox="none"
        )

    return make


_WATCHER = DaemonSettings(
    ('{"time": "{calico:0.4}+00:00", "level": "INFO", "msg": "Starting collector"}',
     '{"time": "{calico:0.4}+00:00", "level": "INFO", "msg": "No folder annotation was provided, defaulting to k8s-sidecar-target-directory"}'),
    memory=38 * MIB, cpu=0.002,
)  # fmt: skip
_EXPORTER = DaemonSettings(
    ('time="{calico:0.2}" level=info msg="Starting locust_exporter (version=0.5.0)"',
     'time="{calico:0.2}" level=info msg="Starting Server: :9646"'),
    (9646,), memory=9 * MIB, cpu=0.001,
)  # fmt: skip

_OTHERS: Mapping[str, Callable[[str, str], Image]] = {
    "frontend-proxy": _proxy,
    "load-generator": _load,
    "flagd": lambda reference, version: stock.flagd(reference),
    "flagd-ui": lambda reference, version: stock.flagd_ui(reference),
    "kafka": lambda reference, version: stock.kafka(reference, "3.9.1"),
    "topic-writer": lambda reference, version: stock.topic_writer(reference),
    "postgresql": lambda reference, version: stock.postgresql(reference, version),
    "valkey-cart": lambda reference, version: stock.valkey(reference, version.partition("-")[0]),
    "busybox": lambda reference, version: busybox(reference),
    "locust-exporter": _daemon("/locust_exporter", 8, _EXPORTER),
    "grafana": _grafana,
    "k8s-sidecar": _daemon("python", 32, _WATCHER, "-u", "/app/sidecar.py"),
    "jaeger": _jaeger,
    "opensearch": lambda reference, version: stock.opensearch(reference, version),
    "otel-collector": _collector,
}
"""How the other images are made."""
