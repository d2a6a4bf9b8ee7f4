"""How large a packet the interface of a pod may send: the MTU that the CNI gave it when its sandbox was made.

A machine's Calico says which one that is (``/var/lib/calico/mtu``): what ``veth_mtu`` of ConfigMap ``calico-config`` said when
its ``calico-node`` started, or, where that says 0, what the machine's own interface takes without the header of the tunnel
between machines. What a pod got it keeps as long as its sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.runtime.numbers import whole
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.simworld import SimWorld

CARD = 1500
"""MTU of a machine's own interface."""
TUNNEL = 20
"""Bytes that the tunnel between machines (IP in IP) puts before each packet of a pod."""
DETECTED = CARD - TUNNEL
"""What Calico finds out by itself."""
USUAL = 1440
"""What ``calico-config`` says, as Calico's manifests did for many releases."""
HEADERS = 52
"""Bytes of the headers of IP and TCP, with timestamps."""
LEAST = 68
"""What IPv4 demands of every interface."""

_PODS = "mtu.pods"
"""Slot of the pods that have another one than the usual, by UID."""


def told(value: str) -> int:
    """The MTU that a setting of Calico's stands for."""
    number = whole(value, 0)
    return number if number >= LEAST else DETECTED


def set_up(world: SimWorld, node: str, mtu: int) -> None:
    """Have new pods of a machine get an MTU."""
    if mtu == of_machine(world, node):
        return
    if mtu == USUAL:
        world.memory.pop(_slot(node), None)
    else:
        world.memory[_slot(node)] = mtu
    world.touch()


def of_machine(world: SimWorld, node: str) -> int:
    """The MTU that new pods of a machine get."""
    found: int = world.memory.get(_slot(node), USUAL)
    return found


def wire(world: SimWorld, node: str, uid: str) -> None:
    """Give a pod whose sandbox is made its interface."""
    mtu, known = of_machine(world, node), _of_pods(world)
    if known.get(uid, USUAL) != mtu:
        # Pods that are gone are forgotten as others come.
        kept = {name: its for name, its in known.items() if name in world.runtime and name != uid}
        world.memory[_PODS] = kept if mtu == USUAL else {**kept, uid: mtu}


def of_pod(world: SimWorld, uid: str) -> int:
    """The MTU of a pod's interface."""
    return _of_pods(world).get(uid, USUAL)


def of_process(world: SimWorld, process: Process) -> int:
    """The MTU of the interface by which a process speaks."""
    return CARD if process.host_network else of_pod(world, process.key[0])


def sent(world: SimWorld, uid: str, far: str) -> int:
    """Bytes of the largest packets that two pods send each other through the tunnel, its header included.

    They agree on the smaller of their two; what the sender's own machine cannot send on it says so itself.
    """
    return min(of_pod(world, uid), of_pod(world, far), DETECTED) + TUNNEL


def _of_pods(world: SimWorld) -> Mapping[str, int]:
    found: Mapping[str, int] = world.memory.get(_PODS, {})
    return found


def _slot(node: str) -> str:
    return f"mtu:{node}"
