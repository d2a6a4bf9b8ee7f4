"""Runs a script as the interactive shell does, with the words that only that knows: ``use``, ``show``, ``it``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sregym_env.runtime.effort import spend
from sregym_env.sim.programs import javascript as js
from sregym_env.sim.programs.mongo_data import BUILTIN_ROLES
from sregym_env.sim.programs.mongo_shell.documents import databases, user_document
from sregym_env.sim.programs.mongo_shell.evaluator import Evaluator
from sregym_env.sim.programs.mongo_shell.session import NOTHING, Quit, Session, ShellError
from sregym_env.sim.programs.mongo_shell.values import echo


def evaluate(session: Session, script: str, *, stop: bool) -> int:
    """Run a script, echoing values as the interactive shell does; the exit code so far."""
    for text in js.statements(script):
        try:
            value = _statement(session, text)
        except Quit:
            session.ended = True
            return 0
        except js.SyntaxProblem as problem:
            session.out.append(f"uncaught exception: {problem} :\n@(shell):1:1\n")
        except ShellError as error:
            session.out.append(f"uncaught exception: {error}\n@(shell):1:1\n")
        else:
            if value is not NOTHING and not text.startswith(("var ", "let ", "const ")):
                session.out.append(echo(value) + "\n")
            continue
        if stop:
            return 252
    return 0


STATEMENT = 30.0
"""What a statement costs (units of ``runtime/effort.py``), besides its letters."""


def _statement(session: Session, text: str) -> Any:
    spend(STATEMENT + 0.2 * len(text))
    words = text.split()
    if words[0] in ("use", "show", "exit", "quit", "help", "it") and "(" not in text.split("\n")[0]:
        return _WORDS[words[0]](session, words[1:])
    return Evaluator(session).value(js.parse(text))


def _use(session: Session, words: list[str]) -> Any:
    session.database = words[0] if words else session.database
    session.out.append(f"switched to db {session.database}\n")
    return NOTHING


def _exit(session: Session, words: list[str]) -> Any:
    raise Quit


def _show(session: Session, words: list[str]) -> Any:
    what = words[0] if words else ""
    if what in ("dbs", "databases"):
        session.require("listDatabases", "admin", "listDatabases: 1.0, nameOnly: false")
        for name, size in databases(session.data):
            session.out.append(f"{name:<{max(6, len(name) + 2)}} {size / 1e9:.3f}GB\n")
    elif what in ("collections", "tables"):
        shown = "listCollections: 1.0, filter: {}, nameOnly: true, authorizedCollections: true"
        session.require("listCollections", session.database, shown)
        for name in sorted(session.data.collections.get(session.database, {})):
            session.out.append(name + "\n")
    elif what == "users":
        session.require("usersInfo", session.database, "usersInfo: 1.0")
        for account in session.data.accounts:
            if account.database == session.database:
                session.out.append(echo(user_document(account)) + "\n")
    elif what == "roles":
        for name in sorted(BUILTIN_ROLES):
            session.out.append(echo({"role": name, "db": session.database, "isBuiltin": True}) + "\n")
    elif what in ("log", "logs", "profile"):
        session.out.append("global\nstartupWarnings\n")
    else:
        session.out.append(f"Error: don't know how to show [{what}]\n")
    return NOTHING


def _nothing(session: Session, words: list[str]) -> Any:
    session.out.append("no cursor\n")
    return NOTHING


def _help(session: Session, words: list[str]) -> Any:
    session.out.append(
        "\tdb.help()                    help on db methods\n\tshow dbs                     show database names\n"
        "\tshow collections             show collections in current database\n"
        "\tshow users                   show users in current database\n"
        "\tuse <db_name>                set current database\n"
    )
    return NOTHING


_WORDS: Mapping[str, Callable[[Session, list[str]], Any]] = {
    "use": _use,
    "show": _show,
    "exit": _exit,
    "quit": _exit,
    "it": _nothing,
    "help": _help,
}
