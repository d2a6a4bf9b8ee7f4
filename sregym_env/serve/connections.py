"""One client's connection: HTTP/1.1 with the API server's patience and its plain-text refusals.

uvicorn reads requests without a time limit and drains bodies of any length. Here a connection that does not get
on with it ends: so slow, silent or endless clients cost a bounded share of the process.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import h11

from sregym_env.serve.spdy_upgrades import UpgradingProtocol

MAX_CONNECTIONS = 1024
"""Connections held at once; more are closed as they come."""

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers. Go allows 1 MiB; no client needs it, and reading it takes time from the others."""

HEAD_SECONDS = 32.0
"""From a connection's (or request's) first byte to the end of its headers: the API server's ReadHeaderTimeout."""

IDLE_SECONDS = 90
"""Between two requests: the API server's IdleTimeout."""

STALL_SECONDS = 120.0
"""How long a client may take nothing of what is waiting for it."""

UNREAD_BYTES = 256 * 1024
"""How much of an unwanted body is read after the answer, as in Go, so that the client sees the answer."""

LINGER_SECONDS = 0.5
"""Between the last answer and the end of a connection whose client still sends, as in Go."""

DRAIN_SECONDS = 10.0
"""How long an unwanted body may take."""

_REFUSALS = {
    400: "400 Bad Request",
    431: "431 Request Header Fields Too Large",
    501: "501 Not Implemented",
}


class _Timer:
    """At most one call that is due."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        return self._handle is not None

    def set(
        self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., None], *of: Any
    ) -> None:
        self.cancel()
        self._handle = loop.call_later(seconds, call, *of)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class Connection(UpgradingProtocol):
    """A connection that may not take forever."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head_timer = _Timer()
        self._stall_timer = _Timer()
        self._drain_timer = _Timer()
        self._unread = 0
        self._ended = False

    # --- what asyncio calls -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            self._ended = True
            transport.abort()
            return
        self._head_timer.set(self.loop, HEAD_SECONDS, self._abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self._ended:
            return
        if self._is_unwanted():
            self._unread += len(data)
            if self._unread > UNREAD_BYTES:
                self._linger()
                return
            if not self._drain_timer.runs:
                self._drain_timer.set(self.loop, DRAIN_SECONDS, self._abort)
        super().data_received(data)
        self._time_head()

    def pause_writing(self) -> None:
        """The client is slow to take what it asked for."""
        super().pause_writing()
        if not self._stall_timer.runs:
            self._look_for_progress(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._stall_timer.cancel()
        super().resume_writing()

    # --- what uvicorn calls -----------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """An answer has been sent."""
        super().on_response_complete()
        self._time_head()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The connection becomes another protocol's, which has its own limits."""
        self._cancel_timers()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in Go's words."""
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        text = _REFUSALS.get(hint, _REFUSALS[400])
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            head = f"HTTP/1.1 {text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n{text}"
            self.transport.write(head.encode())
        self._linger()

    # --- inside -----------------------------------------------------------------------------------

    def _is_unwanted(self) -> bool:
        """Whether a body is still coming whose request has been answered."""
        answered = self.cycle is not None and self.cycle.response_complete
        return answered and self.conn.their_state is h11.SEND_BODY

    def _time_head(self) -> None:
        """Time the headers of a request that has begun to arrive, and nothing else."""
        if self._ended or self.transport.is_closing():
            return
        if self.conn.their_state is not h11.IDLE:
            self._head_timer.cancel()
            return
        self._unread = 0
        self._drain_timer.cancel()
        if self.conn.trailing_data[0]:
            if not self._head_timer.runs:
                self._head_timer.set(self.loop, HEAD_SECONDS, self._abort)
        elif self.cycle is not None:
            self._head_timer.cancel()  # uvicorn times idle connections

    def _look_for_progress(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left >= before:
            self._abort()
            return
        self._stall_timer.set(self.loop, STALL_SECONDS, self._look_for_progress, left)

    def _linger(self) -> None:
        """Let the client read the answer before the connection ends under what it still sends."""
        self._ended = True
        self._cancel_timers()
        if not self.transport.is_closing():
            self.transport.pause_reading()
        self._drain_timer.set(self.loop, LINGER_SECONDS, self._abort)

    def _abort(self) -> None:
        self._ended = True
        self._cancel_timers()
        self.transport.abort()

    def _cancel_timers(self) -> None:
        self._head_timer.cancel()
        self._stall_timer.cancel()
        self._drain_timer.cancel()
        self._unset_keepalive_if_required()
