"""One HTTP request at a time: the connection, its limits, and what came back as a document or a failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import BoundedSemaphore

import httpx

from sregym_env.errors import UsageError
from sregym_env.llm import jsontext
from sregym_env.llm.failures import SHOWN, Failed, refused, reported
from sregym_env.llm.messages import Function
from sregym_env.llm.secrets import Scrubber, key_from
from sregym_env.llm.settings import EndpointSettings
from sregym_env.llm.sse import events, is_stream
from sregym_env.llm.wire.wire import Answer, Document, Incomplete, Malformed, Reported, Wire

MAX_BYTES = 32 * 1024 * 1024
"""Of an answer. No model says more; a server that does is broken or hostile."""


OWN_KEY = "SREGYM_API_KEY"
"""The environment variable whose key is sent to whatever server is asked."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Transport:
    """A connection pool to one server, with the key; made where it is used and never pickled."""

    def __init__(
        self,
        settings: EndpointSettings,
        wire: Wire,
        *,
        transport: httpx.BaseTransport | None,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        """``clock`` counts seconds from anywhere, ``now`` from 1970. Raises UsageError where a key is missing."""
        url = httpx.URL(settings.base_url or wire.home)
        self._variables = _key_variables(settings, wire, url.host)
        key = key_from(self._variables, required=settings.api_key_env is not None)
        self._keyless = not key and not settings.headers_env
        secret = {
            name: key_from((variable,), required=True) for name, variable in settings.headers_env.items()
        }
        self.scrubber = Scrubber(key, *secret.values())
        self._wire = wire
        self._total = settings.timeouts.total
        self._clock = clock
        self._now = now
        self._room = BoundedSemaphore(settings.concurrency)
        root = url.path.rstrip("/")
        self._url = url.copy_with(path=f"{root}{wire.path(root)}")
        limits = httpx.Limits(
            max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency
        )
        timeout = httpx.Timeout(settings.timeouts.read, connect=settings.timeouts.connect, pool=None)
        self._client = httpx.Client(
            headers={
                "user-agent": "sregym-env",
                "content-type": "application/json",
                **wire.headers(key),
                **settings.headers,
                **secret,
            },
            timeout=timeout,
            limits=limits,
            transport=transport,
            follow_redirects=False,
            # A proxy that leads out of here does not lead back to this machine.
            trust_env=url.host not in _LOOPBACK,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, body: Document) -> Answer:
        """Send a request and read the answer. Raises Failed."""
        content = json.dumps(body).encode()
        with self._room:
            status, headers, text = self._exchange(content)
        text = self.scrubber.text(text)
        if status >= 300:
            hint = ""
            if status in (401, 403) and self._keyless:
                hint = f"no key was sent: {' or '.join(self._variables)} is not set"
            raise refused(status, headers, text, self._now(), hint)
        return self._read(text, headers.get("content-type", ""))

    def _exchange(self, content: bytes) -> tuple[int, dict[str, str], str]:
        deadline = self._clock() + self._total
        try:
            with self._client.stream("POST", self._url, content=content) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > MAX_BYTES:
                        raise Failed(f"the answer is longer than {MAX_BYTES} bytes", "malformed")
                    if self._clock() > deadline:
                        raise Failed(f"no end of the answer after {self._total:g} s", "timeout", retry=True)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return response.status_code, headers, data.decode("utf-8", "replace")
        except httpx.TimeoutException as error:
            raise Failed(f"{_named(error)} after the time that is allowed", "timeout", retry=True) from None
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
            raise UsageError(self.scrubber.text(f"cannot ask {self._url.host}: {error}")) from None
        except httpx.TransportError as error:
            text = self.scrubber.text(f"{_named(error)}: {error}")
            raise Failed(text, "unreachable", retry=True) from None
        except httpx.RequestError as error:
            raise Failed(self.scrubber.text(f"{_named(error)}: {error}"), "malformed") from None

    def _read(self, text: str, content_type: str) -> Answer:
        try:
            if is_stream(content_type, text):
                document = self._wire.assembled(events(text))
            else:
                document = _document(text, content_type)
            # A stream may carry a secret in pieces, and JSON in escapes.
            return self._scrubbed(self._wire.answer(self.scrubber.document(document)))
        except Incomplete as error:
            raise Failed(str(error), "unreachable", retry=True) from None
        except Malformed as error:
            # A proxy cuts one answer off, or gives one without choices. A page is not what an API answers.
            page = "html" in content_type
            raise Failed(self.scrubber.text(str(error)), "malformed", retry=not page) from None
        except Reported as error:
            raise reported(Reported(self.scrubber.text(str(error)), self.scrubber.text(error.code))) from None

    def _scrubbed(self, answer: Answer) -> Answer:
        """The same again for what came to light by reading: arguments are JSON inside JSON, texts come in blocks."""
        clean = self.scrubber.document
        calls = [
            call.model_copy(
                update={
                    "function": Function(name=call.function.name, arguments=clean(call.function.arguments))
                }
            )
            for call in answer.calls
        ]
        return replace(answer, text=clean(answer.text), reasoning=clean(answer.reasoning), calls=tuple(calls))


def _key_variables(settings: EndpointSettings, wire: Wire, host: str) -> tuple[str, ...]:
    """The environment variables that may hold the key for a host, the first one first.

    A vendor's key goes to the vendor and to this machine; to send it to somebody else takes the user's word.
    """
    if settings.api_key_env is not None:
        return (settings.api_key_env,)
    at_home = f".{host}".endswith(f".{wire.vendor_domain}") or host in _LOOPBACK
    return (OWN_KEY, wire.vendor_key) if at_home else (OWN_KEY,)


def _document(text: str, content_type: str) -> Document:
    try:
        document = jsontext.loads(text)
    except ValueError:
        shown = f"{text[:SHOWN]!r}" if text else "nothing"
        raise Malformed(f"the answer is not JSON but {content_type or 'of no type'}: {shown}") from None
    if not isinstance(document, dict):
        raise Malformed(f"the answer is JSON but no object: {text[:SHOWN]}")
    return document


def _named(error: Exception) -> str:
    return type(error).__name__
