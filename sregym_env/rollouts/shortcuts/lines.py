"""Command lines that shortcuts share: documents through heredocs, fixed pipelines, and waiting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sregym_env.cluster.app import App, Component
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube.types import Manifest

LONGEST = 60_000
"""Characters of documents in one action; an action may have 65,536."""


def heredoc(command: str, text: str) -> str:
    """A command that reads a text."""
    return f"{command} <<'END_OF_TEXT'\n{text}\nEND_OF_TEXT"


def fed(command: str, objects: Iterable[Manifest]) -> Iterator[str]:
    """A kubectl command that reads objects as Lists, in as few actions as they fit into."""
    part: list[str] = []
    size = 0
    for each in objects:
        text = json.dumps(each, separators=(",", ":"))
        if part and size + len(text) > LONGEST:
            yield _list(command, part)
            part, size = [], 0
        part.append(text)
        size += len(text) + 1
    if part:
        yield _list(command, part)


def _list(command: str, texts: Sequence[str]) -> str:
    return heredoc(command, '{"apiVersion":"v1","kind":"List","items":[' + ",".join(texts) + "]}")


def piped(kinds: str, scope: str, program: str, constants: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Every object of some kinds through a jq program, and back; ``constants`` are the program's ``$k``."""
    yield heredoc("cat > /tmp/program.jq", program)
    yield heredoc("cat > /tmp/constants.json", json.dumps(constants or {}, separators=(",", ":")))
    yield (
        f"kubectl get {kinds} {scope} -o json | jq --slurpfile constants /tmp/constants.json "
        '"$(printf "\\$constants[0] as \\$k | "; cat /tmp/program.jq)" | kubectl replace -f -'
    )


WORKLOADS = "deployments,statefulsets,daemonsets"
"""Workload kinds as kubectl lists them."""


_SETTLED = """
(now - {hours} * 3600 | todate) as $then
| (if .kind == "List" then .items else [.] end)
| ([.[] | select(.kind == "Deployment" and ({every} or (.status.availableReplicas // 0) < (.spec.replicas // 1)))
    | .metadata.name]) as $wanted
| [.[] | select(.kind == "ReplicaSet" and .metadata.ownerReferences) | {{
    of: .metadata.ownerReferences[0].name, made: .metadata.creationTimestamp,
    revision: (.metadata.annotations["deployment.kubernetes.io/revision"] // "0" | tonumber)}}]
| group_by(.of)[] | sort_by(.revision) | last.revision as $now
| ([.[] | select(.made < $then)] | last) as $old
| select($old and $old.revision != $now and (.[0].of | IN($wanted[]))) | "\\(.[0].of) \\($old.revision)"
"""
"""Deployments whose newest revision is young, with the last one that is not."""


def roll_back(namespace: str, hours: float, *, every: bool) -> Iterator[str]:
    """Every Deployment, or every unavailable one, back to the revision that it had so many hours ago."""
    program = _SETTLED.format(hours=hours, every=str(every).lower())
    yield heredoc("cat > /tmp/settled.jq", program)
    yield (
        f"kubectl get deployments,replicasets -n {namespace} -o json | jq -r -f /tmp/settled.jq | while read name revision; "
        f"do kubectl rollout undo deployment $name --to-revision=$revision -n {namespace}; done"
    )


TIER_SECONDS = 60
"""How long a script waits for what it restarted before it restarts what needs that."""


def restart(app: App) -> Iterator[str]:
    """Restart every workload, what others need before them: all at once, registries forget who registered."""
    for number, tier in enumerate(tiers(app)):
        if number:
            yield f"sleep {TIER_SECONDS}"
        found: dict[tuple[str, str], list[str]] = {}
        for component in tier:
            place = (app.namespace_of(component.name), component.workload.partition(".")[0])
            found.setdefault(place, []).append(component.workload_name)
        for (namespace, kind), names in found.items():
            yield f"kubectl rollout restart {kind} {' '.join(names)} -n {namespace}"


def tiers(app: App) -> list[list[Component]]:
    """Components that roll, those first that need nobody."""
    depth: dict[str, int] = {}
    for component in app.components:
        needs = [depth.get(each.on, 0) for each in component.dependencies if each.essential]
        depth[component.name] = 1 + max(needs, default=-1)
    found: dict[int, list[Component]] = {}
    for component in app.components:
        if component.workload in ROLLED:
            found.setdefault(depth[component.name], []).append(component)
    return [found[each] for each in sorted(found)]
