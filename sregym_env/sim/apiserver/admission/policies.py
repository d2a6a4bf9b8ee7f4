"""ValidatingAdmissionPolicy: requests judged by expressions, as policies and their bindings say.

Follows ``k8s.io/apiserver/pkg/admission/plugin/policy`` of v1.32. Nothing here costs anything while no policy
exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import cel, selectors, status
from sregym_env.kube.cel.admission import types_of
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import custom
from sregym_env.sim.apiserver.admission import expressions, warnings
from sregym_env.sim.apiserver.admission.attributes import Attributes, subject
from sregym_env.sim.apiserver.admission.expressions import EvaluationError
from sregym_env.sim.apiserver.admission.matching import Criteria, criteria_of, is_exempt, matched
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"

_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
"""HTTP codes of the reasons that a validation may name; any other is 422."""
_LONGEST_MESSAGE = 5 * 1024


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy, ready to be asked."""

    manifest: Manifest
    name: str
    criteria: Criteria
    ignores: bool
    """Whether the failurePolicy is Ignore."""
    types: Mapping[str, cel.Type]
    """What its expressions may name."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding, ready to be asked."""

    manifest: Manifest
    name: str
    criteria: Criteria
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Denial:
    """Why a request is refused."""

    policy: Policy
    binding: Binding | None
    message: str
    reason: str = ""


def _policy(manifest: Manifest) -> Policy:
    spec = manifest["spec"]
    return Policy(
        manifest,
        manifest["metadata"]["name"],
        criteria_of(spec.get("matchConstraints") or {}, "resourceRules"),
        spec.get("failurePolicy") == "Ignore",
        types_of(spec),
    )


def _bindings(manifests: list[Manifest]) -> dict[str, tuple[Binding, ...]]:
    found: dict[str, list[Binding]] = {}
    for manifest in manifests:
        spec = manifest["spec"]
        made = Binding(
            manifest,
            manifest["metadata"]["name"],
            _binding_criteria(spec.get("matchResources") or {}),
            tuple(spec.get("validationActions") or ()),
        )
        found.setdefault(spec.get("policyName", ""), []).append(made)
    return {name: tuple(bindings) for name, bindings in found.items()}


def _binding_criteria(resources: Mapping[str, Any]) -> Criteria:
    everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*", "*"]}
    return criteria_of(
        {**resources, "resourceRules": resources.get("resourceRules") or [everything]}, "resourceRules"
    )


_ready = DerivedFromEach(_policy)
_bound = DerivedFrom(_bindings)


def validate(world: SimWorld, request: Attributes, new: Manifest | None, old: Manifest | None) -> None:
    """Raise the refusal of the first policy that denies the request."""
    if is_exempt(request):
        return
    bindings = _bound(world.store.list(BINDINGS))
    denials: list[_Denial] = []
    for manifest in world.store.list(POLICIES):
        policy = _ready(manifest)
        bound = bindings.get(policy.name)
        if bound:
            _judge(world, policy, bound, request, new, old, denials)
    if denials:
        raise _refusal(request, new if new is not None else old, denials[0])


def _refusal(request: Attributes, obj: Manifest | None, denial: _Denial) -> status.StatusError:
    by = f" with binding '{denial.binding.name}'" if denial.binding is not None else ""
    message = f"ValidatingAdmissionPolicy '{denial.policy.name}'{by} denied request: {denial.message}"
    made = status.forbidden_admission(request.resource, subject(obj, request.name), message)
    reason = denial.reason or "Invalid"
    details = {**made.details, "causes": [{"message": message}]}
    return status.StatusError(_CODES.get(reason, 422), reason, made.message, details)


def _judge(
    world: SimWorld,
    policy: Policy,
    bindings: tuple[Binding, ...],
    request: Attributes,
    new: Manifest | None,
    old: Manifest | None,
    denials: list[_Denial],
) -> None:
    resource = matched(world, policy.criteria, request, new, old)
    if resource is None:
        return
    names = expressions.names_of(world, request, resource, new, old)
    for binding in bindings:
        if matched(world, binding.criteria, request, new, old) is None:
            continue
        try:
            parameters = _parameters(world, policy, binding, request)
        except EvaluationError as error:
            if not policy.ignores:
                denials.append(_Denial(policy, binding, f"failed to configure binding: {error}"))
            continue
        for parameter in parameters:
            found = _decisions(policy, {**names, "params": parameter})
            denials += _acted(world, request, policy, binding, found)


def _acted(
    world: SimWorld, request: Attributes, policy: Policy, binding: Binding, found: list[tuple[str, str]]
) -> list[_Denial]:
    """What becomes of failed validations: a refusal, a warning, or a note in an audit log that nobody keeps."""
    out = []
    for message, reason in found:
        for action in binding.actions:
            if action == "Deny":
                out.append(_Denial(policy, binding, message, reason))
            elif action == "Warn":
                text = (
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with binding "
                    f"'{binding.name}': {message}"
                )
                warnings.add(world, request, text)
    return out


