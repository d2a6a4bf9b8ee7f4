"""What a shell session remembers: plain data, so that it can be copied, pickled and sent elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.shell.syntax.tree import Function


class Indexed(dict[int, str]):
    """An array with numbers for subscripts."""

    def twin(self) -> Indexed:
        """An independent copy."""
        return Indexed(self)


class Keyed(dict[str, str]):
    """An associative array; the order is that in which keys came."""

    def twin(self) -> Keyed:
        """An independent copy."""
        return Keyed(self)


Value = str | Indexed | Keyed


class Session:
    """Variables, functions, options and all else that lasts from one command to the next.

    Values in the dictionaries are immutable except arrays, which :meth:`copy` copies.
    """

    __slots__ = (
        "aliases", "arguments", "attributes", "background_pid", "chance", "cwd", "directories", "exit_code",
        "exported", "flags", "frames", "functions", "getopts_at", "name", "open_files", "options", "pipe_codes", "scopes",
        "started", "traps", "variables",
    )  # fmt: skip

    def __init__(
        self, environment: Mapping[str, str], cwd: str, name: str, seed: int, started: float
    ) -> None:
        self.variables: dict[str, Value] = dict(environment)
        self.exported: frozenset[str] = frozenset(environment)
        self.attributes: dict[str, str] = {}
        """Letters of ``declare`` by variable: ``r``, ``i``, ``l``, ``u``, ``n``."""
        self.variables["PWD"] = cwd
        self.variables["OPTIND"] = "1"
        self.variables["IFS"] = " \t\n"
        self.arguments: tuple[str, ...] = ()
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.cwd = cwd
        self.name = name
        """``$0``."""
        self.flags: frozenset[str] = frozenset()
        """Options of ``set``, by their long names."""
        self.options: frozenset[str] = frozenset(("expand_aliases",))
        """Options of ``shopt``."""
        self.exit_code = 0
        self.background_pid = 0
        """``$!``; 0 for none."""
        self.traps: dict[str, str] = {}
        self.chance = seed & 0x7FFFFFFF or 1
        """State of ``$RANDOM``."""
        self.directories: tuple[str, ...] = ()
        """The stack of ``pushd``, without the present one."""
        self.getopts_at = 0
        self.scopes: tuple[dict[str, tuple[Value | None, bool, str]], ...] = ()
        """What local variables hide, one dictionary per running function."""
        self.frames: tuple[str, ...] = ()
        """Names of the running functions, the innermost first."""
        self.pipe_codes: tuple[int, ...] = (0,)
        """``$PIPESTATUS``."""
        self.started = started
        self.open_files = 0
        """Files that its processes may have open at most; 0 for what it began with."""

    def copy(self) -> Session:
        """An independent session in the same state."""
        twin = Session.__new__(Session)
        for name in _PLAIN:
            setattr(twin, name, getattr(self, name))
        twin.variables = self.variables.copy()
        for name, value in self.variables.items():
            if type(value) is not str:
                twin.variables[name] = value.twin()  # type: ignore[union-attr]
        twin.attributes = self.attributes.copy() if self.attributes else {}
        twin.functions = self.functions.copy() if self.functions else {}
        twin.aliases = self.aliases.copy() if self.aliases else {}
        twin.traps = self.traps.copy() if self.traps else {}
        twin.scopes = tuple(dict(scope) for scope in self.scopes)
        return twin

    def _parts(self) -> tuple[object, ...]:
        """All of it, in an order that does not depend on how it came to be."""
        return tuple(_ordered(getattr(self, name)) for name in Session.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and self._parts() == other._parts()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Session{self._parts()!r}"

    def random(self) -> int:
        """The next ``$RANDOM``, by the generator of bash 5.2."""
        high, low = divmod(self.chance or 123459876, 127773)
        number = 16807 * low - 2836 * high
        self.chance = number + 0x7FFFFFFF if number < 0 else number
        return ((self.chance >> 16) ^ (self.chance & 0xFFFF)) & 32767

    def exported_variables(self) -> dict[str, str]:
        """The environment of a child process, sorted by name."""
        variables = self.variables
        found: dict[str, str] = {}
        for name in sorted(self.exported):
            value = variables.get(name)
            if type(value) is str:
                found[name] = value
        return found


def _ordered(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if type(value) is dict:
        return sorted(value.items())
    return value


_PLAIN = tuple(
    name
    for name in Session.__slots__
    if name not in {"variables", "attributes", "functions", "aliases", "traps", "scopes"}
)
