"""Who pods are and what they may: accounts of their own, security contexts, credentials for pulling images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sregym_env.apps.builds import login
from sregym_env.cluster.app import ImageRegistry
from sregym_env.kube.pulling import HUB, PULL_SECRET, pulling, repository
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

_ACCOUNTS = {"none": 0.25, "one": 0.35, "each": 0.4}
"""Service accounts of a namespace: the default one, one for all, one for each."""

_GROUP = "rbac.authorization.k8s.io"
_GRANTS = {
    "endpoints-reader": ("", "endpoints services", "get list watch"),
    "pod-lister": ("", "pods", "list watch"),
    "leader-election": ("coordination.k8s.io", "leases", "get create update"),
    "slice-watcher": ("discovery.k8s.io", "endpointslices", "get list watch"),
    "settings-watcher": ("", "configmaps", "list watch"),
    "event-recorder": ("", "events", "create patch"),
}
"""What clients' libraries ask of the API server where they may, by what teams call it: (group, resources, verbs)."""

POWERS = 0.67
"""Share of namespaces in which some containers have capabilities beyond those of a container runtime."""

_POWERS: Mapping[str, tuple[str, ...]] = {
    "mongodb": ("SYS_NICE", "SYS_RESOURCE", "IPC_LOCK"),
    "memcached": ("IPC_LOCK", "SYS_NICE", "NET_ADMIN"),
    "redis": ("SYS_RESOURCE", "IPC_LOCK", "NET_ADMIN"),
    "postgresql": ("IPC_LOCK", "SYS_NICE", "SYS_RESOURCE"),
}
"""What stores are given, by kind of component: to place and lock their memory, and to raise their limits."""

_SERVING_POWERS = ("SYS_PTRACE", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "SYS_NICE")
"""What everything else is given: for profilers and debuggers, socket options, pings, secrets that are never swapped."""


def draw(draft: Draft, chance: Chance) -> None:
    """Service accounts, security contexts, pull secrets."""
    for namespace in draft.namespaces:
        own = chance.at("identity", namespace)
        works = draft.inside(namespace)
        _accounts(draft, own, namespace, works)
        _grants(draft, own, namespace, works)
        pull = _pull_secret(draft, own, namespace)
        strict = own.yes("strict", 0.45)
        for work in works:
            if pull:
                work.pod["imagePullSecrets"] = [{"name": pull}]
            if strict and own.yes(f"context {work.name}", 0.8):
                _secured(work, own.at(work.name))
        if own.yes("powers", POWERS):
            for work in words.few(
                own, "powerful", works, own.weighted("powers count", {1: 0.5, 2: 0.3, 3: 0.2})
            ):
                _empowered(work, own.at("powers", work.name))


def _accounts(draft: Draft, chance: Chance, namespace: str, works: tuple[Work, ...]) -> None:
    style = chance.weighted("accounts", _ACCOUNTS)
    free = [work for work in works if "serviceAccountName" not in work.pod]
    if not free:
        return
    if style == "none":
        if chance.yes("no token", 0.25):
            for work in free:
                work.pod["automountServiceAccountToken"] = False
        return
    names = {"one": [draft.app.name], "each": [f"{draft.app.name}-{work.name}" for work in free]}[style]
    mounted = chance.yes("mounted", 0.5)
    known = {(m["metadata"].get("namespace"), m["metadata"]["name"]) for m in draft.of("ServiceAccount")}
    for name in names:
        if (namespace, name) in known:
            continue
        made = words.named("ServiceAccount", name, namespace)
        draft.start_with(made if mounted else {**made, "automountServiceAccountToken": False})
    for index, work in enumerate(free):
        work.pod["serviceAccountName"] = names[index % len(names)]


