"""One move of a built-in policy: a command line or a submission, with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Call, call
from sregym_env.rollouts.policies.policy import Turn, turn
from sregym_env.tools.causes import Cause, flags

CALLS = ("tools", "text")
"""Forms in which a move can be made: a thought with a tool call, or a bare command line."""


@dataclass(frozen=True, slots=True)
class Move:
    """One thing to do, and why."""

    thought: str
    does: Literal["run", "diagnosis", "mitigation"]
    text: str = ""
    causes: tuple[Cause, ...] = ()
    """A diagnosis in closed answers; where there are none it is the text."""

    @property
    def line(self) -> str:
        """As a command line."""
        if self.does == "run":
            return self.text
        if self.does == "mitigation":
            return "submit mitigation"
        if self.causes:
            return f"submit diagnosis {flags(self.causes)}"
        return f"submit diagnosis <<'EOF'\n{self.text}\nEOF"

    def call(self, identifier: str, dedicated: bool) -> Call:
        """As a tool call; ``dedicated`` prefers the tools that do one thing."""
        if self.does == "mitigation":
            return call(identifier, "submit_mitigation")
        if self.does == "diagnosis" and self.causes:
            causes = [_filled(cause) for cause in self.causes]
            return call(identifier, "submit_structured_diagnosis", causes=causes)
        if self.does == "diagnosis":
            return call(identifier, "submit_diagnosis", text=self.text)
        if dedicated and self.text == "alerts":
            return call(identifier, "alerts")
        if dedicated and self.text.startswith("kubectl ") and not set(self.text) & set("|;&<"):
            return call(identifier, "kubectl", command=self.text.removeprefix("kubectl "))
        return call(identifier, "shell", command=self.text)

    def made(self, calls: str, number: int, dedicated: bool = False) -> str | Turn:
        """As what a policy returns, in one of the forms; ``number`` counts the turns of the episode."""
        if calls == "text":
            return self.line
        return turn(self.thought, (self.call(f"call-{number}", dedicated),))


def _filled(cause: Cause) -> dict[str, Any]:
    """A cause by its fields, without those that are left out."""
    return {name: value for name, value in cause.to_dict().items() if value}


def form(calls: str) -> str:
    """A form of moves as given. Raises UsageError for one there is not."""
    if calls not in CALLS:
        raise UsageError(f"no form of calls {calls!r}; there are {', '.join(CALLS)}")
    return calls
