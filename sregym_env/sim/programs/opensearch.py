"""``opensearch``: one node without security, in which the collector puts the logs of the application.

What it holds is what it was sent: one index per day, documents as many as requests of ``index`` it has served.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.totals import served
from sregym_env.sim.world.program import Call, Flow, HttpRequest, HttpResponse, Usage

HTTP_PORT = 9200
TRANSPORT_PORT = 9300
VERSION = "3.4.0"
START_SECONDS = 14.0
"""Assumed time from the start of the virtual machine to an open port."""
DOCUMENT_BYTES = 1400
"""Assumed size of a document in an index."""

_JSON = {"content-type": "application/json; charset=UTF-8"}
_TEXT = {"content-type": "text/plain; charset=UTF-8"}


def heap(options: str, default: int) -> int:
    """Bytes that ``-Xmx`` allows in a line of options for a Java virtual machine; ``default`` where it says nothing."""
    for word in reversed(options.split()):
        if word.startswith("-Xmx"):
            text = word[4:].strip()
            unit = {"k": "Ki", "m": "Mi", "g": "Gi"}.get(text[-1:].lower())
            number = text[:-1] if unit else text
            if number.isdecimal() and len(number) < 12:
                return int(bytes_(number + (unit or "")))
    return default


class OpenSearch(Quiet):
    """The node; ``settings`` of its binary hold its version."""

    name = "opensearch"

    def start(self, ctx: ProcessContext) -> None:
        """Allocate the heap, then take a while to become a cluster of one."""
        size = heap(ctx.process.env.get("OPENSEARCH_JAVA_OPTS", ""), 1024 * MIB)
        # With -Xms the heap is reserved; what is touched of it, and what is beside it, makes the resident memory.
        ctx.set_memory(size + 330 * MIB)
        if ctx.over_limit:
            return
        _log(
            ctx,
            "INFO",
            "o.o.n.Node",
            f"version[{VERSION}], pid[1], build[tar/unknown], JVM[OpenJDK/21.0.9]",
            2.0,
        )
        ctx.wake_in(START_SECONDS, "ready")

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Open the ports."""
        if reason != "ready":
            return
        try:
            ctx.listen(HTTP_PORT, TRANSPORT_PORT, 9600)
        except OSError:
            _log(
                ctx,
                "ERROR",
                "o.o.b.OpenSearchUncaughtExceptionHandler",
                "BindHttpException[Failed to bind to 0.0.0.0:9200]",
            )
            ctx.exit(1)
            return
        _log(ctx, "INFO", "o.o.h.AbstractHttpServerTransport", "publish_address {" + f"{ctx.process.ip}:{HTTP_PORT}" + "}, bound_addresses {[::]:9200}")  # fmt: skip
        _log(ctx, "INFO", "o.o.n.Node", "started")
        _log(ctx, "INFO", "o.o.c.r.a.AllocationService", 'Cluster health status changed from [RED] to [GREEN] (reason: [shards started]).')  # fmt: skip

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """An indexing request or a search."""
        return Flow(1.0, 0.006 if call.operation == "index" else 0.012)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The REST interface, as far as people look at the state of a node."""
        if port != HTTP_PORT:
            return None
        path, _, query = request.path.partition("?")
        path = path.rstrip("/")
        verbose = any(part == "v" or part.startswith("v=t") or part == "v=" for part in query.split("&"))
        match path.split("/")[1:]:
            case []:
                return _answer(_root(ctx))
            case ["_cluster", "health", *_]:
                return _answer(_health(ctx))
            case ["_cat", "indices", *_]:
                return HttpResponse(200, _indices(ctx, verbose), _TEXT, 0.004)
            case ["_cat", "health"]:
                count = len(indices(ctx))
                line = f"{ctx.wall() // SECOND} opensearch green 1 1 true {count} {count} 0 0 0 0 - 100.0%\n"
                return HttpResponse(200, line, _TEXT, 0.004)
            case [names, "_search"] | ["_search" as names]:
                return _search(ctx, names, query)
            case [names, "_count"]:
                total = sum(n for name, n in indices(ctx) if _matches(names, name))
                return _answer(
                    {"count": total, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}}
                )
            case [name] if any(_matches(name, known) for known, _ in indices(ctx)):
                return HttpResponse(200, "{}", _JSON)
        return _missing(path.strip("/").partition("/")[0])

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Close the node."""
        for text in ("stopping ...", "stopped", "closing ...", "closed"):
            _log(ctx, "INFO", "o.o.n.Node", text)
        return 1.5, 143

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Refreshes and merges at rest; a third of a millisecond per document."""
        return Usage(0.012 + 0.0003 * sum(rates.values()), ctx.process.memory)


def indices(ctx: ProcessContext) -> list[tuple[str, int]]:
    """(name, documents) of every index that the collector has made."""
    documents = int(served(ctx, "index"))
    if not documents:
        return []
    day = datetime.fromtimestamp(ctx.wall() // SECOND, UTC)
    return [(f"otel-logs-{day:%Y-%m-%d}", documents)]


def _log(ctx: ProcessContext, level: str, logger: str, text: str, delay: float = 0.0) -> None:
    time = datetime.fromtimestamp((ctx.wall() + int(delay * SECOND)) // SECOND, UTC)
    name = ctx.process.hostname
    ctx.log(f"[{time:%Y-%m-%dT%H:%M:%S},{ctx.wall() % SECOND // 1000:03d}][{level:<5}][{logger[-25:]:<25}] [{name}] {text}", delay=delay)  # fmt: skip


def _answer(document: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(status, orjson.dumps(document).decode(), _JSON, 0.004)


def _uuid(ctx: ProcessContext, of: str) -> str:
    return f"{keyed_bits(ctx.world.streams.seed, of, ctx.process.key[0]):016x}"


def _cluster(ctx: ProcessContext) -> str:
    return ctx.process.env.get("cluster.name", "opensearch-cluster")


def _root(ctx: ProcessContext) -> dict[str, Any]:
    version = {"distribution": "opensearch", "number": VERSION, "build_type": "tar", "lucene_version": "10.3.2",
               "minimum_wire_compatibility_version": "2.19.0", "minimum_index_compatibility_version": "2.0.0"}  # fmt: skip
    return {"name": ctx.process.hostname, "cluster_name": _cluster(ctx), "cluster_uuid": _uuid(ctx, "cluster"),
            "version": version, "tagline": "The OpenSearch Project: https://opensearch.org/"}  # fmt: skip


def _health(ctx: ProcessContext) -> dict[str, Any]:
    count = len(indices(ctx))
    # The index template of the collector asks for one replica, which a single node cannot hold.
    return {"cluster_name": _cluster(ctx), "status": "yellow" if count else "green", "timed_out": False,
            "number_of_nodes": 1, "number_of_data_nodes": 1, "discovered_master": True,
            "discovered_cluster_manager": True, "active_primary_shards": count, "active_shards": count,
            "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": count,
            "delayed_unassigned_shards": 0, "number_of_pending_tasks": 0, "number_of_in_flight_fetch": 0,
            "task_max_waiting_in_queue_millis": 0,
            "active_shards_percent_as_number": 50.0 if count else 100.0}  # fmt: skip


def _indices(ctx: ProcessContext, verbose: bool) -> str:
    head = "health status index                uuid                   pri rep docs.count docs.deleted store.size pri.store.size\n"
    lines = [head] if verbose else []
    for name, documents in indices(ctx):
        size = _size(documents * DOCUMENT_BYTES)
        lines.append(
            f"yellow open   {name:<20} {_uuid(ctx, name) + 'Zk3x9Q':<22}   1   1 {documents:>10} {0:>12} {size:>10} {size:>14}\n"
        )
    return "".join(lines)


def _size(count: int) -> str:
    for unit, scale in (("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f}{unit}"
    return f"{count}b"


def _matches(pattern: str, name: str) -> bool:
    return any(
        part in ("_all", "_search", "*")
        or part == name
        or (part.endswith("*") and name.startswith(part[:-1]))
        for part in pattern.split(",")
    )


def _search(ctx: ProcessContext, names: str, query: str) -> HttpResponse:
    found = [(name, count) for name, count in indices(ctx) if _matches(names, name)]
    if not found and names != "_search" and "*" not in names:
        return _missing(names)
    total = sum(count for _, count in found)
    hits: dict[str, Any] = {"total": {"value": min(total, 10_000), "relation": "gte" if total > 10_000 else "eq"},
            "max_score": 1.0 if total else None, "hits": []}  # fmt: skip
    shards = {"total": len(found), "successful": len(found), "skipped": 0, "failed": 0}
    return _answer({"took": 3, "timed_out": False, "_shards": shards, "hits": hits})


def _missing(name: str) -> HttpResponse:
    cause = {"type": "index_not_found_exception", "reason": f"no such index [{name}]", "index": name,
             "resource.id": name, "resource.type": "index_or_alias", "index_uuid": "_na_"}  # fmt: skip
    return _answer({"error": {"root_cause": [cause], **cause}, "status": 404}, 404)
