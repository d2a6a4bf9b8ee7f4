"""What an expert has in mind: the truth, a manner, and what has been seen so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

from sregym_env.cluster.app import App
from sregym_env.faults.fault import FaultInstance
from sregym_env.rollouts.policies.narrative import diagnosis, looks, sights, words
from sregym_env.rollouts.policies.narrative.looks import Look

Style = Literal["direct", "thorough", "dead_ends"]
STYLES: tuple[str, ...] = get_args(Style)


@dataclass
class Case:
    """What is known, and what has been seen so far."""

    app: App
    instances: tuple[FaultInstance, ...]
    style: Style
    alternative: int | None
    stage: str
    budget: int
    chance: Random
    used: set[str] = field(default_factory=set)
    red: dict[str, str] = field(default_factory=dict)
    """Pods that were not ready when they were last listed, by name."""
    tried: set[str] = field(default_factory=set)
    """Journeys that were tried."""
    failing: list[str] = field(default_factory=list)
    """Journeys that failed when they were last tried."""
    structured: bool = True
    """Whether the diagnosis is handed in as closed answers."""
    remark: str = ""
    """What there is to say about the last output."""
    proof: str = ""
    """The last line that showed something of a cause."""
    found: set[str] = field(default_factory=set)
    """Values of the causes that have been printed."""

    def __post_init__(self) -> None:
        self.flag_first, self.short = self.chance.random() < 0.3, self.chance.random() < 0.4
        self._facts = [diagnosis.facts(instance, Random(0)) for instance in self.instances]
        self._candidates = {value for each in self.instances for value in diagnosis.candidates(each)}
        self._wanted = tuple(dict.fromkeys(value for each in self.instances for value in _wanted(each)))
        # Everybody's name stands everywhere.
        self._names = {name for c in self.app.components for name in (c.workload_name, c.service)}
        self._fields = " ".join(instance.spec.field for instance in self.instances)

    @property
    def struck(self) -> tuple[str, ...]:
        """Components in which a fault lies."""
        return tuple(dict.fromkeys(name for each in self.instances for name in each.spec.components))

    def saw(self, look: Look | None, command: str, text: str) -> sights.Sight:
        """Take an output in."""
        self.found.update(value for value in self._candidates - self.found if diagnosis.printed(value, text))
        noticed = sights.sight(command, text, self._wanted, self.chance, self._fields, self._names)
        self.remark = noticed.remark
        self.proof = noticed.proof or self.proof
        if look is not None and look.aim in ("close", "object") and not noticed.trouble:
            # Whoever looks at the culprit and has not seen it yet does not call it well.
            self.remark = self.chance.choice(words.NOT_YET)
        if look is not None and (absent := self._absent(look, text)):
            self.remark = absent
        if look is not None and look.about == looks.NEIGHBOUR and noticed.proof:
            self.remark = (
                f"There the file has {sights.quoted(noticed.proof)}, which is missing where it fails."
            )
        if sights.kind_of_look(command) == "pods":
            self.red = dict(noticed.red)
        if look is not None and look.journey:
            self.tried.add(look.journey)
            works = sights.answered(text)[:1] in ("2", "3")
            self.failing = [name for name in self.failing if name != look.journey]
            self.failing += [] if works else [look.journey]
        return noticed

    def think(self, aim: str, **named: str) -> str:
        """What to say now: about the last output, then about what comes next."""
        spoken = {
            key: self._spoken(value) if key in ("about", "via") else value for key, value in named.items()
        }
        said = f"{self.remark} {words.say(aim, self.chance, **spoken)}".strip()
        self.remark = ""
        return said

    def _absent(self, look: Look, text: str) -> str:
        """What to say where the list in which an object should stand does not have it; empty if that is not so."""
        for instance in self.instances:
            spec = instance.spec
            gone = instance.fault.details.get("wrong") is None and not instance.fault.kind
            if gone and looks.shows(look, instance) and not diagnosis.printed(spec.resource_name, text):
                return f"There is no {spec.resource_kind} {spec.resource_name} in this list."
        return ""

    def _spoken(self, about: str) -> str:
        return diagnosis.spoken(about) if about in self.app.by_name else about

    def explained(self, instance: FaultInstance) -> bool:
        """Whether everything has been printed that some way of putting the cause says."""
        known = self._facts[self.instances.index(instance)]
        return bool(diagnosis.tellable(instance, known, self.found))

    def is_red(self, component: str) -> bool:
        """Whether a pod of a component is not ready, as far as was seen."""
        return any(_of(pod, self.app) == component for pod in self.red)


def _of(pod: str, app: App) -> str:
    """The component to which a pod belongs, by its name; empty for a stranger."""
    owners = [c.name for c in app.components if pod.startswith(f"{c.workload_name}-")]
    return max(owners, key=len, default="")


def _wanted(instance: FaultInstance) -> tuple[str, ...]:
    """The values that give the cause away: what is wrong, and no value that would be right."""
    right = diagnosis.plain(instance.fault.details.get("right"))
    return tuple(value for value in diagnosis.candidates(instance) if value != right)
