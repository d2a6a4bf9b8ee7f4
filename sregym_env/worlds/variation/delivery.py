"""How the application got into the cluster: the marks of the delivery tool, labels, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds import marks, standards
from sregym_env.worlds.lastapplied import APPLY, sent
from sregym_env.worlds.tenants.delivery import RELEASE
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

TOOLS = {"argo": 0.30, "helm": 0.27, "flux": 0.19, "apply": 0.17, "argo-label": 0.07}
"""Delivery tools (surveys; Terraform drives Helm)."""

STYLES = {"recommended": 0.5, "app": 0.25, "both": 0.12, "none": 0.13}
"""Which labels objects bear beside those that select pods."""

EXTENDED = 0.25
"""Share of namespaces in which pods are selected by one label more."""

_TIERS = {
    "web": "frontend",
    "grpc_service": "backend",
    "mongodb": "database",
    "memcached": "cache",
    "store": "database",
}

_POD_NOTES = (
    ("prometheus.io/scrape", "true"),
    ("prometheus.io/scrape", "false"),
    ("sidecar.istio.io/inject", "false"),
    ("linkerd.io/inject", "disabled"),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"),
    ("fluentbit.io/parser", "json"),
)
_NOTES = (
    ("example.com/runbook", "https://wiki.example.com/runbooks/tier-2"),
    ("example.com/oncall", "#platform-oncall"),
    ("reloader.stakater.com/auto", "false"),
    ("description", "owned by the product team, see the wiki"),
)

UNMARKED = ("Namespace", "CustomResourceDefinition", "PriorityClass")
"""Kinds that are not delivered with the application."""


def draw(draft: Draft, chance: Chance) -> None:
    """Marks, labels and notes on every object of the application."""
    own = chance.at("delivery")
    for namespace in draft.namespaces:
        team = own.at(namespace)
        for work in draft.inside(namespace):
            _labelled(
                draft,
                work,
                team.at(work.name),
                team.weighted("labels", STYLES),
                words.team(chance, namespace),
            )
        if team.yes("extended", EXTENDED):
            _extended(draft, team, namespace)
    _namespaces(draft, chance)
    # Helm writes its records itself, and no other tool does.
    draft.manifests[:] = [m for m in draft.manifests if m.get("type") != RELEASE]
    mark = _marker(draft, own)
    for kind in dict.fromkeys(m["kind"] for m in (*draft.manifests, *draft.added)):
        if kind not in UNMARKED:
            for manifest in draft.of(kind):
                mark(manifest)


def _labelled(draft: Draft, work: Work, chance: Chance, style: str, team: str) -> None:
    """Labels of a workload and its pods; what is there stays."""
    labels: dict[str, str] = {}
    if style in ("recommended", "both"):
        labels["app.kubernetes.io/name"] = work.name
        labels["app.kubernetes.io/part-of"] = draft.app.name
        if chance.yes("component", 0.5):
            labels["app.kubernetes.io/component"] = _TIERS.get(work.component.kind, work.component.kind)
    if style in ("app", "both"):
        labels["app"] = work.name
        if chance.yes("tier", 0.4):
            labels["tier"] = _TIERS.get(work.component.kind, "backend")
    if chance.yes("team", 0.3):
        labels["team"] = team
    own, pods = (
        work.manifest["metadata"].setdefault("labels", {}),
        work.template["metadata"].setdefault("labels", {}),
    )
    for key, value in labels.items():
        own.setdefault(key, value)
        pods.setdefault(key, value)
    if chance.yes("pod note", 0.25):
        key, value = chance.choice("pod notes", _POD_NOTES)
        work.template["metadata"].setdefault("annotations", {})[key] = value
    if chance.yes("checksum", 0.12):
        work.template["metadata"].setdefault("annotations", {})["checksum/config"] = words.text(
            chance, "sum", 64
        )
    if chance.yes("note", 0.15):
        key, value = chance.choice("notes", _NOTES)
        work.manifest["metadata"].setdefault("annotations", {})[key] = value


def _extended(draft: Draft, chance: Chance, namespace: str) -> None:
    """Select the pods of every workload, and have its Services select them, by one label more."""
    key = chance.choice("key", ("app.kubernetes.io/instance", "environment", "release", "track"))
    value = {"app.kubernetes.io/instance": draft.app.name, "environment": "prod", "release": "stable"}.get(
        key, "main"
    )
    works = draft.inside(namespace)
    if any(key in work.template["metadata"]["labels"] for work in works):
        return
    for work in works:
        before = dict(work.labels)
        for service in draft.of("Service"):
            selector = service["spec"].get("selector")
            if service["metadata"].get("namespace") == namespace and selector == before:
                selector[key] = value
        work.labels[key] = value
        work.template["metadata"]["labels"][key] = value


def _namespaces(draft: Draft, chance: Chance) -> None:
    for manifest in draft.of("Namespace"):
        name = manifest["metadata"]["name"]
        own = chance.at("namespace", name)
        labels: dict[str, str] = {}
        if own.yes("team", 0.45):
            labels["team"] = words.team(chance, name)
        if own.yes("environment", 0.35):
            labels["environment"] = own.choice("name", ("prod", "production", "live"))
        if own.yes("centre", 0.2):
            labels["cost-center"] = str(own.between("number", 1000, 9999))
        labels |= standards.labels(own.at("standards"))
        if labels:
            manifest["metadata"]["labels"] = {**(manifest["metadata"].get("labels") or {}), **labels}


def _marker(draft: Draft, chance: Chance) -> Callable[[Manifest], None]:
    """What the delivery tool leaves on an object."""
    tool = chance.weighted("tool", TOOLS)
    release = chance.choice(
        "release", (draft.app.name, f"{draft.app.name}-prod", "backend", f"prod-{draft.app.name}")
    )
    released = chance.choice("released", (marks.NUMBER, marks.REVISION))
    released = marks.CHART if tool == "helm" else released
    charts = Counter((m["metadata"].get("labels") or {}).get(marks.CHART, "") for m in draft.app.manifests)
    chart = max(charts, key=charts.__getitem__, default="")

    def mark(manifest: Manifest) -> None:
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", "")
        if tool != "helm":
            _without_release(metadata)
        if tool == "helm":
            metadata.setdefault("labels", {})["app.kubernetes.io/managed-by"] = "Helm"
            notes = {
                "meta.helm.sh/release-name": release,
                "meta.helm.sh/release-namespace": namespace or draft.app.namespace,
            }
            metadata.setdefault("annotations", {}).update(notes)
        elif tool == "flux":
            labels = {
                "kustomize.toolkit.fluxcd.io/name": release,
                "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            }
            metadata.setdefault("labels", {}).update(labels)
        elif tool == "argo":
            group = manifest["apiVersion"].rpartition("/")[0]
            tracked = f"{release}:{group}/{manifest['kind']}:{namespace}/{metadata['name']}"
            metadata.setdefault("annotations", {})["argocd.argoproj.io/tracking-id"] = tracked
        elif tool == "argo-label":
            metadata.setdefault("labels", {})["argocd.argoproj.io/instance"] = release
        _released(draft, manifest, released, chart, chance)
        if tool in ("apply", "argo", "argo-label"):  # Argo CD applies as kubectl does
            manifest["metadata"] = sent(manifest, APPLY)["metadata"]

    return mark


def _without_release(metadata: Manifest) -> None:
    """Take away what only Helm itself writes, where a chart is rendered for another tool."""
    notes = metadata.get("annotations") or {}
    if _RELEASE & notes.keys():
        metadata["annotations"] = {key: value for key, value in notes.items() if key not in _RELEASE}
        if not metadata["annotations"]:
            del metadata["annotations"]


_RELEASE = frozenset(("meta.helm.sh/release-name", "meta.helm.sh/release-namespace"))


def _released(draft: Draft, manifest: Manifest, mark: str, common: str, chance: Chance) -> None:
    """Say on an object which release of its part it is of. Each part has a chart of its own in place of the ``common`` one that is
    published; what has another already, a dependency, keeps it."""
    metadata = manifest["metadata"]
    labels = metadata.setdefault("labels", {})
    part = marks.part_of(draft.app, manifest)
    own = chance.at("part", metadata.get("namespace", ""), part)
    known = labels.get(marks.CHART, "")
    if not known and mark != marks.CHART:
        labels[mark] = marks.first_release(mark, own, own.at(manifest["kind"], metadata["name"]))
    elif known in ("", common):
        labels[marks.CHART] = f"{part or draft.app.name}-{marks.first_version(own)}"
