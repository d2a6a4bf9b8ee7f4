"""Policies that need no model: one that types plausible commands, and one that knows the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, Protocol

from sregym_env.envs.env import SREGymEnv


class Policy(Protocol):
    """Something that acts. A policy plays one episode at a time."""

    @property
    def name(self) -> str:
        """What to record about who acted."""
        ...

    @property
    def version(self) -> str:
        """Which version of it."""
        ...

    def begin(self, env: SREGymEnv, observation: str, seed: int) -> None:
        """An episode starts with this briefing."""
        ...

    def act(self, observation: str, info: dict[str, Any]) -> str:
        """The next action."""
        ...


_TEMPLATES = (
    "kubectl get pods -n {ns}",
    "kubectl get pods -n {ns} -o wide",
    "kubectl get all -n {ns}",
    "kubectl get svc,endpoints -n {ns}",
    "kubectl get events -n {ns} --sort-by=.lastTimestamp | tail -n 20",
    "kubectl get nodes",
    "kubectl get configmaps -n {ns}",
    "kubectl get pvc,pv -n {ns}",
    "kubectl get networkpolicies,resourcequotas -n {ns}",
    "kubectl describe deployment {workload} -n {ns}",
    "kubectl describe svc {workload} -n {ns}",
    "kubectl get deployment {workload} -n {ns} -o yaml",
    "kubectl logs deployment/{workload} -n {ns} --tail=30",
    "kubectl logs deployment/{workload} -n {ns} --previous --tail=30",
    "kubectl rollout status deployment/{workload} -n {ns} --timeout=30s",
    "kubectl rollout restart deployment/{workload} -n {ns}",
    "kubectl scale deployment/{workload} -n {ns} --replicas=1",
    "kubectl top pods -n {ns}",
    "kubectl exec -n {ns} deployment/{workload} -- env",
    "alerts",
    "sleep 15",
    "kubectl get pod -n {ns} -o jsonpath='{{range .items[*]}}{{.metadata.name}} {{.status.phase}}{{\"\\n\"}}{{end}}'",
    "kubectl get pods -A | grep -v Running",
)


class RandomPolicy:
    """Types commands that an engineer might type, in random order, then hands in a guess."""

    name = "random"
    version = "1"

    def __init__(self, steps: int = 20) -> None:
        self._steps = steps
        self._random = random.Random(0)
        self._left: list[str] = []

    def begin(self, env: SREGymEnv, observation: str, seed: int) -> None:
        """Draw the whole episode's actions from the seed and the application's names."""
        self._random = random.Random(seed)
        app = env.episode.staged.app
        # The templates speak of deployments in one namespace.
        names = [
            component.name
            for component in app.components
            if component.workload == "deployments.apps" and app.namespace_of(component.name) == app.namespace
        ]
        actions = [self._command(app.namespace, names) for _ in range(self._steps)]
        guess = self._random.choice(names)
        actions.append(f'submit diagnosis "The deployment {guess} is misconfigured."')
        actions.append("submit mitigation")
        self._left = actions

    def act(self, observation: str, info: dict[str, Any]) -> str:
        """The next command, whatever was seen."""
        return self._left.pop(0) if self._left else "submit mitigation"

    def _command(self, namespace: str, names: Sequence[str]) -> str:
        template = self._random.choice(_TEMPLATES)
        return template.format(ns=namespace, workload=self._random.choice(names))


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
        self._alternative = alternative
        self._left: list[str] = []
        self._checks = 0
        self._looking = ""
        self._verifying = False

    def begin(self, env: SREGymEnv, observation: str, seed: int) -> None:
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

    def act(self, observation: str, info: dict[str, Any]) -> str:
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
