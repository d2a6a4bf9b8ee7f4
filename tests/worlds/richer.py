"""The published application with everything that innocent changes are made of: builds, probes, budgets, policies."""

from __future__ import annotations

from dataclasses import replace

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest

BUILDS = tuple(f"ghcr.io/sregym/hotel-reservation:{tag}" for tag in ("1.4.0", "1.4.1", "1.5.0", "1.6.0"))
NAMESPACE = APP.namespace
_PUBLISHED = "ghcr.io/sregym/hotel-reservation:latest"


def richer() -> App:
    """An application whose components have had releases, and whose namespace has rules."""
    published = next(image for image in APP.images if image.reference == _PUBLISHED)
    own = {m["metadata"]["name"] for m in APP.manifests if _image(m) == _PUBLISHED}
    return replace(
        APP,
        components=tuple(replace(c, releases=BUILDS) if c.name in own else c for c in APP.components),
        manifests=(*(_released(m) for m in APP.manifests), *_rules()),
        images=(*APP.images, *(replace(published, reference=build) for build in BUILDS)),
        place="",
    )


def _image(manifest: Manifest) -> str:
    if manifest["kind"] != "Deployment":
        return ""
    return str(manifest["spec"]["template"]["spec"]["containers"][0]["image"])


def _released(manifest: Manifest) -> Manifest:
    if _image(manifest) != _PUBLISHED:
        return manifest
    spec = manifest["spec"]
    pod = spec["template"]["spec"]
    container = {**pod["containers"][0], "image": BUILDS[2]}
    port = container["ports"][0]["containerPort"]
    container["readinessProbe"] = {"tcpSocket": {"port": port}, "periodSeconds": 5}
    container["livenessProbe"] = {"tcpSocket": {"port": port}, "initialDelaySeconds": 10}
    template = {**spec["template"], "spec": {**pod, "containers": [container]}}
    return {**manifest, "spec": {**spec, "template": template}}


def _rules() -> tuple[Manifest, ...]:
    everybody: Manifest = {"namespaceSelector": {}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "recommendation"}
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"io.kompose.service": "search"}}}
    return (
        _object("policy/v1", "PodDisruptionBudget", "search", spec=budget),
        _object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "frontend",
            spec={
                "podSelector": {"matchLabels": {"io.kompose.service": "frontend"}},
                "ingress": [{"from": [everybody, {"ipBlock": {"cidr": "0.0.0.0/0"}}]}],
            },
        ),
        _object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "recommendation",
            spec={"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 4, "metrics": [metric]},
        ),
        _object("v1", "ResourceQuota", "pods", spec={"hard": {"pods": "120"}}),
        _object("v1", "Secret", "unused-token", data={"token": "c2VjcmV0"}, type="Opaque"),
    )


def _object(version: str, kind: str, name: str, **more: object) -> Manifest:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        **more,
    }
