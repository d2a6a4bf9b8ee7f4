"""The finite menu of a numeric view: generic operations, each on one component, as the lines an engineer would type.

Every operation changes one kind of thing to what the cluster itself says (a Service's selector to its pods' labels, a
number of replicas to what the application declares) or takes one kind of thing away. None restores everything, none
brings back a remembered manifest, and which of them would change anything now is not told: that is to be learnt.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sregym_env.cluster.app import App, Component
from sregym_env.cluster.inventory import declared, template
from sregym_env.cluster.targets import SCALED
from sregym_env.envs.wrappers.numeric.scene import Parts, components_of
from sregym_env.errors import UsageError
from sregym_env.faults.commands import SHORT
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.kube.types import Manifest

PATIENCE_SECONDS = 60
"""Simulated seconds that a rollout is waited for."""

WAIT_SECONDS = 30
"""Simulated seconds of the choice that does nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of the menu."""

    verb: str
    component: str = ""
    """Empty for what concerns no component: ``wait``, ``submit``."""
    mechanism: str = ""
    """Of ``diagnose``: the kind of cause, a key of :data:`~sregym_env.faults.mechanisms.MECHANISMS`."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.verb, self.component, self.mechanism)))


@dataclass(frozen=True, slots=True)
class Declared:
    """How large the application's manifests make a component."""

    replicas: int = 1
    resources: Mapping[str, Any] | None = None
    """Requests and limits of its main container; None for none."""

    @classmethod
    def of(cls, component: Component, workload: Manifest) -> Declared:
        """From its workload's manifest."""
        containers = template(workload)["spec"]["containers"]
        main = next((each for each in containers if each["name"] == component.container), containers[0])
        return cls(int(workload["spec"].get("replicas", 1)), main.get("resources") or None)


@dataclass(frozen=True, slots=True)
class Verb:
    """A generic operation on a component."""

    name: str
    does: str
    line: Callable[[Parts, Declared], str]
    """The command line, from the component's objects as they are and its size as declared."""
    fits: Callable[[Component], bool] = lambda component: True
    """Whether it makes sense for such a component at all, broken or not."""


def _named(parts: Parts) -> str:
    workload = parts.component.workload
    return f"{SHORT.get(workload, workload)}/{parts.component.workload_name} -n {parts.namespace}"


def _awaited(parts: Parts) -> str:
    return f"kubectl rollout status {_named(parts)} --timeout={PATIENCE_SECONDS}s"


def _then_await(command: str, parts: Parts) -> str:
    return f"{command} && {_awaited(parts)}"


def _patched(parts: Parts, operations: Sequence[Mapping[str, Any]]) -> str:
    text = shlex.quote(json.dumps(list(operations)))
    return _then_await(f"kubectl patch {_named(parts)} --type=json -p {text}", parts)


def _look(parts: Parts) -> str:
    """What is typed where there is nothing to change."""
    return f"kubectl get {_named(parts)} -o wide"


def _restart(parts: Parts, _: Declared) -> str:
    return _then_await(f"kubectl rollout restart {_named(parts)}", parts)


def _undo(parts: Parts, _: Declared) -> str:
    return _then_await(f"kubectl rollout undo {_named(parts)}", parts)


def _scale(parts: Parts, declared: Declared) -> str:
    return _then_await(f"kubectl scale {_named(parts)} --replicas={declared.replicas}", parts)


def _admit(parts: Parts, _: Declared) -> str:
    # Not all of them: what else bounds the pods is there for a reason.
    last = max(parts.policies, key=_closest, default=None)
    space = f"-n {parts.namespace}"
    return (
        f"kubectl get networkpolicy {space}"
        if last is None
        else f"kubectl delete networkpolicy {last['metadata']['name']} {space}"
    )


def _closest(policy: Manifest) -> tuple[bool, str, str]:
    """What is about these pods rather than about all comes last, and of that the youngest."""
    metadata = policy["metadata"]
    return (
        any((policy["spec"].get("podSelector") or {}).values()),
        metadata["creationTimestamp"],
        metadata["name"],
    )


def _reselect(parts: Parts, _: Declared) -> str:
    service = f"service {parts.component.service} -n {parts.namespace}"
    pairs = ",".join(f"{key}={value}" for key, value in parts.labels.items())
    return f"kubectl set selector {service} {shlex.quote(pairs)}" if pairs else f"kubectl get {service}"


def _retarget(parts: Parts, _: Declared) -> str:
    service, name = parts.service, f"service {parts.component.service} -n {parts.namespace}"
    operations = [] if service is None else list(_retargets(service, parts.listening))
    if not operations:
        return f"kubectl get {name}"
    return f"kubectl patch {name} --type=json -p {shlex.quote(json.dumps(operations))}"


