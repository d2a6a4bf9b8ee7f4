"""Kubernetes ``Status`` errors: what the API server answers when it refuses, word for word.

Every constructor returns the exception; the caller raises it. Message texts are those of
``k8s.io/apimachinery/pkg/api/errors`` and ``.../util/validation/field`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.errors import ClusterError
from sregym_env.kube.registry import Resource


class StatusError(ClusterError):
    """A request the API server refused, with the ``Status`` it would have answered."""

    def __init__(
        self, code: int, reason: str, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @property
    def status(self) -> dict[str, Any]:
        """The ``Status`` object of the response body."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details:
            status["details"] = self.details
        status["code"] = self.code
        return status

    def __reduce__(self) -> tuple[Any, ...]:
        return (StatusError, (self.code, self.reason, self.message, self.details))


def success(name: str = "", resource: Resource | str = "", uid: str = "") -> dict[str, Any]:
    """The ``Status`` of a request that succeeded without an object to return (most deletes)."""
    status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if name:
        details = _details(resource, name)
        if uid:
            details["uid"] = uid
        status["details"] = details
    return status


# --- field errors ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoValue:
    """A value that Go would print in its own syntax (``map[string]string{"a":"b"}``)."""

    text: str


@dataclass(frozen=True, slots=True)
class FieldError:
    """One complaint about one field; ``str()`` prints it as Go's ``field.Error`` does.

    ``type`` is the spoken type ("Invalid value", "Required value", ...). Use the constructors below.
    """

    type: str
    field: str
    value: Any = None
    detail: str = ""

    @property
    def body(self) -> str:
        """The text without the field."""
        text = self.type
        if self.type not in _VALUELESS:
            text = f"{text}: {go_literal(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"

    @property
    def cause(self) -> dict[str, str]:
        """The entry of ``details.causes``."""
        return {"reason": _CAUSES[self.type], "message": self.body, "field": self.field}


_VALUELESS = frozenset(("Required value", "Forbidden", "Too long", "Internal error"))
_CAUSES = {
    "Not found": "FieldValueNotFound",
    "Required value": "FieldValueRequired",
    "Duplicate value": "FieldValueDuplicate",
    "Invalid value": "FieldValueInvalid",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Internal error": "InternalError",
}


def required(field: str, detail: str = "") -> FieldError:
    """A field that must be there is not."""
    return FieldError("Required value", field, None, detail)


def invalid_value(field: str, value: Any, detail: str = "") -> FieldError:
    """A value that breaks a rule."""
    return FieldError("Invalid value", field, value, detail)


def duplicate(field: str, value: Any) -> FieldError:
    """A value that must be unique and is not."""
    return FieldError("Duplicate value", field, value)


def missing(field: str, value: Any) -> FieldError:
    """A reference to something that is not there."""
    return FieldError("Not found", field, value)


def unsupported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """A value outside an enumeration."""
    detail = "supported values: " + ", ".join(go_quote(s) for s in supported) if supported else ""
    return FieldError("Unsupported value", field, value, detail)


def forbidden_field(field: str, detail: str) -> FieldError:
    """A field that must not be set, or not in this way."""
    return FieldError("Forbidden", field, None, detail)


def too_long(field: str, max_bytes: int) -> FieldError:
    """A string that is too long."""
    return FieldError("Too long", field, None, f"may not be more than {max_bytes} bytes")


_QUOTES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}


def go_quote(text: str) -> str:
    """A string as Go's ``%q`` prints it."""
    out = []
    for char in text:
        if char in _QUOTES:
            out.append(_QUOTES[char])
        elif char.isprintable():
            out.append(char)
        elif ord(char) < 0x80:
            out.append(f"\\x{ord(char):02x}")
        elif ord(char) < 0x10000:
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(f"\\U{ord(char):08x}")
    return '"' + "".join(out) + '"'


