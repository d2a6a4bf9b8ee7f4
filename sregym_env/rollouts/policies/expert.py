"""A policy that knows the answer and plays it as an engineer would: looks, thinks aloud, repairs, verifies."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, cast, get_args

from sregym_env.cluster.app import App
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.faults.fault import FaultInstance
from sregym_env.llm.messages import Call, call
from sregym_env.rollouts.policies.narrative import diagnosis, looks, repair, sights, words
from sregym_env.rollouts.policies.narrative.looks import Look
from sregym_env.rollouts.policies.policy import Turn, turn

Style = Literal["direct", "thorough", "dead_ends"]
STYLES: tuple[str, ...] = get_args(Style)

SETTLING = 12
"""How often it looks whether the pods are well before it hands in."""

PATIENCE = 4
"""How often it tries a user's request before it hands in."""

SPARED = 24
"""Commands that it keeps for the repair and for seeing whether that helped."""


class ExpertPolicy:
    """Plays a declared solution in the manner of an engineer, from the symptom to the cause, and says why at each step.

    It is privileged: it reads the problem's truth from the environment. What it says rests on what was printed.

    ``style``: ``direct``, ``thorough``, ``dead_ends`` (goes after an innocent component first), or ``mixed``: the seed
    draws one. ``calls``: ``tools`` for thoughts with tool calls, ``text`` for bare command lines. ``alternative`` picks
    one of the declared repairs; without it the seed does. Raises UsageError for a style or a form there is not.
    """

    name = "expert"
    version = "2"

    def __init__(self, style: str = "mixed", calls: str = "tools", alternative: int | None = None) -> None:
        _one_of("style", style, (*STYLES, "mixed"))
        _one_of("calls", calls, ("tools", "text"))
        if alternative is not None and (not isinstance(alternative, int) or isinstance(alternative, bool)):
            raise UsageError(f"alternative must be a whole number, not {alternative!r}")
        self.settings: Mapping[str, Any] = {"style": style, "calls": calls, "alternative": alternative}
        self._play: Generator[_Move, str, None] | None = None
        self._turns = 0
        self._dedicated = False

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Get to know the truth, and decide on a manner."""
        style = self.settings["style"]
        drawn = Random(f"expert {seed}").choice(STYLES) if style == "mixed" else style
        chance = Random(f"expert {drawn} {seed}")
        staged = env.episode.staged
        case = _Case(
            app=staged.app,
            instances=tuple(cast(FaultInstance, cause) for cause in staged.causes),
            style=cast(Style, drawn),
            alternative=self.settings["alternative"],
            stage=env.episode.rules.stage,
            budget=env.episode.rules.max_commands,
            chance=chance,
            seen=[briefing],
        )
        self._dedicated = chance.random() < 0.5
        self._turns = 0
        self._play = _played(case)

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next thing to say and do."""
        assert self._play is not None, "begin() comes first"
        try:
            move = next(self._play) if self._turns == 0 else self._play.send(observation)
        except StopIteration:
            move = _Move("", "mitigation")
        self._turns += 1
        if self.settings["calls"] == "text":
            return move.line
        return turn(move.thought, (move.call(f"call-{self._turns}", self._dedicated),))


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"no {what} {value!r} of the expert; there are {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class _Move:
    """One thing to do, and why."""

    thought: str
    does: Literal["run", "diagnosis", "mitigation"]
    text: str = ""

    @property
    def line(self) -> str:
        """As a command line."""
        if self.does == "run":
            return self.text
        if self.does == "mitigation":
            return "submit mitigation"
        return f"submit diagnosis <<'EOF'\n{self.text}\nEOF"

    def call(self, identifier: str, dedicated: bool) -> Call:
        """As a tool call; ``dedicated`` prefers the tools that do one thing."""
        if self.does == "mitigation":
            return call(identifier, "submit_mitigation")
        if self.does == "diagnosis":
            return call(identifier, "submit_diagnosis", text=self.text)
        if dedicated and self.text == "alerts":
            return call(identifier, "alerts")
        if dedicated and self.text.startswith("kubectl ") and not set(self.text) & set("|;&<"):
            return call(identifier, "kubectl", command=self.text.removeprefix("kubectl "))
        return call(identifier, "shell", command=self.text)


