"""Getting a container's image onto its node: pull policy, pull, error and back-off."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.durations import format_duration
from sregym_env.kube.pulling import canonical
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.sim.containers import images, registries, stock
from sregym_env.sim.machines.kubelet.state import Container, Pull
from sregym_env.sim.machines.kubelet.sync import Sync

ERROR_SHOWN = 12 * SECOND
"""How long ``ErrImagePull`` stands before the next sync of the pod makes it ``ImagePullBackOff``.

A failed sync is retried after the pod worker's back-off period, 10 s with jitter.
"""


def ensure(sync: Sync, spec: dict[str, Any], container: Container) -> bool:
    """Bring the image one step closer; whether it is there and the container may start."""
    reference = spec["image"]
    if container.pull is not None:
        return _continue(sync, reference, container, container.pull)
    if not images.is_valid(reference):
        text = (
            f'Failed to apply default image tag "{reference}": couldn\'t parse image name "{reference}": '
            "invalid reference format"
        )
        _refuse(sync, container, "InvalidImageName", "InspectFailed", text)
        return False
    policy = spec.get("imagePullPolicy", "IfNotPresent")
    here = canonical(reference) in stock.present(sync.world, sync.record.node)
    if here and policy != "Always":
        text = f'Container image "{reference}" already present on machine'
        sync.event("Normal", "Pulled", text, container)
        return True
    if policy == "Never":
        text = f'Container image "{reference}" is not present with pull policy of Never'
        _refuse(sync, container, "ErrImageNeverPull", "ErrImageNeverPull", text)
        return False
    _begin(sync, reference, container, here)
    return False


def _refuse(sync: Sync, container: Container, reason: str, event: str, text: str) -> None:
    sync.event("Warning", event, text, container)
    sync.event("Warning", "Failed", f"Error: {reason}", container)
    retry = sync.now + ERROR_SHOWN
    sync.put(evolve(container, state="waiting", reason=reason, message=text, retry_at=retry))
    sync.look_again(retry)


def _secrets(sync: Sync) -> list[str]:
    """Names of the pod's pull secrets."""
    return [entry.get("name", "") for entry in sync.spec.get("imagePullSecrets") or ()]


def _begin(sync: Sync, reference: str, container: Container, here: bool) -> None:
    absent = [
        name
        for name in _secrets(sync)
        if sync.world.store.get("secrets", sync.record.namespace, name) is None
    ]
    if absent:
        text = (
            f"Unable to retrieve some image pull secrets ({', '.join(absent)}); "
            "attempting to pull the image may not succeed."
        )
        sync.event("Warning", "FailedToRetrieveImagePullSecret", text)
    sync.event("Normal", "Pulling", f'Pulling image "{reference}"', container)
    image = images.find(sync.world.images, reference)
    unit = sync.chance(0.0, 1.0)
    # A pull of what is there already only asks the registry for the manifest.
    duration = seconds(0.3 + 0.5 * unit) if here and image else images.pull_duration(image, unit)
    due = sync.now + duration
    failures = container.pull_failures
    sync.put(evolve(container, pull=Pull("pulling", due, sync.now, failures)))
    sync.look_again(due)


def _continue(sync: Sync, reference: str, container: Container, pull: Pull) -> bool:
    if sync.now < pull.due:
        sync.look_again(pull.due)
        return False
    if pull.state == "pulling":
        return _finish(sync, reference, container, pull)
    if pull.state == "failed":
        _back_off(sync, reference, container, pull)
        return False
    _begin(sync, reference, sync.put(evolve(container, pull=None)), here=False)
    return False


def _finish(sync: Sync, reference: str, container: Container, pull: Pull) -> bool:
    world = sync.world
    image = images.find(world.images, reference)
    error = registries.refusal(world, sync.record.namespace, _secrets(sync), reference)
    if image is not None and not error:
        # The kubelet truncates the duration to milliseconds.
        took = format_duration((sync.now - pull.started_at) // 1000 * 1_000_000)
        text = (
            f'Successfully pulled image "{reference}" in {took} ({took} including waiting). '
            f"Image size: {images.exact_size(image, reference)} bytes."
        )
        sync.event("Normal", "Pulled", text, container)
        stock.add(world, sync.record.node, reference)
        sync.put(evolve(container, pull=None, pull_failures=0))
        return True
    error = error or images.pull_error(world.images, reference, world.plan.upstream)
    sync.event("Warning", "Failed", f'Failed to pull image "{reference}": {error}', container)
    sync.event("Warning", "Failed", "Error: ErrImagePull", container)
    due = sync.now + min(ERROR_SHOWN, _delay(pull.failures))
    failed = Pull("failed", due, sync.now, pull.failures + 1, error)
    sync.put(
        evolve(
            container,
            state="waiting",
            reason="ErrImagePull",
            message=error,
            pull=failed,
            pull_failures=pull.failures + 1,
        )
    )
    sync.look_again(due)
    return False


def _delay(failures: int) -> int:
    return min(images.BACKOFF_CAP, images.BACKOFF << min(max(failures, 0), 10))


def _back_off(sync: Sync, reference: str, container: Container, pull: Pull) -> None:
    text = f'Back-off pulling image "{reference}"'
    sync.event("Normal", "BackOff", text, container)
    sync.event("Warning", "Failed", "Error: ImagePullBackOff", container)
    due = max(pull.started_at + _delay(pull.failures - 1), sync.now + SECOND)
    message = f"{text}: ErrImagePull: {pull.error}"
    backing_off = Pull("backoff", due, pull.started_at, pull.failures, pull.error)
    sync.put(evolve(container, reason="ImagePullBackOff", message=message, pull=backing_off))
    sync.look_again(due)
