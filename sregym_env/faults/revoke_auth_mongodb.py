"""A database account that lost its rights."""

from __future__ import annotations

from sregym_env.cluster.edits import Exec, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mongo_shell, restart
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.mongodb import grant, revoke, session


@fault(
    layer="application",
    mechanism="database_permission_revoked",
    targets=components(kinds=("mongodb",), where=lambda target: bool(target.component.accounts)),
    level="hard",
)
def revoke_auth_mongodb(target: ComponentTarget) -> Fault:
    """The clients' database account lost its role on their database, so their statements are refused."""
    client, admin = target.component.accounts[:2]
    database, role = target.component.database, client.roles[0]
    return Fault(
        resource=target.workload,
        kind="MongoDB account",
        cause=f"In {target.name}, the user {client.user} lost the role {role} on the database {database}; "
        f"{', '.join(target.dependents)} is not authorized to use it.",
        edits=[
            Exec(
                target.name,
                session(admin, revoke(client.user, role, database)),
                session(admin, grant(client.user, role, database)),
            )
        ],
        trigger=[RecreatePods(name) for name in target.dependents],
        facts={"account": client.user, "role": role, "database": database},
        details={"field": f"roles of user {client.user}", "right": f"{role} on {database}"},
        remedies=[
            [
                mongo_shell(target, by, grant(client.user, role, database)),
                *restart(target, target.dependents),
            ]
            # The client keeps userAdminAnyDatabase and can give itself the role back.
            for by in (admin, client)
        ],
        look=[mongo_shell(target, admin, "printjson(db.getUsers())")],
        aliases=[database, client.user],
    )
