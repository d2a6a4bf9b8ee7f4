"""``exec`` and ``attach`` over WebSocket: the channel protocols v5 and v4 of the API server.

Every message is one byte for the channel and then its data: 0 standard input, 1 standard output, 2 standard
error, 3 the final ``Status``, 4 the terminal's size; in v5, 255 closes the channel named in its data.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube import status
from sregym_env.kube.types import Manifest
from sregym_env.serve import forwarding
from sregym_env.serve.asking import Ask
from sregym_env.serve.mounts import Receive, Send
from sregym_env.shell.files import encoded
from sregym_env.sim.machines import attaching, container_logs
from sregym_env.sim.programs import exec as programs_exec
from sregym_env.sim.programs.consoles import MAX_INPUT, Turn

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255

INPUT_SECONDS = 1.0
"""How long a client that cannot close standard input may be silent before there is no more of it."""

IDLE_SECONDS = 0.5
"""How often a process that waits for input is looked after."""

LOOK_SECONDS = 0.1
"""How often the output of a main process is looked at."""

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
    body = orjson.dumps(error.status)
    # WebSocket clients read the body of a refusal only when its length is told.
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": error.code, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


async def _exec(ask: Ask, protocol: str, receive: Receive, send: Send) -> None:
    request = ask.request
    command = list(request.query.get("command", ()))
    try:
        container = running_container(ask, "exec")
    except status.StatusError as error:
        if error.code != 500 or not error.reason or not protocol:
            raise  # also where nobody could be dialled, which has no reason
        # That is the kubelet's answer: the API server passes it on over the connection it has upgraded.
        await send({"type": "websocket.accept", "subprotocol": protocol})
        await _write(send, ERROR, orjson.dumps(error.status))
        await send({"type": "websocket.close", "code": 1000})
        return
    if not command:
        raise status.bad_request("you must specify at least one command for the container")
    await send({"type": "websocket.accept", "subprotocol": protocol or None})
    ask.hosted.sync()
    if request.flag("stdin"):
        await _converse(ask, container, command, _Inbox(receive, closes=protocol == PROTOCOLS[0]), send)
        return
    # Admission was asked above, before the connection was accepted.
    result = ask.cluster.exec(
        ask.where.namespace or "", ask.where.name, command, container=container, admitted=True, paced=True
    )
    await ask.hosted.let_pass(result.seconds)
    await _deliver(ask, result, send)


class _Inbox:
    """What a client sends to the standard input of a process."""

    def __init__(self, receive: Receive, *, closes: bool) -> None:
        self._reading: asyncio.Task[MutableMapping[str, Any]] | None = None
        self._receive = receive
        self._closes = closes
        """Whether the client can say that there will be no more."""
        self._silent = 0.0
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    async def next(self, patience: float) -> Heard | None:
        """The next thing the client says; None when it says nothing for ``patience`` seconds."""
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._receive())
        done, _ = await asyncio.wait((self._reading,), timeout=patience)
        if not done:
            self._silent += patience
            return None
        message, self._reading = self._reading.result(), None
        if message["type"] != "websocket.receive":
            return Heard("gone")
        self._silent = 0.0
        data = message.get("bytes")
        if data is None:
            # Only clients that never close a channel send text.
            self._closes = False
            data = (message.get("text") or "").encode()
        if data[:1] == bytes([STDIN]):
            return Heard("input", self._decoder.decode(data[1:]))
        if data[:2] == bytes([CLOSE, STDIN]):
            return Heard("end")
        return Heard("resize" if data[:1] == bytes([RESIZE]) else "other")

    @property
    def exhausted(self) -> bool:
        """Whether a client that cannot close its input has been silent for so long that there is no more."""
        return not self._closes and self._silent >= INPUT_SECONDS

    def stop(self) -> None:
        """Stop listening."""
        if self._reading is not None:
            self._reading.cancel()


class Heard(NamedTuple):
    """Something a client said."""

    kind: Literal["input", "end", "resize", "gone", "other"]
    text: str = ""


async def _converse(ask: Ask, container: str, command: list[str], inbox: _Inbox, send: Send) -> None:
    """A command that is given its input as it comes."""
    world = ask.hosted.world
    pod = ask.admin.get("pods", ask.where.name, ask.where.namespace)
    key = (pod["metadata"]["uid"], container)
    process = world.processes.get(key)
    turn = programs_exec.begin(world, pod, container, command, tty=ask.request.flag("tty"))
    held: list[str] = []
    room = MAX_INPUT
    await ask.hosted.let_pass(turn.seconds)
    try:
        while (console := turn.console) is not None and process is not None:
            await _show(turn, send)
            turn = Turn(console)
            heard = await inbox.next(IDLE_SECONDS) or Heard("other")
            ask.hosted.sync()
            if heard.kind == "gone" or ask.hosted.closing:
                return
            end = heard.kind == "end" or (inbox.exhausted and console.kind in ("whole", "filter"))
            if console.kind == "whole" and not console.tty and not end and key in world.processes:
                # Handed over in one piece at the end, whatever pieces it comes in.
                held.append(heard.text[:room])
                room -= len(held[-1])
            elif heard.text or end or key not in world.processes:
                text = "".join([*held, heard.text])
                went_on = programs_exec.go_on(world, key, process.restart, console, text, end=end)
                turn = went_on or Turn(None, exit_code=137)
                ask.hosted.announce()
                await ask.hosted.let_pass(turn.seconds)
        await _deliver(ask, ExecResult(turn.stdout, turn.stderr, turn.exit_code), send, raw=True)
    finally:
        inbox.stop()


async def _show(turn: Turn, send: Send) -> None:
    await _write(send, STDOUT, encoded(turn.stdout))
    await _write(send, STDERR, encoded(turn.stderr))


async def _deliver(ask: Ask, result: ExecResult, send: Send, *, raw: bool = False) -> None:
    """Output, errors and the final status, then the end. ``raw``: it looks as on a terminal already."""
    stdout, stderr = encoded(result.stdout), encoded(result.stderr)
    failed = _runtime_error(result)
    if failed is None:
        terminal = ask.request.flag("tty")
        if terminal and not raw:
            stdout, stderr = (text.replace(b"\n", b"\r\n") for text in (stdout, stderr))
        # What is said about an archive comes before it: who unpacks it does not wait for more at its end.
        streams = [(STDOUT, stdout), (STDOUT if terminal else STDERR, stderr)]
        if ask.request.first("command").endswith("tar"):
            streams.reverse()
        for channel, data in streams:
            await _write(send, channel, data)
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


async def _attach(ask: Ask, protocol: str, receive: Receive, send: Send) -> None:
    """The streams of a container's main process, until it ends or the client leaves."""
    ask.demand("create", "attach")
    admitted(ask, "attach")
    pod = ask.admin.get("pods", ask.where.name, ask.where.namespace)
    container = attaching.chosen(pod, ask.request.first("container") or None)
    ask.cluster.dialled(pod)
    key = (pod["metadata"]["uid"], container)
    process = ask.hosted.world.processes.get(key)
    await send({"type": "websocket.accept", "subprotocol": protocol or None})
    inbox = _Inbox(receive, closes=protocol == PROTOCOLS[0])
    wanted = ask.request.flag("stdin") and process is not None and process.stdin
    prompted = False
    text, end, cursor = "", False, -1
    try:
        while not ask.hosted.closing:
            ask.hosted.sync()
            seen = attaching.attach(ask.hosted.world, pod, container, text, end, cursor)
            cursor = seen.cursor
            ask.hosted.announce()
            await _write(send, STDOUT, encoded(seen.text))
            if not seen.running:
                await _write(send, ERROR, orjson.dumps(_exit_status(0)))
                await send({"type": "websocket.close", "code": 1000})
                return
            heard = await inbox.next(LOOK_SECONDS)
            if heard is None:
                ask.hosted.pace.waited(LOOK_SECONDS)
            elif heard.kind == "gone":
                return
            text = heard.text if heard is not None and wanted else ""
            end = heard is not None and heard.kind == "end" and wanted
            if heard is not None and heard.kind == "resize" and not prompted:
                # A shell draws its prompt anew when its terminal changes.
                prompted = True
                drawn = attaching.redrawn(ask.hosted.world, pod, container)
                await _write(send, STDOUT, encoded(drawn))
    finally:
        inbox.stop()


def admitted(ask: Ask, verb: str, **options: Any) -> None:
    """Ask admission about a connection to a pod. Raises what a webhook or policy says."""
    query = ask.request
    for name in ("stdin", "stdout", "stderr", "tty"):
        options[name] = query.flag(name)
    options["command"] = list(query.query.get("command", ()))
    container = query.first("container") or None
    ask.cluster.connecting(ask.where.namespace or "", ask.where.name, verb, container=container, **options)


def running_container(ask: Ask, verb: str) -> str:
    """The container meant, made sure that it runs. Raises Forbidden, NotFound, BadRequest, InternalError."""
    ask.demand("create", verb)
    admitted(ask, verb)
    where = ask.where
    pod = ask.admin.get("pods", where.name, where.namespace)
    container = container_logs.choose_container(pod, ask.request.first("container") or None)
    if not pod["spec"].get("nodeName"):
        raise status.bad_request(f"pod {where.name} does not have a host assigned")
    ask.cluster.dialled(pod)
    known = container_logs.container_status(pod, container)
    if known is None or "running" not in known.get("state", {}):
        raise status.internal_error(f'unable to upgrade connection: container not found ("{container}")')
    return container
