"""Elixir on the BEAM: Phoenix with its console logger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Elixir:
    """A virtual machine whose supervisors restart what fails, until the application itself ends."""

    application: str
    """Name of its OTP application, such as ``flagd_ui``."""
    stops: tuple[float, int] = (0.5, 0)
    """``init:stop`` on SIGTERM."""
    at_rest: float = 0.003
    per_step: float = 0.0002
    panics: int = 1

    @property
    def unset(self) -> str:
        """What ``String.to_integer`` says of no number."""
        return "** (ArgumentError) errors were found at the given arguments:\n\n  * 1st argument: not a textual representation of an integer"

    def taken(self, port: int) -> str:
        """As Bandit says it."""
        return f"Running Endpoint with Bandit at http failed, port {port} already in use"

    def line(self, level: Level, where: str, text: str) -> str:
        """``12:00:00.123 [info] text``."""
        return f"{{time|%H:%M:%S.%L}} [{level}] {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """From information on."""
        return level != "debug"

    def panic(self, where: str, text: str, operation: str) -> str:
        """The kernel's last words."""
        return (
            f"{{time|%H:%M:%S.%L}} [notice] Application {self.application} exited: {text}\n"
            f'Kernel pid terminated (application_controller) ("{{application_start_failure,{self.application},...}}")'
        )
