"""Social Network's manifests, as its Helm chart renders them: 27 Deployments, Services and ConfigMaps, and the load."""

from __future__ import annotations

from typing import Any

from sregym_env.apps import load
from sregym_env.apps.social_network import files
from sregym_env.apps.social_network.edition import (
    DATABASES,
    MEMCACHED,
    NAMESPACE,
    REDIS,
    SERVICES,
    Edition,
)
from sregym_env.apps.social_network.images import ASSETS
from sregym_env.apps.social_network.services import BINARY, NGINX, ROOT
from sregym_env.kube.types import Manifest

JAEGER_PORTS = (
    (5775, "UDP"),
    (6831, "UDP"),
    (6832, "UDP"),
    (5778, "TCP"),
    (16686, "TCP"),
    (14268, "TCP"),
    (9411, "TCP"),
)
_PARTS = ("lua-scripts", "pages", "lua-thrift", "gen-lua", "keys")
"""What the front ends are given by their init container."""


def manifests(edition: Edition) -> tuple[Manifest, ...]:
    """Everything to apply, in order."""
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        *(each for name in MEMCACHED for each in _memcached(edition, f"{name}-memcached")),
        *(each for name in REDIS for each in _redis(edition, f"{name}-redis")),
        *(each for name in DATABASES for each in _mongodb(edition, f"{name}-mongodb")),
        *_jaeger(edition),
        *(each for name in SERVICES for each in _cpp_service(edition, name)),
        *_front(edition, "media-frontend"),
        *_front(edition, "nginx-thrift"),
        *load.objects(
            NAMESPACE,
            edition.load,
            {"mixed-workload.lua": files.payload(edition), "wrk2-workload.sh": files.workload(edition)},
        ),
    )


def _metadata(edition: Edition, name: str) -> Manifest:
    return {"name": name, "namespace": NAMESPACE, "labels": {edition.label: name}}


def _config_map(edition: Edition, name: str, data: dict[str, str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(edition, name), "data": data}


def _mounts(name: str, keys: dict[str, str], folder: str) -> tuple[list[Manifest], list[Manifest]]:
    """The keys of a component's ConfigMap as single files, and the volume they come from."""
    mounts = [{"name": f"{name}-config", "mountPath": f"{folder}/{key}", "subPath": key} for key in keys]
    return mounts, [{"name": f"{name}-config", "configMap": {"name": name}}]


def _workload(
    edition: Edition,
    name: str,
    image: str,
    *,
    volumes: list[Manifest] | None = None,
    init: Manifest | None = None,
    ports: list[Manifest] | None = None,
    **more: Any,
) -> Manifest:
    container: Manifest = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "ports": ports or [{"containerPort": edition.ports[name]}],
        **more,
    }
    handler = edition.probes.get(name)
    if handler is not None:
        container |= {"readinessProbe": handler, "livenessProbe": handler}
    pod: Manifest = {"hostname": name, "restartPolicy": "Always", "containers": [container]}
    if init is not None:
        pod["initContainers"] = [init]
    if volumes:
        pod["volumes"] = volumes
    labels = {edition.label: name, **({"app": name} if edition.label != "app" else {})}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(edition, name),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {edition.label: name}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _service(edition: Edition, name: str, ports: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(edition, name),
        "spec": {"type": "ClusterIP", "ports": ports, "selector": {edition.label: name}},
    }


def _port(number: int, target: int = 0, protocol: str = "") -> Manifest:
    port: Manifest = {"name": str(number) if not protocol else f"{number}-{protocol.lower()}", "port": number}
    port["targetPort"] = target or number
    if protocol:
        port["protocol"] = protocol
    return port


def _memcached(edition: Edition, name: str) -> tuple[Manifest, ...]:
    configs = {
        "service-config.json": files.service_config(edition),
        "jaeger-config.yml": files.jaeger_config(edition),
    }
    mounts, volumes = _mounts(name, configs, f"{ROOT}/config")
    workload = _workload(edition, name, edition.memcached.runs, volumes=volumes, volumeMounts=mounts)
    return (
        _config_map(edition, name, configs),
        workload,
        _service(edition, name, [_port(edition.ports[name])]),
    )


