"""What every namespace gets: the ``default`` ServiceAccount and the cluster's CA certificate.

``serviceaccount-controller`` and ``root-ca-certificate-publisher`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.network import pki
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

ACCOUNT = "default"
ROOT_CA = "kube-root-ca.crt"
ROOT_CA_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as "
    "the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters."
)


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Give one active namespace what it lacks."""
    namespace = world.store.get("namespaces", *key)
    if namespace is None or "deletionTimestamp" in namespace["metadata"]:
        return None
    name = key[1]
    if world.store.get("serviceaccounts", name, ACCOUNT) is None:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(name, ACCOUNT)}
        apiserver.create(world, "serviceaccounts", account)
    current = world.store.get("configmaps", name, ROOT_CA)
    wanted: Manifest = {"ca.crt": pki.authority(world.plan)}
    if current is None:
        metadata = {
            **_metadata(name, ROOT_CA),
            "annotations": {"kubernetes.io/description": ROOT_CA_DESCRIPTION},
        }
        bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": wanted}
        apiserver.create(world, "configmaps", bundle)
    elif current.get("data") != wanted:
        apiserver.update(world, "configmaps", {**current, "data": wanted})
    return None


def _metadata(namespace: str, name: str) -> Manifest:
    return {"namespace": namespace, "name": name}


def _account_gone(_: SimWorld, change: Change) -> Iterable[Key]:
    return (("", change.key[0]),) if change.new is None and change.key[1] == ACCOUNT else ()


def _bundle_changed(_: SimWorld, change: Change) -> Iterable[Key]:
    return (("", change.key[0]),) if change.type != "ADDED" and change.key[1] == ROOT_CA else ()


CONTROLLER = Controller(
    "serviceaccount",
    {"namespaces": own_key, "serviceaccounts": _account_gone, "configmaps": _bundle_changed},
    retried("serviceaccount", reconcile),
)
