"""The kinds of noise. Each is a function of a namespace, a duration in seconds, and a draw in [0, 1) that
picks the pod when the time has come.

Parameters are those of the usual chaos experiments: half a second of delay with 200 ms of jitter, half of
the packets lost, a pod paused or killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sregym_env.cluster.disturbances import LinkDelay, LinkLoss, PodFreeze
from sregym_env.cluster.forkable import ScheduledAction

Kind = Callable[[str, float, float], ScheduledAction]

FREEZE_SECONDS = 45.0
"""The longest a pod stays paused."""


def pod_kill(namespace: str, duration: float, draw: float) -> ScheduledAction:
    """A pod is deleted without grace; its controller replaces it."""
    return ScheduledAction("delete_pod", arguments=(namespace, ""), draw=draw)


def pod_failure(namespace: str, duration: float, draw: float) -> ScheduledAction:
    """A pod's processes stop answering for a while."""
    return ScheduledAction(
        "apply", PodFreeze(namespace, ""), draw=draw, seconds=min(duration, FREEZE_SECONDS)
    )


def network_delay(namespace: str, duration: float, draw: float) -> ScheduledAction:
    """A pod's packets are delayed."""
    return ScheduledAction("apply", LinkDelay(namespace, "", 0.5, 0.2), draw=draw, seconds=duration)


def network_loss(namespace: str, duration: float, draw: float) -> ScheduledAction:
    """Half of a pod's packets are lost."""
    return ScheduledAction("apply", LinkLoss(namespace, "", 0.5), draw=draw, seconds=duration)


KINDS: Mapping[str, Kind] = {
    kind.__name__: kind for kind in (network_delay, network_loss, pod_failure, pod_kill)
}
"""Every kind by name."""
