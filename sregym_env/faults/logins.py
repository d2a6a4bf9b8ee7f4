"""Accounts of databases, for faults and their repairs: a password is changed, and whether one lets its owner in is seen."""

from __future__ import annotations

import re
import shlex
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App, Component
from sregym_env.cluster.apply import execute
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ComponentTarget
from sregym_env.errors import ClusterError
from sregym_env.faults import mongodb
from sregym_env.faults.fault import Finding
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

GUARDED = ("mongodb", "postgresql")
"""Kinds of component that ask for a name and a password."""

NOBODYS = "nobodys-own-word-0"
"""A password that no account has."""

_WORD = re.compile(r"[^\s:@;=/?&'\",{}]+")


def clients(app: App, store: str) -> tuple[Component, ...]:
    """Components that use a store."""
    return tuple(c for c in app.components if any(need.on == store for need in c.dependencies))


def repassword(store: Component, password: str) -> tuple[str, ...]:
    """The command, in the store's pod, by which its administrator gives the clients' account another password."""
    client, admin = store.accounts[:2]
    if store.kind == "postgresql":
        # Whoever is inside is not asked for a password.
        return _psql(
            admin.user, store.database, f"ALTER USER \"{client.user}\" WITH PASSWORD '{password}'", ()
        )
    return mongodb.session(admin, f'db.changeUserPassword("{client.user}", "{password}")')


def admitted(store: Component, password: str) -> tuple[str, ...]:
    """The command, in the store's pod, that fails where the clients' account is not let in with a password from outside."""
    user = store.accounts[0].user
    if store.kind == "postgresql":
        # By the Service's name: a connection from inside is trusted.
        where = f"host={store.service} port={store.offered_port} password={password} user={user} dbname={store.database}"
        return "psql", where, "-tAc", "SELECT 1"
    login = ("-u", user, "-p", password, "--authenticationDatabase", "admin", "--quiet")
    return "mongo", "admin", *login, "--eval", "db.runCommand({ping: 1})"


def typed(command: tuple[str, ...]) -> str:
    """A command as a person types it."""
    return shlex.join(command)


def _psql(user: str, database: str, sql: str, more: tuple[str, ...]) -> tuple[str, ...]:
    return "psql", "-U", user, "-d", database, *more, "-c", sql


# --- where passwords stand ----------------------------------------------------------------------------------


def literal(target: ComponentTarget, component: Component, password: str) -> Iterator[tuple[int, Manifest]]:
    """Index and declaration of the variables of a component's main container that hold a password as it is."""
    spec = template(target.inventory.workload(component))["spec"]
    for container in spec["containers"]:
        if container["name"] == component.container:
            for index, variable in enumerate(container.get("env") or ()):
                if holds(str(variable.get("value", "")), password):
                    yield index, variable


def holds(text: str, password: str) -> bool:
    """Whether a password is a word of a text, as in a connection string."""
    return password in _WORD.findall(text)


def exchanged(text: str, before: str, after: str) -> str:
    """A text with another password in the place of one."""
    return _WORD.sub(lambda match: after if match.group() == before else match.group(), text)


class Agree:
    """Whether a store lets in whoever knows the password and nobody else, and each client comes as itself with that one.

    Users do not notice a client that works for nobody in particular, nor a door that stands open.
    """

    def __init__(self, target: ComponentTarget, *passwords: str) -> None:
        self._store = target.component
        self._passwords = passwords

    def __call__(self, world: World) -> Finding:
        """Try the passwords, and look at what the clients are given."""
        store, name = self._store, "accounts agree"
        expected = f"{store.name} and its clients have one password for {store.accounts[0].user}"
        if _lets_in(world, store, NOBODYS):
            return Finding(name, False, f"{store.name} takes any password", expected)
        refused = [each for each in self._passwords if not _lets_in(world, store, each)]
        administrator = store.accounts[1].user
        for client in clients(world.app, store.name):
            given = list(_given(world, client))
            if any(holds(text, administrator) for text in given):
                return Finding(name, False, f"{client.name} comes as the administrator", expected)
            if client.name not in world.app.critical and any(
                holds(text, each) for text in given for each in refused
            ):
                return Finding(
                    name, False, f"{client.name} has a password that {store.name} refuses", expected
                )
        return Finding(name, True, "they agree", expected)


def _lets_in(world: World, store: Component, password: str) -> bool:
    try:
        execute(world, store.name, admitted(store, password), patience=60.0)
    except (StatusError, ClusterError):
        return False
    return True


def _given(world: World, component: Component) -> Iterator[str]:
    """What a component's containers find in their environment, from Secrets too."""
    space = world.app.namespace_of(component.name)
    try:
        workload = world.cluster.get(component.workload, component.name, space)
    except StatusError:
        return
    for container in template(workload)["spec"]["containers"]:
        for variable in container.get("env") or ():
            if "value" in variable:
                yield variable["value"]
            named = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if named:
                yield from _secret(world, space, named["name"], named["key"])
        for source in container.get("envFrom") or ():
            if "secretRef" in source:
                yield from _secret(world, space, source["secretRef"]["name"], "")


def _secret(world: World, space: str, name: str, key: str) -> Iterator[str]:
    """The values of a Secret, or that of one key."""
    try:
        data: dict[str, Any] = world.cluster.get("secrets", name, space).get("data") or {}
    except StatusError:
        return
    for known, text in data.items():
        if key in ("", known):
            yield b64decode(text).decode(errors="replace")
