"""Diagnoses in plain prose: what is wrong, where, with which values, and who suffers from it.

Every value that a diagnosis gives has been printed before, as far as some way of putting the cause allows that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from string import Formatter
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.cluster.targets import kind_of
from sregym_env.faults.fault import FaultInstance, text
from sregym_env.kube import quantity
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rollouts.policies.narrative.causes import CAUSES
from sregym_env.tools.causes import Cause

GOOD = 0.9
"""Score from which a wording is good enough for a demonstration."""

TRIES = 24
"""Wordings that are tried before the best of them is taken."""

_PLACES = frozenset(
    {
        "component", "Component", "components", "Components", "workload", "Workload", "the", "namespace", "clients",
        "meaning", "proper", "service", "name", "stranger", "allowed", "pinned",
    }
)  # fmt: skip
"""Facts that are names of what everybody can list, or words: nothing that must have been found out."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A diagnosis, and the found-out values that it gives."""

    text: str
    values: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    """Each cause by itself, in the order of the faults."""


def facts(instance: FaultInstance, chance: Random) -> dict[str, str]:
    """What an account of a fault may name, by the names that the ways of putting it use."""
    spec, target = instance.spec, instance.target
    first = target.workload_of(target.components[0])
    kind = kind_of(first.resource)
    workload = chance.choice((f"{kind} {first.name}", f"the {first.name} {kind.lower()}"))
    component = spoken(first.name)
    components = listed(spec.components)
    clients: Iterable[str] = getattr(target, "dependents", ()) or getattr(target, "callers", ())
    named: dict[str, Any] = {
        **instance.parameters,
        **instance.fault.facts,
        "component": component,
        "Component": capital(component),
        "components": components,
        "Components": components,
        "workload": workload,
        "Workload": capital(workload),
        "the": f"the {first.name} {kind.lower()}",
        "name": spec.resource_name,
        "namespace": spec.namespace,
        "clients": listed(map(spoken, clients)),
        "field": spec.field,
        "wrong": plain(instance.fault.details.get("wrong")),
        "right": plain(instance.fault.details.get("right")),
    }
    return {name: plain(value) for name, value in named.items() if plain(value)}


def spoken(name: str) -> str:
    """A component in running prose: many are called by a common word."""
    return name if "-" in name else f"the {name} service"


def capital(phrase: str) -> str:
    """With a capital where a sentence begins, unless it begins with a name of its own."""
    return f"T{phrase[1:]}" if phrase.startswith("the ") else phrase


def plain(value: Any) -> str:
    """A value as people write it: labels as ``a=b``, lists with commas."""
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return text(value)


def listed(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = list(names) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def ways(instance: FaultInstance) -> tuple[str, ...]:
    """Ways of putting a fault's cause; its own account where its mechanism has no words yet."""
    return CAUSES.get(instance.spec.mechanism) or (instance.spec.cause.replace("{", "(").replace("}", ")"),)


@lru_cache(maxsize=512)
def fields(way: str) -> tuple[str, ...]:
    """The facts that a way of putting a cause needs."""
    return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(way) if name))


