"""``exec`` and ``attach`` over WebSocket: the channel protocols v5 and v4 of the API server.

Every message is one byte for the channel and then its data: 0 standard input, 1 standard output, 2 standard
error, 3 the final ``Status``, 4 the terminal's size; in v5, 255 closes the channel named in its data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from sregym_env.cluster.api import ExecResult
from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.serve import following, forwarding
from sregym_env.serve.message import Stream
from sregym_env.sim import container_logs

if TYPE_CHECKING:
    from sregym_env.serve.rest import Ask

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255

INPUT_SECONDS = 1.0
"""How long standard input may be silent before the command starts without (more of) it."""

CHUNK = 32 * 1024


async def serve(ask: Ask, offered: Sequence[str], receive: Receive, send: Send) -> None:
    """Answer an upgraded request. Raises StatusError before the connection is accepted."""
    protocol = next((known for known in PROTOCOLS if known in offered), "")
    name = ask.where.subresource
    if name == "exec":
        await _exec(ask, protocol, receive, send)
    elif name == "attach":
        await _attach(ask, protocol, receive, send)
    elif name == "portforward":
        await forwarding.serve(ask, offered, receive, send)
    else:
        raise status.bad_request(f"unable to upgrade: {name or 'this path'} is not served over WebSocket")


async def refuse(error: status.StatusError, scope: Mapping[str, Any], send: Send) -> None:
    """Answer an upgrade request with an error instead."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
        return
    headers = [(b"content-type", b"application/json")]
    await send({"type": "websocket.http.response.start", "status": error.code, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": orjson.dumps(error.status)})


async def _exec(ask: Ask, protocol: str, receive: Receive, send: Send) -> None:
    request = ask.request
    command = list(request.query.get("command", ()))
    container = running_container(ask, "exec")
    if not command:
        raise status.bad_request("you must specify at least one command for the container")
    await send({"type": "websocket.accept", "subprotocol": protocol or None})
    stdin = ""
    if request.flag("stdin") and _reads_input(command):
        stdin = (await _input(receive, closes=protocol == PROTOCOLS[0])).decode(errors="surrogateescape")
    ask.hosted.sync()
    result = ask.cluster.exec(
        ask.where.namespace or "", ask.where.name, command, container=container, stdin=stdin
    )
    await _deliver(ask, result, send)


def _reads_input(command: Sequence[str]) -> bool:
    """Whether a command can have use for standard input: all but those that certainly have none."""
    return command[0].rpartition("/")[2] not in (
        "ls",
        "env",
        "date",
        "hostname",
        "id",
        "ps",
        "df",
        "echo",
        "printenv",
    )


async def _deliver(ask: Ask, result: ExecResult, send: Send) -> None:
    """Output, errors and the final status, then the end."""
    outward = ask.hosted.pace.outward_text
    stdout, stderr = (text.encode(errors="surrogateescape") for text in (result.stdout, result.stderr))
    failed = _runtime_error(result)
    if failed is None:
        terminal = ask.request.flag("tty")
        if terminal:
            stdout, stderr = (text.replace(b"\n", b"\r\n") for text in (stdout, stderr))
        await _write(send, STDOUT, outward(stdout))
        await _write(send, STDOUT if terminal else STDERR, outward(stderr))
        failed = _exit_status(result.exit_code)
    await _write(send, ERROR, orjson.dumps(failed))
    await send({"type": "websocket.close", "code": 1000})


async def _write(send: Send, channel: int, data: bytes) -> None:
    for start in range(0, len(data), CHUNK):
        await send({"type": "websocket.send", "bytes": bytes([channel]) + data[start : start + CHUNK]})


def _exit_status(code: int) -> Manifest:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _runtime_error(result: ExecResult) -> Manifest | None:
    """The container runtime's refusal to start the command, which is no output of the command."""
    prefix = "error: Internal error occurred: "
    if result.exit_code not in (126, 127) or not result.stderr.startswith(prefix):
        return None
    text = result.stderr.removeprefix("error: ").rstrip("\n")
    return {
        "metadata": {},
        "status": "Failure",
        "message": text,
        "reason": "InternalError",
        "details": {"causes": [{"message": text.removeprefix("Internal error occurred: ")}]},
        "code": 500,
    }


async def _input(receive: Receive, *, closes: bool) -> bytes:
    """Standard input until the client closes it or, where it cannot say so or says nothing, is silent."""
    data = b""
    patience: float | None = INPUT_SECONDS
    while (message := await _message(receive, patience)) is not None:
        payload, is_text = message
        # Only clients that never close a channel send text.
        patience = None if closes and not is_text else INPUT_SECONDS
        if payload[:1] == bytes([STDIN]):
            data += payload[1:]
        elif payload[:2] == bytes([CLOSE, STDIN]):
            break
    return data


async def _message(receive: Receive, patience: float | None) -> tuple[bytes, bool] | None:
    """The next message and whether it was text; None when the client leaves or stays silent."""
    try:
        message = await asyncio.wait_for(receive(), patience)
    except TimeoutError:
        return None
    if message["type"] != "websocket.receive":
        return None
    data = message.get("bytes")
    if data is not None:
        return data, False
    return (message.get("text") or "").encode(), True


async def _attach(ask: Ask, protocol: str, receive: Receive, send: Send) -> None:
    """The output of a container's main process from now on, until it ends or the client leaves."""
    container = running_container(ask, "attach")
    await send({"type": "websocket.accept", "subprotocol": protocol or None})
    query = {"follow": ["true"], "container": [container], "tailLines": ["0"]}
    logged = following.log(ask.with_query(query))
    assert isinstance(logged, Stream)
    sending = asyncio.create_task(_forward(logged, send))
    gone = asyncio.create_task(_drain(receive))
    await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
    if sending.done() and not sending.exception():
        await _write(send, ERROR, orjson.dumps(_exit_status(0)))
        await send({"type": "websocket.close", "code": 1000})
    for task in (sending, gone):
        task.cancel()
    await asyncio.gather(sending, gone, return_exceptions=True)


async def _forward(logged: Stream, send: Send) -> None:
    async for chunk in logged.chunks:
        await _write(send, STDOUT, chunk)


async def _drain(receive: Receive) -> None:
    while await _message(receive, None) is not None:
        pass


def running_container(ask: Ask, verb: str) -> str:
    """The container meant, made sure that it runs. Raises Forbidden, NotFound, BadRequest, InternalError."""
    ask.demand("create", verb)
    where = ask.where
    pod = ask.admin.get("pods", where.name, where.namespace)
    container = container_logs.choose_container(pod, ask.request.first("container") or None)
    if not pod["spec"].get("nodeName"):
        raise status.bad_request(f"pod {where.name} does not have a host assigned")
    known = container_logs.container_status(pod, container)
    if known is None or "running" not in known.get("state", {}):
        raise status.internal_error(f'unable to upgrade connection: container not found ("{container}")')
    return container
