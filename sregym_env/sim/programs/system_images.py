"""Images that exist besides an application's own: the cluster's add-ons and what people ``kubectl run``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.monitoring_images import MONITORING_IMAGES
from sregym_env.sim.programs.servers import DaemonSettings
from sregym_env.sim.world.plan import VERSION

MB = 1_000_000


def _daemon(
    reference: str,
    size: int,
    binary: str,
    settings: DaemonSettings,
    entrypoint: tuple[str, ...] = (),
    program: str = "daemon",
    tools: tuple[str, ...] = (),
) -> Image:
    """An image with one program in it and no shell, and what tools that program needs."""
    return Image(
        reference,
        size * MB,
        {binary: Binary(program, settings), **{name: Binary("applet") for name in tools}},
        entrypoint or (binary,),
        toolbox="none",
    )


def _klog(*lines: str) -> tuple[str, ...]:
    """Lines in klog's format, a second apart."""
    return tuple(f"{{klog:{index}.417216}}       1 {line}" for index, line in enumerate(lines))


_REGISTRY = "registry.k8s.io"


@lru_cache(maxsize=64)
def of_version(version: str) -> tuple[Image, ...]:
    """The images of Kubernetes itself, of a version such as ``v1.32.5``."""
    return (
        _daemon(
            f"{_REGISTRY}/kube-apiserver:{version}",
            28,
            "kube-apiserver",
            DaemonSettings(_klog(f'server.go:140] "Version" version="{version}"', "secure_serving.go:213] Serving securely on [::]:6443"),
                           (6443,), (), 410 * MIB, 0.08),
            program="kube_apiserver",
        ),
        _daemon(
            f"{_REGISTRY}/kube-controller-manager:{version}",
            26,
            "kube-controller-manager",
            DaemonSettings(_klog("leaderelection.go:271] successfully acquired lease kube-system/kube-controller-manager"),
                           (10257,), (), 62 * MIB, 0.02),
        ),
        _daemon(
            f"{_REGISTRY}/kube-scheduler:{version}",
            20,
            "kube-scheduler",
            DaemonSettings(_klog("leaderelection.go:271] successfully acquired lease kube-system/kube-scheduler"),
                           (10259,), (), 30 * MIB, 0.005),
        ),
        _daemon(
            f"{_REGISTRY}/kube-proxy:{version}",
            30,
            "kube-proxy",
            DaemonSettings(_klog('server_linux.go:66] "Using iptables proxy"', 'shared_informer.go:320] Caches are synced for service config'),
                           (10249, 10256), (), 20 * MIB, 0.001),
            program="kube_proxy",
            tools=("iptables", "iptables-save"),
        ),
    )  # fmt: skip


