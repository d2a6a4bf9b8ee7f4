"""A model server of our own on 127.0.0.1: speaks the three wire formats, says what a script says, misbehaves on demand.

::

    with ScriptedServer(replay("kubectl get pods", Said(calls=(("submit_mitigation", {}),)))) as server:
        server.misbehave(Trouble(status=429, headers={"Retry-After": "2"}))
        ...  # a client on server.base_url("chat")
        assert server.heard[0].last == "..."
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.llm import wires
from tests.llm.wires import Heard, Said

Brain = Callable[[Heard], Said | str]
"""What the model says to a request. Called from several threads at a time."""

PATHS = {"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "anthropic"}

FEATURES: dict[str, Callable[[Heard], bool]] = {
    "json_schema": lambda heard: heard.rung == "json_schema",
    "tool": lambda heard: bool(heard.forced),
    "json_object": lambda heard: heard.rung == "json_object",
    "tools": lambda heard: bool(heard.tools),
    "logprobs": lambda heard: "logprobs" in heard.body,
    "return_token_ids": lambda heard: "return_token_ids" in heard.body,
    "stream_options": lambda heard: "stream_options" in heard.body,
    "max_tokens": lambda heard: "max_tokens" in heard.body,
    "max_completion_tokens": lambda heard: "max_completion_tokens" in heard.body,
    "temperature": lambda heard: "temperature" in heard.body,
    "seed": lambda heard: "seed" in heard.body,
}
"""What a server may be told to refuse, and how it shows in a request."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What goes wrong with one request. The brain is asked only where an answer goes out after all."""

    status: int = 0
    """Answer this status, with an error body of the format."""
    headers: dict[str, str] = field(default_factory=dict)
    text: str = "scripted trouble"
    code: str = ""
    body: bytes | None = None
    """Answer exactly this, as ``content_type``, with ``status`` or 200."""
    content_type: str = "application/json"
    hang_up: bool = False
    """Close the connection without a word."""
    silent: bool = False
    """Say nothing until the server is closed: the client has to lose patience."""
    truncated: bool = False
    """Promise more bytes than come."""
    streamed: bool = False
    """Stream although nobody asked."""
    cut_after: int | None = None
    """Stream so many events, then close the connection as if all were said."""
    stream_error: bool = False
    """Begin a stream, then send an error in it."""


def replay(*says: Said | str) -> Brain:
    """A brain that says the n-th thing in its n-th turn of a conversation, and the last one ever after.

    It looks at the conversation alone, so any number of them may go on at once.
    """
    return lambda heard: says[min(heard.turns, len(says) - 1)]


