"""The incident desk: what an agent on a real machine is told, and where it hands in its answers.

Plain HTTP beside the cluster, in the shape other SRE benchmarks use: ``GET /get_app``, ``GET /status`` and
``POST /submit`` with ``{"solution": "..."}``, first the diagnosis, then (empty) the repair; ``GET /api/v1/alerts``
answers as Prometheus does. No verdict, score or name of a fault is ever answered.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.kube import durations
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, Response, json_response
from sregym_env.serve.mounts import Receive, Scope, Send
from sregym_env.serve.transport import Gone, headers, read_request, send_response

MCP_PATH = "/mcp"
"""Where MCP clients find the tools (streamable HTTP)."""

MAX_BODY = 256 * 1024
"""The longest body taken, in bytes: more than any diagnosis."""

HEALTHY = "healthy-"
"""How ids of problems begin that are none: an application is served, and nothing is asked."""

_METHODS = {"/status": "GET", "/get_app": "GET", "/api/v1/alerts": "GET", "/submit": "POST"}
_STRANGER = "this desk answers programs on its own machine only"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")

_log = logging.getLogger(__name__)

Done = Callable[[float, dict[str, Any]], None]
"""Called with the reward and the last info when the episode is over."""


def healthy(app: str) -> dict[str, Any]:
    """An application in which nothing is wrong, and of which nothing is asked, as a problem."""
    if not app:
        raise UsageError("name the application to serve")
    return {"id": f"{HEALTHY}{app}", "app": app}


def is_healthy(problem: Mapping[str, Any]) -> bool:
    """Whether a problem is an application that is only served."""
    return str(problem["id"]).startswith(HEALTHY) and not problem.get("faults")


class _Endpoint(Protocol):
    """What serves MCP clients; its library is imported when the first one comes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def close(self) -> None: ...


