"""A flag that turns on a code path that fails."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Create, ObjectRef
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh
from sregym_env.faults.commands import drop, mend, restart, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

SETTINGS = (
    ("LOG_LEVEL", ("info", "debug", "warn")), ("GC_PERCENT", ("100", "80")), ("HTTP_KEEPALIVE", ("true", "false")),
    ("METRICS_ENABLED", ("true", "false")), ("REQUEST_TIMEOUT", ("2s", "5s", "1500ms")), ("PPROF", ("false",)),
    ("LOCALE", ("en_US", "de_DE")), ("MAX_IDLE_CONNS", ("64", "128", "32")), ("TRACE_BAGGAGE", ("true", "false")),
    ("RESULTS_PER_PAGE", ("5", "10", "20")), ("ENABLE_COMPRESSION", ("true", "false")), ("SHOW_RATES", ("true",)),
)  # fmt: skip
"""Innocent settings that stand beside the flag."""


def _beside(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    """A few other settings of the ConfigMap."""
    chosen = chance.sample("settings", SETTINGS, chance.between("count", 0, 4))
    return {key: chance.choice(key, values) for key, values in chosen}


def _way(target: ComponentTarget, chance: Chance) -> str:
    return chance.choice("way", ("key", "own key", "all"))


@fault(
    layer="application",
    mechanism="feature_flag_enabled",
    targets=components(where=lambda target: bool(target.component.flag)),
    level="hard",
)
def feature_flag_latent_bug(
    target: ComponentTarget,
    name: str = drawn(
        fresh("configmaps", "{name}-runtime-config", "{name}-features", "{name}-flags", "{name}-env", "{name}-runtime",
              "{app}-{name}-env", "{name}-settings", "{name}-toggles", "{app}-features", "{name}-overrides"),
        published=lambda target: f"{target.name}-runtime-config",
    ),
    way: str = drawn(_way, published="key"),
    settings: dict[str, str] = drawn(_beside, published={}),
) -> Fault:  # fmt: skip
    """A runtime configuration flag turns on a dormant code path whose every request fails.

    ``way`` says how it reaches the container: by a ``key`` of the ConfigMap, by one with a name of its ``own key``, or
    with ``all`` that stands there.
    """
    flag = target.component.flag
    config = ObjectRef("configmaps", name, target.namespace)
    key = flag.lower().replace("_", "-") if way == "own key" else flag
    source: dict[str, Any] = {"name": flag, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}
    field = "env"
    if way == "all":
        field, source = "envFrom", {"configMapRef": {"name": name}}
    index = len(target.container.get(field) or ())
    off = f"kubectl patch configmap {name} -n {target.namespace} --type=merge -p "
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": target.namespace},
        "data": {**settings, key: "true"},
    }
    return Fault(
        resource=config,
        cause=f"ConfigMap {name} sets {key} to true, so that {target.name} runs with {flag}=true, a flag that turns on a "
        "code path which answers with internal server errors.",
        **revision(
            target, {target.container_path(field, "-"): source}, starts=True, before=[Create(config_map)]
        ),
        details={"field": key, "wrong": "true", "right": "false"},
        facts={"variable": flag},
        remedies=[
            [off + f'\'{{"data":{{"{key}":"false"}}}}\'', *restart(target, [target.name])],
            mend(target, drop(target.workload, target.container_path(field, index))),
        ],
        look=[f"kubectl get configmap {name} -n {target.namespace} -o yaml", show(target)],
        accepts=[target.workload],
        aliases=[flag],
    )
