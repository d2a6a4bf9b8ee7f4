"""``~/.kube/config``: the contexts of a person, and the file in which ``kubectl config`` changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace


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

    @property
    def clusters(self) -> dict[str, str]:
        """Servers by the name of the cluster."""
        own = {self.cluster: self.server} if self.cluster else {}
        return {**own, **dict(self.more_clusters)}

    @property
    def users(self) -> list[str]:
        """Names of the users, sorted."""
        return sorted({context.user for context in self.contexts if context.user} | set(self.more_users))

    def context(self, name: str = "") -> Context | None:
        """The context of that name, the current one by default."""
        wanted = name or self.current
        return next((context for context in self.contexts if context.name == wanted), None)


def default_config(user: str, namespace: str) -> KubeConfig:
    """A kubeconfig with one context, as kubeadm writes it."""
    name = f"{user}@kubernetes"
    return KubeConfig((Context(name, "kubernetes", user, namespace),), name)


class ConfigFile:
    """The kubeconfig file of one person."""

    __slots__ = ("content",)

    def __init__(self, content: KubeConfig) -> None:
        self.content = content

    def namespace(self, context: str = "") -> str:
        """Namespace of a context, ``default`` when it names none."""
        found = self.content.context(context)
        return (found.namespace if found else "") or "default"

    def set_context(self, context: Context) -> None:
        """Add a context, or replace the one of that name."""
        others = tuple(c for c in self.content.contexts if c.name != context.name)
        self.content = replace(self.content, contexts=(*others, context))
