"""What an on-call engineer is told at the start: the application, the tools, the task. Never the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from sregym_env.cluster.app import App
from sregym_env.cluster.health import Alert
from sregym_env.rewards.reward import Stage

Mode = Literal["proactive", "reactive"]
"""Whether the engineer looks because something may be wrong, or because alerts fired."""


def briefing(app: App, *, mode: Mode, stage: Stage, alerts: Sequence[Alert], commands: int) -> str:
    """The first observation of an episode."""
    parts = [
        f"You are the site reliability engineer on call for {app.title}.",
        *_described(app),
        _occasion(mode, alerts),
        _TASKS[stage],
        _TOOLS.format(namespace=app.namespace),
        f"{_SUBMITTING[stage]} You may run {commands} commands; a line that runs several counts as several, and each "
        "takes some of the cluster's time.",
    ]
    return "\n\n".join(parts)


_TASKS: dict[Stage, str] = {
    "e2e": "Your task: (1) find the root cause and hand in a diagnosis; (2) repair the running system so that its "
    "users are served again and the cause is gone, then hand in the repair. Repair the cause, not the symptom: "
    "nothing that belongs to the application may be deleted, scaled down or weakened to make a problem invisible. "
    "Where nothing is wrong, say so and change nothing.",
    "diagnosis": "Your task: find the root cause and hand in a diagnosis. You need not repair anything. Where nothing is "
    "wrong, say so.",
    "mitigation": "Your task: repair the running system so that its users are served again and the cause is gone, "
    "then hand in the repair. Repair the cause, not the symptom: nothing that belongs to the application may be "
    "deleted, scaled down or weakened to make a problem invisible. Where nothing is wrong, change nothing.",
}

_TOOLS = (
    "Every action is a bash command line on your workstation (or a tool call as JSON). kubectl is configured for the "
    "cluster, e.g. kubectl get pods -n {namespace}. There are also promql (metrics), logql (logs), "
    "traces, alerts, curl, sleep and the usual text tools. "
    "Nothing is interactive."
)

_SUBMITTING: dict[Stage, str] = {
    "e2e": 'Hand in with: submit diagnosis "which component, what exactly is wrong with it, whom it affects", once; '
    "then submit mitigation, which ends the episode. (submit --help shows how to diagnose in closed answers.)",
    "diagnosis": 'Hand in with: submit diagnosis "which component, what exactly is wrong with it, whom it affects", '
    "which ends the episode. (submit --help shows how to diagnose in closed answers.)",
    "mitigation": "Hand in with: submit mitigation, which ends the episode.",
}


def _where(namespaces: Sequence[str]) -> str:
    if len(namespaces) == 1:
        return f"the namespace {namespaces[0]}"
    return f"the namespaces {', '.join(namespaces[:-1])} and {namespaces[-1]}"


def _described(app: App) -> Iterator[str]:
    """What there is, and where it runs."""
    if not app.parts:
        yield f"Application: {app.description.strip()}"
        yield f"It runs on Kubernetes in {_where(app.namespaces)}."
        return
    for part in app.parts:
        yield f"{part.title}, in {_where(part.namespaces)}: {part.description.strip()}"
    yield "They run on Kubernetes in one cluster, and each has users of its own."
    if any(component.bears for component in app.components):
        # Not by example: whichever it was would be looked at first.
        yield "Components of the same name are told apart by their namespace: NAMESPACE/NAME."


def _occasion(mode: Mode, alerts: Sequence[Alert]) -> str:
    if mode == "proactive":
        return "Users report that something is not right."
    firing = [alert for alert in alerts if alert.state == "firing"]
    if not firing:
        return "You have been paged: users complain, although no alert is firing."
    lines = [f"- {alert.name} ({alert.severity}): {alert.summary}" for alert in firing]
    return "You have been paged. Firing alerts:\n" + "\n".join(lines)
