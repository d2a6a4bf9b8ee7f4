"""``/healthz``, ``/livez`` and ``/readyz`` over HTTP."""

from __future__ import annotations

from sregym_env.kube.health import ENDPOINTS, checks, report
from sregym_env.serve.message import Request, Response, text_response

__all__ = ["ENDPOINTS", "answer", "checks"]


def answer(path: str, request: Request) -> Response:
    """Answer a request to an endpoint or to one of its checks. Raises NotFound for an unknown check."""
    verbose, excluded = "verbose" in request.query, request.query.get("exclude", ())
    return text_response(report(path, verbose=verbose, excluded=excluded))
