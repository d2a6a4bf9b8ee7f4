"""Reading a diagnosis: which clauses claim a cause, which describe effects, and which clear someone.

This is shallow, deterministic reading by connectives ("because", "causing", "as a result", "is healthy"),
enough to tell the blamed from the victims in the way incident reports are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from sregym_env.rewards.names import Mention, Names, unique

MAX_CHARS = 8_000
"""A diagnosis is read up to here."""

Role = Literal["cause", "plain", "effect", "cleared"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s*|\|\|")
_TURN = re.compile(
    r",? (?:but|while|whereas|although|though|however),? |\s+-\s+|\s—\s| \((?=[^)]{12,})|\bnot because\b"
)

_CAUSE = re.compile(
    r"\b(?P<back>because(?: of)?|due to|caused by|as a result of|owing to|stem(?:s|ming)? from|result(?:s|ing)? from"
    r"|comes? from|traced (?:back )?to|attributable to|triggered by)\b"
    r"|\b(?P<fresh>(?:the )?(?:actual |true |real |underlying )?root[ -]cause(?: of [^:,.]{0,60}?)?(?: is| was|:|=)"
    r"|(?:the )?(?:culprit|origin|faulty component|fault|problem|issue|diagnosis)(?: is| lies| was|:|=)"
    r"|(?=component=))"
)
_EFFECT = re.compile(
    r"(?:,|\band\b)? ?\b(?:which |that |thereby |thus |therefore |hence |this |it )*(?:now )?"
    r"(?:causes?|causing|caused(?! by)|leads? to|leading to|led to|results? in|resulting in|resulted in"
    r"|mak(?:es|ing)|breaks|breaking|prevents|preventing|affects|affecting|impacts|impacting"
    r"|propagat\w+ to|cascad\w+ (?:to|into))\b"
    r"|\b(?:as a (?:result|consequence)|consequently|downstream|the victims?|"
    r"(?:the |visible |observed )*symptoms?(?: is| are|:)|(?:user )?impact(?: is|:)|"
    r"affected (?:components?|services?)(?: are| is|:)|meaning)\b|, so "
)
_CLEARED = re.compile(
    r"\b(?:is|are|was|were|looks?|seems?|appears?|remains?) (?:also |all |both |perfectly |otherwise |itself )*"
    r"(?:healthy|fine|ok|okay|normal|unaffected|innocent|not (?:the |a |an |at )*"
    r"(?:root |actual )*(?:cause|culprit|problem|issue|fault|faulty|origin|to blame|responsible|involved|broken))"
    r"|\bunaffected\b|\bruled? out\b|\bnothing (?:is )?wrong\b|\bno (?:issues?|problems?|faults?|errors?) (?:with|in|on)\b"
    r"|\b(?:not|n't) (?:caused by|the fault of|due to)\b|\b(?:only|merely|just) (?:a |the )?(?:victims?|symptoms?)\b"
    r"|\bvictims? (?:of|only)\b"
)
_EXCEPT = re.compile(
    r"(?:,| )(?:rather than|instead of blaming|and not|not (?:in |with )?(?=the |in ))[^,.]*"
)


_DENIED = re.compile(
    r"\b(?:it is|it's|it was) (?:not (?:true|the case|so)|false|untrue|wrong|unlikely) that\b.*?(?:[.!?](?=\s|$)|\n|$)"
    r"|\bthere is no (?:evidence|sign|indication) (?:that|of)\b.*?(?:[.!?](?=\s|$)|\n|$)"
)
"""Sentences that deny what they say."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of the diagnosis and the part it plays."""

    text: str
    role: Role
    mentions: tuple[Mention, ...]

    @property
    def components(self) -> list[str]:
        """Distinct components named here."""
        return unique(mention.component for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class Reading:
    """A diagnosis as understood."""

    text: str
    clauses: tuple[Clause, ...]

    @property
    def claims(self) -> tuple[Clause, ...]:
        """The clauses that say what is wrong: explicit causes, or plain statements where there are none."""
        causes = tuple(clause for clause in self.clauses if clause.role == "cause")
        if any(clause.mentions for clause in causes):
            return causes
        plain = tuple(clause for clause in self.clauses if clause.role == "plain")
        if any(clause.mentions for clause in plain):
            return causes + plain
        return causes + plain + self._around_causes()

    def _around_causes(self) -> tuple[Clause, ...]:
        """Effects told before a cause that names nobody ("geo fails because its user was dropped")."""
        clauses = self.clauses
        return tuple(
            clause
            for clause, following in pairwise(clauses)
            if clause.role == "effect" and following.role == "cause"
        )

    @property
    def statements(self) -> str:
        """All that is asserted of the cause: claims and plain statements, without effects and the cleared."""
        return " . ".join(clause.text for clause in self.clauses if clause.role in ("cause", "plain"))

    @property
    def effects(self) -> list[str]:
        """Components named as victims."""
        return unique(name for c in self.clauses if c.role == "effect" for name in c.components)


def read(text: str, names: Names) -> Reading:
    """Understand a diagnosis in prose, in ``[fault_spec]`` form or as a JSON object."""
    prose = _from_json(text.strip()[:MAX_CHARS]) or text.strip()[:MAX_CHARS]
    normal = _DENIED.sub(" ", names.normalise(prose))
    clauses: list[Clause] = []
    for sentence in _SENTENCE.split(normal):
        stripped = re.sub(r"\s+", " ", sentence).strip(" \t-*#>")
        if stripped:
            clauses.extend(_clauses(stripped, names))
    return Reading(normal, tuple(clauses))


def _clauses(sentence: str, names: Names) -> list[Clause]:
    found: list[Clause] = []
    for part in _TURN.split(sentence):
        if part and part.strip():
            found.extend(_segments(part.strip(), names))
    return found


def _segments(part: str, names: Names) -> list[Clause]:
    part = _EXCEPT.sub("", part)
    if _CLEARED.search(part):
        return [_clause(part, "cleared", names)]
    marks = sorted(
        [(m.start(), m.end(), "back" if m["back"] else "fresh") for m in _CAUSE.finditer(part)]
        + [(m.start(), m.end(), "effect") for m in _EFFECT.finditer(part)]
    )
    segments: list[Clause] = []
    role: Role = "plain"
    position = 0
    for start, end, mark in marks:
        # In "the root cause is", "cause" alone would be the mark of an effect.
        if start < position:
            continue
        before = part[position:start].strip(" ,:")
        if before:
            segments.append(_clause(before, _role_before(role, mark), names))
        role = "effect" if mark == "effect" else "cause"
        position = end
    rest = part[position:].strip(" ,:")
    if rest:
        segments.append(_clause(rest, role, names))
    return segments


def _role_before(role: Role, mark: str) -> Role:
    # "A because B" makes A an effect, "A causes B" a cause, and "A, the fault is B" says nothing of A.
    if role != "plain" or mark == "fresh":
        return role
    return "effect" if mark == "back" else "cause"


def _clause(text: str, role: Role, names: Names) -> Clause:
    return Clause(text, role, tuple(names.find(text)))


# --- structured diagnoses -------------------------------------------------------------------------

_PLACE_KEYS = ("component", "location", "culprit", "origin", "where", "service", "resource")
_EFFECT_KEYS = ("affected", "impact", "victim", "symptom", "downstream", "scope", "consequence", "evidence")


def _from_json(text: str) -> str:
    """A JSON diagnosis told as prose; empty if it is not one."""
    if not text.startswith("{"):
        return ""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    lines = [_sentence(str(key).lower(), value) for key, value in document.items()]
    # Keys come in any order, but who is blamed first is taken for the origin.
    return "\n".join(
        sorted((line for line in lines if line), key=lambda line: not line.startswith("component="))
    )


def _sentence(key: str, value: Any) -> str:
    words = _words(value)
    if not words:
        return ""
    if any(word in key for word in _EFFECT_KEYS):
        return f"as a result {words}"
    if any(word in key for word in _PLACE_KEYS):
        return f"component={words}"
    if "cause" in key:
        return f"root cause: {words}"
    return f"{key.replace('_', ' ')} {words}"


def _words(value: Any, depth: int = 0) -> str:
    if depth > 4:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(item, depth + 1)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_words(item, depth + 1) for item in value)
    return "" if value is None else str(value)
