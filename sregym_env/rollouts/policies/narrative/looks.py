"""Where an engineer looks: the first looks at an application, the way along its calls, a closer look at one component."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sregym_env.cluster.app import App, Component, Journey
from sregym_env.cluster.edits import ObjectRef
from sregym_env.cluster.targets import ROLLED
from sregym_env.faults.commands import named, scope
from sregym_env.faults.fault import FaultInstance


@dataclass(frozen=True, slots=True)
class Look:
    """A command line, what it is for (a key of :data:`~sregym_env.rollouts.policies.narrative.words.AIMS`), and at what."""

    command: str
    aim: str
    about: str = ""
    via: str = ""
    """Whose need of it leads there."""
    journey: str = ""
    """The journey that it tries."""


def openings(app: App, chance: Random) -> list[Look]:
    """First looks in random order, one of each sort."""
    # Of several in one cluster, one is where somebody begins.
    main = chance.choice(app.parts).namespace if app.parts else app.namespace
    spaces = app.namespaces
    way_in = app.called(main, app.at(main).entry)
    entry = _workload(app, app.by_name[way_in])
    kinds = ",".join(dict.fromkeys(c.workload.partition(".")[0] for c in _rolled(app, main)))
    found = [
        Look("alerts", "alerts"),
        users(app, chance.choice(app.journeys), chance),
        pods(app, chance),
        Look(
            f"kubectl get events -n {main} "
            + chance.choice(("--sort-by=.lastTimestamp | tail -n 15", "--field-selector type=Warning")),
            "events",
        ),
        Look("kubectl get nodes", "nodes"),
        Look(
            f"kubectl logs {named(entry)}{scope(entry)} --tail={chance.choice((15, 20, 30))}",
            "entry",
            way_in,
        ),
        Look("; ".join(f"kubectl top pods -n {space}" for space in spaces), "top"),
        Look(f"kubectl get {kinds} -n {main}{chance.choice(('', ' -o wide'))}", "workloads"),
        Look(f"kubectl get endpoints -n {main}", "endpoints"),
        *load(app),
    ]
    chance.shuffle(found)
    return found


def pods(app: App, chance: Random) -> Look:
    """The pods of all of the application's namespaces."""
    wide = chance.choice(("", "", " -o wide"))
    return Look("; ".join(f"kubectl get pods -n {space}{wide}" for space in app.namespaces), "pods")


def users(app: App, journey: Journey, chance: Random) -> Look:
    """One request as a user makes it."""
    app = app.whose(journey.name)
    entry = app.by_name[app.entry]
    method = "" if journey.method == "GET" else f" -X {journey.method}"
    url = f"http://{entry.service}.{app.namespace_of(app.entry)}:{entry.offered_port}{journey.path}"
    form = chance.choice(
        ("-si", "-s -i -m 10", "-sS -m 10 -o /dev/null -w '%{http_code} in %{time_total}s\\n'")
    )
    return Look(f"curl {form}{method} '{url}'", "users", app.entry, journey=journey.name)


def load(app: App) -> list[Look]:
    """The log of what offers the users' requests, where there is such a thing."""
    offering = [c for c in app.components if c.kind == "load"]
    return [
        Look(
            f"kubectl logs {_short(_workload(app, c))} -n {app.namespace_of(c.name)} --tail=14",
            "load",
            c.name,
        )
        for c in offering[:1]
    ]


def _short(ref: ObjectRef) -> str:
    return f"job/{ref.name}" if ref.resource == "jobs.batch" else named(ref)


def _workload(app: App, component: Component) -> ObjectRef:
    resource, namespace, name = app.workload_of(component.name)
    return ObjectRef(resource, name, namespace)


def _rolled(app: App, namespace: str) -> list[Component]:
    return [c for c in app.components if c.workload in ROLLED and app.namespace_of(c.name) == namespace]


def path(app: App, component: str) -> tuple[str, ...]:
    """The calls from the way in to a component, both included; the component alone where nobody calls it."""
    frontier: list[tuple[str, ...]] = [(entry,) for entry in app.entries]
    seen = {*app.entries}
    while frontier:
        way = frontier.pop(0)
        if way[-1] == component:
            return way
        for need in app.by_name[way[-1]].dependencies:
            if need.on not in seen:
                seen.add(need.on)
                frontier.append((*way, need.on))
    return (component,)


def passing(app: App, component: str, via: str, chance: Random) -> list[Look]:
    """A look at a component that lies on the way."""
    workload = _workload(app, app.by_name[component])
    tail = chance.choice((12, 15, 20))
    return [Look(f"kubectl logs {named(workload)}{scope(workload)} --tail={tail}", "passing", component, via)]


