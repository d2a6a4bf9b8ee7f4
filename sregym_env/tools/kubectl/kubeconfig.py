"""``~/.kube/config``: the contexts of a person, and the file in which ``kubectl config`` changes them.

Where kubectl runs on a machine with files, the file is the truth: what is written there, by whatever means, is what
the next command reads. Without one (kubectl as a library) the same content is kept in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from sregym_env.kube import yamlin
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml


@dataclass(frozen=True, slots=True)
class Context:
    """A kubeconfig context."""

    name: str
    cluster: str
    user: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class KubeConfig:
    """What ``~/.kube/config`` says: one cluster, some contexts, the current one."""

    contexts: tuple[Context, ...]
    current: str
    cluster: str = "kubernetes"
    server: str = "https://kubernetes.default.svc:6443"
    more_clusters: tuple[tuple[str, str], ...] = ()
    """(name, server) of clusters that were added."""
    more_users: tuple[str, ...] = ()
    """Users that were added."""
    credentials: tuple[tuple[str, str], ...] = ()
    """(user, how it logs in as JSON), where something is known of that."""
    options: tuple[tuple[str, str], ...] = ()
    """(cluster, what is known of it beside the server, as JSON)."""

    @property
    def clusters(self) -> dict[str, str]:
        """Servers by the name of the cluster."""
        own = {self.cluster: self.server} if self.cluster else {}
        return {**own, **dict(self.more_clusters)}

    @property
    def users(self) -> list[str]:
        """Names of the users, sorted."""
        known = {context.user for context in self.contexts if context.user} | {n for n, _ in self.credentials}
        return sorted(known | set(self.more_users))

    def context(self, name: str = "") -> Context | None:
        """The context of that name, the current one by default."""
        wanted = name or self.current
        return next((context for context in self.contexts if context.name == wanted), None)

    def credential(self, user: str) -> Manifest:
        """How a user logs in, as the file has it."""
        found: Manifest = json.loads(dict(self.credentials).get(user, "{}"))
        return found

    def option(self, cluster: str) -> Manifest:
        """What the file says of a cluster beside its server."""
        found: Manifest = json.loads(dict(self.options).get(cluster, "{}"))
        return found

    def with_cluster(self, name: str, server: str, option: Manifest) -> KubeConfig:
        """With a cluster of that name added or changed."""
        options = {key: value for key, value in self.options if key != name}
        if option:
            options[name] = json.dumps(option)
        changed = replace(self, options=tuple(options.items()))
        if name == self.cluster:
            return replace(changed, server=server)
        known = {**dict(self.more_clusters), name: server}
        return replace(changed, more_clusters=tuple(sorted(known.items())))

    def with_user(self, name: str, credential: Manifest) -> KubeConfig:
        """With a user of that name added or changed."""
        known = {**dict(self.credentials), name: json.dumps(credential)}
        added = () if name in self.users else (name,)
        return replace(self, credentials=tuple(known.items()), more_users=(*self.more_users, *added))

    def text(self) -> str:
        """The file."""
        return to_yaml(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {"name": name, "cluster": {**self.option(name), "server": server}}
                    for name, server in sorted(self.clusters.items())
                ],
                "contexts": [{"name": each.name, "context": body(each)} for each in self.contexts],
                "current-context": self.current,
                "preferences": {},
                "users": [{"name": user, "user": self.credential(user)} for user in self.users],
            }
        )


NOTHING = KubeConfig((), "", cluster="", server="")
"""What there is where there is no file."""


def body(context: Context) -> Manifest:
    """A context as the file has it."""
    known = {"cluster": context.cluster, "user": context.user}
    return {**known, "namespace": context.namespace} if context.namespace else known


def default_config(user: str, namespace: str) -> KubeConfig:
    """A kubeconfig with one context, as kubeadm writes it."""
    name = f"{user}@kubernetes"
    token = hashlib.sha256(name.encode()).hexdigest()[:32]
    contexts = (Context(name, "kubernetes", user, namespace),)
    return KubeConfig(contexts, name, credentials=((user, json.dumps({"token": token})),))


def parse(text: str, path: str) -> KubeConfig:
    """The content of a file. Raises ValueError with what client-go says of one that is none."""
    try:
        found = yamlin.load(text)
    except yaml.YAMLError as error:
        raise ValueError(f'error loading config file "{path}": yaml: {yamlin.complaint(error)}') from None
    if found is None:
        return NOTHING
    if not isinstance(found, dict):
        raise ValueError(
            f'error loading config file "{path}": couldn\'t get version/kind; json parse error: json: cannot unmarshal '
            'string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
            '"json:\\"kind,omitempty\\"" }'
        )
    kind, version = found.get("kind") or "Config", found.get("apiVersion") or "v1"
    if (kind, version) != ("Config", "v1"):
        where = 'in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"'
        raise ValueError(
            f'error loading config file "{path}": no kind "{kind}" is registered for version "{version}" {where}'
        )
    clusters = _named(found, "clusters", "cluster")
    users = _named(found, "users", "user")
    servers = [(name, str(each.get("server") or "")) for name, each in clusters.items()]
    own, *others = servers or [("", "")]
    return KubeConfig(
        tuple(
            Context(name, *(str(each.get(key) or "") for key in ("cluster", "user", "namespace")))
            for name, each in _named(found, "contexts", "context").items()
        ),
        str(found.get("current-context") or ""),
        own[0],
        own[1],
        tuple(others),
        tuple(users),
        tuple((name, json.dumps(each)) for name, each in users.items() if each),
        tuple(
            (name, json.dumps({key: value for key, value in each.items() if key != "server"}))
            for name, each in clusters.items()
            if each.keys() - {"server"}
        ),
    )


def _named(found: Mapping[str, Any], plural: str, field: str) -> dict[str, Manifest]:
    """The entries of a list by name; the first of a name counts."""
    named: dict[str, Manifest] = {}
    entries = found.get(plural)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get(field), dict):
            named.setdefault(str(entry.get("name") or ""), entry[field])
    return named


def merged(first: KubeConfig, second: KubeConfig) -> KubeConfig:
    """Two files as ``KUBECONFIG=first:second`` reads them: what the first one says stands."""
    clusters = {**second.clusters, **first.clusters}
    own, *others = list(clusters.items()) or [("", "")]
    known = {context.name for context in first.contexts}
    return KubeConfig(
        (*first.contexts, *(each for each in second.contexts if each.name not in known)),
        first.current or second.current,
        own[0],
        own[1],
        tuple(others),
        tuple(dict.fromkeys((*first.more_users, *second.more_users))),
        tuple({**dict(second.credentials), **dict(first.credentials)}.items()),
        tuple({**dict(second.options), **dict(first.options)}.items()),
    )


class ConfigFile:
    """The kubeconfig file of one person."""

    __slots__ = ("content", "path")

    def __init__(self, content: KubeConfig, path: str = "/home/oncall/.kube/config") -> None:
        self.content = content
        self.path = path
        """Where it is, as messages name it."""

    def namespace(self, context: str = "") -> str:
        """Namespace of a context, ``default`` when it names none."""
        found = self.content.context(context)
        return (found.namespace if found else "") or "default"

    def set_context(self, context: Context) -> None:
        """Add a context, or replace the one of that name."""
        others = tuple(c for c in self.content.contexts if c.name != context.name)
        self.content = replace(self.content, contexts=(*others, context))