def _redis(edition: Edition, name: str) -> tuple[Manifest, ...]:
    configs = {"redis.conf": files.redis_config(edition)}
    mounts, volumes = _mounts(name, configs, f"{ROOT}/config")
    arguments = [f"{ROOT}/config/redis.conf"]
    workload = _workload(
        edition, name, edition.redis.runs, volumes=volumes, args=arguments, volumeMounts=mounts
    )
    return (
        _config_map(edition, name, configs),
        workload,
        _service(edition, name, [_port(edition.ports[name])]),
    )


def _mongodb(edition: Edition, name: str) -> tuple[Manifest, ...]:
    configs = {"mongod.conf": files.mongod_config()}
    mounts, volumes = _mounts(name, configs, f"{ROOT}/config")
    arguments = ["--config", f"{ROOT}/config/mongod.conf"]
    workload = _workload(
        edition, name, edition.mongodb.runs, volumes=volumes, args=arguments, volumeMounts=mounts
    )
    return (
        _config_map(edition, name, configs),
        workload,
        _service(edition, name, [_port(edition.ports[name])]),
    )


def _jaeger(edition: Edition) -> tuple[Manifest, ...]:
    ports = [{"containerPort": number, "protocol": protocol} for number, protocol in JAEGER_PORTS]
    env = [{"name": "COLLECTOR_ZIPKIN_HTTP_PORT", "value": "9411"}]
    workload = _workload(edition, "jaeger", edition.jaeger.runs, ports=ports, env=env)
    served = [_port(number, protocol="UDP" if protocol == "UDP" else "") for number, protocol in JAEGER_PORTS]
    return _config_map(edition, "jaeger", {}), workload, _service(edition, "jaeger", served)


def _cpp_service(edition: Edition, name: str) -> tuple[Manifest, ...]:
    configs = {
        "service-config.json": files.service_config(edition),
        "jaeger-config.yml": files.jaeger_config(edition),
    }
    mounts, volumes = _mounts(name, configs, f"{ROOT}/config")
    workload = _workload(
        edition, name, edition.application.runs, volumes=volumes, command=[BINARY[name]], volumeMounts=mounts
    )
    return (
        _config_map(edition, name, configs),
        workload,
        _service(edition, name, [_port(edition.ports[name])]),
    )


def _front(edition: Edition, name: str) -> tuple[Manifest, ...]:
    """OpenResty, and the init container that fetches its scripts."""
    entry = name == "nginx-thrift"
    configs = {"nginx.conf": files.nginx_config() if entry else files.media_config()}
    mounts, volumes = _mounts(name, configs, f"{NGINX}/conf")
    if entry:
        configs["jaeger-config.json"] = files.jaeger_json(edition)
        mounts += _mounts(name, {"jaeger-config.json": ""}, NGINX)[0]
    folders = [{"name": part, "mountPath": f"/out/{part}"} for part in _PARTS]
    copied = " && ".join(f"cp -r {ASSETS}/{part}/* /out/{part}/" for part in _PARTS)
    init: Manifest = {
        "name": "alpine-container",
        "image": edition.assets,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", copied],
        "volumeMounts": folders,
    }
    mounts += [{"name": part, "mountPath": _place(part)} for part in _PARTS]
    volumes += [{"name": part, "emptyDir": {}} for part in _PARTS]
    built = edition.front if entry else edition.media
    suffix = [{"name": "fqdn_suffix", "value": f".{NAMESPACE}.svc.cluster.local"}]
    declared = 8080 if entry else 8081
    workload = _workload(
        edition,
        name,
        built.runs,
        volumes=volumes,
        init=init,
        ports=[{"containerPort": declared}],
        env=suffix,
        volumeMounts=mounts,
    )
    return (
        _config_map(edition, name, configs),
        workload,
        _service(edition, name, [_port(edition.offer(name), edition.ports[name])]),
    )


def _place(part: str) -> str:
    return (
        "/keys"
        if part == "keys"
        else f"{NGINX}/{part}"
        if part in ("lua-scripts", "pages")
        else f"/gen/{part}"
    )
