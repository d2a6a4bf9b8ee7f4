"""How much a Redis or Valkey server holds, and what happens when that is too much."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.quantity import bytes_
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.redis_settings import option

BASE = 950 * 1024
"""Bytes that an empty server counts as used (Valkey 9: ``used_memory`` at the start)."""
RESIDENT = 6 * MIB
"""Resident memory of an empty server: code, libraries, allocator."""
PER_KEY = 96
"""Bytes beside a key's name and value: the dictionary's entry and the object's header."""
FULL = "OOM command not allowed when used memory > 'maxmemory'."


def limit(ctx: ProcessContext) -> int:
    """``maxmemory`` in bytes; 0 for none."""
    text = option(ctx, "maxmemory").lower().strip()
    for unit, suffix in (("gb", "Gi"), ("mb", "Mi"), ("kb", "Ki"), ("b", "")):
        if text.endswith(unit):
            text = text[: -len(unit)] + suffix
            break
    digits = text.rstrip("GMKi")
    return int(bytes_(text)) if digits.isdecimal() and len(digits) < 15 else 0


def used(ctx: ProcessContext) -> int:
    """``used_memory``: what the server's own allocator has given out."""
    state = ctx.process.state
    keys: Mapping[str, str] = state.get("keys", {})
    own = sum(PER_KEY + len(name) + len(text) for name, text in keys.items())
    return BASE + own + int(state.get("bulk", 0))


def human(amount: int) -> str:
    """Bytes as ``INFO`` tells them to people."""
    if amount < 1024:
        return f"{amount}B"
    unit, size = ("K", 1024) if amount < MIB else ("M", MIB) if amount < 1024 * MIB else ("G", 1024 * MIB)
    return f"{amount / size:.2f}{unit}"


def full(ctx: ProcessContext) -> bool:
    """Whether commands that need memory are refused now: nothing may be evicted, or nothing that is left would do."""
    most = limit(ctx)
    kept = option(ctx, "maxmemory-policy") == "noeviction" or most < BASE
    return bool(most) and used(ctx) > most and kept


def store(ctx: ProcessContext, size: int, keys: int = 1) -> str:
    """Put keys of ``size`` bytes in all into a server; what it says where it refuses, empty where it has stored them.

    Beyond the container's limit the kernel kills the process. With a policy of eviction older keys make room, those of the
    application first: they are the least recently used where somebody floods the server.
    """
    if full(ctx):
        return FULL
    state = ctx.process.state
    bulk, count = int(state.get("bulk", 0)) + size, int(state.get("bulk_keys", 0)) + keys
    most = limit(ctx)
    if most and BASE + bulk > most and option(ctx, "maxmemory-policy") != "noeviction":
        share = max(most - BASE, 0) / bulk
        ctx.update(filled=(), bulk=int(bulk * share), bulk_keys=int(count * share))
    else:
        ctx.update(bulk=bulk, bulk_keys=count)
    ctx.set_memory(RESIDENT + used(ctx) - BASE)
    return ""
