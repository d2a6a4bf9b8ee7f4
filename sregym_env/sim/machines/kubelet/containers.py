"""Starting, stopping and restarting one container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.app import Image
from sregym_env.runtime.clock import MINUTE, SECOND, seconds
from sregym_env.runtime.frozen import evolve
from sregym_env.runtime.streams import keyed_unit
from sregym_env.sim.containers import environment, images, pids, volumes
from sregym_env.sim.containers.expansion import expand
from sregym_env.sim.containers.resources import cpu_limit, memory_limit
from sregym_env.sim.machines.kubelet import probes, pulling, runtime
from sregym_env.sim.machines.kubelet.state import (
    BACKING_OFF,
    NOT_STARTED,
    START_ERROR,
    Container,
    Ended,
    Role,
    Stop,
)
from sregym_env.sim.machines.kubelet.status import internal_ip
from sregym_env.sim.machines.kubelet.sync import Sync, ended
from sregym_env.sim.world.process import Process

RESTART_BACKOFF = 10 * SECOND
"""First restart back-off, doubling (kubelet ``containerBackOffPeriod``)."""
RESTART_BACKOFF_CAP = 5 * MINUTE
RESTART_FORGIVEN = 2 * RESTART_BACKOFF_CAP
"""A container that ran this long since its last restart starts with a fresh back-off."""
SYNC_RETRY = 12 * SECOND
"""When a container that could not be configured is tried again: pod worker back-off 10 s plus jitter."""
SMALLEST_MEMORY = 6 * 2**20
"""Below this limit the container's init process itself does not fit (runc)."""
MINIMUM_GRACE = 2 * SECOND
"""What is left for SIGTERM even when a preStop hook used up the grace period."""

_RUNTIME_ERROR = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: "
)


def first_state(spec: Mapping[str, Any], role: Role, waits_for_init: bool) -> Container:
    """A container that has never run."""
    return Container(
        name=spec["name"],
        role=role,
        image=spec["image"],
        sidecar=role == "init" and spec.get("restartPolicy") == "Always",
        reason="PodInitializing" if waits_for_init else "ContainerCreating",
    )


def advance(sync: Sync, spec: dict[str, Any], policy: str) -> Container:
    """Bring one container as far as it can go now, under a restart policy."""
    container = sync.container(spec["name"])
    if container.alive:
        container = _watch(sync, spec, container)
        if container.alive:
            return container
    if container.state == "ended":
        assert container.ended is not None
        if policy == "Never" or (policy == "OnFailure" and container.ended.exit_code == 0):
            return container
        container = _await_restart(sync, container, container.ended)
    if container.retry_at > sync.now:
        sync.look_again(container.retry_at)
        return container
    if not pulling.ensure(sync, spec, container):
        return sync.container(container.name)
    return _start(sync, spec, sync.container(container.name))


def _watch(sync: Sync, spec: dict[str, Any], container: Container) -> Container:
    if container.stop is not None:
        if sync.now < container.stop.exit_at:
            sync.look_again(container.stop.exit_at)
            return container
        return ended(sync.world, sync.record, container, container.stop.exit_code, container.stop.reason)
    kill = ""
    if spec["image"] != container.image:
        kill = f"Container {container.name} definition changed, will be restarted"
        # The back-off's key includes the container's definition (``GetStableKey``): a new one starts afresh.
        container = sync.put(evolve(container, backoff=0, backoff_at=0))
    else:
        kill = probes.run(sync, spec, container)
        container = sync.container(container.name)
    if kill and container.alive:
        stop(sync, spec, container, kill, grace(sync, spec))
    return sync.container(container.name)


def grace(sync: Sync, spec: Mapping[str, Any]) -> int:
    """The grace period for ending a container of a pod that lives on, microseconds."""
    own = (spec.get("livenessProbe") or {}).get("terminationGracePeriodSeconds")
    whole = sync.spec.get("terminationGracePeriodSeconds", 30) if own is None else own
    return int(whole) * SECOND


# --- restarting -----------------------------------------------------------------------------------


