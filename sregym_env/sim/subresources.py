"""Subresources that are not just another view of status: scale, eviction, binding, tokens, reviews."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import User
from sregym_env.kube import selectors, status
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import HOUR
from sregym_env.sim import apiserver
from sregym_env.sim.rbac import Authorizer
from sregym_env.sim.world import SimWorld

BUDGETS = "poddisruptionbudgets.policy"


def scale_of(obj: Manifest) -> Manifest:
    """The ``autoscaling/v1 Scale`` view of a scalable object."""
    metadata = {
        key: obj["metadata"][key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    }
    selector = selectors.from_dict(obj["spec"].get("selector"))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": obj["spec"].get("replicas", 1)},
        "status": {"replicas": obj.get("status", {}).get("replicas", 0), "selector": str(selector)},
    }


def with_scale(resource: Resource, obj: Manifest, scale: Manifest) -> Manifest:
    """The scalable object with the replicas that a Scale asks for. Raises Invalid for a negative number."""
    spec = scale.get("spec") or {}
    if not isinstance(spec, dict):
        raise status.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal into Go struct field '
            "Scale.spec of type v1.ScaleSpec"
        )
    replicas = spec.get("replicas", 0)
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise status.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go struct '
            "field ScaleSpec.spec.replicas of type int32"
        )
    if replicas < 0:
        error = status.invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
        raise status.invalid("Scale.autoscaling", obj["metadata"]["name"], [error])
    return {**obj, "spec": {**obj["spec"], "replicas": replicas}}


def evict(world: SimWorld, namespace: str, name: str, eviction: Manifest, *, dry_run: bool) -> Manifest:
    """Delete a pod unless a disruption budget forbids it (429 TooManyRequests)."""
    pods = apiserver.resource_of(world, "pods")
    pod = world.store.get("pods", namespace, name)
    if pod is None:
        raise status.not_found(pods, name)
    labels = pod["metadata"].get("labels", {})
    for budget in world.store.list(BUDGETS, namespace):
        if selectors.from_dict(budget["spec"].get("selector")).matches(labels):
            state = budget.get("status", {})
            if state.get("disruptionsAllowed", 0) <= 0 and _counts(pod):
                raise status.eviction_blocked(
                    budget["metadata"]["name"], state.get("desiredHealthy", 0), state.get("currentHealthy", 0)
                )
            if not dry_run:
                allowed = state.get("disruptionsAllowed", 0)
                reduced = {**state, "disruptionsAllowed": max(0, allowed - 1)}
                apiserver.update_status(world, BUDGETS, namespace, budget["metadata"]["name"], reduced)
    if not dry_run:
        options = eviction.get("deleteOptions") or {}
        apiserver.delete(world, "pods", namespace, name, grace=options.get("gracePeriodSeconds"))
    return status.success()


def _counts(pod: Manifest) -> bool:
    return pod.get("status", {}).get("phase") in ("Running", "Pending") and bool(pod["spec"].get("nodeName"))


def bind(world: SimWorld, namespace: str, name: str, binding: Manifest) -> Manifest:
    """Assign a pod to a node, as a scheduler does."""
    pods = apiserver.resource_of(world, "pods")
    pod = world.store.get("pods", namespace, name)
    if pod is None:
        raise status.not_found(pods, name)
    node = (binding.get("target") or {}).get("name", "")
    if pod["spec"].get("nodeName"):
        text = f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
        raise status.StatusError(409, "Conflict", text, {"name": name, "kind": "pods/binding"})
    world.store.put("pods", {**pod, "spec": {**pod["spec"], "nodeName": node}})
    return status.success()


def token(world: SimWorld, namespace: str, name: str, request: Manifest) -> Manifest:
    """A TokenRequest answered with an opaque token that authenticates nobody outside this world."""
    account = world.store.get("serviceaccounts", namespace, name)
    if account is None:
        raise status.not_found(apiserver.resource_of(world, "serviceaccounts"), name)
    secret = "".join(f"{world.streams.bits('token'):016x}" for _ in range(8))
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": rfc3339(world.now()),
        },
        "spec": request.get("spec") or {},
        "status": {"token": f"sim.{secret}", "expirationTimestamp": rfc3339(world.now() + HOUR)},
    }


def review(world: SimWorld, user: User, manifest: Manifest) -> Manifest:
    """Answer a Self/Local/SubjectAccessReview, SelfSubjectRulesReview or SelfSubjectReview."""
    kind = manifest["kind"]
    if kind == "SelfSubjectReview":
        info = {"username": user.name, "groups": list(user.groups)}
        return {**manifest, "status": {"userInfo": info}}
    spec: dict[str, Any] = manifest.get("spec") or {}
    if kind == "SelfSubjectRulesReview":
        return {**manifest, "status": _rules(world, user, spec.get("namespace", ""))}
    if kind != "SelfSubjectAccessReview":
        user = User(spec.get("user", ""), tuple(spec.get("groups", ())))
    asked = spec.get("resourceAttributes") or {}
    resource = asked.get("resource", "")
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    allowed = Authorizer(world, user).allows(
        asked.get("verb", ""), asked.get("group", ""), resource, asked.get("namespace"), asked.get("name", "")
    )
    return {**manifest, "status": {"allowed": allowed}}


def _rules(world: SimWorld, user: User, namespace: str) -> dict[str, Any]:
    rules = []
    urls = []
    for grant in Authorizer(world, user).grants:
        if grant.namespace in ("", namespace):
            if "nonResourceURLs" in grant.rule:
                urls.append({k: grant.rule[k] for k in ("verbs", "nonResourceURLs")})
            else:
                rules.append({k: v for k, v in grant.rule.items() if k != "nonResourceURLs"})
    return {"resourceRules": rules, "nonResourceRules": urls, "incomplete": False}
