"""Models that answer the checklist by a script, without HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from sregym_env.llm.messages import Message
from sregym_env.llm.model import FinishReason, ModelError, Reply, Request, Usage
from sregym_env.rewards.checklist import checklist

IDS = tuple(question.id for question in checklist().questions)
USED = Usage(prompt_tokens=1000, completion_tokens=100, requests=1)


def answer(yes: Iterable[str] = IDS, evidence: str = "", quotes: Mapping[str, str] | None = None) -> str:
    """A whole answer: these questions yes with one quotation, the others no."""
    chosen, given = set(yes), quotes or {}
    items = [
        {
            "id": identifier,
            "evidence": given.get(identifier, evidence if identifier in chosen else "not said"),
            "answer": "yes" if identifier in chosen else "no",
        }
        for identifier in IDS
    ]
    return json.dumps({"items": items})


def diagnosis_in(request: Request) -> str:
    """The diagnosis that a request quotes."""
    asked = request.messages[1].content
    found = re.search(r"^BEGIN DIAGNOSIS (\w+)\n(.*)\nEND DIAGNOSIS \1$", asked, re.DOTALL | re.MULTILINE)
    assert found is not None, asked
    return found[2]


Say = Callable[[Request], str | Reply | ModelError]


@dataclass
class Scripted:
    """A model that says what a function says, or one thing after another and the last one ever after."""

    says: Say | tuple[str | Reply | ModelError, ...]
    name: str = "scripted"
    heard: list[Request] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock)

    def complete(self, request: Request) -> Reply:
        with self._lock:
            self.heard.append(request)
            number = len(self.heard) - 1
        said = self.says(request) if callable(self.says) else self.says[min(number, len(self.says) - 1)]
        if isinstance(said, ModelError):
            raise said
        return reply(said) if isinstance(said, str) else said


def reply(text: str, finish: FinishReason = "stop") -> Reply:
    """A reply."""
    return Reply(Message(role="assistant", content=text), USED, finish, "scripted-2026")


def believing(request: Request) -> str:
    """The worst judge: says yes to everything and quotes the beginning of the text."""
    return answer(evidence=" ".join(diagnosis_in(request).split()[:6]))
