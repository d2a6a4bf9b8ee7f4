"""Go, with zerolog's console writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sregym_env.sim.dataplane.network import Collector
from sregym_env.sim.programs.services.steps import Level
from sregym_env.sim.programs.services.values import positive

_SEVERITY = {"debug": 0, "info": 1, "warning": 2, "error": 3, "fatal": 4}
_SHORT = {"debug": "DBG", "info": "INF", "warning": "WRN", "error": "ERR", "fatal": "FTL"}
_LEVELS = {"ERROR": 3, "WARNING": 2, "INFO": 1, "DEBUG": 0, "TRACE": 0}


USUAL_GC = 50.0
"""Percent of growth from which collecting costs too little to be told from the requests' own work."""
ALLOCATION = 48_000.0
"""Bytes allocated per request (assumed: a small gRPC request with JSON and tracing)."""
MARKING = 1e-9
"""CPU seconds to mark a byte that lives: about a gigabyte per core and second (Go's GC guide)."""


SIGNAL = "[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x8a2f4c]"
"""What the runtime adds where nothing stands behind a pointer."""


@dataclass(frozen=True, slots=True)
class Go:
    """A static binary; goroutines, panics with traces, no handler of signals."""

    root: str
    """Where its sources lay when it was built."""
    percent: str = "GOGC"
    """Variable of the growth in percent after which it collects; one that a program's own tuning reads overrides ``GOGC``."""
    main: str = "main.initializeDatabase({0xc00002c0f0, 0x11})"
    """The function that a panic at the start names beside ``main.main``."""
    stops: tuple[float, int] = (0.05, 2)
    """Go's runtime ends a process without a handler with the signal's status."""
    at_rest: float = 0.002
    per_step: float = 0.00012
    panics: int = 2

    @property
    def slip(self) -> str:
        """What the runtime says."""
        return "runtime error: invalid memory address or nil pointer dereference"

    @property
    def unset(self) -> str:
        """What the services say themselves."""
        return "server port must be set"

    def taken(self, port: int) -> str:
        """As ``net.Listen`` says it."""
        return f"listen tcp :{port}: bind: address already in use"

    def unaccepted(self, port: int) -> str:
        """What ``net/http`` says once a second while it has no descriptor for who wants to connect."""
        what = f"accept tcp [::]:{port}: accept4: too many open files"
        return f"{{time|%Y/%m/%d %H:%M:%S}} http: Accept error: {what}; retrying in 1s"

    def collector(self, env: Mapping[str, str], memory: int) -> Collector | None:
        """By ``GOGC``, or what stands for it: what a cycle frees before the next one."""
        percent = positive(env.get(self.percent, ""))
        if percent is None or percent >= USUAL_GC:
            return None
        return Collector(ALLOCATION, MARKING, growth=percent / 100.0)

    @staticmethod
    def collecting(percent: float) -> float:
        """CPU seconds that the collector takes per request at such a growth."""
        return MARKING * ALLOCATION * 100.0 / max(percent, 1.0)

    def line(self, level: Level, where: str, text: str) -> str:
        """``2026-08-06T12:00:00Z INF cmd/geo/main.go:24 > text``."""
        return f"{{time}} {_SHORT[level]} {where} > {text}"

    def says(self, level: Level, env: Mapping[str, str]) -> bool:
        """By ``LOG_LEVEL``."""
        return _SEVERITY[level] >= _LEVELS.get(env.get("LOG_LEVEL", "INFO").upper(), 1)

    def panic(self, where: str, text: str, operation: str) -> str:
        """zerolog's panic line and the trace the runtime prints after it.

        ``operation`` is the gRPC method whose handler panicked; empty for the main goroutine.
        """
        length = len(text.encode())
        if operation:
            module = self.root.removeprefix("/go/src/")
            package, method = f"{module}/{where}".rpartition("/")[0], operation.rpartition("/")[2]
            frames = (
                f"{package}.(*Server).{method}(0xc0001ac000, {{0xb5b6a8, 0xc00039e0f0}}, 0xc000310280)\n"
                f"\t{self.root}/{where} +0x6a5\n"
                "google.golang.org/grpc.(*Server).processUnaryRPC(0xc0001aa000, {0xb5e6f0, 0xc0002c4000}, 0xc0003b2000)\n"
                "\t/go/pkg/mod/google.golang.org/grpc@v1.53.0/server.go:1336 +0xd13\n"
                "created by google.golang.org/grpc.(*Server).serveStreams.func1\n"
                "\t/go/pkg/mod/google.golang.org/grpc@v1.53.0/server.go:963 +0x28a"
            )
        else:
            frames = (
                f"{self.main}\n"
                f"\t{self.root}/{where} +0x1c5\nmain.main()\n"
                f"\t{self.root}/{where.rpartition('/')[0]}/main.go:42 +0x5b2"
            )
        if text == self.slip:
            return f"panic: {text}\n{SIGNAL}\n\ngoroutine 1 [running]:\n{frames}"
        return (
            f"{{time}} PNC {where} > {text}\npanic: {text}\n\ngoroutine {8214 if operation else 1} [running]:\n"
            f"github.com/rs/zerolog.(*Logger).Panic.func1({{0xc0001a6000?, 0x{length:x}?}})\n"
            "\t/go/pkg/mod/github.com/rs/zerolog@v1.29.0/logger.go:376 +0x2d\n"
            f"github.com/rs/zerolog.(*Event).msg(0xc0001b4000, {{0xc000196040, 0x{length:x}}})\n"
            "\t/go/pkg/mod/github.com/rs/zerolog@v1.29.0/event.go:156 +0x2b8\n"
            f"{frames}"
        )
