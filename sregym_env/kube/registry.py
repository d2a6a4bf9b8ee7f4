"""Every resource a Kubernetes v1.32 API server serves by default: one table that drives everything.

The table is in the order in which a real server discovers its groups and resources, so that
``kubectl get all`` and ``kubectl api-resources`` come out right. Custom resources are added to a
:class:`Registry` value with :meth:`Registry.with_resources`; the built-in one is :data:`BUILTIN`.

Source of the constants: the discovery documents of a v1.32 API server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sregym_env.kube.types import Manifest

FULL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
"""The verbs of an ordinary stored resource, sorted as discovery sorts them."""

_CONVERTED = ("autoscaling", "v1")
"""The one built-in group and version whose objects are stored in another version."""

_NAME_FIELDS = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True, eq=False)
class CustomType:
    """One version of a CustomResourceDefinition, compared by identity: the same one as long as the
    definition's ``spec`` is the same."""

    crd: Manifest
    """The definition (its ``spec`` is current, its status may be older)."""
    version: Manifest
    """The entry of ``spec.versions``."""
    cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """What others derive from it (compiled rules, printers), by their own names."""

    @property
    def schema(self) -> Manifest:
        """``schema.openAPIV3Schema`` of the version; empty where there is none."""
        found: Manifest = (self.version.get("schema") or {}).get("openAPIV3Schema") or {}
        return found

    @property
    def subresources(self) -> Manifest:
        """``subresources`` of the version."""
        found: Manifest = self.version.get("subresources") or {}
        return found

    @property
    def storage_version(self) -> str:
        """Name of the version in which objects are stored."""
        for version in self.crd["spec"]["versions"]:
            if version.get("storage"):
                return str(version["name"])
        return str(self.version["name"])


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource in one API version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = FULL
    subresources: tuple[str, ...] = ()
    definition: str = ""
    """Name of its OpenAPI definition; empty when the schema comes from elsewhere (CRDs, metrics)."""
    field_selectors: tuple[str, ...] = _NAME_FIELDS
    """Fields a field selector may name."""
    delete_returns_object: bool = False
    """Whether DELETE answers with the deleted object instead of a ``Status``."""
    custom: bool = False
    """Whether it comes from a CustomResourceDefinition."""
    custom_type: CustomType | None = None
    """The definition it comes from."""
    list_name: str = ""
    """Kind of a list of it where that is not the kind with ``List`` behind it."""
    key: str = ""
    """Identity of the resource: ``"pods"``, ``"deployments.apps"`` (``schema.GroupResource`` as text)."""
    api_version: str = ""
    """``"v1"``, ``"apps/v1"``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.plural}.{self.group}" if self.group else self.plural)
        api_version = f"{self.group}/{self.version}" if self.group else self.version
        object.__setattr__(self, "api_version", api_version)

    @property
    def gvk(self) -> tuple[str, str, str]:
        """``(group, version, kind)``."""
        return (self.group, self.version, self.kind)

    @property
    def group_kind(self) -> str:
        """``"Pod"``, ``"Deployment.apps"``: how error messages name a kind (``schema.GroupKind``)."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def gvr_text(self) -> str:
        """``"/v1, Resource=pods"``: how Go prints a ``schema.GroupVersionResource``."""
        return f"{self.group}/{self.version}, Resource={self.plural}"

    @property
    def gvk_text(self) -> str:
        """``"/v1, Kind=Pod"``: how Go prints a ``schema.GroupVersionKind``."""
        return f"{self.group}/{self.version}, Kind={self.kind}"

    @property
    def list_kind(self) -> str:
        """Kind of a list of it."""
        return self.list_name or f"{self.kind}List"

    @property
    def address(self) -> str:
        """The key with the version in it where that matters (``widgets.v1.example.com``): under it clusters find
        the resource in this very version."""
        if self.custom or (self.group, self.version) == _CONVERTED:
            return f"{self.plural}.{self.version}.{self.group}"
        return self.key

    @property
    def storage_key(self) -> str:
        """Key under which its objects are stored: ``events`` are one store seen through two groups."""
        return "events" if self.key == "events.events.k8s.io" else self.key


