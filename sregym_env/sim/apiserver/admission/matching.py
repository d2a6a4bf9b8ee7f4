"""Which requests a webhook or policy is about: rules, selectors and equivalent versions.

Follows ``k8s.io/apiserver/pkg/admission/plugin/webhook/predicates`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sregym_env.kube import registry, selectors, status
from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.selectors import LabelSelector
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import custom
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.world import SimWorld

_NAMESPACES = registry.by_key("namespaces")
assert _NAMESPACES is not None

EXEMPT = frozenset(
    {
        "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
    }
)  # fmt: skip
"""Kinds of admissionregistration.k8s.io about which nobody is asked, so that they can always be repaired."""


def is_exempt(request: Attributes) -> bool:
    """Whether no webhook or policy may judge the request."""
    group, _, kind = request.gvk
    return group == "admissionregistration.k8s.io" and kind in EXEMPT


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of ``rules`` or ``resourceRules``."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[tuple[str, str], ...]
    """(resource, subresource); either may be ``*``."""
    scope: str
    names: tuple[str, ...] = ()
    """``resourceNames`` of a policy; empty for every name."""

    def covers(self, request: Attributes, group: str, version: str, plural: str) -> bool:
        """Whether the rule is about a request, made on the resource of that group, version and plural."""
        if not _has(self.operations, request.operation) or not _has(self.groups, group):
            return False
        if not _has(self.versions, version) or not self._in_scope(request, plural):
            return False
        if self.names and request.name not in self.names:
            return False
        wanted = request.subresource
        return any(
            resource in ("*", plural) and subresource in ("*", wanted)
            for resource, subresource in self.resources
        )

    def _in_scope(self, request: Attributes, plural: str) -> bool:
        if self.scope == "*":
            return True
        namespaced = bool(request.namespace) and plural != "namespaces"
        return namespaced is (self.scope == "Namespaced")


def _has(items: tuple[str, ...], wanted: str) -> bool:
    return wanted in items or "*" in items


def rule_of(manifest: Mapping[str, Any]) -> Rule:
    """A rule as it stands in a configuration."""
    resources = []
    for text in manifest.get("resources") or ():
        resource, _, subresource = text.partition("/")
        resources.append((resource, subresource))
    return Rule(
        tuple(manifest.get("operations") or ()),
        tuple(manifest.get("apiGroups") or ()),
        tuple(manifest.get("apiVersions") or ()),
        tuple(resources),
        manifest.get("scope") or "*",
        tuple(manifest.get("resourceNames") or ()),
    )


@dataclass(frozen=True, slots=True)
class Criteria:
    """What of a configuration decides which requests it is about."""

    rules: tuple[Rule, ...]
    excluded: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    equivalent: bool
    """Whether a request for the same object through another version is meant too."""


def criteria_of(
    manifest: Mapping[str, Any], rules: str = "rules", excluded: str = "excludeResourceRules"
) -> Criteria:
    """The criteria of a webhook, or of the ``matchConstraints`` of a policy (``rules="resourceRules"``)."""
    return Criteria(
        tuple(rule_of(rule) for rule in manifest.get(rules) or ()),
        tuple(rule_of(rule) for rule in manifest.get(excluded) or ()),
        _selector(manifest.get("namespaceSelector")),
        _selector(manifest.get("objectSelector")),
        manifest.get("matchPolicy", "Equivalent") == "Equivalent",
    )


def _selector(manifest: Mapping[str, Any] | None) -> LabelSelector:
    return selectors.EVERYTHING if manifest is None else selectors.from_dict(manifest)


def matched(
    world: SimWorld, criteria: Criteria, request: Attributes, new: Manifest | None, old: Manifest | None
) -> Resource | None:
    """The resource, in the version asked for, as which a request is judged; None if it is not judged.

    Raises NotFound where the request's namespace is missing and its labels would decide.
    """
    failure: status.StatusError | None = None
    try:
        if not _namespace_matches(world, criteria.namespaces, request, new):
            return None
    except status.StatusError as error:
        failure = error
    if not criteria.objects.empty:
        if not any(_labelled(obj, criteria.objects) for obj in (new, old)):
            return None
    found = _covered(world, criteria, request)
    if found is not None and failure is not None:
        raise failure
    return found


def _covered(world: SimWorld, criteria: Criteria, request: Attributes) -> Resource | None:
    resource = request.resource
    if _any(criteria.excluded, request, resource):
        return None
    if _any(criteria.rules, request, resource):
        return resource
    if not criteria.equivalent:
        return None
    others = equivalents(world, resource)
    if any(_any(criteria.excluded, request, other) for other in others):
        return None
    for rule in criteria.rules:
        for other in others:
            if rule.covers(request, other.group, other.version, other.plural):
                return other
    return None


def _any(rules: Iterable[Rule], request: Attributes, resource: Resource) -> bool:
    return any(rule.covers(request, resource.group, resource.version, resource.plural) for rule in rules)


def equivalents(world: SimWorld, resource: Resource) -> tuple[Resource, ...]:
    """The other group-versions through which the same objects are served."""
    return _others(custom.registry_of(world), resource.storage_key, resource.api_version)


@lru_cache(maxsize=512)
def _others(served: Registry, key: str, api_version: str) -> tuple[Resource, ...]:
    return tuple(
        other for other in served.resources if other.storage_key == key and other.api_version != api_version
    )


def _namespace_matches(
    world: SimWorld, selector: LabelSelector, request: Attributes, new: Manifest | None
) -> bool:
    is_namespace = request.resource.key == "namespaces"
    if selector.empty or (not request.namespace and not is_namespace):
        return True
    if is_namespace and not request.subresource and request.operation in ("CREATE", "UPDATE"):
        return _labelled(new, selector)
    found = world.store.get("namespaces", "", request.namespace)
    if found is None:
        assert _NAMESPACES is not None
        raise status.not_found(_NAMESPACES, request.namespace)
    return _labelled(found, selector)


def _labelled(obj: Manifest | None, selector: LabelSelector) -> bool:
    if obj is None or "metadata" not in obj:
        return False
    return selector.matches(obj["metadata"].get("labels") or {})
