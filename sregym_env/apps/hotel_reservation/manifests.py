"""Hotel Reservation's manifests, as kompose would write them for DeathStarBench's compose file.

Nineteen Deployments, twenty Services, six volume claims, the database scripts, and the load generator.
"""

from __future__ import annotations

from typing import Any

from sregym_env.apps.hotel_reservation.scripts import PAYLOAD, WORKLOAD, mongo_accounts
from sregym_env.kube.types import Manifest

NAMESPACE = "hotel-reservation"
APP_IMAGE = "ghcr.io/sregym/hotel-reservation:latest"
MONGO_IMAGE = "mongo:4.4.6"
MEMCACHED_IMAGE = "memcached"
CONSUL_IMAGE = "hashicorp/consul:1.22.3"
JAEGER_IMAGE = "jaegertracing/all-in-one:1.57"
LOAD_IMAGE = "deathstarbench/wrk2-client:latest"

KOMPOSE = {"kompose.cmd": "kompose convert", "kompose.version": "1.22.0 (955b78124)"}

GO_SERVICES: dict[str, tuple[int, ...]] = {
    "frontend": (5000,),
    "geo": (8083,),
    "profile": (8081,),
    "rate": (8084, 9091),
    "recommendation": (8085,),
    "reservation": (8087,),
    "search": (8082, 9092),
    "user": (8086,),
}
"""Ports of the Go services; the second one serves metrics."""

GO_SETTINGS: dict[str, dict[str, str]] = {
    "rate": {"RATE_BACKEND_QPS_LIMIT": "500", "RATE_QUEUE_CAPACITY": "256"},
    "search": {
        "RATE_RPC_TIMEOUT_MS": "1000",
        "RATE_RPC_MAX_ATTEMPTS": "2",
        "RATE_RPC_INITIAL_BACKOFF_MS": "100",
        "RATE_RPC_BACKOFF_MULTIPLIER": "2.0",
        "RATE_RPC_JITTER": "0.2",
    },
}
"""Environment of the Go services beside the tracer's sample ratio."""

DATABASES = ("geo", "profile", "rate", "recommendation", "reservation", "user")
"""What the six MongoDB instances are named after."""

GUARDED = ("geo", "rate")
"""Databases that ask for credentials."""

CACHES: dict[str, str] = {"profile": "profile", "rate": "rate", "reserve": "reservation"}
"""Memcached instances and the middle of their containers' names."""

JAEGER_PORTS = (
    (14269, "TCP"),
    (5778, "TCP"),
    (14268, "TCP"),
    (14267, "TCP"),
    (16686, "TCP"),
    (5775, "UDP"),
    (6831, "UDP"),
    (6832, "UDP"),
)


def manifests() -> tuple[Manifest, ...]:
    """Everything to apply, in order."""
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        *_config_maps(),
        *(_claim(name) for name in DATABASES),
        *_consul(),
        *_jaeger(),
        *(obj for name in CACHES for obj in _memcached(name)),
        *(obj for name in DATABASES for obj in _mongodb(name)),
        *(obj for name in GO_SERVICES for obj in _go_service(name)),
        _load_script(),
        _load_job(),
    )


def _metadata(name: str) -> Manifest:
    return {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {"io.kompose.service": name},
        "annotations": KOMPOSE,
    }


def _container(name: str, image: str, ports: list[Manifest], **more: Any) -> Manifest:
    return {
        "name": name,
        "image": image,
        "ports": ports,
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1000m"}},
        **more,
    }


def _deployment(
    name: str,
    container: Manifest,
    *,
    recreate: bool = False,
    hostname: str = "",
    volumes: tuple[Manifest, ...] = (),
) -> Manifest:
    pod: Manifest = {"containers": [container], "restartPolicy": "Always"}
    if hostname:
        pod["hostname"] = hostname
    if volumes:
        pod["volumes"] = list(volumes)
    labels = {"io.kompose.service": name}
    spec: Manifest = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels, "annotations": KOMPOSE}, "spec": pod},
    }
    if recreate:
        spec["strategy"] = {"type": "Recreate"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(name), "spec": spec}


def _service(name: str, ports: list[Manifest], **more: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(name),
        "spec": {"ports": ports, "selector": {"io.kompose.service": name}, **more},
    }


def _port(number: int, *, name: str = "", target: int = 0, protocol: str = "TCP") -> Manifest:
    port: Manifest = {"name": name or str(number), "port": number, "targetPort": target or number}
    if protocol != "TCP":
        port["protocol"] = protocol
    return port