# --- expressions -------------------------------------------------------------------------------------


def _decisions(policy: Policy, names: dict[str, Any]) -> list[tuple[str, str]]:
    """(message, reason) of everything that fails."""
    spec = policy.manifest["spec"]
    names = {**names, "variables": _variables(spec, policy.types)}
    try:
        if not holds(spec.get("matchConditions") or (), policy.types, names):
            return []
    except EvaluationError as error:
        return [] if policy.ignores else [(str(error), "")]
    out = []
    for validation in spec.get("validations") or ():
        failed = _failed(validation, policy, names)
        if failed is not None:
            out.append(failed)
    for annotation in spec.get("auditAnnotations") or ():
        try:
            expressions.evaluated(str(annotation.get("valueExpression") or ""), policy.types, names, cel.DYN)
        except EvaluationError as error:
            if not policy.ignores:
                out.append((str(error), ""))
    return out


def holds(conditions: Any, types: Mapping[str, cel.Type], names: Mapping[str, Any]) -> bool:
    """Whether all conditions hold: one that is false decides, else one that fails raises EvaluationError."""
    problems: list[str] = []
    for condition in conditions:
        try:
            if expressions.evaluated(condition["expression"], types, names, "bool") is not True:
                return False
        except EvaluationError as error:
            problems.append(str(error))
    if problems:
        raise EvaluationError(status.aggregate(problems))
    return True


def _variables(spec: Mapping[str, Any], types: Mapping[str, cel.Type]) -> dict[str, Any]:
    """``variables``: each is evaluated when first asked for."""
    found: dict[str, Any] = {}
    for variable in spec.get("variables") or ():
        try:
            program = cel.compile_expression(str(variable.get("expression") or "").strip(), types)
        except cel.CompileError:
            continue
        found[variable["name"]] = program.lazy(variable["name"])
    return found


def _failed(
    validation: Mapping[str, Any], policy: Policy, names: Mapping[str, Any]
) -> tuple[str, str] | None:
    source = str(validation.get("expression") or "")
    try:
        if expressions.evaluated(source, policy.types, names, "bool") is True:
            return None
    except EvaluationError as error:
        return None if policy.ignores else (str(error), "")
    reason = str(validation.get("reason") or "Invalid")
    message = _message(validation, policy, names) or str(validation.get("message") or "").strip()
    return (message or f"failed expression: {source.strip()}", reason)


def _message(validation: Mapping[str, Any], policy: Policy, names: Mapping[str, Any]) -> str:
    source = validation.get("messageExpression")
    if not source:
        return ""
    types = {name: type_ for name, type_ in policy.types.items() if not name.startswith("authorizer")}
    try:
        made = expressions.evaluated(str(source), types, names, "string")
    except EvaluationError:
        return ""
    text = made.strip() if isinstance(made, str) else ""
    return "" if "\n" in text or len(text) > _LONGEST_MESSAGE else text


# --- parameters --------------------------------------------------------------------------------------


def _parameters(
    world: SimWorld, policy: Policy, binding: Binding, request: Attributes
) -> list[Manifest | None]:
    """The objects that a policy is evaluated with, one by one. Raises EvaluationError where it cannot be."""
    kind, ref = policy.manifest["spec"].get("paramKind"), binding.manifest["spec"].get("paramRef")
    if not kind or not ref:
        return [None]
    resource = custom.served(world, kind.get("apiVersion", ""), kind.get("kind", ""))
    if resource is None:
        shown = f"&ParamKind{{APIVersion:{kind.get('apiVersion', '')},Kind:{kind.get('kind', '')},}}"
        raise EvaluationError(f"paramKind kind `{shown}` not known")
    found = _found(world, resource, ref, request)
    if not found and ref.get("parameterNotFoundAction") == "Deny":
        raise EvaluationError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return found


def _found(
    world: SimWorld, resource: Resource, ref: Mapping[str, Any], request: Attributes
) -> list[Manifest | None]:
    own = ref.get("namespace") or ""
    if own and not resource.namespaced:
        raise EvaluationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    where = (own or request.namespace) if resource.namespaced else ""
    if resource.namespaced and not where:
        raise EvaluationError(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    if ref.get("name"):
        obj = world.store.get(resource.storage_key, where, ref["name"])
        return [] if obj is None else [obj]
    selector = selectors.from_dict(ref.get("selector") or {})
    listed = world.store.list(resource.storage_key, where if resource.namespaced else None)
    return [obj for obj in listed if selector.matches(obj["metadata"].get("labels") or {})]
