"""The ``stats`` block of Loki's answers: what was read, and how long it took by the machine that we pretend to be."""

from __future__ import annotations

from typing import Any

from sregym_env.telemetry.logql.scan import Scan

BASE_SECONDS = 0.0025
"""What a query takes that reads nothing."""
LINE_SECONDS = 4e-7
"""What a line takes: a single binary reads some two million of them a second."""


def _store(lines: int, size: int, kept: int, chunks: int) -> dict[str, Any]:
    return {
        "totalChunksRef": chunks,
        "totalChunksDownloaded": chunks,
        "chunksDownloadTime": 0,
        "queryReferencedStructuredMetadata": False,
        "chunk": {
            "headChunkBytes": 0,
            "headChunkLines": 0,
            "decompressedBytes": size,
            "decompressedLines": lines,
            "compressedBytes": size // 8,
            "totalDuplicates": 0,
            "postFilterLines": kept,
            "headChunkStructuredMetadataBytes": 0,
            "decompressedStructuredMetadataBytes": 0,
        },
        "chunkRefsFetchTime": 0,
        "congestionControlLatency": 0,
        "pipelineWrapperFilteredLines": 0,
    }


_CACHES = (
    "chunk", "index", "result", "statsResult", "volumeResult", "seriesResult", "labelResult", "instantMetricResult",
)  # fmt: skip


def statistics(scan: Scan, entries: int) -> dict[str, Any]:
    """The block for a query that has read this and returns so many lines (0 for metrics)."""
    seconds = BASE_SECONDS + scan.lines * LINE_SECONDS
    chunks = (scan.bytes + 1_572_863) // 1_572_864
    return {
        "summary": {
            "bytesProcessedPerSecond": int(scan.bytes / seconds),
            "linesProcessedPerSecond": int(scan.lines / seconds),
            "totalBytesProcessed": scan.bytes,
            "totalLinesProcessed": scan.lines,
            "execTime": round(seconds, 9),
            "queueTime": 0,
            "subqueries": 0,
            "totalEntriesReturned": entries,
            "splits": 0,
            "shards": 0,
            "totalPostFilterLines": scan.kept,
            "totalStructuredMetadataBytesProcessed": 0,
        },
        "querier": {"store": _store(0, 0, 0, 0)},
        "ingester": {
            "totalReached": 1,
            "totalChunksMatched": chunks,
            "totalBatches": (scan.kept + 511) // 512,
            "totalLinesSent": scan.kept,
            "store": _store(scan.lines, scan.bytes, scan.kept, chunks),
        },
        "cache": {
            name: {
                "entriesFound": 0,
                "entriesRequested": 0,
                "entriesStored": 0,
                "bytesReceived": 0,
                "bytesSent": 0,
                "requests": 0,
                "downloadTime": 0,
                "queryLengthServed": 0,
            }
            for name in _CACHES
        },
        "index": {"totalChunks": 0, "postFilterChunks": 0, "shardsDuration": 0, "usedBloomFilters": False},
    }
