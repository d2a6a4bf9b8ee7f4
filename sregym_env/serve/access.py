"""Who is asking: bearer tokens, impersonation, and what needs no permission."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.cluster.identity import User
from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.serve.message import Request
from sregym_env.sim.apiserver.rbac import Authorizer
from sregym_env.sim.world import SimWorld

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))

_EXTRA = "impersonate-extra-"


@dataclass(frozen=True, slots=True)
class _Issued:
    """A token that the cluster itself has issued to a service account."""

    user: User
    namespace: str
    name: str
    uid: str
    until: int
    """When it ends, in virtual microseconds."""

    def holds(self, world: SimWorld) -> bool:
        """Whether it has not ended and its account is still the one it was issued to."""
        account = world.store.get("serviceaccounts", self.namespace, self.name)
        return world.now() < self.until and account is not None and account["metadata"]["uid"] == self.uid


MAX_ISSUED = 10_000
"""Issued tokens remembered."""


class Identities:
    """The bearer tokens of a served cluster.

    Tokens of service accounts are known by having been issued or stored here; a signature alone opens nothing,
    since keys follow from the seed of a world.
    """

    def __init__(self, tokens: Mapping[str, User], *, anonymous: User = ANONYMOUS) -> None:
        self._tokens = dict(tokens)
        self._issued: dict[str, _Issued] = {}
        self._anonymous = anonymous

    def admit(self, token: str, account: Manifest, until: int) -> None:
        """Let a token stand for a service account from now on, until it ends."""
        metadata = account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        if len(self._issued) >= MAX_ISSUED:
            del self._issued[next(iter(self._issued))]
        self._issued[token] = _Issued(
            service_account(namespace, name), namespace, name, metadata["uid"], until
        )

    def user(self, token: str, world: SimWorld) -> User | None:
        """The identity a token stands for."""
        known = self._tokens.get(token)
        if known is not None:
            return known
        issued = self._issued.get(token)
        if issued is not None:
            return issued.user if issued.holds(world) else None
        return _stored(token, world)

    def of(self, request: Request, world: SimWorld) -> User:
        """Who sends a request. Raises Unauthorized for an unknown token."""
        kind, _, token = request.header("authorization").partition(" ")
        if not kind:
            return self._anonymous
        user = self.user(token.strip(), world) if kind.lower() == "bearer" else None
        if user is None:
            raise status.unauthorized()
        return user


_TOKEN_SECRET = "kubernetes.io/service-account-token"


def _stored(token: str, world: SimWorld) -> User | None:
    """The service account whose token Secret holds this token."""
    # Only a JWT can be one; any other would cost a look at every Secret.
    if token.count(".") != 2:
        return None
    encoded = b64encode(token.encode()).decode()
    for secret in world.store.list("secrets"):
        if secret.get("type") == _TOKEN_SECRET and (secret.get("data") or {}).get("token") == encoded:
            annotations = secret["metadata"].get("annotations") or {}
            namespace, name = secret["metadata"]["namespace"], annotations.get(f"{_ACCOUNT}.name", "")
            account = world.store.get("serviceaccounts", namespace, name)
            if account is None or account["metadata"]["uid"] != annotations.get(f"{_ACCOUNT}.uid"):
                return None
            return service_account(namespace, name)
    return None


_ACCOUNT = "kubernetes.io/service-account"


def service_account(namespace: str, name: str) -> User:
    """The identity of a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def identify(world: SimWorld, identities: Identities, request: Request) -> User:
    """On whose behalf a request is made, impersonation included. Raises Unauthorized, Forbidden, BadRequest."""
    asking = identities.of(request, world)
    name = request.header("impersonate-user")
    groups = tuple(g.strip() for g in request.header("impersonate-group").split(",") if g.strip())
    extras = [header for header in request.headers if header.startswith(_EXTRA)]
    uid = request.header("impersonate-uid")
    if not name:
        if groups or extras or uid:
            raise status.bad_request("requested impersonation without impersonating a user")
        return asking
    account = _account_of(name)
    if account is None:
        _demand(world, asking, "users", name)
    else:
        _demand(world, asking, "serviceaccounts", account[1], account[0])
    for group in groups:
        _demand(world, asking, "groups", group)
    if uid:
        _demand(world, asking, "uids.authentication.k8s.io", uid)
    for header in extras:
        key = header.removeprefix(_EXTRA)
        _demand(world, asking, "userextras.authentication.k8s.io", request.header(header), subresource=key)
    if account is not None and not groups:
        return service_account(*account)
    return User(name, (*groups, "system:authenticated"))


def _account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user name means."""
    parts = name.split(":")
    return (parts[2], parts[3]) if name.startswith("system:serviceaccount:") and len(parts) == 4 else None


def _demand(
    world: SimWorld, asking: User, resource: str, name: str, namespace: str = "", subresource: str = ""
) -> None:
    """Raises Forbidden where one may not impersonate another."""
    plural, _, group = resource.partition(".")
    what = f"{plural}/{subresource}" if subresource else plural
    if not Authorizer(world, asking).allows("impersonate", group, what, namespace or None, name):
        raise status.forbidden(resource, name, asking.name, "impersonate", namespace, subresource)
