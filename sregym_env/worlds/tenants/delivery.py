"""How objects come into a cluster: the marks and owners that each delivery tool leaves behind."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.streams import keyed_bits
from sregym_env.worlds.lastapplied import APPLY, ARGO, LAST_APPLIED, sent

HELM = "helm"
FLUX = "kustomize-controller"
TERRAFORM = "terraform-provider-helm_v2.13.0_x5"

TOOLS: Mapping[str, float] = {ARGO: 0.32, HELM: 0.27, FLUX: 0.19, APPLY: 0.17, TERRAFORM: 0.05}
"""Field managers of delivery tools, and how many clusters are delivered by which."""

RELEASE = "helm.sh/release.v1"
"""The type of the Secrets in which Helm keeps releases."""

_TRACKED = "argocd.argoproj.io/tracking-id"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How one set of objects is delivered."""

    tool: str
    """The field manager that writes them."""
    release: str
    """Name of the Helm release, Argo CD application or Flux kustomization."""
    chart: str = "1.0.0"
    """Version of the chart."""

    def marked(self, manifest: Manifest) -> Manifest:
        """A manifest as the tool writes it, but for what it keeps of its own input (:meth:`sent`)."""
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", "")
        if manifest["kind"] == "Namespace" and self.tool != FLUX:
            return manifest
        labels: dict[str, str] = {}
        notes: dict[str, str] = {}
        if self.tool in (HELM, TERRAFORM):
            labels = {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": f"{self.release}-{self.chart}"}
            notes = {"meta.helm.sh/release-name": self.release, "meta.helm.sh/release-namespace": namespace}
        elif self.tool == ARGO:
            group = manifest["apiVersion"].rpartition("/")[0]
            notes = {_TRACKED: f"{self.release}:{group}/{manifest['kind']}:{namespace}/{metadata['name']}"}
        elif self.tool == FLUX:
            labels = {
                "kustomize.toolkit.fluxcd.io/name": self.release,
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            }
        found = dict(metadata)
        if labels:
            found["labels"] = {**(metadata.get("labels") or {}), **labels}
        if notes:
            found["annotations"] = {**(metadata.get("annotations") or {}), **notes}
        return {**manifest, "metadata": found}


def delivery_of(chance: Chance, tool: str, release: str) -> Delivery:
    """How a tool delivers a release."""
    version = (
        f"{chance.between('major', 0, 9)}.{chance.between('minor', 0, 30)}.{chance.between('patch', 0, 9)}"
    )
    return Delivery(tool, release, version)


def _stored(data: bytes) -> bytes:
    """A gzip file that compresses nothing: the same bytes whatever library writes it."""
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    length = len(data).to_bytes(2, "little")
    inverse = (len(data) ^ 0xFFFF).to_bytes(2, "little")
    block = b"\x01" + length + inverse + data
    return head + block + zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


def release_secret(delivery: Delivery, namespace: str, number: int, time: int, *, deployed: bool) -> Manifest:
    """The Secret in which Helm keeps a release (``pkg/storage/driver/secrets.go``)."""
    # What Helm lists, without templates and manifests: it renders those from the chart, which is not in the cluster.
    moment = _moment(delivery.release, namespace, time)
    done = "Install complete" if number == 1 else "Upgrade complete"
    kept = {
        "name": delivery.release,
        "info": {
            "first_deployed": moment,
            "last_deployed": moment,
            "deleted": "",
            "description": done,
            "status": "deployed" if deployed else "superseded",
        },
        "chart": {
            "metadata": {
                "name": delivery.release,
                "version": delivery.chart,
                "apiVersion": "v2",
                "appVersion": delivery.chart,
            },
        },
        "version": number,
        "namespace": namespace,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": f"sh.helm.release.v1.{delivery.release}.v{number}",
            "namespace": namespace,
            "labels": {
                "modifiedAt": str(time // 1_000_000),
                "name": delivery.release,
                "owner": "helm",
                "status": "deployed" if deployed else "superseded",
                "version": str(number),
            },
        },
        "type": RELEASE,
        "data": {"release": _packed(kept)},
    }


def dated(manifest: Manifest, time: int) -> Manifest:
    """An object as it is delivered at an instant: Helm notes in a release's Secret when that was."""
    if manifest.get("type") != RELEASE:
        return manifest
    kept = json.loads(gzip.decompress(b64decode(b64decode(manifest["data"]["release"]))))
    moment = _moment(kept["name"], kept["namespace"], time)
    info = {**kept["info"], "first_deployed": moment, "last_deployed": moment}
    return {**manifest, "data": {"release": _packed({**kept, "info": info})}}


def _packed(kept: Mapping[str, Any]) -> str:
    """A release as it stands in its Secret."""
    inner = b64encode(_stored(json.dumps(kept, separators=(",", ":")).encode()))
    return b64encode(inner).decode()


def _moment(release: str, namespace: str, time: int) -> str:
    """An instant as Go writes it, to the nanosecond."""
    part = keyed_bits("helm", release, namespace, time) % 1_000_000_000
    return f"{rfc3339(time)[:-1]}.{part:09}".rstrip("0") + "Z"


__all__ = [
    "APPLY",
    "ARGO",
    "FLUX",
    "HELM",
    "LAST_APPLIED",
    "TERRAFORM",
    "TOOLS",
    "Delivery",
    "dated",
    "delivery_of",
    "release_secret",
    "sent",
]
