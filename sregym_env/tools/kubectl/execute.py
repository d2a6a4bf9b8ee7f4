"""``kubectl exec``."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import TIME_IS_UP, Call, Verb
from sregym_env.tools.kubectl.containers import choose, container_names
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.resolve import Info, first_pod, one_pod, targets
from sregym_env.tools.kubectl.writing import from_files

_RUNTIME_ERROR = "error: Internal error occurred: "
_NOT_STARTED = (126, 127)
"""Exit codes for a command that could not be started."""


def run(call: Call) -> None:
    """Run a command in a container."""
    given = call.flags["filename"]
    if (not call.args or call.dash == 0) and not given:
        call.connect()
        raise failure("pod, type/name or --filename must be specified")
    if call.dash < 0 and len(call.args) > (0 if given else 1):
        raise usage_failure(
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead", "exec"
        )
    if call.dash > 1:
        raise usage_failure(
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead", "exec"
        )
    command = call.args[1:] if call.dash != 0 else call.args
    if not command:
        raise failure("you must specify at least one command for the container")
    pod = _of_file(call) if given else one_pod(call, call.args[0])
    container = container_of(call, pod)
    if call.flags["tty"] and call.flags["stdin"] and not call.flags["quiet"]:
        call.warn("Unable to use a TTY - input is not a terminal or the right kind of file")
    stdin = call.stdin if call.flags["stdin"] else ""
    result = _carried_out(call, pod, container, command, stdin)
    for descriptor, text in result.pieces:
        (call.print if descriptor == 1 else call.complain)(text)
    if result.exit_code == TIME_IS_UP and call.left() <= 0:
        # It is kubectl itself that was ended, so it has no last word.
        call.exit_code = TIME_IS_UP
    elif result.exit_code:
        call.warn(f"command terminated with exit code {result.exit_code}")
        call.exit_code = result.exit_code


def _of_file(call: Call) -> Manifest:
    """The pod of the object that a file names."""
    targets(call, call.args[: max(call.dash, 0)])  # words beside a file are refused
    found = [Info(resource, manifest) for _, resource, manifest in from_files(call)]
    if len(found) > 1:
        raise failure("cannot exec into multiple objects at a time")
    if found[0].resource.key == "pods":
        return call.cluster.get("pods", found[0].name, found[0].namespace)
    return first_pod(call, found[0])


def _carried_out(call: Call, pod: Manifest, container: str, command: Sequence[str], stdin: str) -> ExecResult:
    """Run a command. Raises KubectlError where it could not be started."""
    metadata = pod["metadata"]
    try:
        result = call.cluster.exec(
            metadata["namespace"],
            metadata["name"],
            list(command),
            container=container,
            stdin=stdin,
            limit=max(0.0, call.left()),
        )
    except StatusError as error:
        if error.code != 500 or not error.reason:
            raise
        raise failure(
            f"Internal error occurred: {error.message.removeprefix('Internal error occurred: ')}"
        ) from None
    call.cost += result.cost
    if result.exit_code in _NOT_STARTED and result.stderr.startswith(_RUNTIME_ERROR):
        # The runtime refused: the command never ran, so there is no exit code of its own to report.
        call.print(result.stdout)
        raise KubectlError(result.stderr.removesuffix("\n"))
    return result


def execute(
    call: Call,
    name: str,
    command: Sequence[str],
    *,
    stdin: str = "",
    namespace: str = "",
    quiet: bool = False,
    notes: list[str] | None = None,
) -> ExecResult:
    """Run a command in a pod on behalf of another verb; ``quiet`` never raises for what happens in the pod.

    Notes about the chosen container go to ``notes``, standard error by default.
    """
    pod = call.cluster.get("pods", name, namespace or call.namespace)
    before = len(call.err)
    try:
        result = _carried_out(call, pod, container_of(call, pod), command, stdin)
    except KubectlError as error:
        if not quiet:
            raise
        result = ExecResult(exit_code=error.exit_code)
    said = call.unsaid(before)
    if not quiet:
        for note in said:
            (call.complain if notes is None else notes.append)(note)
    return result


def container_of(call: Call, pod: Manifest) -> str:
    """The container in which a command is to run. Raises kubectl's and the server's refusals."""
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise failure(f"cannot exec into a container in a completed pod; current phase is {phase}")
    wanted = call.flags["container"]
    if wanted and wanted not in container_names(pod):
        raise KubectlError(
            f"Error from server (BadRequest): container {wanted} is not valid for pod {pod['metadata']['name']}"
        )
    return choose(call, pod, wanted)


VERB = Verb(
    "exec",
    "Execute a command in a container",
    run,
    flags=(
        f.CONTAINER,
        f.FILENAME,
        Flag(
            "pod-running-timeout",
            kind="duration",
            help="The length of time to wait until at least one pod is running",
        ),
        Flag("quiet", "q", kind="bool", help="Only print output from the remote session"),
        Flag("stdin", "i", kind="bool", help="Pass stdin to the container"),
        Flag("tty", "t", kind="bool", help="Stdin is a TTY"),
    ),
    usage="exec (POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...] [options]",
    description="Execute a command in a container.",
    examples=(
        "# Get output from running the 'date' command from pod mypod, using the first container by default\n"
        "  kubectl exec mypod -- date",
        "# Get output from running the 'date' command in ruby-container from pod mypod\n"
        "  kubectl exec mypod -c ruby-container -- date",
        "# Get output from running 'date' command from the first pod of the deployment mydeployment\n"
        "  kubectl exec deploy/mydeployment -- date",
    ),
    group="Troubleshooting and Debugging Commands",
)
