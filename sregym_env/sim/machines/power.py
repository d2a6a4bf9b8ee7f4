"""Machines that go down and come up again: what a reboot, planned or not, does to a node and its pods.

A machine without power is silent (:mod:`~sregym_env.sim.machines.heartbeats`) and runs nothing. When it is up
again its kubelet says so, and every container of every pod on it starts once more.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.types import Manifest
from sregym_env.runtime.clock import MINUTE, seconds
from sregym_env.sim import apiserver
from sregym_env.sim.machines import heartbeats, leaders, nodes
from sregym_env.sim.machines.kubelet import reboots
from sregym_env.sim.network import addressing
from sregym_env.sim.programs.machine import kubelet_unit, time_service
from sregym_env.sim.world import Handler, SimWorld
from sregym_env.sim.world.figures import read_only
from sregym_env.sim.world.plan import ClusterPlan, Upkeep

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
"""The taint that cordoned nodes get."""
GONE_AFTER = 3 * MINUTE
"""From the beginning of a drain to the machine's end, so that pods end in their own time."""
OUTAGE = 75.0
"""Seconds from the shutdown of a virtual machine to its kubelet's start, where nothing else is said."""
_CUT = "node.cut:"
"""``world.memory`` key of a machine whose kubelet has not run yet since its power was cut."""


def cut(world: SimWorld, name: str) -> None:
    """Take a machine's power away. Nothing happens to one that has none."""
    if off(world, name):
        return
    world.memory[f"{kubelet_unit.OFF}{name}"] = True
    reboots.cut(world, name)
    if f"node.down:{name}" not in world.memory:
        heartbeats.fall_silent(world, name)
    leaders.look(world)
    world.touch()


def boot(world: SimWorld, name: str) -> None:
    """Let a machine without power start: a new boot ID, a Ready node, and all its pods' containers again."""
    if not off(world, name) or world.store.get("nodes", "", name) is None:
        return
    del world.memory[f"{kubelet_unit.OFF}{name}"]
    world.memory[f"{_CUT}{name}"] = True
    kubelet_unit.boot(world, name)
    time_service.boot(world, name)
    follow(world, name)


def off(world: SimWorld, name: str) -> bool:
    """Whether a machine has no power."""
    return kubelet_unit.off(world, name)


def refusal(world: SimWorld, pod: Manifest) -> tuple[str, str] | None:
    """The address of a pod's kubelet, and what whoever dials it is told where it does not answer; None where it does."""
    name = pod["spec"].get("nodeName", "")
    if not name or f"node.down:{name}" not in world.memory:
        return None
    address = f"{addressing.node_address(world, name)}:10250"
    what = "i/o timeout" if off(world, name) else "connect: connection refused"
    return address, f"dial tcp {address}: {what}"


def follow(world: SimWorld, name: str) -> None:
    """Let the cluster see whether a machine's kubelet runs."""
    if off(world, name):
        return
    if not kubelet_unit.runs(world, name):
        nodes.stop(world, name)
        return
    if world.memory.pop(f"{_CUT}{name}", False):
        # Only a kubelet finds that the sandboxes are gone.
        reboots.recover(world, name)
    nodes.start(world, name)
    # It has read its settings anew, whether it was gone or not.
    world.touch()


def retry(world: SimWorld, name: str) -> None:
    """systemd starts a kubelet once more that has failed."""
    if not off(world, name) and kubelet_unit.retry(world, name):
        follow(world, name)


def reboot(world: SimWorld, name: str, outage: float = OUTAGE) -> None:
    """Reboot a machine now: it is up again ``outage`` seconds later, which must pass before that shows.

    Below 50 s (the node monitor's grace period) nobody notices but by the restarts; above, the node is NotReady
    meanwhile, and above 5 min more its pods are evicted.
    """
    if not off(world, name):
        cut(world, name)
        world.after(seconds(outage), "machine.boot", name)


# --- the life of a cluster's machines ---------------------------------------------------------------------


def keep_up(world: SimWorld, plan: ClusterPlan) -> None:
    """Let everything that a plan says of its machines happen in its time."""
    for machine in plan.machines:
        if machine.joins:
            world.after(machine.joins, "machine.upkeep", Upkeep(machine.joins, "join", machine.name))
    for upkeep in plan.upkeep:
        world.after(upkeep.at, "machine.upkeep", upkeep)


