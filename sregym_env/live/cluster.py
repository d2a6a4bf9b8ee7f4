"""The Kubernetes API of a real cluster as one identity sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.api import PatchType, Propagation
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import LONGEST_COMMAND, Attached, ExecResult
from sregym_env.kube import status
from sregym_env.kube.registry import BUILTIN, Registry, Resource
from sregym_env.kube.types import Json, Manifest
from sregym_env.live import sockets
from sregym_env.live.clock import Clock
from sregym_env.live.connection import Connection, Query
from sregym_env.live.discovery import discover
from sregym_env.live.paths import collection, item
from sregym_env.runtime.clock import SECOND

# As kubectl (--chunk-size): larger answers burden an API server that others use as well.
PAGE = 500
"""Objects asked for at once."""

DISCOVERY_SECONDS = 10
"""How long what discovery told is believed."""

_CONTENT: Mapping[PatchType, str] = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}

_OWNERS = {"token": "serviceaccounts"}
"""What subresources are posted to that are not posted to pods."""


class Discovery:
    """What the cluster serves, asked again now and then; shared by all identities."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._known: tuple[int, Registry] | None = None

    @property
    def registry(self) -> Registry:
        """What is served."""
        if self._known is None or self._clock.now() - self._known[0] > DISCOVERY_SECONDS * SECOND:
            return self.renewed()
        return self._known[1]

    def renewed(self) -> Registry:
        """What is served at this moment."""
        found = discover(self._connection)
        self._known = (self._clock.now(), found)
        return found


