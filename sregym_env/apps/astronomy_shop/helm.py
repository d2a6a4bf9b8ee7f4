"""What Helm leaves on the objects of a release, and the Secret in which it keeps the release itself."""

from __future__ import annotations

import zlib
from base64 import b64encode

import orjson

from sregym_env.apps.astronomy_shop.edition import CHART, NAMESPACE, RELEASE, VERSION
from sregym_env.kube.types import Manifest

DEPLOYED = "2026-07-29T09:14:03.417216Z"
"""When the published release was installed."""
VALUES = {
    "prometheus": {"enabled": False},
    "components": {
        "load-generator": {"envOverrides": [{"name": "LOCUST_BROWSER_TRAFFIC_ENABLED", "value": "false"}]}
    },
}
"""What SREGym sets beside the chart's defaults."""


def labels(component: str) -> dict[str, str]:
    """Labels of an object of the demo's own."""
    return {
        "helm.sh/chart": f"opentelemetry-demo-{CHART}",
        **pod_labels(component),
        "app.kubernetes.io/version": VERSION,
        "app.kubernetes.io/part-of": "opentelemetry-demo",
        "app.kubernetes.io/managed-by": "Helm",
    }


def pod_labels(component: str) -> dict[str, str]:
    """Labels of its pods, without the version."""
    return {
        "opentelemetry.io/name": component,
        "app.kubernetes.io/instance": RELEASE,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/name": component,
    }


def part_labels(chart: str, version: str, name: str, **more: str) -> dict[str, str]:
    """Labels of an object of one of the chart's dependencies."""
    return {
        "helm.sh/chart": chart,
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/instance": RELEASE,
        "app.kubernetes.io/version": version,
        "app.kubernetes.io/managed-by": "Helm",
        **more,
    }


def released(manifest: Manifest) -> Manifest:
    """An object with the notes by which Helm knows its own."""
    metadata = manifest["metadata"]
    notes = {
        **(metadata.get("annotations") or {}),
        "meta.helm.sh/release-name": RELEASE,
        "meta.helm.sh/release-namespace": NAMESPACE,
    }
    return {**manifest, "metadata": {**metadata, "annotations": notes}}


def release() -> Manifest:
    """The Secret of the release's first revision.

    It holds the chart's description and the values. The rendered objects are left out: those of the cluster are what
    counts, and a team changes them by other ways, too.
    """
    document = {
        "name": RELEASE,
        "info": {
            "first_deployed": DEPLOYED,
            "last_deployed": DEPLOYED,
            "deleted": "",
            "description": "Install complete",
            "status": "deployed",
        },
        "chart": {
            "metadata": {
                "name": "opentelemetry-demo",
                "version": CHART,
                "description": "opentelemetry demo helm chart",
                "apiVersion": "v2",
                "appVersion": VERSION,
                "type": "application",
            }
        },
        "config": VALUES,
        "version": 1,
        "namespace": NAMESPACE,
    }
    inner = b64encode(_gzipped(orjson.dumps(document)))
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": f"sh.helm.release.v1.{RELEASE}.v1",
            "namespace": NAMESPACE,
            "labels": {"name": RELEASE, "owner": "helm", "status": "deployed", "version": "1"},
        },
        "type": "helm.sh/release.v1",
        "data": {"release": b64encode(inner).decode()},
    }


def _gzipped(data: bytes) -> bytes:
    """A gzip file that stores its one block as it is: compressed bytes differ between builds of zlib."""
    size = len(data).to_bytes(2, "little")
    inverse = (len(data) ^ 0xFFFF).to_bytes(2, "little")
    trailer = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + b"\x01" + size + inverse + data + trailer
