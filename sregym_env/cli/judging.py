"""``sregym judge-eval``: a judge measured with labelled diagnoses."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from rich.progress import Progress

from sregym_env.cli import terminal
from sregym_env.cli.running import assigned
from sregym_env.rewards.judge import Judge
from sregym_env.rewards.judges import judge
from sregym_env.rewards.labelled.agreement import (
    BY,
    FALSE_PASSES,
    KAPPA,
    Outcome,
    Rate,
    agreement,
    good_enough,
    measured,
    rates,
    told,
    used,
)
from sregym_env.rewards.labelled.collection import development, fingerprint, held_out
from sregym_env.rewards.labelled.diagnosis import PARTS

T = TypeVar("T")

_ANSWER_CHARS = 120
"""How much of an answer's evidence is shown."""


def chosen(model: str, base_url: str, api: str, options: Sequence[str] | None) -> Judge:
    """The judge that the options name: a model, or the deterministic one where none is named. Raises UsageError."""
    given = {"model": model, "base_url": base_url, "api": api}
    asked = {**{name: value for name, value in given.items() if value}, **assigned("--option", options)}
    return judge(asked or None)


def evaluate(
    judge: Judge, part: str, *, sample: int = 0, threads: int = 1, misses: int = 0, as_json: bool = False
) -> bool:
    """Measure it and print what came of it; whether it is good enough to be trained against. Raises UsageError."""
    terminal.one_of("--part", part, PARTS)
    diagnoses = thinned(development() if part == "dev" else held_out(), sample)
    with Progress(transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(judge.name, total=len(diagnoses))
        outcomes = measured(judge, diagnoses, threads=threads, watch=lambda: progress.advance(task))
    wrong = thinned([each for each in outcomes if each.misjudged], misses) if misses else ()
    if as_json:
        whole = {
            "part": part,
            "set": fingerprint(diagnoses),
            **told(judge, outcomes),
            "misses": [missed(o) for o in wrong],
        }
        print(json.dumps(whole, indent=2))
    else:
        _print(judge, part, outcomes, wrong)
    return good_enough(outcomes)


def thinned(items: Sequence[T], sample: int) -> tuple[T, ...]:
    """So many of them, spread evenly; all for 0."""
    if not 0 < sample < len(items):
        return tuple(items)
    return tuple(items[place * len(items) // sample] for place in range(sample))


def missed(outcome: Outcome) -> dict[str, Any]:
    """A diagnosis on which a judge is wrong, with its answers."""
    assert outcome.grade is not None
    each = outcome.diagnosis
    return {
        "id": each.id,
        "fault": each.fault,
        "target": each.target,
        "label": each.label,
        "category": each.category,
        "register": each.register,
        "text": each.text,
        "score": outcome.grade.score,
        "answers": {answer.id: answer.yes for answer in outcome.grade.answers},
    }


def _print(judge: Judge, part: str, outcomes: Sequence[Outcome], wrong: Sequence[Outcome]) -> None:
    out = terminal.console()
    asked = used(outcomes)
    rows: Mapping[str, str] = {
        "judge": f"{judge.name} {json.dumps(dict(judge.settings), sort_keys=True)}",
        "part": f"{part}, {len(outcomes)} diagnoses, set {fingerprint([each.diagnosis for each in outcomes])}",
        "not judged": str(sum(each.grade is None for each in outcomes)),
        "kappa": f"{agreement(outcomes):.3f} over right and wrong ones (at least {KAPPA} wanted)",
        "used": f"{asked.prompt_tokens} + {asked.completion_tokens} tokens in {asked.requests} requests",
    }
    for name, value in rows.items():
        out.print(f"{name:<11}{value}", markup=False)
    out.print()
    terminal.print_table([_row(rate, "label", rate.label) for rate in rates(outcomes)])
    for name in ("category", "register", "source"):
        out.print()
        terminal.print_table(
            [{"label": rate.label} | _row(rate, name, rate.kind) for rate in rates(outcomes, BY[name])]
        )
    for each in wrong:
        out.print(_shown(each), markup=False)
    for failed in [each for each in outcomes if each.grade is None][:3]:
        out.print(f"\nnot judged: {failed.diagnosis.id}: {failed.failure}", markup=False)


def _row(rate: Rate, name: str, kind: str) -> dict[str, Any]:
    limit = "" if rate.label == "right" else f"at most {100 * FALSE_PASSES:.0f} %"
    row = {name: kind, "judged": rate.judged, "passed": rate.passed, "pass_%": round(100 * rate.share, 1)}
    return row | ({"wanted": limit} if name == "label" else {})


def _shown(outcome: Outcome) -> str:
    assert outcome.grade is not None
    each, grade = outcome.diagnosis, outcome.grade
    verdict = "passed" if grade.passed else "failed"
    head = f"\n{each.id}: {each.label}, {each.register}, {verdict} with {grade.score}; {each.fault} on {each.target}"
    answers = [f"  {a.id} {'yes' if a.yes else 'no '}  {a.evidence[:_ANSWER_CHARS]}" for a in grade.answers]
    return "\n".join([head, *(f"  | {line}" for line in each.text.splitlines()), *answers])
