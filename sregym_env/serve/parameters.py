"""Query parameters that the API server checks before it does anything, and what it says about them.

Source of the texts: ``ValidateListOptions`` and the validation of the other options in ``meta/v1`` of v1.32, and
``strconv`` for what does not convert.
"""

from __future__ import annotations

from sregym_env.kube import status
from sregym_env.serve.message import Request
from sregym_env.sim.apiserver import tracking

_MATCH = "resourceVersionMatch"
_INITIAL = "sendInitialEvents"

MAX_REQUIREMENTS = 1000
"""Requirements of one selector. The API server knows no limit; each object is checked against each."""


def check_name(name: str) -> None:
    """Raises BadRequest for a name that could mean another path."""
    problems = []
    if name in (".", ".."):
        problems.append(f"may not be '{name}'")
    else:
        problems += [f"may not contain '{part}'" for part in ("/", "%") if part in name]
    if problems:
        texts = ";".join(problems)
        raise status.bad_request(f"Name parameter invalid: {status.go_quote(name)}: {texts}")


def check_reading(request: Request) -> None:
    """The ``ListOptions`` of a request. Raises BadRequest, Invalid, Timeout."""
    request.number("limit")
    request.number("timeoutSeconds")
    for selector in ("labelSelector", "fieldSelector"):
        if request.first(selector).count(",") > MAX_REQUIREMENTS:
            raise status.bad_request(
                f"unable to parse requirement: more than {MAX_REQUIREMENTS} requirements"
            )
    errors = [*_initial_events(request), *_matching(request)]
    if errors:
        raise status.invalid("ListOptions.meta.k8s.io", "", errors)


def _initial_events(request: Request) -> list[status.FieldError]:
    if _INITIAL not in request.query:
        return []
    if not request.flag("watch"):
        return [status.forbidden_field(_INITIAL, f"{_INITIAL} is forbidden for list")]
    if request.first(_MATCH) != "NotOlderThan":
        text = f"{_INITIAL} requires setting {_MATCH} to NotOlderThan"
        return [status.forbidden_field(_MATCH, text)]
    return []


def _matching(request: Request) -> list[status.FieldError]:
    match, version = request.first(_MATCH), request.first("resourceVersion")
    if not match or (request.flag("watch") and _INITIAL in request.query):
        return []
    if request.flag("watch"):
        text = f"{_MATCH} is forbidden for watch unless {_INITIAL} is provided"
        return [status.forbidden_field(_MATCH, text)]
    errors = []
    if not version:
        errors.append(
            status.forbidden_field(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided")
        )
    if request.first("continue"):
        errors.append(status.forbidden_field(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
    if match not in ("Exact", "NotOlderThan"):
        errors.append(status.unsupported(_MATCH, match, ("Exact", "NotOlderThan", "")))
    if match == "Exact" and version == "0":
        text = f'{_MATCH} "exact" is forbidden for resourceVersion "0"'
        errors.append(status.forbidden_field(_MATCH, text))
    return errors


def check_writing(request: Request, kind: str) -> None:
    """The options of a write, of which ``kind`` is ``CreateOptions`` or the like. Raises Invalid."""
    if kind in ("CreateOptions", "UpdateOptions"):
        check_manager(request, kind)
    errors = []
    for value in request.query.get("dryRun", ()):
        if value and value != "All":
            errors.append(status.unsupported("dryRun", value, ("All",)))
    chosen = request.first("fieldValidation")
    if chosen not in ("", "Strict", "Warn", "Ignore"):
        errors.append(status.unsupported("fieldValidation", chosen, ("", "Ignore", "Strict", "Warn")))
    if errors:
        raise status.invalid(f"{kind}.meta.k8s.io", "", errors)


def check_manager(request: Request, kind: str, patch: str = "") -> None:
    """The field manager of a write and, of a patch of the type ``patch``, what goes with it. Raises Invalid."""
    manager = request.first("fieldManager")
    errors = []
    if patch == "apply" and not manager:
        errors.append(status.required("fieldManager", "is required for apply patch"))
    if patch and patch != "apply" and "force" in request.query:
        errors.append(status.forbidden_field("force", "may not be specified for non-apply patch"))
    errors += tracking.manager_errors(manager)
    if errors:
        raise status.invalid(f"{kind}.meta.k8s.io", "", errors)


def manager_of_agent(agent: str) -> str:
    """The field manager of a client that names none: the program in its ``User-Agent``."""
    kept, size = [], 0
    for char in agent.partition("/")[0]:
        if char.isprintable():
            size += len(char.encode())
            if size > tracking.MAX_MANAGER:
                break
            kept.append(char)
    return "".join(kept) or "unknown"


def revision(text: str) -> int:
    """A resource version. Raises BadRequest."""
    if text.isascii() and text.isdigit() and len(text) <= 20:
        number = int(text)
        if number < 2**64:
            return number
    problem = "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"
    quoted = status.go_quote(text)
    raise status.bad_request(
        f"invalid resource version: resourceVersion: Invalid value: {quoted}: strconv.ParseUint: parsing {quoted}: "
        f"{problem}"
    )


def check_not_ahead(version: str, known: int) -> None:
    """Raises Timeout for a list that shall be newer than anything there is."""
    if not version:
        return
    wanted = revision(version)
    if wanted <= known:
        return
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause], "retryAfterSeconds": 1}
    text = f"Timeout: Too large resource version: {wanted}, current: {known}"
    raise status.StatusError(504, "Timeout", text, details)
