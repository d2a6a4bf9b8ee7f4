"""A store in memory that may hold less than it needs for itself."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import execute, mend, put, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision

SERVERS = {"valkey": "valkey-server", "redis": "redis-server"}
CLIENTS = {"valkey": "valkey-cli", "redis": "redis-cli"}
CAPS = (
    "512kb", "64", "100", "128", "256", "512", "100kb", "128kb", "256kb", "384kb", "640kb", "750kb", "800kb", "1024", "4096",
    "65536", "100000", "524288", "640000",
)  # fmt: skip
"""What somebody gives it: units forgotten or mistaken, and sums that leave out what an empty server takes (950 KiB)."""


@fault(
    layer="application",
    mechanism="store_memory_cap",
    targets=components(kinds=tuple(SERVERS), where=lambda target: target.component.written),
    level="hard",
)
def valkey_memory_disruption(
    target: ComponentTarget,
    cap: str = drawn(one_of(*CAPS), published="512kb"),
    policy: bool = drawn(one_of(False, False, True), published=False),
) -> Fault:
    """The store's ``maxmemory`` is less than an empty server takes, so it refuses every command that needs memory.

    It is ready, answers ``PING`` and can be read; writes fail with "OOM command not allowed". ``policy`` says that the
    policy for that, ``noeviction``, is written out.
    """
    kind, path = target.component.kind, target.container_path("args")
    declared = target.declares("args")
    head = [*(declared or [SERVERS[kind]])]
    more = ["--maxmemory-policy", "noeviction"] if policy else []
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} starts its server with --maxmemory {cap}, less than the server takes for itself: "
        "it refuses writes (OOM command not allowed when used memory > 'maxmemory').",
        **revision(target, {path: [*head, "--maxmemory", cap, *more]}, starts=True),
        details={"field": "maxmemory", "wrong": cap},
        remedies=[
            mend(target, restore(target.workload, path, declared)),
            mend(target, put(target.workload, path, [*head, "--maxmemory", "12mb", *more])),
        ],
        look=[
            show(target),
            execute(target, f"{CLIENTS[kind]} config get maxmemory"),
            execute(target, f"{CLIENTS[kind]} info memory"),
        ],
    )
