"""Pools of connections that are together larger than what a database server takes."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Create, Edit, JsonPatch, ObjectRef, Restart, Rollout, Scale
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import await_rollout, execute, named, put, scale
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs.postgres.server import AT_REST
from sregym_env.sim.programs.postgres.sessions import PER_SESSION

FILE = "pgbouncer.ini"
PORT = 6432
RESERVED = 3
"""Connections that the server keeps for its administrators."""
FILLED = 0.85
"""Up to which part of its memory a server may be filled with connections, as whoever has set its limit has reckoned."""
USUAL = 0.6
"""Which part of the connections the pools have that nobody has enlarged yet."""
LEAST = 20
"""Connections of the smallest server for which pools are worth it."""
UNLIMITED = 40
"""Connections of a server whose memory nobody limits."""

INI = """\
[databases]
{database} = host={host} port={port} dbname={database} user={user} password={password}

[pgbouncer]
listen_addr = 0.0.0.0
listen_port = 6432
auth_type = any
pool_mode = {mode}
max_client_conn = 400
default_pool_size = {size}
min_pool_size = {size}
server_lifetime = 0
server_idle_timeout = 0
ignore_startup_parameters = extra_float_digits
"""


def _connections(target: ComponentTarget) -> int:
    """For how many connections the server's memory is good; ``max_connections`` as somebody has set it for that."""
    limit = target.declares("resources", "limits", "memory")
    if not limit:
        return UNLIMITED
    return min(int((bytes_(limit) - AT_REST) / PER_SESSION * FILLED), 100)


def _fits(target: ComponentTarget) -> bool:
    component = target.component
    return (
        component.workload == "deployments.apps"
        and len(component.accounts) > 1
        and bool(component.service and component.database)
        and _connections(target) >= LEAST
    )


