"""How an episode came out, for the person who played it: both graders' answers, what it earned, what was wrong."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Question, checklist

WIDTH = 100
"""Characters in a line."""

_DIMENSIONS = {"D1": "where it lies", "D2": "what went wrong", "D3": "how far it reaches"}
"""The checklist's dimensions in words."""

_TERMS = {
    "mitigation": "repair",
    "diagnosis": "diagnosis",
    "collateral": "collateral",
    "shaping": "users' health on the way",
    "command_cost": "commands",
    "time_cost": "time",
    "token_cost": "tokens",
}


def report(env: SREGymEnv, info: Mapping[str, Any]) -> str:
    """What the graders answered and why, what that earned, and how long it took."""
    state = env.state()
    parts = [_diagnosis(state["grade"], info), _repair(state["verdict"]), _effort(env, info)]
    return "\n\n".join("\n".join(part) for part in parts)


def truth(env: SREGymEnv) -> str:
    """What was really wrong, whom it hurt, and one repair that works."""
    staged = env.episode.staged
    lines = ["What was really wrong"]
    for spec, solution in zip(staged.specs, staged.solutions, strict=True):
        lines += _wrapped(spec.cause, "  ")
        lines += _wrapped(_hurt(spec), "  ")
        lines.append("  A repair that works:")
        lines += [f"    $ {_first_line(command)}" for command in solution.remedies[0]]
    if not staged.specs:
        lines.append("  Nothing: the system is healthy.")
    return "\n".join(lines)


def _diagnosis(grade: Mapping[str, Any] | None, info: Mapping[str, Any]) -> Iterator[str]:
    if grade is None:
        yield "Diagnosis: none was handed in" if info["TTD"] < 0 else "Diagnosis: it could not be graded"
        return
    listed = checklist()
    passed = "right" if grade["passed"] else "not right"
    yield f"Diagnosis: {passed}, {grade['score']:.2f} of 1 ({listed.threshold:.2f} passes)"
    answers = {answer["id"]: answer for answer in grade["answers"]}
    for dimension, questions in groupby(listed.questions, key=_dimension):
        yield f"  {_DIMENSIONS.get(dimension, dimension)}"
        for question in questions:
            answer = answers[question.id]
            yield from _wrapped(question.text, "      ", f"    {answer['answer']:3}  ", "         ")
            if answer["evidence"]:
                yield from _wrapped(answer["evidence"], "         ", "         it rests on: ")


def _dimension(question: Question) -> str:
    return question.dimension


def _repair(verdict: Mapping[str, Any] | None) -> Iterator[str]:
    if verdict is None:
        yield "Repair: none was handed in"
        return
    yield f"Repair: {'done' if verdict['passed'] else 'not done'}"
    for check in verdict["checks"]:
        answer = "yes" if check["passed"] else "no"
        name = check["name"].replace("_", " ")
        yield from _wrapped(f"{name}: {check['observed']}", "         ", f"    {answer:3}  ")
        if check["expected"]:
            yield from _wrapped(check["expected"], "         ", "         wanted: ")


def _effort(env: SREGymEnv, info: Mapping[str, Any]) -> Iterator[str]:
    terms = env.terms_total
    total = sum(terms.values())
    told = [
        f"{value:+.2f} {_TERMS.get(name, name)}"
        for name, value in terms.items()
        if value or name in ("mitigation", "diagnosis")
    ]
    yield f"Earned: {total:.2f} ({', '.join(told)})"
    played = env.config()
    asked = played["stage"] == "e2e" and played["reward"]["diagnosis"] > 0
    kept = played["reward"]["unexplained"]
    if terms["mitigation"] and kept < 1 and asked and not info["Diagnosis"]:
        yield f"A repair without a diagnosis that passes earns {kept:.0%} of its worth."
    times = [f"{what} after {info[key]:.0f} s" for what, key in _TIMES if info[key] >= 0]
    count = f"{info['commands']} commands in {info['step']} actions"
    yield f"Took: {', '.join([*times, count])}"


_TIMES = (("diagnosis", "TTD"), ("repair", "TTM"))


def _hurt(spec: FaultSpec) -> str:
    hurt = ", ".join((*spec.components, *spec.affected))
    return f"It lies in {spec.resource_kind} {spec.resource_name} and hurts {hurt}; journeys: {', '.join(spec.journeys)}."


def _first_line(command: str) -> str:
    line, more, _ = command.partition("\n")
    return f"{line} ..." if more else line


def _wrapped(text: str, indent: str, first: str = "", rest: str = "") -> list[str]:
    """Text in lines; ``first`` and ``rest`` begin its lines where they differ from ``indent``."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first or indent, subsequent_indent=rest or indent, break_on_hyphens=False
    )
