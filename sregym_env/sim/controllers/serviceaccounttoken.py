"""The token controller: Secrets of type ``kubernetes.io/service-account-token`` are filled, and go with their
account (``pkg/controller/serviceaccount/tokens_controller.go`` of v1.32)."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import tokens
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.network import pki
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key

TYPE = "kubernetes.io/service-account-token"
NAME = "kubernetes.io/service-account.name"
UID = "kubernetes.io/service-account.uid"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Fill one token Secret, or remove it when its account is gone."""
    secret = world.store.get("secrets", *key)
    if secret is None or secret.get("type") != TYPE:
        return None
    annotations = secret["metadata"].get("annotations") or {}
    account = world.store.get("serviceaccounts", key[0], annotations.get(NAME, ""))
    uid = annotations.get(UID)
    if account is None or (uid and uid != account["metadata"]["uid"]):
        apiserver.delete(world, "secrets", *key)
        return None
    known = secret.get("data") or {}
    missing = {name: value for name, value in _data(world, key, account).items() if not known.get(name)}
    if not missing and uid:
        return None
    metadata = {
        **secret["metadata"],
        "annotations": {**annotations, UID: account["metadata"]["uid"]},
    }
    apiserver.update(world, "secrets", {**secret, "metadata": metadata, "data": {**known, **missing}})
    return None


def _data(world: SimWorld, key: Key, account: Manifest) -> dict[str, str]:
    token = tokens.lasting(world, account, key[1])
    values = {"ca.crt": pki.authority(world.plan), "namespace": key[0], "token": token}
    return {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}


def _token_secret(_: SimWorld, change: Change) -> Iterable[Key]:
    if change.object.get("type") == TYPE:
        yield change.key


def _of_account(world: SimWorld, change: Change) -> Iterable[Key]:
    if change.type == "MODIFIED":
        return
    for secret in world.store.list("secrets", change.key[0]):
        annotations = secret["metadata"].get("annotations") or {}
        if secret.get("type") == TYPE and annotations.get(NAME) == change.key[1]:
            yield (change.key[0], secret["metadata"]["name"])


CONTROLLER = Controller(
    "serviceaccount-token",
    {"secrets": _token_secret, "serviceaccounts": _of_account},
    retried("serviceaccount-token", reconcile),
)
