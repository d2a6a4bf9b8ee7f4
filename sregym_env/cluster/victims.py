"""Whom a disturbance strikes that names no pod."""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.cluster.app import App
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import SECOND

UNSETTLED_SECONDS = 600.0
"""How long a container that has crashed is spared: so long the kubelet remembers its back-off (twice the longest one,
five minutes), and one more crash would cost the users minutes and not seconds."""


def victim(app: App, pods: Iterable[Manifest], now: int, draw: float, spared: tuple[str, ...] = ()) -> str:
    """The name of one of the pods, picked by a draw in [0, 1); empty where there is none.

    It is alive, its application is whole again without it, and none of its containers has crashed lately: noise is
    short, so it does not strike who is down already. Pods of ``spared`` components are never struck. ``now`` is in
    microseconds.
    """
    lately = rfc3339(now - round(UNSETTLED_SECONDS * SECOND))
    names = [
        pod["metadata"]["name"]
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
        and app.heals(pod["metadata"]["name"], spared)
        and not _unsettled(pod, lately)
    ]
    return names[int(draw * len(names))] if names else ""


def _unsettled(pod: Manifest, lately: str) -> bool:
    """Whether a container of the pod is down, or has crashed since then."""
    for state in pod.get("status", {}).get("containerStatuses") or ():
        ended = (state.get("lastState") or {}).get("terminated") or {}
        if "running" not in (state.get("state") or {}) and state.get("restartCount"):
            return True
        if str(ended.get("finishedAt") or "") > lately:
            return True
    return False
