"""Who is asking: bearer tokens, impersonation, and what needs no permission."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.api import User
from sregym_env.kube import status
from sregym_env.serve.message import Request
from sregym_env.sim.rbac import Authorizer
from sregym_env.sim.world import SimWorld

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
PUBLIC = ("/version", "/healthz", "/livez", "/readyz")
"""What anybody may read (the ClusterRole ``system:public-info-viewer``)."""


class Identities:
    """The bearer tokens of a served cluster."""

    def __init__(self, tokens: Mapping[str, User], *, anonymous: User = ANONYMOUS) -> None:
        self._tokens = dict(tokens)
        self._anonymous = anonymous

    def admit(self, token: str, user: User) -> None:
        """Let a token stand for an identity from now on."""
        self._tokens[token] = user

    def user(self, token: str) -> User | None:
        """The identity a token stands for."""
        return self._tokens.get(token)

    def of(self, request: Request) -> User:
        """Who sends a request. Raises Unauthorized for an unknown token."""
        kind, _, token = request.header("authorization").partition(" ")
        if not kind:
            return self._anonymous
        user = self._tokens.get(token.strip()) if kind.lower() == "bearer" else None
        if user is None:
            raise status.unauthorized()
        return user


def service_account(namespace: str, name: str) -> User:
    """The identity of a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def identify(world: SimWorld, identities: Identities, request: Request) -> User:
    """On whose behalf a request is made, impersonation included. Raises Unauthorized, Forbidden."""
    asking = identities.of(request)
    name = request.header("impersonate-user")
    if not name:
        return asking
    authorizer = Authorizer(world, asking)
    if not authorizer.allows("impersonate", "", "users", None, name):
        raise status.forbidden("users", name, asking.name, "impersonate")
    groups = tuple(g.strip() for g in request.header("impersonate-group").split(",") if g.strip())
    for group in groups:
        if not authorizer.allows("impersonate", "", "groups", None, group):
            raise status.forbidden("groups", group, asking.name, "impersonate")
    if name.startswith("system:serviceaccount:") and name.count(":") == 3 and not groups:
        return service_account(*name.split(":")[2:])
    return User(name, (*groups, "system:authenticated"))
