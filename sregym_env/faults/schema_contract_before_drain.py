"""A migration of the database that pods of the build before it do not survive, in a rollout that stands still half-way."""

from __future__ import annotations

from typing import Any

from sregym_env.apps.migrated import MIGRATED, Renamed, change_of, columns
from sregym_env.cluster.api import World
from sregym_env.cluster.apply import execute as run
from sregym_env.cluster.edits import Create, Edit, Elapse, Exec, JsonPatch, ObjectRef, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import await_rollout, execute, named, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.faults.images import a_build, builds
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

LEDGER = "schema_migrations"
"""The table in which a database keeps which migrations it has had."""

SCRIPTS = {
    "rename": "ALTER TABLE {table} RENAME COLUMN {before} TO {after};\n",
    "move": (
        "ALTER TABLE {table} ADD COLUMN {after} TEXT;\nUPDATE {table} SET {after} = {before};\n"
        "ALTER TABLE {table} DROP COLUMN {before};\n"
    ),
}
"""How a column gets another name."""

ONCE = (
    "CREATE TABLE IF NOT EXISTS {ledger} (version TEXT PRIMARY KEY);\n-- Once: where the version is there already, nothing of it "
    "is done.\nBEGIN;\nINSERT INTO {ledger} (version) VALUES ('{version}');\n{script}COMMIT;\n"
)

HOLDS = ("slow", "paused")
"""What keeps the rollout from its end: pods that count as available only after hours, or a pause that nobody has ended."""

SLOW = (14400, 21600, 28800, 36000, 43200, 57600, 86400)
"""Seconds for which a pod has to be ready before it counts, where that keeps a rollout from its end."""
PACE = (90, 100, 120)
"""The same where it only leaves time to pause it."""
LOOKED = 60.0
"""Seconds after which somebody pauses a rollout: the first new pod is ready then, and does not count yet."""

KNOWN = 5
"""How many earlier migrations the ledger tells of."""


def _store(target: ComponentTarget) -> ComponentTarget | None:
    """The database whose columns the component's builds name."""
    asked = {dependency.on for dependency in target.component.dependencies}
    found = (
        component
        for component in target.app.components
        if component.kind == "postgresql" and component.name in asked and len(component.accounts) > 1
    )
    return next((ComponentTarget(target.inventory, component) for component in found), None)


def _fits(target: ComponentTarget) -> bool:
    return (
        target.component.workload == "deployments.apps"
        and bool(builds(target, MIGRATED))
        and _store(target) is not None
    )


def _hold(target: ComponentTarget, chance: Chance) -> str:
    # Where the new pod is all that is wanted, the old one goes in spite of a pause.
    return chance.choice("hold", HOLDS) if target.replicas > 1 else HOLDS[0]


def _version(target: ComponentTarget, chance: Chance) -> int:
    return chance.between("version", 12, 96)


