"""The disruption controller: how many pods a PodDisruptionBudget can spare now (``pkg/controller/disruption``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.kube import conditions
from sregym_env.kube.registry import by_kind
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods
from sregym_env.sim.controllers.ownership import controller_of
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.controllers.rollout import scaled
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Change, Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "poddisruptionbudgets.policy"
COMPONENT = "controllermanager"


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the status of one budget up to date."""
    budget = world.store.get(RESOURCE, *key)
    if budget is None:
        return None
    matches = from_dict(budget["spec"].get("selector")).matches
    selected = [
        pod
        for pod in world.store.list("pods", key[0])
        if matches(pod["metadata"].get("labels")) and not pods.is_finished(pod)
    ]
    if not selected:
        events.record(world, budget, "Normal", "NoPods", "No matching pods found", component=COMPONENT)
    try:
        expected, desired = _wanted(world, budget, selected)
    except _Unscalable as error:
        _fail(world, budget, str(error))
        return None
    _warn_of_unmanaged(world, budget, selected)
    healthy = sum(pods.is_ready(pod) and not pods.is_terminating(pod) for pod in selected)
    allowed = max(0, healthy - desired) if expected > 0 else 0
    verdict = ("True", "SufficientPods") if allowed > 0 else ("False", "InsufficientPods")
    before = budget.get("status") or {}
    status: dict[str, Any] = {
        "observedGeneration": budget["metadata"].get("generation", 1),
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "conditions": conditions.put_in_place(
            before.get("conditions") or (), world.now(), "DisruptionAllowed", *verdict, ""
        ),
    }
    apiserver.update_status(world, RESOURCE, *key, status)
    return None


class _Unscalable(Exception):
    """A pod's controller has no scale from which to tell how many pods are expected."""


def _fail(world: SimWorld, budget: Manifest, text: str) -> None:
    """Say why nothing may be disrupted."""
    about = f"Failed to calculate the number of expected pods: {text}"
    events.record(world, budget, "Warning", "CalculateExpectedPodCountFailed", about, component=COMPONENT)
    before = budget.get("status") or {}
    listed = before.get("conditions") or ()
    verdict = ("DisruptionAllowed", "False", "SyncFailed", text)
    found = conditions.put_in_place(listed, world.now(), *verdict)
    metadata = budget["metadata"]
    status = {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
        **before,
        "observedGeneration": metadata.get("generation", 1),
        "disruptionsAllowed": 0,
        "conditions": found,
    }
    apiserver.update_status(world, RESOURCE, metadata["namespace"], metadata["name"], status)


def _warn_of_unmanaged(world: SimWorld, budget: Manifest, selected: list[Manifest]) -> None:
    spec = budget["spec"]
    if "maxUnavailable" not in spec and isinstance(spec.get("minAvailable", 1), int):
        return
    if any(controller_of(pod) is None for pod in selected):
        text = (
            "Pods selected by this PodDisruptionBudget (selector: "
            f"{from_dict(spec.get('selector'))}) were found to be unmanaged. As a result, the status of the PDB "
            "cannot be calculated correctly, which may result in undefined behavior. To account for these pods "
            'please set ".spec.minAvailable" field of the PDB to an integer value.'
        )
        events.record(world, budget, "Warning", "UnmanagedPods", text, component=COMPONENT)


def _wanted(world: SimWorld, budget: Manifest, selected: list[Manifest]) -> tuple[int, int]:
    """(expected pods, pods that must stay healthy)."""
    spec = budget["spec"]
    if "maxUnavailable" in spec:
        expected = _expected(world, selected)
        return expected, max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
    least = spec.get("minAvailable", 1)
    if isinstance(least, int):
        return len(selected), least
    expected = _expected(world, selected)
    return expected, scaled(least, expected, up=True)


def _expected(world: SimWorld, selected: list[Manifest]) -> int:
    """Replicas that the pods' controllers want together; a Deployment stands for its ReplicaSets."""
    wanted: dict[str, int] = {}
    for pod in selected:
        owner = _scalable(world, pod)
        if owner is not None:
            wanted[owner["metadata"]["uid"]] = owner["spec"].get("replicas", 1)
    return sum(wanted.values())


def _scalable(world: SimWorld, pod: Manifest) -> Manifest | None:
    found: Manifest | None = None
    obj = pod
    for _ in range(2):
        reference = controller_of(obj)
        resource = None if reference is None else by_kind(reference["apiVersion"], reference["kind"])
        if reference is None or resource is None:
            return found
        if "scale" not in resource.subresources:
            if found is None:
                raise _Unscalable(f"{resource.key} does not implement the scale subresource")
            return found
        owner = world.store.get(resource.key, pod["metadata"]["namespace"], reference["name"])
        if owner is None:
            return found
        found = obj = owner
    return found


def _budgets_of(world: SimWorld, change: Change) -> Iterable[Key]:
    budgets = world.store.list(RESOURCE, change.key[0])
    if not budgets or not pods.matters_to_owner(change):
        return
    for budget in budgets:
        matches = from_dict(budget["spec"].get("selector")).matches
        if any(matches(obj["metadata"].get("labels")) for obj in (change.old, change.new) if obj is not None):
            yield (change.key[0], budget["metadata"]["name"])


def _budgets_in(world: SimWorld, change: Change) -> Iterable[Key]:
    """A workload whose size changed may change what is expected of its pods."""
    old, new = change.old, change.new
    if old is not None and new is not None and old["spec"].get("replicas") == new["spec"].get("replicas"):
        return
    for budget in world.store.list(RESOURCE, change.key[0]):
        yield (change.key[0], budget["metadata"]["name"])


def _budget_changed(_: SimWorld, change: Change) -> Iterable[Key]:
    old, new = change.old, change.new
    if old is not None and new is not None and old.get("spec") == new.get("spec"):
        # Its own status write: counting again would only repeat the event.
        return ()
    return own_key(_, change)


CONTROLLER = Controller(
    "disruption",
    {
        RESOURCE: _budget_changed,
        "pods": _budgets_of,
        "deployments.apps": _budgets_in,
        "replicasets.apps": _budgets_in,
        "statefulsets.apps": _budgets_in,
    },
    retried("disruption", reconcile),
)
