"""Registries that ask who wants an image: what a pod's pull secrets say, and what becomes of it.

A kubelet tries every login that it finds for an image, one after the other, and comes as nobody where it finds none. A
login that the registry does not know is refused, also for what nobody needs one for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sregym_env.cluster.app import ImageRegistry
from sregym_env.cluster.disturbances import RegistryLogin
from sregym_env.kube import pulling
from sregym_env.kube.pulling import HUB
from sregym_env.sim.containers import images
from sregym_env.sim.world import SimWorld

_REALMS = {
    HUB: ("https://auth.docker.io/token", "registry.docker.io"),
    "ghcr.io": ("https://ghcr.io/token", "ghcr.io"),
    "quay.io": ("https://quay.io/v2/auth", "quay.io"),
}
"""Where some registries hand out tokens, and what service these are for."""

_ASKED = {HUB: "registry-1.docker.io"}
"""Whom containerd asks for images of a registry, where it is another machine."""


def refusal(world: SimWorld, namespace: str, secrets: Sequence[str], reference: str) -> str:
    """What containerd says of a pull that the registry refuses to a pod with these pull secrets; empty where it does not."""
    if not images.reachable(world.images, reference):
        return ""
    found = (world.store.get("secrets", namespace, name) for name in secrets)
    logins = pulling.logins([secret for secret in found if secret], reference)
    known, closed = _rules(world, reference)
    if not logins:
        return _nobody(reference) if pulling.repository(reference) in closed else ""
    if any(login in known for login in logins):
        return ""
    said = [_unknown(reference, login.partition(":")[0]) for login in logins]
    return said[0] if len(said) == 1 else f"[{', '.join(said)}]"


def _rules(world: SimWorld, reference: str) -> tuple[frozenset[str], frozenset[str]]:
    """Logins that the registry of an image knows now, and repositories that it hands out to these alone."""
    host = pulling.canonical(reference).partition("/")[0]
    known: dict[str, None] = {}
    closed: set[str] = set()
    for registry in _declared(world):
        if registry.host == host:
            known.update(dict.fromkeys(registry.logins))
            closed.update(registry.closed)
    for change in world.disturbances:
        if isinstance(change, RegistryLogin) and change.host == host:
            if change.known:
                known[change.login] = None
            else:
                known.pop(change.login, None)
    return frozenset(known), frozenset(closed)


def _declared(world: SimWorld) -> tuple[ImageRegistry, ...]:
    try:
        return world.app.registries
    except LookupError:
        return ()


# --- what containerd says -----------------------------------------------------------------------------------


def _unknown(reference: str, user: str) -> str:
    """A login that the registry does not know, or no more."""
    host = pulling.canonical(reference).partition("/")[0]
    if _basic(host):
        return _said(
            reference, f"unexpected status from HEAD request to {_manifest(reference)}: 403 Forbidden"
        )
    denied = "403 Forbidden" if host == "ghcr.io" else "401 Unauthorized"
    account = f"account={_quoted(user)}&"
    return _said(
        reference,
        f"failed to authorize: failed to fetch oauth token: unexpected status from GET request to {_token(reference, account)}: {denied}",
    )


def _nobody(reference: str) -> str:
    """Nobody in particular, at a repository that is handed out to those alone whom the registry knows."""
    host, _, path = pulling.canonical(reference).partition("/")
    if host == HUB and path.startswith("library/"):
        # What everybody may have, Docker Hub hands out to nobody in particular only so many times an hour.
        return _said(
            reference, f"unexpected status from HEAD request to {_manifest(reference)}: 429 Too Many Requests"
        )
    denied = "pull access denied, repository does not exist or may require authorization: "
    if host == HUB:
        return _said(reference, f"{denied}server message: insufficient_scope: authorization failed")
    if _basic(host):
        return _said(reference, f"{denied}authorization failed: no basic auth credentials")
    status = "403 Forbidden" if host == "ghcr.io" or host.endswith(".pkg.dev") else "401 Unauthorized"
    return _said(
        reference,
        f"failed to authorize: failed to fetch anonymous token: unexpected status from GET request to {_token(reference, '')}: {status}",
    )


def _said(reference: str, what: str) -> str:
    return f"rpc error: code = Unknown desc = {images.unresolved(reference)}{what}"


def _basic(host: str) -> bool:
    """Whether a registry takes the login itself instead of a token for it."""
    return ".dkr.ecr." in host


def _manifest(reference: str) -> str:
    """The address of an image's manifest."""
    repository = pulling.repository(reference)
    host, _, path = repository.partition("/")
    full = pulling.canonical(reference)
    tag = full.partition("@")[2] or full.rpartition(":")[2]
    return f"https://{_ASKED.get(host, host)}/v2/{path}/manifests/{tag}"


def _token(reference: str, account: str) -> str:
    """The address at which a token for pulling an image is asked for."""
    host, _, path = pulling.repository(reference).partition("/")
    if host in _REALMS:
        realm, service = _REALMS[host]
    elif host.endswith(".azurecr.io"):
        realm, service = f"https://{host}/oauth2/token", host
    elif host.endswith(".pkg.dev") or host == "gcr.io":
        realm, service = f"https://{host}/v2/token", host
    else:
        realm, service = f"https://{host}/service/token", "harbor-registry"
    scope = f"repository%3A{_quoted(path)}%3Apull"
    return f"{realm}?{account}scope={scope}&service={service}"


def _quoted(text: str) -> str:
    return re.sub(r"[^\w.~-]", lambda match: f"%{ord(match.group()):02X}", text)
