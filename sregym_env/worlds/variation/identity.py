"""Who pods are and what they may: accounts of their own, security contexts, credentials for pulling images."""

from __future__ import annotations

from base64 import b64encode

import orjson

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
    hosts = sorted(
        {
            host
            for work in draft.inside(namespace)
            for host, slash, _ in [work.container["image"].partition("/")]
            if slash and "." in host
        }
    )
    if not hosts or not chance.yes("pull", 0.6):
        return ""
    name = chance.choice(
        "pull name", ("regcred", "registry-pull", "image-pull-secret", f"{draft.app.name}-registry")
    )
    login = b64encode(f"{words.team(chance, namespace)}:{words.text(chance, 'token', 20)}".encode()).decode()
    config = orjson.dumps({"auths": {host: {"auth": login} for host in hosts}})
    data = {".dockerconfigjson": b64encode(config).decode()}
    draft.start_with(words.named("Secret", name, namespace, type="kubernetes.io/dockerconfigjson", data=data))
    return name


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