@fault(
    layer="application",
    mechanism="schema_changed_under_old_pods",
    targets=components(at_request=True, where=_fits),
    level="hard",
)
def schema_contract_before_drain(
    target: ComponentTarget,
    image: str = drawn(a_build(MIGRATED), published=lambda target: builds(target, MIGRATED)[0]),
    way: str = drawn(one_of(*SCRIPTS), published="rename"),
    hold: str = drawn(_hold, published=HOLDS[0]),
    slow: int = drawn(one_of(*SLOW), published=SLOW[0]),
    pace: int = drawn(one_of(*PACE), published=PACE[0]),
    version: int = drawn(_version, published=42),
    files: str = drawn(
        fresh("configmaps", "{name}-migrations", "{name}-sql", "{app}-migrations", "{name}-schema", "{name}-changes"),
        published=lambda target: f"{target.name}-migrations",
    ),
    step: str = drawn(one_of("migrate", "migrations", "db-migrate", "db-schema", "prepare-db"), published="migrate"),
) -> Fault:  # fmt: skip
    """A release gives a column of the database another name before the pods that use the old one are gone, and its rollout stands still.

    An init container of the new build migrates the database when its first pod starts. Pods of the build before it stay
    ready and fail whenever they name the column; to roll back makes all pods fail, because the data keep their new form.
    ``hold`` says why the rollout does not end: ``minReadySeconds`` of hours (``slow``), or a pause that nobody has ended.
    ``version`` is the migration's number.
    """
    store = _store(target)
    assert store is not None
    right = target.container["image"]
    change = change_of(target.app, image, right, target.name)
    source = ObjectRef("configmaps", files, target.namespace)
    script = SCRIPTS[way].format(table=change.table, before=change.before, after=change.after)
    admin, database = store.component.accounts[1].user, store.component.database
    psql = f"psql -U {admin} -d {database}"
    earlier = tuple(f"{number:04}" for number in range(version - KNOWN, version))
    rename = f"ALTER TABLE {change.table} RENAME COLUMN {change.after} TO {change.before}"
    ledger = (
        f"CREATE TABLE {LEDGER} (version TEXT PRIMARY KEY); INSERT INTO {LEDGER} (version) VALUES "
        + ", ".join(f"('{each}')" for each in earlier)
    )
    wait = slow if hold == "slow" else pace
    spec = target.pod_spec
    paused: list[Edit] = (
        [Elapse(LOOKED), JsonPatch(target.workload, "/spec/paused", True)] if hold == "paused" else []
    )
    waits = await_rollout(target.workload).replace("180s", f"{60 + target.replicas * (PACE[-1] + 60)}s")
    onwards = [
        *([f"kubectl rollout resume {named(target.workload)} -n {target.namespace}"] if paused else []),
        *([put(target.workload, "/spec/minReadySeconds", 0)] if hold == "slow" else []),
        waits,
    ]
    backwards = [
        execute(store, f'{psql} -c "{rename}"'),
        *([f"kubectl rollout resume {named(target.workload)} -n {target.namespace}"] if paused else []),
        f"kubectl rollout undo {named(target.workload)} -n {target.namespace}",
        put(target.workload, "/spec/minReadySeconds", 0),
        waits,
    ]
    cause = (
        f"its rollout is slowed down to a standstill by minReadySeconds: {slow}"
        if hold == "slow"
        else "its rollout has been paused (spec.paused)"
    )
    return Fault(
        resource=target.workload,
        cause=f"The new build {image} of {target.name} migrates the database when it starts (init container {step}, ConfigMap "
        f"{files}): column {change.before} of {change.table} is called {change.after} now, and {cause}, so that pods of the old "
        f"build still serve and fail because column {change.before} does not exist.",
        earlier=[
            Create(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": files, "namespace": target.namespace},
                    "data": {
                        f"{version:04}.sql": ONCE.format(
                            ledger=LEDGER, version=f"{version:04}", script=script
                        )
                    },
                }
            ),
        ],
        edits=[
            Exec(
                store.name,
                (*psql.split(), "-c", ledger),
                # One after the other: where no new pod has started yet, there is nothing to rename back.
                (*psql.split(), "-c", rename, "-c", f"DROP TABLE IF EXISTS {LEDGER}"),
            ),
            Rollout(
                target.workload,
                {
                    target.container_path("image"): image,
                    "/spec/template/spec/initContainers": [
                        *spec.get("initContainers", ()),
                        _migrates(store, step, f"{version:04}.sql", target.namespace),
                    ],
                    "/spec/template/spec/volumes": [
                        *spec.get("volumes", ()),
                        {"name": "migrations", "configMap": {"name": files}},
                    ],
                    **_pulls(target, store),
                    "/spec/strategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
                    },
                    "/spec/minReadySeconds": wait,
                    "/spec/progressDeadlineSeconds": max(600, 2 * wait),
                },
                partial=True,
            ),
            *paused,
        ],
        # Its data do not outlive its pod, and the new form goes with them.
        spared=[store.name],
        details={"field": change.before, "wrong": change.after, "right": change.before},
        facts={"table": change.table, "column": change.before, "build": image, "hold": hold},
        remedies=[onwards, backwards],
        look=[
            f"kubectl logs {named(target.workload)} -n {target.namespace} --all-pods --prefix --tail=10",
            f"kubectl get replicasets -n {target.namespace} -o wide",
            show(target),
            f"kubectl get configmap {files} -n {target.namespace} -o yaml",
            execute(store, f'{psql} -c "\\d {change.table}"'),
        ],
        accepts=[source, store.workload],
        aliases=[files, change.table],
        cured=[_agreed(target, store, change), _kept(store, earlier)],
    )