def _sizes(target: ComponentTarget, way: str, replicas: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Size of each pool and number of poolers, as they were and as they are."""
    most = _connections(target)
    size = max(int((most - RESERVED) * USUAL) // replicas, 1)
    # More than the server's memory is good for, whatever it is told to take.
    wanted = int(most / FILLED * 1.15) + 1
    if way == "pool":
        return (size, replicas), (-(-wanted // replicas), replicas)
    return (size, replicas), (size, -(-wanted // size))


def _place(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("place", ("default", target.namespace))


@fault(
    layer="application",
    mechanism="connections_exhausted",
    targets=components(kinds=("postgresql",), where=_fits),
    level="hard",
)
def pool_times_replicas_exceeds_server(
    target: ComponentTarget,
    way: str = drawn(one_of("pool", "replicas"), published="replicas"),
    name: str = drawn(
        fresh("deployments.apps", "reports-pgbouncer", "bi-pgbouncer", "analytics-pool", "pgbouncer-readers", "exports-pgbouncer",
              "warehouse-sync-pgbouncer", "dashboards-pgbouncer", "finance-pgbouncer", "partner-feed-pgbouncer", "pgbouncer-batch"),
        published="reports-pgbouncer",
    ),
    place: str = drawn(_place, published="default"),
    replicas: int = drawn(one_of(2, 2, 3), published=2),
    mode: str = drawn(one_of("session", "transaction"), published="transaction"),
    tag: str = drawn(one_of("v1.21.0-p2", "v1.22.1-p0", "v1.23.1-p2", "v1.24.0-p0", "v1.24.1-p1"), published="v1.23.1-p2"),
) -> Fault:  # fmt: skip
    """Poolers of somebody else keep more connections open than the server takes, and who opens one anew is refused.

    Each pool and the number of poolers are reasonable by themselves; their product is not, since one of them was raised
    (``way``: the size of each ``pool``, or the ``replicas``). Connections that are open go on. The server's limit is what its
    memory is good for: to raise it alone has the server killed.
    """
    store = target.component
    user = store.accounts[0]
    (size, count), (larger, more) = _sizes(target, way, replicas)
    pooler = ObjectRef("deployments.apps", name, place)
    config = ObjectRef("configmaps", f"{name}-config", place)

    def ini(each: int) -> str:
        return INI.format(
            database=store.database, host=f"{store.service}.{target.namespace}", port=store.offered_port,
            user=user.user, password=user.password, mode=mode, size=each,
        )  # fmt: skip

    edits: list[Edit] = (
        [JsonPatch(config, f"/data/{FILE}", ini(larger)), Restart(pooler)]
        if way == "pool"
        else [Scale(pooler, more)]
    )
    most = _connections(target)
    field, wrong, right = ("min_pool_size", larger, size) if way == "pool" else ("replicas", more, count)
    fewer = max(int((most - RESERVED) * USUAL) // more, 1)
    smaller = [
        put(config, f"/data/{FILE}", ini(size if way == "pool" else fewer)),
        f"kubectl rollout restart {named(pooler)} -n {place}",
        await_rollout(pooler),
    ]
    admin = store.accounts[1].user
    activity = (
        "SELECT usename, application_name, client_addr, state, count(*) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC"
    )
    return Fault(
        resource=config if way == "pool" else pooler,
        cause=f"The connection pools of Deployment {name} in namespace {place} are together larger than what {target.name} takes: "
        f"{more} pods keep a pool of {larger} connections each ({field} was raised from {right} to {wrong}), and max_connections is "
        f"{most}; whoever opens a connection anew is refused, too many clients.",
        earlier=[
            Rollout(target.workload, {target.container_path("args"): _told(target, most)}),
            Create(_settings(config, ini(size))),
            Create(_pooler(pooler, config, count, tag)),
            Create(_service(pooler)),
        ],
        edits=edits,
        details={"field": field, "wrong": wrong, "right": right},
        facts={"pooler": name, "elsewhere": place, "pods": more, "size": larger, "most": most},
        remedies=[
            smaller if way == "pool" else [scale(pooler, count), await_rollout(pooler)],
            *([] if way == "pool" else [smaller]),
        ],
        look=[
            execute(target, f'psql -U {admin} -d {store.database} -c "{activity}"'),
            execute(target, f'psql -U {admin} -d {store.database} -c "SHOW max_connections"'),
            f"kubectl logs {named(target.workload)} -n {target.namespace} --tail=20",
            "kubectl get pods -A -o wide",
            f"kubectl get deployment {name} -n {place} -o yaml",
            f"kubectl get configmap {config.name} -n {place} -o yaml",
        ],
        accepts=[pooler, config, target.workload],
        aliases=[name, config.name],
        cured=[_pools(pooler)],
    )


def _told(target: ComponentTarget, most: int) -> list[str]:
    """The server's command line with its limit."""
    return [*(target.declares("args") or ("postgres",)), "-c", f"max_connections={most}"]


def _settings(config: ObjectRef, text: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config.name, "namespace": config.namespace},
        "data": {FILE: text},
    }


def _pooler(pooler: ObjectRef, config: ObjectRef, replicas: int, tag: str) -> Manifest:
    labels = {"app": pooler.name}
    container: dict[str, Any] = {
        "name": "pgbouncer",
        "image": f"edoburu/pgbouncer:{tag}",
        "ports": [{"containerPort": PORT, "name": "pgbouncer"}],
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "200m", "memory": "64Mi"},
        },
        "readinessProbe": {"tcpSocket": {"port": PORT}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/pgbouncer"}],
    }
    pod = {
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": config.name}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": pooler.name, "namespace": pooler.namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _service(pooler: ObjectRef) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": pooler.name, "namespace": pooler.namespace},
        "spec": {"selector": {"app": pooler.name}, "ports": [{"name": "pgbouncer", "port": PORT}]},
    }


def _pools(pooler: ObjectRef) -> Predicate:
    """Whether those whose pools these are still have one that answers."""

    def cured(world: World) -> Finding:
        expected = f"{pooler.name} has a pod that is ready"
        try:
            status = world.cluster.get(pooler.resource, pooler.name, pooler.namespace).get("status") or {}
        except StatusError as error:
            return Finding("pools of others", False, str(error), expected)
        ready = status.get("readyReplicas", 0)
        return Finding("pools of others", ready > 0, f"{ready} ready", expected)

    return cured
