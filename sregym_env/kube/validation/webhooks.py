"""Validation of admission webhooks and of validating admission policies (``admissionregistration.k8s.io``)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from sregym_env.kube import names
from sregym_env.kube.cel.admission import check_conditions, check_policy
from sregym_env.kube.status import duplicate, forbidden_field, invalid_value, required, unsupported
from sregym_env.kube.types import Manifest
from sregym_env.kube.validation.metadata import Errors, needed, one_of, validate_selector

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_FAILURE = ("Fail", "Ignore")
_MATCH = ("Equivalent", "Exact")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_REVIEWS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"
_ACTIONS = ("Audit", "Deny", "Warn")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")


def validate_mutating(obj: Manifest, out: Errors) -> None:
    """A MutatingWebhookConfiguration."""
    _configuration(obj, True, out)


def validate_validating(obj: Manifest, out: Errors) -> None:
    """A ValidatingWebhookConfiguration."""
    _configuration(obj, False, out)


def _configuration(obj: Manifest, mutating: bool, out: Errors) -> None:
    seen: set[str] = set()
    for index, hook in enumerate(obj.get("webhooks") or ()):
        where = f"webhooks[{index}]"
        _webhook(hook, where, mutating, out)
        name = hook.get("name")
        if name and name in seen:
            out.append(duplicate(f"{where}.name", name))
        seen.add(name)


def _webhook(hook: Manifest, where: str, mutating: bool, out: Errors) -> None:
    _qualified(hook.get("name") or "", f"{where}.name", out)
    for index, rule in enumerate(hook.get("rules") or ()):
        _rule(rule, f"{where}.rules[{index}]", out)
    one_of(hook, "failurePolicy", where, _FAILURE, out)
    one_of(hook, "matchPolicy", where, _MATCH, out)
    effects = hook.get("sideEffects")
    if effects is None:
        out.append(required(f"{where}.sideEffects", "must specify one of " + ", ".join(_SIDE_EFFECTS)))
    elif effects not in _SIDE_EFFECTS:
        out.append(unsupported(f"{where}.sideEffects", effects, _SIDE_EFFECTS))
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        out.append(invalid_value(f"{where}.timeoutSeconds", seconds, text))
    validate_selector(hook.get("namespaceSelector"), f"{where}.namespaceSelector", out)
    validate_selector(hook.get("objectSelector"), f"{where}.objectSelector", out)
    if mutating:
        one_of(hook, "reinvocationPolicy", where, ("IfNeeded", "Never"), out)
    _client(hook.get("clientConfig") or {}, f"{where}.clientConfig", out)
    _conditions(hook.get("matchConditions") or (), f"{where}.matchConditions", out)
    if hook.get("matchConditions"):
        out += check_conditions(hook["matchConditions"], f"{where}.matchConditions")
    _reviews(hook.get("admissionReviewVersions") or [], f"{where}.admissionReviewVersions", out)


def _qualified(name: str, where: str, out: Errors) -> None:
    """``IsFullyQualifiedName``."""
    if not name:
        out.append(required(where))
        return
    complaints = names.dns1123_subdomain(name)
    if complaints:
        out.append(invalid_value(where, name, ",".join(complaints)))
    elif name.count(".") < 2:
        text = "should be a domain with at least three segments separated by dots"
        out.append(invalid_value(where, name, text))


def _rule(rule: Manifest, where: str, out: Errors) -> None:
    operations = rule.get("operations") or []
    if not operations:
        out.append(required(f"{where}.operations"))
    _alone(operations, f"{where}.operations", "operations", out)
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            out.append(unsupported(f"{where}.operations[{index}]", operation, _OPERATIONS))
    for field, text in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(field) or []
        if not values:
            out.append(required(f"{where}.{field}"))
        _alone(values, f"{where}.{field}", text, out)
    _resources(rule.get("resources") or [], f"{where}.resources", out)
    one_of(rule, "scope", where, _SCOPES, out)


def _alone(values: Sequence[str], where: str, what: str, out: Errors) -> None:
    if len(values) > 1 and "*" in values:
        out.append(invalid_value(where, list(values), f"if '*' is present, must not specify other {what}"))


def _resources(resources: list[str], where: str, out: Errors) -> None:
    if not resources:
        out.append(required(where))
    whole: set[str] = set()
    every: set[str] = set()
    for index, resource in enumerate(resources):
        if not resource:
            out.append(required(f"{where}[{index}]"))
            continue
        parent, slash, sub = resource.partition("/")
        if not slash:
            continue
        for known, pattern in ((parent in whole, f"{parent}/*"), (sub in every, f"*/{sub}")):
            if known:
                text = f"if '{pattern}' is present, must not specify {resource}"
                out.append(invalid_value(f"{where}[{index}]", resource, text))
        if sub == "*":
            whole.add(parent)
        if parent == "*":
            every.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        out.append(invalid_value(where, resources, text))
    if "*" in resources and any(r != "*" and "/" not in r for r in resources):
        text = "if '*' is present, must not specify other resources without subresources"
        out.append(invalid_value(where, resources, text))


def _client(config: Manifest, where: str, out: Errors) -> None:
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        out.append(required(where, "exactly one of url or service is required"))
    elif url is not None:
        _url(url, f"{where}.url", out)
    elif service is not None:
        validate_service_reference(service, f"{where}.service", out)


def _url(url: str, where: str, out: Errors) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https":
        text = "'https' is the only allowed URL scheme" + _FORM
        out.append(invalid_value(where, parts.scheme, text))
    if not parts.netloc:
        out.append(invalid_value(where, "", "host must be specified" + _FORM))
    if "@" in parts.netloc:
        user = parts.netloc.rpartition("@")[0]
        out.append(invalid_value(where, user, "user information is not permitted in the URL"))
    if parts.fragment:
        out.append(invalid_value(where, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        out.append(invalid_value(where, parts.query, "query parameters are not permitted in the URL"))


def validate_service_reference(service: Manifest, where: str, out: Errors) -> None:
    """The Service that answers for a webhook or an aggregated API."""
    needed(service, "name", where, out)
    needed(service, "namespace", where, out)
    port = service.get("port")
    if port is not None:
        complaints = names.port_number(port)
        if complaints:
            text = "port is not valid: " + ",".join(complaints)
            out.append(invalid_value(f"{where}.port", port, text))
    path = service.get("path")
    if path is not None and not path.startswith("/"):
        out.append(invalid_value(f"{where}.path", path, "must start with a '/'"))


def _conditions(conditions: Sequence[Manifest], where: str, out: Errors) -> None:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at = f"{where}[{index}]"
        if not (condition.get("expression") or "").strip():
            out.append(required(f"{at}.expression"))
        name = condition.get("name") or ""
        if not name:
            out.append(required(f"{at}.name"))
        else:
            out += [invalid_value(f"{at}.name", name, text) for text in names.qualified_name(name)]
        if name and name in seen:
            out.append(duplicate(f"{at}.name", name))
        seen.add(name)


def _reviews(versions: list[str], where: str, out: Errors) -> None:
    if not versions:
        out.append(required(where, "must specify one of " + ", ".join(_REVIEWS)))
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            out.append(invalid_value(f"{where}[{index}]", version, "duplicate version"))
            continue
        seen.add(version)
        out += [invalid_value(f"{where}[{index}]", version, text) for text in names.dns1035_label(version)]
    if not seen & set(_REVIEWS):
        out.append(invalid_value(where, versions, "must include at least one of " + ", ".join(_REVIEWS)))


# --- policies -----------------------------------------------------------------------------------------------


def validate_policy(obj: Manifest, out: Errors) -> None:
    """A ValidatingAdmissionPolicy; its expressions must compile."""
    spec: Manifest = obj.get("spec") or {}
    if spec.get("failurePolicy") is None:
        out.append(required("spec.failurePolicy"))
    one_of(spec, "failurePolicy", "spec", _FAILURE, out)
    parameters = spec.get("paramKind")
    if parameters is not None:
        needed(parameters, "apiVersion", "spec.paramKind", out)
        needed(parameters, "kind", "spec.paramKind", out)
    constraints = spec.get("matchConstraints")
    if constraints is None:
        out.append(required("spec.matchConstraints"))
    else:
        if not constraints.get("resourceRules"):
            out.append(required("spec.matchConstraints.resourceRules"))
        _match(constraints, "spec.matchConstraints", out)
    _conditions(spec.get("matchConditions") or (), "spec.matchConditions", out)
    validations = spec.get("validations") or ()
    if not validations and not spec.get("auditAnnotations"):
        text = "validations or auditAnnotations must contain at least one item"
        out.append(required("spec.validations", text))
        out.append(required("spec.auditAnnotations", text))
    for index, validation in enumerate(validations):
        _validation(validation, f"spec.validations[{index}]", out)
    out += check_policy(spec)


def _validation(validation: Manifest, where: str, out: Errors) -> None:
    if not (validation.get("expression") or "").strip():
        out.append(required(f"{where}.expression", "expression is not specified"))
    message = validation.get("message")
    if message and "\n" in message:
        out.append(invalid_value(f"{where}.message", message, "message must not contain line breaks"))
    one_of(validation, "reason", where, _REASONS, out)


def _match(resources: Manifest, where: str, out: Errors) -> None:
    one_of(resources, "matchPolicy", where, _MATCH, out)
    for field in ("namespaceSelector", "objectSelector"):
        validate_selector(resources.get(field), f"{where}.{field}", out)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(field) or ()):
            _rule(rule, f"{where}.{field}[{index}]", out)


def validate_policy_binding(obj: Manifest, out: Errors) -> None:
    """A ValidatingAdmissionPolicyBinding."""
    spec: Manifest = obj.get("spec") or {}
    needed(spec, "policyName", "spec", out)
    parameters = spec.get("paramRef")
    if parameters is not None:
        _parameters(parameters, "spec.paramRef", out)
    if spec.get("matchResources"):
        _match(spec["matchResources"], "spec.matchResources", out)
    actions = spec.get("validationActions") or []
    if not actions:
        out.append(required("spec.validationActions"))
    seen: set[str] = set()
    for index, action in enumerate(actions):
        at = f"spec.validationActions[{index}]"
        if action not in _ACTIONS:
            out.append(unsupported(at, action, _ACTIONS))
        if action in seen:
            out.append(duplicate(at, action))
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the "
            "API response and headers serves no purpose)"
        )
        out.append(invalid_value("spec.validationActions", actions, text))


def _parameters(ref: Manifest, where: str, out: Errors) -> None:
    if ref.get("name") and ref.get("selector") is not None:
        out.append(forbidden_field(f"{where}.name", "name and selector are mutually exclusive"))
    elif not ref.get("name") and ref.get("selector") is None:
        out.append(required(where, "one of name or selector must be specified"))
    if ref.get("parameterNotFoundAction") is None:
        out.append(required(f"{where}.parameterNotFoundAction"))
    one_of(ref, "parameterNotFoundAction", where, ("Allow", "Deny"), out)
