"""Subresources that are not just another view of status: scale, eviction, binding, tokens, reviews."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.identity import User
from sregym_env.kube import selectors, status
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.registry import CustomType, Resource
from sregym_env.kube.status import go_quote
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import admission, identities
from sregym_env.sim.apiserver.rbac import Authorizer, Grant
from sregym_env.sim.apiserver.tracking import Tracking
from sregym_env.sim.world import SimWorld

BUDGETS = "poddisruptionbudgets.policy"


def scale_of(obj: Manifest, resource: Resource | None = None) -> Manifest:
    """The ``autoscaling/v1 Scale`` view of a scalable object; ``resource`` says where a custom one keeps its parts."""
    if resource is not None and resource.custom_type is not None:
        return _custom_scale(resource, resource.custom_type, obj)
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


_SCALE_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def _custom_scale(resource: Resource, custom: CustomType, obj: Manifest) -> Manifest:
    paths = custom.subresources["scale"]
    replicas = value_at(obj, paths["specReplicasPath"])
    if replicas is None:
        text = f"the spec replicas field {go_quote(paths['specReplicasPath'])} does not exist"
        raise status.internal_error(text)
    observed: Manifest = {"replicas": value_at(obj, paths["statusReplicasPath"]) or 0}
    selector = value_at(obj, paths.get("labelSelectorPath") or "")
    if selector:
        observed["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in _SCALE_METADATA if key in obj["metadata"]},
        "spec": {"replicas": replicas},
        "status": observed,
    }


def value_at(obj: Manifest, path: str) -> Any:
    """The value at a simple JSON path (``.spec.replicas``); None where there is none."""
    found: Any = obj
    for name in path.strip(".").split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _with_value(obj: Manifest, path: list[str], value: Any) -> Manifest:
    inner = obj.get(path[0])
    below = inner if isinstance(inner, dict) else {}
    return {**obj, path[0]: _with_value(below, path[1:], value) if len(path) > 1 else value}


def rescale(
    world: SimWorld, resource: Resource, obj: Manifest, replicas: int, tracked: Tracking | None = None
) -> Manifest:
    """Write the scale of an object as a controller does. Raises what a webhook or policy says."""
    scale: Manifest = {"spec": {"replicas": replicas}}
    if admission.is_guarded(world):
        before, metadata = scale_of(obj, resource), obj["metadata"]
        request = admission.Attributes(
            "UPDATE",
            resource,
            metadata.get("namespace", ""),
            metadata["name"],
            identities.acting(world.acting),
            "scale",
            ("autoscaling", "v1", "Scale"),
        )
        scale = admission.consult(world, request, {**before, **scale}, before) or scale
    wanted = with_scale(resource, obj, scale)
    return apiserver.update(world, resource.key, wanted, tracked=tracked, admitted=True)


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
    if replicas >= 1 << 31:
        raise status.bad_request(
            f'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal number {str(replicas)[:40]} into '
            "Go struct field ScaleSpec.spec.replicas of type int32"
        )
    if replicas < 0:
        error = status.invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
        raise status.invalid("Scale.autoscaling", obj["metadata"]["name"], [error])
    if resource.custom_type is not None:
        path = resource.custom_type.subresources["scale"]["specReplicasPath"]
        return _with_value(obj, path.strip(".").split("."), replicas)
    return {**obj, "spec": {**obj["spec"], "replicas": replicas}}


def evict(world: SimWorld, namespace: str, name: str, eviction: Manifest, *, dry_run: bool) -> Manifest:
    """Delete a pod unless a disruption budget forbids it (429 TooManyRequests)."""
    pods = apiserver.resource_of(world, "pods")
    pod = world.store.get("pods", namespace, name)
    if pod is None:
        raise status.not_found(pods, name)
    budgets = [] if _is_free(pod) else _budgets_of(world, pod)
    if len(budgets) > 1:
        text = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
        raise status.StatusError(500, "", text)
    for budget in budgets:
        if not _may_go_unhealthy(budget, pod):
            _take(world, budget, pod, dry_run=dry_run)
    if not dry_run:
        options = eviction.get("deleteOptions") or {}
        _note_disruption(world, pod)
        apiserver.delete(
            world, "pods", namespace, name, grace=options.get("gracePeriodSeconds"), admitted=True
        )
    return status.success()


def _is_free(pod: Manifest) -> bool:
    """Whether no budget counts the pod: it is not running yet, has ended, or is on its way out."""
    phase = pod.get("status", {}).get("phase", "Pending")
    return phase in ("Pending", "Succeeded", "Failed") or "deletionTimestamp" in pod["metadata"]


def _budgets_of(world: SimWorld, pod: Manifest) -> list[Manifest]:
    labels = pod["metadata"].get("labels") or {}
    return [
        budget
        for budget in world.store.list(BUDGETS, pod["metadata"]["namespace"])
        if selectors.from_dict(budget["spec"].get("selector")).matches(labels)
    ]


def _may_go_unhealthy(budget: Manifest, pod: Manifest) -> bool:
    """Whether a pod that is not ready may be evicted whatever the budget still allows."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    state = budget.get("status") or {}
    desired = int(state.get("desiredHealthy", 0))
    return 0 < desired <= int(state.get("currentHealthy", 0))


