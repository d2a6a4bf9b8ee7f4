"""The course of an expert's episode, move by move: first looks, dead ends, the way to the cause, repair, verification."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from sregym_env.cluster.app import Journey
from sregym_env.cluster.targets import ROLLED
from sregym_env.faults.fault import FaultInstance
from sregym_env.rollouts.policies.move import Move
from sregym_env.rollouts.policies.narrative import diagnosis, looks, repair, sights, words
from sregym_env.rollouts.policies.narrative.case import Case
from sregym_env.rollouts.policies.narrative.looks import Look
from sregym_env.tools.causes import Cause
from sregym_env.tools.taxonomy import NOTHING_WRONG

SETTLING = 12
"""How often it looks whether the pods are well before it hands in."""

PATIENCE = 4
"""How often it tries a user's request before it hands in."""

SPARED = 24
"""Commands that it keeps for the repair and for seeing whether that helped."""


Moves = Generator[Move, str, None]


def played(case: Case) -> Moves:
    """An episode from the first look to the last word."""
    yield from _first_looks(case)
    known = (yield from _dead_end(case)) if case.style == "dead_ends" else ""
    yield from _along_the_calls(case, known)
    for instance in case.instances:
        yield from _close(case, instance)
    if not case.instances:
        yield from _nothing(case)
        return
    if case.stage != "mitigation":
        if case.remark in ("", *words.NOT_YET):
            case.remark = f"What gives it away is {sights.quoted(case.proof)}." if case.proof else ""
        told = diagnosis.tell(case.instances, case.app, case.chance, case.found, case.failing)
        causes = diagnosis.answers(case.instances, told, case.found) if case.structured else ()
        yield Move(case.think("diagnosis"), "diagnosis", told.text, causes)
    if case.stage != "diagnosis":
        yield from _repair(case)
        yield from _verify(case)
        yield Move(case.think("mitigation unsure" if case.red else "mitigation"), "mitigation")


def _nothing(case: Case) -> Moves:
    """See that all pods are well and all users are served, say so, and leave everything as it is."""
    for look in (
        looks.pods(case.app, case.chance),
        *(looks.users(case.app, j, case.chance) for j in case.app.journeys),
    ):
        if look.command not in case.used:
            yield from _look(case, look, case.think(look.aim, about=look.about, journey=look.journey))
    if case.stage != "mitigation":
        said = case.chance.choice(words.NOTHING_WRONG)
        causes = (Cause((), NOTHING_WRONG.key, because=said),) if case.structured else ()
        yield Move(case.think("nothing"), "diagnosis", said, causes)
    if case.stage != "diagnosis":
        yield Move(case.think("unchanged"), "mitigation")


def _look(case: Case, look: Look, thought: str) -> Generator[Move, str, sights.Sight]:
    (command,) = looks.typed([look.command], case.flag_first, case.short)
    case.used.add(look.command)
    text = yield Move(thought, "run", command)
    return case.saw(look, command, text)


def _first_looks(case: Case) -> Moves:
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


def _journey(case: Case) -> Journey:
    """A journey that the faults hurt: one that was seen to fail, or one that was not tried yet."""
    hurt = {name for instance in case.instances for name in instance.spec.journeys}
    choices = [j for j in case.app.journeys if j.name in hurt] or list(case.app.journeys)
    failing = [j for j in choices if j.name in case.failing]
    return case.chance.choice(failing or [j for j in choices if j.name not in case.tried] or choices)


def _dead_end(case: Case) -> Generator[Move, str, str]:
    """Go after an innocent component, see that it is well or only suffers, and turn back; which one it was."""
    suspect = _suspect(case)
    if not suspect:
        return ""
    aims = ("suspect red" if case.is_red(suspect) else "suspect", "suspect again")
    complains = False
    for look, aim in zip(looks.innocent(case.app, suspect, case.chance), aims, strict=True):
        noticed = yield from _look(case, look, case.think(aim, about=suspect))
        complains = complains or noticed.trouble
    case.remark = (
        f"{case.remark} {words.turning_back(complains, diagnosis.spoken(suspect), case.chance)}".strip()
    )
    return suspect


