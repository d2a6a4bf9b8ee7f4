"""A policy that types plausible commands."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.envs.env import SREGymEnv

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
        self.settings: Mapping[str, Any] = {"steps": steps}
        self._steps = steps
        self._random = random.Random(0)
        self._left: list[str] = []

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
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

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """The next command, whatever was seen."""
        return self._left.pop(0) if self._left else "submit mitigation"

    def _command(self, namespace: str, names: Sequence[str]) -> str:
        template = self._random.choice(_TEMPLATES)
        return template.format(ns=namespace, workload=self._random.choice(names))
