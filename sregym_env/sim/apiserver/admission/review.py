"""AdmissionReview documents: what webhooks are asked, and what their answers are worth.

Follows ``k8s.io/apiserver/pkg/admission/plugin/webhook/request`` and ``.../errors`` of v1.32.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.kube import conversion
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError, go_quote
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes

VERSIONS = ("v1", "v1beta1")
"""AdmissionReview versions that the API server speaks."""

_SET_ON_CREATION = ("uid", "creationTimestamp", "generation", "resourceVersion")
_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


class BadAnswer(Exception):
    """An answer that is no AdmissionReview response; carries Go's text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a webhook answered."""

    allowed: bool
    status: Mapping[str, Any] | None = None
    """The ``status`` that explains a refusal."""
    patch: Any = None
    """The decoded patch; None without one."""
    warnings: tuple[str, ...] = ()


def version_for(accepted: tuple[str, ...]) -> str:
    """The first AdmissionReview version of a webhook that the server speaks; empty if there is none."""
    return next((version for version in accepted if version in VERSIONS), "")


def shown(obj: Manifest | None, request: Attributes, resource: Resource, *, stored: bool) -> Any:
    """An object as a webhook sees it: in the version it asked for, before creation without what is set then."""
    if obj is None:
        return None
    if request.kind is None and resource.api_version != request.resource.api_version:
        obj = conversion.from_storage(resource, conversion.to_storage(request.resource, obj))
    if stored or request.operation != "CREATE" or "metadata" not in obj:
        return obj
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SET_ON_CREATION}
    return {**obj, "metadata": {**metadata, "creationTimestamp": None}}


def created(patched: Manifest, before: Manifest) -> Manifest:
    """A patched object with what the server had set on the one from which it was shown."""
    kept = {key: before["metadata"][key] for key in _SET_ON_CREATION if key in before["metadata"]}
    metadata = {key: v for key, v in patched["metadata"].items() if key not in _SET_ON_CREATION}
    return {**patched, "metadata": {**metadata, **kept}}


def question(
    version: str,
    uid: str,
    request: Attributes,
    resource: Resource,
    new: Manifest | None,
    old: Manifest | None,
    *,
    stored: bool = True,
) -> Manifest:
    """The AdmissionReview that asks about a request as if it were made on ``resource``."""
    group, kind_version, kind = request.kind or resource.gvk
    asked_group, asked_version, asked_kind = request.gvk
    options = _OPTIONS.get(request.operation)
    body: dict[str, Any] = {
        "uid": uid,
        "kind": {"group": group, "version": kind_version, "kind": kind},
        "resource": _resource(resource),
    }
    if request.subresource:
        body["subResource"] = request.subresource
    body["requestKind"] = {"group": asked_group, "version": asked_version, "kind": asked_kind}
    body["requestResource"] = _resource(request.resource)
    if request.subresource:
        body["requestSubResource"] = request.subresource
    for field, value in (("name", request.name), ("namespace", request.namespace)):
        if value:
            body[field] = value
    user = {"username": request.user.name, "groups": list(request.user.groups)}
    body |= {
        "operation": request.operation,
        "userInfo": user,
        "object": shown(new, request, resource, stored=stored),
        "oldObject": shown(old, request, resource, stored=True),
        "dryRun": request.dry_run,
        "options": None
        if options is None
        else {"kind": options, "apiVersion": "meta.k8s.io/v1", **(request.options or {})},
    }
    return {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": body}


def _resource(resource: Resource) -> dict[str, str]:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


# --- answers --------------------------------------------------------------------------------------------------


def decoded(body: str, version: str) -> Manifest:
    """The AdmissionReview in the body of an answer. Raises BadAnswer."""
    try:
        review = orjson.loads(body)
    except ValueError:
        text = f"invalid character {_go_char(body.lstrip()[:1])} looking for beginning of value"
        raise BadAnswer(f"couldn't get version/kind; json parse error: {text}") from None
    if not isinstance(review, dict):
        text = (
            f"json: cannot unmarshal {_json_name(review)} into Go value of type struct {{ APIVersion string "
        )
        text += '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        raise BadAnswer(f"couldn't get version/kind; json parse error: {text}")
    wanted = f"admission.k8s.io/{version}"
    _check_types(review, {"kind": str, "apiVersion": str, "response": dict}, "AdmissionReview", "")
    if isinstance(review.get("response"), dict):
        _check_types(review["response"], _RESPONSE, "AdmissionResponse", "response.")
        _check_types(review["response"].get("status") or {}, _STATUS, "Status", "response.status.")
    kind, api_version = review.get("kind") or "", review.get("apiVersion") or ""
    if (kind or "AdmissionReview") != "AdmissionReview" or (api_version or wanted) not in (
        "admission.k8s.io/v1",
        "admission.k8s.io/v1beta1",
    ):
        text = f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)}"
        raise BadAnswer(f'{text} in scheme "pkg/runtime/scheme.go:100"')
    if api_version and api_version != wanted:
        found = api_version.rpartition("/")[2]
        text = f"({found}.AdmissionReview) to ({version}.AdmissionReview)"
        raise BadAnswer(f"converting {text}: unknown conversion")
    return review


