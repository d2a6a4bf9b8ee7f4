"""``agnhost crd-conversion-webhook``: converts ``stable.example.com`` objects between v1 and v2.

Version 1 has ``hostPort: "host:port"`` where version 2 has ``host`` and ``port``. Texts are those of the published
test image.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.kube.status import go_quote
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.agnhost.line import NOT_FOUND, WORK, Invocation, klog, plain
from sregym_env.sim.world.program import HttpRequest, HttpResponse

_V1, _V2 = "stable.example.com/v1", "stable.example.com/v2"


class _Refused(Exception):
    """An object that cannot be converted."""


def serve(ctx: ProcessContext, _: Invocation, request: HttpRequest, __: int) -> HttpResponse | None:
    """Answer one request."""
    path = request.path.partition("?")[0]
    if path == "/readyz":
        return plain("ok")
    if path != "/crdconvert":
        return NOT_FOUND
    try:
        review = orjson.loads(request.body)
        asked, version = review["request"], str(review["apiVersion"])
    except (ValueError, KeyError, TypeError) as error:
        text = f"failed to deserialize body ({request.body}) with error {error}"
        klog(ctx, "E", "framework.go:145", text)
        return plain(text, 400)
    if review.get("kind") != "ConversionReview" or not version.startswith("apiextensions.k8s.io/"):
        text = f"Unsupported group version kind: {version}, Kind={review.get('kind', '')}"
        klog(ctx, "E", "framework.go:150", text)
        return plain(text, 400)
    body = {"kind": "ConversionReview", "apiVersion": version, "response": _answer(ctx, asked)}
    return HttpResponse(200, orjson.dumps(body).decode(), {"Content-Type": "application/json"}, WORK)


def _answer(ctx: ProcessContext, asked: Mapping[str, Any]) -> dict[str, Any]:
    wanted = str(asked.get("desiredAPIVersion") or "")
    try:
        objects = [_converted(obj, wanted) for obj in asked.get("objects") or ()]
    except _Refused as error:
        klog(ctx, "E", "framework.go:60", str(error))
        result = {"metadata": {}, "status": "Failure", "message": str(error)}
        return {"uid": asked.get("uid", ""), "convertedObjects": None, "result": result}
    success = {"metadata": {}, "status": "Success"}
    return {"uid": asked.get("uid", ""), "convertedObjects": objects, "result": success}


def _converted(obj: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    own = str(obj.get("apiVersion") or "")
    if own == wanted:
        raise _Refused(f"conversion from a version to itself should not call the webhook: {wanted}")
    if own not in (_V1, _V2):
        raise _Refused(f"unexpected conversion version {go_quote(own)}")
    if wanted != (_V2 if own == _V1 else _V1):
        raise _Refused(f"unexpected conversion version {go_quote(wanted)}")
    made = {**obj, "apiVersion": wanted}
    if own == _V1:
        joined = made.pop("hostPort", None)
        if joined is not None:
            parts = str(joined).split(":")
            if len(parts) != 2:
                raise _Refused(f"invalid hostPort value `{joined}`")
            made["host"], made["port"] = parts
    elif "host" in made or "port" in made:
        made["hostPort"] = f"{made.pop('host', '')}:{made.pop('port', '')}"
    return made
