"""A database account that is gone."""

from __future__ import annotations

from dataclasses import replace

from sregym_env.cluster.edits import Exec, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import until, variant
from sregym_env.faults.commands import mongo_shell
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.mongodb import create, remove, session, usable
from sregym_env.runtime.chance import Chance


def _now(target: ComponentTarget, chance: Chance) -> str:
    """``user@database`` that has the account's rights instead: renamed, or of another database; empty for nobody."""
    client, database = target.component.accounts[0].user, target.component.database
    taken = {account.user for account in target.component.accounts}
    stem = database.removesuffix("-db")
    names = (
        f"{stem}-app",
        f"{stem}_rw",
        f"{stem}-svc",
        f"app-{stem}",
        f"{client}_{stem}",
        f"svc-{stem}",
        f"{stem}user",
        stem,
    )
    match chance.choice("form", ("gone", "gone", "renamed", "renamed", "renamed", "slip", "moved", "moved")):
        case "renamed":
            return f"{until(chance, lambda by: by.choice('name', names), lambda name: name not in taken, 'app')}@admin"
        case "slip":
            return f"{until(chance, lambda by: variant(client, by), lambda name: name not in taken, 'app')}@admin"
        case "moved":
            return f"{client}@{chance.choice('database', (database, stem, 'local', f'{stem}_db'))}"
        case _:
            return ""


@fault(
    layer="application",
    mechanism="database_account_missing",
    targets=components(kinds=("mongodb",), where=lambda target: len(target.component.accounts) > 1),
    level="hard",
)
def storage_user_unregistered(target: ComponentTarget, now: str = drawn(_now, published="")) -> Fault:
    """The clients' database account does not exist any more, so they cannot log in.

    ``now`` is the account, ``user@database``, that has been made instead.
    """
    client, admin = target.component.accounts[:2]
    database = target.component.database
    made = create(client, database)
    change, back = [remove(client.user)], [made]
    if now:
        user, _, where = now.partition("@")
        where = "" if where == "admin" else where
        change.append(create(replace(client, user=user), database, where))
        back.insert(0, remove(user, where))
    return Fault(
        resource=target.workload,
        kind="MongoDB account",
        cause=f"In {target.name}, the user {client.user} with which {', '.join(target.dependents)} logs in does not "
        f"exist any more{f' (there is {now} instead)' if now else ''}; authentication fails.",
        edits=[Exec(target.name, session(admin, *change), session(admin, *back), usable(client, database))],
        trigger=[RecreatePods(name) for name in target.dependents],
        facts={"account": client.user},
        details={"field": f"user {client.user}", "right": client.user},
        remedies=[[mongo_shell(target, admin, made)]],
        look=[mongo_shell(target, admin, "printjson(db.getUsers())")],
        aliases=[database, client.user],
    )
