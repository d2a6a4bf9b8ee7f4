"""An upgrade of the monitoring after which its alerts read labels that no series has: whatever happens, they stay silent.

Prometheus gives what an exporter says of a namespace another label name where it attaches its own (``exported_namespace``), and so do
collectors that follow OpenTelemetry's conventions (``k8s_namespace_name``). Rules were adapted to the one, series have the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.errors import ClusterError
from sregym_env.runtime.chance import Chance

NAMESPACE, NAME, FILE = "observe", "prometheus-server", "alerting_rules.yml"
LABELS = ("exported_namespace", "k8s_namespace_name", "kubernetes_namespace")
"""What the rules read since; the first in the application as it is published."""
PLACES: frozenset[ObjectKey] = frozenset(
    (("configmaps", NAMESPACE, NAME), ("deployments.apps", NAMESPACE, NAME))
)
"""What a repair of it may change and restart."""
KEEPER = "helm"
"""Whose releases the monitoring is."""
REFRESHED = 120.0
"""Seconds within which a kubelet has written a changed ConfigMap into its pods."""
AGO = (40000.0, 1.0)
"""Median, seconds, and spread (lognormal) of how long ago it was when something goes wrong."""
LONGEST = 3 * 86400.0

_READ = re.compile(r"([{,])namespace=~")


def renamed(text: str, label: str) -> str:
    """Rules whose selectors read another label than the namespace's."""
    return _READ.sub(rf"\1{label}=~", text)


def silence(world: World, chance: Chance | None, passes: Callable[[float, Chance], None] | None) -> None:
    """Have the rules changed and read, and then let hours pass, by ``passes`` where there is one.

    Raises ClusterError where no Prometheus runs that could read them.
    """
    cluster = world.cluster
    label = LABELS[0] if chance is None else str(chance.choice("label", LABELS))
    found = cluster.get("configmaps", NAME, NAMESPACE)
    data = {FILE: renamed(found["data"][FILE], label)}
    cluster.patch("configmaps", NAME, {"data": data}, namespace=NAMESPACE, type="merge", field_manager=KEEPER)
    world.advance(REFRESHED)
    _reload(world)
    if chance is not None and passes is not None:
        passes(min(LONGEST, chance.lognormal("ago", *AGO)), chance)


def _reload(world: World) -> None:
    pods = world.cluster.list("pods", NAMESPACE, label_selector="app.kubernetes.io/name=prometheus")
    for pod in pods:
        line = ["wget", "-q", "-O", "-", "--post-data", "", "http://localhost:9090/-/reload"]
        done = world.cluster.exec(NAMESPACE, pod["metadata"]["name"], line)
        if done.exit_code:
            raise ClusterError(f"{NAME}: {done.text.strip()}")
