"""What a cluster that keeps no account of its writes tells by comparing: the same collateral as the account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from sregym_env.cluster.api import World
from sregym_env.cluster.audit import audited
from sregym_env.cluster.forkable import Forkable
from sregym_env.rewards.collateral import harm
from sregym_env.rewards.doings import added, doings
from sregym_env.rewards.verdict import Harm
from sregym_env.sim.embedded import EmbeddedWorld
from tests.world.worlds import Unforkable

from .playing import NAMESPACE, subject, typed

N = f"-n {NAMESPACE}"
PAIR = ("service_target_port_mismatch", "frontend")

DEEDS: dict[str, Sequence[str]] = {
    "nothing": [],
    "an hour": ["sleep 3600"],
    "a label": [f"kubectl label deploy/jaeger note=a {N}"],
    "a label and back": [f"kubectl label deploy/jaeger note=a {N}", f"kubectl label deploy/jaeger note- {N}"],
    "a note": [f"kubectl annotate deploy/jaeger kubernetes.io/change-cause=looked {N}"],
    "a pod deleted": [f"kubectl delete pod {N} -l io.kompose.service=jaeger", "sleep 30"],
    "pods deleted": [f"kubectl delete pod {N} -l 'io.kompose.service in (jaeger, mongodb-user, memcached-rate)'", "sleep 30"],
    "a rollout": [f"kubectl rollout restart deploy/jaeger {N}", "sleep 30"],
    "a ReplicaSet deleted": [f"kubectl delete rs {N} -l io.kompose.service=jaeger", "sleep 30"],
    "scaled": [f"kubectl scale deploy/jaeger --replicas=3 {N}", "sleep 60"],
    "scaled down": [f"kubectl scale deploy/jaeger --replicas=0 {N}", "sleep 60"],
    "a setting": [f"kubectl set env deploy/user A=b {N}", "sleep 60"],
    "a pod of one's own": [f"kubectl run look --image=busybox {N} -- sleep 60000"],
    "a pod of one's own and gone": [f"kubectl run look --image=busybox {N} -- sleep 60", f"kubectl delete pod look {N} --wait=false"],
    "a Deployment": [f"kubectl create deploy look --image=busybox --replicas=3 {N} -- sleep 60000", "sleep 20"],
    "a ConfigMap": [f"kubectl create configmap note --from-literal=a=b {N}"],
    "a Service deleted": [f"kubectl delete service jaeger-out {N}"],
    "a Service and its end points": [f"kubectl create service clusterip none --tcp=80:80 {N}", "sleep 10"],
    "a pod elsewhere": ["kubectl run look --image=busybox -n default -- sleep 60000"],
    "a cordon": ["kubectl cordon sre-worker"],
    "a cordon and back": ["kubectl cordon sre-worker", "sleep 5", "kubectl uncordon sre-worker"],
    "an object of others": ["kubectl label configmap -n kube-public cluster-info mine=yes"],
    "a claim": [f"kubectl get pvc rate-pvc {N} -o json | jq '.metadata = {{name: \"more\", namespace: .metadata.namespace}} | del(.status, .spec.volumeName)' | kubectl create -f -", "sleep 10"],
    "a finalizer": [f"kubectl patch deploy/jaeger {N} -p '{{\"metadata\":{{\"finalizers\":[\"example.com/kept\"]}}}}'"],
    "a Secret changed": [f"kubectl create secret generic mine --from-literal=a=b {N}", f"kubectl delete secret mine {N}"],
    "a repair": [],
}  # fmt: skip


def told(world: World) -> Harm:
    """The collateral."""
    injected = subject(*PAIR).injected
    called = injected.baseline.called
    assert called is not None
    reaches = [each.reach for each in injected.instances]
    return harm(world, called, reaches, doings(world, called))


def done(name: str) -> Forkable:
    """A world after a deed."""
    world = subject(*PAIR).world()
    remedy = subject(*PAIR).injected.instances[0].remedies[0]
    assert not typed(world, remedy if name == "a repair" else DEEDS[name])
    return world


@pytest.mark.parametrize("name", DEEDS)
def test_comparing_tells_what_the_account_tells(name: str) -> None:
    world = done(name)
    silent = cast(World, Unforkable(cast(EmbeddedWorld, world)))
    assert audited(world) is not None and audited(silent) is None
    one, other = told(world), told(silent)
    for kind in ("changed", "restarted", "left", "grave"):
        assert sorted(getattr(one, kind)) == sorted(getattr(other, kind)), kind


def test_what_is_left_is_known_without_an_account() -> None:
    called = subject(*PAIR).injected.baseline.called
    assert called is not None
    silent = cast(World, Unforkable(cast(EmbeddedWorld, done("a pod of one's own"))))
    assert [key[2] for key in added(doings(silent, called))] == ["look"]
