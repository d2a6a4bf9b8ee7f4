"""What ``agnhost webhook`` answers to the API server: one pure function per path.

Paths, rules and texts are those of the published test image (``registry.k8s.io/e2e-test-images/agnhost``).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import orjson

Review = Mapping[str, Any]
"""The ``request`` of an AdmissionReview."""

Answer = dict[str, Any]
"""The ``response`` of one, without its uid."""

DELAY = 5.0
"""Seconds that ``/always-allow-delay-5s`` takes."""
FOREVER = 86_400.0
"""Longer than anybody waits."""

_PODS = {"group": "", "version": "v1", "resource": "pods"}
_CONFIG_MAPS = {"group": "", "version": "v1", "resource": "configmaps"}


class Broken(Exception):
    """The handler panics: the connection is closed without an answer."""


def _patch(operations: list[dict[str, Any]]) -> Answer:
    patch = b64encode(orjson.dumps(operations)).decode()
    return {"allowed": True, "patch": patch, "patchType": "JSONPatch"}


def _denied(message: str = "", reason: str = "", **more: Any) -> Answer:
    status: dict[str, Any] = {"metadata": {}}
    if message:
        status["message"] = message
    if reason:
        status["reason"] = reason
    return {"allowed": False, "status": {**status, **more}}


def _unexpected(resource: Mapping[str, str]) -> str:
    return f"expect resource to be {{{resource['group']} {resource['version']} {resource['resource']}}}"


def _labels(obj: Mapping[str, Any] | None) -> Mapping[str, str]:
    metadata: Mapping[str, Any] = (obj or {}).get("metadata") or {}
    return metadata.get("labels") or {}


def _always_deny(_: Review, _sidecar: str) -> Answer:
    return _denied("this webhook denies all requests")


def _always_allow(_: Review, _sidecar: str) -> Answer:
    return {"allowed": True, "status": {"metadata": {}, "message": "this webhook allows all requests"}}


def _add_label(review: Review, _sidecar: str) -> Answer:
    labels = _labels(review.get("object"))
    if not labels:
        return _patch([{"op": "add", "path": "/metadata/labels", "value": {"added-label": "yes"}}])
    path = "/metadata/labels/added-label"
    if "added-label" not in labels:
        return _patch([{"op": "add", "path": path, "value": "yes"}])
    if labels["added-label"] != "yes":
        return _patch([{"op": "replace", "path": path, "value": "yes"}])
    return {"allowed": True}


def _pods(review: Review, _sidecar: str) -> Answer:
    if review.get("resource") != _PODS:
        return _denied(_unexpected(_PODS))
    pod = review.get("object") or {}
    complaints = []
    if _labels(pod).get("webhook-e2e-test") == "webhook-disallow":
        complaints.append("the pod contains unwanted label; ")
    for container in (pod.get("spec") or {}).get("containers") or ():
        if "webhook-disallow" in container.get("name", ""):
            complaints.append("the pod contains unwanted container name; ")
    return _denied("".join(complaints).strip()) if complaints else {"allowed": True}


def _attach(review: Review, _sidecar: str) -> Answer:
    if review.get("name") != "to-be-attached-pod":
        return {"allowed": True}
    asked = review.get("resource") or {}
    if asked != _PODS:
        found = f"{{{asked.get('group', '')} {asked.get('version', '')} {asked.get('resource', '')}}}"
        return _denied(f"{_unexpected(_PODS)}, got {found}")
    if review.get("subResource") != "attach":
        return _denied(f"expect subresource to be attach, got {review.get('subResource', '')}")
    options = review.get("object") or {}
    if not options.get("stdin") or options.get("container") != "container1":
        return {"allowed": True}
    return _denied("attaching to pod 'to-be-attached-pod' is not allowed")


def _mutating_pods(review: Review, _sidecar: str) -> Answer:
    pod = _asked_pod(review)
    added = "webhook-added-init-container"
    containers = (pod.get("spec") or {}).get("initContainers") or ()
    named = (pod.get("metadata") or {}).get("name") == "webhook-to-be-mutated"
    if not named or any(container.get("name") == added for container in containers):
        return {"allowed": True}
    container = {"image": "webhook-added-image", "name": added, "resources": {}}
    return _patch([{"op": "add", "path": "/spec/initContainers", "value": [container]}])


def _mutating_pods_sidecar(review: Review, sidecar: str) -> Answer:
    if not sidecar:
        text = "No image specified by the sidecar-image parameter"
        return _denied(text, status="Failure", code=500)
    pod = _asked_pod(review)
    added = "webhook-added-sidecar"
    containers = (pod.get("spec") or {}).get("containers") or ()
    if any(container.get("name") == added for container in containers):
        return {"allowed": True}
    container = {"image": sidecar, "name": added, "resources": {}}
    return _patch([{"op": "add", "path": "/spec/containers/-", "value": container}])


def _asked_pod(review: Review) -> Mapping[str, Any]:
    if review.get("resource") != _PODS:
        raise Broken
    return review.get("object") or {}


def _judged(review: Review, what: str, why: str) -> Answer:
    """Whether the data of an object allow what is done to it."""
    operation = review.get("operation")
    obj = review.get("oldObject" if operation == "DELETE" else "object") or {}
    found = (obj.get("data") or {}).get("webhook-e2e-test")
    if found == "webhook-disallow" and operation in ("CREATE", "UPDATE"):
        return _denied(reason=f"the {what} contains unwanted {why}")
    if found == "webhook-nondeletable" and operation == "DELETE":
        return _denied(reason=f"the {what} cannot be deleted because it contains unwanted key and value")
    return {"allowed": True}


def _staged(review: Review) -> Answer:
    """The next stage of the mutation of an object's data."""
    data = (review.get("object") or {}).get("data") or {}
    if data.get("mutation-stage-1") == "yes":
        return _patch([{"op": "add", "path": "/data/mutation-stage-2", "value": "yes"}])
    if data.get("mutation-start") == "yes":
        return _patch([{"op": "add", "path": "/data/mutation-stage-1", "value": "yes"}])
    return {"allowed": True}


