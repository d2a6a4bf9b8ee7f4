"""``kubectl attach``, and what ``run -i`` and ``debug -it`` share with it: waiting for a pod and joining its streams."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.containers import choose, container_names
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.resolve import one_pod

ATTACHED_SECONDS = 30.0
"""Virtual seconds for which the output of a process is shown that does not end: nobody can interrupt it."""
LOOK_SECONDS = 0.02
"""How often something is looked at while it may change at any moment, virtual seconds."""
SLOW_LOOK_SECONDS = 0.5
"""How often after the first seconds."""
RUNNING_TIMEOUT = 60.0
"""Default of ``--pod-running-timeout``, seconds."""

NO_TERMINAL = "Unable to use a TTY - input is not a terminal or the right kind of file"
TRY_ENTER = "If you don't see a command prompt, try pressing enter."


def run(call: Call) -> None:
    """Attach to a running container."""
    if not call.args:
        raise failure("at least 1 argument is required for attach")
    if len(call.args) > 2:
        raise failure(
            f"expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {len(call.args)}: "
            f"[{' '.join(call.args)}]"
        )
    word = call.args[0] if len(call.args) == 1 else "/".join(call.args)
    pod = one_pod(call, word)
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise failure(f"cannot attach a container in a completed pod; current phase is {phase}")
    wanted = call.flags["container"]
    if wanted and wanted not in container_names(pod):
        name = pod["metadata"]["name"]
        raise failure(f"cannot attach to the container: container {wanted} not found in pod {name}")
    join(call, pod, choose(call, pod, wanted), tty=call.flags["tty"])


def join(call: Call, pod: Manifest, container: str, *, tty: bool) -> None:
    """Attach as ``attach`` does: notes on the terminal, then the output of the main process.

    Raises KubectlError with the kubelet's refusal.
    """
    call.tell_warnings()
    quiet, stdin = call.flags["quiet"], call.flags["stdin"]
    allocated = _spec(pod, container).get("tty", False)
    if tty and not allocated:
        tty = False
        if not quiet:
            call.warn(f"error: Unable to use a TTY - container {container} did not allocate one")
    elif allocated:
        tty = True
    if stdin and tty and not quiet:
        call.warn(NO_TERMINAL)
    if not quiet:
        call.warn(TRY_ENTER)
    stream(call, pod, container, call.stdin if stdin else None)


def stream(call: Call, pod: Manifest, container: str, stdin: str | None) -> None:
    """Print what a main process writes, until it ends or has been shown for long enough."""
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    try:
        seen = call.cluster.attach(
            namespace, name, container=container, stdin=stdin or "", end=stdin is not None
        )
    except StatusError as error:
        if error.code != 500 or not error.reason:
            raise
        raise failure(error.message.removeprefix("Internal error occurred: ")) from None
    call.print(seen.text)
    shown = 0.0
    while seen.running:
        if shown >= ATTACHED_SECONDS:
            call.warn(f"detached after {ATTACHED_SECONDS:.0f}s: the process still runs")
            return
        pause = LOOK_SECONDS if shown < 2.0 else SLOW_LOOK_SECONDS
        call.advance(pause)
        shown += pause
        try:
            seen = call.cluster.attach(namespace, name, container=container, cursor=seen.cursor)
        except StatusError as error:
            if error.code != 404:
                raise
            return
        call.print(seen.text)


def _spec(pod: Manifest, container: str) -> Manifest:
    spec = pod["spec"]
    for part in ("containers", "initContainers", "ephemeralContainers"):
        for found in spec.get(part) or ():
            if found["name"] == container:
                own: Manifest = found
                return own
    return {}


def running_timeout(call: Call) -> float:
    """``--pod-running-timeout`` in seconds. Raises kubectl's complaint about one that is not positive."""
    if "pod-running-timeout" not in call.given:
        return RUNNING_TIMEOUT
    seconds = int(call.flags["pod-running-timeout"]) / 1e9
    if seconds <= 0:
        raise failure("--pod-running-timeout must be higher than zero")
    return float(min(seconds, 3600.0))


def wait_for(call: Call, pod: Manifest, done: Callable[[Manifest], bool], timeout: float) -> Manifest:
    """Let time pass until ``done`` says so of the pod. Raises kubectl's error when it takes too long."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    waited = 0.0
    while True:
        current = call.cluster.get("pods", name, namespace)
        if done(current):
            return current
        if waited >= timeout:
            raise failure("timed out waiting for the condition")
        pause = LOOK_SECONDS if waited < 10.0 else SLOW_LOOK_SECONDS
        call.advance(pause)
        waited += pause


def completed(pod: Manifest) -> bool:
    """Whether the pod's work is over."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def ready(pod: Manifest) -> bool:
    """Whether the pod runs and is ready."""
    state = pod.get("status") or {}
    conditions = state.get("conditions") or ()
    return state.get("phase") == "Running" and any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )


def attach_when_running(call: Call, pod: Manifest, container: str, *, tty: bool) -> None:
    """Wait until a new pod runs and attach to it, or show its log where it has ended already."""
    current = wait_for(call, pod, lambda found: completed(found) or ready(found), running_timeout(call))
    if completed(current):
        show_log(call, current, container)
        return
    attach_or_log(call, current, container, tty=tty)


def attach_or_log(call: Call, pod: Manifest, container: str, *, tty: bool) -> None:
    """Attach; where that fails, say so and show the log instead."""
    try:
        join(call, pod, container, tty=tty)
    except KubectlError as error:
        if not error.text:  # the time is up
            raise
        name, text = pod["metadata"]["name"], error.text.removeprefix("error: ")
        call.warn(f"warning: couldn't attach to pod/{name}, falling back to streaming logs: {text}")
        show_log(call, pod, container)


def show_log(call: Call, pod: Manifest, container: str) -> None:
    """Print a container's whole log."""
    call.print(call.cluster.logs(pod["metadata"]["namespace"], pod["metadata"]["name"], container=container))


POD_RUNNING_TIMEOUT = Flag(
    "pod-running-timeout",
    kind="duration",
    help="The length of time (like 5s, 2m, or 3h, higher than zero) to wait until at least one pod is running",
)
QUIET = Flag("quiet", "q", kind="bool", help="Only print output from the remote session")
STDIN = Flag("stdin", "i", kind="bool", help="Pass stdin to the container")
TTY = Flag("tty", "t", kind="bool", help="Stdin is a TTY")

VERB = Verb(
    "attach",
    "Attach to a running container",
    run,
    flags=(f.CONTAINER, POD_RUNNING_TIMEOUT, QUIET, STDIN, TTY),
    usage="attach (POD | TYPE/NAME) -c CONTAINER [options]",
    description="Attach to a process that is already running inside an existing container.",
    examples=(
        "# Get output from running pod mypod\n  kubectl attach mypod",
        "# Get output from ruby-container from pod mypod\n  kubectl attach mypod -c ruby-container",
    ),
    group="Troubleshooting and Debugging Commands",
)
