"""Hotel Reservation's manifests, as kompose would write them for DeathStarBench's compose file.

Nineteen Deployments, twenty Services, six volume claims, the database scripts, and the load generator.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from sregym_env.apps import load
from sregym_env.apps.hotel_reservation.edition import (
    CACHES,
    DATABASES,
    GO_PORTS,
    NAMESPACE,
    STORED_BY,
    Edition,
)
from sregym_env.apps.hotel_reservation.images import configuration_text
from sregym_env.apps.hotel_reservation.scripts import EXPANDED, mongo_accounts, payload, workload
from sregym_env.apps.hotel_reservation.services import CONFIG_PATH
from sregym_env.cluster.app import Account
from sregym_env.kube.types import Manifest

KOMPOSE = {"kompose.cmd": "kompose convert", "kompose.version": "1.22.0 (955b78124)"}

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


def manifests(edition: Edition) -> tuple[Manifest, ...]:
    """Everything to apply, in order."""
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        *_config_maps(edition),
        *_settings(edition),
        *_secrets(edition),
        *(_claim(edition, name) for name in DATABASES),
        *_consul(edition),
        *_jaeger(edition),
        *(obj for name in CACHES for obj in _memcached(edition, name)),
        *(obj for name in DATABASES for obj in _mongodb(edition, name)),
        *(obj for name in GO_PORTS for obj in _go_service(edition, name)),
        *load.objects(
            NAMESPACE,
            edition.load,
            {"mixed-workload_type_1.lua": payload(edition), "wrk2-workload.sh": workload(edition)},
        ),
    )


def _metadata(edition: Edition, name: str) -> Manifest:
    return {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {edition.label: name},
        **({"annotations": KOMPOSE} if edition.converted else {}),
    }


def _container(name: str, image: str, ports: list[Manifest], cpu: str | None = None, **more: Any) -> Manifest:
    return {
        "name": name,
        "image": image,
        "ports": ports,
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": cpu or "1000m"}},
        **more,
    }


def _deployment(
    edition: Edition,
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
    labels = {edition.label: name}
    spec: Manifest = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels, **({"annotations": KOMPOSE} if edition.converted else {})},
            "spec": pod,
        },
    }
    if recreate:
        spec["strategy"] = {"type": "Recreate"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(edition, name), "spec": spec}


def _service(edition: Edition, name: str, ports: list[Manifest], **more: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(edition, name),
        "spec": {"ports": ports, "selector": {edition.label: name}, **more},
    }


def _port(number: int, *, name: str = "", target: int | str = 0, protocol: str = "TCP") -> Manifest:
    port: Manifest = {"name": name or str(number), "port": number, "targetPort": target or number}
    if protocol != "TCP":
        port["protocol"] = protocol
    return port


def _container_port(number: int, protocol: str = "TCP", name: str = "") -> Manifest:
    port: Manifest = {"containerPort": number}
    if protocol != "TCP":
        port["protocol"] = protocol
    return {"name": name, **port} if name else port


def _served(edition: Edition, component: str, word: str, *, name: str = "") -> tuple[Manifest, Manifest]:
    """The serving port of a component's container, and its Service's that leads there."""
    number = edition.port(component)
    named = component in edition.named
    return (
        _container_port(number, name=word if named else ""),
        _port(edition.offer(component), name=name, target=word if named else number),
    )


def _probed(edition: Edition, component: str) -> Manifest:
    """The probes of a component's container; none where the edition says none."""
    handler = edition.probes.get(component)
    return {} if handler is None else {"readinessProbe": handler, "livenessProbe": handler}


def _claim(edition: Edition, name: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _metadata(edition, f"{name}-pvc"),
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def _config_maps(edition: Edition) -> tuple[Manifest, ...]:
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"mongo-{name}-script", "namespace": NAMESPACE},
            "data": {f"k8s-{name}-mongo.sh": mongo_accounts(edition, name)},
        }
        for name in edition.accounts
    )


def _settings(edition: Edition) -> Iterator[Manifest]:
    """The configuration file of the Go services, where it is not the one in their image."""
    if edition.settings_map:
        yield {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": edition.settings_map, "namespace": NAMESPACE},
            "data": {_FILE: configuration_text(edition)},
        }


_FILE = CONFIG_PATH.rpartition("/")[2]


def _secrets(edition: Edition) -> Iterator[Manifest]:
    """The accounts of the guarded databases, where clients or init scripts take them from Secrets."""
    for name, (client, administrator) in edition.accounts.items():
        if edition.login == "secret":
            yield _secret(f"{name}-mongo-login", {"username": client.user, "password": client.password})
        if edition.expanded:
            yield _secret(
                f"mongodb-{name}-init",
                {
                    f"{variable}_{key}": value
                    for variable, account in zip(EXPANDED, (client, administrator), strict=True)
                    for key, value in (("USER", account.user), ("PASSWORD", account.password))
                },
            )


