"""Conversion of custom resources between versions: by name alone, or by a webhook in the cluster.

Follows ``pkg/apiserver/conversion`` of ``k8s.io/apiextensions-apiserver`` v1.32: with the strategy ``Webhook``
objects are stored in the storage version, and whoever reads or writes another one depends on the webhook.
"""

from __future__ import annotations

from typing import Any

import orjson

from sregym_env.kube import conversion
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError, go_quote
from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.sim.apiserver import custom
from sregym_env.sim.apiserver.admission import calling
from sregym_env.sim.world import SimWorld

TIMEOUT = 30
"""Seconds that a conversion webhook may take."""
_REVIEWS = ("v1", "v1beta1")


class _Failed(Exception):
    """A webhook that gave no usable answer."""


def presented(world: SimWorld, kind: Resource, obj: Manifest) -> Manifest:
    """A stored object in the version of ``kind``. Raises StatusError 500 where it cannot be converted."""
    return conversion.from_storage(kind, _converted(world, kind, obj, kind.api_version))


def stored(world: SimWorld, kind: Resource, obj: Manifest) -> Manifest:
    """An object that came in as ``kind`` as it is stored. Raises StatusError 500 where it cannot be converted."""
    if kind.custom_type is None or webhook_of(world, kind) is None:
        return obj
    return _converted(world, kind, obj, f"{kind.group}/{kind.custom_type.storage_version}")


def webhook_of(world: SimWorld, kind: Resource) -> Manifest | None:
    """The conversion webhook of a custom resource, if it has one."""
    if kind.custom_type is None:
        return None
    crd = world.store.get(custom.DEFINITIONS, "", kind.key)
    declared: Manifest = (crd or kind.custom_type.crd)["spec"].get("conversion") or {}
    if declared.get("strategy") != "Webhook":
        return None
    found: Manifest = declared.get("webhook") or {}
    return found


def _converted(world: SimWorld, kind: Resource, obj: Manifest, wanted: str) -> Manifest:
    if obj.get("apiVersion") == wanted:
        return obj
    webhook = webhook_of(world, kind)
    if webhook is None:
        return obj
    own = str(obj.get("apiVersion"))
    shown = f"{own}, Kind={kind.kind}"
    try:
        answer = _asked(world, webhook, obj, wanted)
    except _Failed as error:
        raise StatusError(500, "", f"conversion webhook for {shown} failed: {error}") from None
    objects = answer.get("convertedObjects") or []
    if len(objects) != 1:
        raise StatusError(
            500, "", f"conversion webhook for {shown} returned {len(objects)} objects, expected 1"
        )
    made = objects[0]
    if made.get("apiVersion") != wanted:
        text = f"invalid groupVersion (received {made.get('apiVersion', '')}, expected {wanted})"
        raise StatusError(
            500, "", f"conversion webhook for {shown} returned invalid converted object at index 0: {text}"
        )
    return _restored(made, obj)


def _restored(made: Manifest, obj: Manifest) -> Manifest:
    """A converted object with the metadata of the original: a webhook may change labels and annotations only."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "annotations")}
    for key in ("labels", "annotations"):
        value = (made.get("metadata") or {}).get(key)
        if value:
            metadata[key] = value
    return {**made, "metadata": metadata}


def _asked(world: SimWorld, webhook: Manifest, obj: Manifest, wanted: str) -> dict[str, Any]:
    """The ``response`` of the ConversionReview. Raises _Failed."""
    accepted = webhook.get("conversionReviewVersions") or []
    version = next((one for one in accepted if one in _REVIEWS), "")
    if not version:
        raise _Failed("webhook does not accept known ConversionReview versions (v1, v1beta1)")
    uid = ids.uid(world.streams)
    request = {"uid": uid, "desiredAPIVersion": wanted, "objects": [obj]}
    api_version = f"apiextensions.k8s.io/{version}"
    document = {"kind": "ConversionReview", "apiVersion": api_version, "request": request}
    target = calling.target_of(webhook.get("clientConfig") or {})
    try:
        body, _ = calling.call(world, target, orjson.dumps(document).decode(), TIMEOUT)
    except calling.CallFailed as error:
        raise _Failed(error.text) from None
    try:
        found = orjson.loads(body)
    except ValueError:
        raise _Failed("invalid character looking for beginning of value") from None
    if not isinstance(found, dict) or (found.get("apiVersion"), found.get("kind")) != (
        api_version,
        "ConversionReview",
    ):
        got = (
            f"{found.get('apiVersion', '')}, Kind={found.get('kind', '')}" if isinstance(found, dict) else "/"
        )
        raise _Failed(f"expected webhook response of {api_version}, Kind=ConversionReview, got {got}")
    response: dict[str, Any] = found.get("response") or {}
    if response.get("uid") != uid:
        raise _Failed(
            f"expected response.uid={go_quote(uid)}, got {go_quote(str(response.get('uid') or ''))}"
        )
    result = response.get("result") or {}
    if result.get("status") != "Success":
        said = str(result.get("message") or "")
        raise _Failed(said or f"response.result.status was '{result.get('status', '')}', not 'Success'")
    return response
