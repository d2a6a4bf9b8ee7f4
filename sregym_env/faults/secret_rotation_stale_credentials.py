"""A database password that was rotated, while clients still come with the one before."""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Iterator

from sregym_env.cluster.app import Component
from sregym_env.cluster.edits import Create, Edit, Exec, JsonPatch, ObjectRef, RecreatePods, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh
from sregym_env.faults.commands import await_rollout, execute, named, put, restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.logins import (
    GUARDED,
    Agree,
    admitted,
    clients,
    exchanged,
    holds,
    literal,
    repassword,
    typed,
)
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

_LETTERS = "abcdefghijkmnopqrstuvwxyz23456789"


def _password(target: ComponentTarget, chance: Chance) -> str:
    length = chance.choice("length", (12, 16, 20, 24))
    return "".join(chance.choice(index, _LETTERS) for index in range(length))


def _told(target: ComponentTarget, chance: Chance) -> tuple[str, ...]:
    """Clients to whom the rotation has given the new password: not all whom users would miss, and often none."""
    able = [client.name for client in _stating(target)]
    needed = [name for name in able if name in target.app.critical]
    if len(needed) < 2 or chance.yes("nobody", 0.25):
        return ()
    forgotten = chance.choice("forgotten", needed)
    return tuple(name for name in able if name != forgotten and chance.yes(name, 0.7))


def _stating(target: ComponentTarget) -> Iterator[Component]:
    """Clients in whose environment the password stands as it is."""
    password = target.component.accounts[0].password
    for client in clients(target.app, target.name):
        if any(literal(target, client, password)):
            yield client


@fault(
    layer="application",
    mechanism="stale_database_password",
    targets=components(kinds=GUARDED, where=lambda target: len(target.component.accounts) > 1),
    level="hard",
)
def secret_rotation_stale_credentials(
    target: ComponentTarget,
    password: str = drawn(_password, published="otelp_7k9m2q4x"),
    told: tuple[str, ...] = drawn(_told, published=()),
    record: str = drawn(
        fresh("secrets", "{name}-credentials", "{name}-app-password", "{name}-login", "{name}-rotated", "db-credentials",
              "{app}-db-password", "{name}-account", "rotated-{name}", "{name}-auth", "vault-{name}"),
        published=lambda target: f"{target.name}-credentials",
    ),
) -> Fault:  # fmt: skip
    """The password of the clients' database account was rotated, and clients still log in with the one before.

    Connections that are open go on; it bites whenever a client opens a new one. ``record`` is the Secret in which the
    rotation has noted the new password, and which no client takes; ``told`` are clients that it has given the new one.
    """
    store, client = target.component, target.component.accounts[0]
    before = client.password
    noted = ObjectRef("secrets", record, target.namespace)
    forgotten = [each.name for each in clients(target.app, target.name) if each.name not in told]
    edits: list[Edit] = [
        Create(_secret(noted, {"username": client.user, "password": password})),
        Exec(target.name, repassword(store, password), repassword(store, before), admitted(store, before)),
    ]
    scripts = list(_scripts(target, before))
    edits += [
        JsonPatch(where, f"/data/{key}", exchanged(text, before, password)) for where, key, text in scripts
    ]
    for name in told:
        edits.append(
            Rollout(target.workload_of(name), dict(_variables(target, name, before, password, "/value")))
        )
    back = [execute(target, typed(repassword(store, before)))]
    back += [put(where, f"/data/{key}", text) for where, key, text in scripts]
    forward = _forward(target, forgotten, before, password)
    late = [name for name in forgotten if name in target.dependents]
    return Fault(
        resource=target.workload,
        kind="database account",
        cause=f"The password of the user {client.user} of {target.name} was rotated (the new one stands in Secret {record}), "
        f"and {', '.join(forgotten)} still {'logs' if len(forgotten) == 1 else 'log'} in with the old one: "
        "password authentication fails.",
        edits=edits,
        trigger=[RecreatePods(name) for name in late],
        details={"field": f"password of user {client.user}", "right": client.user},
        facts={"account": client.user},
        remedies=[
            *([] if told else [[*back, *restart(target, late)]]),
            *([forward] if forward else []),
        ],
        look=[
            f"kubectl get secrets -n {target.namespace}",
            f"kubectl get secret {record} -n {target.namespace} -o yaml",
            *(f"kubectl get configmap {where.name} -n {target.namespace} -o yaml" for where, _, _ in scripts),
            execute(target, typed(admitted(store, before))),
        ],
        accepts=[
            noted,
            *(target.workload_of(name) for name in forgotten),
            *(where for where, _, _ in scripts),
            *(
                ObjectRef("secrets", name, target.namespace)
                for name, _ in _secrets(target, forgotten, before)
            ),
        ],
        aliases=[client.user, record, *forgotten],
        cured=[Agree(target, before, password)],
    )


def _secret(where: ObjectRef, data: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": where.name, "namespace": where.namespace},
        "type": "Opaque",
        "data": {key: b64encode(text.encode()).decode() for key, text in data.items()},
    }


def _scripts(target: ComponentTarget, password: str) -> Iterator[tuple[ObjectRef, str, str]]:
    """ConfigMap, key and text of what makes the account in every new pod of a store that keeps nothing.

    A rotation that left these would be over with the next pod.
    """
    if target.component.volume:
        return
    for volume in target.pod_spec.get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name", "")
        if not name:
            continue
        config = target.inventory.manifest("configmaps", name, target.namespace)
        for key, text in config.get("data", {}).items():
            if holds(text, password):
                yield ObjectRef("configmaps", name, target.namespace), key, text


def _variables(
    target: ComponentTarget, name: str, before: str, after: str, end: str = ""
) -> Iterator[tuple[str, str]]:
    """What of a client's environment holds the password, and how it reads with another one: by JSON pointer, or by name."""
    component = target.app.by_name[name]
    spec = ComponentTarget(target.inventory, component)
    for index, variable in literal(target, component, before):
        where = f"{spec.container_path('env')}/{index}{end}" if end else variable["name"]
        yield where, exchanged(variable["value"], before, after)


def _secrets(target: ComponentTarget, names: list[str], password: str) -> Iterator[tuple[str, str]]:
    """Name and key of the application's own Secrets from which clients take the password."""
    for name in names:
        spec = ComponentTarget(target.inventory, target.app.by_name[name])
        for variable in spec.container.get("env") or ():
            taken = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if not taken or ("secrets", target.namespace, taken["name"]) not in target.inventory.declared:
                continue
            data = target.inventory.manifest("secrets", taken["name"], target.namespace).get("data") or {}
            if data.get(taken["key"]) == b64encode(password.encode()).decode():
                yield taken["name"], taken["key"]


def _forward(target: ComponentTarget, names: list[str], before: str, after: str) -> list[str]:
    """Give clients the new password; nothing where somebody has it neither in the environment nor in a Secret."""
    found: list[str] = []
    encoded = b64encode(after.encode()).decode()
    for name in names:
        workload = target.workload_of(name)
        literals, secrets = (
            list(_variables(target, name, before, after)),
            list(_secrets(target, [name], before)),
        )
        if not literals and not secrets:
            return []
        for variable, text in literals:
            found.append(
                f"kubectl set env {named(workload)} -n {workload.namespace} {shlex.quote(f'{variable}={text}')}"
            )
        for secret, key in secrets:
            found.append(put(ObjectRef("secrets", secret, target.namespace), f"/data/{key}", encoded))
        found += restart(target, [name]) if secrets else [await_rollout(workload)]
    return found