def _retargets(service: Manifest, listening: Mapping[str | int, int]) -> list[dict[str, Any]]:
    """Ports that lead nowhere led to the port of the same number, or to the only one there is."""
    numbers = sorted(set(listening.values()))
    found = []
    for index, port in enumerate(service["spec"].get("ports") or ()):
        if port.get("targetPort", port["port"]) in listening:
            continue
        right = port["port"] if port["port"] in numbers else numbers[0] if len(numbers) == 1 else None
        if right is not None:
            found.append({"op": "add", "path": f"/spec/ports/{index}/targetPort", "value": right})
    return found


def _without(*fields: str) -> Callable[[Parts, Declared], str]:
    """Takes fields out of the pod template's spec, where they are."""

    def line(parts: Parts, _: Declared) -> str:
        spec = {} if parts.workload is None else parts.workload["spec"]["template"]["spec"]
        there = [field for field in fields if field in spec]
        operations = [{"op": "remove", "path": f"/spec/template/spec/{field}"} for field in there]
        return _patched(parts, operations) if operations else _look(parts)

    return line


def _resize(parts: Parts, declared: Declared) -> str:
    container = parts.container
    if parts.workload is None or container is None:
        return _look(parts)
    index = parts.workload["spec"]["template"]["spec"]["containers"].index(container)
    path = f"/spec/template/spec/containers/{index}/resources"
    if declared.resources:
        return _patched(parts, [{"op": "add", "path": path, "value": declared.resources}])
    return _patched(parts, [{"op": "remove", "path": path}]) if "resources" in container else _look(parts)


VERBS: tuple[Verb, ...] = (
    Verb("restart", "restart its pods", _restart),
    Verb("undo", "roll its workload back to the revision before", _undo),
    Verb(
        "scale",
        "ask for as many replicas as the application declares",
        _scale,
        lambda component: component.workload in SCALED,
    ),
    Verb("admit", "delete the youngest network policy that is about its pods", _admit),
    Verb(
        "reselect",
        "make its Service select its workload's pods",
        _reselect,
        lambda component: bool(component.service),
    ),
    Verb(
        "retarget",
        "lead its Service's ports to ports that its containers declare",
        _retarget,
        lambda component: bool(component.service),
    ),
    Verb("unpin", "let its pods run on any node", _without("nodeSelector", "nodeName")),
    Verb("resize", "give its main container the requests and limits that the application declares", _resize),
)
"""Every operation that there is; a menu may have fewer."""

BY_NAME: Mapping[str, Verb] = {verb.name: verb for verb in VERBS}


def _demand_known(what: str, given: Sequence[str], known: Mapping[str, Any]) -> None:
    for name in given:
        if name not in known:
            raise UsageError(f"no {what} {name!r}; there are {', '.join(known)}")


def sizes_of(app: App) -> dict[str, Declared]:
    """How large an application declares the components that a view shows."""
    manifests = declared(app)
    places = {each.name: app.workload_of(each.name) for each in components_of(app)}
    return {
        each.name: Declared.of(each, manifests[places[each.name]])
        for each in components_of(app)
        if places[each.name] in manifests
    }


@dataclass(frozen=True)
class Menu:
    """What can be chosen in an application's view, in a fixed order."""

    app: App
    choices: tuple[Choice, ...]
    sizes: Mapping[str, Declared]
    """How large the application declares its components, by name."""

    @classmethod
    def of(cls, app: App, verbs: Sequence[str], mechanisms: Sequence[str]) -> Menu:
        """``wait`` and ``submit``, then every operation on every component, then every diagnosis.

        Raises UsageError for verbs and mechanisms that there are not.
        """
        _demand_known("verb", verbs, BY_NAME)
        _demand_known("mechanism", mechanisms, MECHANISMS)
        shown = components_of(app)
        operations = [
            Choice(verb, component.name)
            for component in shown
            for verb in verbs
            if BY_NAME[verb].fits(component)
        ]
        diagnoses = [
            Choice("diagnose", component.name, mechanism) for component in shown for mechanism in mechanisms
        ]
        return cls(app, (Choice("wait"), Choice("submit"), *operations, *diagnoses), sizes_of(app))

    def sized(self, app: App) -> Menu:
        """The same menu for a world's own edition of the application, which declares other sizes."""
        return replace(self, sizes=sizes_of(app))

    def line(self, choice: Choice, parts: Mapping[str, Parts]) -> str:
        """What is typed for a choice in the present state of things."""
        if choice.verb == "wait":
            return f"sleep {WAIT_SECONDS}"
        if choice.verb == "submit":
            return "submit mitigation"
        here = parts[choice.component]
        if choice.verb == "diagnose":
            return f"submit diagnosis --component {here.component.name} --mechanism {choice.mechanism}"
        return BY_NAME[choice.verb].line(here, self.sizes.get(choice.component, Declared()))
