"""MutatingAdmissionWebhook and ValidatingAdmissionWebhook: programs in the cluster have their say.

Follows ``k8s.io/apiserver/pkg/admission/plugin/webhook/{generic,mutating,validating}`` of v1.32. Nothing here
costs anything while no configuration exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from sregym_env.kube import conversion, schema
from sregym_env.kube import patch as patches
from sregym_env.kube.defaults import apply_defaults
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError, bad_request, go_quote, internal_error, timeout
from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.sim.apiserver.admission import calling, conditions, delays, review, warnings
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.apiserver.admission.matching import Criteria, criteria_of, is_exempt, matched
from sregym_env.sim.network.tls import NO_CERTIFICATES
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom

MUTATING = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
VALIDATING = "validatingwebhookconfigurations.admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of a configuration."""

    identity: str
    """Unique among all of its phase: configuration and name."""
    name: str
    criteria: Criteria
    target: calling.Target
    conditions: tuple[conditions.Condition, ...]
    ignores: bool
    """Whether the failurePolicy is Ignore."""
    timeout: int
    """Seconds."""
    side_effects: str
    versions: tuple[str, ...]
    again: bool
    """Whether the reinvocationPolicy is IfNeeded."""


def _hooks(configurations: list[Manifest]) -> tuple[Hook, ...]:
    found = []
    for configuration in configurations:
        for index, webhook in enumerate(configuration.get("webhooks") or ()):
            identity = f"{configuration['metadata']['name']}/{webhook.get('name', '')}/{index}"
            found.append(_hook(identity, webhook))
    return tuple(found)


def _hook(identity: str, webhook: Mapping[str, Any]) -> Hook:
    return Hook(
        identity,
        webhook.get("name", ""),
        criteria_of(webhook),
        calling.target_of(webhook.get("clientConfig") or {}),
        conditions.conditions_of(webhook.get("matchConditions") or ()),
        webhook.get("failurePolicy") == "Ignore",
        int(webhook.get("timeoutSeconds") or 10),
        webhook.get("sideEffects", ""),
        tuple(webhook.get("admissionReviewVersions") or ()),
        webhook.get("reinvocationPolicy") == "IfNeeded",
    )


_configured = DerivedFrom(_hooks)
"""Hooks in the order in which they are asked: by name of configuration, then as written."""


class _CallError(Exception):
    """A webhook that gave no usable answer: what failurePolicy is about."""

    def __init__(self, hook: Hook, reason: str, seconds: float = 0.0) -> None:
        super().__init__(f"failed calling webhook {go_quote(hook.name)}: {reason}")
        self.text = str(self)
        self.seconds = seconds


# --- the mutating phase ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Round:
    """What one request's mutating phase remembers between its two passes."""

    previously: set[str] = field(default_factory=set)
    """Webhooks that want to be asked again if a later one changes the object."""
    due: set[str] = field(default_factory=set)
    """Those of them that are to be asked again."""
    changed: bool = False
    output: Manifest | None = None
    """The object as the last webhook of the first pass left it."""

    def require(self) -> None:
        """Something changed: ask everybody again who wants to be."""
        self.due |= self.previously
        self.previously = set()


def mutate(
    world: SimWorld,
    request: Attributes,
    new: Manifest,
    old: Manifest | None,
    plugins: Callable[[Manifest], Manifest],
) -> Manifest:
    """The object as the mutating webhooks leave it.

    ``plugins`` are the built-in plugins before them, which run once more if a webhook changes the object.
    Raises the refusal of a webhook, or InternalError where one that may not fail cannot be asked.
    """
    hooks = _configured(world.store.list(MUTATING))
    if not hooks or is_exempt(request):
        return new
    state = _Round()
    new = _pass(world, request, new, old, hooks, state, None)
    if not state.changed:
        return new
    state.output = new
    new = plugins(new)
    if new is not state.output and new != state.output:
        state.require()
    found: Manifest = _pass(world, request, new, old, hooks, state, state.due)
    return found


def consult(
    world: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None
) -> Manifest | None:
    """The mutating webhooks asked about a request that stores no object: deletion, connection, eviction."""
    hooks = _configured(world.store.list(MUTATING))
    if not hooks or is_exempt(request):
        return new
    found: Manifest | None = _pass(world, request, new, old, hooks, _Round(), None)
    return found


def _pass(
    world: SimWorld,
    request: Attributes,
    new: Any,
    old: Manifest | None,
    hooks: tuple[Hook, ...],
    state: _Round,
    only: set[str] | None,
) -> Any:
    for hook in hooks:
        invocation = _invoked(world, hook, request, new, old)
        if invocation is None or (only is not None and hook.identity not in only):
            continue
        try:
            patched = _ask_to_mutate(world, hook, invocation, request, new, old)
        except _CallError as error:
            calling.note_failure(world, hook.name, error.text, open=hook.ignores)
            if not hook.ignores:
                raise internal_error(error.text) from None
            patched = new
        if patched is not new:
            new = patched
            state.require()
            state.changed = True
        if hook.again:
            state.previously.add(hook.identity)
    return new


def _ask_to_mutate(
    world: SimWorld, hook: Hook, resource: Resource, request: Attributes, new: Any, old: Manifest | None
) -> Any:
    """The object as one webhook leaves it; the very same where it changes nothing."""
    answer, _ = _asked(world, hook, resource, request, new, old, mutating=True)
    if not answer.patch:
        return new
    if new is None:
        text = (
            f"admission webhook {go_quote(hook.name)} attempted to modify the object, which is not supported "
        )
        raise internal_error(text + "for this operation")
    seen = review.shown(new, request, resource, stored=False)
    if not isinstance(answer.patch, list) or not all(isinstance(each, dict) for each in answer.patch):
        raise internal_error("json: cannot unmarshal into Go value of type jsonpatch.Patch")
    try:
        patched = patches.json_patch(seen, answer.patch)
    except patches.PatchError as error:
        raise internal_error(str(error)) from None
    return _accepted(request, resource, patched, new)


