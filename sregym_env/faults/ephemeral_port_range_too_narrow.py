"""Pods whose kernel has fewer local ports than their clients have connections to one destination."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sregym_env.apps.calls import services
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import execute, mend, put, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.quantity import milli
from sregym_env.runtime.chance import Chance
from sregym_env.sim.network.local_ports import RANGE, TIME_WAIT, USUAL
from sregym_env.sim.programs.services.graph import calls, reached
from sregym_env.sim.programs.services.peers import Registered
from sregym_env.sim.programs.services.settings import ServiceSettings

ROTATED = 1.0 + TIME_WAIT / 10.0
"""Ports that a connection takes at least which is closed and made again every ten seconds, as the C++ services' pools do."""
WORKERS = ("thrift-lua",)
"""Client libraries whose connections the workers of a server do not share."""
ROTATING = ("redis-plus-plus", "thrift-cpp")
"""Client libraries whose pools are given a time for which connections live."""
POOLED = ("gomemcache", "mgo")
"""Client libraries whose pools keep what they have opened."""
SELDOM = 3.0
"""Ports with which they have too few for one call of thousands: too seldom, even for who dies of it."""
BUSY = 30.0
"""Calls per second from which too few for one call of hundreds are felt soon by who dies of it."""
FRESH = ("psycopg2", "reqwest")
"""Client libraries with a connection for every request."""
FIRST = (10000, 15000, 20000, 30000, 32000, 32768, 40000, 49152, 50000, 60000)
"""Where operators let ranges begin."""
WIDE = "1024 65535"


def _needed(target: ComponentTarget) -> float:
    """Ports that a pod needs for the destination for which it needs most, as far as its users' requests pass there; 0 for one that
    nobody would miss."""
    return max(_needs(target), default=0.0)


def _needs(target: ComponentTarget) -> Iterator[float]:
    cores = [milli(each["status"]["capacity"]["cpu"]) // 1000 for each in target.inventory.machines]
    workers = float(min(cores, default=0))
    service = services(target.app).get(target.name)
    if service is None:
        running = [each for each in target.app.images if each.reference == target.container["image"]]
        if any(binary.program == "envoy" for image in running for binary in image.binaries.values()):
            yield workers
        return
    rates, fatal = _asked(target, service)
    peers = [peer for peer in service.peers if peer.name in rates]
    yield float(sum(isinstance(peer.address, Registered) for peer in peers))
    for peer in peers:
        if peer.driver in WORKERS:
            yield workers
        elif peer.driver in ROTATING:
            yield ROTATED
        elif peer.driver in FRESH:
            yield rates[peer.name] / max(target.replicas, 1) * TIME_WAIT
        elif peer.driver in POOLED and peer.name in fatal and rates[peer.name] >= BUSY:
            yield SELDOM


def _asked(target: ComponentTarget, service: ServiceSettings) -> tuple[Mapping[str, float], frozenset[str]]:
    """(calls per second that a component makes and that its users' requests cannot do without, by peer; of which of them a lost one
    kills it)."""
    known = services(target.app)
    found: dict[str, float] = {}
    fatal: set[str] = set()
    for journey in target.app.journeys:
        entry = next((name for name in journey.through if name in known), "")
        path = f"{journey.method} {journey.path.partition('?')[0]}"
        for operation in sorted(reached(known, entry, path).get(target.name, ())):
            for ask in calls(service, operation):
                found[ask.peer] = found.get(ask.peer, 0.0) + journey.weight * target.app.rate
                if ask.lost.then == "panic":
                    fatal.add(ask.peer)
    return found, frozenset(fatal)


def _number(target: ComponentTarget, share: float) -> int:
    needed = _needed(target)
    return min(max(round(share * needed), 1), math.ceil(needed) - 1)


def _range(target: ComponentTarget, chance: Chance) -> str:
    """A part of the ports that are needed, from where somebody thought of."""
    number = _number(target, chance.uniform("share", 0.2, 0.6))
    first = chance.choice("first", FIRST) + chance.choice("more", (0, 0, 0, 100, 500))
    return f"{first} {first + number - 1}"


def _published(target: ComponentTarget) -> str:
    return f"32000 {32000 + min(_number(target, 0.8), 4) - 1}"


@fault(
    layer="node",
    mechanism="local_ports_exhausted",
    targets=components(at_request=True, where=lambda target: _needed(target) >= 2.0),
    level="hard",
)
def ephemeral_port_range_too_narrow(
    target: ComponentTarget, range: str = drawn(_range, published=_published)
) -> Fault:
    """The pods' kernel dials from a few ports only (``net.ipv4.ip_local_port_range`` of their ``securityContext.sysctls``).

    Every connection to one destination takes one, and so does for a minute one that was closed: who opens one a request or closes
    those that are old, whose workers have their own, or who watches many names at a registry soon finds none. What is over one kept
    connection goes on. Pods are Running and Ready, and the callees are well.
    """
    path, right = target.template_path("securityContext"), target.template_declares("securityContext")
    others = [each for each in (right or {}).get("sysctls") or () if each["name"] != RANGE]
    before = next((each["value"] for each in (right or {}).get("sysctls") or () if each["name"] == RANGE), "")

    def having(value: str) -> dict[str, Any]:
        return {**(right or {}), "sysctls": [*others, {"name": RANGE, "value": value}]}

    first, last = range.split()
    usual = " ".join(map(str, USUAL))
    return Fault(
        resource=target.workload,
        cause=f"The pod template of {target.kind} {target.name} sets the sysctl {RANGE} to {range} (it was {before or f'not set: {usual}'}), so "
        f"that its pods have only {int(last) - int(first) + 1} local ports; {target.name} runs out of them and cannot open further connections "
        "(cannot assign requested address).",
        **revision(target, {path: having(range)}, starts=True),
        details={"field": RANGE, "wrong": range, "right": before or usual},
        remedies=[
            mend(target, restore(target.workload, path, right)),
            mend(target, put(target.workload, path, having(WIDE))),
        ],
        look=[
            show(target),
            f"kubectl logs -n {target.namespace} deploy/{target.component.workload_name} --tail=40",
            execute(target, "cat /proc/sys/net/ipv4/ip_local_port_range"),
        ],
        aliases=["ip_local_port_range", "sysctl"],
    )
