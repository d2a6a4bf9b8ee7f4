"""What an application is: components, how they find each other, the users' journeys, and what they promise.

An :class:`App` is data. Its manifests are what ``kubectl apply`` would be given; its images say what runs
when a container starts; its dependencies say which failures reach the users, and by which way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, SupportsIndex

from sregym_env.cluster.tracing import Tracing
from sregym_env.kube.types import Manifest
from sregym_env.runtime import places
from sregym_env.runtime.chance import Chance

AddressSource = Literal["service", "registry", "address"]
"""How a dependency is found: a Kubernetes Service name, a service registry, or a fixed address."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One component's need of another."""

    on: str
    """The component depended on."""
    at: frozenset[Literal["start", "request"]]
    """When it is needed: to start, or to serve users' requests."""
    via: AddressSource = "service"
    port: int = 0
    host: str = ""
    """The name under which the caller looks for it; empty for the component's own name."""
    essential: bool = True
    """Whether the caller fails when it is missing (a tracer is not essential)."""
    persistent: bool = False
    """Whether the caller keeps one connection, so that a share of refused connections does no harm."""
    cached: bool = False
    """Whether a cache answers most requests, so that users notice its loss only when a caller restarts."""


@dataclass(frozen=True, slots=True)
class Account:
    """A database account as the application knows it."""

    user: str
    password: str
    roles: tuple[str, ...] = ()
    """Roles on the application's database."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One setting of a configuration file that is baked into an image."""

    path: str
    """The file in the container."""
    key: str
    """The key without which the component does not start."""
    meaning: str = "address for its database"
    """What the component does not have without it."""


@dataclass(frozen=True, slots=True)
class Component:
    """One workload of an application and what it runs."""

    name: str
    kind: str
    """``grpc_service``, ``web``, ``mongodb``, ``memcached``, ``registry``, ``tracing`` ...; ``load`` is what
    offers the users' requests."""
    workload: str
    """Registry key of the workload object: ``deployments.apps``, ``statefulsets.apps``, ``jobs.batch`` ..."""
    container: str
    port: int = 0
    """The port on which it serves; 0 for none."""
    service: str = ""
    """The Service in front of it, if any."""
    volume: str = ""
    """The PersistentVolumeClaim that holds its data, if any."""
    memory: int = 0
    """Resident memory at rest, bytes."""
    dependencies: tuple[Dependency, ...] = ()
    database: str = ""
    """For a database: the application's database in it."""
    tables: tuple[str, ...] = ()
    """For a relational database: tables that users' requests read, the one that most need first."""
    written: bool = False
    """For a store: whether users' requests write to it, and fail where they cannot."""
    accounts: tuple[Account, ...] = ()
    """For a database that asks for credentials: the client's account first, then an administrator's."""
    config: ConfigKey | None = None
    """A setting in its image's configuration file that it cannot do without."""
    flag: str = ""
    """An environment variable that, set to ``true``, turns on a code path that fails; empty for none."""
    releases: tuple[str, ...] = ()
    """Builds of its image that work here, oldest first; empty where only the one that it runs is known."""
    builds: Mapping[str, str] = field(default_factory=dict)
    """Other published images of it that do not work here, by why: ``defective``, ``incompatible``."""
    service_port: int = 0
    """The Service's port that leads to it, where that is not the port on which it serves."""
    namespace: str = ""
    """Where it lives; empty for the application's main namespace."""
    stateless: bool = False
    """Whether it answers requests on the users' path from what others tell it: every request then shows there,
    as it does not at a store behind a cache."""
    starts: float = 0.0
    """Seconds from the start of its container until it listens, at least; 0 where that is no time to speak of."""
    answers: Mapping[str, int] = field(default_factory=dict)
    """Bytes of its answers by operation, of those that take more than one packet."""
    bears: str = ""
    """The name of its workload, where that is not its own: one of several applications in a cluster may have a component
    of the same name as another's (:mod:`~sregym_env.cluster.composed`)."""

    @property
    def workload_name(self) -> str:
        """The name of its workload."""
        return self.bears or self.name

    @property
    def offered_port(self) -> int:
        """The port on which clients reach it: its Service's, or its own."""
        return self.service_port or self.port


@dataclass(frozen=True, slots=True)
class FeatureFlag:
    """A feature flag that is served to one of the components, and with which it does not serve its users."""

    name: str
    component: str
    """Whose code asks for it."""
    variants: tuple[str, ...] = ("on",)
    """Those that hurt users, what is published first."""
    effect: str = "its code takes a path that fails"
    """What the component does then, to follow "so that"."""


