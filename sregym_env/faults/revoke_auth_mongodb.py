"""A database account without its rights."""

from __future__ import annotations

from sregym_env.cluster.edits import Exec, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mongo_shell
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.mongodb import grant, revoke, session, usable
from sregym_env.runtime.chance import Chance


def _instead(target: ComponentTarget, chance: Chance) -> tuple[str, ...]:
    """A weaker role, or the same one on another database: (role, database); nothing where it is just gone."""
    own = target.component.database
    stem = own.removesuffix("-db")
    role = chance.choice("same", ("readWrite", "readWrite", "read", "dbAdmin"))
    names = (f"{stem}_db", stem, f"{stem}db", f"{own}s", f"{stem}-prod", f"{own}-replica", f"{stem}-stage")
    near = [name for name in names if name != own]
    siblings = [c.database for c in target.app.components if c.database and c.database != own]
    forms: list[tuple[str, ...]] = [
        (),
        ("read", own),
        ("dbAdmin", own),
        ("userAdmin", own),
        ("clusterMonitor", "admin"),
        ("backup", "admin"),
        (role, chance.choice("near", near)),
        (role, chance.choice("near", near)),
        *([(role, chance.choice("sibling", siblings))] * 2 if siblings else []),
        (
            chance.choice("global", ("read", "readWrite", "dbAdmin")),
            chance.choice("system", ("admin", "test", "local")),
        ),
    ]
    return chance.choice("form", forms)


@fault(
    layer="application",
    mechanism="database_permission_revoked",
    targets=components(kinds=("mongodb",), where=lambda target: len(target.component.accounts) > 1),
    level="hard",
)
def revoke_auth_mongodb(
    target: ComponentTarget, instead: tuple[str, ...] = drawn(_instead, published=())
) -> Fault:
    """The clients' database account lost its role on their database, so their statements are refused.

    ``instead`` are a role and a database that it has been given for that.
    """
    client, admin = target.component.accounts[:2]
    database, role = target.component.database, client.roles[0]
    lost, given = (client.user, role, database), (client.user, *instead)
    change, back = [revoke(*lost)], [grant(*lost)]
    if instead:
        change, back = [*change, grant(*given)], [revoke(*given), *back]
    return Fault(
        resource=target.workload,
        kind="MongoDB account",
        cause=f"In {target.name}, the user {client.user} lost the role {role} on the database {database}"
        f"{f' (it has {instead[0]} on {instead[1]} instead)' if instead else ''}; "
        f"{', '.join(target.dependents)} is not authorized to use it.",
        edits=[Exec(target.name, session(admin, *change), session(admin, *back), usable(client, database))],
        trigger=[RecreatePods(name) for name in target.dependents],
        facts={"account": client.user, "role": role, "database": database},
        details={"field": f"roles of user {client.user}", "right": f"{role} on {database}"},
        remedies=[
            [mongo_shell(target, by, grant(*lost))]
            # The client keeps userAdminAnyDatabase and can give itself the role back.
            for by in (admin, client)
        ],
        look=[mongo_shell(target, admin, "printjson(db.getUsers())")],
        aliases=[database, client.user],
    )
