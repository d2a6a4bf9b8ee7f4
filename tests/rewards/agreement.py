"""How far a judge agrees with people: ``python -m tests.rewards.agreement [--base-url URL --model NAME] [options]``.

Without a model it measures the deterministic judge. Prints Cohen's kappa, and per class how many pass that should not,
or do not that should. Exits with 1 where a judge is not good enough to be trained against.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from sregym_env.apps import app
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.model import Usage
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import Judge, JudgeError
from sregym_env.rewards.judges import judge

FIXTURE = Path(__file__).parent / "fixtures" / "diagnoses.yaml"
APP = app("hotel-reservation")

RIGHT = ("good", "paraphrase")
WRONG = ("near_miss", "degenerate", "injection")

KAPPA = 0.8
"""Agreement below which a judge measures something else."""

FALSE_POSITIVES = 0.02
"""Share of the wrong diagnoses that may pass: what passes wrongly is what a policy learns."""


@dataclass(frozen=True, slots=True)
class Case:
    """A diagnosis and what it is."""

    kind: str
    specs: tuple[FaultSpec, ...]
    text: str

    @property
    def right(self) -> bool:
        """Whether it should pass."""
        return self.kind in RIGHT


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case and what a judge made of it: a grade, or why there is none."""

    case: Case
    grade: Grade | None
    failure: str = ""
    usage: Usage | None = None


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """The labelled set."""
    document = yaml.safe_load(FIXTURE.read_text("utf-8"))
    specs = {name: FaultSpec(**fields) for name, fields in document["faults"].items()}
    return tuple(
        Case(kind, tuple(specs[name] for name in entry["of"]), entry["text"])
        for kind in (*RIGHT, *WRONG)
        for entry in document[kind]
    )


def measured(judge: Judge, threads: int = 1) -> tuple[Outcome, ...]:
    """What a judge makes of every case."""
    with ThreadPoolExecutor(threads) as pool:
        return tuple(pool.map(lambda case: _outcome(judge, case), cases()))


def _outcome(judge: Judge, case: Case) -> Outcome:
    try:
        grade = judge.grade(case.text, case.specs, APP)
    except JudgeError as error:
        return Outcome(case, None, str(error), error.usage)
    return Outcome(case, grade, usage=grade.usage)


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of pairs of verdicts: 1 for agreement in everything, 0 for as much as chance gives."""
    if not pairs:
        return 0.0
    agreed = sum(left == right for left, right in pairs) / len(pairs)
    left, right = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    chance = left * right + (1 - left) * (1 - right)
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def agreement(outcomes: Sequence[Outcome]) -> float:
    """Kappa between the labels and a judge, over what it has judged."""
    return kappa([(each.case.right, each.grade.passed) for each in outcomes if each.grade is not None])


def mistakes(outcomes: Sequence[Outcome], kind: str) -> list[Outcome]:
    """The cases of a class on which a judge is wrong."""
    return [o for o in outcomes if o.case.kind == kind and o.grade and o.grade.passed is not o.case.right]


def false_positives(outcomes: Sequence[Outcome]) -> float:
    """Share of the wrong diagnoses that pass."""
    wrong = [each for each in outcomes if each.grade is not None and not each.case.right]
    return sum(each.grade.passed for each in wrong if each.grade) / max(1, len(wrong))


def good_enough(outcomes: Sequence[Outcome]) -> bool:
    """Whether a judge can be trained against."""
    judged = all(each.grade is not None for each in outcomes)
    return judged and agreement(outcomes) >= KAPPA and false_positives(outcomes) <= FALSE_POSITIVES


def report(judge: Judge, outcomes: Sequence[Outcome], *, details: bool = False) -> str:
    """All that in lines of text."""
    failed = [each for each in outcomes if each.grade is None]
    used = sum((each.usage for each in outcomes if each.usage is not None), Usage())
    lines = [
        f"judge      {judge.name} {json.dumps(dict(judge.settings), sort_keys=True)}",
        f"cases      {len(outcomes)}, not judged {len(failed)}",
        f"kappa      {agreement(outcomes):.3f} (at least {KAPPA} wanted)",
        f"wrong pass {100 * false_positives(outcomes):.1f} % (at most {100 * FALSE_POSITIVES:.0f} % wanted)",
        f"used       {used.prompt_tokens} + {used.completion_tokens} tokens in {used.requests} requests",
        "",
        f"{'class':<12}{'cases':>6}  mistakes",
    ]
    for kind in (*RIGHT, *WRONG):
        of_kind = [each for each in outcomes if each.case.kind == kind]
        word = "fail" if kind in RIGHT else "pass"
        lines.append(f"{kind:<12}{len(of_kind):>6}  {len(mistakes(outcomes, kind))} {word}")
    if details:
        lines += [_told(each) for kind in (*RIGHT, *WRONG) for each in mistakes(outcomes, kind)]
        lines += [f"\nnot judged: {each.case.text[:80]!r}\n  {each.failure}" for each in failed]
    return "\n".join(lines)


def _told(outcome: Outcome) -> str:
    assert outcome.grade is not None
    answers = [f"  {a.id} {'yes' if a.yes else 'no '}  {a.evidence[:120]}" for a in outcome.grade.answers]
    head = f"\n{outcome.case.kind}, score {outcome.grade.score}: {' '.join(outcome.case.text.split())}"
    return "\n".join([head, *answers])


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.rewards.agreement", description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument("--api", default="chat", choices=["chat", "responses", "anthropic"])
    parser.add_argument("--votes", type=int, default=1)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--cache", help="folder for grades, so that a second run asks nothing")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--details", action="store_true", help="print every mistake with the nine answers")
    given = parser.parse_args(arguments)
    measured_judge = judge(None if given.model is None else _options(given))
    outcomes = measured(measured_judge, given.threads)
    say(report(measured_judge, outcomes, details=given.details))
    return 0 if good_enough(outcomes) else 1


def _options(given: argparse.Namespace) -> dict[str, Any]:
    sampling = {} if given.temperature is None else {"temperature": given.temperature}
    return {
        "model": given.model,
        "base_url": given.base_url,
        "api": given.api,
        "votes": given.votes,
        "cache": given.cache,
        "sampling": sampling,
    }


if __name__ == "__main__":
    raise SystemExit(main())