@dataclass(frozen=True, slots=True)
class FlagFile:
    """The file from which feature flags are served, in flagd's format: each flag has a ``defaultVariant``."""

    config_map: str
    key: str
    server: str
    """The component that reads it when it starts."""
    harmful: tuple[FeatureFlag, ...]
    """Flags that must be off for users to be served."""
    harmless: tuple[str, ...] = ()
    """Names of flags that may be in it, on or off, and change nothing about how users are served."""


@dataclass(frozen=True, slots=True)
class Journey:
    """Something users do, as a share of the traffic."""

    name: str
    method: str
    path: str
    """Path and query of a typical request."""
    weight: float
    """Share of the offered requests; the weights of an app sum to 1."""
    through: tuple[str, ...] = ()
    """Components that answer it, the entry first; empty when that is not declared."""


@dataclass(frozen=True, slots=True)
class SLO:
    """What users are promised."""

    success_ratio: float = 0.99
    latency_seconds: float = 0.5
    """Mean latency of a journey."""
    journeys: Mapping[str, SLO] = field(default_factory=dict, hash=False)
    """What is promised of some journeys instead."""

    def of(self, journey: str) -> SLO:
        """What is promised of a journey."""
        return self.journeys.get(journey, self)


@dataclass(frozen=True, slots=True)
class Binary:
    """A program in an image: which simulated program it is, and that program's settings."""

    program: str
    settings: Any = None


@dataclass(frozen=True, slots=True)
class Image:
    """What an image reference resolves to."""

    reference: str
    """As written in manifests, e.g. ``mongo:4.4.6``."""
    size: int
    """Compressed size, bytes: sets how long a pull takes."""
    binaries: Mapping[str, Binary]
    """Executables by name, as found on the image's PATH."""
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """The image's CMD."""
    workdir: str = "/"
    files: Mapping[str, str] = field(default_factory=dict)
    """Text files baked into the image."""
    toolbox: Literal["busybox", "debian", "none"] = "busybox"
    """Which general commands ``kubectl exec`` finds beside the binaries."""
    user: int = 0
    architectures: tuple[str, ...] = ("amd64", "arm64")
    """Processors for which it is built. On others it is pulled all the same, and cannot be executed."""


class Named(Protocol):
    """What a program shows of itself here: the name by which an image's binaries refer to it."""

    @property
    def name(self) -> str:
        """Unique among all programs."""
        ...


@dataclass(frozen=True, slots=True)
class ImageRegistry:
    """A registry outside the cluster, as far as it asks who wants the application's images."""

    host: str
    logins: tuple[str, ...] = ()
    """``user:password`` of everybody whom it knows."""
    closed: tuple[str, ...] = ()
    """Repositories, in full, that it hands out to them alone."""