def _accepted(request: Attributes, resource: Resource, patched: Any, before: Manifest) -> Manifest:
    """A patched document as the object it describes. Raises InternalError where it describes none."""
    if not isinstance(patched, dict):
        raise internal_error("couldn't get version/kind; json parse error: unexpected end of JSON input")
    if request.kind is not None:
        return patched
    try:
        decoded, _ = schema.decode(resource, patched, strict=False)
    except StatusError as error:
        raise internal_error(error.message.partition(": ")[2] or error.message) from None
    decoded = conversion.to_storage(resource, decoded)
    decoded = apply_defaults(request.resource, {"metadata": {}, **decoded})
    if request.operation == "CREATE" and "metadata" in before:
        decoded = review.created(decoded, before)
    return before if decoded == before else decoded


# --- the validating phase -------------------------------------------------------------------------------------


def validate(world: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None) -> None:
    """Ask the validating webhooks, all at once. Raises the first refusal to arrive."""
    hooks = _configured(world.store.list(VALIDATING))
    if not hooks or is_exempt(request):
        return
    asked = []
    for hook in hooks:
        invocation = _invoked(world, hook, request, new, old)
        if invocation is not None:
            asked.append((hook, invocation))
    failures: list[tuple[float, int, StatusError]] = []
    before = longest = request.waited[0]
    for index, (hook, resource) in enumerate(asked):
        # They are asked at the same time: each has what was left when the phase began.
        longest, request.waited[0] = max(longest, request.waited[0]), before
        try:
            _asked(world, hook, resource, request, new, old, mutating=False)
        except _CallError as error:
            calling.note_failure(world, hook.name, error.text, open=hook.ignores)
            if not hook.ignores:
                failures.append((error.seconds, index, internal_error(error.text)))
        except _Refused as refused:
            failures.append((refused.seconds, index, refused.error))
    request.waited[0] = max(longest, request.waited[0])
    # The first refusal counts, and is told when everybody has answered.
    delays.add(world, request.user, min(request.waited[0], delays.most(world, request.user)) - before)
    if failures:
        raise min(failures, key=lambda failure: failure[:2])[2]


class _Refused(Exception):
    """A webhook's refusal, with the seconds after which it arrived."""

    def __init__(self, error: StatusError, seconds: float) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


# --- both -----------------------------------------------------------------------------------------------------


def _invoked(
    world: SimWorld, hook: Hook, request: Attributes, new: Manifest | None, old: Manifest | None
) -> Resource | None:
    """The resource, in the version it wants, about which a webhook is asked; None if it is not asked."""
    resource = matched(world, hook.criteria, request, new, old)
    if resource is None or not hook.conditions:
        return resource
    if conditions.hold(world, hook.conditions, request, resource, new, old, ignores=hook.ignores):
        return resource
    return None


def _asked(
    world: SimWorld,
    hook: Hook,
    resource: Resource,
    request: Attributes,
    new: Manifest | None,
    old: Manifest | None,
    *,
    mutating: bool,
) -> tuple[review.Answer, float]:
    """(what a webhook answers, seconds it took). Raises its refusal, or _CallError."""
    if request.dry_run and hook.side_effects not in ("None", "NoneOnDryRun"):
        raise _refusal(
            bad_request(f"admission webhook {go_quote(hook.name)} does not support dry run"), mutating
        )
    version = review.version_for(hook.versions)
    if not version:
        text = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise _CallError(hook, f"could not create admission objects: {text}")
    if hook.target.broken_bundle:
        raise _CallError(hook, f"could not get REST client: {NO_CERTIFICATES}")
    uid = ids.uid(world.streams)
    document = review.question(version, uid, request, resource, new, old, stored=not mutating)
    left = max(delays.most(world, request.user) - request.waited[0], 0.0)
    try:
        body, seconds = calling.call(
            world, hook.target, orjson.dumps(document).decode(), hook.timeout, min(left, float(hook.timeout))
        )
        _wait(world, request, seconds, mutating)
        decoded = review.decoded(body, version)
    except calling.CallFailed as error:
        _wait(world, request, error.seconds, mutating)
        raise _CallError(hook, f"failed to call webhook: {error.text}", error.seconds) from None
    except review.BadAnswer as error:
        raise _CallError(hook, f"failed to call webhook: {error}", seconds) from None
    try:
        answer = review.judged(decoded, version, uid, mutating=mutating)
    except review.BadAnswer as error:
        raise _CallError(hook, f"received invalid webhook response: {error}", seconds) from None
    for text in map(str, answer.warnings):
        warnings.add(world, request, text)
    if not answer.allowed:
        raise _refusal(review.rejection(hook.name, answer.status), mutating, seconds)
    return answer, seconds


def _wait(world: SimWorld, request: Attributes, seconds: float, mutating: bool) -> None:
    """Count what a webhook took. Raises Timeout where the request has no time left."""
    most = delays.most(world, request.user)
    if mutating:
        # Those that validate are asked at the same time: what the slowest takes is counted when all are through.
        delays.add(world, request.user, min(seconds, most - request.waited[0]))
    request.waited[0] += seconds
    if request.waited[0] >= most:
        raise _refusal(
            timeout("request did not complete within requested timeout - context deadline exceeded"),
            mutating,
            most,
        )


def _refusal(error: StatusError, mutating: bool, seconds: float = 0.0) -> Exception:
    return error if mutating else _Refused(error, seconds)
