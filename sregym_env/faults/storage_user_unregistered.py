"""A database account that is gone."""

from __future__ import annotations

from sregym_env.cluster.edits import Exec, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mongo_shell, restart
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.mongodb import create, remove, session


@fault(
    layer="application",
    mechanism="database_account_missing",
    targets=components(kinds=("mongodb",), where=lambda target: bool(target.component.accounts)),
    level="hard",
)
def storage_user_unregistered(target: ComponentTarget) -> Fault:
    """The clients' database account does not exist any more, so they cannot log in."""
    client, admin = target.component.accounts[:2]
    made = create(client, target.component.database)
    return Fault(
        resource=target.workload,
        kind="MongoDB account",
        cause=f"In {target.name}, the user {client.user} with which {', '.join(target.dependents)} logs in does not "
        "exist any more; authentication fails.",
        edits=[Exec(target.name, session(admin, remove(client.user)), session(admin, made))],
        trigger=[RecreatePods(name) for name in target.dependents],
        facts={"account": client.user},
        details={"field": f"user {client.user}", "right": client.user},
        remedies=[
            [
                mongo_shell(target, admin, made),
                *restart(target, target.dependents),
            ]
        ],
        look=[mongo_shell(target, admin, "printjson(db.getUsers())")],
        aliases=[target.component.database, client.user],
    )
