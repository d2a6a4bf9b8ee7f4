"""The StatefulSet controller: pods with ordinals, their claims, in order.

Follows ``pkg/controller/statefulset/stateful_set_control.go`` of v1.32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver import events
from sregym_env.sim.controllers import pods, revisions
from sregym_env.sim.controllers.ownership import WakeOwner, claim, reference, spec_selector
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.store import Key
from sregym_env.sim.world.wakes import own_key

RESOURCE = "statefulsets.apps"
CLAIMS = "persistentvolumeclaims"
COMPONENT = "statefulset-controller"
POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
_KEEP: dict[str, str] = {}
HISTORY_LIMIT = 10
"""Revisions kept unless the spec says otherwise (default of ``revisionHistoryLimit``)."""


@dataclass(slots=True)
class _Round:
    """One reconciliation: what is read at its start, and the counts that it changes."""

    world: SimWorld
    set: Manifest
    history: revisions.History
    current: Manifest
    existing: dict[int, Manifest]
    current_replicas: int

    @property
    def name(self) -> str:
        """Name of the StatefulSet."""
        return str(self.set["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.set["metadata"]["namespace"])

    @property
    def monotonic(self) -> bool:
        """Whether each pod waits for the one before it."""
        return bool(self.set["spec"].get("podManagementPolicy", "OrderedReady") != "Parallel")

    @property
    def start(self) -> int:
        """The first ordinal."""
        return int((self.set["spec"].get("ordinals") or {}).get("start", 0))

    @property
    def replicas(self) -> int:
        """How many pods are wanted."""
        return int(self.set["spec"].get("replicas", 1))

    @property
    def retention(self) -> tuple[bool, bool]:
        """Whether claims go with the set, and whether they go when it is scaled down."""
        policy = self.set["spec"].get("persistentVolumeClaimRetentionPolicy") or _KEEP
        return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"

    @property
    def update_name(self) -> str:
        """Name of the revision that is wanted."""
        return str(self.history.update["metadata"]["name"])

    def is_available(self, pod: Manifest) -> bool:
        """Whether a pod runs and has been ready for minReadySeconds."""
        least = self.set["spec"].get("minReadySeconds", 0)
        return pods.phase(pod) == "Running" and pods.available_in(pod, least, self.world.now()) == 0

    def is_healthy(self, pod: Manifest | None) -> bool:
        """Whether an ordinal's pod is available and stays."""
        return pod is not None and self.is_available(pod) and not pods.is_terminating(pod)


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring one StatefulSet a step closer to its spec. Raises StatusError where a pod could not be made."""
    stateful_set = world.store.get(RESOURCE, *key)
    if stateful_set is None:
        return None
    claimed = claim(world, "pods", stateful_set, "apps/v1", "StatefulSet", spec_selector(stateful_set))
    history = revisions.recorded(world, stateful_set, "StatefulSet")
    status = stateful_set.get("status") or {}
    current = history.named(status.get("currentRevision", "")) or history.update
    existing = _by_ordinal(key[1], claimed)
    round_ = _Round(world, stateful_set, history, current, existing, status.get("currentReplicas", 0))
    failure: StatusError | None = None
    if "deletionTimestamp" not in stateful_set["metadata"]:
        try:
            _act(round_)
        except StatusError as error:
            # The status is told first; raised at the end, it has the loop tried again later.
            failure = error
    apiserver.update_status(world, RESOURCE, *key, _status(round_))
    used = {pod["metadata"].get("labels", {}).get(revisions.HASH_LABEL, "") for pod in claimed}
    revisions.truncate(world, stateful_set, history, used | {current["metadata"]["name"]}, HISTORY_LIMIT)
    if failure is not None:
        raise failure
    least = stateful_set["spec"].get("minReadySeconds", 0)
    return pods.next_available(claimed, least, world.now())


def _by_ordinal(name: str, claimed: list[Manifest]) -> dict[int, Manifest]:
    found = {}
    for pod in claimed:
        parent, _, ordinal = pod["metadata"]["name"].rpartition("-")
        if parent == name and ordinal.isdigit():
            found[int(ordinal)] = pod
    return found


def _act(round_: _Round) -> None:
    """Create, delete and update pods in order, as far as the ones before allow."""
    wanted = range(round_.start, round_.start + round_.replicas)
    for ordinal in wanted:
        if not _process_replica(round_, ordinal):
            return
    condemned = sorted((n for n in round_.existing if n not in wanted), reverse=True)
    first_unhealthy = _first_unhealthy(round_, [*wanted, *reversed(condemned)])
    for ordinal in condemned:
        if not _process_condemned(round_, ordinal, first_unhealthy):
            return
    strategy = round_.set["spec"].get("updateStrategy") or {}
    if strategy.get("type", "RollingUpdate") == "RollingUpdate":
        partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
        _replace_outdated(round_, wanted, max(round_.start, round_.start + partition))


def _first_unhealthy(round_: _Round, ordinals: list[int]) -> int | None:
    return next((n for n in ordinals if not round_.is_healthy(round_.existing.get(n))), None)


def _process_replica(round_: _Round, ordinal: int) -> bool:
    """See to one wanted ordinal; whether to go on to the next."""
    pod = round_.existing.get(ordinal)
    if pod is not None and pods.is_finished(pod):
        # One that is on its way out already still holds the name.
        if not pods.is_terminating(pod):
            _recreate_finished(round_, pod)
        return False
    if pod is None:
        _create(round_, ordinal)
        return not round_.monotonic
    _own_claims(round_, pod["metadata"]["name"], None)
    # A claim may have been deleted under a pod that still waits for it.
    if pods.phase(pod) == "Pending" and not pods.is_terminating(pod):
        _create_claims(round_, pod["metadata"]["name"], pod["spec"])
    return not round_.monotonic or round_.is_healthy(pod)


def _recreate_finished(round_: _Round, pod: Manifest) -> None:
    failed = pods.phase(pod) == "Failed"
    reason = "RecreatingFailedPod" if failed else "RecreatingTerminatedPod"
    kind = "failed" if failed else "terminated"
    where = f"{round_.namespace}/{round_.name}"
    text = f"StatefulSet {where} is recreating {kind} Pod {pod['metadata']['name']}"
    events.record(
        round_.world, round_.set, "Warning" if failed else "Normal", reason, text, component=COMPONENT
    )
    _delete(round_, pod)


def _delete(round_: _Round, pod: Manifest) -> None:
    name = pod["metadata"]["name"]
    try:
        apiserver.delete(round_.world, "pods", round_.namespace, name)
    except StatusError as error:
        text = f"delete Pod {name} in StatefulSet {round_.name} failed error: {error.message}"
        events.record(round_.world, round_.set, "Warning", "FailedDelete", text, component=COMPONENT)
        raise
    text = f"delete Pod {name} in StatefulSet {round_.name} successful"
    events.record(round_.world, round_.set, "Normal", "SuccessfulDelete", text, component=COMPONENT)


def _process_condemned(round_: _Round, ordinal: int, first_unhealthy: int | None) -> bool:
    pod = round_.existing[ordinal]
    if pods.is_terminating(pod):
        return not round_.monotonic
    # Of unhealthy pods the first may go, or a broken one would prevent its own removal.
    if round_.monotonic and not round_.is_available(pod) and ordinal != first_unhealthy:
        return False
    _own_claims(round_, pod["metadata"]["name"], pod)
    _delete(round_, pod)
    return not round_.monotonic


def _replace_outdated(round_: _Round, wanted: range, least: int) -> None:
    """Delete the highest pod of an old revision, if all above it are healthy again."""
    for ordinal in reversed(wanted):
        if ordinal < least:
            return
        pod = round_.existing.get(ordinal)
        if pod is None:
            return
        outdated = _revision_of(pod) != round_.update_name
        if outdated and not pods.is_terminating(pod):
            _delete(round_, pod)
            if _revision_of(pod) == round_.current["metadata"]["name"]:
                round_.current_replicas -= 1
            return
        if not round_.is_healthy(pod):
            return


def _revision_of(pod: Manifest) -> str:
    return str((pod["metadata"].get("labels") or {}).get(revisions.HASH_LABEL, ""))


# --- making pods --------------------------------------------------------------------------------------


def _revision_for(round_: _Round, ordinal: int) -> Manifest:
    """The revision a new pod gets: an old one below the partition while an update runs."""
    strategy = round_.set["spec"].get("updateStrategy") or {}
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return round_.history.update
    rolling = strategy.get("rollingUpdate")
    if rolling is None:
        keep = ordinal < round_.start + (round_.set.get("status") or {}).get("currentReplicas", 0)
    else:
        keep = ordinal < round_.start + rolling.get("partition", 0)
    return round_.current if keep else round_.history.update


def _create(round_: _Round, ordinal: int) -> None:
    stateful_set = round_.set
    revision = _revision_for(round_, ordinal)
    name = f"{round_.name}-{ordinal}"
    pod = pods.from_template(
        revisions.template(revision, stateful_set),
        reference(stateful_set, "apps/v1", "StatefulSet"),
        name=name,
        namespace=round_.namespace,
        labels={
            POD_NAME_LABEL: name,
            POD_INDEX_LABEL: str(ordinal),
            revisions.HASH_LABEL: revision["metadata"]["name"],
        },
    )
    pod = {**pod, "spec": _identified(stateful_set, pod["spec"], name)}
    try:
        _create_claims(round_, name, pod["spec"])
        made = apiserver.create(round_.world, "pods", pod)
    except StatusError as error:
        text = f"create Pod {name} in StatefulSet {round_.name} failed error: {error.message}"
        events.record(round_.world, stateful_set, "Warning", "FailedCreate", text, component=COMPONENT)
        raise
    round_.existing[ordinal] = made
    _own_claims(round_, name, None)
    text = f"create Pod {name} in StatefulSet {round_.name} successful"
    events.record(round_.world, stateful_set, "Normal", "SuccessfulCreate", text, component=COMPONENT)


def _identified(stateful_set: Manifest, spec: Manifest, name: str) -> Manifest:
    """The pod spec with its stable hostname, subdomain and claims."""
    identified = {**spec, "hostname": name}
    subdomain = stateful_set["spec"].get("serviceName")
    if subdomain:
        identified["subdomain"] = subdomain
    claims = stateful_set["spec"].get("volumeClaimTemplates") or ()
    if claims:
        names = [claim["metadata"]["name"] for claim in claims]
        own = [{"name": n, "persistentVolumeClaim": {"claimName": f"{n}-{name}"}} for n in names]
        rest = [volume for volume in spec.get("volumes") or () if volume["name"] not in names]
        identified["volumes"] = [*own, *rest]
    return identified


def _create_claims(round_: _Round, pod: str, spec: Manifest) -> None:
    stateful_set = round_.set
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        source = template["metadata"]
        name = f"{source['name']}-{pod}"
        if round_.world.store.get(CLAIMS, round_.namespace, name) is not None:
            continue
        selector = stateful_set["spec"].get("selector") or {}
        labels = {**(source.get("labels") or {}), **(selector.get("matchLabels") or {})}
        metadata: Manifest = {"name": name, "namespace": round_.namespace}
        if labels:
            metadata["labels"] = labels
        if source.get("annotations"):
            metadata["annotations"] = source["annotations"]
        made = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata,
            "spec": template.get("spec") or {},
        }
        about = f"Claim {name} Pod {pod} in StatefulSet {round_.name}"
        try:
            apiserver.create(round_.world, CLAIMS, made)
        except StatusError as error:
            text = f"create {about} failed error: {error.message}"
            events.record(round_.world, stateful_set, "Warning", "FailedCreate", text, component=COMPONENT)
            raise
        text = f"create {about} success"
        events.record(round_.world, stateful_set, "Normal", "SuccessfulCreate", text, component=COMPONENT)


def _own_claims(round_: _Round, name: str, condemned: Manifest | None) -> None:
    """Let the retention policy decide what a pod's claims go with: the set, the pod that is scaled away, or nothing."""
    with_set, with_pod = round_.retention
    for template in round_.set["spec"].get("volumeClaimTemplates") or ():
        claim = f"{template['metadata']['name']}-{name}"
        found = round_.world.store.get(CLAIMS, round_.namespace, claim)
        if found is None:
            continue
        known = found["metadata"].get("ownerReferences") or []
        wanted = [owner for owner in known if not _is_mine(round_, owner, name)]
        if condemned is not None and with_pod:
            wanted.append(reference(condemned, "v1", "Pod"))
        elif with_set:
            wanted.append(reference(round_.set, "apps/v1", "StatefulSet"))
        if wanted != known:
            apiserver.patch_metadata(round_.world, CLAIMS, round_.namespace, claim, owner_references=wanted)