def _table(
    group_version: str, package: str, rows: Iterable[tuple[str, str, bool, dict[str, Any]]]
) -> list[Resource]:
    group, _, version = group_version.rpartition("/")
    out = []
    for kind, plural, namespaced, more in rows:
        extra = dict(more)
        fields = _NAME_FIELDS + extra.pop("fields", ()) if namespaced else extra.pop("fields", ())
        if not namespaced:
            fields = ("metadata.name", *fields)
        definition = extra.pop("definition", f"{package}.{version}.{kind}" if package else "")
        singular = extra.pop("singular", kind.lower())
        out.append(
            Resource(
                group=group,
                version=version,
                kind=kind,
                plural=plural,
                singular=singular,
                namespaced=namespaced,
                definition=definition,
                field_selectors=fields,
                **extra,
            )
        )
    return out


def _x(
    *short: str,
    sub: str = "",
    cat: str = "",
    fields: tuple[str, ...] = (),
    verbs: tuple[str, ...] = FULL,
    returns: bool = False,
    **more: str,
) -> dict[str, Any]:
    return {
        "short_names": short,
        "subresources": tuple(sub.split()),
        "categories": tuple(cat.split()),
        "fields": fields,
        "verbs": verbs,
        "delete_returns_object": returns,
        **more,
    }


_CREATE = ("create",)
_READ = ("get", "list")
_NO_COLLECTION = ("create", "delete", "get", "list", "patch", "update", "watch")
_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_POD_SUBRESOURCES = (
    "attach binding ephemeralcontainers eviction exec log portforward proxy status"  # as discovery lists them
)

_CORE = _table(
    "v1",
    "io.k8s.api.core",
    [
        ("Binding", "bindings", True, _x(verbs=_CREATE)),
        ("ComponentStatus", "componentstatuses", False, _x("cs", verbs=_READ)),
        ("ConfigMap", "configmaps", True, _x("cm")),
        ("Endpoints", "endpoints", True, _x("ep")),
        ("Event", "events", True, _x("ev", fields=_EVENT_FIELDS)),
        ("LimitRange", "limitranges", True, _x("limits")),
        (
            "Namespace",
            "namespaces",
            False,
            _x("ns", sub="finalize status", fields=("status.phase", "name"), verbs=_NO_COLLECTION),
        ),
        ("Node", "nodes", False, _x("no", sub="proxy status", fields=("spec.unschedulable",))),
        ("PersistentVolumeClaim", "persistentvolumeclaims", True, _x("pvc", sub="status", returns=True)),
        ("PersistentVolume", "persistentvolumes", False, _x("pv", sub="status", returns=True)),
        (
            "Pod",
            "pods",
            True,
            _x("po", sub=_POD_SUBRESOURCES, cat="all", fields=_POD_FIELDS, returns=True),
        ),
        ("PodTemplate", "podtemplates", True, _x(returns=True)),
        (
            "ReplicationController",
            "replicationcontrollers",
            True,
            _x("rc", sub="scale status", cat="all", fields=("status.replicas",)),
        ),
        ("ResourceQuota", "resourcequotas", True, _x("quota", sub="status", returns=True)),
        ("Secret", "secrets", True, _x(fields=("type",))),
        ("ServiceAccount", "serviceaccounts", True, _x("sa", sub="token", returns=True)),
        (
            "Service",
            "services",
            True,
            _x("svc", sub="proxy status", cat="all", fields=("spec.clusterIP", "spec.type"), returns=True),
        ),
    ],
)

_APISERVICES = _table(
    "apiregistration.k8s.io/v1",
    "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    [("APIService", "apiservices", False, _x(sub="status", cat="api-extensions"))],
)

_APPS = _table(
    "apps/v1",
    "io.k8s.api.apps",
    [
        ("ControllerRevision", "controllerrevisions", True, _x()),
        ("DaemonSet", "daemonsets", True, _x("ds", sub="status", cat="all")),
        ("Deployment", "deployments", True, _x("deploy", sub="scale status", cat="all")),
        (
            "ReplicaSet",
            "replicasets",
            True,
            _x("rs", sub="scale status", cat="all", fields=("status.replicas",)),
        ),
        ("StatefulSet", "statefulsets", True, _x("sts", sub="scale status", cat="all")),
    ],
)

