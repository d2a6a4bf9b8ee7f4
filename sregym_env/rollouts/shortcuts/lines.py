"""Command lines that shortcuts share: documents through heredocs, fixed pipelines, and waiting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

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


def restart(namespaces: Sequence[str]) -> Iterator[str]:
    """Restart every workload."""
    for namespace in namespaces:
        for kind in WORKLOADS.split(","):
            yield f"kubectl rollout restart {kind} -n {namespace}"