class IncidentDesk:
    """ASGI 3: the desk of one episode that is being played through its served cluster."""

    def __init__(
        self, env: SREGymEnv, hosted: Hosted, done: Done, reward: float = 0.0, briefing: str = ""
    ) -> None:
        """``reward``: what the episode has earned already, where it was begun earlier. ``briefing``: what MCP clients are
        told at the beginning."""
        self._env = env
        self._hosted = hosted
        self._done = done
        self._reward = reward
        self._briefing = briefing
        self._endpoint: _Endpoint | None = None
        self._answers: Mapping[str, Callable[[Request], Response]] = {
            "/status": self._status,
            "/get_app": self._get_app,
            "/api/v1/alerts": self._alerts,
            "/submit": self._submit,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event of the ASGI protocol."""
        if scope["type"] == "websocket":
            await receive()  # websocket.connect
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and scope["path"].rstrip("/") == MCP_PATH:
            await self._model_context(scope, receive, send)
        elif scope["type"] == "http":
            try:
                request = await read_request(scope, receive, MAX_BODY)
            except Gone:
                return
            except TimeoutError:
                await send_response(json_response({"detail": "Request Timeout"}, 408), send)
                return
            reply = self.respond(request)
            await self._hosted.kept()
            await send_response(reply, send)

    async def _model_context(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The tools of the episode for MCP clients."""
        if not _is_local(Request(scope["method"], scope["path"], {}, headers(scope))):
            await send_response(json_response({"detail": _STRANGER}, 403), send)
            return
        if self._endpoint is None:
            try:
                from sregym_env.serve.model_context import Endpoint
            except ModuleNotFoundError as error:
                text = f"{error.name} is not installed; install sregym-env[serve]"
                await send_response(json_response({"detail": text}, 501), send)
                return
            self._endpoint = Endpoint(self._act, self._briefing, self._hosted)
        await self._endpoint(scope, receive, send)

    def _act(self, action: str) -> tuple[str, dict[str, Any]]:
        """Carry out an action of an MCP client's."""
        over = self.stage == "done"
        observation, reward, terminated, truncated, info = self._env.step(action)
        if not over:
            self._reward += reward
            if terminated or truncated:
                self._done(self._reward, info)
        return observation, info

    def respond(self, request: Request) -> Response:
        """Answer a request to the desk."""
        if not _is_local(request):
            return json_response({"detail": _STRANGER}, 403)
        path = request.path.rstrip("/")
        method = _METHODS.get(path)
        if method is None:
            return json_response({"detail": "Not Found"}, 404)
        if request.method != method:
            return json_response({"detail": "Method Not Allowed"}, 405, (("Allow", method),))
        if request.too_large:
            return json_response({"detail": f"the body must be shorter than {MAX_BODY} bytes"}, 413)
        try:
            return self._answers[path](request)
        except Exception:  # one failing request must not end the episode; it is logged loudly
            _log.exception("%s %s failed", request.method, path)
            return json_response({"detail": "Internal Server Error"}, 500)

    def give_up(self) -> None:
        """Settle an episode that nobody goes on with: a diagnosis that was handed in is paid, the repair counts as none.

        Of one in which nothing was handed in there is nothing to tell.
        """
        if self.stage == "mitigation" and self._env.state()["grade"] is not None:
            _, reward, _, _, info = self._env.finish("gave_up")
            self._reward += reward
            self._done(self._reward, info)

    def close(self) -> None:
        """End what goes on beside requests; on the event loop."""
        if self._endpoint is not None:
            self._endpoint.close()

    @property
    def reward(self) -> float:
        """What the episode has earned."""
        return self._reward

    @property
    def stage(self) -> str:
        """What is asked for next: ``diagnosis``, ``mitigation``; ``done``; ``none`` where nothing is wrong."""
        episode = self._env.episode
        return "none" if is_healthy(episode.staged.problem_json) else episode.waiting_for

    def _status(self, _: Request) -> Response:
        return json_response({"stage": self.stage})

    def _get_app(self, _: Request) -> Response:
        return json_response(self._app())

    def _app(self) -> dict[str, Any]:
        app = self._hosted.world.app
        return {
            "app_name": app.title,
            "namespace": app.namespace,
            "namespaces": list(app.namespaces),
            "descriptions": app.description.strip(),
        }

    def _alerts(self, _: Request) -> Response:
        """Alerts as Prometheus answers ``GET /api/v1/alerts``."""
        self._hosted.sync()
        found = [
            {
                "labels": {"alertname": alert.name, "severity": alert.severity, **alert.labels},
                "annotations": {"summary": alert.summary},
                "state": alert.state,
                "activeAt": durations.rfc3339(alert.active_at),
                "value": "1e+00",
            }
            for alert in self._hosted.world.alerts()
        ]
        return json_response({"status": "success", "data": {"alerts": found}})

    def _submit(self, request: Request) -> Response:
        stage = self.stage
        if stage == "none":
            return json_response(
                {"detail": "there is no incident in this cluster: nothing is to be handed in"}, 409
            )
        if stage == "done":
            return json_response({"status": "done", "message": "All stages are completed."})
        try:
            posted = orjson.loads(request.body or b"{}")
            solution = posted["solution"]
        except (ValueError, KeyError, TypeError, IndexError):
            return json_response({"detail": 'the body must be {"solution": "<text>"}'}, 400)
        if not isinstance(solution, str):
            return json_response({"detail": "solution must be a string"}, 400)
        return self._hand_in(stage, solution)

    def _hand_in(self, stage: str, solution: str) -> Response:
        self._hosted.sync()
        self._hosted.change()
        arguments = {"stage": stage, "text": solution}
        action = json.dumps({"name": "submit", "arguments": arguments})
        answer, reward, terminated, truncated, info = self._env.step(action)
        self._reward += reward
        self._hosted.announce()
        if terminated or truncated:
            self._done(self._reward, info)
            return json_response({"status": "done", "message": "Submission received"})
        if info["exit_code"]:
            return json_response({"detail": answer.strip()}, 400)
        return json_response({"status": "200", "message": "Submission received"})


def _is_local(request: Request) -> bool:
    """Whether a program of this machine asks, and not a page in its browser: a page says where it comes from, or
    reaches the desk by another name (DNS rebinding)."""
    if "origin" in request.headers or request.header("sec-fetch-site") not in ("", "none"):
        return False
    host = request.header("host")
    if not host:
        return True
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).lower() in _LOCAL