@dataclass(frozen=True)
class App:
    """A deployable application.

    Components have names of their own in all its namespaces, and a component's workload bears its name. One that is
    composed of others (``parts``) tells components of the same name apart by their namespaces.
    """

    name: str
    """Registry name, e.g. ``hotel-reservation``."""
    title: str
    namespace: str
    """The main namespace, where the users' requests come in."""
    description: str
    """What an on-call engineer is told about it."""
    components: tuple[Component, ...]
    """Leaves first: every component comes after what it needs."""
    manifests: tuple[Manifest, ...]
    """Everything to apply, in order, namespace included, load generator included."""
    images: tuple[Image, ...]
    journeys: tuple[Journey, ...]
    entry: str
    """The component the users call."""
    slo: SLO = field(default_factory=SLO)
    rate: float = 100.0
    """Requests per second the users offer."""
    programs: tuple[Named, ...] = ()
    """What its images run beyond the programs of the embedded cluster: each a
    :class:`~sregym_env.sim.world.program.Program`, known to worlds in which the application is deployed."""
    flag_file: FlagFile | None = None
    """Its feature flags; None where none are served."""
    registries: tuple[ImageRegistry, ...] = ()
    """Where its images come from, if somebody is asked there who he is."""
    tracing: Tracing | None = None
    """How its spans are called; None where that is not declared."""
    activities: tuple[str, ...] = ()
    """Regular expressions for what users do (``search``, ``log[- ]?in``): before words like "requests" or "page"
    they mean that, and not a component of the same name."""
    family: Callable[[App, Chance], App] | None = field(default=None, compare=False)
    """Draws another application of the family: the same components with other credentials, builds, ports and
    settings, equally healthy. None where it has nothing of its own to vary."""
    parts: tuple[App, ...] = ()
    """The applications of which it is composed, each as it is by itself; none for an ordinary one."""
    place: str = field(default="", compare=False)
    """Where every process finds this very declaration (``module:attribute``), so that it is pickled by name."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return places.reduced(self, self.place) or super().__reduce_ex__(protocol)

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """Every namespace of the application, the main one first: those that its manifests make."""
        made = (m["metadata"]["name"] for m in self.manifests if m["kind"] == "Namespace")
        return tuple(dict.fromkeys((self.namespace, *made)))

    def namespace_of(self, component: str) -> str:
        """Where a component lives. Raises KeyError."""
        return self.by_name[component].namespace or self.namespace

    def workload_of(self, component: str) -> tuple[str, str, str]:
        """A component's workload: (resource, namespace, name). Raises KeyError."""
        declared = self.by_name[component]
        return declared.workload, declared.namespace or self.namespace, declared.workload_name

    def called(self, namespace: str, workload: str) -> str:
        """By which name the application knows what bears one in a namespace."""
        if not self.parts:
            return workload
        return self._known.get((namespace, workload), f"{namespace}/{workload}")

    @cached_property
    def _known(self) -> Mapping[tuple[str, str], str]:
        return {(self.namespace_of(c.name), c.workload_name): c.name for c in self.components}

    def at(self, namespace: str) -> App:
        """The application in a namespace: of several the one whose it is, where it is any's."""
        return next((part for part in self.parts if namespace in part.namespaces), self)

    def whose(self, journey: str) -> App:
        """The application whose users make a journey: of several the one that has it."""
        return next((part for part in self.parts if any(j.name == journey for j in part.journeys)), self)

    def part(self, name: str) -> App:
        """One of the applications of which it is composed; an ordinary one itself. Raises KeyError."""
        if not self.parts:
            return self
        return {part.name: part for part in self.parts}[name]

    def heals(self, pod: str, spared: Collection[str] = ()) -> bool:
        """Whether the application is as it was when such a pod has been lost and made anew, one of the components
        ``spared`` aside. Without a registry's pod it is not: who had registered there is forgotten until it starts again."""
        registries = (component.name for component in self.components if component.kind == "registry")
        struck = (self.by_name[n].workload_name if n in self.by_name else n for n in (*registries, *spared))
        return not any(pod.startswith(f"{name}-") for name in struck)

    @cached_property
    def by_name(self) -> Mapping[str, Component]:
        """Components by name."""
        return {component.name: component for component in self.components}

    @cached_property
    def answers(self) -> Mapping[str, int]:
        """Bytes of answers by operation, of those that take more than one packet."""
        return {name: size for component in self.components for name, size in component.answers.items()}

    def dependents(self, name: str, at: Literal["start", "request"]) -> tuple[Component, ...]:
        """Components that essentially need ``name`` at that moment, directly."""
        return tuple(
            component
            for component in self.components
            if any(d.on == name and at in d.at and d.essential for d in component.dependencies)
        )

    def affected(self, name: str) -> tuple[str, ...]:
        """Components on the users' path that essentially need ``name``, directly or not, nearest first."""
        found: dict[str, None] = {}
        frontier = [name]
        while frontier:
            nearest = frontier.pop(0)
            for component in self.components:
                needs = any(d.on == nearest and d.essential for d in component.dependencies)
                if needs and component.name in self.serving and component.name not in found:
                    found[component.name] = None
                    frontier.append(component.name)
        found.pop(name, None)
        return tuple(found)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The components that users call: one, or one of each of the applications that it is composed of."""
        if not self.parts:
            return (self.entry,)
        return tuple(self.called(part.namespace_of(part.entry), part.entry) for part in self.parts)

    @cached_property
    def serving(self) -> frozenset[str]:
        """Components on the users' path: the entry and everything reached from it per request."""
        reached: set[str] = set()
        frontier = [*self.entries]
        while frontier:
            name = frontier.pop()
            if name in reached:
                continue
            reached.add(name)
            needs = self.by_name[name].dependencies
            frontier.extend(d.on for d in needs if "request" in d.at and d.essential)
        return frozenset(reached)

    @cached_property
    def critical(self) -> frozenset[str]:
        """Components whose loss reaches the users, at once or when something on their path restarts."""
        needed = set(self.serving)
        for name in self.serving:
            needed.update(d.on for d in self.by_name[name].dependencies if d.essential)
        return frozenset(needed)
