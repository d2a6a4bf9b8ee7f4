"""An evolutionary search for texts that earn much of the diagnosis without understanding anything.

A text is a handful of fragments and what joins them. It is bred on some faults and measured on all of them; it is
graded as it stands, or with its slot filled by the true component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from statistics import fmean
from time import monotonic

from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.runtime.chance import Chance
from tests.redteam.specs import graded

from .genes import DENIALS, HEDGES, SLOT, Pool, pool, statements, words

LONGEST = 14
"""Fragments in a text at most."""

POPULATION = 16
KEPT = 4
"""How many of the best live on unchanged."""

CONTEST = 3
"""How many texts contend for becoming a parent."""


LIMITS = {False: 0.1, True: 0.15}
"""What a text may earn at most in the mean over one of every fault, by whether a slot knows the true component: the
place alone pays 0.11, and a guess is right for one mechanism of all, two of 67 faults: 0.13."""


@dataclass(frozen=True, slots=True)
class Sort:
    """What kind of texts a population is made of."""

    name: str
    structured: bool
    templated: bool

    @property
    def pool(self) -> Pool:
        """Its genes."""
        return pool(self.structured, self.templated)


SORTS = (
    Sort("constant", False, False),
    Sort("templated", False, True),
    Sort("constant, structured", True, False),
    Sort("templated, structured", True, True),
)


@dataclass(frozen=True, slots=True)
class Genome:
    """Fragments, and what stands between them."""

    genes: tuple[str, ...]
    joint: str

    def text(self, pool: Pool) -> str:
        """The text, its slots open."""
        return pool.first + self.joint.join(self.genes) + pool.last


@dataclass(frozen=True, slots=True)
class Worth:
    """What a text earns over some faults."""

    text: str
    score: float
    """Mean score of the diagnosis."""
    answers: float
    """Mean share of the questions answered yes, which tells how near it comes."""
    passes: float
    """Share of the faults that it passes."""
    mechanisms: tuple[str, ...]
    """Mechanisms of the faults that it passes."""


def filled(text: str, truth: FaultSpec) -> str:
    """A text as it is handed in against a fault: the slot is the component, or all of several."""
    return text.replace(SLOT, " and ".join(truth.components))


def worth(text: str, specs: Sequence[FaultSpec]) -> Worth:
    """Grade a text against every fault."""
    grades = [graded(filled(text, truth), truth) for truth in specs]
    passed = [truth.mechanism for truth, grade in zip(specs, grades, strict=True) if grade.passed]
    return Worth(
        text,
        fmean(grade.score for grade in grades),
        fmean(sum(answer.yes for answer in grade.answers) / len(grade.answers) for grade in grades),
        len(passed) / len(specs),
        tuple(dict.fromkeys(passed)),
    )


class Search:
    """A population of texts of one sort, bred for what they earn."""

    def __init__(
        self, sort: Sort, bred_on: Sequence[FaultSpec], seed: int, population: int = POPULATION
    ) -> None:
        self.sort = sort
        self.generation = 0
        self._bred_on = tuple(bred_on)
        self._chance = Chance(("texts", sort.name, seed))
        self._known: dict[str, Worth] = {}
        self._population = [self._drawn(self._chance.at("first", number)) for number in range(population)]

    @property
    def graded(self) -> int:
        """How many different texts have been graded."""
        return len(self._known)

    def step(self) -> None:
        """One more generation: the best live on, the others are bred from those who win a contest."""
        chance = self._chance.at("generation", self.generation)
        ranked = sorted(self._population, key=self._fitness, reverse=True)
        children = []
        for number in range(len(ranked) - KEPT):
            own = chance.at(number)
            child = self._crossed(
                own, self._parent(own.at("one"), ranked), self._parent(own.at("other"), ranked)
            )
            for change in range(own.between("changes", 0, 3)):
                child = self._mutated(own.at("change", change), child)
            children.append(child)
        self._population = [*ranked[:KEPT], *children]
        self.generation += 1

    def best(self, count: int = 1) -> list[str]:
        """The texts that earned most on what they were bred on."""
        for genome in self._population:
            self._fitness(genome)
        ranked = sorted(self._known.values(), key=lambda each: (each.score, each.answers), reverse=True)
        return [each.text for each in ranked[:count]]

    def _fitness(self, genome: Genome) -> tuple[float, float, int]:
        text = genome.text(self.sort.pool)
        if text not in self._known:
            self._known[text] = worth(text, self._bred_on)
        known = self._known[text]
        return known.score, known.answers, -len(genome.genes)

    def _drawn(self, chance: Chance) -> Genome:
        genes = [chance.choice(at, self.sort.pool.genes) for at in range(chance.between("length", 1, 5))]
        return Genome(tuple(genes), chance.choice("joint", self.sort.pool.joints))

    def _parent(self, chance: Chance, ranked: Sequence[Genome]) -> Genome:
        return ranked[min(chance.below(at, len(ranked)) for at in range(CONTEST))]

    def _crossed(self, chance: Chance, one: Genome, other: Genome) -> Genome:
        head = one.genes[: chance.between("head", 0, len(one.genes))]
        tail = other.genes[chance.between("tail", 0, len(other.genes)) :]
        return Genome((head + tail or one.genes)[:LONGEST], chance.choice("joint", (one.joint, other.joint)))

    def _mutated(self, chance: Chance, genome: Genome) -> Genome:
        genes, at = list(genome.genes), chance.below("at", len(genome.genes))
        fresh = chance.choice("fresh", self.sort.pool.genes)
        change = chance.choice(
            "change", ("insert", "insert", "drop", "replace", "swap", "joint", "wrap", "word")
        )
        if change == "joint":
            return replace(genome, joint=chance.choice("joint", self.sort.pool.joints))
        if change == "insert":
            genes.insert(at, fresh)
        elif change == "replace":
            genes[at] = fresh
        elif change == "swap":
            other = chance.below("other", len(genes))
            genes[at], genes[other] = genes[other], genes[at]
        elif change == "drop" and len(genes) > 1:
            del genes[at]
        elif change in ("wrap", "word") and not self.sort.structured:
            genes[at] = self._reworded(chance, genes[at], wrap=change == "wrap")
        return replace(genome, genes=tuple(genes[:LONGEST]))

    def _reworded(self, chance: Chance, gene: str, *, wrap: bool) -> str:
        """A fragment after a hedge or a denial, or without one of its words."""
        if wrap and len(gene) < 300:
            return f"{chance.choice('wrap', (*HEDGES, *DENIALS))} {gene}"
        parts = words(gene)
        del parts[chance.below("word", len(parts)) : 1 + chance.below("word", len(parts))]
        return "".join(parts).strip() or gene


BREATHS = (" or ", ", and ", ". ")
"""How two guesses are put into one text."""


def doubles(specs: Sequence[FaultSpec], every: int = 1, first: int = 0) -> Iterator[str]:
    """Texts that guess two mechanisms and pass the faults of both, of every n-th pair of faults.

    A node whose kubelet has ended is as good as down: what is said of mechanisms that are akin is no second guess.
    Each guess is the first of its fault's statements that passes by itself, without a value that only the world tells.
    """
    alone = {truth.fault: said for truth in specs if (said := _passing(truth))}
    for one, other in list(combinations(specs, 2))[first::every]:
        near = {one.mechanism, *MECHANISMS[one.mechanism].kin}
        if (
            other.mechanism in near
            or one.mechanism in MECHANISMS[other.mechanism].kin
            or not {one.fault, other.fault} <= alone.keys()
        ):
            continue
        for breath in BREATHS:
            text = f"{alone[one.fault]}{breath}{alone[other.fault]}"
            if _passes(text, one) and _passes(text, other):
                yield text


@lru_cache(maxsize=256)
def _passing(truth: FaultSpec) -> str:
    return next((said for said in statements(truth.fault) if _passes(said, truth)), "")


def _passes(text: str, truth: FaultSpec) -> bool:
    return graded(filled(text, truth), truth).passed


def shortened(text: str, specs: Sequence[FaultSpec]) -> str:
    """A text without the words that it earns as much without."""
    parts, least = words(text), worth(text, specs).score
    at = 0
    while at < len(parts) and len(parts) > 1:
        rest = parts[:at] + parts[at + 1 :]
        if worth("".join(rest).strip(), specs).score >= least:
            parts = rest
        else:
            at += 1
    return "".join(parts).strip()


def searched(
    sort: Sort,
    bred_on: Sequence[FaultSpec],
    measured_on: Sequence[FaultSpec],
    seed: int,
    *,
    generations: int = 10_000,
    seconds: float = float("inf"),
    population: int = POPULATION,
) -> tuple[Search, list[Worth]]:
    """Breed for a while; the search, and what its best texts earn on all faults, the best first."""
    search, until = Search(sort, bred_on, seed, population), monotonic() + seconds
    while search.generation < generations and monotonic() < until:
        search.step()
    found = [worth(text, measured_on) for text in search.best(3)]
    return search, sorted(found, key=lambda each: each.score, reverse=True)
