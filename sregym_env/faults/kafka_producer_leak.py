"""A client that opens a producer for every record, until the broker's heap is full of what they send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.edits import AwaitRollout, Create, ObjectRef, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import names_of, one_of
from sregym_env.faults.commands import await_rollout, execute, named, replace_pods, rollback, selector
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.numbers import whole
from sregym_env.sim.programs.kafka import producing
from sregym_env.sim.programs.kafka.broker import COPIES, LIVE
from sregym_env.sim.programs.kafka.settings import DEFAULT_HEAP, heap_of

WRITERS = (
    "order-creator", "order-replay", "invoice-archive", "label-printer", "returns-sync", "warehouse-feed", "partner-export",
    "catalog-export", "loyalty-feed", "stock-mirror", "receipt-store", "tax-report", "event-archive", "crm-sync", "pick-lists",
)  # fmt: skip
"""What teams call the programs that write into topics of their own."""

MI = 2**20
SIZES = (8 * MI, 8_000_000, 10_000_000, 10 * MI, 12 * MI, 12_000_000, 16 * MI, 16_000_000)
"""Bytes of a large record."""
LARGEST = 20 * MI
"""What the broker takes in a record at most, as it has been told for the sake of those."""
FULL = 1.3
"""Times the room on the broker's heap: what the guilty one has on its way at least."""
MOST_WORKERS = 48
KEPT = 0.5
"""Part of its records per minute that a writer must still write."""


def _room(target: ComponentTarget) -> int:
    """Bytes of records that may be on their way at once to the broker as it is declared."""
    env = {each["name"]: str(each.get("value", "")) for each in target.declares("env") or ()}
    return ((heap_of(env) or DEFAULT_HEAP) - LIVE) // COPIES


def _image(app: App) -> str:
    """The newest build of the tool that writes; empty where the application has none."""
    found = [
        image.reference
        for image in app.images
        if any(binary.program == producing.NAME for binary in image.binaries.values())
    ]
    return found[-1] if found else ""


def _can(target: ComponentTarget) -> bool:
    return bool(_image(target.app)) and 0 < FULL * _room(target) <= MOST_WORKERS * SIZES[0]


def _workers(target: ComponentTarget, record: int) -> int:
    """The fewest that fill the heap for sure."""
    return int(FULL * _room(target) / record) + 1


def _writers(target: ComponentTarget, chance: Chance) -> tuple[str, ...]:
    return tuple(chance.sample("writers", _unused(target), 3))


def _unused(target: ComponentTarget) -> list[str]:
    taken = names_of(target.inventory, "deployments.apps", target.namespace)
    return [name for name in WRITERS if name not in taken]


@fault(
    layer="application",
    mechanism="producer_per_record",
    targets=components(kinds=("kafka",), where=_can),
    level="hard",
)
def kafka_producer_leak(
    target: ComponentTarget,
    writers: tuple[str, ...] = drawn(_writers, published=lambda target: tuple(_unused(target)[:3])),
    record: int = drawn(one_of(*SIZES), published=10 * MI),
    other: int = drawn(one_of(*SIZES), published=8 * MI),
    more: int = drawn(one_of(0, 0, 1, 2, 3, 5, 8), published=1),
    few: int = drawn(one_of(2, 3, 4), published=3),
    pace: int = drawn(one_of(60, 90, 120, 180, 240, 300), published=120),
    since: float = drawn(
        lambda target, chance: float(round(chance.uniform("since", 420.0, 2400.0))), published=600.0
    ),
) -> Fault:
    """A program that writes large records has been told to open a producer for each of them, in all of its threads at once.

    A broker reads one request of a connection at a time, so with one producer there was one record on its heap; now there are
    as many as the program has threads, and the broker dies of OutOfMemoryError as soon as it is back. Orders are taken all the
    same, but wait for a broker that is not there. Two more programs write as well: one with as large records and one
    producer, one with a producer for each of its small ones. SREGym has its producers in a sidecar of checkout, and raises the
    largest record with them; here that has been raised before, for those who write such records with one producer.
    """
    guilty, large, small = writers
    size = _workers(target, record) + more
    source = ObjectRef("deployments.apps", guilty, target.namespace)
    told: dict[str, Mapping[str, object]] = {
        guilty: {"RECORD_BYTES": record, "WORKERS": size, "REUSE_PRODUCER": "true", "RECORDS_PER_MINUTE": pace},
        large: {"RECORD_BYTES": other, "WORKERS": size - 1, "REUSE_PRODUCER": "true", "RECORDS_PER_MINUTE": 10},
        small: {"RECORD_BYTES": 16384, "WORKERS": few, "REUSE_PRODUCER": "false", "RECORDS_PER_MINUTE": 2 * pace},
    }  # fmt: skip
    at = list(told[guilty]).index("REUSE_PRODUCER") + 2
    back = [await_rollout(source), replace_pods(target, target.name), await_rollout(target.workload)]
    field = target.container_path("env")
    return Fault(
        resource=source,
        cause=f"Deployment {guilty} opens a new Kafka producer for every record (REUSE_PRODUCER=false) in {size} threads: so many records of "
        f"{record} bytes are on their way to {target.name} at once that the broker runs out of heap space (OutOfMemoryError) again and again.",
        earlier=[
            Rollout(
                target.workload,
                {field: [*(target.declares("env") or ()), {"name": "KAFKA_MESSAGE_MAX_BYTES", "value": str(LARGEST)}]},
            ),
            AwaitRollout(target.workload),
            *(Create(_deployment(target, name, told[name])) for name in sorted(told)),
            *(AwaitRollout(ObjectRef("deployments.apps", name, target.namespace)) for name in sorted(told)),
        ],
        edits=[Rollout(source, {f"/spec/template/spec/containers/0/env/{at}/value": "false"})],
        matures=since,
        details={"field": "REUSE_PRODUCER", "wrong": "false", "right": "true"},
        facts={"writer": guilty, "workers": size},
        remedies=[
            [f"kubectl set env {named(source)} REUSE_PRODUCER=true -n {target.namespace}", *back],
            [f"kubectl set env {named(source)} WORKERS=2 -n {target.namespace}", *back],
        ],
        rollback=[rollback(source), *back],
        look=[
            f"kubectl logs {named(target.workload)} -n {target.namespace} --previous --tail=12",
            f"kubectl get pods -n {target.namespace} -o wide",
            *(f"kubectl logs deployment/{name} -n {target.namespace} --tail=5" for name in sorted(told)),
            execute(target, "/opt/kafka/bin/kafka-topics.sh --bootstrap-server localhost:9092 --list"),
            f"kubectl get deployment {guilty} -n {target.namespace} -o yaml",
            f"kubectl top pods -n {target.namespace} {selector(target)}",
        ],
        accepts=[ObjectRef("deployments.apps", name, target.namespace) for name in sorted(told)],
        aliases=[guilty, "REUSE_PRODUCER", "producer"],
        cured=[_Fits(target, {name: _written(each) for name, each in told.items()})],
    )  # fmt: skip


