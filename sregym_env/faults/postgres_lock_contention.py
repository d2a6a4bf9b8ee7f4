"""Somebody's work on a table that everybody else waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.apply import execute as run
from sregym_env.cluster.edits import Create, Edit, ObjectRef, RunCronJob
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, execute, scale
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

WRITERS = (
    "catalog-maintenance", "data-backfill", "schema-upgrade", "db-migrate", "shop-migrations", "content-import", "nightly-import",
    "table-tidy", "search-terms", "data-quality", "retention", "bulk-edit", "partner-import", "etl-load",
)  # fmt: skip
"""Names of programs that work on other people's tables."""

SCRIPTS: Mapping[str, str] = {
    "lock": "BEGIN;\nLOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;\nSELECT pg_sleep({pause});\nCOMMIT;\n",
    "column": (
        "-- All or nothing, so that nobody reads half of it.\nBEGIN;\nALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} TEXT;\n"
        "UPDATE {table} SET {column} = 'pending';\n-- The second part needs what the export writes.\nSELECT pg_sleep({pause});\n"
        "UPDATE {table} SET {column} = 'done';\nCOMMIT;\n"
    ),
    "rewrite": (
        "\\set ON_ERROR_STOP on\nBEGIN;\nALTER TABLE {table} ADD COLUMN {column} TEXT DEFAULT '';\n"
        "SELECT count(*) FROM {table};\nSELECT pg_sleep({pause}); -- let the replicas catch up\nCOMMIT;\n"
    ),
    "import": (
        "BEGIN;\nLOCK TABLE {table};\n-- No reader may see the table between the two steps of the import.\n"
        "SELECT pg_sleep({pause});\nCOMMIT;\n"
    ),
}  # fmt: skip
"""What they do in one transaction that stays open."""

COLUMNS = ("search_terms", "import_batch", "checked_by", "source_ref", "slug", "origin", "review_state")
KINDS: Mapping[str, str] = {
    "Job": "jobs.batch",
    "Deployment": "deployments.apps",
    "CronJob": "cronjobs.batch",
}
PATIENCE = 2
"""Seconds that a reader waits here before it is sure that somebody holds the table."""
LOOKS, PAUSE = 11, 30.0
"""How often and how far apart the table is read: longer than the longest back-off of a container."""


def _table(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("table", target.component.tables)


def _place(target: ComponentTarget, chance: Chance) -> str:
    place = chance.choice("namespace", ("default", target.namespace))
    # What an image is pulled with lies where its pods are.
    return target.namespace if target.pod_spec.get("imagePullSecrets") else place


@fault(
    layer="application",
    mechanism="table_lock_held",
    targets=components(kinds=("postgresql",), where=lambda target: bool(target.component.tables)),
    level="hard",
)
def postgres_lock_contention(
    target: ComponentTarget,
    table: str = drawn(_table, published=lambda target: target.component.tables[0]),
    writer: str = drawn(one_of(*WRITERS), published=WRITERS[0]),
    kind: str = drawn(one_of(*KINDS), published="Job"),
    place: str = drawn(_place, published="default"),
    way: str = drawn(one_of(*SCRIPTS), published="lock"),
    column: str = drawn(one_of(*COLUMNS), published=COLUMNS[0]),
    pause: int = drawn(one_of(43200, 86400, 100000, 172800), published=86400),
    schedule: str = drawn(one_of("15 2 * * *", "0 3 * * *", "30 1 * * 1", "45 23 * * *", "5 4 * * 0"), published="0 3 * * *"),
) -> Fault:  # fmt: skip
    """A session holds a table in ACCESS EXCLUSIVE mode, and whoever reads it waits.

    It belongs to a program that begins anew when its session is ended: ``kind`` is the workload that runs it, ``way`` what it
    does with the table and ``pause`` how many seconds it keeps the transaction open. A CronJob comes again by its ``schedule``.
    """
    source = ObjectRef(KINDS[kind], writer, place)
    files = ObjectRef("configmaps", f"{writer}-sql", place)
    text = SCRIPTS[way].format(table=table, column=column, pause=pause)
    pod = _pod(target, files)
    if place == target.namespace and (secrets := target.pod_spec.get("imagePullSecrets")):
        pod["imagePullSecrets"] = secrets
    edits: list[Edit] = [
        Create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": files.name, "namespace": place},
                "data": {"run.sql": text},
            }
        ),
        Create(_workload(kind, source, pod, schedule)),
    ]
    first: list[Edit] = [RunCronJob(source, by_hand=True)] if kind == "CronJob" else []
    again: list[Edit] = [RunCronJob(source)] if kind == "CronJob" else []
    admin, database = target.component.accounts[1].user, target.component.database
    psql = f"psql -U {admin} -d {database}"
    holders = "SELECT pid FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"
    ended = execute(target, f'{psql} -c "SELECT pg_terminate_backend(pid) FROM ({holders}) held"')
    return Fault(
        resource=source,
        cause=f"{kind} {writer} in namespace {place} keeps a transaction open that holds {table} of {target.name} in ACCESS "
        "EXCLUSIVE mode: every query on that table waits for the lock, and the program takes it again when its session is ended.",
        edits=[*edits, *first],
        trigger=again,
        details={"field": f"lock on {table}", "wrong": "AccessExclusiveLock"},
        facts={"writer": writer, "table": table, "elsewhere": place},
        remedies=[
            [delete(source).replace("cronjobs.batch", "cronjob").replace("jobs.batch", "job")],
            *([[scale(source, 0), ended]] if kind == "Deployment" else []),
        ],
        look=[
            execute(
                target,
                f'{psql} -c "SELECT pid, usename, client_addr, state, wait_event_type, query FROM pg_stat_activity '
                "WHERE backend_type = 'client backend'\"",
            ),
            execute(
                target,
                f"{psql} -c \"SELECT pid, mode, granted, relation::regclass FROM pg_locks WHERE locktype = 'relation'\"",
            ),
            "kubectl get pods -A -o wide",
            f"kubectl get {KINDS[kind].partition('.')[0]} -A",
            f"kubectl get configmap {files.name} -n {place} -o yaml",
        ],
        accepts=[files],
        aliases=[writer, table, files.name],
        cured=[_Free(target, table)],
    )