class LiveCluster:
    """Implements :class:`sregym_env.cluster.api.Cluster` over HTTP."""

    def __init__(self, connection: Connection, discovery: Discovery, passing: Clock) -> None:
        """``passing`` is what :meth:`advance` waits on: the world's, so that others see time pass as well."""
        self._connection = connection
        self._discovery = discovery
        self._clock = passing

    @property
    def user(self) -> User:
        """Who is asking."""
        return self._connection.user

    @property
    def registry(self) -> Registry:
        """Everything that is served now, custom resources included."""
        return self._discovery.registry

    def as_user(self, user: User) -> LiveCluster:
        """The same cluster through another identity's eyes, by impersonation."""
        return LiveCluster(self._connection.as_user(user), self._discovery, self._clock)

    # --- objects ----------------------------------------------------------------------------------

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Manifest:
        """One object, or a subresource of it."""
        path = item(self._kind(resource), namespace, name, subresource)
        found: Manifest = self._connection.ask("GET", path).json()
        return found

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        """Objects in (namespace, name) order."""
        kind = self._kind(resource)
        query = [("limit", str(PAGE))]
        query += [("labelSelector", label_selector)] if label_selector else []
        query += [("fieldSelector", field_selector)] if field_selector else []
        found: list[Manifest] = []
        token = ""
        while True:
            asked = [*query, ("continue", token)] if token else query
            page = self._connection.ask("GET", collection(kind, namespace), asked).json()
            # Objects in a list do not say what they are.
            found += (
                {"apiVersion": kind.api_version, "kind": kind.kind, **obj} for obj in page["items"] or ()
            )
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token:
                return sorted(found, key=_place)

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
        """Create an object, or post to a subresource of ``name``."""
        query = _written(dry_run, strict, field_manager)
        if subresource:
            path = item(self._kind(_OWNERS.get(subresource, "pods")), namespace, name, subresource)
        else:
            kind = self._kind_of(manifest)
            manifest = _placed(kind, manifest, namespace)
            path = collection(kind, namespace or manifest["metadata"].get("namespace") or "default")
        made: Manifest = self._connection.ask("POST", path, query, manifest).json()
        return made

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
        metadata = manifest.get("metadata") or {}
        path = item(
            self._kind_of(manifest), metadata.get("namespace"), metadata.get("name") or "", subresource
        )
        query = _written(dry_run, strict, field_manager)
        put: Manifest = self._connection.ask("PUT", path, query, manifest).json()
        return put

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
        """Patch an object or a subresource of it; ``force`` takes fields from other appliers."""
        path = item(self._kind(resource), namespace, name, subresource)
        query = [*_written(dry_run, strict, field_manager), *([("force", "true")] if force else [])]
        patched: Manifest = self._connection.ask("PATCH", path, query, patch, _CONTENT[type]).json()
        return patched

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
        """Ask for deletion; the object as it was left, or of one that is gone at once what is known of it."""
        kind = self._kind(resource)
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace_period_seconds is not None:
            options["gracePeriodSeconds"] = grace_period_seconds
        # Said always: left to its own default, the API would orphan the pods of a Job.
        options["propagationPolicy"] = propagation or "Background"
        if dry_run:
            options["dryRun"] = ["All"]
        left: Manifest = self._connection.ask("DELETE", item(kind, namespace, name), (), options).json()
        if left.get("kind") != "Status":
            return left
        metadata = {"name": name, "uid": (left.get("details") or {}).get("uid", "")}
        if kind.namespaced:
            metadata["namespace"] = namespace or "default"
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}

    # --- containers -------------------------------------------------------------------------------

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
        """The log of one container."""
        asked = (
            ("container", container),
            ("previous", "true" if previous else None),
            ("tailLines", tail),
            ("sinceSeconds", since_seconds),
            ("timestamps", "true" if timestamps else None),
            ("limitBytes", limit_bytes),
        )
        query = [(key, str(value)) for key, value in asked if value is not None]
        path = item(self._pods, namespace, pod, "log")
        answer = self._connection.ask("GET", path, query, accept="text/plain, application/json")
        return answer.body.decode(errors="surrogateescape")

    def exec(
        self,
        namespace: str,
        pod: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        stdin: str = "",
        limit: float = LONGEST_COMMAND,
    ) -> ExecResult:
        """Run a command in a container, for at most ``limit`` seconds."""
        query = [("command", word) for word in command]
        query += _streams(container, stdin=bool(stdin))
        path = item(self._pods, namespace, pod, "exec")
        return sockets.execute(self._connection, path, query, _bytes(stdin), limit)

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
        """Give a main process input over a connection, and see in its log what it writes between two looks."""
        path = item(self._pods, namespace, pod, "attach")
        if cursor < 0 or stdin or end:
            query = _streams(container, stdin=True)
            text = sockets.feed(self._connection, path, query, _bytes(stdin), end=end)
        else:
            text = self.logs(namespace, pod, container=container)[cursor:]
        written = len(self.logs(namespace, pod, container=container))
        return Attached(text, self._runs(namespace, pod, container), written)

    def forward(self, namespace: str, pod: str, port: int, call: HttpCall) -> HttpExchange:
        """One HTTP request over a connection forwarded to a port of a pod."""
        path = item(self._pods, namespace, pod, "portforward")
        return sockets.forward(self._connection, path, port, call)

    # --- the rest ---------------------------------------------------------------------------------

    def review_access(
        self, verb: str, resource: str, namespace: str | None = None, name: str = "", subresource: str = ""
    ) -> bool:
        """Whether RBAC allows this identity the verb; also of ``*``, of a path, and of what is not served."""
        spec: dict[str, Any]
        if resource.startswith("/"):
            spec = {"nonResourceAttributes": {"verb": verb, "path": resource}}
        else:
            kind = self.registry.by_key(resource)
            attributes = {
                "verb": verb,
                "group": kind.group if kind is not None else "*" if resource == "*" else "",
                "resource": kind.plural if kind is not None else resource,
                "subresource": subresource,
                "namespace": namespace or "",
                "name": name,
            }
            spec = {"resourceAttributes": {key: value for key, value in attributes.items() if value}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        return bool(self._connection.ask("POST", path, (), review).json()["status"].get("allowed"))

    def warnings(self) -> tuple[str, ...]:
        """What the API server warned of since this was last asked, in order."""
        found = tuple(self._connection.warned)
        self._connection.warned.clear()
        return found

    def head(self, resource: str) -> str:
        """The resourceVersion of a list of a collection now; empty for what is stored nowhere."""
        found = self._connection.ask("GET", collection(self._kind(resource), None), [("limit", "1")]).json()
        return str(found["metadata"].get("resourceVersion", ""))

    def delay(self, limit: float = 0.0) -> float:
        """None: an answer comes when it comes."""
        return 0.0

    def version(self) -> Mapping[str, str]:
        """The ``/version`` document."""
        found: Mapping[str, str] = self._connection.ask("GET", "/version").json()
        return found

    def now(self) -> int:
        """The cluster's time."""
        return self._clock.now()

    def advance(self, seconds: float) -> None:
        """Wait."""
        self._clock.sleep(seconds)

    # --- inside -----------------------------------------------------------------------------------

    @property
    def _pods(self) -> Resource:
        return self._kind("pods")

    def _kind(self, resource: str) -> Resource:
        """The registry entry of a resource key. Raises NotFound for what is not served."""
        # Nearly everything that is asked for is built in, and discovery takes two requests.
        found = BUILTIN.by_key(resource) or self.registry.by_key(resource)
        found = found or self._discovery.renewed().by_key(resource)
        if found is None:
            raise status.unknown_path()
        return found

    def _kind_of(self, manifest: Manifest) -> Resource:
        api_version, name = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
        found = BUILTIN.by_kind(api_version, name) or self.registry.by_kind(api_version, name)
        found = found or self._discovery.renewed().by_kind(api_version, name)
        if found is None:
            raise status.unknown_path()
        return found

    def _runs(self, namespace: str, pod: str, container: str | None) -> bool:
        found = self.get("pods", pod, namespace)
        wanted = container or found["spec"]["containers"][0]["name"]
        states = (found.get("status") or {}).get("containerStatuses") or ()
        return any(state["name"] == wanted and "running" in state.get("state", {}) for state in states)


def _written(dry_run: bool, strict: bool, field_manager: str) -> Query:
    """The query of a write."""
    query = [("fieldValidation", "Strict" if strict else "Ignore")]
    query += [("dryRun", "All")] if dry_run else []
    query += [("fieldManager", field_manager)] if field_manager else []
    return query


def _placed(kind: Resource, manifest: Manifest, namespace: str | None) -> Manifest:
    """The manifest with its namespace in it where it has one, and without where it cannot have one."""
    metadata = dict(manifest.get("metadata") or {})
    if kind.namespaced:
        metadata.setdefault("namespace", namespace or "default")
    else:
        metadata.pop("namespace", None)
    return {**manifest, "metadata": metadata}


def _streams(container: str | None, *, stdin: bool) -> list[tuple[str, str]]:
    chosen = [("container", container)] if container else []
    return [*chosen, ("stdin", "true" if stdin else "false"), ("stdout", "true"), ("stderr", "true")]


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _place(obj: Manifest) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
