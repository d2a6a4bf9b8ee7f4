"""What a model answered, held to what was asked: every question once, yes or no, and every yes with a quotation."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.llm import jsontext
from sregym_env.rewards.checklist import Answer, checklist

EVIDENCE_CHARS = 300
"""Longer evidence is cut when it is kept."""

LEAST_QUOTED = 3
"""Letters and digits that a quotation must have: less is found in every text."""


class NoAnswer(ValueError):
    """A reply that does not answer; its text says to the model why."""


def schema() -> dict[str, Any]:
    """The JSON Schema of an answer. The evidence comes first, so that a model looks before it decides."""
    identifiers = [question.id for question in checklist().questions]
    item = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "enum": identifiers},
            "evidence": {"type": "string"},
            "answer": {"type": "string", "enum": ["yes", "no"]},
        },
        "required": ["id", "evidence", "answer"],
        "additionalProperties": False,
    }
    return {
        "title": "checklist",
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
        "additionalProperties": False,
    }


def answers(text: str) -> tuple[Answer, ...]:
    """The answers in a reply, in the order of the checklist. Raises :class:`NoAnswer`."""
    items = _items(text)
    if not isinstance(items, list):
        raise NoAnswer('there is no list "items"')
    given = [_answer(item) for item in items]
    wanted = [question.id for question in checklist().questions]
    counts = Counter(answer.id for answer in given)
    faults = [
        *(f"{identifier} is missing" for identifier in wanted if not counts[identifier]),
        *(f"{identifier} is answered {count} times" for identifier, count in counts.items() if count > 1),
        *(f"{identifier[:40]!r} is no question" for identifier in counts if identifier not in wanted),
    ]
    if faults:
        raise NoAnswer("; ".join(faults))
    return tuple(sorted(given, key=lambda answer: wanted.index(answer.id)))


def unsupported(given: Sequence[Answer], diagnosis: str) -> tuple[str, ...]:
    """The questions that are answered yes with a quotation that does not stand in the diagnosis."""
    return tuple(answer.id for answer in given if answer.yes and not quoted(answer.evidence, diagnosis))


def quoted(evidence: str, diagnosis: str) -> bool:
    """Whether evidence stands in the diagnosis, but for case, white space, typography and omissions marked ``...``."""
    whole, sought = _plain(diagnosis), _plain(evidence)
    if _substantial(sought) and sought in whole:
        return True
    # An order of pieces: words picked from anywhere would quote anything.
    pieces = [piece.strip(" .,;:") for piece in re.split(r"\[?\.{3,}\]?", sought)]
    pieces = [piece for piece in pieces if piece]
    place = 0
    for piece in pieces:
        found = whole.find(piece, place)
        if found < 0 or not _substantial(piece):
            return False
        place = found + len(piece)
    return bool(pieces)


def _plain(text: str) -> str:
    """A text without what quoting changes: quotation and emphasis marks, escapes, case, white space."""
    unescaped = re.sub(r"\\[nrt]", " ", text)
    marked = re.sub(r"[\"'`*\\\u2018\u2019\u201c\u201d\u00ab\u00bb]", "", unescaped)
    folded = unicodedata.normalize("NFKC", marked).casefold()
    hyphened = re.sub(r"[\u2010-\u2015\u2212]", "-", folded)
    return re.sub(r"\s+", " ", hyphened).strip(" .,;:")


def _substantial(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= LEAST_QUOTED


def _answer(item: Any) -> Answer:
    if not isinstance(item, Mapping):
        raise NoAnswer('every one of "items" must be an object')
    identifier, evidence, answer = (item.get(name) for name in ("id", "evidence", "answer"))
    if not isinstance(identifier, str) or not isinstance(evidence, str) or not isinstance(answer, str):
        raise NoAnswer('every one of "items" must have the strings "id", "evidence" and "answer"')
    word = answer.strip().lower()
    if word not in ("yes", "no"):
        raise NoAnswer(f"{identifier[:40]} is answered {answer[:40]!r}, which is neither yes nor no")
    return Answer(identifier, word == "yes", evidence.encode("utf-8", "replace").decode()[:EVIDENCE_CHARS])


def _items(text: str) -> Any:
    """The list in a reply; a model that cannot be held to a schema may put words or a fence around its JSON."""
    found = jsontext.found(text)
    if found is None:
        raise NoAnswer("there is no JSON object")
    # Read again, with an eye on keys that stand twice: of two answers neither counts.
    document = json.loads(found, strict=False, object_pairs_hook=_once)
    return document.get("items") if isinstance(document, dict) else document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise NoAnswer("a key stands twice in one object")
    return document
