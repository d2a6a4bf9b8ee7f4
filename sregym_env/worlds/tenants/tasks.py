"""Tasks that are older than the runs of them that are simulated, and runs of them that somebody did not wait for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from cronsim import CronSimError

from sregym_env.cluster.api import World
from sregym_env.cluster.apply import BY_HAND, instantiated
from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.durations import parse_rfc3339, rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.sim.controllers.cronjob import previous
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds.lastapplied import reapplied

KEPT = 3
"""``successfulJobsHistoryLimit`` where a CronJob has none of its own."""

MOST = 4
"""How many runs of a task are simulated at most, whatever it keeps."""

AT_LEAST = 70 * MINUTE
"""For how long a task is simulated at least: a little longer than events last."""

RERUN = 0.11
"""How often somebody has had a task run in the last days that did not wait for its schedule."""

RERUN_IDLE = 0.25
"""How often one that is switched off: some are there for nothing else."""

RERUNS = {1: 0.7, 2: 0.3}
"""How many times then, and how often."""

IMAGES: Mapping[str, float] = {
    "": 0.62, "curlimages/curl:8.7.1": 0.1, "curlimages/curl:8.10.1": 0.04, "curlimages/curl:latest": 0.04,
    "bitnami/kubectl:1.31": 0.1, "bitnami/kubectl:1.32": 0.1,
}  # fmt: skip
"""What tasks run in, where not in BusyBox, and how often."""

TWO = 0.15
"""How often a task has two containers."""

BESIDE = (
    ("metrics", "pushed 3 series"),
    ("notify", "nothing to notify"),
    ("upload", "uploaded 1 file"),
    ("audit", "1 record written"),
)
"""Second containers of tasks, and what each says before it ends."""

NEVER = (CronSimError, ValueError)
"""What a schedule raises that never comes due: a day that no month has."""

SWITCHED = 0.15
"""How often somebody has really switched a task on, which counts in its generation."""

HAND = "kubectl-create"
"""The field manager of ``kubectl create``."""


def kept(spec: Manifest) -> int:
    """How many runs of a CronJob that end well are seen of it, and have to be simulated."""
    return min(max(1, int(spec.get("successfulJobsHistoryLimit", KEPT))), MOST)


def since(spec: Manifest, runs: int, present: int, chance: Chance) -> int:
    """From when on a CronJob has to run by its schedule, so that at ``present`` it has ``runs`` runs behind it.

    That is some time after the run before these: who is switched on then has missed nothing.
    """
    time = present
    try:
        for _ in range(runs):
            time = _last(spec, time - SECOND)
        gap = time - _last(spec, time - SECOND)
    except NEVER:
        return present - DAY
    time -= round(chance.uniform("since", 0.05, 0.8) * min(gap, DAY))
    return min(time, present - AT_LEAST)


def _last(spec: Manifest, now: int) -> int:
    return previous(spec["schedule"], spec.get("timeZone") or "", now)


@dataclass(frozen=True, slots=True)
class Ran:
    """A CronJob that nobody has simulated has run by its schedule up to now.

    Its controller has noted that in the status, as in that of every other. Without the note a task that is switched on
    would at once make good for a run that it has had long ago.
    """

    target: ObjectRef

    def do(self, world: World) -> None:
        """Note the last run, where there was one since the CronJob was made."""
        target = self.target
        found = world.cluster.get(target.resource, target.name, target.namespace)
        try:
            due = _last(found["spec"], world.now())
        except NEVER:
            return
        if due > parse_rfc3339(found["metadata"]["creationTimestamp"]):
            status = {"status": {"lastScheduleTime": rfc3339(due)}}
            world.cluster.patch(
                target.resource, target.name, status, namespace=target.namespace, subresource="status"
            )


@dataclass(frozen=True, slots=True)
class GoesOn:
    """A CronJob that was made switched off, so that nobody has to simulate it, goes by its schedule as it has all along.

    Nobody has switched it on, so it is what it was when it was made: of the same generation, and written by nobody else.
    """

    target: ObjectRef
    tool: str
    """Who has delivered it."""

    def do(self, world: EmbeddedWorld) -> None:
        """Leave it as it would be had it never been off; nothing where it is gone."""
        target = self.target
        found = world.store.get(target.resource, target.namespace or "", target.name)
        if found is not None:
            made = reapplied(found, self.tool, _never_off)
            world.store.put(target.resource, {**made, "spec": {**made["spec"], "suspend": False}})


def _never_off(manifest: Manifest) -> Manifest:
    spec = {field: value for field, value in manifest["spec"].items() if field != "suspend"}
    return {**manifest, "spec": spec}


def equipped(pod: Manifest, chance: Chance) -> Manifest:
    """The pod of a task that writes some lines, as some teams make it: with an image that has ``curl`` or ``kubectl``, or
    with a second container that ends as well."""
    image = chance.weighted("equipment", IMAGES)
    first, *others = pod["containers"]
    if image:
        first = {**first, "image": image}
    if chance.yes("two", TWO):
        name, last = chance.choice("beside", BESIDE)
        script = f"sleep {chance.between('beside for', 2, 20)}; echo {last}"
        beside = {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script]}
        if "resources" in first:
            beside["resources"] = first["resources"]
        others = [beside, *others]
    return {**pod, "containers": [first, *others]}


@dataclass(frozen=True, slots=True)
class RunByHand:
    """``kubectl create job --from``: a task is run now, whatever its schedule says."""

    target: ObjectRef
    form: str
    """The Job's name, with a place for the CronJob's."""

    def do(self, world: World) -> None:
        """Make the Job; nothing where the CronJob is gone, or where that name is taken."""
        target = self.target
        with suppress(StatusError):
            found = world.cluster.get(target.resource, target.name, target.namespace)
            made = instantiated(found, self.form.format(target.name))
            world.cluster.create(made, field_manager=HAND)


def reruns(
    target: ObjectRef, chance: Chance, earliest: int, latest: int, share: float = RERUN
) -> Iterator[tuple[int, RunByHand]]:
    """Runs of a task by hand in the last days before ``latest``, none before ``earliest``, and when."""
    if not chance.yes("rerun", share):
        return
    count = chance.weighted("runs", RERUNS)
    time = latest - round(chance.lognormal("ago", 15.0, 1.0) * HOUR)
    for form in chance.sample("form", BY_HAND, count):
        time = min(max(time, earliest), latest)
        yield time, RunByHand(target, form)
        time += round(chance.lognormal(f"again {form}", 11.0, 0.8) * MINUTE)


__all__ = [
    "HAND",
    "RERUN",
    "RERUN_IDLE",
    "SWITCHED",
    "GoesOn",
    "Ran",
    "RunByHand",
    "equipped",
    "kept",
    "reruns",
    "since",
]
