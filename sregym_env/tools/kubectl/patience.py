"""A request lasts as long as the webhooks that judge it: kubectl waits for the answer, or for ``--request-timeout``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sregym_env.cluster.api import Cluster
from sregym_env.kube.durations import parse_duration
from sregym_env.tools.kubectl.call import Call, pass_time
from sregym_env.tools.kubectl.errors import KubectlError

_JUDGED = frozenset(("create", "replace", "patch", "delete", "exec", "attach", "forward", "connecting"))
"""Requests that webhooks are asked about."""

_GAVE_UP = "Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)"


class Patient:
    """A cluster whose answers are heard when they have come."""

    __slots__ = ("_api", "_ends", "_limit")

    def __init__(self, api: Cluster, call: Call) -> None:
        self._api = api
        self._ends = call.ends  # not the call itself, which keeps this cluster
        text = call.flags["request-timeout"]
        self._limit = 0.0 if not text else float(text) if text.isdecimal() else parse_duration(text) / 1e9

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._api, name)
        return self._waiting(found) if name in _JUDGED else found

    def _waiting(self, request: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*words: Any, **named: Any) -> Any:
            self._api.delay(self._limit)  # what others waited for is nobody's business now
            try:
                return request(*words, **named)
            finally:
                self._wait(self._api.delay())

        return asked

    def _wait(self, seconds: float) -> None:
        """Let time pass. Raises KubectlError where kubectl gives up, whatever came of the request."""
        if seconds > 0:
            pass_time(self._api, seconds, self._ends)
            if 0 < self._limit <= seconds:
                raise KubectlError(_GAVE_UP)