@dataclass
class _Case:
    """What is known, and what has been seen so far."""

    app: App
    instances: tuple[FaultInstance, ...]
    style: Style
    alternative: int | None
    stage: str
    budget: int
    chance: Random
    seen: list[str]
    used: set[str] = field(default_factory=set)
    red: dict[str, str] = field(default_factory=dict)
    """Pods that were not ready when they were last listed, by name."""
    failing: list[str] = field(default_factory=list)
    """Journeys that were seen to fail."""
    remark: str = ""
    """What there is to say about the last output."""

    def __post_init__(self) -> None:
        self.flag_first, self.short = self.chance.random() < 0.3, self.chance.random() < 0.4
        self.wanted = [_wanted(instance) for instance in self.instances]

    @property
    def struck(self) -> tuple[str, ...]:
        """Components in which a fault lies."""
        return tuple(dict.fromkeys(name for each in self.instances for name in each.spec.components))

    def saw(self, look: Look | None, command: str, text: str) -> sights.Sight:
        """Take an output in."""
        self.seen.append(text)
        wanted = [value for values in self.wanted for value in values]
        noticed = sights.sight(command, text, wanted, self.chance)
        self.remark = noticed.remark
        if sights.kind_of_look(command) == "pods":
            self.red = dict(noticed.red)
        if look is not None and look.journey:
            works = sights.answered(text)[:1] in ("2", "3")
            self.failing = [name for name in self.failing if name != look.journey]
            self.failing += [] if works else [look.journey]
        return noticed

    def think(self, aim: str, **named: str) -> str:
        """What to say now: about the last output, then about what comes next."""
        spoken = {
            key: diagnosis.spoken(value) if value in self.app.by_name else value
            for key, value in named.items()
        }
        said = f"{self.remark} {words.say(aim, self.chance, **spoken)}".strip()
        self.remark = ""
        return said

    def explained(self, instance: FaultInstance) -> bool:
        """Whether everything has been printed that some way of putting the cause says."""
        return bool(diagnosis.tellable(instance, diagnosis.facts(instance, Random(0)), "\n".join(self.seen)))

    def is_red(self, component: str) -> bool:
        """Whether a pod of a component is not ready, as far as was seen."""
        return any(_of(pod, self.app) == component for pod in self.red)


def _of(pod: str, app: App) -> str:
    """The component to which a pod belongs, by its name; empty for a stranger."""
    owners = [name for name in app.by_name if pod.startswith(f"{name}-")]
    return max(owners, key=len, default="")


def _wanted(instance: FaultInstance) -> tuple[str, ...]:
    """The values that give the cause away: what is wrong, and no value that would be right."""
    known = diagnosis.facts(instance, Random(0))
    right = known.pop("right", "")
    found = (value for way in diagnosis.ways(instance) for value in diagnosis.values(way, known))
    return tuple(value for value in dict.fromkeys(found) if value != right)


# --- the course of an episode ---------------------------------------------------------------------

_Moves = Generator[_Move, str, None]


def _played(case: _Case) -> _Moves:
    """An episode from the first look to the last word."""
    yield from _first_looks(case)
    if case.style == "dead_ends":
        yield from _dead_end(case)
    yield from _along_the_calls(case)
    for instance in case.instances:
        yield from _close(case, instance)
    if case.stage != "mitigation":
        told = diagnosis.tell(case.instances, case.app, case.chance, "\n".join(case.seen), case.failing)
        case.seen.append((yield _Move(case.think("diagnosis"), "diagnosis", told.text)))
    if case.stage != "diagnosis":
        yield from _repair(case)
        yield from _verify(case)
        yield _Move(case.think("mitigation unsure" if case.red else "mitigation"), "mitigation")


def _look(case: _Case, look: Look, thought: str) -> Generator[_Move, str, sights.Sight]:
    (command,) = looks.typed([look.command], case.flag_first, case.short)
    case.used.add(look.command)
    text = yield _Move(thought, "run", command)
    return case.saw(look, command, text)


def _first_looks(case: _Case) -> _Moves:
    chance = case.chance
    listed = looks.openings(case.app, chance)
    count = {"direct": 1, "thorough": chance.choice((3, 4)), "dead_ends": 2}[case.style]
    chosen = listed[:count]
    # Whom it hurts is part of a diagnosis.
    if case.style != "direct" and not any(look.aim == "users" for look in chosen):
        chosen[-1] = looks.users(case.app, _journey(case), chance)
    if not any(look.aim == "pods" for look in chosen) and (case.style != "direct" or chance.random() < 0.7):
        chosen.insert(chance.randint(1, len(chosen)), looks.pods(case.app, chance))
    for look in chosen:
        yield from _look(case, look, case.think(look.aim, about=look.about, journey=look.journey))
    if case.style == "thorough" and not case.failing:
        look = looks.users(case.app, _journey(case), chance)
        yield from _look(case, look, case.think("users", about=look.about, journey=look.journey))


def _journey(case: _Case) -> Any:
    """A journey that the faults hurt."""
    hurt = {name for instance in case.instances for name in instance.spec.journeys}
    return case.chance.choice([j for j in case.app.journeys if j.name in hurt] or list(case.app.journeys))


def _dead_end(case: _Case) -> _Moves:
    """Go after an innocent component, see that it is well or only suffers, and turn back."""
    suspect = _suspect(case)
    if not suspect:
        return
    aims = ("suspect red" if case.is_red(suspect) else "suspect", "suspect again")
    complains = False
    for look, aim in zip(looks.innocent(case.app, suspect, case.chance), aims, strict=True):
        noticed = yield from _look(case, look, case.think(aim, about=suspect))
        complains = complains or noticed.trouble
    case.remark = (
        f"{case.remark} {words.turning_back(complains, diagnosis.spoken(suspect), case.chance)}".strip()
    )