def happen(world: SimWorld, upkeep: Upkeep) -> None:
    """One thing that happens to a machine."""
    name = upkeep.subject
    if upkeep.kind == "reboot":
        reboot(world, name, upkeep.seconds)
    elif upkeep.kind == "failover":
        leaders.lose(world, "kube-system", name)
    elif upkeep.kind == "join":
        machine = world.plan.machine(name)
        if machine is not None:
            nodes.create(world, machine)
    elif upkeep.kind == "leave":
        leave(world, name)
    elif upkeep.kind == "retire":
        retire(world, upkeep)
    elif upkeep.kind == "uncordon" or not _holds_data(world, name):
        # Who closes a machine for good looks first whether pods must come back to it.
        cordon(world, name, upkeep.kind == "cordon")


def _holds_data(world: SimWorld, name: str) -> bool:
    """Whether volumes lie on a machine."""
    return any(
        name in expression.get("values", ())
        for volume in world.store.list("persistentvolumes")
        for term in volume["spec"].get("nodeAffinity", {}).get("required", {}).get("nodeSelectorTerms", ())
        for expression in term.get("matchExpressions", ())
    )


def cordon(world: SimWorld, name: str, closed: bool = True) -> None:
    """Close a node to new pods, or open it again, as ``kubectl cordon`` and ``uncordon`` do."""
    node = world.store.get("nodes", "", name)
    if node is None or bool(node["spec"].get("unschedulable")) == closed:
        return
    spec = {key: value for key, value in node["spec"].items() if key != "unschedulable"}
    apiserver.update(world, "nodes", {**node, "spec": {**spec, "unschedulable": True} if closed else spec})


def drain(world: SimWorld, name: str) -> None:
    """Close a node and evict its pods but for those of DaemonSets and of the machine itself."""
    cordon(world, name)
    for pod in world.store.list("pods"):
        metadata = pod["metadata"]
        kinds = [owner["kind"] for owner in metadata.get("ownerReferences", ()) if owner.get("controller")]
        if pod["spec"].get("nodeName") == name and not {"DaemonSet", "Node"} & set(kinds):
            apiserver.delete(world, "pods", metadata["namespace"], metadata["name"])


def leave(world: SimWorld, name: str) -> None:
    """Take a machine out of the cluster: drained, switched off and deleted. It does not come back."""
    drain(world, name)
    world.after(GONE_AFTER, "machine.gone", name)


def retire(world: SimWorld, upkeep: Upkeep) -> None:
    """A machine's root file system becomes read-only, and somebody drains it; it stays, for another disk.

    What runs there and belongs to the machine goes on; no pod starts there any more. Nothing happens where volumes
    lie: they would be out of reach.
    """
    name = upkeep.subject
    if _holds_data(world, name) or world.store.get("nodes", "", name) is None:
        return
    world.memory[read_only(name)] = world.now()
    drain(world, name)
    node = world.store.get("nodes", "", name)
    assert node is not None, "a drain deletes no node"
    spec, metadata = node["spec"], node["metadata"]
    if upkeep.taint is not None and (upkeep.tainted or _daemons_return(world, name)):
        key, value, effect = upkeep.taint
        kept = [each for each in spec.get("taints") or () if each["key"] != UNSCHEDULABLE]
        spec = {each: spec[each] for each in spec if each != "unschedulable"}
        spec["taints"] = [*kept, {"effect": effect, "key": key, "value": value}]
    annotations = {**(metadata.get("annotations") or {}), **dict(upkeep.notes)}
    apiserver.update(
        world, "nodes", {**node, "metadata": {**metadata, "annotations": annotations}, "spec": spec}
    )


def _daemons_return(world: SimWorld, name: str) -> bool:
    """Whether daemons run on a cordoned machine that a taint would keep off it: they do not heed a cordon."""
    return any(
        pod["spec"].get("nodeName") == name
        and any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences") or ())
        and not any(
            each.get("operator") == "Exists" and not each.get("key")
            for each in pod["spec"].get("tolerations") or ()
        )
        for pod in world.store.list("pods")
    )


def _gone(world: SimWorld, name: str) -> None:
    cut(world, name)
    if world.store.get("nodes", "", name) is not None:
        apiserver.delete(world, "nodes", "", name)


def _asked(world: SimWorld, name: str) -> None:
    if not off(world, name):
        time_service.asked(world, name)


HANDLERS: Mapping[str, Handler] = {
    "machine.boot": boot,
    "machine.gone": _gone,
    kubelet_unit.FOLLOW: follow,
    kubelet_unit.REBOOT: reboot,
    kubelet_unit.RETRY: retry,
    time_service.ASKED: _asked,
    "machine.upkeep": happen,
}
