"""Faults: what a declaration is, what it does to one target, and the two bound together.

A fault is one decorated function in a module of its own name::

    @fault(layer="network", mechanism="wrong_target_port", targets=services())
    def service_target_port_mismatch(target: ServiceTarget, wrong_port: int = 9999) -> Fault:
        ...

Its parameters are the function's, typed and with defaults; undo is derived from the edits; which pairs of
fault and target exist is computed from the inventory.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, SupportsIndex

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sregym_env.cluster import apply as edits_apply
from sregym_env.cluster.api import World
from sregym_env.cluster.apply import Undo
from sregym_env.cluster.composed import seen_by
from sregym_env.cluster.disturbances import Disturbance
from sregym_env.cluster.edits import (
    Cycle,
    Downtime,
    Edit,
    Exec,
    JsonPatch,
    ObjectRef,
    Part,
    RecreatePods,
    Surge,
    Thin,
)
from sregym_env.cluster.inventory import Inventory, ObjectKey
from sregym_env.cluster.targets import ROLLED, TargetRule
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.commands import named, scope
from sregym_env.faults.drawn import Drawn
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec, Layer, Level
from sregym_env.faults.traces import Reach, Wrong, changed, key_of, wrongs
from sregym_env.kube import registry
from sregym_env.runtime import places
from sregym_env.runtime.chance import Chance


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of a fault's own predicate about the state."""

    name: str
    passed: bool
    observed: str = ""
    expected: str = ""


Predicate = Callable[[World], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a declared fault does to one target, and what repairs it."""

    resource: ObjectRef
    """The object that is wrong."""
    cause: str
    """The cause in a sentence or two, with its concrete values."""
    earlier: Sequence[Edit] = ()
    """What is there long before, and harms nobody by itself."""
    edits: Sequence[Edit] = ()
    disturbances: Sequence[Disturbance] = ()
    trigger: Sequence[Edit] = ()
    """What makes it bite at once: restarts of what would otherwise notice only later."""
    spared: Sequence[str] = ()
    """Components that neither noise nor innocent changes touch, because a pause of theirs would end what has been brought
    about while its cause stays; and those that the fault has changed beforehand, and will change back."""
    matures: float = 0.0
    """Seconds from when it is there until it can bite: what grows, expires or comes at its hour takes its time."""
    grows: bool = False
    """Whether it gets worse all the time once it can bite, so that the ordinary event by which it does is soon there."""
    brisk: bool = False
    """Whether it is decided from one second to the next if it lasts: users are looked at so often from its trigger on."""
    recurs: float = 0.0
    """Seconds within which it hurts again, where it comes and goes: somebody is called when it does."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """``field``, ``wrong`` and ``right``."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else has a name in an account of it, beside the details and the parameters."""
    kind: str = ""
    """What the wrong thing is called, where it is not an object's kind (``MongoDB account``)."""
    remedies: Sequence[Sequence[str]]
    """Alternative repairs, each a sequence of command lines."""
    rollback: Sequence[str] = ()
    """One more repair, right as long as the fault's rollout is the newest revision: back to the one before."""
    look: Sequence[str] = ()
    """Command lines that show the cause, beside those that suit every fault of this kind of target."""
    accepts: Sequence[ObjectRef] = ()
    """Objects that a legal repair may change, replace or lose, beside the one that is wrong."""
    additions: Sequence[tuple[str, str]] = ()
    """(resource, namespace) of objects that a legal repair may make there, under whatever name."""
    empties: Sequence[str] = ()
    """Nodes out of order, which a legal repair may drain: pods of others go elsewhere as well."""
    answers: Sequence[str] = ()
    """Fields of a pod template (``tolerations``, ``resources``) by which any workload may come to terms with the cause."""
    aliases: Sequence[str] = ()
    """More names by which the cause's place may rightly be called."""
    cured: Sequence[Predicate] = ()
    """Questions about the state, where the users' experience cannot tell whether the cause is gone."""

    def __post_init__(self) -> None:
        """Raises UsageError for a repair that is a text: its letters would be taken for commands."""
        for each in self.remedies:
            if isinstance(each, str):
                raise UsageError(f"a remedy is a list of command lines, not {each!r}: write [[{each!r}]]")


@dataclass(frozen=True)
class Declaration:
    """A declared fault: a function from a target and parameters to a :class:`Fault`."""

    name: str
    layer: Layer
    level: Level
    mechanism: str
    targets: TargetRule
    build: Callable[..., Fault]

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        place = f"{self.build.__module__}:{self.name}"
        return places.reduced(self, place) or super().__reduce_ex__(protocol)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.build) or "").split("\n", 1)[0]

    @property
    def description(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.build) or ""

    @cached_property
    def parameters(self) -> type[BaseModel]:
        """The model of the parameters: the function's arguments after the target."""
        hints = typing.get_type_hints(self.build)
        fields: dict[str, Any] = {
            name: (hints[name] | None, None) if isinstance(default, Drawn) else (hints[name], default)
            for name, default in self.defaults.items()
        }
        model: type[BaseModel] = create_model(
            f"{self.name}_parameters", __config__=ConfigDict(extra="forbid", frozen=True), **fields
        )
        return model

    @property
    def defaults(self) -> dict[str, Any]:
        """Defaults of the function's arguments after the target, by name."""
        arguments = list(inspect.signature(self.build).parameters.values())[1:]
        return {argument.name: argument.default for argument in arguments}

    def bind(
        self,
        inventory: Inventory,
        target: str = "",
        parameters: Mapping[str, Any] | None = None,
        chance: Chance | None = None,
    ) -> FaultInstance:
        """The fault on a target; an empty name means the first target.

        What the parameters leave open is drawn by ``chance``, and without one has its published value. Raises
        ProblemError.
        """
        try:
            values = self.parameters(**(parameters or {})).model_dump()
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'value'}: {e['msg']}" for e in error.errors()
            )
            raise ProblemError(f"parameters of {self.name}: {problems}") from error
        struck = self.targets.named(inventory, target)
        for name, default in self.defaults.items():
            if isinstance(default, Drawn) and values[name] is None:
                values[name] = (
                    default.at_published(struck)
                    if chance is None
                    else default.at_chance(struck, chance.at(name))
                )
        return self.on(struck, values)

    def on(self, target: Any, parameters: Mapping[str, Any]) -> FaultInstance:
        """The fault on a target of its kind, with all its parameters."""
        return FaultInstance(self, target, parameters, self.build(target, **parameters))