def _suspect(case: Case) -> str:
    """An innocent component that somebody might suspect: one that is not ready, or one on the way to the culprit."""
    involved = {*case.struck, *(alias for each in case.instances for alias in each.spec.aliases)}
    innocent = [
        c.name
        for c in case.app.components
        if c.workload in ROLLED and c.kind != "load" and c.name not in involved
    ]
    red = [name for name in innocent if case.is_red(name)]
    ways = [name for struck in case.struck for name in looks.path(case.app, struck)]
    near = [name for name in innocent if name in ways]
    needs = {need.on for name in (*near, *case.struck) for need in case.app.by_name[name].dependencies}
    beside = [name for name in innocent if name in needs]
    choices = red or [*near, *beside] or innocent
    return case.chance.choice(choices) if choices else ""


def _along_the_calls(case: Case, known: str) -> Moves:
    """Follow the requests from the way in towards the first culprit, past what is ``known`` to be none."""
    way = looks.path(case.app, case.struck[0])[:-1] if case.struck else ()
    between = [(name, via) for name, via in zip(way[1:], way, strict=False) if name != known]
    count = {"direct": 0, "thorough": 3, "dead_ends": 1}[case.style]
    for component, via in between[-count:] if count else ():
        for look in looks.passing(case.app, component, via, case.chance):
            if look.command not in case.used:
                yield from _look(case, look, case.think("passing", about=component, via=via))


def _close(case: Case, instance: FaultInstance) -> Moves:
    """Look at what a fault struck until its cause shows; who is thorough looks at everything."""
    planned = looks.closer(instance, case.chance)
    hurried = [look for look in planned if _hurries(case, look, planned, instance)]
    looked = any(looks.shows(Look(command, ""), instance) for command in case.used)
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
        looked = looked or looks.shows(look, instance)


def _hurries(case: Case, look: Look, planned: Sequence[Look], instance: FaultInstance) -> bool:
    """Whether a look is passed over: who is in a hurry, or has many to see, goes straight to the object that is wrong."""
    better = not looks.shows(look, instance) and any(looks.shows(other, instance) for other in planned)
    if len(case.instances) > 2:
        return better
    return better and case.style == "direct" and look.aim == "close" and case.chance.random() < 0.3


def _aim(case: Case, look: Look, asked: str) -> str:
    if look.aim == "object":
        return (
            "object elsewhere"
            if look.about == looks.NEIGHBOUR
            else "object inside"
            if " exec " in look.command
            else "object"
        )
    if look.about == asked:
        return "close again"
    if case.is_red(look.about):
        return "close red"
    return "close" if look.via else "close first"


# --- repairing and verifying ----------------------------------------------------------------------


def _repair(case: Case) -> Moves:
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
        yield Move(case.think(aim, deed=deed), "run", command)


def _verify(case: Case) -> Moves:
    """Wait until the pods are well and users are served; after a while hand in whatever is there."""
    for attempt in range(SETTLING):
        look = looks.pods(case.app, case.chance)
        command = f"sleep {20 if attempt else case.chance.choice((10, 15, 20))}; {look.command}"
        text = yield Move(case.think("settle again" if attempt else "settle"), "run", command)
        case.saw(None, look.command, text)
        if not case.red:
            case.remark = case.chance.choice(words.WELL_AGAIN)
            break
    journey = _journey(case)
    for attempt in range(PATIENCE):
        look = looks.users(case.app, journey, case.chance)
        wait = "sleep 20; " if attempt else ""
        aim = "verify again" if attempt else "verify"
        text = yield Move(case.think(aim, journey=journey.name), "run", f"{wait}{look.command}")
        if not case.saw(look, look.command, text).trouble:
            break
    if case.style == "thorough":
        for look in looks.load(case.app):
            # What it counted in a round that began before the repair says nothing about it.
            patient = replace(look, command=f"sleep 60; {look.command}")
            yield from _look(case, patient, case.think("verify load", about=look.about))
