"""Rust: a static binary on Tokio whose logs go to OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.programs.services.runtimes.uncollected import Uncollected
from sregym_env.sim.programs.services.steps import Level


@dataclass(frozen=True, slots=True)
class Rust(Uncollected):
    """What it cannot go on after is a panic of its main thread."""

    stops: tuple[float, int] = (0.05, 0)
    """actix stops its workers and exits cleanly."""
    at_rest: float = 0.0005
    per_step: float = 0.00005
    panics: int = 101

    @property
    def slip(self) -> str:
        """What the standard library says."""
        return "called `Option::unwrap()` on a `None` value"

    @property
    def unset(self) -> str:
        """As the service looks up its port."""
        return "$SHIPPING_PORT is not set: NotPresent"

    def taken(self, port: int) -> str:
        """As ``bind`` fails."""
        return 'called `Result::unwrap()` on an `Err` value: Os { code: 98, kind: AddrInUse, message: "Address in use" }'

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026-08-06T12:00:00.123456Z ERROR shipping::quote: text``: tracing's line."""
        return f"{{time|%Y-%m-%dT%H:%M:%S.%f}}Z {level.upper():>5} {where}: {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """Its subscriber hands everything to OpenTelemetry."""
        return level == "fatal"

    def panic(self, where: str, text: str, operation: str) -> str:
        """The panic hook's two lines."""
        return (
            f"\nthread 'main' (1) panicked at {where}:\n{text}\n"
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"
        )
