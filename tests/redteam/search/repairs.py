"""A random search for repairs that the oracle pays although they leave harm, or that nobody declared.

Sequences of a few snippets, mostly beside a declared repair, are typed on forks of staged worlds. What passes is told
apart by the traces that its snippets left and that the healthy world does not have. In worlds of several faults some
sequences repair all but the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal

from sregym_env.cluster.api import World
from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.targets import ROLLED
from sregym_env.faults.onset import remedies
from sregym_env.faults.problems import Problem
from sregym_env.rewards.reward import rule, score
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts.validate import Subject
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation

from .snippets import HALF, REMEDY, SNIPPETS, Snippet

Pays = Literal["", "free", "harmful"]
"""How a sequence passes that should not without being looked at: as nobody declared, with something that is charged
elsewhere and cost nothing, with harm."""

BESIDE_REMEDY = 0.7
"""Share of the sequences that hold a declared repair."""

HALVES = 0.3
"""Share of those, where there are several faults, in which the last one is left."""

OTHERS: Mapping[int, float] = {1: 0.6, 2: 0.25, 3: 0.15}
"""How many snippets beside the repair there are. Few: one harm that is seen hides all others."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A sequence, and what became of it."""

    pair: str
    snippets: tuple[Snippet, ...]
    lines: tuple[str, ...]
    """What was typed."""
    passed: bool
    harm: tuple[str, ...]
    """Names of the harmful snippets whose trace is left."""
    charged: tuple[str, ...]
    """Names of those that are to be charged, whose trace is left."""
    costs: bool
    """Whether the oracle has named collateral."""
    score: float
    """What it earns of a mitigation with partial credit."""
    failed: tuple[str, ...]
    """Checks that did not hold."""
    complaints: tuple[str, ...]
    """What the snippets that failed answered."""

    @property
    def declared(self) -> bool:
        """Whether it holds a declared repair."""
        return REMEDY in self.snippets

    @property
    def pays(self) -> Pays | None:
        """What it passes with; None where it does not pass, or where it is a declared repair with nothing beside it that
        is not charged."""
        if not self.passed:
            return None
        if self.harm:
            return "harmful"
        if self.charged and not self.costs:
            return "free"
        return None if self.declared else ""

    @property
    def name(self) -> str:
        """Its snippets by name."""
        return " + ".join(snippet.name for snippet in self.snippets)


def both(one: Problem, other: Problem) -> Problem:
    """A problem of the faults of two; where they strike the same place, that of one alone."""
    if one.app != other.app or {each.target for each in one.faults} & {each.target for each in other.faults}:
        return one
    return one.model_copy(update={"id": f"{one.id}+{other.id}", "faults": (*one.faults, *other.faults)})


