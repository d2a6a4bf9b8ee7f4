"""Naming a culprit by a figure: a command line that prints objects, the most suspicious by one figure first.

Nothing here knows what the figure means. The answer is lines of ``Kind name``; the first is blamed.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass

from sregym_env.rollouts.shortcuts.shortcut import Knowledge

OBJECTS = (
    "deployments,statefulsets,daemonsets,services,configmaps,secrets,persistentvolumeclaims,serviceaccounts,"
    "networkpolicies,resourcequotas,limitranges,horizontalpodautoscalers,poddisruptionbudgets"
)
"""What people write in a namespace."""

_BY = '.items | map(select(.metadata.name != "kube-root-ca.crt")) | sort_by({figure}) | reverse'
_NAMED = '| .[] | "\\(.kind) \\(.metadata.name)"'
_OWN = (
    '.metadata.ownerReferences[0] as $o | (if $o.kind == "ReplicaSet" then '
    '"Deployment \\($o.name | sub("-[a-z0-9]+$"; ""))" else "\\($o.kind) \\($o.name)" end)'
)
_WRITTEN = '[(.metadata.managedFields // [])[] | select(.subresource != "status") | .time] | max'


@dataclass(frozen=True, slots=True)
class Blamed:
    """What a cue names."""

    kind: str
    name: str

    @property
    def reference(self) -> str:
        """``deployment/geo``."""
        return f"{self.kind.lower()}/{self.name}"


@dataclass(frozen=True, slots=True)
class Cue:
    """A figure by which something is named."""

    name: str
    kinds: str
    program: str
    """A jq program over a List, which prints ``Kind name``."""
    flags: str = ""

    def line(self, namespace: str) -> str:
        """The command line."""
        return f"kubectl get {self.kinds} -n {namespace} -o json {self.flags} | jq -r '{self.program}' | head -20"


def _figure(name: str, figure: str, flags: str = "") -> Cue:
    return Cue(name, OBJECTS, _BY.format(figure=figure) + _NAMED, flags)


_STANDS_OUT = (
    '(.items | map(select(.metadata.name != "kube-root-ca.crt"))) as $all '
    "| ($all | map(.metadata.creationTimestamp) | sort) as $t | ($t[($t | length) / 2 | floor]) as $usual "
    "| $all | sort_by([(if .metadata.creationTimestamp > $usual then .metadata.creationTimestamp else $usual end), "
    '(if .kind == "Deployment" then (.metadata.generation // 0) else 0 end), (.metadata.resourceVersion | tonumber)]) '
    "| reverse"
)
"""By when it was made where that is not when most were, then by generation, then by resource version."""

CUES = (
    Cue("stands_out", OBJECTS, _STANDS_OUT + _NAMED),
    _figure("newest_object", ".metadata.creationTimestamp"),
    _figure("highest_resource_version", ".metadata.resourceVersion | tonumber"),
    _figure("highest_generation", ".metadata.generation // 0"),
    _figure("latest_write", _WRITTEN, "--show-managed-fields"),
    Cue(
        "highest_revision",
        "deployments",
        '.items | sort_by(.metadata.annotations["deployment.kubernetes.io/revision"] // "0" | tonumber) | reverse'
        + _NAMED,
    ),
    Cue(
        "newest_replica_set",
        "replicasets",
        f".items | sort_by(.metadata.creationTimestamp) | reverse | .[] | {_OWN}",
    ),
    Cue(
        "most_restarts",
        "pods",
        ".items | map(select(.metadata.ownerReferences)) | sort_by([.status.containerStatuses[]?.restartCount] | add // 0) "
        f"| reverse | .[] | {_OWN}",
    ),
    Cue(
        "not_ready",
        "pods",
        '.items | map(select(.metadata.ownerReferences and .status.phase != "Succeeded")) '
        '| sort_by([.status.conditions[]? | select(.type == "Ready" and .status == "True")] | length) '
        f"| .[] | {_OWN}",
    ),
    Cue(
        "unavailable",
        "deployments,statefulsets",
        ".items[] | select((.spec.replicas // 1) > 0 and (.status.availableReplicas // 0) < (.spec.replicas // 1)) "
        '| "\\(.kind) \\(.metadata.name)"',
    ),
    Cue(
        "most_warnings",
        "events",
        '.items | map(select(.type == "Warning")) | map({o: ((.involvedObject.kind) as $kind | .involvedObject.name '
        '| if $kind == "Pod" then "Deployment " + sub("-[a-z0-9]+-[a-z0-9]+$"; "") '
        'elif $kind == "ReplicaSet" then "Deployment " + sub("-[a-z0-9]+$"; "") else $kind + " " + . end), n: (.count // 1)}) '
        "| group_by(.o) | sort_by(map(.n) | add) | reverse | .[] | .[0].o",
    ),
)
"""All figures, by name."""

_ANSWER = re.compile(r"^(\w+) (\S+)$", re.MULTILINE)


def blame(cue: Cue, known: Knowledge, count: int = 1) -> Generator[str, str, list[Blamed]]:
    """The ``count`` most suspicious by a cue; fewer where it names nothing."""
    printed = yield cue.line(known.namespace)
    found = dict.fromkeys(Blamed(*pair) for pair in _ANSWER.findall(printed))
    return list(found)[:count]


def by_name(name: str) -> Cue:
    """A cue. Raises StopIteration for one there is not."""
    return next(cue for cue in CUES if cue.name == name)
