"""A mutating admission webhook that holds the resources of new pods below the ceilings of a policy file.

Platform teams run such servers, so that nobody takes more than a share. Nothing that declares a pod is touched: the pod
is another one than its template says, from its creation on.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.cluster.key_pairs import pair_problem
from sregym_env.kube.durations import rfc3339_micro
from sregym_env.kube.quantity import nano
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.yaml_files import document, under
from sregym_env.sim.world.program import HttpRequest, HttpResponse

WORK = 0.0012
"""Seconds to answer a review."""

FLAGS: Mapping[str, str] = {
    "policy": "/etc/resource-policy/policy.yaml",
    "tls-cert-file": "/certs/tls.crt",
    "tls-private-key-file": "/certs/tls.key",
    "port": "8443",
}
"""The server's options and their defaults."""


def flags_of(argv: list[str]) -> dict[str, str]:
    """Options of a command line, each ``--name=value``. Raises ValueError that names one that there is not."""
    found = dict(FLAGS)
    for word in argv[1:]:
        name, _, value = word.lstrip("-").partition("=")
        if name not in FLAGS:
            raise ValueError(f"flag provided but not defined: -{name}")
        found[name] = value
    if not found["port"].isdecimal():
        raise ValueError(f'invalid value "{found["port"]}" for flag -port: parse error')
    return found


def ceilings_of(text: str) -> dict[str, str]:
    """The ceilings of a policy file, by resource. Raises ValueError with what is wrong with it."""
    ceilings = under(document(text), "ceilings")
    if not isinstance(ceilings, dict):
        raise ValueError("policy has no ceilings")
    for name, value in ceilings.items():
        if not isinstance(value, str | int | float):
            raise ValueError(f"ceiling of {name} is no quantity")
        nano(value)
    return {str(name): str(value) for name, value in ceilings.items()}


def capped(resources: Mapping[str, Any], ceilings: Mapping[str, str]) -> dict[str, Any]:
    """A container's resources held to the ceilings: a limit above one, or none, becomes the ceiling; a request above it too.

    What is no quantity stays for the API server to refuse.
    """
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    for name, ceiling in ceilings.items():
        if name not in limits or _above(limits[name], ceiling):
            limits[name] = ceiling
        if name in requests and _above(requests[name], ceiling):
            requests[name] = ceiling
    found = {**resources, "limits": limits}
    if requests:
        found["requests"] = requests
    return found


def _above(value: Any, ceiling: str) -> bool:
    try:
        return nano(value) > nano(ceiling)
    except (ValueError, TypeError):
        return False


def operations(pod: Mapping[str, Any], ceilings: Mapping[str, str]) -> list[dict[str, Any]]:
    """The JSON patch that holds every container of a pod to the ceilings; empty where they all keep to them."""
    found = []
    for index, container in enumerate((pod.get("spec") or {}).get("containers") or ()):
        resources = container.get("resources") or {}
        held = capped(resources, ceilings)
        if held != resources:
            found.append({"op": "add", "path": f"/spec/containers/{index}/resources", "value": held})
    return found


class ResourcePolicy(Quiet):
    """The server. Its policy is read at every review, so that it follows the file."""

    name = "resource_policy"

    def start(self, ctx: ProcessContext) -> None:
        """Load certificate and policy, then serve."""
        ctx.set_memory(14 * MIB)
        if ctx.over_limit:
            return
        try:
            flags = flags_of(list(ctx.process.argv))
            texts = [ctx.read(flags[name]) for name in ("tls-cert-file", "tls-private-key-file")]
            problem = pair_problem(*texts)
            if problem:
                raise ValueError(problem)
            ceilings = ceilings_of(ctx.read(flags["policy"]))
            ctx.listen(int(flags["port"]))
        except FileNotFoundError as error:
            _say(ctx, "ERROR", f"open {error.filename}: no such file or directory")
            ctx.exit(1, delay=0.05)
            return
        except (OSError, ValueError) as error:
            _say(ctx, "ERROR", str(error))
            ctx.exit(1, delay=0.05)
            return
        told = " ".join(f"{name}={value}" for name, value in ceilings.items())
        _say(ctx, "INFO", "policy loaded", told)
        _say(ctx, "INFO", "serving", f"addr=:{flags['port']}")
        ctx.update(tls={int(flags["port"]): texts[0]})

    def certificate(self, ctx: ProcessContext, port: int) -> str:
        """The certificate that was loaded at start."""
        return str(ctx.process.state.get("tls", {}).get(port, ""))

    def handshake_failed(self, ctx: ProcessContext, client: str, text: str) -> None:
        """Go's HTTP server logs it."""
        _say(ctx, "ERROR", f"http: TLS handshake error from {client}: {text}")

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """``/healthz``, and ``/mutate`` for the API server's reviews."""
        path = request.path.partition("?")[0]
        if path == "/healthz":
            return HttpResponse(200, "ok", {"Content-Type": "text/plain; charset=utf-8"}, WORK / 2)
        if path != "/mutate":
            return HttpResponse(
                404, "404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"}, WORK / 2
            )
        try:
            review = orjson.loads(request.body)
            asked, pod = review["request"], review["request"]["object"]
            uid, version = asked["uid"], review["apiVersion"]
        except (ValueError, KeyError, TypeError):
            return HttpResponse(400, "cannot decode AdmissionReview\n", {}, WORK)
        try:
            patch = operations(pod, ceilings_of(ctx.read(flags_of(list(ctx.process.argv))["policy"])))
        except (OSError, ValueError) as error:
            _say(ctx, "ERROR", "policy cannot be read", f'error="{error}"')
            return HttpResponse(500, f"policy: {error}\n", {}, WORK)
        answer: dict[str, Any] = {"uid": uid, "allowed": True}
        if patch:
            metadata = pod.get("metadata") or {}
            name = metadata.get("name") or metadata.get("generateName", "")
            _say(
                ctx,
                "INFO",
                "resources capped",
                f"namespace={asked.get('namespace', '')} pod={name} containers={len(patch)}",
            )
            answer |= {"patch": b64encode(orjson.dumps(patch)).decode(), "patchType": "JSONPatch"}
        body = {"kind": "AdmissionReview", "apiVersion": version, "response": answer}
        return HttpResponse(200, orjson.dumps(body).decode(), {"Content-Type": "application/json"}, WORK)


def _say(ctx: ProcessContext, level: str, message: str, more: str = "") -> None:
    """A line as Go's ``log/slog`` writes it."""
    stamp = rfc3339_micro(ctx.now())
    ctx.log(f'time={stamp[:23]}Z level={level} msg="{message}"{" " if more else ""}{more}')