def values(way: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Those of its facts that somebody must have found out."""
    return tuple(known[name] for name in fields(way) if name not in _PLACES and name in known)


def printed(value: str, seen: str) -> bool:
    """Whether a value stands in what was printed, as a word of its own; a label also in the way YAML writes it."""
    asked = _ASKED.fullmatch(value)
    if asked is not None and asked[1].startswith("/"):
        # As ``describe`` writes it, or field by field.
        path, port = asked.groups()
        return f":{port}{path}" in seen or (printed(path, seen) and printed(port, seen))
    if asked is not None:
        # A way to ask a port: what is printed of it is the port.
        value = asked[2]
    for form in _forms(value):
        before = "" if form.startswith("/") else r"(?<![\w.])"
        if re.search(rf"{before}{re.escape(form)}(?!\w)", seen):
            return True
    # A list, or a field within another: item by item.
    items = value.split(", ") if ", " in value else value.split() if _LISTED.fullmatch(value) else ()
    return bool(items) and all(printed(item, seen) for item in items)


_ASKED = re.compile(r"(.*) on port (\d+)")
_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_LISTED = re.compile(r"[a-zA-Z/]+(?: [a-zA-Z/]+)+")
_COMMAND = re.compile(r"the success of the command `(.+)`")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?(?:[kMGTPE]i?|Ki|m)")


def _forms(value: str) -> Iterator[str]:
    """A value as it is told, and as kubectl and files write it."""
    yield from (value, value.replace("=", ": "), *_separate(value))
    command = _COMMAND.fullmatch(value)
    if command is not None:
        yield command[1]
    if _AMOUNT.fullmatch(value):
        yield quantity.canonical(value)
    # Every name of a zone: the zone. A name, or the expression that matches it.
    name = value.removeprefix("*.")
    if _NAME.fullmatch(name):
        yield from (name, name.replace(".", r"\."), re.escape(name))


def _separate(value: str) -> tuple[str, ...]:
    # A taint in a manifest is three fields; the first two are telling enough.
    head, colon, _ = value.partition(":")
    return (head,) if colon and "=" in head else ()


def candidates(instance: FaultInstance) -> tuple[str, ...]:
    """Every value that some way of putting a cause gives."""
    known = facts(instance, Random(0))
    told = (value for way in ways(instance) for value in values(way, known))
    return tuple(dict.fromkeys([*told, *_answered(instance)]))


def _answered(instance: FaultInstance) -> list[str]:
    """The forms in which a fault's wrong value may be answered: as prose has it, as the spec has it."""
    forms = (plain(instance.fault.details.get("wrong")), instance.spec.wrong)
    return [form for form in dict.fromkeys(forms) if form]


def answers(instances: Sequence[FaultInstance], told: Telling, found: Collection[str]) -> tuple[Cause, ...]:
    """A diagnosis in closed answers, with its sentences as reasons.

    A value is given in a form in which it was printed. Where it was printed in none, because what was seen of it is a
    probe's parts or a column's word, it is put as prose puts it; a share that no tool prints is left out of it.
    """
    causes = []
    for number, instance in enumerate(instances):
        forms = _answered(instance)
        value = next((form for form in forms if form in found), "")
        because = told.sentences[number] if told.sentences else told.text
        causes.append(replace(instance.spec.answer, value=value or _seen_part(forms), because=because))
    return tuple(causes)


def _seen_part(forms: Sequence[str]) -> str:
    # Prose about a number that no tool prints: what is left of it without the number is a description.
    return next((rest for form in forms if (rest := _SHARE.sub("", form)) != form), forms[0] if forms else "")


_SHARE = re.compile(r"^\d+% of ")


def tellable(instance: FaultInstance, known: Mapping[str, str], found: Collection[str]) -> list[str]:
    """The ways of putting a cause all of whose values have been ``found``."""
    return [
        way
        for way in ways(instance)
        if all(name in known for name in fields(way)) and all(value in found for value in values(way, known))
    ]


def tell(
    instances: Sequence[FaultInstance],
    app: App,
    chance: Random,
    found: Collection[str],
    failing: Sequence[str],
) -> Telling:
    """A diagnosis of all faults. ``found``: values that were printed; ``failing``: journeys that were seen to fail."""
    known = [facts(instance, chance) for instance in instances]
    choices = [
        tellable(instance, each, found) or _complete(instance, each)
        for instance, each in zip(instances, known, strict=True)
    ]
    judge = SpecJudge()
    specs = [instance.spec for instance in instances]
    best, best_score = Telling("", ()), -1.0
    for attempt in range(TRIES):
        taken = _taken(instances, choices, chance)
        # Who means several should be brief, and must be understood.
        causes = _said(instances, taken, known, brief=attempt < TRIES // 2)
        words = _framed(instances, " ".join(causes), chance, failing)
        score = judge.grade(words, specs, app).score
        if score > best_score:
            given = (value for way, each in zip(taken, known, strict=True) for value in values(way, each))
            alone = tuple(
                _placed(instance, way.format_map(each))
                for instance, way, each in zip(instances, taken, known, strict=True)
            )
            best, best_score = Telling(words, tuple(dict.fromkeys(given)), alone), score
        # What a judge misreads teaches the wrong thing, however right it is.
        if score >= GOOD:
            break
    return best


def _complete(instance: FaultInstance, known: Mapping[str, str]) -> list[str]:
    return [way for way in ways(instance) if all(name in known for name in fields(way))] or [
        instance.spec.cause.replace("{", "(").replace("}", ")")
    ]


def _taken(instances: Sequence[FaultInstance], choices: Sequence[Sequence[str]], chance: Random) -> list[str]:
    """One way per fault; the same for faults of one kind, as people do who list them."""
    drawn: dict[str, str] = {}
    taken = []
    for instance, ways_ in zip(instances, choices, strict=True):
        known = drawn.get(instance.spec.mechanism, "")
        way = known if known in ways_ else chance.choice(ways_)
        drawn.setdefault(instance.spec.mechanism, way)
        taken.append(way)
    return taken


def _said(
    instances: Sequence[FaultInstance],
    taken: Sequence[str],
    known: Sequence[Mapping[str, str]],
    brief: bool,
) -> list[str]:
    """The causes one by one; ``brief`` says a cause that several components share once, and who shares it."""
    causes: list[str] = []
    alike: dict[str, list[str]] = {}
    for instance, way, each in zip(instances, taken, known, strict=True):
        mechanism = instance.spec.mechanism
        if not brief or mechanism not in alike:
            causes.append(_placed(instance, way.format_map(each)))
            alike.setdefault(mechanism, [])
            continue
        own = [value for value in values(way, each) if not any(value in cause for cause in causes)]
        alike[mechanism].append(f"{each['component']} ({', '.join(own)})" if own else each["component"])
    shared = [f"The same is wrong with {listed(others)}." for others in alike.values() if others]
    return [*causes, *shared]


def _placed(instance: FaultInstance, cause: str) -> str:
    """A cause with where it is, which goes without saying where there is one application."""
    return cause if instance.target.inventory.whole is None else f"In {instance.spec.namespace}, {cause}"


_OPENINGS = (
    "", "", "", "Root cause: ", "The root cause is this: ", "What is wrong: ", "My finding: ",
)  # fmt: skip

_SYMPTOMS = (
    "Users get errors on {requests}. ",
    "Users complain about {requests}. ",
    "Errors on {requests} come from this: ",
)


def _framed(instances: Sequence[FaultInstance], cause: str, chance: Random, failing: Sequence[str]) -> str:
    """A cause between an opening and its consequences; the users' trouble comes before it or after it."""
    if failing and chance.random() < 0.25:
        symptom = chance.choice(_SYMPTOMS).format(requests=_requests(failing))
        return f"{symptom}{cause} {consequence(instances, chance, ())}".strip()
    opening = chance.choice(_OPENINGS)
    effect = consequence(instances, chance, failing)
    return f"{opening}{cause if opening else capital(cause)} {effect}".strip()


_FOR_VICTIMS = (
    "As a result {victims} fail wherever they depend on that.",
    "Downstream, {victims} suffer although nothing is wrong with them.",
    "The victims: {victims}.",
)
_FOR_ONE = (
    "As a result {victims} fails wherever it depends on that.",
    "Downstream, {victims} suffers although nothing is wrong with it.",
    "The victim: {victims}.",
)
_FOR_USERS = (
    "As a result users see their {requests} fail.",
    "Consequently {requests} fail.",
    "User impact: {requests} fail.",
    "The visible symptom: {requests} fail.",
)


def consequence(instances: Sequence[FaultInstance], chance: Random, failing: Sequence[str]) -> str:
    """Who suffers: callers from the call graph, users as far as they were seen to."""
    struck = {name for instance in instances for name in instance.spec.components}
    near = (name for instance in instances for name in instance.spec.affected[:2])
    victims = [name for name in dict.fromkeys(near) if name not in struck][:3]
    parts = []
    if victims:
        frame = chance.choice(_FOR_ONE if len(victims) == 1 else _FOR_VICTIMS)
        parts.append(frame.format(victims=listed(map(spoken, victims))))
    if failing:
        begun = parts[0].split(" ")[0] if parts else ""
        frames = [frame for frame in _FOR_USERS if frame.split(" ")[0] != begun]
        parts.append(chance.choice(frames).format(requests=_requests(failing)))
    if len(parts) == 2 and chance.random() < 0.4:
        parts = [chance.choice(parts)]
    return " ".join(parts)


def _requests(journeys: Sequence[str]) -> str:
    return listed(f"{journey} requests" for journey in journeys[:2])