_EVENTS = _table(
    "events.k8s.io/v1",
    "io.k8s.api.events",
    [
        (
            "Event",
            "events",
            True,
            _x(
                "ev",
                fields=(
                    "reason",
                    "regarding.kind",
                    "regarding.namespace",
                    "regarding.name",
                    "regarding.uid",
                    "regarding.apiVersion",
                    "regarding.resourceVersion",
                    "regarding.fieldPath",
                    "reportingController",
                    "type",
                ),
            ),
        )
    ],
)

_REVIEWS = [
    *_table(
        "authentication.k8s.io/v1",
        "io.k8s.api.authentication",
        [
            ("SelfSubjectReview", "selfsubjectreviews", False, _x(verbs=_CREATE)),
            ("TokenReview", "tokenreviews", False, _x(verbs=_CREATE)),
        ],
    ),
    *_table(
        "authorization.k8s.io/v1",
        "io.k8s.api.authorization",
        [
            ("LocalSubjectAccessReview", "localsubjectaccessreviews", True, _x(verbs=_CREATE)),
            ("SelfSubjectAccessReview", "selfsubjectaccessreviews", False, _x(verbs=_CREATE)),
            ("SelfSubjectRulesReview", "selfsubjectrulesreviews", False, _x(verbs=_CREATE)),
            ("SubjectAccessReview", "subjectaccessreviews", False, _x(verbs=_CREATE)),
        ],
    ),
]

_HPA_ROW = ("HorizontalPodAutoscaler", "horizontalpodautoscalers", True, _x("hpa", sub="status", cat="all"))
_AUTOSCALING = [
    *_table("autoscaling/v2", "io.k8s.api.autoscaling", [_HPA_ROW]),
    *_table("autoscaling/v1", "io.k8s.api.autoscaling", [_HPA_ROW]),
]

_BATCH = _table(
    "batch/v1",
    "io.k8s.api.batch",
    [
        ("CronJob", "cronjobs", True, _x("cj", sub="status", cat="all")),
        ("Job", "jobs", True, _x(sub="status", cat="all", fields=("status.successful",))),
    ],
)

_CERTIFICATES = _table(
    "certificates.k8s.io/v1",
    "io.k8s.api.certificates",
    [
        (
            "CertificateSigningRequest",
            "certificatesigningrequests",
            False,
            _x("csr", sub="approval status", fields=("spec.signerName",)),
        )
    ],
)

_NETWORKING = _table(
    "networking.k8s.io/v1",
    "io.k8s.api.networking",
    [
        ("IngressClass", "ingressclasses", False, _x()),
        ("Ingress", "ingresses", True, _x("ing", sub="status")),
        ("NetworkPolicy", "networkpolicies", True, _x("netpol")),
    ],
)

_POLICY = _table(
    "policy/v1",
    "io.k8s.api.policy",
    [("PodDisruptionBudget", "poddisruptionbudgets", True, _x("pdb", sub="status"))],
)

_RBAC = _table(
    "rbac.authorization.k8s.io/v1",
    "io.k8s.api.rbac",
    [
        ("ClusterRoleBinding", "clusterrolebindings", False, _x()),
        ("ClusterRole", "clusterroles", False, _x()),
        ("RoleBinding", "rolebindings", True, _x()),
        ("Role", "roles", True, _x()),
    ],
)

_STORAGE = _table(
    "storage.k8s.io/v1",
    "io.k8s.api.storage",
    [
        ("CSIDriver", "csidrivers", False, _x(returns=True)),
        ("CSINode", "csinodes", False, _x(returns=True)),
        ("CSIStorageCapacity", "csistoragecapacities", True, _x(returns=True)),
        ("StorageClass", "storageclasses", False, _x("sc", returns=True)),
        ("VolumeAttachment", "volumeattachments", False, _x(sub="status", returns=True)),
    ],
)