def _container_port(number: int, protocol: str = "TCP") -> Manifest:
    return {"containerPort": number} if protocol == "TCP" else {"containerPort": number, "protocol": protocol}


def _claim(name: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _metadata(f"{name}-pvc"),
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def _config_maps() -> tuple[Manifest, ...]:
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"mongo-{name}-script", "namespace": NAMESPACE},
            "data": {f"k8s-{name}-mongo.sh": mongo_accounts(f"{name}-db")},
        }
        for name in GUARDED
    )


def _go_service(name: str) -> tuple[Manifest, ...]:
    env = [{"name": "JAEGER_SAMPLE_RATIO", "value": "1"}]
    env += [{"name": key, "value": value} for key, value in GO_SETTINGS.get(name, {}).items()]
    ports = GO_SERVICES[name]
    container = _container(
        f"hotel-reserv-{name}",
        APP_IMAGE,
        [_container_port(port) for port in ports],
        command=[name],
        env=env,
        imagePullPolicy="IfNotPresent",
    )
    served = [_port(ports[0]), *(_port(port, name="metrics") for port in ports[1:])]
    return _deployment(name, container), _service(name, served)


def _mongodb(name: str) -> tuple[Manifest, ...]:
    mounts = [{"name": name, "mountPath": "/data/db"}]
    volumes: list[Manifest] = [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-pvc"}}]
    guarded = name in GUARDED
    if guarded:
        mounts.append({"name": "init-script", "mountPath": "/docker-entrypoint-initdb.d"})
        volumes.append({"name": "init-script", "configMap": {"name": f"mongo-{name}-script"}})
    container = _container(
        f"hotel-reserv-{name}-mongo",
        MONGO_IMAGE,
        [_container_port(27017)],
        volumeMounts=mounts,
        **({"args": ["--auth"]} if guarded else {}),
    )
    deployment = _deployment(
        f"mongodb-{name}",
        container,
        # As kompose does for whatever mounts a volume: two databases cannot open the same files.
        recreate=True,
        hostname="" if guarded else f"{name}-db",
        volumes=tuple(volumes),
    )
    service = _service(f"mongodb-{name}", [_port(27017, name=f"mongodb-{name}")])
    return deployment, service


def _memcached(name: str) -> tuple[Manifest, ...]:
    container = _container(
        f"hotel-reserv-{CACHES[name]}-mmc",
        MEMCACHED_IMAGE,
        [_container_port(11211)],
        env=[{"name": "MEMCACHED_CACHE_SIZE", "value": "128"}, {"name": "MEMCACHED_THREADS", "value": "2"}],
    )
    full = f"memcached-{name}"
    return _deployment(full, container), _service(full, [_port(11211, name=full)])


def _consul() -> tuple[Manifest, ...]:
    ports = [_container_port(8300), _container_port(8400), _container_port(8500), _container_port(53, "UDP")]
    served = [_port(8300), _port(8400), _port(8500), _port(8600, target=53, protocol="UDP")]
    return _deployment("consul", _container("consul", CONSUL_IMAGE, ports)), _service("consul", served)


def _jaeger() -> tuple[Manifest, ...]:
    ports = [_container_port(number, protocol) for number, protocol in JAEGER_PORTS]
    served = [_port(number, protocol=protocol) for number, protocol in JAEGER_PORTS]
    outside = _service("jaeger", [_port(16686)], type="NodePort")
    outside = {**outside, "metadata": _metadata("jaeger-out")}
    return (
        _deployment("jaeger", _container("hotel-reserv-jaeger", JAEGER_IMAGE, ports)),
        _service("jaeger", served),
        outside,
    )


def _load_script() -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "wrk2-payload-script", "namespace": NAMESPACE},
        "data": {"mixed-workload_type_1.lua": PAYLOAD, "wrk2-workload.sh": WORKLOAD},
    }


def _load_job() -> Manifest:
    labels = {"job": "workload"}
    container = {
        "name": "wrk2",
        "image": LOAD_IMAGE,
        "command": ["/bin/bash", "/scripts/wrk2-workload.sh"],
        "volumeMounts": [{"name": "wrk2-scripts", "mountPath": "/scripts"}],
    }
    pod = {
        "containers": [container],
        "restartPolicy": "Never",
        "volumes": [{"name": "wrk2-scripts", "configMap": {"name": "wrk2-payload-script"}}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "wrk2-job", "namespace": NAMESPACE, "labels": labels},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}, "backoffLimit": 6},
    }
