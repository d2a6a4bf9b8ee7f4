"""CPU and memory: what teams ask for and allow, in the styles in which they do.

Never less than what runs here uses: limits are those of the application or wider, requests far below them. What every
request needs asks for no memory unless the published application does, so that a quota on memory can shut it out; and
what a lack of CPU would be felt at keeps its limit.
"""

from __future__ import annotations

from sregym_env.kube.quantity import bytes_, milli
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation.draft import BUSY, MI, Draft, Work

STYLES = {"preset": 0.25, "memory-limit": 0.25, "wide": 0.2, "guaranteed": 0.15, "plain": 0.15}
"""How a team writes resources: limits 1.5 times the requests, a limit on memory only, CPU limits far above requests,
equal, or as published."""

CPU_REQUESTS = (10, 25, 50, 100, 150, 200, 250)
"""Habits, milli-cores."""

MEMORY = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Habits, MiB."""

LEAST = 1.6
"""A memory request is at least so many times what the program uses at rest."""

MOST_CPU = 4000
"""Milli-cores that all requests together may come to, so that the smallest cluster has room."""


def draw(draft: Draft, chance: Chance) -> None:
    """Resources of every main container."""
    left = MOST_CPU
    for work in draft.works:
        style = chance.at("team", work.namespace).weighted("resources", STYLES)
        own = chance.at("resources", work.name)
        if own.yes("otherwise", 0.1):
            style = own.weighted("style", STYLES)
        declared = work.container.get("resources") or {}
        made = _cpu(draft, work, own, style, left // max(1, work.replicas))
        left -= milli((made.get("requests") or {}).get("cpu", "0")) * work.replicas
        _memory(draft, work, own, style, declared, made)
        if made:
            work.container["resources"] = {key: made[key] for key in ("requests", "limits") if made.get(key)}


def _cpu(draft: Draft, work: Work, chance: Chance, style: str, left: int) -> Manifest:
    declared = work.container.get("resources") or {}
    limit = (declared.get("limits") or {}).get("cpu")
    request = (declared.get("requests") or {}).get("cpu")
    if limit is None:
        # What may use all there is says how much it usually takes, or nothing.
        return {"requests": {"cpu": request}} if request is not None else {}
    wide = milli(limit)
    factor = chance.weighted("wider", {2: 0.5, 3: 0.2, 4: 0.2, 8: 0.1})
    most = wide * factor // 2
    kept = work.component.stateless or draft.share(work.component) >= BUSY
    if style == "memory-limit" and not kept:
        most = 0
    floor = 10 if style == "wide" else 50
    sizes = [size for size in CPU_REQUESTS if floor <= size <= max(left, floor)] or [10]
    asked = chance.choice("request", sizes)
    if style == "guaranteed" and 0 < most <= min(left, 250):
        asked = most
    if style == "plain" and request is not None and chance.yes("as published", 0.5):
        asked = milli(request)
    made: Manifest = {"requests": {"cpu": f"{min(asked, most or asked)}m"}}
    if most:
        made["limits"] = {"cpu": str(most // 1000) if most % 1000 == 0 else f"{most}m"}
    return made


def _memory(draft: Draft, work: Work, chance: Chance, style: str, declared: Manifest, made: Manifest) -> None:
    named = [kind for kind in ("requests", "limits") if (declared.get(kind) or {}).get("memory")]
    if not named and (draft.asked_per_request(work.component) or not work.component.memory):
        return
    used = work.component.memory / MI
    if not named and (style == "plain" or chance.yes("no memory", 0.25)):
        return
    sizes = [size for size in MEMORY if size >= used * LEAST][:4]
    asked = chance.choice("memory", sizes or [round(used * 2)])
    if named:
        # What the application says its program needs is its own word: it grows, never shrinks.
        asked = max(asked, *(bytes_(declared[kind]["memory"]) // MI for kind in named))
    factor = {"preset": 3, "guaranteed": 2}.get(style) or chance.choice("factor", (3, 4, 8))
    most = asked if asked >= 3 * used and style == "guaranteed" else asked * factor // 2
    if style != "memory-limit" or "requests" in named:
        made.setdefault("requests", {})["memory"] = f"{asked}Mi"
    if most >= 2.5 * used or "limits" in named:
        made.setdefault("limits", {})["memory"] = _written(max(most, round(2.5 * used)))


def _written(mebibytes: int) -> str:
    return f"{mebibytes // 1024}Gi" if mebibytes % 1024 == 0 else f"{mebibytes}Mi"
