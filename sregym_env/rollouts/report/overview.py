"""A run as the page shows it: a row per episode, estimates per policy and family of faults, and the configuration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.rollouts.intervals import rate
from sregym_env.rollouts.record import EpisodeRecord, Labels, Producer
from sregym_env.rollouts.report.transcript import cut
from sregym_env.rollouts.statistics import compare, ranked, summary


def overview(records: Sequence[EpisodeRecord], labels: Mapping[str, Labels]) -> dict[str, Any]:
    """Plain JSON; what the labels hold is in it where they are given."""
    names = policy_names(records)
    sides: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        sides.setdefault(names[producer(record)], []).append(record)
    policies = ranked(summary(listed, by="policy", name=name) for name, listed in sides.items())
    whole = summary(records)
    return {
        "all": whole.to_dict(),
        "policies": [each.to_dict() for each in policies],
        "comparisons": [
            compare(
                sides[other.name], sides[policies[0].name], names=(other.name, policies[0].name)
            ).to_dict()
            for other in policies[1:]
        ],
        "families": _families(sides, labels),
        "rows": _table(
            [_row(record, names[producer(record)], labels.get(record.rollout_id)) for record in records]
        ),
        "configuration": configuration(records),
    }


def outline(record: EpisodeRecord) -> EpisodeRecord:
    """A record without its texts, and of its steps only the last: what the numbers of a run are made of."""
    return record.model_copy(update={"messages": (), "tools": (), "steps": record.steps[-1:]})


def policy_names(records: Iterable[EpisodeRecord]) -> dict[str, str]:
    """What each policy (by :func:`producer`) is called on the page: by its name and model, and by its version and
    those settings in which it differs from others of that name."""
    known: dict[str, Producer] = {}
    for record in records:
        known.setdefault(producer(record), record.policy)
    alike: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for policy in known.values():
        alike.setdefault((policy.name, policy.model), []).append(_distinctive(policy))
    return {key: _called(policy, alike[policy.name, policy.model]) for key, policy in known.items()}


def producer(record: EpisodeRecord) -> str:
    """The same for the same policy, model and settings."""
    return json.dumps(record.policy.model_dump(mode="json"), sort_keys=True)


def _distinctive(policy: Producer) -> dict[str, Any]:
    return {"version": policy.version, **policy.settings}


def _called(policy: Producer, alike: Sequence[Mapping[str, Any]]) -> str:
    name = f"{policy.name} · {policy.model}" if policy.model else policy.name
    mine = _distinctive(policy)
    differing = [key for key in mine if any(other.get(key) != mine[key] for other in alike)]
    told = ", ".join(f"{key}={mine[key]}" for key in sorted(differing))
    return f"{name} ({cut(told, 60)})" if told else name


def families_of(labels: Labels | None) -> str:
    """The layers in which the faults of an episode lie; empty where that is not known."""
    if labels is None:
        return ""
    return " + ".join(dict.fromkeys(spec["layer"] for spec in labels.specs)) or "nothing wrong"


def _families(
    sides: Mapping[str, Sequence[EpisodeRecord]], labels: Mapping[str, Labels]
) -> list[dict[str, Any]]:
    """Success by family of faults and policy."""
    names = sorted({families_of(each) for each in labels.values()})
    told = []
    for name in names:
        of_policy = {}
        for policy, records in sides.items():
            mine = [
                record
                for record in records
                if record.trainable and families_of(labels.get(record.rollout_id)) == name
            ]
            estimate = rate([record.success for record in mine], [record.task_id for record in mine])
            of_policy[policy] = None if estimate is None else estimate.to_dict()
        told.append({"name": name, "policies": of_policy})
    return told


def _row(record: EpisodeRecord, policy: str, labels: Labels | None) -> dict[str, Any]:
    usage = record.usage
    return {
        "id": record.rollout_id,
        "policy": policy,
        "task": record.task_id,
        "family": families_of(labels),
        "fault": _joined(labels, "fault"),
        "target": _joined(labels, "target"),
        "seed": record.seed,
        "sample": record.sample_index,
        "scored": record.trainable,
        "success": record.success,
        "diagnosed": None if record.grade is None else record.grade["passed"],
        "repaired": None if record.oracle is None else record.oracle["passed"],
        "return": record.return_,
        "ttd": record.ttd_s,
        "ttm": record.ttm_s,
        "time": record.sim_time_s,
        "steps": record.steps[-1].t + 1 if record.steps else 0,
        "commands": record.commands,
        "tokens": None if usage is None else usage.total_tokens,
        "cost": None if usage is None else usage.cost_usd,
        "exit": record.exit_reason,
        "class": "" if record.failure is None else record.failure.kind,
        "reason": "" if record.failure is None else record.failure.reason,
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows with their columns' names said once."""
    return {"columns": list(rows[0]) if rows else [], "values": [list(row.values()) for row in rows]}


def _joined(labels: Labels | None, what: str) -> str:
    """Faults or where they struck; several of a kind are counted."""
    if labels is None:
        return ""
    if what == "fault":
        counted = Counter(spec["fault"] for spec in labels.specs)
        return " + ".join(name if count == 1 else f"{name} × {count}" for name, count in counted.items())
    targets = list(dict.fromkeys(name for spec in labels.specs for name in spec["components"][:1]))
    return ", ".join(targets) if len(targets) < 3 else f"{targets[0]} and {len(targets) - 1} more"


def configuration(records: Iterable[EpisodeRecord]) -> list[list[Any]]:
    """Every setting of the run and the values that it had, flattened: ``[name, [values]]``."""
    seen: dict[str, dict[str, None]] = {}
    for record in records:
        producer = {
            "version": record.policy.version,
            "model": record.policy.model,
            **record.policy.settings,
        }
        package = record.package.model_dump()
        flat = {
            **_flat("", record.config),
            **_flat(f"policy {record.policy.name}", producer),
            **_flat("package", package),
        }
        for name, value in flat.items():
            seen.setdefault(name, {})[value] = None
    return [[name, list(values)] for name, values in sorted(seen.items())]


def _flat(prefix: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {prefix: "" if value is None else str(value)}
    flat: dict[str, str] = {}
    for name, inner in value.items():
        flat.update(_flat(f"{prefix}.{name}" if prefix else str(name), inner))
    return flat
