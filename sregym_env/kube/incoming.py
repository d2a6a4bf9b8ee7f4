"""What the API server makes of an object that is sent to a path: its type and address follow from both."""

from __future__ import annotations

from sregym_env.kube import status
from sregym_env.kube.types import Manifest


def unrecognized(kind: str, problem: str, raw: bytes) -> status.StatusError:
    """400: a body is not an object at all."""
    of = kind or "Object"
    return status.bad_request(
        f"the object provided is unrecognized (must be of type {of}): {problem} ({summary(raw)})"
    )


def summary(raw: bytes, limit: int = 30) -> str:
    """The beginning of a body as the API server quotes it."""
    if not raw:
        return "<empty>"
    shown = raw[:limit]
    text = shown.decode(errors="replace") if raw[:1] == b"{" else shown.hex()
    return f"{text} ..." if len(raw) > limit else text


def typed(obj: Manifest, api_version: str, kind: str) -> Manifest:
    """The object with the type its path implies. Raises BadRequest where it says it is something else."""
    own_version, own_kind = obj.get("apiVersion") or api_version, obj.get("kind") or kind
    if own_version != api_version:
        raise status.bad_request(
            f"the API version in the data ({own_version}) does not match the expected API version ({api_version})"
        )
    if own_kind != kind:
        raise status.bad_request(
            f"{own_kind} in version {status.go_quote(own_version)} cannot be handled as a {kind}"
        )
    return {**obj, "apiVersion": api_version, "kind": kind}


def addressed(obj: Manifest, name: str, namespace: str | None) -> Manifest:
    """The object with the name and namespace of its path. Raises BadRequest where its own differ."""
    metadata = dict(obj.get("metadata") or {})
    own = metadata.get("name") or name
    if own != name:
        raise status.bad_request(
            f"the name of the object ({own}) does not match the name on the URL ({name})"
        )
    metadata["name"] = own
    if namespace is not None:
        if (metadata.get("namespace") or namespace) != namespace:
            raise status.bad_request(
                f"the namespace of the object ({metadata['namespace']}) does not match the namespace on the "
                f"request ({namespace})"
            )
        metadata["namespace"] = namespace
    return {**obj, "metadata": metadata}