_ADMISSION = _table(
    "admissionregistration.k8s.io/v1",
    "io.k8s.api.admissionregistration",
    [
        (
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            False,
            _x(cat="api-extensions"),
        ),
        (
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
            False,
            _x(sub="status", cat="api-extensions"),
        ),
        (
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            False,
            _x(cat="api-extensions"),
        ),
        (
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            False,
            _x(cat="api-extensions"),
        ),
    ],
)

_EXTENSIONS = _table(
    "apiextensions.k8s.io/v1",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    [
        (
            "CustomResourceDefinition",
            "customresourcedefinitions",
            False,
            _x("crd", "crds", sub="status", cat="api-extensions"),
        )
    ],
)

_SCHEDULING = _table(
    "scheduling.k8s.io/v1",
    "io.k8s.api.scheduling",
    [("PriorityClass", "priorityclasses", False, _x("pc"))],
)

_COORDINATION = _table("coordination.k8s.io/v1", "io.k8s.api.coordination", [("Lease", "leases", True, _x())])

_NODE = _table("node.k8s.io/v1", "io.k8s.api.node", [("RuntimeClass", "runtimeclasses", False, _x())])

_DISCOVERY = _table(
    "discovery.k8s.io/v1", "io.k8s.api.discovery", [("EndpointSlice", "endpointslices", True, _x())]
)

_FLOWCONTROL = _table(
    "flowcontrol.apiserver.k8s.io/v1",
    "io.k8s.api.flowcontrol",
    [
        ("FlowSchema", "flowschemas", False, _x(sub="status")),
        ("PriorityLevelConfiguration", "prioritylevelconfigurations", False, _x(sub="status")),
    ],
)

# metrics-server is not part of the API server, but of nearly every cluster; its resources have no
# singular name in discovery, which is why `kubectl get pod` never means PodMetrics.
_METRICS = _table(
    "metrics.k8s.io/v1beta1",
    "",
    [
        ("NodeMetrics", "nodes", False, _x(verbs=_READ, singular="")),
        ("PodMetrics", "pods", True, _x(verbs=_READ, singular="")),
    ],
)

RESOURCES: tuple[Resource, ...] = (
    *_CORE,
    *_APISERVICES,
    *_APPS,
    *_EVENTS,
    *_REVIEWS,
    *_AUTOSCALING,
    *_BATCH,
    *_CERTIFICATES,
    *_NETWORKING,
    *_POLICY,
    *_RBAC,
    *_STORAGE,
    *_ADMISSION,
    *_EXTENSIONS,
    *_SCHEDULING,
    *_COORDINATION,
    *_NODE,
    *_DISCOVERY,
    *_FLOWCONTROL,
    *_METRICS,
)
"""Every resource served by default, in discovery order; of one key the preferred version comes first."""