def innocent(app: App, component: str, chance: Random) -> list[Look]:
    """Looks at a component that might be the culprit and is not."""
    workload = _workload(app, app.by_name[component])
    service = app.by_name[component].service
    looks = [
        Look(f"kubectl logs {named(workload)}{scope(workload)} --tail=12", "suspect", component),
        Look(f"kubectl describe {named(workload).replace('/', ' ')}{scope(workload)}", "suspect", component),
    ]
    chance.shuffle(looks)
    if service and chance.random() < 0.5:
        looks[1] = Look(f"kubectl get endpoints {service}{scope(workload)}", "suspect", component)
    return looks


def closer(instance: FaultInstance, chance: Random) -> list[Look]:
    """Looks at the component that a fault struck and at the object that is wrong: from its symptoms to its cause."""
    app, target, wrong = instance.target.app, instance.target, instance.fault.resource
    name = target.components[0]
    workload = target.workload_of(name)
    via = next((caller for caller in reversed(path(app, name)[:-1])), "")
    symptoms = [
        Look(
            f"kubectl logs {named(workload)}{scope(workload)} --tail={chance.choice((20, 30))}",
            "close",
            name,
            via,
        ),
        Look(f"kubectl describe {named(workload).replace('/', ' ')}{scope(workload)}", "close", name, via),
    ]
    chance.shuffle(symptoms)
    service = app.by_name[name].service
    if service and wrong.resource == "services":
        symptoms[1] = Look(f"kubectl get endpoints {service}{scope(workload)}", "close", name, via)
    looked = [Look(command, "object", _about(instance, command)) for command in instance.fault.look]
    if wrong == workload and not any("describe" in look.command for look in symptoms):
        symptoms[1] = Look(
            f"kubectl describe {named(workload).replace('/', ' ')}{scope(workload)}", "close", name
        )
    return [*symptoms, *looked]


NEIGHBOUR = "a neighbour"
"""Another component than the struck one, for comparison."""


def shows(look: Look, instance: FaultInstance) -> bool:
    """Whether a look is at the object that is wrong: at it by name, or at a list in which it stands or is missing."""
    wrong, command = instance.fault.resource, look.command.replace("deploy/", "deployment/")
    if instance.fault.kind.endswith("account"):
        return " exec " in command and wrong.name in command
    word = _WORDS.get(wrong.resource, wrong.resource.partition(".")[0].rstrip("s"))
    if not re.search(rf"\b(?:get|describe)\b.*\b{word}", command):
        return False
    listed = re.search(rf"\b(?:get|describe) (?:\S+,)?{word}\w*(?:,\S+)?(?= -|$)", command)
    return bool(listed) or bool(re.search(rf"[ /]{re.escape(wrong.name)}(?= |$)", command))


_WORDS = {"networkpolicies.networking.k8s.io": "networkpolic", "persistentvolumeclaims": "pvc"}

_PLURALS = {"pv": "the persistent volumes", "pvc": "the volume claims", "pods": "the pods again"}


def _about(instance: FaultInstance, command: str) -> str:
    """What a declared look is at, in words."""
    if " exec " in command:
        own = any(re.search(rf"/{re.escape(name)} ", command) for name in instance.target.components)
        return "inside the container" if own else NEIGHBOUR
    logged = re.search(r"logs \w+/(\S+)(?: -c (\S+))?", command)
    if logged:
        container = f"the container {logged.group(2)} of " if logged.group(2) else ""
        return f"the log of {container}{logged.group(1)}"
    found = re.search(r"(?:get|describe) (\S+)(?: ([a-z][\w.-]*))?", command)
    if found is None:
        return str(instance.target.components[0])
    kind, name = found.group(1), found.group(2) or ""
    if name:
        return f"the {kind.rstrip('s')} {name}"
    return _PLURALS.get(kind) or f"the {kind if kind.endswith('s') else f'{kind}s'}"


def typed(commands: Sequence[str], flag_first: bool, short: bool) -> list[str]:
    """Command lines in one person's habit: where the namespace stands, whether kinds are written out."""
    return [_habit(command, flag_first, short) for command in commands]


_FLAG = re.compile(
    r"^kubectl (?P<head>(?:(?! -n |[;|]).)*) -n (?P<space>\S+)(?P<rest>(?:(?![;|]).)*)(?P<pipe>[;|].*)?$"
)


def _habit(command: str, flag_first: bool, short: bool) -> str:
    if short and " exec " not in command:
        for long, brief in _BRIEF:
            command = re.sub(long, brief, command)
    found = _FLAG.match(command) if flag_first else None
    if found is None or ";" in command:
        return command
    return f"kubectl -n {found['space']} {found['head']}{found['rest']}{found['pipe'] or ''}"


_BRIEF = (
    (r"\bdeployment/", "deploy/"),
    (r"\bstatefulset/", "sts/"),
    (r"\bget pods\b", "get po"),
    (r"\bget deployments\b", "get deploy"),
    (r"\bdescribe deployment\b", "describe deploy"),
    (r"\bdescribe service\b", "describe svc"),
    (r"\bget services\b", "get svc"),
)