def _take(world: SimWorld, budget: Manifest, pod: Manifest, *, dry_run: bool) -> None:
    """Spend one disruption of a budget. Raises TooManyRequests when there is none."""
    metadata, state = budget["metadata"], budget.get("status") or {}
    if state.get("observedGeneration", 0) < metadata.get("generation", 1):
        text = f"The disruption budget {metadata['name']} is still being processed by the server."
        raise status.eviction_refused(text, retry_after=10)
    allowed = state.get("disruptionsAllowed", 0)
    if allowed <= 0:
        failed = _failed_sync(state)
        if failed is not None:
            text = (
                f"The disruption budget {metadata['name']} does not allow evicting pods currently because it "
                f"failed sync: {failed}"
            )
            raise status.eviction_refused(text)
        raise status.eviction_blocked(
            metadata["name"], state.get("desiredHealthy", 0), state.get("currentHealthy", 0)
        )
    if not dry_run:
        gone = {**(state.get("disruptedPods") or {}), pod["metadata"]["name"]: rfc3339(world.now())}
        reduced = {**state, "disruptionsAllowed": allowed - 1, "disruptedPods": gone}
        apiserver.update_status(world, BUDGETS, metadata["namespace"], metadata["name"], reduced)


def _failed_sync(state: Manifest) -> str | None:
    for condition in state.get("conditions") or ():
        if condition["type"] == "DisruptionAllowed" and condition.get("reason") == "SyncFailed":
            return str(condition.get("message", ""))
    return None


def _note_disruption(world: SimWorld, pod: Manifest) -> None:
    """The condition that tells an eviction from an ordinary deletion."""
    metadata, state = pod["metadata"], pod.get("status") or {}
    condition: dict[str, Any] = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(world.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    others = [c for c in state.get("conditions") or () if c["type"] != "DisruptionTarget"]
    changed = {**state, "conditions": [*others, condition]}
    apiserver.update_status(world, "pods", metadata["namespace"], metadata["name"], changed)


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


def review(world: SimWorld, user: User, manifest: Manifest) -> Manifest:
    """Answer a Self/Local/SubjectAccessReview, SelfSubjectRulesReview or SelfSubjectReview."""
    kind = manifest["kind"]
    if kind == "SelfSubjectReview":
        info = {"username": user.name, "groups": list(user.groups)}
        return {**manifest, "status": {"userInfo": info}}
    spec: dict[str, Any] = manifest.get("spec") or {}
    if kind == "SelfSubjectRulesReview":
        return {**manifest, "status": _rules(world, user, spec.get("namespace", ""))}
    _check_review(kind, manifest, spec)
    if kind != "SelfSubjectAccessReview":
        user = User(spec.get("user") or "", tuple(spec.get("groups") or ()))
    allowed, grant = _answered(Authorizer(world, user), user, spec)
    answer: dict[str, Any] = {"allowed": allowed}
    if grant is not None:
        answer["reason"] = grant.reason
    return {**manifest, "status": answer}


def _answered(authorizer: Authorizer, user: User, spec: Manifest) -> tuple[bool, Grant | None]:
    """(whether what is asked for is allowed, the rule that allows it); no rule is needed for ``system:masters``."""
    if "system:masters" in user.groups:
        return True, None
    asked = spec.get("resourceAttributes")
    if asked is None:
        path = spec["nonResourceAttributes"]
        grant = authorizer.granted_path(path.get("verb") or "", path.get("path") or "")
        return grant is not None, grant
    resource = asked.get("resource") or ""
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    grant = authorizer.granted(
        asked.get("verb") or "",
        asked.get("group") or "",
        resource,
        asked.get("namespace") or "",
        asked.get("name") or "",
    )
    return grant is not None, grant


def _check_review(kind: str, manifest: Manifest, spec: Manifest) -> None:
    """Raise Invalid or BadRequest for a review that does not say what it asks."""
    errors = []
    asked, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if kind == "LocalSubjectAccessReview":
        namespace = (manifest.get("metadata") or {}).get("namespace") or "default"
        if path is not None:
            text = "disallowed on this kind of request"
            shown = status.GoValue("authorization.NonResourceAttributes{...}")
            errors.append(status.invalid_value("spec.nonResourceAttributes", shown, text))
        elif asked is not None and asked.get("namespace") != namespace:
            text = f"spec.resourceAttributes.namespace must match namespace: {namespace}"
            raise status.bad_request(text)
    if (asked is None) == (path is None):
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        shown = (
            status.GoValue("null")
            if path is None
            else status.GoValue("authorization.NonResourceAttributes{...}")
        )
        field = "spec.resourceAttributes" if path is None else "spec.nonResourceAttributes"
        errors.append(status.invalid_value(field, shown, text))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        text = "at least one of user or group must be specified"
        errors.append(status.invalid_value("spec.user", "", text))
    if errors:
        raise status.invalid(f"{kind}.authorization.k8s.io", "", errors)


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