_RESPONSE: Mapping[str, type] = {
    "uid": str, "allowed": bool, "status": dict, "patch": str, "patchType": str, "warnings": list,
}  # fmt: skip
_STATUS: Mapping[str, type] = {"message": str, "reason": str, "code": int, "details": dict}
_GO_TYPES: Mapping[type, str] = {str: "string", bool: "bool", int: "int32", dict: "map", list: "[]string"}


def _check_types(found: Mapping[str, Any], wanted: Mapping[str, type], struct: str, path: str) -> None:
    """Raise what Go's decoder says of the first field that has another type."""
    for name, kind in wanted.items():
        value = found.get(name)
        if value is None or type(value) is kind:
            continue
        go_type = _GO_TYPES[kind]
        where = f"{struct}.{path}{name}"
        raise BadAnswer(
            f"json: cannot unmarshal {_json_name(value)} into Go struct field {where} of type {go_type}"
        )


def _json_name(value: Any) -> str:
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _go_char(text: str) -> str:
    return {"'": r"'\''", '"': "'\"'"}.get(text, f"'{text}'")


def judged(review: Manifest, version: str, uid: str, *, mutating: bool) -> Answer:
    """What a decoded answer says (``VerifyAdmissionResponse``). Raises BadAnswer."""
    response = review.get("response")
    if not isinstance(response, Mapping):
        raise BadAnswer("webhook response was absent")
    patch, kind = response.get("patch"), response.get("patchType")
    if version == "v1":
        found = response.get("uid") or ""
        if found != uid:
            raise BadAnswer(f"expected response.uid={go_quote(uid)}, got {go_quote(found)}")
        api_version, own_kind = review.get("apiVersion") or "", review.get("kind") or ""
        if (api_version, own_kind) != ("admission.k8s.io/v1", "AdmissionReview"):
            shown_version = api_version if "/" in api_version else f"/{api_version}"
            text = (
                f"expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {shown_version}"
            )
            raise BadAnswer(f"{text}, Kind={own_kind}")
        _check_patch(patch, kind, mutating=mutating)
    elif patch and mutating:
        kind = "JSONPatch"
    if kind is not None and kind != "JSONPatch":
        raise BadAnswer(f"unsupported patch type {go_quote(kind)}")
    return Answer(
        response.get("allowed") is True,
        response.get("status"),
        _patch(patch) if patch and mutating else None,
        tuple(str(text) for text in response.get("warnings") or ()),
    )


def _check_patch(patch: Any, kind: Any, *, mutating: bool) -> None:
    if not mutating:
        if patch:
            raise BadAnswer("validating webhook may not return response.patch")
        if kind is not None:
            raise BadAnswer("validating webhook may not return response.patchType")
        return
    if patch and kind is None:
        raise BadAnswer("webhook returned response.patch but not response.patchType")
    if not patch and kind is not None:
        raise BadAnswer("webhook returned response.patchType but not response.patch")
    if kind == "":
        raise BadAnswer('webhook returned invalid response.patchType of ""')


def _patch(text: str) -> Any:
    """A decoded patch; what is no JSON comes back as its text and fails when it is applied."""
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        raise BadAnswer("illegal base64 data at input byte 0") from None
    try:
        return orjson.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")


def rejection(name: str, found: Mapping[str, Any] | None) -> StatusError:
    """The error with which the API server passes a webhook's refusal on (``errors.ToStatusErr``)."""
    denied = f"admission webhook {go_quote(name)} denied the request"
    answer = dict(found or {})
    code = answer.get("code") or 0
    message, reason = str(answer.get("message") or ""), str(answer.get("reason") or "")
    if message or reason:
        text = f"{denied}: {message or reason}"
    else:
        text = f"{denied} without explanation"
    details = answer.get("details")
    return StatusError(
        code if isinstance(code, int) and code >= 400 else 400,
        reason,
        text,
        details if isinstance(details, Mapping) else None,
    )