class Registry:
    """An immutable set of served resources with the lookups that clients and servers need."""

    __slots__ = ("_by_key", "_by_kind", "_by_plural", "_by_token", "resources")

    def __init__(self, resources: Iterable[Resource]) -> None:
        self.resources: tuple[Resource, ...] = tuple(resources)
        self._by_key: dict[str, Resource] = {}
        self._by_kind: dict[tuple[str, str], Resource] = {}
        self._by_token: dict[str, Resource] = {}
        self._by_plural: dict[tuple[str, str, str], Resource] = {}
        for resource in self.resources:
            self._by_key.setdefault(resource.key, resource)
            self._by_plural.setdefault((resource.group, resource.version, resource.plural), resource)
            self._by_kind.setdefault((resource.api_version, resource.kind), resource)
        for resource in self.resources:
            if resource.address != resource.key:
                self._by_key.setdefault(resource.address, resource)
        self._index_tokens()

    def _index_tokens(self) -> None:
        # Proper names of all resources win over short names and kinds of any, as in kubectl's REST
        # mapper, which expands a short name only when nothing else answers to it.
        tokens = self._by_token
        for resource in self.resources:
            for name in (resource.plural, resource.singular, resource.kind.lower()):
                _add_token(tokens, name, resource)
                if name:
                    tokens.setdefault(f"{name}.{resource.version}.{resource.group}", resource)
        for resource in self.resources:
            for name in resource.short_names:
                _add_token(tokens, name, resource)

    def by_key(self, key: str) -> Resource | None:
        """The preferred version of the resource with that key (``"pods"``, ``"deployments.apps"``)."""
        return self._by_key.get(key)

    def by_kind(self, api_version: str, kind: str) -> Resource | None:
        """The resource of an ``apiVersion`` and ``kind`` pair, as written in a manifest."""
        return self._by_kind.get((api_version, kind))

    def by_plural(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource that a path names."""
        return self._by_plural.get((group, version, plural))

    def find(self, token: str) -> Resource | None:
        """What kubectl would make of a word: plural, singular, short name or kind, in any case,
        alone or with ``.group`` or ``.version.group`` behind it."""
        return self._by_token.get(token) or self._by_token.get(token.lower()) or self._short(token)

    def _short(self, token: str) -> Resource | None:
        """``hpa.v1.autoscaling``: a short name stands for the preferred version, whichever is written behind it."""
        name, _, rest = token.partition(".")
        _, dot, group = rest.partition(".")
        found = self._by_token.get(name)
        if not dot or found is None or name not in found.short_names or not found.group.startswith(group):
            return None
        return found

    def in_category(self, category: str) -> tuple[Resource, ...]:
        """The resources of a category (``all``), one version each, in discovery order."""
        return tuple(r for r in self.resources if category in r.categories and self._by_key[r.key] is r)

    def preferred(self) -> tuple[Resource, ...]:
        """One version of every resource, in discovery order."""
        return tuple(r for r in self.resources if self._by_key[r.key] is r)

    def api_versions(self) -> tuple[str, ...]:
        """Every served group/version, sorted, as ``kubectl api-versions`` prints them."""
        return tuple(sorted({r.api_version for r in self.resources}))

    def with_resources(self, extra: Iterable[Resource]) -> Registry:
        """A registry that serves these resources too.

        Their groups stand where their priority (1000) puts them: behind everything that the API server
        serves itself, before aggregated APIs such as metrics.k8s.io (100), in order of their names. A
        resource of a group that is served already stands at the end of its group.
        """
        groups = {resource.group for resource in self.resources}
        own: list[Resource] = []
        late: list[Resource] = []
        for resource in self.resources:
            (late if resource.group in AGGREGATED_GROUPS else own).append(resource)
        added = sorted(extra, key=_discovery_order)
        joined = [r for r in added if r.group in groups]
        new = [r for r in added if r.group not in groups]
        for resource in joined:
            at = max(i for i, r in enumerate(own) if r.group == resource.group) if _in(own, resource) else -1
            if at >= 0:
                own.insert(at + 1, resource)
            else:
                late.append(resource)
        return Registry((*own, *new, *late))


AGGREGATED_GROUPS = frozenset(("metrics.k8s.io",))
"""Groups served by another process behind the API server."""


def _in(resources: Iterable[Resource], wanted: Resource) -> bool:
    return any(resource.group == wanted.group for resource in resources)


def _discovery_order(resource: Resource) -> tuple[Any, ...]:
    return (resource.group, version_priority(resource.version), resource.plural)


def _add_token(tokens: dict[str, Resource], name: str, resource: Resource) -> None:
    if not name:
        return
    tokens.setdefault(name, resource)
    if resource.group:
        tokens.setdefault(f"{name}.{resource.group}", resource)


CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""Verbs of a custom resource in the order in which discovery tells them."""


def custom_resources(crd: dict[str, Any]) -> tuple[Resource, ...]:
    """The resources a CustomResourceDefinition serves, preferred version first.

    Once it has a status the accepted names count, as they do for the API server.
    """
    spec = crd["spec"]
    names = {**spec["names"], **((crd.get("status") or {}).get("acceptedNames") or {})}
    versions = [v for v in spec.get("versions", []) if v.get("served")]
    versions.sort(key=lambda v: version_priority(v["name"]))
    namespaced = spec["scope"] == "Namespaced"
    selectable = ("metadata.name", "metadata.namespace") if namespaced else ("metadata.name",)
    out = []
    for version in versions:
        subresources = version.get("subresources") or {}
        columns = tuple(f["jsonPath"].lstrip(".") for f in version.get("selectableFields") or ())
        out.append(
            Resource(
                group=spec["group"],
                version=version["name"],
                kind=names["kind"],
                plural=names["plural"],
                singular=names.get("singular") or names["kind"].lower(),
                namespaced=namespaced,
                short_names=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                verbs=CUSTOM_VERBS,
                subresources=tuple(name for name in ("status", "scale") if name in subresources),
                field_selectors=selectable + columns,
                custom=True,
                custom_type=CustomType(crd, version),
                list_name=names.get("listKind") or "",
                delete_returns_object=False,
            )
        )
    return tuple(out)


_MOST_CUSTOM = 256
_custom_cache: dict[tuple[int, int], tuple[Any, Any, tuple[Resource, ...]]] = {}
_registry_cache: dict[int, tuple[Sequence[Manifest], Registry]] = {}


def with_definitions(crds: Sequence[Manifest]) -> Registry:
    """The registry of a cluster with these CustomResourceDefinitions, of which the established ones count.

    The sequence must not change afterwards: the same one gives the same registry at once. Resources stay the
    same objects while their definition's ``spec`` and accepted names do.
    """
    if not crds:
        return BUILTIN
    known = _registry_cache.get(id(crds))
    if known is not None and known[0] is crds:
        return known[1]
    extra = [resource for crd in crds if is_established(crd) for resource in _served_by(crd)]
    made = BUILTIN.with_resources(extra) if extra else BUILTIN
    if len(_registry_cache) >= _MOST_CUSTOM:
        _registry_cache.clear()
    _registry_cache[id(crds)] = (crds, made)
    return made


def _served_by(crd: Manifest) -> tuple[Resource, ...]:
    spec, names = crd["spec"], (crd.get("status") or {}).get("acceptedNames")
    slot = (id(spec), id(names))
    known = _custom_cache.get(slot)
    if known is not None and known[0] is spec and known[1] is names:
        return known[2]
    made = custom_resources(crd)
    if len(_custom_cache) >= _MOST_CUSTOM:
        _custom_cache.clear()
    _custom_cache[slot] = (spec, names, made)
    return made


def is_established(crd: Manifest) -> bool:
    """Whether the API server serves a CustomResourceDefinition (condition ``Established``)."""
    return any(
        condition["type"] == "Established" and condition["status"] == "True"
        for condition in (crd.get("status") or {}).get("conditions") or ()
    )


@lru_cache(maxsize=256)
def version_priority(version: str) -> tuple[int, int, int, str]:
    """Sort key of API versions: v2 before v1 before v1beta2 before v1alpha1 before anything else."""
    body = version[1:] if version.startswith("v") else ""
    for rank, word in ((1, "beta"), (2, "alpha")):
        major, found, minor = body.partition(word)
        if found and major.isdigit() and (minor.isdigit() or not minor):
            return (rank, -int(major), -int(minor or 0), version)
    if body.isdigit():
        return (0, -int(body), 0, version)
    return (3, 0, 0, version)


SCALE = Resource("autoscaling", "v1", "Scale", "scales", "scale", True)
"""What the ``scale`` subresource of every scalable resource speaks; nothing is served under its name."""

BUILTIN = Registry(RESOURCES)
"""What a plain v1.32 cluster with metrics-server serves."""


@lru_cache(maxsize=16)
def without_group(registry: Registry, group: str) -> Registry:
    """A registry in which one group is not served."""
    return Registry(resource for resource in registry.resources if resource.group != group)


def by_key(key: str) -> Resource | None:
    """:meth:`Registry.by_key` of the built-in resources."""
    return BUILTIN.by_key(key)


def by_kind(api_version: str, kind: str) -> Resource | None:
    """:meth:`Registry.by_kind` of the built-in resources."""
    return BUILTIN.by_kind(api_version, kind)
