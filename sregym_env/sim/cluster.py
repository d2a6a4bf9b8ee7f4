"""The Kubernetes API of the embedded cluster as one identity sees it: the seam's ``Cluster``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sregym_env.cluster.api import PatchType, Propagation
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.identity import ADMIN, User
from sregym_env.cluster.streams import LONGEST_COMMAND, Attached, ExecResult
from sregym_env.kube import conversion, schema, selectors, status
from sregym_env.kube import patch as patches
from sregym_env.kube.ownership import inferred
from sregym_env.kube.registry import Registry, Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime import effort
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import (
    admission,
    conversions,
    custom,
    ephemeral,
    escalation,
    strategy,
    subresources,
    tokens,
    tracking,
)
from sregym_env.sim.apiserver.admission import warnings
from sregym_env.sim.apiserver.componentstatus import component_statuses
from sregym_env.sim.apiserver.rbac import Authorizer, Grant
from sregym_env.sim.apiserver.tracking import Tracking
from sregym_env.sim.controllers import argocd, horizontalpodautoscaler
from sregym_env.sim.machines import attaching, container_logs, nodes, power
from sregym_env.sim.monitoring import metrics
from sregym_env.sim.programs import exec as programs_exec
from sregym_env.sim.world import SimWorld

VERSION: Mapping[str, str] = {
    "major": "1",
    "minor": "32",
    "gitVersion": "v1.32.5",
    "gitCommit": "9894294ef13a5b32803e3ca2c0d620a088cc84d1",
    "gitTreeState": "clean",
    "buildDate": "2025-05-15T09:01:33Z",
    "goVersion": "go1.23.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}
"""The ``/version`` document of the version profile."""

_RELEASES: Mapping[str, tuple[str, str, str]] = {
    "v1.32.0": ("70d3cc986aa8221cd1dfb1121852688902d3bf53", "2024-12-11T17:59:15Z", "go1.23.3"),
    "v1.32.1": ("e9c9be4007d1664e68796af02b8978640d2c1b26", "2025-01-15T14:31:55Z", "go1.23.4"),
    "v1.32.2": ("67a30c0adcf52bd3f56ff0893ce19966be12991f", "2025-02-12T21:19:47Z", "go1.23.6"),
    "v1.32.3": ("32cc146f75aad04beaaa245a7157eb35063a9f99", "2025-03-11T19:52:21Z", "go1.23.6"),
    "v1.32.4": ("59526cd4867447956156ae3a602fcbac10a2c335", "2025-04-22T15:57:31Z", "go1.23.6"),
}
"""(commit, build date, compiler) of other patch releases. Commits are those of the tags; dates and compilers are those
that API servers of v1.32.0 to v1.32.3 print. The date of v1.32.4, and that of v1.32.5 above, lie where those of the others do:
some five minutes before kubeadm's."""


def release(version: str) -> Mapping[str, str]:
    """The ``/version`` document of a release such as ``v1.32.4``."""
    known = _RELEASES.get(version)
    if known is None:
        return VERSION
    return {**VERSION, "gitVersion": version, **dict(zip(_OF_RELEASE, known, strict=True))}


_OF_RELEASE = ("gitCommit", "buildDate", "goVersion")

_REVIEWS = frozenset(
    {
        "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview", "SubjectAccessReview",
        "LocalSubjectAccessReview",
    }
)  # fmt: skip

_CONNECTIONS: Mapping[str, str] = {
    "exec": "PodExecOptions",
    "attach": "PodAttachOptions",
    "portforward": "PodPortForwardOptions",
}
"""Kinds of the objects that describe a connection to a pod."""