def _secret(name: str, data: Mapping[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "type": "Opaque",
        "data": {key: b64encode(value.encode()).decode() for key, value in data.items()},
    }


def _login(edition: Edition, name: str) -> list[Manifest]:
    """The environment from which a client of a guarded database takes its account."""
    if name not in edition.accounts or edition.login not in ("environment", "secret"):
        return []
    client: Account = edition.accounts[name][0]
    variable = f"{STORED_BY[name].upper()}_MONGO"
    if edition.login == "environment":
        return [
            {"name": f"{variable}_USER", "value": client.user},
            {"name": f"{variable}_PASSWORD", "value": client.password},
        ]
    secret = f"{name}-mongo-login"
    return [
        {"name": f"{variable}_{end}", "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
        for end, key in (("USER", "username"), ("PASSWORD", "password"))
    ]


def _go_service(edition: Edition, name: str) -> tuple[Manifest, ...]:
    env: list[Manifest] = [{"name": "JAEGER_SAMPLE_RATIO", "value": edition.sample_ratio}]
    env += [{"name": key, "value": value} for key, value in edition.settings.get(name, {}).items()]
    env += _login(edition, name)
    own, served = _served(edition, name, "http" if name == "frontend" else "grpc")
    metrics = edition.metrics.get(name)
    mounts: Manifest = {}
    volumes: tuple[Manifest, ...] = ()
    if edition.settings_map:
        mounts["volumeMounts"] = [{"name": "settings", "mountPath": CONFIG_PATH, "subPath": _FILE}]
        volumes = ({"name": "settings", "configMap": {"name": edition.settings_map}},)
    container = _container(
        f"hotel-reserv-{name}",
        edition.application.runs,
        [own] if metrics is None else [own, _container_port(metrics)],
        command=[name],
        env=env,
        imagePullPolicy="IfNotPresent",
        **mounts,
        **_probed(edition, name),
    )
    ports = [served] if metrics is None else [served, _port(metrics, name="metrics")]
    return _deployment(edition, name, container, volumes=volumes), _service(edition, name, ports)


def _mongodb(edition: Edition, name: str) -> tuple[Manifest, ...]:
    full = f"mongodb-{name}"
    mounts = [{"name": name, "mountPath": "/data/db"}]
    volumes: list[Manifest] = [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-pvc"}}]
    guarded = name in edition.accounts
    more: Manifest = {}
    if guarded:
        mounts.append({"name": "init-script", "mountPath": "/docker-entrypoint-initdb.d"})
        volumes.append({"name": "init-script", "configMap": {"name": f"mongo-{name}-script"}})
        if edition.expanded:
            more["envFrom"] = [{"secretRef": {"name": f"{full}-init"}}]
    if arguments := [*(["--auth"] if guarded else []), *edition.mongo_arguments]:
        more["args"] = arguments
    own, served = _served(edition, full, "mongo", name=full)
    container = _container(
        f"hotel-reserv-{name}-mongo",
        edition.mongodb.runs,
        [own],
        edition.cpu.get(full),
        volumeMounts=mounts,
        **more,
        **_probed(edition, full),
    )
    deployment = _deployment(
        edition,
        full,
        container,
        # As kompose does for whatever mounts a volume: two databases cannot open the same files.
        recreate=True,
        hostname="" if guarded else f"{name}-db",
        volumes=tuple(volumes),
    )
    return deployment, _service(edition, full, [served])


def _memcached(edition: Edition, name: str) -> tuple[Manifest, ...]:
    full = f"memcached-{name}"
    own, served = _served(edition, full, "memcached", name=full)
    more: Manifest = {"args": list(edition.cache_arguments)} if edition.cache_arguments else {}
    container = _container(
        f"hotel-reserv-{CACHES[name]}-mmc",
        edition.memcached.runs,
        [own],
        edition.cpu.get(full),
        env=[{"name": key, "value": value} for key, value in edition.cache_settings],
        **more,
        **_probed(edition, full),
    )
    return _deployment(edition, full, container), _service(edition, full, [served])


def _consul(edition: Edition) -> tuple[Manifest, ...]:
    own, http = _served(edition, "consul", "http")
    ports = [_container_port(8300), _container_port(8400), own, _container_port(53, "UDP")]
    served = [_port(8300), _port(8400), http, _port(8600, target=53, protocol="UDP")]
    container = _container(
        "consul", edition.consul.runs, ports, edition.cpu.get("consul"), **_probed(edition, "consul")
    )
    return _deployment(edition, "consul", container), _service(edition, "consul", served)


def _jaeger(edition: Edition) -> tuple[Manifest, ...]:
    ports = [_container_port(number, protocol) for number, protocol in JAEGER_PORTS]
    served = [_port(number, protocol=protocol) for number, protocol in JAEGER_PORTS]
    outside = _service(edition, "jaeger", [_port(16686)], type="NodePort")
    outside = {**outside, "metadata": _metadata(edition, "jaeger-out")}
    container = _container(
        "hotel-reserv-jaeger",
        edition.jaeger.runs,
        ports,
        edition.cpu.get("jaeger"),
        **_probed(edition, "jaeger"),
    )
    return _deployment(edition, "jaeger", container), _service(edition, "jaeger", served), outside
