"""What an engineer types in a broken cluster: looked up in the state itself, whatever is broken there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sregym_env.kube.types import Manifest
from sregym_env.sim.embedded import EmbeddedWorld
from tests.parity.harness import Case
from tests.serve.serving import NAMESPACE

_ALWAYS = (
    "get pods",
    "get pods -o wide",
    "get all",
    "get deploy,rs,sts,ds,job,cronjob,pvc,pv,hpa,netpol,quota,limits,ing,pdb -o wide",
    "get events --sort-by=.lastTimestamp",
    "events",
    "events --types=Warning",
    "get endpoints",
    "get nodes -o wide",
    "top pods",
    "top nodes",
    "describe nodes sre-worker",
    "describe deployments",
    "auth can-i delete pods",
    "get pods -o jsonpath='{range .items[*]}{.metadata.name}{\"\\t\"}{.status.phase}{\"\\t\"}"
    "{.status.containerStatuses[*].restartCount}{\"\\n\"}{end}'",
    "get pods -o custom-columns=NAME:.metadata.name,REASON:.status.containerStatuses[*].state.waiting.reason,"
    "LAST:.status.containerStatuses[*].lastState.terminated.exitCode",
    "get pods --field-selector=status.phase!=Running",
    "get events --field-selector type=Warning -o custom-columns=R:.reason,O:.involvedObject.name,N:.count",
    "get configmaps,secrets,serviceaccounts",
    "get networkpolicies -o yaml",
)  # fmt: skip
MOST = 2
"""How many broken objects of one kind are looked at."""


def diagnosis(world: EmbeddedWorld) -> Sequence[Case]:
    """The lines for one state."""
    lines = [*_ALWAYS]
    for at, pod in enumerate(islice(_unwell(world), MOST)):
        lines += _of_pod(pod) if not at else [f"describe pod {pod['metadata']['name']}"]
    for deployment in islice(_unavailable(world), MOST):
        name = deployment["metadata"]["name"]
        lines += [
            f"describe deploy {name}",
            f"get deploy {name} -o yaml",
            f"rollout status deploy/{name} --watch=false",
            f"rollout history deploy/{name}",
            f"events --for deploy/{name}",
        ]
    for claim in islice(_list(world, "persistentvolumeclaims"), MOST):
        lines.append(f"describe pvc {claim['metadata']['name']}")
    return [Case(line) for line in dict.fromkeys(lines)]


def _of_pod(pod: Manifest) -> Iterator[str]:
    name = pod["metadata"]["name"]
    yield f"describe pod {name}"
    yield f"get pod {name} -o yaml"
    yield f"logs {name} --tail=10"
    yield f"logs {name} --previous --tail=10"
    yield f"logs {name} --all-containers --timestamps --tail=3"
    yield f"events --for pod/{name}"
    yield f"get events --field-selector involvedObject.name={name} -o wide"
    yield f"exec {name} -- ls /"


def _list(world: EmbeddedWorld, resource: str) -> list[Manifest]:
    return world.cluster.list(resource, NAMESPACE)


def _unwell(world: EmbeddedWorld) -> Iterator[Manifest]:
    for pod in _list(world, "pods"):
        status = pod.get("status") or {}
        conditions = {c["type"]: c["status"] for c in status.get("conditions") or ()}
        restarts = sum(c.get("restartCount", 0) for c in status.get("containerStatuses") or ())
        gone = "deletionTimestamp" in pod["metadata"]
        if gone or restarts or (conditions.get("Ready") != "True" and status.get("phase") != "Succeeded"):
            yield pod


def _unavailable(world: EmbeddedWorld) -> Iterator[Manifest]:
    for deployment in _list(world, "deployments.apps"):
        status = deployment.get("status") or {}
        wanted = deployment["spec"].get("replicas", 1)
        if (
            not wanted
            or status.get("availableReplicas", 0) < wanted
            or status.get("updatedReplicas") != wanted
        ):
            yield deployment
