"""Tokens of service accounts: what a TokenRequest is answered with, and what a token Secret holds."""

from __future__ import annotations

from typing import Any

from sregym_env.kube import jwt, status
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim import apiserver
from sregym_env.sim.world import SimWorld

ISSUER = "https://kubernetes.default.svc.cluster.local"
LEGACY_ISSUER = "kubernetes/serviceaccount"

DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600
MOST_SECONDS = 1 << 32
"""The bounds of ``spec.expirationSeconds``."""


def signing_key(world: SimWorld) -> jwt.Key:
    """The key with which the cluster signs: one for each seed."""
    seed = b"".join(keyed_bits(world.streams.seed, "sa.key", part).to_bytes(8) for part in range(4))
    return jwt.Key.of(seed)


def requested(world: SimWorld, namespace: str, name: str, request: Manifest) -> Manifest:
    """A TokenRequest, answered. Raises NotFound, Invalid."""
    account = world.store.get("serviceaccounts", namespace, name)
    if account is None:
        raise status.not_found(apiserver.resource_of(world, "serviceaccounts"), name)
    spec = request.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    seconds = spec.get("expirationSeconds", DEFAULT_SECONDS)
    _check_seconds(seconds)
    audiences = spec.get("audiences") or [ISSUER]
    now = world.now() // SECOND
    bound = spec.get("boundObjectRef")
    claims = {
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": ISSUER,
        "jti": ids.uid(world.streams),
        "kubernetes.io": {"namespace": namespace, **_bound(bound), "serviceaccount": _named(account)},
        "nbf": now,
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": rfc3339(world.now())},
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
        "status": {
            "token": jwt.sign(signing_key(world), claims),
            "expirationTimestamp": rfc3339((now + seconds) * SECOND),
        },
    }


def lasting(world: SimWorld, account: Manifest, secret: str) -> str:
    """The token of a Secret of type ``kubernetes.io/service-account-token``: it has no end."""
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    prefix = "kubernetes.io/serviceaccount"
    claims = {
        "iss": LEGACY_ISSUER,
        f"{prefix}/namespace": namespace,
        f"{prefix}/secret.name": secret,
        f"{prefix}/service-account.name": name,
        f"{prefix}/service-account.uid": metadata["uid"],
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    return jwt.sign(signing_key(world), claims)


def _check_seconds(seconds: Any) -> None:
    if type(seconds) is not int:
        text = "json: cannot unmarshal into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64"
        raise status.cannot_handle("TokenRequest", "v1", text)
    problem = ""
    if seconds < LEAST_SECONDS:
        problem = "may not specify a duration less than 10 minutes"
    elif seconds > MOST_SECONDS:
        problem = "may not specify a duration larger than 2^32 seconds"
    if problem:
        error = status.invalid_value("spec.expirationSeconds", seconds, problem)
        raise status.invalid("TokenRequest.authentication.k8s.io", "", [error])


def _named(obj: Manifest) -> dict[str, str]:
    return {"name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}


def _bound(reference: Any) -> dict[str, Any]:
    """The object whose life bounds the token's, as a claim."""
    if not isinstance(reference, dict):
        return {}
    kind = str(reference.get("kind") or "").lower()
    return {kind: {"name": reference.get("name", ""), "uid": reference.get("uid", "")}} if kind else {}