def go_literal(value: Any) -> str:
    """A value as ``field.Error`` prints it (``%v`` for scalars, ``%q`` for strings, ``%#v`` else)."""
    match value:
        case None:
            return '"null"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return go_quote(value)
        case GoValue():
            return value.text
        case Mapping():
            return "map[string]string{" + _go_pairs(value) + "}"
        case list() | tuple():
            return "[]string{" + ", ".join(go_literal(v) for v in value) + "}"
    return go_quote(str(value))


def _go_pairs(value: Mapping[str, Any]) -> str:
    return ", ".join(f"{go_quote(k)}:{go_literal(value[k])}" for k in sorted(value))


# --- constructors -----------------------------------------------------------------------------------


def _names(resource: Resource | str) -> tuple[str, str, str]:
    """(qualified name, group, plural) of a resource or of its key."""
    if isinstance(resource, str):
        plural, _, group = resource.partition(".")
        return resource, group, plural
    return resource.key, resource.group, resource.plural


def _details(resource: Resource | str, name: str) -> dict[str, Any]:
    _, group, plural = _names(resource)
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if plural:
        details["kind"] = plural
    return details


def not_found(resource: Resource | str, name: str) -> StatusError:
    """404: there is no such object."""
    key, _, _ = _names(resource)
    return StatusError(404, "NotFound", f"{key} {go_quote(name)} not found", _details(resource, name))


def unknown_path() -> StatusError:
    """404: nothing is served under that URL."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: Resource | str, name: str) -> StatusError:
    """409: an object of that name is already there."""
    key, _, _ = _names(resource)
    message = f"{key} {go_quote(name)} already exists"
    return StatusError(409, "AlreadyExists", message, _details(resource, name))


OBJECT_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(resource: Resource | str, name: str, text: str = OBJECT_MODIFIED) -> StatusError:
    """409: the object changed since it was read (or another precondition failed)."""
    key, _, _ = _names(resource)
    message = f"Operation cannot be fulfilled on {key} {go_quote(name)}: {text}"
    return StatusError(409, "Conflict", message, _details(resource, name))


def apply_conflict(conflicts: Sequence[tuple[str, str]]) -> StatusError:
    """409: server-side apply would take fields from other managers.

    ``conflicts`` are (manager as described, field path) pairs, e.g.
    ``('"kubectl-client-side-apply" using apps/v1', '.spec.replicas')``.
    """
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
        for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        text = f"1 conflict: conflict with {conflicts[0][0]}: {conflicts[0][1]}"
    else:
        lines = []
        for manager in sorted(dict(conflicts)):
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {path}" for owner, path in conflicts if owner == manager]
        text = f"{len(conflicts)} conflicts: " + "\n".join(lines)
    return StatusError(409, "Conflict", f"Apply failed with {text}", {"causes": causes})


def aggregate(errors: Iterable[object]) -> str:
    """Several errors as Go's aggregate prints them: one alone, more as ``[a, b]``, doubles once."""
    texts = list(dict.fromkeys(str(e) for e in errors))
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"


def invalid(resource: Resource | str, name: str, errors: Sequence[FieldError]) -> StatusError:
    """422: the object breaks validation. A string is the qualified kind (``Deployment.apps``)."""
    group_kind = resource if isinstance(resource, str) else resource.group_kind
    kind, _, group = group_kind.partition(".")
    message = f"{group_kind} {go_quote(name)} is invalid"
    if errors:
        message = f"{message}: {aggregate(errors)}"
    details: dict[str, Any] = {"name": name} if name else {}
    if group:
        details["group"] = group
    details["kind"] = kind
    if errors:
        details["causes"] = [e.cause for e in errors]
    return StatusError(422, "Invalid", message, details)


def forbidden_admission(resource: Resource | str, name: str, text: str) -> StatusError:
    """403: admission refused (quota, limits, pod security, service account, ...)."""
    key, _, _ = _names(resource)
    subject = f"{key} {go_quote(name)}" if name else key
    return StatusError(403, "Forbidden", f"{subject} is forbidden: {text}", _details(resource, name))