def _written(env: Mapping[str, object]) -> tuple[int, float]:
    """(bytes of a record, records per minute) of a writer."""
    return int(str(env["RECORD_BYTES"])), float(str(env["RECORDS_PER_MINUTE"]))


def _deployment(target: ComponentTarget, name: str, env: Mapping[str, object]) -> Manifest:
    labels = {"app": name}
    told = {
        "KAFKA_ADDR": f"{target.component.service}:{target.component.offered_port}",
        "KAFKA_TOPIC": f"{name}-records",
        **env,
    }
    container: dict[str, Any] = {
        "name": "writer",
        "image": _image(target.app),
        "env": [{"name": key, "value": str(value)} for key, value in told.items()],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": target.namespace, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


class _Fits:
    """Whether all that is written to a broker at once has room on its heap as it was, and everybody still writes what he wrote."""

    def __init__(self, target: ComponentTarget, written: Mapping[str, tuple[int, float]]) -> None:
        self._namespace = target.namespace
        self._broker = target.name
        self._room = _room(target)
        self._written = written
        self._images = frozenset(
            image.reference
            for image in target.app.images
            if any(binary.program == producing.NAME for binary in image.binaries.values())
        )

    def __call__(self, world: World) -> Finding:
        """Ask every pod that writes what it has been told."""
        expected = f"at most {self._room} bytes on their way to {self._broker} at once, and everybody writes as before"
        writing = list(self._writing(world))
        sent = sum(each.in_flight for _, each in writing)
        wrong = [f"{sent} bytes on their way"] if sent > self._room else []
        for name, (record, pace) in sorted(self._written.items()):
            its = [each for pod, each in writing if pod.rpartition("-")[0].rpartition("-")[0] == name]
            if sum(each.rate for each in its if each.record >= record) * 60.0 < KEPT * pace:
                wrong.append(f"{name} no longer writes what it wrote")
        largest = max((record for record, _ in self._written.values()), default=0)
        if self._limit(world) < largest:
            wrong.append(f"{self._broker} takes no record of {largest} bytes")
        return Finding("producers", not wrong, "; ".join(wrong) or f"{sent} bytes", expected)

    def _writing(self, world: World) -> Iterator[tuple[str, producing.Writing]]:
        """(pod, what it writes) of every pod that does."""
        for pod in world.cluster.list("pods", self._namespace):
            for container in pod["spec"]["containers"]:
                writes = container.get("image") in self._images
                found = producing.told(_env(world, pod, container["name"])) if writes else None
                if found is not None:
                    yield pod["metadata"]["name"], found

    def _limit(self, world: World) -> int:
        """Bytes of the largest record that the broker is told to take."""
        pods = [
            pod
            for pod in world.cluster.list("pods", self._namespace)
            if pod["metadata"]["name"].startswith(f"{self._broker}-")
            and "deletionTimestamp" not in pod["metadata"]
        ]
        told = [_env(world, pod, self._broker).get("KAFKA_MESSAGE_MAX_BYTES", "") for pod in pods]
        return max((whole(text, 0, 15) for text in told), default=0)


def _env(world: World, pod: Manifest, container: str) -> dict[str, str]:
    """The environment of a container that runs; nothing of one that does not."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    try:
        text = world.cluster.exec(namespace, name, ["env"], container=container).stdout
    except StatusError:
        return {}
    return {
        key: value for key, equals, value in (line.partition("=") for line in text.splitlines()) if equals
    }
