"""One run of the shell against one server: who is logged in, and what that account may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import mongo_server
from sregym_env.sim.programs.mongo_data import MongoData, Role, allows
from sregym_env.sim.world.program import Call

ERROR_AT = "_getErrorWithCode@src/mongo/shell/utils.js:25:13"


class ShellError(Exception):
    """An uncaught exception of the script."""


class Quit(Exception):
    """``quit()`` or ``exit``."""


class Printed:
    """A value whose echo was already printed."""


NOTHING = Printed()


@dataclass(slots=True)
class Session:
    """One run of the shell against one server."""

    server: ProcessContext
    """The mongod that answers."""
    local: bool
    setup: bool = False
    """During the image's initialisation no authorisation is enforced."""
    database: str = "test"
    account: tuple[str, str] | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    out: list[str] = field(default_factory=list)
    ended: bool = False
    """Whether the script has said ``quit()`` or ``exit``."""

    @property
    def data(self) -> MongoData:
        """The server's data now."""
        return mongo_server.stored_or_empty(self.server)

    def roles(self) -> tuple[Role, ...]:
        """Roles of the authenticated user."""
        found = None if self.account is None else self.data.account(*self.account)
        return () if found is None else found.roles

    def require(self, command: str, database: str, shown: str = "") -> None:
        """Check authentication and authorisation as the server does. Raises ShellError."""
        if self.setup or not mongo_server.authorisation(self.server):
            return
        if self.account is None:
            # The localhost exception: from the machine itself the first account may be made.
            if self.local and not self.data.accounts and command == "createUser":
                return
            text = f"command {command} requires authentication"
            raise ShellError(f"Error: {text} :\n{ERROR_AT}")
        if allows(self.roles(), database, command):
            return
        text = (
            f"not authorized on {database} to execute command {{ {shown or command + ': 1.0'}, lsid: {{ id: "
        )
        text += f'{self.uuid("lsid")} }}, $db: "{database}" }}'
        mongo_server.log_unauthorised(self.server, text)
        raise ShellError(f"Error: {text} :\n{ERROR_AT}")

    def uuid(self, name: str) -> str:
        """A session identifier."""
        bits = f"{keyed_bits(self.server.now(), name):016x}{keyed_bits(name, self.server.process.pod):016x}"
        text = f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:32]}"
        return f'UUID("{text}")'

    def login(self, user: str, password: str, source: str) -> bool:
        """Authenticate; a refusal is written to the server's log."""
        account = self.data.account(user, source)
        if account is not None and account.password == password:
            self.account = (user, source)
            return True
        call = Call("connect", (("user", user), ("source", source), ("shell", "1")))
        mongo_server.log_refused_login(self.server, call, account is None)
        return False