_POSTED: Mapping[str, tuple[str, str, str]] = {
    "eviction": ("policy", "v1", "Eviction"),
    "binding": ("", "v1", "Binding"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
"""Kinds of what is posted to subresources."""

_COMPUTED: Mapping[str, Callable[[SimWorld], list[Manifest]]] = {
    "pods.metrics.k8s.io": lambda world: metrics.pod_metrics(world),
    "nodes.metrics.k8s.io": lambda world: metrics.node_metrics(world),
    "componentstatuses": component_statuses,
}
"""Resources that are views of the world and have no stored objects."""

_PROGRAMS = "system:serviceaccount:"
"""Who asks from within a pod, beside people: programs that the cluster runs go on by themselves."""

_HEARTBEATS = ("nodes", "leases.coordination.k8s.io")
"""Resources whose objects hold the time of the last heartbeat."""

_FOLLOWING = (horizontalpodautoscaler.RESOURCE, argocd.APPLICATIONS)
"""Resources whose status follows what is measured or the time."""

REQUEST_EFFORT = 50.0
DECODING_EFFORT = 250.0
"""What a request costs, and an object that has to be understood (units of ``runtime/effort.py``)."""


class SimCluster:
    """Implements :class:`sregym_env.cluster.api.Cluster` in process."""

    __slots__ = ("_authorizer", "_world", "user")

    def __init__(self, world: SimWorld, user: User = ADMIN) -> None:
        self._world = world
        self.user = user
        self._authorizer = Authorizer(world, user)

    def as_user(self, user: User) -> SimCluster:
        """The same cluster through another identity's eyes."""
        return SimCluster(self._world, user)

    @property
    def registry(self) -> Registry:
        """Everything that is served now, custom resources included."""
        return custom.registry_of(self._world)

    # --- reading ----------------------------------------------------------------------------------

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Manifest:
        """One object, or its ``status`` or ``scale`` subresource. Raises NotFound, Forbidden."""
        kind = apiserver.resource_of(self._world, resource)
        self._authorize("get", kind, namespace, name, subresource)
        if subresource == "scale":
            found = self._present(kind, self._stored(kind, namespace, name))
            return subresources.scale_of(found, kind)
        if resource in _COMPUTED:
            self._warn_of(resource)
            for obj in _COMPUTED[resource](self._world):
                metadata = obj["metadata"]
                if metadata["name"] == name and metadata.get("namespace") == namespace:
                    return obj
            raise status.not_found(kind, name)
        return self._present(kind, self._stored(kind, namespace, name))

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        """Objects in (namespace, name) order. Raises Forbidden, BadRequest (selectors)."""
        kind = apiserver.resource_of(self._world, resource)
        self._authorize("list", kind, namespace, "")
        if resource in _COMPUTED:
            self._warn_of(resource)
            found = [
                obj for obj in _COMPUTED[resource](self._world)
                if namespace is None or obj["metadata"].get("namespace") == namespace
            ]  # fmt: skip
        else:
            found = self._world.store.list(kind.storage_key, namespace if kind.namespaced else None)
        if label_selector or field_selector:
            found = _selected(kind, found, label_selector, field_selector)
        if kind.key in _HEARTBEATS or kind.storage_key in _FOLLOWING or conversion.is_converted(kind):
            return [self._present(kind, obj) for obj in found]
        return found.copy()

    def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        previous: bool = False,
        tail: int | None = None,
        since_seconds: int | None = None,
        timestamps: bool = False,
        limit_bytes: int | None = None,
    ) -> str:
        """The log of one container. Raises BadRequest with the kubelet's text where there is none yet."""
        pods = apiserver.resource_of(self._world, "pods")
        self._authorize("get", pods, namespace, pod, "log")
        found = self._stored(pods, namespace, pod)
        chosen = container_logs.choose_container(found, container)
        refused = power.refusal(self._world, found)
        if refused:
            address = f"https://{refused[0]}/containerLogs/{namespace}/{pod}/{chosen}"
            raise status.undialled(f'Get "{address}": {refused[1]}')
        return container_logs.read(
            self._world,
            found,
            chosen,
            previous=previous,
            tail=tail,
            since_seconds=since_seconds,
            timestamps=timestamps,
            limit_bytes=limit_bytes,
        )

    # --- writing ----------------------------------------------------------------------------------

    def create(
        self,
        manifest: Manifest,
        *,
        namespace: str | None = None,
        subresource: str = "",
        name: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
    ) -> Manifest:
        """Create an object, or post to a subresource of the object ``name``."""
        tracking.check_manager(field_manager, "CreateOptions")
        if subresource:
            return self._post(manifest, namespace or "default", subresource, name, dry_run)
        kind = self._kind_of(manifest)
        manifest = self._in_namespace(kind, manifest, namespace)
        if kind.kind in _REVIEWS:
            manifest = self._decoded(kind, manifest, strict)
            self._consult("CREATE", kind, manifest, dry_run=dry_run)
            return subresources.review(self._world, self.user, manifest)
        wanted = manifest.get("metadata")
        self._authorize("create", kind, wanted.get("namespace") if isinstance(wanted, dict) else None, "")
        obj = self._decoded(kind, manifest, strict)
        escalation.check(self._world, self.user, self._authorizer, kind, obj, None)
        tracked = tracking.of_request(field_manager, kind, manifest)
        made = apiserver.create(
            self._world, kind.storage_key, obj, self.user, dry_run=dry_run, tracked=tracked
        )
        self._note(kind, made["metadata"].get("namespace"), made["metadata"]["name"], dry_run)
        return self._told(kind, made)

    def replace(
        self,
        manifest: Manifest,
        *,
        subresource: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
    ) -> Manifest:
        """Put a whole object; a resourceVersion in it is checked."""
        tracking.check_manager(field_manager, "UpdateOptions")
        kind = self._kind_of(manifest)
        manifest = self._in_namespace(kind, manifest, None)
        metadata = manifest["metadata"]
        self._authorize("update", kind, metadata.get("namespace"), metadata["name"], subresource)
        obj = self._decoded(kind, manifest, strict)
        tracked = tracking.of_request(field_manager, kind, manifest, subresource)
        self._note(kind, metadata.get("namespace"), metadata["name"], dry_run)
        if subresource in ("status", "approval"):
            old = self._stored(kind, metadata.get("namespace"), metadata["name"])
            return self._put_status(kind, old, obj, dry_run, tracked, subresource)
        if subresource == "ephemeralcontainers":
            old = self._stored(kind, metadata.get("namespace"), metadata["name"])
            return self._put_ephemeral(kind, old, obj, dry_run, tracked)
        if subresource == "finalize":
            return self._told(kind, self._finalized(kind, obj))
        known = self._find(kind, metadata.get("namespace"), metadata["name"])
        escalation.check(self._world, self.user, self._authorizer, kind, obj, known)
        made = apiserver.update(
            self._world, kind.storage_key, obj, self.user, dry_run=dry_run, tracked=tracked
        )
        return self._told(kind, made)

    def patch(
        self,
        resource: str,
        name: str,
        patch: Json,
        *,
        namespace: str | None = None,
        type: PatchType = "strategic",
        subresource: str = "",
        dry_run: bool = False,
        strict: bool = True,
        field_manager: str = "",
        force: bool = False,
    ) -> Manifest:
        """Patch an object or its ``status`` / ``scale`` subresource."""
        tracking.check_manager(field_manager, "PatchOptions")
        kind = apiserver.resource_of(self._world, resource)
        self._authorize("patch", kind, namespace, name, subresource)
        # Strategic merging needs the merge keys of a Go type, which custom resources do not have.
        if kind.custom and type == "strategic":
            raise status.unsupported_media_type(custom.PATCHES)
        self._note(kind, namespace, name, dry_run)
        if type == "apply" and subresource != "scale":
            return self._apply(kind, name, patch, namespace, subresource, dry_run, field_manager, force)
        old = self._stored(kind, namespace, name)
        if conversion.is_converted(kind):
            old = self._present(kind, old)
        if subresource == "scale":
            return self._patch_scale(kind, old, patch, type, dry_run, field_manager, force)
        if field_manager and _names_owners(patch):
            old_seen = inferred.with_managed_fields(kind, old)
        else:
            old_seen = old
        raw = _patched(kind, old_seen, patch, type)
        obj, _ = schema.decode_patched(kind, raw, patch, type == "strategic", strict)
        _check_identity(kind, obj, old)
        if not kind.custom and conversion.is_converted(kind):
            obj, old = conversion.to_storage(kind, obj), self._stored(kind, namespace, name)
        given = raw if old_seen is not old else {}
        tracked = tracking.of_request(field_manager, kind, given, subresource)
        if subresource in ("status", "approval"):
            return self._put_status(kind, old, obj, dry_run, tracked, subresource)
        if subresource == "ephemeralcontainers":
            return self._put_ephemeral(kind, old, obj, dry_run, tracked)
        escalation.check(self._world, self.user, self._authorizer, kind, obj, old)
        made = apiserver.update(
            self._world, kind.storage_key, obj, self.user, dry_run=dry_run, tracked=tracked
        )
        return self._told(kind, made)

    def _apply(
        self,
        kind: Resource,
        name: str,
        patch: Json,
        namespace: str | None,
        subresource: str,
        dry_run: bool,
        field_manager: str,
        force: bool,
    ) -> Manifest:
        """Server-side apply: of a whole object (which it creates where it is missing) or of its status."""
        if not field_manager:
            error = status.required("fieldManager", "is required for apply patch")
            raise status.invalid("PatchOptions.meta.k8s.io", "", [error])
        if not isinstance(patch, dict):
            raise status.bad_request("error decoding YAML: the patch is not an object")
        kind = self._version_of(kind, patch)
        old = self._find(kind, namespace, name)
        if old is None and subresource:
            raise status.not_found(kind, name)
        if old is None:
            self._authorize("create", kind, namespace, name)
            _check_absent(kind, name, patch)
        config = self._in_namespace(kind, patch, namespace)
        wanted, tracked = tracking.applied(
            self._world, kind, old, config, field_manager, force=force, subresource=subresource
        )
        obj = self._decoded(kind, wanted, False)
        world, key = self._world, kind.storage_key
        if old is not None:
            _check_identity(kind, obj, old)
            if subresource:
                return self._put_status(kind, old, obj, dry_run, tracked)
        escalation.check(world, self.user, self._authorizer, kind, obj, old)
        write = apiserver.create if old is None else apiserver.update
        made = write(world, key, obj, self.user, dry_run=dry_run, tracked=tracked)
        return self._told(kind, made)

    def _version_of(self, kind: Resource, config: Manifest) -> Resource:
        """The resource in the version that a configuration is written in, where it is one of the same kind."""
        found = apiserver.served(
            self._world, str(config.get("apiVersion") or ""), str(config.get("kind") or "")
        )
        return found if found is not None and found.storage_key == kind.storage_key else kind

    def _patch_scale(
        self,
        kind: Resource,
        old: Manifest,
        patch: Json,
        type: PatchType,
        dry_run: bool,
        field_manager: str,
        force: bool,
    ) -> Manifest:
        view = subresources.scale_of(old, kind)
        tracked = tracking.of_request(field_manager, kind, {}, "scale")
        if type == "apply":
            changed, tracked = tracking.applied_scale(
                self._world, kind, old, view, patch, field_manager, force
            )
        else:
            changed = _patched(kind, view, patch, "merge" if type != "json" else "json")
        metadata = old["metadata"]
        found = self._consult(
            "UPDATE",
            kind,
            changed,
            view,
            subresource="scale",
            gvk=("autoscaling", "v1", "Scale"),
            dry_run=dry_run,
            where=(metadata.get("namespace", ""), metadata["name"]),
        )
        scaled = subresources.with_scale(kind, old, found or changed)
        stored = apiserver.update(
            self._world,
            kind.storage_key,
            scaled,
            self.user,
            dry_run=dry_run,
            tracked=tracked,
            admitted=True,
        )
        return subresources.scale_of(stored, kind)

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace_period_seconds: int | None = None,
        propagation: Propagation | None = None,
        dry_run: bool = False,
    ) -> Manifest:
        """Ask for deletion; the object (perhaps with a deletionTimestamp) as it was left."""
        kind = apiserver.resource_of(self._world, resource)
        self._authorize("delete", kind, namespace, name)
        old = self._stored(kind, namespace, name)
        self._note(kind, namespace, name, dry_run)
        left = apiserver.delete(
            self._world,
            kind.storage_key,
            old["metadata"].get("namespace", ""),
            name,
            grace=grace_period_seconds,
            propagation=propagation or "Background",
            user=self.user,
            dry_run=dry_run,
        )
        return old if left is None else left

    def exec(
        self,
        namespace: str,
        pod: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        stdin: str = "",
        limit: float = LONGEST_COMMAND,
        admitted: bool = False,
        paced: bool = False,
    ) -> ExecResult:
        """Run a command in a container. Raises BadRequest or InternalError with the kubelet's refusal.

        ``admitted``: admission has been asked about the connection already. ``paced``: who asks lets the time pass
        himself that the command takes (``ExecResult.seconds``).
        """
        pods = apiserver.resource_of(self._world, "pods")
        self._authorize("create", pods, namespace, pod, "exec")
        # As in the API server's connect handler, admission is asked before the pod is looked for.
        if not admitted:
            self.connecting(
                namespace,
                pod,
                "exec",
                container,
                stdin=bool(stdin),
                stdout=True,
                stderr=True,
                command=list(command),
            )
        found = self._stored(pods, namespace, pod)
        chosen = container_logs.choose_container(found, container)
        if not found["spec"].get("nodeName"):
            raise status.bad_request(f"pod {pod} does not have a host assigned")
        self.dialled(found)
        known = container_logs.container_status(found, chosen)
        if known is None or "running" not in known.get("state", {}):
            raise status.internal_error(f'unable to upgrade connection: container not found ("{chosen}")')
        advance = None if paced else self._world.advance
        return programs_exec.run(
            self._world,
            found,
            chosen,
            list(command),
            stdin,
            advance=advance,
            limit=min(limit, LONGEST_COMMAND),
        )

    def attach(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        stdin: str = "",
        end: bool = False,
        cursor: int = -1,
    ) -> Attached:
        """Give a container's main process input and see what it writes. Raises BadRequest, InternalError."""
        pods = apiserver.resource_of(self._world, "pods")
        self._authorize("create", pods, namespace, pod, "attach")
        # Later turns belong to a connection that was let in, and outlive the process at its other end.
        if cursor < 0:
            self.connecting(namespace, pod, "attach", container=container, stdin=bool(stdin), stdout=True)
        found = self._stored(pods, namespace, pod)
        self.dialled(found)
        choose = attaching.chosen if cursor < 0 else container_logs.choose_container
        name = choose(found, container)
        return attaching.attach(self._world, found, name, stdin, end, cursor)

    def forward(self, namespace: str, pod: str, port: int, call: HttpCall) -> HttpExchange:
        """One HTTP request over a connection forwarded to a port of a pod. Raises BadRequest if it does not run."""
        pods = apiserver.resource_of(self._world, "pods")
        self._authorize("create", pods, namespace, pod, "portforward")
        self.connecting(namespace, pod, "portforward", ports=[port])
        found = self._stored(pods, namespace, pod)
        self.dialled(found)
        return attaching.forward(self._world, found, port, call)

    def dialled(self, pod: Manifest) -> None:
        """Raises InternalError where the API server does not get through to a pod's kubelet."""
        refused = power.refusal(self._world, pod)
        if refused:
            raise status.undialled(f"error dialing backend: {refused[1]}")

    def connecting(
        self,
        namespace: str,
        name: str,
        subresource: str,
        container: str | None = None,
        resource: str = "pods",
        **options: Any,
    ) -> None:
        """Ask admission about a connection to a pod, service or node. Raises what a webhook or policy says."""
        if not admission.is_guarded(self._world):
            return
        target = apiserver.resource_of(self._world, resource)
        kind = f"{target.kind}ProxyOptions" if subresource == "proxy" else _CONNECTIONS[subresource]
        asked = {"kind": kind, "apiVersion": "v1", **{k: v for k, v in options.items() if v}}
        if container:
            asked["container"] = container
        gvk = ("", "v1", kind)
        self._consult("CONNECT", target, asked, subresource=subresource, gvk=gvk, where=(namespace, name))

    def _warn_of(self, resource: str) -> None:
        """Kinds that are about to go say so to whoever reads them."""
        if resource == "componentstatuses":
            warnings.tell(self._world, self.user, "v1 ComponentStatus is deprecated in v1.19+")

    def warnings(self) -> tuple[str, ...]:
        """What admission warned of since this was last asked, for whoever talks to the client."""
        return admission.take_warnings(self._world)

    def _finalized(self, kind: Resource, obj: Manifest) -> Manifest:
        """A namespace with other finalizers in its spec; a terminating one that has none is gone."""
        name = obj["metadata"]["name"]
        current = self._stored(kind, None, name)
        spec = {**current["spec"], "finalizers": list((obj.get("spec") or {}).get("finalizers") or ())}
        stored = self._world.store.put(kind.storage_key, {**current, "spec": spec})
        if "deletionTimestamp" in stored["metadata"] and not spec["finalizers"]:
            apiserver.finalize_delete(self._world, kind.storage_key, "", name)
        return stored

    def head(self, resource: str) -> str:
        """The resourceVersion of a list now; what is measured is stored nowhere, and its lists have none."""
        return "" if resource.endswith(".metrics.k8s.io") else str(self._world.store.revision)

    def delay(self, limit: float = 0.0) -> float:
        """Seconds that webhooks took of the requests since this was last asked, for whoever talks to the client."""
        return admission.take_delay(self._world, limit)

    # --- the rest ---------------------------------------------------------------------------------

    def review_access(
        self, verb: str, resource: str, namespace: str | None = None, name: str = "", subresource: str = ""
    ) -> bool:
        """Whether RBAC allows this identity the verb; also of ``*``, of a path, and of what is not served."""
        if resource.startswith("/"):
            return self._authorizer.allows_path(verb, resource)
        kind = custom.find(self._world, resource)
        if kind is None:
            what = f"{resource}/{subresource}" if subresource else resource
            return self._authorizer.allows(verb, "*" if resource == "*" else "", what, namespace, name)
        return self._allowed(verb, kind, namespace, name, subresource)

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The RBAC rules of this identity."""
        return self._authorizer.grants

    def version(self) -> Mapping[str, str]:
        """The ``/version`` document."""
        return release(self._world.plan.version)

    def now(self) -> int:
        """The cluster's time."""
        return self._world.now()

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._world.advance(seconds)

    # --- inside -----------------------------------------------------------------------------------

    def _consult(
        self,
        operation: admission.Operation,
        kind: Resource,
        obj: Manifest | None,
        old: Manifest | None = None,
        *,
        subresource: str = "",
        gvk: tuple[str, str, str] | None = None,
        dry_run: bool = False,
        where: tuple[str, str] | None = None,
    ) -> Manifest | None:
        """Admission of a request that stores no whole object; ``where`` is (namespace, name) if not the object's."""
        if where is None:
            metadata = (old or obj or {}).get("metadata") or {}
            where = (metadata.get("namespace", ""), metadata.get("name", ""))
        request = admission.Attributes(operation, kind, *where, self.user, subresource, gvk, dry_run)
        return admission.consult(self._world, request, obj, old)

    def _decoded(self, kind: Resource, manifest: Manifest, strict: bool) -> Manifest:
        effort.note(DECODING_EFFORT)
        obj, _ = schema.decode(kind, manifest, strict)
        return conversion.to_storage(kind, obj)

    def _allowed(self, verb: str, kind: Resource, namespace: str | None, name: str, subresource: str) -> bool:
        what = f"{kind.plural}/{subresource}" if subresource else kind.plural
        return self._authorizer.allows(verb, kind.group, what, namespace, name)

    def _authorize(
        self, verb: str, kind: Resource, namespace: str | None, name: str, subresource: str = ""
    ) -> None:
        effort.spend(REQUEST_EFFORT)
        if not self._allowed(verb, kind, namespace, name, subresource):
            raise status.forbidden(kind, name, self.user.name, verb, namespace or "", subresource)

    def _note(self, kind: Resource, namespace: str | None, name: str, dry_run: bool) -> None:
        """Keep account of a request to write an object, where somebody has asked for it."""
        known = self._world.audit
        if known is None or dry_run or self.user.name.startswith(_PROGRAMS):
            return
        entry = (kind.storage_key, (namespace or "default") if kind.namespaced else "", name)
        if entry not in known:
            self._world.audit = (*known, entry)

    def _find(self, kind: Resource, namespace: str | None, name: str) -> Manifest | None:
        where = (namespace or "default") if kind.namespaced else ""
        return self._world.store.get(kind.storage_key, where, name)

    def _stored(self, kind: Resource, namespace: str | None, name: str) -> Manifest:
        found = self._find(kind, namespace, name)
        if found is None:
            raise status.not_found(kind, name)
        return found

    def _present(self, kind: Resource, obj: Manifest) -> Manifest:
        """The object as it reads now: what is renewed every few seconds is filled in on the way out, not written."""
        if kind.key in _HEARTBEATS:
            return nodes.present(self._world, obj)
        if kind.custom:
            found = conversions.presented(self._world, kind, obj)
            return argocd.present(self._world, found) if kind.storage_key == argocd.APPLICATIONS else found
        if kind.storage_key in _FOLLOWING:
            obj = horizontalpodautoscaler.present(self._world, obj)
        return conversion.from_storage(kind, obj)

    def _told(self, kind: Resource, made: Manifest) -> Manifest:
        """What a write answers: the object as it reads now."""
        if kind.key in _HEARTBEATS:
            return nodes.present(self._world, made)
        return conversion.from_storage(kind, made)

    def _kind_of(self, manifest: Manifest) -> Resource:
        api_version, name = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
        found = apiserver.served(self._world, api_version, name)
        if found is None:
            raise status.unknown_path()
        return found

    def _in_namespace(self, kind: Resource, manifest: Manifest, namespace: str | None) -> Manifest:
        metadata = manifest.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        own = metadata.get("namespace")
        if not kind.namespaced:
            return manifest if own is None else {**manifest, "metadata": _without(metadata, "namespace")}
        if namespace and own and own != namespace:
            text = "the namespace of the provided object does not match the namespace sent on the request"
            raise status.bad_request(text)
        if own:
            return manifest
        return {**manifest, "metadata": {**metadata, "namespace": namespace or "default"}}

    def _post(self, body: Manifest, namespace: str, subresource: str, name: str, dry_run: bool) -> Manifest:
        owner = apiserver.resource_of(self._world, "serviceaccounts" if subresource == "token" else "pods")
        self._authorize("create", owner, namespace, name, subresource)
        gvk = _POSTED.get(subresource)
        if gvk is not None:
            found = self._consult(
                "CREATE",
                owner,
                body,
                subresource=subresource,
                gvk=gvk,
                dry_run=dry_run,
                where=(namespace, name),
            )
            body = found or body
        self._note(owner, namespace, name, dry_run or subresource == "token")
        if subresource == "eviction":
            return subresources.evict(self._world, namespace, name, body, dry_run=dry_run)
        if subresource == "binding":
            return subresources.bind(self._world, namespace, name, body)
        if subresource == "token":
            return tokens.requested(self._world, namespace, name, body)
        raise status.unknown_path()

    def _put_ephemeral(
        self, kind: Resource, old: Manifest, new: Manifest, dry_run: bool, tracked: Tracking | None
    ) -> Manifest:
        stored = ephemeral.with_containers(kind, old, new)
        stored = tracking.with_entries(stored, tracking.updated(self._world, kind, stored, old, tracked))
        judged = self._consult(
            "UPDATE", kind, stored, old, subresource="ephemeralcontainers", dry_run=dry_run
        )
        stored = judged or stored
        return stored if dry_run else self._world.store.put(kind.storage_key, stored)

    def _put_status(
        self,
        kind: Resource,
        old: Manifest,
        new: Manifest,
        dry_run: bool,
        tracked: Tracking | None = None,
        subresource: str = "status",
    ) -> Manifest:
        if not strategy.has_status(kind) or subresource not in kind.subresources:
            raise status.unknown_path()
        changed = {**old, "status": new.get("status") or {}}
        if kind.custom:
            old = self._present(kind, old)
            changed = custom.with_status(kind, old, new)
        judged = self._consult("UPDATE", kind, changed, old, subresource=subresource, dry_run=dry_run)
        if judged is not None and judged is not changed:
            changed = {**old, "status": judged.get("status") or {}}
        owners = tracking.updated(self._world, kind, changed, old, tracked)
        changed = tracking.settled(kind, changed, old, owners)
        if dry_run or changed == old:
            return changed
        if kind.custom:
            changed = conversions.stored(self._world, kind, changed)
            return self._present(kind, self._world.store.put(kind.storage_key, changed))
        return self._world.store.put(kind.storage_key, changed)