_ADD_ONS = (
    _daemon(
        f"{_REGISTRY}/etcd:3.5.16-0",
        57,
        "etcd",
        DaemonSettings(('{"level":"info","caller":"embed/serve.go:187","msg":"ready to serve client requests"}',),
                       (2379, 2380), (2381,), 75 * MIB, 0.03),
    ),
    Image(
        f"{_REGISTRY}/coredns/coredns:v1.11.3",
        18 * MB,
        {"/coredns": Binary("coredns")},
        ("/coredns",),
        toolbox="none",
    ),
    _daemon(
        "docker.io/calico/node:v3.27.0",
        116,
        "start_runit",
        DaemonSettings(("{calico:2.118} [INFO][9] startup/startup.go 432: Early log level set to info",
                        "Calico node started successfully"), (179, 9098), (9099,), 130 * MIB, 0.02),
        program="calico_node",
        tools=("env", "ip"),
    ),
    _daemon(
        "docker.io/calico/kube-controllers:v3.27.0",
        33,
        "kube-controllers",
        DaemonSettings(("{calico:4.006} [INFO][1] main.go 107: Loaded configuration from environment",),
                       (9094,), (), 24 * MIB, 0.002),
        ("/usr/bin/kube-controllers",),
    ),
    _daemon(
        f"{_REGISTRY}/metrics-server/metrics-server:v0.7.2",
        19,
        "/metrics-server",
        DaemonSettings(_klog("secure_serving.go:213] Serving securely on [::]:10250"), (10250,), (), 22 * MIB, 0.004),
    ),
    _daemon(
        "openebs/provisioner-localpv:3.5.0",
        28,
        "provisioner-localpv",
        DaemonSettings(_klog("start.go:66] Starting Provisioner...", "controller.go:811] Starting provisioner controller openebs.io/local"),
                       (), (), 16 * MIB, 0.001),
    ),
    Image(
        "ghcr.io/platform-admission/resource-policy:1.6.2",
        17 * MB,
        {"/resource-policy": Binary("resource_policy")},
        ("/resource-policy",),
        toolbox="none",
    ),
    _daemon("openebs/linux-utils:3.5.0", 12, "sleep", DaemonSettings()),
    *(
        _daemon(f"{_REGISTRY}/pause:{tag}", 1, "/pause", DaemonSettings(memory=MIB // 2, cpu=0.0))
        for tag in ("3.1", "3.2", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10")
    ),
)  # fmt: skip

_NGINX = {"nginx": Binary("static_http"), "/docker-entrypoint.sh": Binary("static_http")}
_PYTHON = {name: Binary("static_http") for name in ("python", "python3", "pip", "pip3")}
_BUSYBOX = {"httpd": Binary("httpd")}
_NETWORK = {
    name: Binary("applet")
    for name in ("curl", "dig", "host", "ss", "telnet", "nslookup", "ping", "wget", "traceroute", "getent")
}


def _shell_image(
    reference: str, size: int, command: tuple[str, ...] = ("sh",), extra: Mapping[str, Binary] | None = None,
    *, debian: bool = False, entrypoint: tuple[str, ...] = (), files: Mapping[str, str] | None = None,
) -> Image:  # fmt: skip
    return Image(
        reference,
        size * MB,
        dict(extra or {}),
        entrypoint,
        command,
        toolbox="debian" if debian else "busybox",
        files={"/etc/os-release": _OS["debian" if debian else "busybox"], **(files or {})},
    )


def busybox(reference: str) -> Image:
    """``busybox``, under any name that a registry gives it."""
    return _shell_image(reference, 2, ("sh",), _BUSYBOX)


_OS = {
    "debian": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n',
    "busybox": 'NAME="Alpine Linux"\nID=alpine\nPRETTY_NAME="Alpine Linux v3.20"\n',
}

_BOUNCERS = {
    "latest": "1.24.1", "v1.21.0-p2": "1.21.0", "v1.22.1-p0": "1.22.1", "v1.23.1-p2": "1.23.1", "v1.23.1-p3": "1.23.1",
    "v1.24.0-p0": "1.24.0", "v1.24.1-p1": "1.24.1",
}  # fmt: skip
"""Tags of PgBouncer's usual image, and what is in them."""

_CURL_ENTRYPOINT = """#!/bin/sh
set -e
if [ "${1#-}" != "$1" ] || ! command -v "$1" > /dev/null; then
  set -- curl "$@"
fi
exec "$@"
"""
"""What stands before the image's command: options and addresses alone are curl's."""

_CURL_ONLY = {"curl": Binary("applet")}
_AGNHOST = {"/agnhost": Binary("agnhost"), **{name: _NETWORK[name] for name in ("curl", "dig", "host")}}
_DNS = {name: _NETWORK[name] for name in ("dig", "host", "nslookup")}

_PYTHONS = ("3", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
_CURLS = ((1, 2), (2, 1), (3, 0), (4, 0), (5, 0), (6, 0), (7, 1), (8, 0), (9, 1), (10, 1), (11, 1), (12, 1))
_MONGOS = {
    "4.4": "4.4.29", "4.4-focal": "4.4.29", "4.4.29": "4.4.29", "5": "5.0.31", "5.0": "5.0.31", "5.0.31": "5.0.31",
    "6": "6.0.20", "6.0": "6.0.20", "6.0.20": "6.0.20", "7": "7.0.16", "7.0": "7.0.16", "7.0-jammy": "7.0.16", "7.0.16": "7.0.16",
    "8": "8.0.4", "8.0": "8.0.4", "8.0-noble": "8.0.4", "8.0.4": "8.0.4",
}  # fmt: skip
"""Published tags of ``mongo`` and the server in each. Not the patches that follow on the applications' own: a fault may take
one of those for a build that was never pushed."""


def _mongo(reference: str, version: str) -> Image:
    """``mongo``; from 6.0 on the old shell is not in it any more, and the new one is not here."""
    server = Binary("mongod", version)
    tools = ("mongo", "mongodump", "mongostat") if version < "6" else ()
    return Image(
        reference,
        180 * MB,
        {"mongod": server, "docker-entrypoint.sh": server, **{name: Binary("applet") for name in tools}},
        ("docker-entrypoint.sh",),
        ("mongod",),
        toolbox="debian",
        files={
            "/etc/os-release": _OS["debian"],
            "/etc/mongod.conf.orig": "storage:\n  dbPath: /var/lib/mongodb\n",
        },
    )


_ENCODERS = {
    "4.4-ubuntu": "4.4.4",
    "5.1-ubuntu2204": "5.1.6",
    "6.1-ubuntu2404": "6.1.2",
    "7.1-ubuntu2404": "7.1.1",
}
"""Published tags of ``jrottenberg/ffmpeg`` and the encoder in each."""

_CRONS = ("v0.2.29", "v0.2.30", "v0.2.33", "v0.2.34", "v0.2.38", "v0.2.39", "v0.2.41")
"""Tags of ``dyrnq/supercronic``, named after the program's own releases."""

_PEOPLE = (
    *(
        busybox(reference)
        for reference in ("busybox:latest", *(f"busybox:1.{minor}" for minor in range(24, 38)), "busybox:1.28.4", "busybox:1.31.1",
                          "busybox:1.34.1", "busybox:1.35.0", "busybox:1.36.1", "busybox:1.37.0", "busybox:stable", "busybox:musl",
                          "busybox:glibc", "busybox:uclibc", "busybox:unstable")
    ),
    *(
        _shell_image(reference, 4, ("/bin/sh",))
        for reference in ("alpine:latest", "alpine:3", "alpine:edge", *(f"alpine:3.{minor}" for minor in range(10, 23)))
    ),
    *(
        _shell_image(reference, 30, ("bash",), debian=True)
        for reference in ("ubuntu:latest", "ubuntu:20.04", "ubuntu:22.04", "ubuntu:24.04", "debian:latest", "debian:12",
                          "debian:bookworm", "debian:bookworm-slim", "debian:stable-slim")
    ),
    *(
        _shell_image(reference, 72, ("nginx", "-g", "daemon off;"), {**_NGINX, **_CURL_ONLY}, debian=True,
                     entrypoint=("/docker-entrypoint.sh",))
        for reference in ("nginx:latest", "nginx:stable", "nginx:mainline", "nginx:1", "nginx:1.7.9", "nginx:1.14.2", "nginx:1.16.1",
                          "nginx:1.19.0", *(f"nginx:1.{minor}" for minor in range(14, 29)))
    ),
    *(
        _shell_image(reference, 18, ("nginx", "-g", "daemon off;"), {**_NGINX, **_CURL_ONLY},
                     entrypoint=("/docker-entrypoint.sh",))
        for reference in ("nginx:alpine", "nginx:stable-alpine", *(f"nginx:1.{minor}-alpine" for minor in range(19, 29)))
    ),
    *(
        _shell_image(reference, 45, ("python3",), _PYTHON, debian=True)
        for reference in (
            *(f"python:{version}{kind}" for version in _PYTHONS for kind in ("", "-slim", "-slim-bookworm", "-bookworm")),
            "python:latest", "python:slim",
        )
    ),
    *(
        _shell_image(reference, 18, ("python3",), _PYTHON)
        for reference in (*(f"python:{version}-alpine" for version in _PYTHONS), "python:alpine")
    ),
    *(
        _shell_image(f"bitnami/kubectl:{tag}", 86, ("--help",), {"kubectl": Binary("applet"), **_CURL_ONLY}, debian=True,
                     entrypoint=("kubectl",))
        for tag in ("latest", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33")
    ),
    *(
        _shell_image(
            f"edoburu/pgbouncer:{tag}", 8, ("/usr/bin/pgbouncer", "/etc/pgbouncer/pgbouncer.ini"),
            dict.fromkeys(("pgbouncer", "/usr/bin/pgbouncer"), Binary("pgbouncer", version)),
        )
        for tag, version in _BOUNCERS.items()
    ),
    *(
        _shell_image(
            f"eclipse-mosquitto:{tag}", 6, ("/usr/sbin/mosquitto", "-c", "/mosquitto/config/mosquitto.conf"),
            dict.fromkeys(("mosquitto", "/usr/sbin/mosquitto"), Binary("mosquitto", tag)),
        )
        for tag in ("2.0.15", "2.0.18", "2.0.20", "2.0.21")
    ),
    *(
        _shell_image(
            f"emqx/emqtt-bench:{tag}", 34, ("-h",), {"emqtt_bench": Binary("emqtt_bench", tag)}, debian=True,
            entrypoint=("emqtt_bench",),
        )
        for tag in ("0.4.12", "0.4.17", "0.4.25", "0.4.31")
    ),
    *(
        _shell_image(
            f"jrottenberg/ffmpeg:{tag}", 168, ("--help",), {"ffmpeg": Binary("ffmpeg", version)}, debian=True, entrypoint=("ffmpeg",),
        )
        for tag, version in _ENCODERS.items()
    ),
    *(
        _shell_image(
            f"dyrnq/supercronic:{tag}", 41, ("/etc/crontab",), {"supercronic": Binary("supercronic", tag), **_CURL_ONLY}, debian=True,
            entrypoint=("supercronic",),
        )
        for tag in _CRONS
    ),
    *(_mongo(f"mongo:{tag}", version) for tag, version in _MONGOS.items()),
    *(
        _shell_image(reference, 10, ("curl", "--help"), _CURL_ONLY, entrypoint=("/entrypoint.sh",),
                     files={"/entrypoint.sh": _CURL_ENTRYPOINT})
        for reference in ("curlimages/curl:latest", "curlimages/curl:7.85.0", "curlimages/curl:7.88.1",
                          *(f"curlimages/curl:8.{minor}.{patch}" for minor, patch in _CURLS))
    ),
    *(
        _shell_image(f"alpine/openssl:{tag}", 8, ("version",), {"openssl": Binary("applet")}, entrypoint=("openssl",))
        for tag in ("3.3.1", "3.3.2", "3.3.3", "3.5.0", "latest")
    ),
    *(
        _shell_image(reference, 180, ("/bin/zsh",), {**_NETWORK, "openssl": Binary("applet"), "zsh": Binary("shell"), "bash": Binary("shell")})
        for reference in ("nicolaka/netshoot:latest", *(f"nicolaka/netshoot:v0.{minor}" for minor in range(8, 15)))
    ),
    *(
        _shell_image(reference, 30, ("sleep", "infinity"), {**_DNS, **_CURL_ONLY}, debian=True)
        for reference in ("registry.k8s.io/e2e-test-images/jessie-dnsutils:1.3", "gcr.io/kubernetes-e2e-test-images/dnsutils:1.3", "tutum/dnsutils:latest")
    ),
    *(
        _shell_image(f"{_REGISTRY}/e2e-test-images/agnhost:{tag}", 51, ("pause",), _AGNHOST, entrypoint=("/agnhost",))
        for tag in ("2.21", "2.26", "2.28", "2.29", "2.32", "2.33", "2.36", "2.39", "2.40", "2.41", "2.43", "2.45", "2.47", "2.48",
                    "2.50", "2.52", "2.53")
    ),
)  # fmt: skip

SYSTEM_IMAGES: tuple[Image, ...] = (*of_version(VERSION), *_ADD_ONS, *MONITORING_IMAGES, *_PEOPLE)
"""Everything that can be pulled besides the application's images."""