class ScriptedServer:
    """A threaded HTTP server on a free port; a context manager."""

    def __init__(
        self,
        brain: Brain | Said | str = "ok",
        *,
        refuses: Collection[str] = (),
        key: str | None = None,
        echoes_headers: bool = False,
    ) -> None:
        """``refuses``: names of FEATURES that are answered 400. ``key``: who sends another is answered 401.

        ``echoes_headers``: every error repeats the request's headers, as careless servers do.
        """
        self.brain: Brain = brain if callable(brain) else lambda _: brain
        self.refuses = frozenset(refuses)
        self.key = key
        self.echoes_headers = echoes_headers
        self.heard: list[Heard] = []
        """Every request that could be read, in the order in which they came."""
        self.requests = 0
        """Every request."""
        self.most_at_once = 0
        self._at_once = 0
        self._troubles: list[Trouble] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def base_url(self, api: str = "chat") -> str:
        """What a client of a wire format is configured with."""
        return self.url if api == "anthropic" else f"{self.url}/v1"

    def misbehave(self, *troubles: Trouble) -> None:
        """Lay troubles in wait: one for each of the next requests."""
        with self._lock:
            self._troubles += troubles

    # --- serving ----------------------------------------------------------------------------------

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._serve(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

    def _serve(self, http: BaseHTTPRequestHandler) -> None:
        raw = http.rfile.read(int(http.headers.get("Content-Length", 0)))
        with self._lock:
            self.requests += 1
            number = self.requests
            trouble = self._troubles.pop(0) if self._troubles else Trouble()
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self._answer(http, raw, number, trouble)
        except (BrokenPipeError, ConnectionResetError):
            http.close_connection = True
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer(self, http: BaseHTTPRequestHandler, raw: bytes, number: int, trouble: Trouble) -> None:
        if trouble.hang_up:
            http.close_connection = True
            return
        if trouble.silent:
            self._closing.wait(30)
            http.close_connection = True
            return
        api = PATHS.get(http.path.partition("?")[0], "")
        headers = {name.lower(): value for name, value in http.headers.items()}
        if not api:
            self._fail(http, "chat", 404, f"no such path: {http.path}", headers)
        elif trouble.body is not None:
            self._send(http, trouble.status or 200, trouble.body, trouble.content_type, trouble.headers)
        elif trouble.status:
            self._fail(http, api, trouble.status, trouble.text, headers, trouble)
        elif self.key is not None and self._key(headers) != self.key:
            self._fail(http, api, 401, "invalid key", headers)
        else:
            self._say(http, api, json.loads(raw), headers, number, trouble)

    @staticmethod
    def _key(headers: dict[str, str]) -> str:
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")

    def _say(
        self,
        http: BaseHTTPRequestHandler,
        api: str,
        body: dict[str, Any],
        headers: dict[str, str],
        number: int,
        trouble: Trouble,
    ) -> None:
        try:
            request = wires.heard(api, body, headers)
        except wires.Refused as error:
            self._fail(http, api, 400, str(error), headers)
            return
        with self._lock:
            self.heard.append(request)
        refused = next((name for name in sorted(self.refuses) if FEATURES[name](request)), "")
        if refused:
            self._fail(http, api, 400, f"Unsupported parameter: '{refused}' is not supported here.", headers)
            return
        said = self.brain(request)
        said = said if isinstance(said, Said) else Said(said)
        streamed = bool(body.get("stream")) or trouble.streamed
        if streamed or trouble.cut_after is not None or trouble.stream_error:
            self._stream(http, wires.events(said, request, number), trouble)
            return
        data = json.dumps(wires.document(said, request, number)).encode()
        if trouble.truncated:
            self._send(http, 200, data[: len(data) // 2], promised=len(data))
            http.close_connection = True
            return
        self._send(http, 200, data)

    def _fail(
        self,
        http: BaseHTTPRequestHandler,
        api: str,
        status: int,
        text: str,
        headers: dict[str, str],
        trouble: Trouble | None = None,
    ) -> None:
        if self.echoes_headers:
            text = f"{text}; you sent {json.dumps(headers)}"
        trouble = trouble or Trouble()
        data = json.dumps(wires.failure(api, status, text, trouble.code)).encode()
        self._send(http, status, data, headers=trouble.headers)

    def _send(
        self,
        http: BaseHTTPRequestHandler,
        status: int,
        data: bytes,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        promised: int | None = None,
    ) -> None:
        http.send_response(status)
        http.send_header("Content-Type", content_type)
        http.send_header("Content-Length", str(len(data) if promised is None else promised))
        for name, value in (headers or {}).items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(data)

    def _stream(self, http: BaseHTTPRequestHandler, events: wires.Events, trouble: Trouble) -> None:
        # Without a length the end of the connection is the end of the stream: a cut cannot be told from an end.
        http.send_response(200)
        http.send_header("Content-Type", "text/event-stream; charset=utf-8")
        http.send_header("Connection", "close")
        http.end_headers()
        if trouble.stream_error:
            text = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            events = [*events[:2], ("error", text)]
        for name, data in events[: trouble.cut_after]:
            text_data = data if isinstance(data, str) else json.dumps(data)
            lines = f"event: {name}\n" if name else ""
            http.wfile.write(f"{lines}data: {text_data}\n\n".encode())
        http.close_connection = True