def _selected(
    kind: Resource, found: list[Manifest], label_selector: str, field_selector: str
) -> list[Manifest]:
    try:
        if label_selector:
            labels = selectors.parse_labels(label_selector)
            found = [obj for obj in found if labels.matches(obj["metadata"].get("labels") or {})]
        if field_selector:
            fields = selectors.parse_fields_of(kind, field_selector)
            found = [obj for obj in found if fields.matches(obj)]
    except selectors.SelectorError as error:
        raise status.bad_request(str(error)) from error
    return found


def _patched(kind: Resource, old: Manifest, patch: Json, type: PatchType) -> Any:
    try:
        if type == "json":
            return patches.json_patch(old, patch)
        if not isinstance(patch, dict):
            what = {str: "string", bool: "bool", int: "number", float: "number"}.get(patch.__class__, "array")
            text = f"json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
            raise status.bad_request(text)
        if type == "merge":
            return patches.merge_patch(old, patch)
        return patches.strategic_merge_patch(old, patch, kind)
    except patches.TooLarge as error:
        raise status.StatusError(
            413, "RequestEntityTooLarge", f"Request entity too large: {error}"
        ) from error
    except patches.PatchError as error:
        if type == "json":
            raise status.unprocessable() from error
        raise status.bad_request(str(error)) from error


def _names_owners(patch: Json) -> bool:
    """Whether a patch is about ``metadata.managedFields`` itself."""
    if isinstance(patch, dict):
        return tracking.given_in(patch) is not None
    if isinstance(patch, list):
        return any(
            isinstance(step, dict) and str(step.get("path", "")).startswith("/metadata/managedFields")
            for step in patch
        )
    return False


def _check_absent(kind: Resource, name: str, config: Manifest) -> None:
    """A configuration that names the uid of an object that is not there conflicts."""
    uid = (config.get("metadata") or {}).get("uid")
    if uid:
        text = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise status.conflict(kind, name, text)


def _check_identity(kind: Resource, new: Manifest, old: Manifest) -> None:
    found, known = new.get("metadata", {}).get("name"), old["metadata"]["name"]
    if found != known:
        text = f"the name of the object ({found}) does not match the name on the URL ({known})"
        raise status.bad_request(text)


def _without(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}