def fault(
    *, layer: Layer, mechanism: str, targets: TargetRule, level: Level = "medium"
) -> Callable[[Callable[..., Fault]], Declaration]:
    """Declare the decorated function as a fault of that name.

    Raises UsageError for a layer, a level or a mechanism that there is not.
    """
    _one_of("layer", layer, typing.get_args(Layer))
    _one_of("level", level, typing.get_args(Level))
    _one_of("mechanism", mechanism, MECHANISMS)

    def declare(build: Callable[..., Fault]) -> Declaration:
        return Declaration(build.__name__, layer, level, mechanism, targets, build)

    return declare


@dataclass(frozen=True)
class FaultInstance:
    """A fault bound to a target: what comes, is graded and demonstrated in an episode."""

    declaration: Declaration
    target: Any
    parameters: Mapping[str, Any]
    fault: Fault

    def __reduce__(self) -> tuple[Any, ...]:
        # The rest follows from these, and may hold functions that cannot be pickled.
        return Declaration.on, (self.declaration, self.target, self.parameters)

    @property
    def name(self) -> str:
        """``fault:target``."""
        return f"{self.declaration.name}:{self.target.name}"

    def seen(self, world: World) -> World:
        """A world as the application sees it that is struck: of several in one cluster only that one is concerned."""
        return seen_by(world, self.target.app.name)

    def heal(self, world: World, changes: Sequence[Undo]) -> None:
        """Take the fault back: the desired state is what it was before it came (:mod:`~sregym_env.faults.onset`)."""
        world = self.seen(world)
        # Before the edits: taking one back may need a pod in which a command can run.
        for disturbance in self.fault.disturbances:
            world.nodes.heal(disturbance)
        # The last one first: it may rest on what an earlier one made.
        for change in reversed(changes):
            edits_apply.undo(world, change)

    def replay(self, world: World) -> None:
        """Do again what makes the fault bite."""
        world = self.seen(world)
        for edit in self.fault.trigger:
            edits_apply.apply(world, edit)

    @property
    def transient(self) -> bool:
        """Whether what makes it bite is over when it has bitten: users come in numbers, pods are away for a while."""
        return any(isinstance(edit, Surge | Thin) for edit in self.fault.trigger)

    def cured(self, world: World) -> tuple[Finding, ...]:
        """The fault's own questions about the state, answered."""
        return tuple(predicate(self.seen(world)) for predicate in self.fault.cured)

    def accepts(self) -> frozenset[ObjectKey]:
        """(resource, namespace or "", name) of the objects that a legal repair may change or replace."""
        return frozenset(map(key_of, (self.fault.resource, *self.fault.accepts)))

    def patched(self) -> frozenset[ObjectKey]:
        """Objects of which it has written a part: to undo that is to make them what they were before."""
        edits = (*self.fault.earlier, *self.fault.edits)
        return frozenset(key_of(edit.target) for edit in edits if isinstance(edit, JsonPatch))

    @property
    def entered(self) -> tuple[str, ...]:
        """Components in whose pods it has run commands."""
        return tuple(
            dict.fromkeys(self._called(edit.component) for edit in self.fault.edits if isinstance(edit, Exec))
        )

    @property
    def spared(self) -> tuple[str, ...]:
        """Components that nothing that comes and goes may touch while it lasts."""
        return tuple(map(self._called, self.fault.spared))

    def _called(self, component: str) -> str:
        """What one of the application's components is called among all that is deployed."""
        found: str = self.target.inventory.called(component)
        return found

    @cached_property
    def wrongs(self) -> tuple[Wrong, ...]:
        """The wrong values that it has put into objects."""
        return wrongs(tuple(self.fault.edits))

    @cached_property
    def reach(self) -> Reach:
        """What its repair may change, replace and restart without doing harm to anybody."""
        spec, resource = self.spec, self.fault.resource
        shared = resource.namespace not in self.target.app.namespaces or resource.resource in _SHARED
        return Reach(
            objects=self.accepts()
            | frozenset((*changed((*self.fault.earlier, *self.fault.edits)), *self._places())),
            names=frozenset((spec.resource_name, *self.target.components, *spec.aliases)),
            components=frozenset((*spec.components, *spec.affected, *map(self._called, self._neighbours()))),
            everywhere=shared,
            answers=tuple(self.fault.answers),
            additions=frozenset(self.fault.additions),
            machines=frozenset(self.fault.empties),
        )

    def _places(self) -> Iterator[ObjectKey]:
        """The workloads of the faulty components, which may be made to fit."""
        yield from (key_of(self.target.workload_of(name)) for name in self.target.components)

    def _neighbours(self) -> Iterator[str]:
        """Components that its trigger restarts, and those that need a faulty one to start."""
        for edit in self.fault.trigger:
            if isinstance(edit, RecreatePods | Part | Cycle | Downtime):
                yield edit.component
        for name in self.target.components:
            for need in ("start", "request"):
                yield from (c.name for c in self.target.app.dependents(name, need))

    @property
    def remedies(self) -> tuple[tuple[str, ...], ...]:
        """Alternative repairs as command lines, going back a revision aside."""
        return tuple(tuple(remedy) for remedy in self.fault.remedies)

    @cached_property
    def investigation(self) -> tuple[str, ...]:
        """Commands with which an engineer would look for the cause, the broad ones first."""
        namespace = self.target.namespace
        kinds = [
            component.workload.partition(".")[0]
            for component in self.target.app.components
            if component.workload in ROLLED and self.target.workload_of(component.name).namespace == namespace
        ]
        broad = [
            f"kubectl get pods -n {namespace} -o wide",
            f"kubectl get events -n {namespace} --sort-by=.lastTimestamp",
            f"kubectl get {','.join(dict.fromkeys([*kinds, 'services']))} -n {namespace} -o wide",
        ]
        close = []
        for name in self.target.components[:3]:
            component, workload = self.target.app.by_name[name], self.target.workload_of(name)
            close.append(f"kubectl describe {named(workload).replace('/', ' ')}{scope(workload)}")
            close.append(f"kubectl logs {named(workload)}{scope(workload)} --tail=30")
            if component.service:
                close.append(f"kubectl get endpoints {component.service}{scope(workload)}")
            for caller in map(self.target.workload_of, self.target.app.affected(name)[:1]):
                close.append(f"kubectl logs {named(caller)}{scope(caller)} --tail=30")
        return tuple(dict.fromkeys((*broad, *close, *self.fault.look)))

    @cached_property
    def spec(self) -> FaultSpec:
        """The ground truth for the judge."""
        app, names = self.target.app, self.target.components
        details = self.fault.details
        affected: dict[str, None] = {}
        for name in names:
            affected.update(dict.fromkeys(app.affected(name)))
        resource = registry.by_key(self.fault.resource.resource)
        return FaultSpec(
            fault=self.declaration.name,
            layer=self.declaration.layer,
            mechanism=self.declaration.mechanism,
            namespace=self.target.namespace,
            components=tuple(map(self._called, names)),
            aliases=self._aliases(),
            resource_kind=self.fault.kind or (resource.kind if resource else self.fault.resource.resource),
            resource_name=self.fault.resource.name,
            cause=self.fault.cause,
            field=str(details.get("field", "")),
            wrong=text(details.get("wrong")),
            right=text(details.get("right")),
            affected=tuple(self._called(name) for name in affected if name not in names),
            journeys=self._journeys(),
        )

    def _journeys(self) -> tuple[str, ...]:
        """Journeys that pass the faulty components, or what needs these to start where none passes them."""
        app = self.target.app
        passed = {name for journey in app.journeys for name in journey.through}
        struck: set[str] = set()
        for name in self.target.components:
            starts = [component.name for component in app.dependents(name, "start")]
            struck.update([name] if name in passed else starts)
        return tuple(
            journey.name for journey in app.journeys if not journey.through or struck & {*journey.through}
        )

    def _aliases(self) -> tuple[str, ...]:
        found = [self.fault.resource.name]
        for name in self.target.components:
            component = self.target.app.by_name[name]
            found += [component.service, component.container, component.volume]
        found += self.fault.aliases
        return tuple(dict.fromkeys(name for name in found if name and name not in self.target.components))


_SHARED = ("resourcequotas", "limitranges")
"""Kinds of objects of an application's namespace that concern all its pods."""


def _one_of(what: str, value: str, known: Iterable[str]) -> None:
    listed = list(known)
    if value not in listed:
        near = get_close_matches(value, listed, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(listed)}"
        raise UsageError(f"no {what} {value!r}; {hint}")


def text(value: Any) -> str:
    """A detail's value as text: scalars plainly, everything else as JSON, nothing as the empty string."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
