"""Every simulated program by name, and which of them the general commands of an image are.

A deployed application may bring more: those are known to its worlds alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.sim.programs.agnhost import Agnhost
from sregym_env.sim.programs.calico_node import CalicoNode
from sregym_env.sim.programs.consul import Consul
from sregym_env.sim.programs.envoy import Envoy
from sregym_env.sim.programs.ffmpeg import Ffmpeg
from sregym_env.sim.programs.flagd import Flagd, FlagdUi
from sregym_env.sim.programs.grafana import Grafana
from sregym_env.sim.programs.httpd import Httpd
from sregym_env.sim.programs.jaeger_v2 import JaegerV2
from sregym_env.sim.programs.kafka.broker import Kafka
from sregym_env.sim.programs.kafka.producing import TopicWriter
from sregym_env.sim.programs.kube_apiserver import KubeApiserver
from sregym_env.sim.programs.kube_proxy import KubeProxy
from sregym_env.sim.programs.locust import Locust
from sregym_env.sim.programs.measured import Exporter, LokiServer
from sregym_env.sim.programs.mongod import Mongod
from sregym_env.sim.programs.mqtt import EmqttBench, Mosquitto
from sregym_env.sim.programs.opensearch import OpenSearch
from sregym_env.sim.programs.otel_collector import OtelCollector
from sregym_env.sim.programs.postgres.client import Psql
from sregym_env.sim.programs.postgres.pooler import PgBouncer
from sregym_env.sim.programs.postgres.server import Postgres
from sregym_env.sim.programs.prometheus_server import PrometheusServer
from sregym_env.sim.programs.redis import Redis
from sregym_env.sim.programs.resource_policy import ResourcePolicy
from sregym_env.sim.programs.scripts import Applet, Netcat, Script, Sleep
from sregym_env.sim.programs.servers import CoreDns, Daemon, Jaeger, Memcached
from sregym_env.sim.programs.services.service import Service
from sregym_env.sim.programs.static_http import StaticHttp
from sregym_env.sim.programs.supercronic import Supercronic
from sregym_env.sim.programs.toolbox import OUR_TOOLS, TEXT_TOOLS
from sregym_env.sim.programs.valkey import Valkey
from sregym_env.sim.programs.wrk2 import Wrk2

PROGRAMS: Mapping[str, Any] = {
    program.name: program
    for program in (
        Agnhost(),
        Applet(),
        Consul(),
        CoreDns(),
        Daemon(),
        EmqttBench(),
        Envoy(),
        Exporter(),
        Ffmpeg(),
        CalicoNode(),
        Grafana(),
        Httpd(),
        Jaeger(),
        JaegerV2(),
        Flagd(),
        FlagdUi(),
        Kafka(),
        KubeApiserver(),
        KubeProxy(),
        Locust(),
        LokiServer(),
        Memcached(),
        Mongod(),
        Mosquitto(),
        Netcat(),
        OtelCollector(),
        PrometheusServer(),
        OpenSearch(),
        PgBouncer(),
        Postgres(),
        Psql(),
        Redis(),
        ResourcePolicy(),
        Script(),
        Service(),
        Sleep(),
        StaticHttp(),
        Supercronic(),
        TopicWriter(),
        Valkey(),
        Wrk2(),
    )
}
"""Stateless behaviours by name (each a :class:`~sregym_env.sim.world.program.Program`)."""


def _toolbox(kind: str) -> dict[str, str]:
    special = {"sh": "shell", "bash": "shell", "sleep": "sleep", "nc": "nc"}
    names = sorted(TEXT_TOOLS[kind] | OUR_TOOLS[kind])
    return {name: special.get(name, "applet") for name in names}


TOOLBOX_PROGRAMS: Mapping[str, Mapping[str, str]] = {
    kind: _toolbox(kind) for kind in ("busybox", "debian", "none")
}
"""Programs by command name for each kind of image."""