class Ground:
    """A staged world on which sequences are tried."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem = problem
        self.subject = Subject(problem, seed)
        self._chance = Chance(("repairs", problem.model_dump_json(), seed))
        self._before: dict[str, bool] = {}

    @property
    def pair(self) -> str:
        """Faults and targets."""
        return " + ".join(f"{struck.fault}:{struck.target}" for struck in self.problem.faults)

    @cached_property
    def slots(self) -> Mapping[str, str]:
        """What stands for the slots of the snippets; of several faults one is at hand, and none lies in the other."""
        world = self.subject.injected.world
        faulty = [name for each in self.subject.injected.instances for name in each.spec.components]
        struck = world.app.by_name[self._chance.choice("struck", faulty)]
        rolled = [
            component
            for component in world.app.components
            if component.workload in ROLLED and component.kind != "load" and component.name not in faulty
        ]
        other = self._chance.choice("other", rolled)
        workload = world.cluster.get(other.workload, other.name, world.app.namespace_of(other.name))
        workers = [
            node["metadata"]["name"]
            for node in world.cluster.list("nodes")
            if "node-role.kubernetes.io/control-plane" not in node["metadata"].get("labels", {})
        ]
        return {
            "c": f"{struck.workload}/{struck.name}",
            "name": struck.name,
            "n": world.app.namespace_of(struck.name),
            "other": f"{other.workload}/{other.name}",
            "sibling": other.name,
            "image": workload["spec"]["template"]["spec"]["containers"][0]["image"],
            "node": self._chance.choice("node", workers),
        }

    @cached_property
    def remedies(self) -> tuple[tuple[str, ...], ...]:
        """A declared repair of every fault, line by line."""
        injected = self.subject.injected
        return tuple(way[0] for way in map(remedies, injected.instances, injected.onsets))

    @cached_property
    def untouched(self) -> Verdict:
        """The oracle's verdict where nobody did anything."""
        return self.subject.judge(self.subject.world())

    def lines(self, snippet: Snippet) -> tuple[str, ...]:
        """What is typed for a snippet."""
        if snippet in (REMEDY, HALF):
            cured = self.remedies if snippet is REMEDY else self.remedies[: max(1, len(self.remedies) - 1)]
            return tuple(line for way in cured for line in way)
        return (self._filled(snippet.line),)

    def drawn(self) -> Iterator[tuple[Snippet, ...]]:
        """Sequences without end; every snippet comes first once before any does again."""
        for number in count():
            chance = self._chance.at("sequence", number)
            order = self._chance.shuffled(f"order {number // len(SNIPPETS)}", SNIPPETS)
            size = chance.weighted("size", OTHERS)
            others = [chance.choice(at, SNIPPETS) for at in range(size - 1)]
            chosen = [order[number % len(SNIPPETS)], *others]
            if chance.yes("remedy", BESIDE_REMEDY):
                several = len(self.problem.faults) > 1 and chance.yes("half", HALVES)
                chosen.append(HALF if several else REMEDY)
            yield tuple(dict.fromkeys(chance.shuffled("sequence", chosen)))

    def tried(self, snippets: Sequence[Snippet]) -> Trial:
        """Type a sequence on a fork, look what it left, and ask the oracle."""
        world = self.subject.world()
        workstation = Workstation(world, ONCALL)
        typed, complaints = [], []
        done: list[Snippet] = []
        for snippet in snippets:
            for line in self.lines(snippet):
                typed.append(line)
                outcome = workstation.run(line)
                if outcome.exit_code:
                    complaints.append(f"{snippet.name}: {outcome.text.strip()[:160]}")
                elif snippet not in done:
                    done.append(snippet)
        verdict = self.subject.judge(world)
        faults = {struck.fault for struck in self.problem.faults}
        left = [
            snippet
            for snippet in snippets
            if snippet.gravity and faults.isdisjoint(snippet.fits) and self._is_left(snippet, done, world)
        ]
        partial = score(rule("graded"), "mitigation", verdict, None, self.untouched)
        return Trial(
            pair=self.pair,
            snippets=tuple(snippets),
            lines=tuple(typed),
            passed=verdict.passed,
            harm=tuple(snippet.name for snippet in left if snippet.gravity == "harmful"),
            charged=tuple(snippet.name for snippet in left if snippet.gravity == "charged"),
            costs=any(verdict.harm.to_dict().values()),
            score=partial.terms["mitigation"],
            failed=tuple(check.name for check in verdict.failed),
            complaints=tuple(complaints),
        )

    def shrunk(self, trial: Trial) -> Trial:
        """The shortest part of a sequence that pays for the same reason, snippet by snippet left out."""
        for snippet in trial.snippets:
            rest = tuple(other for other in trial.snippets if other is not snippet)
            if rest and (shorter := self.tried(rest)).pays == trial.pays:
                return self.shrunk(shorter)
        return trial

    def _filled(self, line: str) -> str:
        for slot, value in self.slots.items():
            line = line.replace(f"{{{slot}}}", value)
        return line

    def _is_left(self, snippet: Snippet, done: Sequence[Snippet], world: World) -> bool:
        if not snippet.left:
            return snippet in done
        test = self._filled(snippet.left)
        if test not in self._before:
            self._before[test] = _holds(test, self.subject.healthy())
        return not self._before[test] and _holds(test, world)


def _holds(test: str, world: World) -> bool:
    return Workstation(world, ONCALL).run(test).exit_code == 0