def _pod(target: ComponentTarget, files: ObjectRef) -> Manifest:
    """psql with a script, as the database's administrator."""
    store, admin = target.component, target.component.accounts[1]
    login = {
        "PGHOST": f"{store.service}.{target.namespace}",
        "PGPORT": str(store.offered_port),
        "PGUSER": admin.user,
        "PGPASSWORD": admin.password,
        "PGDATABASE": store.database,
    }
    container = {
        "name": "psql",
        "image": target.container["image"],
        "command": ["psql", "-v", "ON_ERROR_STOP=1", "-f", "/sql/run.sql"],
        "env": [{"name": name, "value": value} for name, value in login.items()],
        "volumeMounts": [{"name": "sql", "mountPath": "/sql"}],
    }
    return {
        "containers": [container],
        "volumes": [{"name": "sql", "configMap": {"name": files.name}}],
    }


def _workload(kind: str, where: ObjectRef, pod: Manifest, schedule: str) -> Manifest:
    labels = {"app": where.name}
    metadata = {"name": where.name, "namespace": where.namespace}
    job: dict[str, Any] = {
        # It waits for a database that is being restarted.
        "backoffLimit": 100,
        "template": {"metadata": {"labels": labels}, "spec": {**pod, "restartPolicy": "OnFailure"}},
    }
    match kind:
        case "Deployment":
            spec: dict[str, Any] = {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "strategy": {"type": "Recreate"},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            }
            return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
        case "CronJob":
            spec = {"schedule": schedule, "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job}}
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": job}


class _Free:
    """Whether a table can be read, now and for longer than a program needs to come back."""

    def __init__(self, target: ComponentTarget, table: str) -> None:
        self._store = target.component
        self._table = table

    def __call__(self, world: World) -> Finding:
        """Read it again and again."""
        name, expected = "nobody holds the table", f"{self._table} can be read at any time"
        sql = f"SET lock_timeout = '{PATIENCE}s'; SELECT count(*) FROM {self._table}"
        login = ("psql", "-U", self._store.accounts[1].user, "-d", self._store.database)
        for _ in range(LOOKS):
            try:
                run(world, self._store.name, (*login, "-c", sql))
            except (StatusError, ClusterError):
                return Finding(name, False, f"a reader of {self._table} waits for a lock", expected)
            world.advance(PAUSE)
        return Finding(name, True, "it can be read", expected)