def _grants(draft: Draft, chance: Chance, namespace: str, works: tuple[Work, ...]) -> None:
    """Cluster roles that some of the accounts are given in their namespace."""
    accounts = sorted({work.pod.get("serviceAccountName", "default") for work in works})
    for grant in words.some(chance, "grants", list(_GRANTS), 2.2):
        group, resources, verbs = _GRANTS[grant]
        name = f"{draft.app.name}-{grant}"
        if any(made["metadata"]["name"] == name for made in draft.of("ClusterRole")):
            continue
        version = f"{_GROUP}/v1"
        rule = {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}
        chosen = words.few(chance.at(grant), "accounts", accounts, chance.between(f"{grant} accounts", 1, 3))
        draft.start_with(
            words.named("ClusterRole", name, version=version, rules=[rule]),
            words.named(
                "RoleBinding",
                name,
                namespace,
                version=version,
                roleRef={"apiGroup": _GROUP, "kind": "ClusterRole", "name": name},
                subjects=[
                    {"kind": "ServiceAccount", "name": each, "namespace": namespace} for each in chosen
                ],
            ),
        )


def _pull_secret(draft: Draft, chance: Chance, namespace: str) -> str:
    """The name of a Secret with which images are pulled; empty for none."""
    wanted = {repository(work.container["image"]) for work in draft.inside(namespace)}
    hosts = sorted({each.partition("/")[0] for each in wanted})
    if len(hosts) > 1 and not chance.yes("hub", 0.4):
        hosts = [host for host in hosts if host != HUB]
    if not hosts or not chance.yes("pull", 0.6):
        return ""
    name = chance.choice(
        "pull name", ("regcred", "registry-pull", "image-pull-secret", f"{draft.app.name}-registry")
    )
    owner = words.team(chance, namespace)
    logins = {host: login(chance.at("login", host), host, owner) for host in hosts}
    others = frozenset(_others(draft, namespace))
    for host, known in logins.items():
        closed = sorted(each for each in wanted - others if each.partition("/")[0] == host)
        draft.registries.append(ImageRegistry(host, (known,), tuple(closed)))
    draft.start_with(words.named("Secret", name, namespace, type=PULL_SECRET, data=pulling(logins)))
    return name


def _others(draft: Draft, namespace: str) -> Iterator[str]:
    """Repositories from which pods are pulled that do not bear the pull secret of a namespace."""
    bearing = {id(work.template) for work in draft.inside(namespace)}
    for manifest in draft.manifests:
        for template in _templates(manifest):
            if id(template) not in bearing:
                spec = template.get("spec") or {}
                for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                    yield repository(str(container.get("image", "")))


def _templates(manifest: Any) -> Iterator[Manifest]:
    """Everything in a manifest that may be a pod template."""
    if isinstance(manifest, dict):
        if "template" in manifest and isinstance(manifest["template"], dict):
            yield manifest["template"]
        for key, value in manifest.items():
            if key in ("spec", "jobTemplate", "template"):
                yield from _templates(value)


def _secured(work: Work, chance: Chance) -> None:
    context: Manifest = {"allowPrivilegeEscalation": False}
    if chance.yes("capabilities", 0.5):
        context["capabilities"] = {"drop": chance.choice("dropped", (["NET_RAW"], ["NET_RAW", "MKNOD"]))}
    work.container["securityContext"] = {**context, **(work.container.get("securityContext") or {})}
    pod: Manifest = {}
    if chance.yes("seccomp", 0.6):
        pod["seccompProfile"] = {"type": "RuntimeDefault"}
    if work.component.volume and chance.yes("group", 0.5):
        pod["fsGroup"] = chance.choice("group id", (999, 1000, 2000))
        pod["fsGroupChangePolicy"] = "OnRootMismatch"
    if pod:
        work.pod["securityContext"] = {**pod, **(work.pod.get("securityContext") or {})}


def _empowered(work: Work, chance: Chance) -> None:
    """A capability that no runtime gives by itself: most components do without, and some were given one once."""
    context = work.container.get("securityContext") or {}
    known = context.get("capabilities") or {}
    taken = {*(known.get("drop") or ()), *(known.get("add") or ())}
    able = [each for each in _POWERS.get(work.component.kind, _SERVING_POWERS) if each not in taken]
    # Who drops all capabilities means it.
    if not able or "ALL" in taken:
        return
    added = [*(known.get("add") or ()), chance.choice("capability", able)]
    work.container["securityContext"] = {**context, "capabilities": {**known, "add": added}}
