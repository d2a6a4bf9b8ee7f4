"""What two neighbouring revisions of a Deployment differ in: who was rolled out otherwise, how that is told, how it is undone.

Whoever compares revisions needs no symptom, and can tell field and value without knowing what they do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from sregym_env.rollouts.shortcuts.cues import Blamed, Cue
from sregym_env.rollouts.shortcuts.diagnoses import GUESS, answer
from sregym_env.rollouts.shortcuts.shortcut import Knowledge

_REVISIONS = """
def revision: .metadata.annotations["deployment.kubernetes.io/revision"] // "0" | tonumber;
def owner: .metadata.ownerReferences[0].name;
def pods: .spec.template.spec;
[.items[] | select(.metadata.ownerReferences)] | group_by(owner)[] | sort_by(revision)
"""
"""Every Deployment's ReplicaSets, the newest last."""

_USUAL = """
def repository: split("@")[0] | sub(":[^:/]*$"; "");
def figures: del(.periodSeconds, .timeoutSeconds, .failureThreshold, .initialDelaySeconds);
def plain: .spec.template.spec | .containers |= map(.image |= repository | del(.resources)
  | (if .livenessProbe then .livenessProbe |= figures else . end)
  | (if .readinessProbe then .readinessProbe |= figures else . end));
"""
"""A pod's specification without what rollouts mostly change: tags, sizes, figures of probes."""

_NEWEST_FIRST = 'sort_by(.at) | reverse | .[] | "Deployment \\(.of)"'

REDELIVERED = Cue(
    "redelivered",
    "replicasets",
    f"[{_REVISIONS} | select(length > 2 and (.[-1] | pods) == (.[-2] | pods)) | {{of: .[0] | owner, "
    "at: .[-1].metadata.creationTimestamp, "
    "apart: ((.[-1].metadata.creationTimestamp | fromdate) - (.[-2].metadata.creationTimestamp | fromdate))}"
    "| select(.apart > 60 and .apart < 3600)] | " + _NEWEST_FIRST,
)
"""What was rolled out twice within the hour with nothing in the second."""

DIFFERING = Cue(
    "differing",
    "replicasets",
    f"{_USUAL} [{_REVISIONS} | (.[-1] | plain) as $now | ([.[] | select(plain != $now)] | last) as $old "
    "| select($old) | (map(select(revision > ($old | revision))) | first) as $new "
    "| {of: $new | owner, at: $new.metadata.creationTimestamp}] | " + _NEWEST_FIRST,
)
"""What was last rolled out otherwise than in tag, size or figure."""

_BEFORE = 'select(.[0] | owner == "{name}") | (.[-1] | pods) as $now | ([.[] | select(pods != $now)] | last) as $old | select($old)'

_SETTLED = (
    'select(.[0] | owner == "{name}") | (.[-1] | pods) as $now '
    "| ([.[] | select(.metadata.creationTimestamp < (now - 10800 | todate))] | last) as $old | select($old)"
)
"""The last that stood for three hours, in place of the last that was another one."""

_CHANGES = (
    "| ($old | pods) as $then | ([$then, $now | paths(scalars)] | unique)[] as $at "
    "| [$then, $now | try getpath($at) catch null] | select(.[0] != .[1]) "
    '| "\\($at | map(tostring) | join(".")) \\(.[0] | tojson) \\(.[1] | tojson)"'
)