def _await_restart(sync: Sync, container: Container, last: Ended) -> Container:
    finished = last.finished_at
    due = finished
    # Before the first restart the back-off has no entry, so that one comes at once (``doBackOff``).
    if container.backoff and finished - container.backoff_at <= RESTART_FORGIVEN:
        due = finished + container.backoff
    if container.reason == BACKING_OFF and container.retry_at > sync.now:
        return container  # its end is still what its status shows
    waiting = evolve(container, state="waiting", ended=None, last=last, retry_at=due)
    if due <= sync.now or container.reason == BACKING_OFF:
        return sync.put(waiting)
    text = f"Back-off restarting failed container {container.name} in pod {_pod_identity(sync)}"
    sync.event("Warning", "BackOff", text, container)
    known = _backing_off(sync, container)
    shown = min(finished + _shown(sync, container), due - SECOND)
    if container.state == "ended" and shown > sync.now:
        return sync.put(evolve(container, **known, retry_at=shown))
    return sync.put(evolve(waiting, **known))


END_SHOWN = 10 * SECOND
"""The kubelet writes how a container ended, finds that it must wait, and looks at the pod again after this and up to
half as much more (``backOffPeriod``, ``workerBackOffPeriodJitterFactor``): only then the status says that it waits."""


def _shown(sync: Sync, container: Container) -> int:
    """How long the end of a container is shown before the back-off, microseconds."""
    drawn = keyed_unit("end shown", sync.world.streams.seed, sync.uid, container.name, container.restarts)
    return round(END_SHOWN * (1.0 + 0.5 * drawn))


