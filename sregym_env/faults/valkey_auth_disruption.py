"""A store in memory that asks for a password which no client has."""

from __future__ import annotations

import shlex
from typing import Any

from sregym_env.cluster.edits import AtBirth, ObjectRef, RecreatePods, Substitute
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import await_rollout, execute, mend, named, put, restart, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.logins import clients
from sregym_env.faults.revisions import revision
from sregym_env.faults.valkey_memory_disruption import CLIENTS, SERVERS
from sregym_env.runtime.chance import Chance

_LETTERS = "abcdefghijkmnopqrstuvwxyz23456789"

ARGUMENT, FILE = "argument", "file"
"""Where the server is told: by its command line, or in the file that it is started with."""


def _password(target: ComponentTarget, chance: Chance) -> str:
    return "".join(
        chance.choice(index, _LETTERS) for index in range(chance.choice("length", (10, 12, 16, 24)))
    )


def _way(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("way", (ARGUMENT, FILE)) if _file(target) else ARGUMENT


@fault(layer="application", mechanism="store_demands_password", targets=components(kinds=tuple(SERVERS)))
def valkey_auth_disruption(
    target: ComponentTarget,
    password: str = drawn(_password, published="invalid_pass"),
    way: str = drawn(_way, published=ARGUMENT),
) -> Fault:
    """The store asks for a password (``requirepass``), and none of its clients was given it: NOAUTH.

    It is ready, and its probes pass. ``way`` says whether the password stands in its arguments or in its configuration file. One
    that is only set while the server runs (``CONFIG SET``) would be forgotten with the next restart.
    """
    kind, path = target.component.kind, target.container_path("args")
    declared = target.declares("args")
    users = [each.name for each in clients(target.app, target.name)]
    known = _file(target) if way == FILE else None
    look = [
        show(target),
        execute(target, f"{CLIENTS[kind]} ping"),
        *([f"kubectl get configmap {known[0].name} -n {target.namespace} -o yaml"] if known else []),
    ]
    if known:
        config, key, text = known
        last = text.rstrip("\n").rsplit("\n", 1)[-1]
        where = f"/data/{key.replace('/', '~1')}"
        change: dict[str, Any] = {
            "edits": [
                AtBirth(target.name),
                Substitute(config, where, last, f"{last}\nrequirepass {password}"),
            ],
            "trigger": [RecreatePods(target.name)],
        }
        back = [[put(config, where, text), *restart(target, [target.name])]]
        place = f"its configuration, ConfigMap {config.name},"
    else:
        head = [*(declared or [SERVERS[kind]])]
        change = revision(target, {path: [*head, "--requirepass", password]}, starts=True)
        back = [mend(target, restore(target.workload, path, declared))]
        place = "its arguments"
    given = _given(target, users, password)
    return Fault(
        resource=known[0] if known else target.workload,
        cause=f"{target.kind} {target.name} was told in {place} to require a password (requirepass {password}), which none of its "
        f"clients ({', '.join(users)}) was given: every command is answered with NOAUTH Authentication required.",
        **change,
        details={"field": "requirepass", "wrong": password},
        remedies=[*back, *([given] if given else [])],
        look=look,
        accepts=[target.workload, *(target.workload_of(name) for name in users)],
    )


def _file(target: ComponentTarget) -> tuple[ObjectRef, str, str] | None:
    """The ConfigMap, key and text of the file that the server is started with; None where there is none."""
    named_first = next(iter(target.declares("args") or ()), "")
    if not named_first.startswith("/"):
        return None
    for volume in target.pod_spec.get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name", "")
        if not name or ("configmaps", target.namespace, name) not in target.inventory.declared:
            continue
        config = target.inventory.manifest("configmaps", name, target.namespace)
        for key, text in (config.get("data") or {}).items():
            if key == named_first.rpartition("/")[2] and text.strip():
                return ObjectRef("configmaps", name, target.namespace), key, text
    return None


def _given(target: ComponentTarget, users: list[str], password: str) -> list[str]:
    """Give clients the password behind the store's address; nothing where one of them takes none there."""
    found: list[str] = []
    address = f"{target.component.service}:{target.component.offered_port}"
    for name in users:
        spec = ComponentTarget(target.inventory, target.app.by_name[name])
        variables = [each["name"] for each in spec.container.get("env") or () if each.get("value") == address]
        if target.component.kind != "valkey" or not variables:
            return []
        pairs = " ".join(shlex.quote(f"{each}={address},password={password}") for each in variables)
        found += [
            f"kubectl set env {named(spec.workload)} -n {spec.namespace} {pairs}",
            await_rollout(spec.workload),
        ]
    return found
