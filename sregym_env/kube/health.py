"""``/healthz``, ``/livez`` and ``/readyz``: the checks of an API server of v1.32, all of which pass."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube import status

ENDPOINTS = ("healthz", "livez", "readyz")

_FIRST = ("ping", "log", "etcd")
_HOOKS = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)
_LAST_HOOKS = ("apiservice-openapi-controller", "apiservice-openapiv3-controller")


def checks(endpoint: str) -> tuple[str, ...]:
    """The names of an endpoint's checks, in order."""
    ready = ("etcd-readiness", "informer-sync") if endpoint == "readyz" else ()
    hooks = tuple(f"poststarthook/{name}" for name in _HOOKS)
    last = tuple(f"poststarthook/{name}" for name in _LAST_HOOKS)
    end = ("shutdown",) if endpoint == "readyz" else ()
    return (*_FIRST, *ready, *hooks, "autoregister-completion", *last, *end)


def report(path: str, *, verbose: bool = False, excluded: Sequence[str] = ()) -> str:
    """The answer to a request to an endpoint or to one of its checks. Raises NotFound for an unknown check."""
    endpoint, _, check = path.strip("/").partition("/")
    known = checks(endpoint)
    if check and check not in known:
        raise status.unknown_path()
    if check or not verbose:
        return "ok"
    lines = [f"[+]{name} excluded: ok" if name in excluded else f"[+]{name} ok" for name in known]
    unknown = [name for name in excluded if name not in known]
    if unknown:
        names = ", ".join(status.go_quote(name) for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
    return "\n".join((*lines, f"{endpoint} check passed")) + "\n"
