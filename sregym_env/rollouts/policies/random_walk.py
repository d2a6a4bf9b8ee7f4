"""A policy that types plausible commands."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.targets import ROLLED
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.faults.commands import SHORT
from sregym_env.rollouts.policies.move import Move, form
from sregym_env.rollouts.policies.policy import Turn

_ANYWHERE = (
    "kubectl get pods -n {ns}",
    "kubectl get pods -n {ns} -o wide",
    "kubectl get all -n {ns}",
    "kubectl get svc,endpoints -n {ns}",
    "kubectl get events -n {ns} --sort-by=.lastTimestamp | tail -n 20",
    "kubectl get nodes",
    "kubectl get configmaps -n {ns}",
    "kubectl get pvc,pv -n {ns}",
    "kubectl get networkpolicies,resourcequotas -n {ns}",
    "kubectl top pods -n {ns}",
    "alerts",
    "sleep 15",
    "kubectl get pod -n {ns} -o jsonpath='{{range .items[*]}}{{.metadata.name}} {{.status.phase}}{{\"\\n\"}}{{end}}'",
    "kubectl get pods -A | grep -v Running",
)
_ABOUT_WORKLOADS = (
    "kubectl describe {kind} {name} -n {ns}",
    "kubectl describe svc {name} -n {ns}",
    "kubectl get {kind} {name} -n {ns} -o yaml",
    "kubectl logs {kind}/{name} -n {ns} --tail=30",
    "kubectl logs {kind}/{name} -n {ns} --previous --tail=30",
    "kubectl rollout status {kind}/{name} -n {ns} --timeout=30s",
    "kubectl rollout restart {kind}/{name} -n {ns}",
    "kubectl scale {kind}/{name} -n {ns} --replicas=1",
    "kubectl exec -n {ns} {kind}/{name} -- env",
)


class RandomPolicy:
    """Types commands that an engineer might type, in random order, then hands in a guess.

    ``steps``: how many commands. ``calls``: ``text`` for bare command lines, ``tools`` for tool calls. Raises UsageError
    for arguments that make no sense.
    """

    name = "random"
    version = "2"

    def __init__(self, steps: int = 20, calls: str = "text") -> None:
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise UsageError(f"steps must be a whole number, at least 0, not {steps!r}")
        self.settings: Mapping[str, Any] = {"steps": steps, "calls": form(calls)}
        self._left: list[Move] = []
        self._turns = 0

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Draw the whole episode's actions from the seed and the application's names."""
        chance = random.Random(seed)
        app = env.episode.staged.app
        workloads = [
            {"kind": SHORT[c.workload], "name": c.workload_name, "ns": app.namespace_of(c.name)}
            for c in app.components
            if c.workload in ROLLED
        ]
        commands = [_command(chance, app.namespaces, workloads) for _ in range(self.settings["steps"])]
        guess = "Something in the application is misconfigured."
        if workloads:
            guess = "The {kind} {name} is misconfigured.".format_map(chance.choice(workloads))
        self._left = [
            *(Move("", "run", command) for command in commands),
            Move("", "diagnosis", guess),
            Move("", "mitigation"),
        ]
        self._turns = 0

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next command, whatever was seen."""
        move = self._left.pop(0) if self._left else Move("", "mitigation")
        self._turns += 1
        return move.made(self.settings["calls"], self._turns)


def _command(chance: random.Random, namespaces: Sequence[str], workloads: Sequence[Mapping[str, str]]) -> str:
    template: str = chance.choice((*_ANYWHERE, *(_ABOUT_WORKLOADS if workloads else ())))
    if template in _ANYWHERE:
        return template.format(ns=chance.choice(namespaces))
    return template.format_map(chance.choice(workloads))
