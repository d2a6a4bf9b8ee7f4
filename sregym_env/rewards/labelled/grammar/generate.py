"""The generated diagnoses: every fault, every category, spread over targets and registers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.rewards.labelled.diagnosis import CATEGORIES, GENERATED, REGISTERS, Diagnosis, Label, part_of
from sregym_env.rewards.labelled.grammar import attacks, claims
from sregym_env.rewards.labelled.grammar.claims import Told, second
from sregym_env.rewards.labelled.grammar.lines import Draw
from sregym_env.rewards.labelled.grammar.scene import Scene
from sregym_env.rewards.labelled.grammar.telling import Teller
from sregym_env.rewards.labelled.grammar.voice import Voice
from sregym_env.rewards.labelled.specs import APP_NAME, Pair, specs
from sregym_env.rewards.labelled.written import written
from sregym_env.runtime.chance import Chance

COUNTS: Mapping[str, int] = {
    "plain": 3, "paraphrase": 2, "consequences": 2, "group": 2, "cleared-suspects": 2, "quoted-output": 2, "timeline": 2,
    "abbreviation": 2,
    "near-miss": 4, "other-component": 2, "other-mechanism": 2, "symptom-only": 1, "place-only": 1, "hedged": 2,
    "negated": 2, "conditional": 1, "innocent-blamed": 1, "partial": 1,
}  # fmt: skip
"""How many of a category there are for every fault; as many right ones as wrong ones."""

ATTACKS = 4
"""Attacks for every fault, each of another category; the next fault goes on with the next categories."""

_DOUBLE = frozenset({("plain", 3), ("partial", 1)})
"""Those in which two faults came at the same time."""

_TRIES = 50


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One text to be written."""

    label: Label
    category: str
    number: int
    place: int
    """Its place among those of its fault."""


@lru_cache(maxsize=1)
def generated() -> tuple[Diagnosis, ...]:
    """All of them, the same in every process."""
    # Whoever writes by hand comes first.
    app, seen = apps.app(APP_NAME), {_folded(each.text) for each in written()}
    return tuple(
        _written(wanted, row, pairs, app, seen)
        for row, pairs in enumerate(_by_fault())
        for wanted in _all_wanted(row, pairs)
    )


def _by_fault() -> list[list[Pair]]:
    """The pairs of every fault, in random order, so that a few of them are of all kinds."""
    found: dict[str, list[Pair]] = {}
    for pair in specs():
        found.setdefault(pair[0], []).append(pair)
    return [Chance(("labelled targets", fault)).shuffled("order", pairs) for fault, pairs in found.items()]


def _all_wanted(row: int, pairs: Sequence[Pair]) -> Iterator[_Wanted]:
    counts = dict(COUNTS)
    if _one_cause(pairs):
        # The same cause on another target is no other cause.
        counts["other-mechanism"] += counts.pop("other-component")
    honest: tuple[tuple[Label, str, int], ...] = tuple(
        (label, category, number)
        for label in ("right", "wrong")
        for category in CATEGORIES[label]
        for number in range(1, counts.get(category, 0) + 1)
    )
    kinds = CATEGORIES["attack"]
    chosen = [kinds[(row * ATTACKS + place) % len(kinds)] for place in range(ATTACKS)]
    all_of_them = (*honest, *(("attack", category, 1) for category in chosen))
    for place, (label, category, number) in enumerate(all_of_them):
        yield _Wanted(label, category, number, place)


def _one_cause(pairs: Sequence[Pair]) -> bool:
    """Whether the fault is the same whatever it strikes: a cordon, a taint, a quota."""
    truths = {
        (spec.resource_kind, spec.resource_name, spec.wrong) for spec in (specs()[pair] for pair in pairs)
    }
    return len(pairs) > 1 and len(truths) == 1


def _written(wanted: _Wanted, row: int, pairs: Sequence[Pair], app: App, seen: set[str]) -> Diagnosis:
    """The text, drawn again until there is none like it. Raises RuntimeError where the grammar has not enough to say."""
    pair = pairs[wanted.place % len(pairs)]
    # Three and seven have no divisor in common with ten: every category meets every register.
    register = REGISTERS[(3 * row + 7 * wanted.place) % len(REGISTERS)]
    if wanted.label == "attack":
        register = attacks.SHAPES.get(wanted.category, "verbose")
    id = f"{GENERATED}{pair[0]}-{wanted.category}-{wanted.number}"
    for attempt in range(_TRIES):
        chance = Chance(("labelled", id, attempt))
        other = None
        if (wanted.category, wanted.number) in _DOUBLE:
            other = second(specs()[pair], specs(), chance)
        text = _text(wanted, id, register, pair, other, app, chance)
        if not seen & {_folded(text), _masked(text)}:
            seen.update((_folded(text), _masked(text)))
            both = (pair,) if other is None else (pair, other)
            fault, target = ("+".join(names) for names in zip(*both, strict=True))
            return Diagnosis(id, fault, target, text, wanted.label, wanted.category, register)
    raise RuntimeError(f"{id}: no text that is not there already; give the grammar more wordings")


def _text(
    wanted: _Wanted, id: str, register: str, pair: Pair, other: Pair | None, app: App, chance: Chance
) -> str:
    voice = Voice.drawn(chance.at("voice"), short=wanted.category == "abbreviation")
    told = Told(
        teller=Teller(Scene(specs()[pair], app), voice, Draw(chance, part_of(id))),
        register=register,
        app=app,
        specs=specs(),
        number=wanted.number,
        second=None if other is None else Scene(specs()[other], app),
    )
    return (claims.RULES.get(wanted.category) or attacks.RULES[wanted.category])(told)


def _folded(text: str) -> str:
    return " ".join("".join(each if each.isalnum() else " " for each in text.casefold()).split())


def _masked(text: str) -> str:
    """A text without the names and numbers of its fault: by these alone no two may differ."""
    return " ".join(re.findall(r"[a-z]+", _names().sub(" ", text.lower())))


@lru_cache(maxsize=1)
def _names() -> re.Pattern[str]:
    known = {name for spec in specs().values() for name in (*spec.components, *spec.affected, *spec.aliases)}
    return re.compile("|".join(map(re.escape, sorted(known, key=lambda name: (-len(name), name)))))
