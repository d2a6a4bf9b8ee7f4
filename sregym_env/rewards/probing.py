"""Whether probes still find a dead or a stuck server, and in reasonable time."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.kube.types import Manifest

KINDS = ("livenessProbe", "readinessProbe", "startupProbe")

PATIENCE = 180.0
"""Seconds in which a probe may always begin, and in which it may always find a server dead: twice the minute and a half
of a slow, but common probe (every 30 s, three failures)."""

RELAXED = 2.0
"""How many times as long as before either may take."""

LONGEST = 600.0
"""The same two for a probe that was not there before, seconds: what does not ask or does not act within ten minutes has
been put off, and may still fail then."""

_HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")


def weaker(before: Manifest, now: Manifest) -> Iterator[str]:
    """What the probes of a container find worse than they did, in words."""
    for kind in KINDS:
        then, probe = before.get(kind), now.get(kind)
        if probe is None:
            # What a startup probe finds a liveness probe finds as well, only without waiting.
            if then is not None and not (kind == "startupProbe" and now.get("livenessProbe")):
                yield f"lost its {kind}"
            continue
        if probe is then:
            continue
        for what, took, takes in (
            ("begins", _begins(then), _begins(probe)),
            ("acts", _acts(then), _acts(probe)),
        ):
            allowed = LONGEST if then is None else max(PATIENCE, took * RELAXED)
            if takes > allowed:
                yield f"{kind} {what} after {takes:.0f} s"
        if then is not None and not _asks(then, probe, before):
            yield f"{kind} no longer asks the server"


def _begins(probe: Manifest | None) -> float:
    """Seconds until it asks for the first time."""
    return float((probe or {}).get("initialDelaySeconds") or 0)


def _acts(probe: Manifest | None) -> float:
    """Seconds from a server's death until the kubelet acts."""
    found = probe or {}
    period = max(float(found.get("periodSeconds") or 10), float(found.get("timeoutSeconds") or 1))
    return period * float(found.get("failureThreshold") or 3)


def _asks(then: Manifest, probe: Manifest, container: Manifest) -> bool:
    """Whether a probe asks the server that it asked before.

    Over the network it does if it asks a port of this container. A command does if it is the one it was, or names one
    of those ports: what always succeeds asks nobody.
    """
    was, how = _handler(then), _handler(probe)
    if then.get(was) == probe.get(how) and was == how:
        return True
    ports = {*_ports(container), *_asked(then)}
    if how == "exec":
        words = " ".join(map(str, (probe.get("exec") or {}).get("command") or ()))
        return any(str(port) in words for port in ports)
    # Other kinds of servers name their ports nowhere: whether such a probe passes is for the kubelet to tell.
    return not ports or bool(_asked(probe) & ports)


def finds(probe: Manifest, container: Manifest) -> bool:
    """Whether a probe asks the server of its container: a port that it declares, or what its own probe of some kind asks."""
    how = _handler(probe)
    own = (container.get(kind) or {} for kind in KINDS)
    return bool(_asked(probe) & set(_ports(container))) or any(
        each.get(how) == probe.get(how) for each in own
    )


def _handler(probe: Manifest) -> str:
    return next((name for name in _HANDLERS if name in probe), "")


def _asked(probe: Manifest) -> set[int | str]:
    asked = (probe.get(_handler(probe)) or {}).get("port")
    return set() if asked is None else {asked}


def _ports(container: Manifest) -> Iterator[int | str]:
    for port in container.get("ports") or ():
        yield port["containerPort"]
        if port.get("name"):
            yield port["name"]