def _backing_off(sync: Sync, container: Container) -> dict[str, Any]:
    minutes, rest = divmod(container.backoff // SECOND, 60)
    delay = f"{minutes}m{rest}s" if minutes else f"{rest}s"
    message = f"back-off {delay} restarting failed container={container.name} pod={_pod_identity(sync)}"
    return {"reason": BACKING_OFF, "message": message}


def _pod_identity(sync: Sync) -> str:
    record = sync.record
    return f"{record.name}_{record.namespace}({record.uid})"


def _raised(container: Container) -> int:
    """The back-off after one more restart (client-go ``Backoff.Next``), microseconds."""
    if container.last is None:
        return container.backoff
    stale = container.last.finished_at - container.backoff_at > RESTART_FORGIVEN
    if not container.backoff or stale:
        return RESTART_BACKOFF
    return min(2 * container.backoff, RESTART_BACKOFF_CAP)


# --- starting -------------------------------------------------------------------------------------


def _start(sync: Sync, spec: dict[str, Any], container: Container) -> Container:
    world, record = sync.world, sync.record
    image = images.find(world.images, spec["image"])
    assert image is not None
    host_ip = internal_ip(world.store.get("nodes", "", record.node))
    ip = host_ip if sync.spec.get("hostNetwork") else record.ip
    try:
        env = environment.resolve(world, sync.pod, spec, ip, host_ip)
        _check_user(sync, spec, image)
    except environment.ConfigError as error:
        return _not_configured(sync, container, str(error))
    env = {**_standard_env(sync), **env}
    argv = list(runtime.past_entrypoint(world, image, tuple(_argv(spec, image, env))))
    if not argv:
        text = 'failed to generate container "" spec: failed to generate spec: no command specified'
        return _not_created(sync, container, text)
    backoff = _raised(container)
    fresh = evolve(
        container,
        image=spec["image"],
        image_id=images.image_id(spec["image"]),
        id=_container_id(sync),
        restarts=container.restarts + (container.last is not None),
        retry_at=0,
        reason="",
        message="",
        backoff=backoff,
        backoff_at=container.backoff_at if container.last is None else sync.now,
    )
    sync.event("Normal", "Created", f"Created container: {container.name}", container)
    limit = memory_limit(spec)
    if limit is not None and limit < SMALLEST_MEMORY:
        text = "container init was OOM-killed (memory limit too low?): unknown"
        return _not_started(sync, fresh, _RUNTIME_ERROR + text)
    if pids.full(world, record.node):
        text = "unable to start init: fork/exec /proc/self/fd/7: resource temporarily unavailable: unknown"
        return _not_started(sync, fresh, _RUNTIME_ERROR + text)
    found = runtime.executable(world, image, argv[0])
    if found is None:
        return _not_started(sync, fresh, _RUNTIME_ERROR + _missing(argv[0]))
    if _architecture(sync) not in image.architectures:
        folder = "/usr/local/bin/" if found[0] in image.binaries else "/bin/"
        return _foreign(sync, fresh, argv[0] if "/" in argv[0] else folder + argv[0])
    return _run(sync, spec, fresh, image, found, tuple(argv), env, ip)


def _architecture(sync: Sync) -> str:
    node = sync.world.store.get("nodes", "", sync.record.node)
    return "amd64" if node is None else str(node["status"]["nodeInfo"]["architecture"])


def _foreign(sync: Sync, container: Container, program: str) -> Container:
    """A program of another processor: the container is made and started, and the kernel does not execute what is in it.

    So it is runc 1.2 that says so, where the program's output goes, and exits with 255.
    """
    world = sync.world
    sync.event("Normal", "Started", f"Started container {container.name}", container)
    _forget_old_runs(sync, container)
    running = sync.put(evolve(container, state="running", started_at=sync.now))
    world.log((sync.uid, container.name, container.restarts)).write(
        world.clock, f"exec {program}: exec format error"
    )
    sync.look_again(sync.now + SECOND)
    return ended(world, sync.record, running, 255, "")


def _run(
    sync: Sync,
    spec: dict[str, Any],
    container: Container,
    image: Image,
    found: tuple[str, str],
    argv: tuple[str, ...],
    env: dict[str, str],
    ip: str,
) -> Container:
    world, record = sync.world, sync.record
    sync.event("Normal", "Started", f"Started container {container.name}", container)
    _forget_old_runs(sync, container)
    gated = "startupProbe" in spec
    sync.put(
        evolve(
            container,
            state="running",
            started_at=sync.now,
            started=not gated,
            ready=not gated and "readinessProbe" not in spec,
            probes=probes.planned(spec, sync.now, sync.chance(0.0, 1.0)) if _probed(spec) else {},
            frozen_volumes=record.sources,
        )
    )
    runtime.start(
        world,
        Process(
            key=(record.uid, container.name),
            namespace=record.namespace,
            pod=record.name,
            container=container.name,
            node=record.node,
            ip=ip,
            host_network=bool(sync.spec.get("hostNetwork")),
            hostname=hostname(sync),
            image=image.reference,
            binary=found[0],
            program=found[1],
            argv=argv,
            env=env,
            mounts=volumes.mounts(world, sync.pod, spec, env),
            cpu_limit=cpu_limit(spec),
            memory_limit=memory_limit(spec),
            restart=container.restarts,
            started_at=sync.now,
            stdin=bool(spec.get("stdin")),
            tty=bool(spec.get("tty")),
        ),
    )
    running = sync.container(container.name)
    if running.alive:
        _post_start(sync, spec, running)
        running = sync.container(container.name)
        if running.alive and running.probes:
            probes.run(sync, spec, running)
    return sync.container(container.name)


def _probed(spec: Mapping[str, Any]) -> bool:
    return "livenessProbe" in spec or "readinessProbe" in spec or "startupProbe" in spec


def hostname(sync: Sync) -> str:
    """The name that the pod's processes see."""
    if sync.spec.get("hostNetwork"):
        return sync.record.node
    return str(sync.spec.get("hostname") or sync.record.name)[:63]


def _standard_env(sync: Sync) -> dict[str, str]:
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOSTNAME": hostname(sync)}


def _argv(spec: Mapping[str, Any], image: Image, env: Mapping[str, str]) -> list[str]:
    command, arguments = spec.get("command"), spec.get("args")
    if command:
        # A command drops the image's CMD as well as its entrypoint; args alone keep the entrypoint.
        line = [*command, *(arguments or ())]
    else:
        line = [*image.entrypoint, *(arguments if arguments else image.command)]
    return [expand(word, env) for word in line]


def _check_user(sync: Sync, spec: Mapping[str, Any], image: Image) -> None:
    own, pod = spec.get("securityContext") or {}, sync.spec.get("securityContext") or {}
    if not own.get("runAsNonRoot", pod.get("runAsNonRoot", False)):
        return
    user = own.get("runAsUser", pod.get("runAsUser"))
    where = f'(pod: "{_pod_identity(sync)}", container: {spec["name"]})'
    if user == 0:
        raise environment.ConfigError(f"container's runAsUser breaks non-root policy {where}")
    if user is None and image.user == 0:
        raise environment.ConfigError(f"container has runAsNonRoot and image will run as root {where}")


def _missing(argv0: str) -> str:
    if "/" in argv0:
        return f'exec: "{argv0}": stat {argv0}: no such file or directory: unknown'
    return f'exec: "{argv0}": executable file not found in $PATH: unknown'


def _container_id(sync: Sync) -> str:
    streams = sync.world.streams
    return "containerd://" + "".join(f"{streams.bits('container'):016x}" for _ in range(4))


def _not_configured(sync: Sync, container: Container, text: str) -> Container:
    sync.event("Warning", "Failed", f"Error: {text}", container)
    retry = sync.now + SYNC_RETRY
    sync.look_again(retry)
    reason = "CreateContainerConfigError"
    return sync.put(evolve(container, state="waiting", reason=reason, message=text, retry_at=retry))


def _not_created(sync: Sync, container: Container, text: str) -> Container:
    sync.event("Warning", "Failed", f"Error: {text}", container)
    retry = sync.now + SYNC_RETRY
    sync.look_again(retry)
    reason = "CreateContainerError"
    return sync.put(evolve(container, state="waiting", reason=reason, message=text, retry_at=retry))


def _not_started(sync: Sync, container: Container, text: str) -> Container:
    """The runtime could not execute the command: an end with code 128 that the back-off counts."""
    sync.event("Warning", "Failed", f"Error: {text}", container)
    gone = Ended(128, START_ERROR, sync.now, message=text, container_id=container.id)
    ran = evolve(container, state="ended", ended=gone)
    policy = "Never" if ran.role == "ephemeral" else sync.spec.get("restartPolicy", "Always")
    if policy == "Never":
        return sync.put(ran)
    waiting = _await_restart(sync, ran, gone)
    if waiting.reason != BACKING_OFF:
        waiting = evolve(waiting, reason=NOT_STARTED, message=text, retry_at=sync.now + SECOND)
    sync.look_again(waiting.retry_at)
    return sync.put(waiting)


def _forget_old_runs(sync: Sync, container: Container) -> None:
    """A node keeps the log of the present run and of the one before (``logs --previous``)."""
    sync.world.logs.pop((sync.uid, container.name, container.restarts - 2), None)
    if container.restarts:
        # A new run starts from the image: what the last one wrote to its root file system is gone.
        prefix = f"overlay/{sync.uid}/{container.name}/"
        for slot in [slot for slot in sync.world.volumes if slot.startswith(prefix)]:
            del sync.world.volumes[slot]


# --- hooks and stopping ---------------------------------------------------------------------------


def _post_start(sync: Sync, spec: dict[str, Any], container: Container) -> None:
    hook = (spec.get("lifecycle") or {}).get("postStart")
    if not hook:
        return
    passed, _ = _hooked(sync, container.name, hook)
    if not passed:
        sync.event("Warning", "FailedPostStartHook", "PostStartHook failed", container)
        stop(sync, spec, sync.container(container.name), "FailedPostStartHook", grace(sync, spec))


def _pre_stop(sync: Sync, spec: Mapping[str, Any], container: Container, allowed: int) -> int:
    """Run a preStop hook: how long it takes, microseconds."""
    hook = (spec.get("lifecycle") or {}).get("preStop")
    if not hook:
        return 0
    if "sleep" in hook:
        return min(int(hook["sleep"].get("seconds", 0)) * SECOND, allowed)
    passed, took = _hooked(sync, container.name, hook)
    if not passed:
        sync.event("Warning", "FailedPreStopHook", "PreStopHook failed", container)
    return min(took, allowed)


def _hooked(sync: Sync, container: str, hook: Mapping[str, Any]) -> tuple[bool, int]:
    """Run a hook: whether it succeeded, and how long it takes, microseconds."""
    if "exec" in hook:
        # Unlike a probe, a hook may take as long as it likes.
        result = runtime.execute(sync.world, sync.pod, container, hook["exec"].get("command", ()))
        return result.exit_code == 0, seconds(result.seconds)
    return probes.check(sync.world, sync.pod, sync.record, container, hook)[0], 0


def stop(sync: Sync, spec: Mapping[str, Any], container: Container, message: str, allowed: int) -> None:
    """Tell a container to end: preStop hook, SIGTERM, and SIGKILL when ``allowed`` microseconds are over."""
    sync.event("Normal", "Killing", message, container)
    spent = _pre_stop(sync, spec, container, allowed) if allowed else 0
    if not sync.container(container.name).alive:
        return
    asked, code = runtime.terminate(sync.world, (sync.uid, container.name))
    # Even where no grace is given the kubelet leaves a moment between SIGTERM and SIGKILL.
    left = max(allowed - spent, MINIMUM_GRACE)
    duration = seconds(asked)
    if duration >= left:
        duration, code = left, 137
    container = sync.container(container.name)
    if not container.alive:
        return
    sync.put(evolve(container, stop=Stop(sync.now + spent + duration, code)))
    sync.look_again(sync.now + spent + duration)
