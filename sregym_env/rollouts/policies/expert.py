"""A policy that knows the answer and plays it as an engineer would."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.envs.env import SREGymEnv


class ExpertPolicy:
    """Plays the declared solution as an engineer would: look around, say what is wrong, repair, verify.

    It is privileged: it reads the problem's truth from the environment. ``alternative`` picks one of the
    declared repairs.
    """

    name = "expert"
    version = "1"

    VERIFICATIONS = 12
    """How often it looks whether the pods are well before it hands in."""

    def __init__(self, alternative: int = 0) -> None:
        self.settings: Mapping[str, Any] = {"alternative": alternative}
        self._alternative = alternative
        self._left: list[str] = []
        self._checks = 0
        self._looking = ""
        self._verifying = False

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Lay out the demonstration."""
        staged = env.episode.staged
        self._looking = "; ".join(f"kubectl get pods -n {namespace}" for namespace in staged.app.namespaces)
        self._checks = 0
        self._verifying = False
        actions = ["alerts"]
        for solution in staged.solutions:
            actions.extend(solution.investigation)
        actions = list(dict.fromkeys(actions))
        actions.append(_diagnosis([solution.diagnosis for solution in staged.solutions]))
        for solution in staged.solutions:
            remedies = solution.remedies
            if remedies:
                actions.extend(remedies[self._alternative % len(remedies)])
        self._left = actions

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """The next action of the demonstration; after the repair, wait until the pods are well."""
        if self._left:
            return self._left.pop(0)
        if self._verifying and (_all_ready(observation) or self._checks >= self.VERIFICATIONS):
            return "submit mitigation"
        self._verifying = True
        self._checks += 1
        return f"sleep 20; {self._looking}"


def _diagnosis(causes: Sequence[str]) -> str:
    text = "\n".join(causes)
    return f"submit diagnosis <<'EOF'\n{text}\nEOF"


_READY = re.compile(r"\s(\d+)/(\d+)\s+(\S+)")


def _all_ready(listing: str) -> bool:
    """Whether a ``kubectl get pods`` listing shows every pod ready or completed."""
    rows = _READY.findall(listing)
    return bool(rows) and all(
        ready == wanted or status == "Completed" for ready, wanted, status in rows if status != "Terminating"
    )
