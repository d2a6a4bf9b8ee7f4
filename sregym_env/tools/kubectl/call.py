"""One kubectl command while it runs: what was typed, which cluster it talks to, what it has printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from sregym_env.cluster.api import Cluster
from sregym_env.kube.registry import BUILTIN, Registry, Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime import effort
from sregym_env.tools.kubectl import managers
from sregym_env.tools.kubectl.desk import Desk
from sregym_env.tools.kubectl.errors import KubectlError, server_text
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.kubeconfig import ConfigFile

TIME_IS_UP = 124
"""Exit code of a command that was cut off, as ``timeout`` reports it."""


def pass_time(cluster: Cluster, seconds: float, ends: int | None) -> None:
    """Let a cluster's time pass, until ``ends`` at most. Raises a silent error with exit code 124 where that is up."""
    left = _left(cluster, ends)
    if left <= 0:
        raise KubectlError("", TIME_IS_UP)
    cluster.advance(min(seconds, left))


def _left(cluster: Cluster, ends: int | None) -> float:
    """Seconds until ``ends``."""
    return inf if ends is None else (ends - cluster.now()) / 1_000_000


class FileReader(Protocol):
    """The files of the machine on which kubectl runs."""

    def read_text(self, path: str) -> str:
        """Content of a file. Raises FileNotFoundError, IsADirectoryError."""
        ...

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory, sorted; empty when ``path`` is no directory."""
        ...


PRINTING_EFFORT = 0.03
"""What a character of output costs (units of ``runtime/effort.py``)."""


@dataclass(slots=True)
class Call:
    """A command being carried out."""

    kubeconfig: ConfigFile
    cluster: Cluster
    command: str
    """The words of the command as help names it: ``get``, ``rollout status``."""
    flags: Mapping[str, Any]
    given: frozenset[str]
    args: tuple[str, ...]
    dash: int
    stdin: str
    files: FileReader | None
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    """What was written to stderr; only :meth:`complain` adds to it."""
    places: list[int] = field(default_factory=list)
    """For each piece of ``err``, how many pieces of ``out`` had been written before it."""
    exit_code: int = 0
    cost: int = 0
    """What commands in containers have used of what a shell may."""
    ends: int | None = None
    """When the command is cut off, if it still waits then (``timeout 5 kubectl ...``)."""
    desk: Desk | None = None
    """The machine on which the command runs, where it can do more than give manifests."""
    unread: str = ""
    """What is wrong with a manifest behind those that could be read; told in the end."""
    written: tuple[tuple[str, str], ...] = ()
    """The flags as they were written, name and value, in their order."""
    unusable: bool = False
    """Whether no connection can be made, so that whoever makes one fails."""

    def connect(self) -> None:
        """Make the connection, where kubectl does so before it looks further at what it was told."""
        if self.unusable:
            self.cluster.version()

    def advance(self, seconds: float) -> None:
        """Let the cluster's time pass. Raises a silent error with exit code 124 where the time is up."""
        pass_time(self.cluster, seconds, self.ends)

    def left(self) -> float:
        """Seconds until the command is cut off."""
        return _left(self.cluster, self.ends)

    @property
    def registry(self) -> Registry:
        """The resources kubectl has discovered so far."""
        return self.cluster.registry

    @property
    def namespace(self) -> str:
        """Namespace of the request: ``-n``, else the one of the context."""
        return self.flags.get("namespace") or self.kubeconfig.namespace(self.flags.get("context", ""))

    @property
    def manager(self) -> str:
        """The field manager of what the command writes."""
        named = self.flags.get("field-manager")
        return str(named) if named else managers.default(self.command)

    @property
    def change_cause(self) -> str:
        """The command line as ``--record`` writes it into an annotation; empty where that is not asked for."""
        if not self.flags.get("record"):
            return ""
        flags = (f"--{name}={value}" for name, value in self.written)
        return " ".join(("kubectl", *self.command.split(), *self.args, *flags))

    @property
    def all_namespaces(self) -> bool:
        """Whether ``-A`` was given."""
        return bool(self.flags.get("all-namespaces"))

    @property
    def scope(self) -> str | None:
        """Namespace to list in: None for all namespaces."""
        return None if self.flags.get("all-namespaces") else self.namespace

    def lookup(self, token: str) -> Resource | None:
        """The resource a word names, custom ones included."""
        return BUILTIN.find(token) or self.registry.find(token)

    def find(self, token: str) -> Resource:
        """The resource a word names; raises kubectl's error when the server does not have it."""
        resource = self.lookup(token)
        if resource is None:
            raise KubectlError(f'error: the server doesn\'t have a resource type "{token.split(".")[0]}"')
        for other in self.registry.resources:
            if (
                token in other.short_names
                and other.group != resource.group
                and other.plural == resource.plural
            ):
                name = f"{other.plural}.{other.group}"
                text = f'short name "{token}" could also match lower priority resource {name}'
                self.warn(f"Warning: {text}")
        return resource

    def resource_of(self, manifest: Manifest) -> Resource | None:
        """The resource of a manifest's apiVersion and kind."""
        return self.resource_of_kind(manifest.get("apiVersion", ""), manifest.get("kind", ""))

    def resource_of_kind(self, api_version: str, kind: str) -> Resource | None:
        """The resource of an apiVersion and kind."""
        return BUILTIN.by_kind(api_version, kind) or self.registry.by_kind(api_version, kind)

    def print(self, text: str) -> None:
        """Write to stdout; no newline is added. What the server has warned of meanwhile comes first."""
        effort.spend(PRINTING_EFFORT * len(text))
        self.tell_warnings()
        self.out.append(text)

    def warn(self, line: str) -> None:
        """Write a line to stderr."""
        self.complain(line + "\n")

    def complain(self, text: str) -> None:
        """Write to stderr; no newline is added."""
        self.err.append(text)
        self.places.append(len(self.out))

    def unsaid(self, before: int) -> list[str]:
        """Take back what was written to stderr after so many pieces; what that was."""
        said = self.err[before:]
        del self.err[before:], self.places[before:]
        return said

    def tell_warnings(self) -> None:
        """Write what the server has warned of since this was last asked."""
        for text in self.cluster.warnings():
            self.warn(f"Warning: {text}")

    @property
    def pieces(self) -> tuple[tuple[int, str], ...]:
        """What was written, as a terminal shows it: each piece with its descriptor."""
        found: list[tuple[int, str]] = []
        done = 0
        for text, place in zip(self.err, self.places, strict=True):
            found.extend((1, each) for each in self.out[done:place])
            found.append((2, text))
            done = max(done, place)
        return (*found, *((1, each) for each in self.out[done:]))

    def fail(self, error: StatusError | KubectlError) -> None:
        """Report an error and go on; the command will exit with a failure."""
        if isinstance(error, StatusError):
            self.warn(server_text(error))
            self.exit_code = 1
        else:
            self.warn(error.text)
            self.exit_code = error.exit_code


Handler = Callable[[Call], None]


@dataclass(frozen=True, slots=True)
class Verb:
    """A kubectl command: its words, flags and what it does."""

    name: str
    summary: str
    run: Handler | None = None
    """None for a command that only groups others."""
    flags: tuple[Flag, ...] = ()
    usage: str = ""
    """What follows ``kubectl`` in the usage line."""
    description: str = ""
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ()
    group: str = ""
    """The heading under which ``kubectl --help`` lists it."""
    required: tuple[str, ...] = ()
    """Flags that must be given: looked at before everything else."""
