"""What each shortcut earned: one row per policy, as plain JSON and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sregym_env.rollouts.intervals import Estimate
from sregym_env.rollouts.shortcuts.limits import Finding, counted, diagnosed, findings, repaired, reward
from sregym_env.rollouts.shortcuts.playing import Outcome, Unplayed
from sregym_env.rollouts.shortcuts.shortcut import Shortcut


def report(
    shortcuts: Sequence[Shortcut],
    outcomes: Sequence[Outcome],
    unplayed: Sequence[Unplayed] = (),
    *,
    sampled: bool = False,
) -> dict[str, Any]:
    """Everything about a run as plain JSON."""
    judged = findings(shortcuts, outcomes, sampled=sampled)
    return {
        "policies": [row(shortcut, outcomes) for shortcut in shortcuts],
        "limits": [told(each) for each in judged],
        "kept": not any(each.broken for each in judged) and not unplayed,
        "sampled": sampled,
        "worlds": len({(each.pair, each.seed) for each in outcomes}),
        "unplayed": [{"pair": each.pair, "seed": each.seed, "error": each.error} for each in unplayed],
        "outcomes": [each.to_dict() for each in outcomes],
    }


def row(shortcut: Shortcut, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What one shortcut earned, with intervals."""
    own = counted(outcomes, shortcut.name)
    void = sum(1 for each in outcomes if each.policy == shortcut.name) - len(own)
    return {
        "policy": shortcut.name,
        "group": shortcut.group,
        "knows": shortcut.knows,
        "episodes": len(own),
        "void": void,
        "repaired": _estimate(repaired(own)),
        "diagnosed": _estimate(diagnosed(own)),
        "reward": _estimate(reward(own)),
    }


def told(finding: Finding) -> dict[str, Any]:
    """A limit and what was reached, as plain JSON."""
    limit = finding.limit
    return {
        "limit": f"{limit.of}: {limit.what} at most {limit.most:g}",
        "kind": limit.kind,
        "policy": finding.policy,
        "reached": finding.reached.to_dict(),
        "holds": finding.holds,
    }


def _estimate(value: Estimate | None) -> dict[str, Any] | None:
    return None if value is None else value.to_dict()


def lines(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of policies as they are printed."""
    return [
        {
            "policy": each["policy"],
            "group": each["group"],
            "repaired %": _shown(each["repaired"], 100, 1),
            "diagnosed %": _shown(each["diagnosed"], 100, 1),
            "mean reward": _shown(each["reward"], 1, 3),
            "n": f"{each['episodes']}" + (f" ({each['void']} void)" if each["void"] else ""),
            "knows and does": each["knows"],
        }
        for each in rows
    ]


def worst(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Per limit of a report, the policy that reached most, and on which faults."""
    limits: list[dict[str, Any]] = result["limits"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in limits:
        key = (each["limit"], each["kind"])
        if key not in found or each["reached"]["value"] > found[key]["reached"]["value"]:
            found[key] = each
    return [
        {
            "limit": each["limit"],
            "kind": each["kind"],
            "worst policy": each["policy"],
            "reached": _shown(each["reached"], 1, 3),
            "verdict": _verdict(limits, each),
            "mostly": mostly(result["outcomes"], each["policy"]),
        }
        for each in found.values()
    ]


def mostly(outcomes: Sequence[dict[str, Any]], policy: str, count: int = 4) -> str:
    """The faults on which a policy earned most often, with how often."""
    won = Counter(each["fault"] for each in outcomes if each["policy"] == policy and each["reward"] > 0)
    played = Counter(each["fault"] for each in outcomes if each["policy"] == policy)
    ordered = sorted(won.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{fault} {times}/{played[fault]}" for fault, times in ordered[:count]]
    return ", ".join(told + [f"{len(ordered) - count} more"] * (len(ordered) > count))


def _verdict(limits: Sequence[dict[str, Any]], worst_one: dict[str, Any]) -> str:
    alike = [each for each in limits if each["limit"] == worst_one["limit"]]
    beyond = sum(not each["holds"] for each in alike)
    return f"BROKEN by {beyond} of {len(alike)}" if beyond else "kept"


def _shown(value: dict[str, Any] | None, scale: float, digits: int) -> str:
    return "-" if value is None else Estimate(**value).text(digits, scale)
