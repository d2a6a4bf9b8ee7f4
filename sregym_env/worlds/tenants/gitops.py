"""What a delivery tool that runs in the cluster keeps there: its own kinds of objects, and one of them for everything that it delivers.

Argo CD's Applications say by themselves how what they deliver is (:mod:`~sregym_env.sim.controllers.argocd`). Flux's objects are as
they were left by the last commit, for what Flux delivers here is changed by nobody else. An application that is delivered by a
tool of another cluster has only its marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import MINUTE, SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds.lastapplied import APPLY
from sregym_env.worlds.marks import TRACKED
from sregym_env.worlds.tenants.deeds import Deed, Install

ARGO_PLACE, FLUX_PLACE = "argocd", "flux-system"
"""The namespaces in which Argo CD and Flux run, and keep what they know."""

APPLICATIONS = "applications.argoproj.io"
KUSTOMIZATIONS = "kustomizations.kustomize.toolkit.fluxcd.io"
GIT_REPOSITORIES = "gitrepositories.source.toolkit.fluxcd.io"

_OPEN: Manifest = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Manifest = {"type": "string"}
_NUMBER: Manifest = {"type": "integer"}
_ROOT: Manifest = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}


def _list(items: Manifest) -> Manifest:
    return {"type": "array", "items": items}


def _object(**properties: Manifest) -> Manifest:
    return {**_OPEN, "properties": properties}


_SOURCE = _object(repoURL=_TEXT, path=_TEXT, targetRevision=_TEXT, chart=_TEXT, kustomize=_OPEN, helm=_OPEN)
_PLACES = _object(server=_TEXT, namespace=_TEXT, name=_TEXT)
_CONDITIONS = _list(
    _object(
        lastTransitionTime=_TEXT,
        message=_TEXT,
        observedGeneration=_NUMBER,
        reason=_TEXT,
        status=_TEXT,
        type=_TEXT,
    )
)


def _definition(
    group: str,
    version: str,
    names: Manifest,
    spec: Manifest,
    status: Manifest,
    columns: Sequence[tuple[str, str, str, int]],
    labels: Mapping[str, str],
    subresource: bool = False,
    more: Mapping[str, Manifest] | None = None,
) -> Manifest:
    served: dict[str, Any] = {
        "name": version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path} | ({"priority": priority} if priority else {})
            for name, kind, path, priority in columns
        ],
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "required": ["metadata", "spec"],
                "properties": {**_ROOT, **(more or {}), "spec": spec, "status": status},
            }
        },
        "subresources": {"status": {}} if subresource else {},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}", "labels": dict(labels)},
        "spec": {
            "group": group,
            "names": {**names, "listKind": f"{names['kind']}List"},
            "scope": "Namespaced",
            "versions": [served],
        },
    }


def _argo(plural: str, kind: str, short: Sequence[str], **more: Any) -> Manifest:
    labels = {"app.kubernetes.io/name": f"{plural}.argoproj.io", "app.kubernetes.io/part-of": "argocd"}
    names = {"kind": kind, "plural": plural, "shortNames": list(short), "singular": kind.lower()}
    return _definition("argoproj.io", "v1alpha1", names, labels=labels, **more)


ARGO_KINDS: tuple[Manifest, ...] = (
    _argo(
        "applications",
        "Application",
        ("app", "apps"),
        spec={
            **_object(
                destination=_PLACES,
                project=_TEXT,
                source=_SOURCE,
                sources=_list(_SOURCE),
                syncPolicy=_object(
                    automated=_object(prune={"type": "boolean"}, selfHeal={"type": "boolean"}),
                    syncOptions=_list(_TEXT),
                    retry=_OPEN,
                ),
                ignoreDifferences=_list(
                    _object(group=_TEXT, kind=_TEXT, name=_TEXT, namespace=_TEXT, jsonPointers=_list(_TEXT))
                ),
                info=_list(_object(name=_TEXT, value=_TEXT)),
                revisionHistoryLimit=_NUMBER,
            ),
            "required": ["destination", "project"],
        },
        status=_object(
            conditions=_list(_OPEN),
            controllerNamespace=_TEXT,
            health=_object(status=_TEXT, message=_TEXT),
            history=_list(
                _object(id=_NUMBER, revision=_TEXT, deployedAt=_TEXT, deployStartedAt=_TEXT, source=_SOURCE)
            ),
            operationState=_OPEN,
            reconciledAt=_TEXT,
            resources=_list(
                _object(
                    group=_TEXT,
                    kind=_TEXT,
                    namespace=_TEXT,
                    name=_TEXT,
                    version=_TEXT,
                    status=_TEXT,
                    health=_OPEN,
                )
            ),
            sourceType=_TEXT,
            summary=_OPEN,
            sync=_object(status=_TEXT, revision=_TEXT, comparedTo=_OPEN),
        ),
        columns=(
            ("Sync Status", "string", ".status.sync.status", 0),
            ("Health Status", "string", ".status.health.status", 0),
            ("Revision", "string", ".status.sync.revision", 10),
            ("Project", "string", ".spec.project", 10),
        ),
        more={"operation": _object(sync=_OPEN, initiatedBy=_OPEN, retry=_OPEN, info=_list(_OPEN))},
    ),
    _argo(
        "applicationsets",
        "ApplicationSet",
        ("appset", "appsets"),
        spec=_object(generators=_list(_OPEN), template=_OPEN),
        status=_OPEN,
        columns=(),
        subresource=True,
    ),
    _argo(
        "appprojects",
        "AppProject",
        ("appproj", "appprojs"),
        spec=_object(
            clusterResourceWhitelist=_list(_object(group=_TEXT, kind=_TEXT)),
            description=_TEXT,
            destinations=_list(_PLACES),
            sourceRepos=_list(_TEXT),
        ),
        status=_OPEN,
        columns=(),
    ),
)
"""What ``argo-cd/manifests/crds`` defines, as far as somebody sets it."""

ARGO_SETTINGS: tuple[Manifest, ...] = (
    {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": "default", "namespace": ARGO_PLACE},
        "spec": {
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
            "destinations": [{"namespace": "*", "server": "*"}],
            "sourceRepos": ["*"],
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "argocd-cm",
            "namespace": ARGO_PLACE,
            "labels": {"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"},
        },
        "data": {"application.resourceTrackingMethod": "annotation", "timeout.reconciliation": "180s"},
    },
)


def _flux(group: str, plural: str, kind: str, short: Sequence[str], **more: Any) -> Manifest:
    labels = {"app.kubernetes.io/part-of": "flux", "app.kubernetes.io/instance": FLUX_PLACE}
    names = {"kind": kind, "plural": plural, "shortNames": list(short), "singular": kind.lower()}
    return _definition(f"{group}.toolkit.fluxcd.io", "v1", names, labels=labels, subresource=True, **more)


_READY = '.status.conditions[?(@.type=="Ready")]'
_STATE = (
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("Ready", "string", f"{_READY}.status", 0),
    ("Status", "string", f"{_READY}.message", 0),
)

FLUX_KINDS: tuple[Manifest, ...] = (
    _flux(
        "source",
        "gitrepositories",
        "GitRepository",
        ("gitrepo",),
        spec={
            **_object(url=_TEXT, interval=_TEXT, ref=_OPEN, secretRef=_OPEN, timeout=_TEXT),
            "required": ["interval", "url"],
        },
        status=_object(conditions=_CONDITIONS, artifact=_OPEN, observedGeneration=_NUMBER),
        columns=(("URL", "string", ".spec.url", 0), *_STATE),
    ),
    _flux(
        "kustomize",
        "kustomizations",
        "Kustomization",
        ("ks",),
        spec={
            **_object(
                interval=_TEXT,
                path=_TEXT,
                prune={"type": "boolean"},
                sourceRef=_OPEN,
                suspend={"type": "boolean"},
                timeout=_TEXT,
                targetNamespace=_TEXT,
            ),
            "required": ["interval", "prune", "sourceRef"],
        },
        status=_object(
            conditions=_CONDITIONS,
            inventory=_OPEN,
            lastAppliedRevision=_TEXT,
            lastAttemptedRevision=_TEXT,
            observedGeneration=_NUMBER,
        ),
        columns=_STATE,
    ),
)
"""What ``source-controller`` and ``kustomize-controller`` define, as far as somebody sets it."""


# --- what is delivered ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Delivered:
    """A manifest and when it was first delivered."""

    time: int
    manifest: Manifest

    @property
    def application(self) -> str:
        """Of Argo CD; empty for what it does not track."""
        mark: str = (self.manifest["metadata"].get("annotations") or {}).get(TRACKED, "")
        return mark.partition(":")[0]

    @property
    def kustomization(self) -> str:
        """Of Flux; empty for what it has not delivered."""
        labels: Mapping[str, str] = self.manifest["metadata"].get("labels") or {}
        return labels.get("kustomize.toolkit.fluxcd.io/name", "")


def registered(delivered: Sequence[Delivered], changes: Iterable[int], chance: Chance) -> list[Deed]:
    """What the tool that runs in the cluster, if one does, knows of what it delivers. ``changes``: when Flux has changed some of it."""
    there = {each.manifest["metadata"]["name"]: each.time for each in delivered if _is_definition(each)}
    if APPLICATIONS in there:
        return _applications(delivered, there[APPLICATIONS], chance)
    if KUSTOMIZATIONS in there:
        return _kustomizations(delivered, changes, there[KUSTOMIZATIONS], chance)
    return []


def _is_definition(each: Delivered) -> bool:
    return bool(each.manifest["kind"] == "CustomResourceDefinition")


def _groups(named: Iterable[tuple[str, Delivered]]) -> dict[str, list[Delivered]]:
    """What is delivered together, by name, in order of time."""
    found: dict[str, list[Delivered]] = {}
    for name, each in named:
        if name:
            found.setdefault(name, []).append(each)
    for several in found.values():
        several.sort(key=lambda each: each.time)
    return found


def _namespace(several: Sequence[Delivered]) -> str:
    """Where most of it is."""
    counted: dict[str, int] = {}
    for each in several:
        space = each.manifest["metadata"].get("namespace", "")
        counted[space] = counted.get(space, 0) + bool(space)
    return max(counted, key=counted.__getitem__)


def _applications(delivered: Sequence[Delivered], since: int, chance: Chance) -> list[Deed]:
    team = chance.choice("team", ("platform", "infrastructure", "delivery", "sre"))
    host = chance.choice("host", ("https://github.com", "https://gitlab.com", "https://git.example.com"))
    repository = chance.choice("repository", ("gitops", "deployments", "kubernetes", "manifests", "config"))
    form = chance.choice("form", ("apps/{}", "apps/{}/overlays/prod", "prod/{}", "clusters/prod/{}"))
    branch = chance.choice("branch", ("HEAD", "main", "HEAD", "master"))
    prunes, by = chance.yes("prunes", 0.6), chance.choice("by", (APPLY, APPLY, "argocd-server"))
    found = []
    for name, several in _groups((each.application, each) for each in delivered).items():
        source = {
            "path": form.format(name),
            "repoURL": f"{host}/{team}/{repository}.git",
            "targetRevision": branch,
        }
        replicas = [
            {"group": "apps", "jsonPointers": ["/spec/replicas"], "kind": kind}
            for kind in ("Deployment", "StatefulSet")
        ]
        manifest: Manifest = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name, "namespace": ARGO_PLACE},
            "spec": {
                "destination": {
                    "namespace": _namespace(several),
                    "server": "https://kubernetes.default.svc",
                },
                "ignoreDifferences": replicas,
                "project": "default",
                "source": source,
                "syncPolicy": {
                    "automated": {"prune": True} if prunes else {},
                    "syncOptions": ["CreateNamespace=true", "ApplyOutOfSyncOnly=true"],
                },
            },
        }
        time = max(several[0].time - round(chance.uniform(name, 3.0, 20.0) * SECOND), since + 3 * MINUTE)
        found.append(Deed(time, Install((manifest,), by)))
    return found


def _kustomizations(
    delivered: Sequence[Delivered], changes: Iterable[int], since: int, chance: Chance
) -> list[Deed]:
    owner = chance.choice("owner", ("platform", "infrastructure", "delivery", "sre"))
    name = chance.choice("repository", ("fleet", "flux", "gitops", "clusters"))
    groups = _groups((each.kustomization, each) for each in delivered)
    start = since + 2 * MINUTE
    repository: Manifest = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": FLUX_PLACE, "namespace": FLUX_PLACE},
        "spec": {
            "interval": "1m0s",
            "ref": {"branch": "main"},
            "secretRef": {"name": FLUX_PLACE},
            "timeout": "60s",
            "url": f"ssh://git@github.com/{owner}/{name}",
        },
    }
    found = [Deed(start, Install((repository, _kustomization(FLUX_PLACE, "./clusters/prod")), "flux"))]
    last = start
    for group, several in groups.items():
        time = max(several[0].time - 5 * SECOND, start + SECOND)
        last = max(last, time, *(each.time for each in several))
        if group != FLUX_PLACE:
            found.append(
                Deed(time, Install((_kustomization(group, f"./apps/{group}"),), "kustomize-controller"))
            )
    last = max(last, *changes, start)
    inventories = {group: _inventory(several) for group, several in groups.items()}
    return [*found, Deed(last + 10 * SECOND, Reconciled({FLUX_PLACE: {"entries": []}, **inventories}))]


def _kustomization(name: str, path: str) -> Manifest:
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": FLUX_PLACE},
        "spec": {
            "interval": "10m0s",
            "path": path,
            "prune": True,
            "sourceRef": {"kind": "GitRepository", "name": FLUX_PLACE},
            "timeout": "5m0s",
        },
    }


def _inventory(several: Iterable[Delivered]) -> Manifest:
    """Everything that a Kustomization has applied (``ResourceInventory``)."""
    entries = {}
    for each in several:
        group, _, version = each.manifest["apiVersion"].rpartition("/")
        metadata = each.manifest["metadata"]
        name = f"{metadata.get('namespace', '')}_{metadata['name']}_{group}_{each.manifest['kind']}"
        entries[name] = version
    return {"entries": [{"id": name, "v": entries[name]} for name in sorted(entries)]}


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Flux has applied the newest commit everywhere."""

    inventories: Mapping[str, Manifest]

    def do(self, world: EmbeddedWorld) -> None:
        """Say so in the status of its objects."""
        now = world.now()
        commit = "".join(f"{keyed_bits('commit', FLUX_PLACE, now, part):016x}" for part in range(3))[:40]
        revision = f"main@sha1:{commit}"
        stored = f"stored artifact for revision '{revision}'"
        artifact = {
            "lastUpdateTime": rfc3339(now),
            "path": f"gitrepository/{FLUX_PLACE}/{FLUX_PLACE}/{commit}.tar.gz",
            "revision": revision,
            "url": f"http://source-controller.{FLUX_PLACE}.svc.cluster.local./gitrepository/{FLUX_PLACE}/{FLUX_PLACE}/{commit}.tar.gz",
        }
        _state(world, GIT_REPOSITORIES, FLUX_PLACE, stored, "Succeeded", {"artifact": artifact})
        for name, inventory in self.inventories.items():
            applied = {
                "inventory": inventory,
                "lastAppliedRevision": revision,
                "lastAttemptedRevision": revision,
            }
            _state(
                world,
                KUSTOMIZATIONS,
                name,
                f"Applied revision: {revision}",
                "ReconciliationSucceeded",
                applied,
            )


def _state(
    world: EmbeddedWorld, resource: str, name: str, message: str, reason: str, more: Mapping[str, Any]
) -> None:
    ready = {
        "lastTransitionTime": rfc3339(world.now()),
        "message": message,
        "observedGeneration": 1,
        "reason": reason,
        "status": "True",
        "type": "Ready",
    }
    world.cluster.patch(
        resource,
        name,
        {"status": {"conditions": [ready], "observedGeneration": 1, **more}},
        namespace=FLUX_PLACE,
        type="merge",
        subresource="status",
        field_manager="gotk-source-controller"
        if resource == GIT_REPOSITORIES
        else "gotk-kustomize-controller",
    )
