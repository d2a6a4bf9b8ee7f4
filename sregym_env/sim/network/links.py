"""The wire between two ends: whether packets arrive, how long they take, how many are lost.

Latencies are assumed values of a small cluster in one rack: 0.1 ms one way on a machine, 0.3 ms between
machines. Lost packets cost TCP retransmissions (RTO 200 ms, doubling; RFC 6298 with Linux' minimum).
"""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.cluster.disturbances import LinkDelay, LinkLoss, MachineLinkLoss, MachinePathLimit, PodFreeze
from sregym_env.sim.network import addressing
from sregym_env.sim.network.addressing import reachable_machine
from sregym_env.sim.world import SimWorld

LOOPBACK_RTT = 0.00004
SAME_NODE_RTT = 0.0002
CROSS_NODE_RTT = 0.0006
"""Assumed round-trip times within a data centre, seconds."""
RETRANSMISSION_TIMEOUT = 0.2
"""Linux' ``TCP_RTO_MIN``, seconds."""

PodName = tuple[str, str]
"""(namespace, name); the name is empty for a machine."""

NO_POD: PodName = ("", "")


@dataclass(frozen=True, slots=True)
class Link:
    """A path between two ends."""

    up: bool = True
    rtt: float = SAME_NODE_RTT
    """Seconds for a request and its answer to travel."""
    jitter: float = 0.0
    """Half-width of the spread of ``rtt``, seconds."""
    loss: float = 0.0
    """Probability that one exchange loses a packet."""
    answers: bool = True
    """Whether anything behind the far end's kernel reacts (a frozen pod accepts and then says nothing)."""
    largest: int = 0
    """Bytes of the largest packet that arrives; larger ones are lost in silence. 0 where everything does that is sent."""


_UNDISTURBED = {rtt: Link(rtt=rtt) for rtt in (LOOPBACK_RTT, SAME_NODE_RTT, CROSS_NODE_RTT)}


def path(world: SimWorld, node: str, pod: PodName, far_node: str, far_pod: PodName) -> Link:
    """The link from a client to a server, each given by its machine and its pod (or :data:`NO_POD`)."""
    for each in (pod, far_pod):
        if each != NO_POD:
            addressing.note(world, "strikes", each)
    if pod == far_pod and pod != NO_POD:
        rtt = LOOPBACK_RTT
    elif node == far_node:
        rtt = SAME_NODE_RTT
    else:
        rtt = CROSS_NODE_RTT
        if not (reachable_machine(world, node) and reachable_machine(world, far_node)):
            return Link(up=False, rtt=rtt)
    if not world.disturbances:
        return _UNDISTURBED[rtt]
    return _disturbed(world, rtt, node, pod, far_node, far_pod)


def _disturbed(world: SimWorld, rtt: float, node: str, pod: PodName, far_node: str, far_pod: PodName) -> Link:
    jitter = 0.0
    passed = 1.0
    answers = True
    largest = 0
    local = pod == far_pod and pod != NO_POD
    for disturbance in world.disturbances:
        if isinstance(disturbance, PodFreeze):
            answers = answers and (disturbance.namespace, disturbance.pod) != far_pod
        elif isinstance(disturbance, MachineLinkLoss):
            if node != far_node and disturbance.node in (node, far_node):
                passed *= 1.0 - disturbance.fraction
        elif isinstance(disturbance, MachinePathLimit):
            if node != far_node and disturbance.node in (node, far_node):
                largest = min(largest or disturbance.bytes, disturbance.bytes)
        # Delay and loss sit on the pod's interface; loopback does not pass it.
        elif isinstance(disturbance, LinkDelay | LinkLoss) and not local:
            if (disturbance.namespace, disturbance.pod) not in (pod, far_pod):
                continue
            if isinstance(disturbance, LinkDelay):
                rtt += disturbance.seconds
                jitter += disturbance.jitter_seconds
            else:
                passed *= 1.0 - disturbance.fraction
    return Link(rtt=rtt, jitter=jitter, loss=1.0 - passed, answers=answers, largest=largest)


def retransmissions(loss: float, patience: float) -> tuple[float, float]:
    """What loss does to an exchange: (probability that it takes longer than ``patience``, mean extra seconds).

    The mean is over exchanges that finish in time.
    """
    if loss <= 0.0:
        return 0.0, 0.0
    probability, delay, mean = 1.0 - loss, 0.0, 0.0
    finished = 0.0
    timeout = RETRANSMISSION_TIMEOUT
    for _ in range(16):
        if delay > patience:
            break
        finished += probability
        mean += probability * delay
        probability *= loss
        delay += timeout
        timeout *= 2.0
    return max(0.0, 1.0 - finished), (mean / finished if finished else 0.0)


def late(mean: float, spread: float, patience: float) -> tuple[float, float]:
    """A duration spread evenly over ``mean`` +- ``spread``: (probability of exceeding ``patience``, mean of the
    smaller of the two)."""
    low, high = mean - spread, mean + spread
    if patience >= high:
        return 0.0, mean
    if patience <= low:
        return 1.0, patience
    share = (high - patience) / (high - low)
    return share, (1.0 - share) * (low + patience) / 2.0 + share * patience
