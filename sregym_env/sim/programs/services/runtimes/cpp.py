"""C++, with Boost.Log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Cpp(Uncollected):
    """A native binary; what it throws and nobody catches ends it with ``abort``."""

    stops: tuple[float, int] = (0.05, 143)
    """No handler of SIGTERM beside the system's."""
    at_rest: float = 0.001
    per_step: float = 0.00008
    panics: int = 139

    @property
    def slip(self) -> str:
        """What the standard library says of a locale that the image does not have."""
        return "locale::facet::_S_create_c_locale name not valid"

    @property
    def unset(self) -> str:
        """What Boost's JSON parser says of a number that is none."""
        return 'conversion of data to type "i" failed'

    def taken(self, port: int) -> str:
        """As Thrift's server socket says it."""
        return f"Thrift: TServerSocket::listen() BIND {port}: Address already in use"

    def line(self, level: Level, where: str, text: str) -> str:
        """``[2026-Aug-06 12:00:00.123456] <error>: (ClientPool.h:74:Pop) text``."""
        return f"[{{time|%Y-%b-%d %H:%M:%S.%f}}] <{level}>: ({where}) {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """Everything but what is for its authors."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """What the C++ library prints of an exception that nobody has caught."""
        return f"terminate called after throwing an instance of 'std::runtime_error'\n  what():  {text}"
