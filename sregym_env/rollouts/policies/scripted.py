"""Baselines without understanding: an outsider's fixed scripts, which know neither the fault nor the application.

Of the environment they read no more than the briefing tells: the application's namespaces.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.rollouts.policies.move import Move, form
from sregym_env.rollouts.policies.policy import Turn

Script = Generator[Move, str, None]

RECENT_SECONDS = 3600
"""What was made in the last hour counts as recent."""

_COLUMNS = (
    "NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].kind,READY:.status.containerStatuses[*].ready,"
    "RESTARTS:.status.containerStatuses[0].restartCount,PHASE:.status.phase"
)

_SUFFIXES = {"ReplicaSet": 2, "StatefulSet": 1, "DaemonSet": 1}
_KINDS = {"ReplicaSet": "deployment", "StatefulSet": "statefulset", "DaemonSet": "daemonset"}


@dataclass(frozen=True, slots=True)
class Red:
    """A workload one of whose pods is not ready."""

    namespace: str
    kind: str
    name: str
    restarts: int
    phase: str


class ScriptedPolicy(ABC):
    """Plays a fixed script. ``calls``: ``text`` for bare command lines, ``tools`` for tool calls."""

    name = "scripted"
    version = "1"

    def __init__(self, calls: str = "text") -> None:
        self.settings: Mapping[str, Any] = {"calls": form(calls)}
        self._script: Script | None = None
        self._turns = 0

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Learn where the application lives."""
        self._script = self.script(env.episode.staged.app.namespaces)
        self._turns = 0

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next line of the script."""
        assert self._script is not None, "begin() comes first"
        try:
            move = next(self._script) if self._turns == 0 else self._script.send(observation)
        except StopIteration:
            move = Move("", "mitigation")
        self._turns += 1
        return move.made(self.settings["calls"], self._turns)

    @abstractmethod
    def script(self, namespaces: Sequence[str]) -> Script:
        """What is done, move by move; what is printed comes back."""


class WaitPolicy(ScriptedPolicy):
    """Waits for it to go away, and blames what is reddest."""

    name = "wait"

    def script(self, namespaces: Sequence[str]) -> Script:
        """Sleep, look, hand in."""
        yield Move("Perhaps it goes away by itself.", "run", "sleep 300")
        red = yield from _red(namespaces)
        yield Move("I name what is reddest.", "diagnosis", _blame(red))


class RestartPolicy(ScriptedPolicy):
    """Restarts what is red, or everything where nothing is, and blames what is reddest."""

    name = "restart"

    def script(self, namespaces: Sequence[str]) -> Script:
        """Look, blame, restart, wait."""
        red = yield from _red(namespaces)
        yield Move("I name what is reddest.", "diagnosis", _blame(red))
        for each in red:
            line = f"kubectl rollout restart {each.kind}/{each.name} -n {each.namespace}"
            yield Move(f"{each.name} is not ready, so I restart it.", "run", line)
        if not red:
            for namespace in namespaces:
                for kind in _KINDS.values():
                    yield Move(
                        "Nothing is red, so I restart everything.",
                        "run",
                        f"kubectl rollout restart {kind} -n {namespace}",
                    )
        yield Move("Give it time.", "run", "sleep 90")


class UndoPolicy(ScriptedPolicy):
    """Takes back every rollout of the last hour, or those of what is red where there was none."""

    name = "undo"

    def script(self, namespaces: Sequence[str]) -> Script:
        """Look, blame, undo, wait."""
        red = yield from _red(namespaces)
        yield Move("I name what is reddest.", "diagnosis", _blame(red))
        recent = []
        for namespace in namespaces:
            text = yield Move(
                "What was rolled out lately?",
                "run",
                f"kubectl get replicasets -n {namespace} --sort-by=.metadata.creationTimestamp",
            )
            recent += [("deployment", name, namespace) for name in rolled_out(text)]
        for kind, name, namespace in dict.fromkeys(recent or [(r.kind, r.name, r.namespace) for r in red]):
            yield Move(
                f"I take the last rollout of {name} back.",
                "run",
                f"kubectl rollout undo {kind}/{name} -n {namespace}",
            )
        yield Move("Give it time.", "run", "sleep 90")


def _red(namespaces: Sequence[str]) -> Generator[Move, str, list[Red]]:
    """Look at all pods; the workloads of those that are not ready, the worst first."""
    found: dict[tuple[str, str, str], Red] = {}
    for namespace in namespaces:
        line = f"kubectl get pods -n {namespace} --no-headers -o custom-columns={_COLUMNS}"
        text = yield Move("Which pods are not ready?", "run", line)
        for each in reds(text, namespace):
            key = (each.namespace, each.kind, each.name)
            if key not in found or found[key].restarts < each.restarts:
                found[key] = each
    return sorted(found.values(), key=lambda each: (-each.restarts, each.namespace, each.name))


def reds(listing: str, namespace: str) -> list[Red]:
    """Workloads of pods that are not ready, from a listing in the columns that :func:`_red` asks for."""
    found = []
    for line in listing.splitlines():
        cells = line.split()
        if len(cells) != 5 or cells[1] not in _KINDS:
            continue
        pod, owner, ready, restarts, phase = cells
        if ready != "<none>" and "false" not in ready:
            continue
        name = pod.rsplit("-", _SUFFIXES[owner])[0]
        count = int(restarts) if restarts.isdigit() else 0
        found.append(Red(namespace, _KINDS[owner], name, count, phase))
    return found


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 31536000}


def rolled_out(listing: str) -> list[str]:
    """Deployments whose newest ReplicaSets of a listing are recent."""
    found = []
    for name, age in re.findall(r"^(\S+)-[a-z0-9]+\s+\d+\s+\d+\s+\d+\s+(\S+)\s*$", listing, re.MULTILINE):
        parts = re.findall(r"(\d+)([smhdy])", age)
        if parts and sum(int(count) * _UNITS[unit] for count, unit in parts) < RECENT_SECONDS:
            found.append(name)
    return list(dict.fromkeys(found))


def _blame(red: Sequence[Red]) -> str:
    """What somebody says who has only seen which pods are not ready."""
    if not red:
        return "The application answers with errors although all of its pods are ready; something in it is broken."
    worst = red[0]
    return (
        f"The {worst.kind} {worst.name} is broken: its pod is not ready ({worst.phase}, {worst.restarts} restarts), so "
        "the application does not work."
    )


SCRIPTED: Mapping[str, type[ScriptedPolicy]] = {
    policy.name: policy for policy in (WaitPolicy, RestartPolicy, UndoPolicy)
}
"""The scripts by name."""