def _config_maps(review: Review, _sidecar: str) -> Answer:
    if review.get("resource") != _CONFIG_MAPS:
        raise Broken
    return _judged(review, "configmap", "key and value")


def _mutating_config_maps(review: Review, _sidecar: str) -> Answer:
    if review.get("resource") != _CONFIG_MAPS:
        raise Broken
    return _staged(review)


def _custom_resource(review: Review, _sidecar: str) -> Answer:
    return _judged(review, "custom resource", "data")


def _mutating_custom_resource(review: Review, _sidecar: str) -> Answer:
    return _staged(review)


def _crd(review: Review, _sidecar: str) -> Answer:
    definitions = ("apiextensions.k8s.io", "customresourcedefinitions")
    asked = review.get("resource") or {}
    if (asked.get("group"), asked.get("resource")) != definitions:
        version = {"group": definitions[0], "version": "v1", "resource": definitions[1]}
        return _denied(_unexpected(version).replace("expect resource to be", "expect resource to be one of"))
    if _labels(review.get("object")).get("webhook-e2e-test") == "webhook-disallow":
        return _denied("the crd contains unwanted label")
    return {"allowed": True}


HANDLERS: Mapping[str, Callable[[Review, str], Answer]] = {
    "/always-allow-delay-5s": _always_allow,
    "/always-deny": _always_deny,
    "/add-label": _add_label,
    "/pods": _pods,
    "/pods/attach": _attach,
    "/mutating-pods": _mutating_pods,
    "/mutating-pods-sidecar": _mutating_pods_sidecar,
    "/configmaps": _config_maps,
    "/mutating-configmaps": _mutating_config_maps,
    "/custom-resource": _custom_resource,
    "/mutating-custom-resource": _mutating_custom_resource,
    "/crd": _crd,
}
"""(request, image of ``--sidecar-image``) -> response, by path. They raise :class:`Broken`."""


def delay(path: str, review: Review) -> float:
    """Seconds a handler takes besides its work."""
    if path == "/always-allow-delay-5s":
        return DELAY
    waits = _labels(review.get("object")).get("webhook-e2e-test") == "wait-forever"
    return FOREVER if path == "/pods" and waits else 0.0