def _is_mine(round_: _Round, owner: Manifest, pod: str) -> bool:
    """Whether this loop set an owner reference of a claim: to the set, or to the pod."""
    if owner["kind"] == "StatefulSet":
        return bool(owner["uid"] == round_.set["metadata"]["uid"])
    return bool(owner["kind"] == "Pod" and owner["name"] == pod)


# --- status -------------------------------------------------------------------------------------------


def _status(round_: _Round) -> dict[str, Any]:
    stateful_set = round_.set
    before = stateful_set.get("status") or {}
    listed = list(round_.existing.values())
    ready = [pod for pod in listed if pods.is_running_and_ready(pod)]
    current_name = round_.current["metadata"]["name"]
    staying = [pod for pod in listed if not pods.is_terminating(pod)]
    current = sum(_revision_of(pod) == current_name for pod in staying)
    updated = sum(_revision_of(pod) == round_.update_name for pod in staying)
    strategy = stateful_set["spec"].get("updateStrategy") or {}
    rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
    if rolling and updated == len(listed) == len(ready) and round_.replicas == len(listed):
        # Nothing of the old revision is left: the update is complete.
        current_name, current = round_.update_name, updated
    counts = {
        "readyReplicas": len(ready),
        "currentReplicas": current,
        "updatedReplicas": updated,
    }
    status: dict[str, Any] = {
        "observedGeneration": stateful_set["metadata"].get("generation", 1),
        "replicas": len(listed),
        "availableReplicas": sum(round_.is_available(pod) for pod in listed),
        "currentRevision": current_name,
        "updateRevision": round_.update_name,
        "collisionCount": before.get("collisionCount", 0),
    }
    status.update({name: count for name, count in counts.items() if count})
    if before.get("conditions"):
        status["conditions"] = before["conditions"]
    return status


CONTROLLER = Controller(
    "statefulset",
    {
        RESOURCE: own_key,
        "pods": WakeOwner("StatefulSet", RESOURCE, spec_selector, pods.matters_to_owner),
    },
    retried("statefulset", reconcile),
)