def _suspect(case: _Case) -> str:
    """An innocent component that somebody might suspect: one that is not ready, or one on the way to the culprit."""
    innocent = [
        c.name
        for c in case.app.components
        if c.workload in looks.ROLLED and c.kind != "load" and c.name not in case.struck
    ]
    red = [name for name in innocent if case.is_red(name)]
    ways = [name for struck in case.struck for name in looks.path(case.app, struck)]
    near = [name for name in innocent if name in ways]
    needs = {need.on for name in near for need in case.app.by_name[name].dependencies}
    beside = [name for name in innocent if name in needs]
    choices = red or [*near, *beside] or innocent
    return case.chance.choice(choices) if choices else ""


def _along_the_calls(case: _Case) -> _Moves:
    """Follow the requests from the way in towards the first culprit."""
    way = looks.path(case.app, case.struck[0])[:-1] if case.struck else ()
    between = list(zip(way[1:], way, strict=False))
    count = {"direct": 0, "thorough": 3, "dead_ends": 1}[case.style]
    for component, via in between[-count:] if count else ():
        for look in looks.passing(case.app, component, via, case.chance):
            if look.command not in case.used:
                yield from _look(case, look, case.think("passing", about=component, via=via))


def _close(case: _Case, instance: FaultInstance) -> _Moves:
    """Look at what a fault struck until its cause shows; who is thorough looks at everything."""
    wrong = instance.fault.resource
    planned = looks.closer(instance, case.chance)
    hurried = [look for look in planned if _hurries(case, look, planned, instance)]
    looked = any(looks.shows(Look(command, ""), wrong) for command in case.used)
    unhurried = case.style == "thorough" and len(case.instances) == 1
    asked = ""
    # What was passed over in a hurry is looked at after all where the cause has not shown.
    for look in [*(look for look in planned if look not in hurried), *hurried]:
        crowded = len(case.used) > case.budget - SPARED
        enough = looked and case.explained(instance)
        if look.command in case.used or (enough and (crowded or not unhurried or look in hurried)):
            continue
        aim = _aim(case, look, asked)
        asked = look.about
        yield from _look(case, look, case.think(aim, about=look.about, via=look.via))
        looked = looked or looks.shows(look, wrong)


def _hurries(case: _Case, look: Look, planned: Iterable[Look], instance: FaultInstance) -> bool:
    """Whether a look is passed over: who is in a hurry, or has many to see, goes straight to the object that is wrong."""
    wrong = instance.fault.resource
    better = not looks.shows(look, wrong) and any(looks.shows(other, wrong) for other in planned)
    if len(case.instances) > 2:
        return better
    return better and case.style == "direct" and look.aim == "close" and case.chance.random() < 0.3


def _aim(case: _Case, look: Look, asked: str) -> str:
    if look.aim == "object":
        return "object inside" if " exec " in look.command else "object"
    if look.about == asked:
        return "close again"
    if case.is_red(look.about):
        return "close red"
    return "close" if look.via else "close first"


# --- repairing and verifying ----------------------------------------------------------------------


def _repair(case: _Case) -> _Moves:
    chosen = [
        each.remedies[
            (case.chance.randrange(len(each.remedies)) if case.alternative is None else case.alternative)
            % len(each.remedies)
        ]
        for each in case.instances
        if each.remedies
    ]
    case.remark = ""
    for command in repair.merged(chosen):
        aim, deed = repair.deed(command)
        text = yield _Move(case.think(aim, deed=deed), "run", command)
        case.seen.append(text)


def _verify(case: _Case) -> _Moves:
    """Wait until the pods are well and users are served; after a while hand in whatever is there."""
    for attempt in range(SETTLING):
        look = looks.pods(case.app, case.chance)
        command = f"sleep {20 if attempt else case.chance.choice((10, 15, 20))}; {look.command}"
        text = yield _Move(case.think("settle again" if attempt else "settle"), "run", command)
        case.saw(None, look.command, text)
        if not case.red:
            break
    journey = _journey(case)
    for attempt in range(PATIENCE):
        look = looks.users(case.app, journey, case.chance)
        wait = "sleep 20; " if attempt else ""
        aim = "verify again" if attempt else "verify"
        text = yield _Move(case.think(aim, journey=journey.name), "run", f"{wait}{look.command}")
        if not case.saw(look, look.command, text).trouble:
            break
    if case.style == "thorough":
        for look in looks.load(case.app):
            # What it counted in a round that began before the repair says nothing about it.
            patient = replace(look, command=f"sleep 60; {look.command}")
            yield from _look(case, patient, case.think("verify load", about=look.about))