def _migrates(store: ComponentTarget, name: str, file: str, namespace: str) -> Manifest:
    """psql with a script, as the database's administrator, from a namespace."""
    component, admin = store.component, store.component.accounts[1]
    host = component.service if store.namespace == namespace else f"{component.service}.{store.namespace}"
    login = {
        "PGHOST": host,
        "PGPORT": str(component.offered_port),
        "PGUSER": admin.user,
        "PGPASSWORD": admin.password,
        "PGDATABASE": component.database,
    }
    return {
        "name": name,
        "image": store.container["image"],
        "command": ["psql", "-f", f"/migrations/{file}"],
        "env": [{"name": key, "value": value} for key, value in login.items()],
        "volumeMounts": [{"name": "migrations", "mountPath": "/migrations"}],
    }


def _pulls(target: ComponentTarget, store: ComponentTarget) -> dict[str, Any]:
    """What the component's pods need to pull the store's image, too."""
    own, others = (each.pod_spec.get("imagePullSecrets", []) for each in (target, store))
    missing = [secret for secret in others if secret not in own]
    return {target.template_path("imagePullSecrets"): [*own, *missing]} if missing else {}


def _asked(world: World, store: ComponentTarget, sql: str) -> list[str]:
    """The answer of the database to a question of one column. Raises ClusterError."""
    admin, database = store.component.accounts[1].user, store.component.database
    return run(
        world, store.name, ("psql", "-U", admin, "-d", database, "-At", "-c", sql), patience=0.0
    ).split()


def _agreed(target: ComponentTarget, store: ComponentTarget, change: Renamed) -> Predicate:
    """Whether every build that serves, or would, finds the columns that it names, and under two names the same."""
    schema, _, table = change.table.partition(".")

    def complaint(world: World) -> str:
        there = _asked(
            world,
            store,
            f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{schema}' AND table_name = '{table}'",
        )
        for image in _images(world, target):
            for column in columns(target.app, image, target.name).get(change.table, ()):
                if column not in there:
                    return f"{image} names {column}, which is not there"
        if change.before in there and change.after in there:
            differing = (
                f"SELECT count(*) FROM {change.table} WHERE {change.before} IS DISTINCT FROM {change.after}"
            )
            if _asked(world, store, differing) != ["0"]:
                return f"{change.before} and {change.after} differ"
        return ""

    def cured(world: World) -> Finding:
        try:
            wrong = complaint(world)
        except ClusterError as error:
            wrong = str(error)
        return Finding("builds and schema", not wrong, wrong or "they agree", "what serves finds its columns")

    return cured


def _images(world: World, target: ComponentTarget) -> list[str]:
    """What the component's pods run, and those that its workload would make."""
    cluster, space = world.cluster, target.namespace
    wanted = target.labels.items()
    specs = [
        pod["spec"]
        for pod in cluster.list("pods", space)
        if "deletionTimestamp" not in pod["metadata"]
        and wanted <= (pod["metadata"].get("labels") or {}).items()
    ]
    specs += [
        each["spec"]["template"]["spec"]
        for each in cluster.list("deployments.apps", space)
        if each["spec"].get("replicas", 1)
        and wanted <= (each["spec"]["template"]["metadata"].get("labels") or {}).items()
    ]
    return sorted({container["image"] for spec in specs for container in spec["containers"]})


def _kept(store: ComponentTarget, earlier: tuple[str, ...]) -> Predicate:
    """Whether the database is the one that it was, with what its clients have written: its ledger goes back as far."""

    def cured(world: World) -> Finding:
        expected = f"{store.name} holds what was written to it"
        try:
            known = _asked(world, store, f"SELECT version FROM {LEDGER}")
        except ClusterError as error:
            return Finding("database", False, f"it has been emptied: {error}", expected)
        lost = sorted({*earlier} - {*known})
        return Finding(
            "database", not lost, f"{LEDGER} lacks {', '.join(lost)}" if lost else "it is kept", expected
        )

    return cured