_LINE = re.compile(r"^(\S+) (null|\S.*?) (null|\"(?:[^\"\\]|\\.)*\"|[\w.+-]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs: where, and what it was and is, ``null`` for nothing."""

    path: str
    was: str
    now: str


def changes(blamed: Blamed, known: Knowledge, *, settled: bool = False) -> Generator[str, str, list[Change]]:
    """What the newest revision of a Deployment has otherwise than the one before, or the last ``settled`` one, field by field."""
    printed = yield _asked(blamed, known, (_SETTLED if settled else _BEFORE) + _CHANGES) + " | head -40"
    return [Change(*found) for found in _LINE.findall(printed)]


def undone(blamed: Blamed, known: Knowledge) -> Iterator[str]:
    """Back to the last revision that was another one, however often this one was delivered."""
    revision = _asked(blamed, known, _BEFORE + "| $old | revision")
    yield f"kubectl rollout undo deployment {blamed.name} --to-revision=$({revision}) -n {known.namespace}"


def _asked(blamed: Blamed, known: Knowledge, program: str) -> str:
    """A command line that asks a Deployment's revisions."""
    # The program has braces of its own.
    whole = f"{_REVISIONS} | {program.replace('{name}', blamed.name)}"
    return f"kubectl get replicasets -n {known.namespace} -o json | jq -r {shlex.quote(whole)}"


def sentence(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The difference, put into words."""
    if not blamed:
        return known.app.entry
    found = yield from changes(blamed[0], known)
    parts = ", and ".join(_words(change) for change in found[:6]) or "it was rolled out wrongly"
    return f"The root cause is the {blamed[0].name} deployment: {parts}."


def _field(change: Change) -> str:
    """Where it stands, without places in lists."""
    return re.sub(r"\.\d+\b", "", change.path)


def _words(change: Change) -> str:
    field = _field(change).replace(".", " ")
    if change.was == "null":
        return f"a wrong {field} {change.now} was added"
    if change.now == "null":
        return f"its {field} is missing, it was {change.was}"
    return f"its {field} was changed from {change.was} to {change.now}"


MECHANISMS = (
    (r"hostPort$", "host_port_conflict"),
    (r"podAntiAffinity", "unsatisfiable_anti_affinity"),
    (r"^dns(?:Policy|Config)", "bypassed_cluster_dns"),
    (r"^hostAliases", "stale_host_alias"),
    (r"^priorityClassName$", "outranked_by_others"),
    (r"^serviceAccount", "missing_service_account"),
    (r"^imagePullSecrets", "registry_login_refused"),
    (r"secretKeyRef|secretRef", "missing_secret"),
    (r"claimName$", "missing_volume_claim"),
    (r"sysctls", "local_ports_exhausted"),
    (r"configMap(?:KeyRef|Ref)?\.name$", "config_fix_not_rolled_out"),
    (r"^nodeSelector", "unsatisfiable_node_selector"),
    (r"readinessProbe\.(?:httpGet|tcpSocket|grpc|exec)", "failing_readiness_probe"),
    (r"livenessProbe\.(?:httpGet|tcpSocket|grpc|exec)", "failing_liveness_probe"),
    (r"livenessProbe\.", "impatient_liveness_probe"),
    (r"^initContainers", "blocked_init_container"),
    (r"^containers\.[1-9]", "port_conflict"),
    (r"\.env\.", "wrong_variable"),
    (r"requests\.memory$", "excessive_resource_request"),
    (r"limits\.memory$", "memory_limit_too_low"),
    (r"limits\.cpu$", "cpu_throttling"),
    (r"\.(?:command|args)\.", "wrong_command"),
    (r"\.image$", "image_unavailable"),
)
"""Of every field the kind of cause that changes it most often."""


def closed(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The difference as closed answers: the kind of cause that mostly changes such a field, the field and the value."""
    return (yield from _closed(blamed, known, settled=False))


def closed_since(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The same of the difference from the last revision that stood for three hours."""
    return (yield from _closed(blamed, known, settled=True))


def _closed(blamed: Sequence[Blamed], known: Knowledge, *, settled: bool) -> Generator[str, str, str]:
    if not blamed:
        return known.app.entry
    found = yield from changes(blamed[0], known, settled=settled)
    for pattern, mechanism in MECHANISMS:
        for change in found:
            if re.search(pattern, change.path):
                return answer(blamed[0], mechanism, _field(change), change.now.strip('"'))
    return answer(blamed[0], GUESS)
