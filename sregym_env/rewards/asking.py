"""What a model is asked in order to grade a diagnosis: the prompts, with the truth and the diagnosis put in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from string import Template

from sregym_env.cluster.app import App
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.messages import Message
from sregym_env.rewards.answers import schema
from sregym_env.rewards.checklist import checklist

MAX_DIAGNOSIS_CHARS = 12_000
"""What is shown of a diagnosis: a page or two say every cause, and a model must not be drowned."""

_PROMPTS = ("system", "case", "again", "nothing")


@lru_cache(maxsize=8)
def prompt(name: str) -> str:
    """The text of a prompt that ships with the package."""
    return files("sregym_env.rewards.prompts").joinpath(f"{name}.md").read_text("utf-8")


@lru_cache(maxsize=1)
def prompt_sha() -> str:
    """A hash of everything that is said to a model but the case: the prompts, the questions, the schema."""
    questions = [question.text for question in checklist().questions]
    said = json.dumps([*map(prompt, _PROMPTS), questions, schema(), MAX_DIAGNOSIS_CHARS])
    return sha256(said.encode()).hexdigest()[:16]


def shown(diagnosis: str) -> str:
    """As much of a diagnosis as a model is shown."""
    return diagnosis[:MAX_DIAGNOSIS_CHARS]


def case(diagnosis: str, specs: Sequence[FaultSpec], app: App, vote: int = 0) -> tuple[Message, ...]:
    """The conversation that asks for one vote on a cleaned diagnosis. Votes differ in the order of the questions."""
    text = shown(diagnosis)
    left_out = len(diagnosis) - len(text)
    note = f"\n[{left_out:,} more characters are not shown]" if left_out else ""
    filled = Template(prompt("case")).substitute(
        truth=truth(specs),
        components=", ".join(component.name for component in app.components),
        questions="\n".join(_questions(vote)),
        # Nobody can write a text that holds the hash of itself.
        code=sha256(diagnosis.encode("utf-8", "replace")).hexdigest()[:20],
        diagnosis=text + note,
    )
    return (
        Message(role="system", content=prompt("system")),
        Message(role="user", content=filled),
    )


def again(problem: str) -> Message:
    """What is said to a model whose answer is none."""
    return Message(role="user", content=Template(prompt("again")).substitute(problem=problem))


def truth(specs: Sequence[FaultSpec]) -> str:
    """The faults as a judge is told them, or that there are none, and what the questions mean then."""
    if not specs:
        return prompt("nothing").strip()
    return "\n\n".join(_fault(number, spec) for number, spec in enumerate(specs, 1))


def _fault(number: int, spec: FaultSpec) -> str:
    rows = {
        "at fault": ", ".join(spec.components),
        "also called": ", ".join(spec.aliases),
        "namespace": spec.namespace,
        "layer": spec.layer,
        "mechanism": f"{spec.mechanism.replace('_', ' ')}: {MECHANISMS[spec.mechanism].title}",
        "object": f"{spec.resource_kind} {spec.resource_name}",
        "field": spec.field,
        "value now": spec.wrong or "(absent)",
        "healthy value": spec.right or "(absent)",
        "suffer from it": ", ".join(spec.affected) or "(nobody else)",
        "cause": spec.cause,
    }
    lines = [f"- {name}: {value}" for name, value in rows.items() if value]
    return "\n".join([f"## Fault {number}", "", *lines])


def _questions(vote: int) -> list[str]:
    """The questions, beginning with another one at every vote: models favour places in a list."""
    lines = [f"- {question.id}: {question.text}" for question in checklist().questions]
    start = vote * 4 % len(lines)
    return [*lines[start:], *lines[:start]]