def forbidden(
    resource: Resource | str,
    name: str,
    user: str,
    verb: str,
    namespace: str = "",
    subresource: str = "",
    reason: str = "",
) -> StatusError:
    """403: RBAC does not let the user do this. An empty namespace means cluster scope."""
    _, group, plural = _names(resource)
    what = f"{plural}/{subresource}" if subresource else plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    text = f'User "{user}" cannot {verb} resource "{what}" in API group "{group}" {where}'
    return forbidden_admission(resource, name, f"{text}: {reason}" if reason else text)


def forbidden_path(user: str, verb: str, path: str) -> StatusError:
    """403: RBAC does not let the user reach a non-resource URL."""
    return StatusError(403, "Forbidden", f'forbidden: User "{user}" cannot {verb} path "{path}"')


def bad_request(message: str) -> StatusError:
    """400: the request cannot be understood."""
    return StatusError(400, "BadRequest", message)


def cannot_handle(kind: str, version: str, text: str) -> StatusError:
    """400: the body does not decode as the kind it says it is."""
    message = f'{kind} in version "{version}" cannot be handled as a {kind}: {text}'
    return StatusError(400, "BadRequest", message)


def unauthorized(message: str = "Unauthorized") -> StatusError:
    """401: who are you?"""
    return StatusError(401, "Unauthorized", message)


def unprocessable() -> StatusError:
    """422: a JSON or merge patch does not apply to the object (the server does not say why)."""
    message = "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", message)


def method_not_allowed(resource: Resource | str, action: str) -> StatusError:
    """405: the resource does not support that verb."""
    key, _, _ = _names(resource)
    message = f"{action} is not supported on resources of kind {go_quote(key)}"
    return StatusError(405, "MethodNotAllowed", message, _details(resource, ""))


def not_acceptable(message: str) -> StatusError:
    """406: no representation the client accepts."""
    return StatusError(406, "NotAcceptable", message)


def unsupported_media_type(accepted: Sequence[str]) -> StatusError:
    """415: the content type of the body is not one of the accepted ones."""
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(
        accepted
    )
    return StatusError(415, "UnsupportedMediaType", message)


def gone(requested: int | str, oldest: int | str) -> StatusError:
    """410: that resource version is no longer kept."""
    return StatusError(410, "Expired", f"too old resource version: {requested} ({oldest})")


def too_many_requests(
    message: str, retry_after: int = 10, causes: Sequence[Mapping[str, str]] = ()
) -> StatusError:
    """429: try again later (``retry_after`` seconds)."""
    details: dict[str, Any] = {}
    if causes:
        details["causes"] = [dict(c) for c in causes]
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return StatusError(429, "TooManyRequests", message, details)


def eviction_blocked(budget: str, needed: int, healthy: int) -> StatusError:
    """429: an eviction that a PodDisruptionBudget does not allow now."""
    return eviction_refused(
        f"The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently"
    )


def eviction_refused(text: str, retry_after: int = 0) -> StatusError:
    """429: an eviction that a PodDisruptionBudget stands in the way of, and why."""
    cause = {"reason": "DisruptionBudget", "message": text}
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return too_many_requests(message, retry_after, [cause])


def internal_error(message: str) -> StatusError:
    """500: the server failed."""
    text = f"Internal error occurred: {message}"
    return StatusError(500, "InternalError", text, {"causes": [{"message": message}]})


def undialled(message: str) -> StatusError:
    """500: what a request is handed on to could not be dialled; it has no reason."""
    return StatusError(500, "", message)


def service_unavailable(message: str) -> StatusError:
    """503: what serves this API is not there now."""
    return StatusError(503, "ServiceUnavailable", message)


def timeout(message: str, retry_after: int = 0) -> StatusError:
    """504: the request took too long."""
    details = {"retryAfterSeconds": retry_after} if retry_after else {}
    return StatusError(504, "Timeout", f"Timeout: {message}", details)
