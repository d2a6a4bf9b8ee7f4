"""``kubectl logs``."""

from __future__ import annotations

from sregym_env.kube import registry
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.attach import running_timeout
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.containers import choose, container_names
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.get import nothing_found
from sregym_env.tools.kubectl.resolve import Info, get_object, pods_of, selected, targets

_USAGE = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command"
# kubectl's own defaults: a selector may bring very many logs.
_SELECTOR_TAIL = 10
_MAX_STREAMS = 5


def run(call: Call) -> None:
    """Print the log of one container, or of every container asked for."""
    flags = call.flags
    _check(call)
    if flags["selector"]:
        resource = registry.by_key("pods")
        assert resource is not None
        pods = selected(call, resource, call.namespace, flags["selector"])
        if not pods:
            call.warn(nothing_found(call))
            return
        sources = [(pod, name) for pod in pods for name in _names(call, pod, notify=False)]
        _check_streams(call, len(sources))
    else:
        pods = _pods(call)
        sources = [(pod, name) for pod in pods for name in _names(call, pod)]
    for pod, name in sources:
        _print_log(call, pod, name, prefix=flags["prefix"] or flags["all-pods"])
    if flags["follow"]:
        call.warn(
            "log stream closed: following is not possible here; run the command again to see newer lines"
        )


def check_words(call: Call) -> None:
    """Refuse words that do not go together, and too few of them."""
    args = call.args
    if not args and not call.flags["selector"]:
        raise usage_failure(_USAGE, "logs")
    if args and call.flags["selector"]:
        raise usage_failure("only a selector (-l) or a POD name is allowed", "logs")
    if len(args) > 2:
        raise usage_failure(_USAGE, "logs")


def _check(call: Call) -> None:
    flags, args = call.flags, call.args
    if len(args) == 2 and flags["container"]:
        raise failure("only one of -c or an inline [CONTAINER] arg is allowed")
    if flags["all-containers"] and flags["container"]:
        raise failure(
            "--all-containers=true should not be specified with container name " + flags["container"]
        )
    if flags["since"] and flags["since-time"]:
        raise failure("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if flags["tail"] < -1:
        raise failure("--tail must be greater than or equal to -1")
    running_timeout(call)
    if flags["limit-bytes"] < 0:
        raise failure("--limit-bytes must be greater than 0")


def _check_streams(call: Call, count: int) -> None:
    limit = call.flags["max-log-requests"]
    if call.flags["follow"] and count > limit:
        raise failure(
            f"you are attempting to follow {count} log streams, but maximum allowed concurrency is {limit}, "
            "use --max-log-requests to increase the limit"
        )


def _pods(call: Call) -> list[Manifest]:
    """The pod the argument means; all pods of a workload with ``--all-pods``."""
    word = call.args[0]
    target = targets(call, [word if "/" in word else f"pods/{word}"])[0]
    try:
        obj = get_object(call, target)
    except StatusError as error:
        if error.code != 404:
            raise
        where = f' in namespace "{call.namespace}"'
        raise KubectlError(f"error: error from server (NotFound): {error.message}{where}") from None
    if target.resource.key == "pods":
        return [obj]
    info = Info(target.resource, obj)
    pods = pods_of(call, info)
    if not pods:
        raise failure("timed out waiting for the condition")
    if call.flags["all-pods"]:
        return pods
    first = pods[0]["metadata"]["name"]
    if len(pods) > 1:
        call.warn(f"Found {len(pods)} pods, using pod/{first}")
    return pods[:1]


def _names(call: Call, pod: Manifest, *, notify: bool = True) -> list[str]:
    flags = call.flags
    if flags["all-containers"] or (flags["all-pods"] and not flags["container"]):
        return container_names(pod)
    wanted = flags["container"] or (call.args[1] if len(call.args) == 2 else "")
    if not notify and not wanted:
        quiet = Call(
            call.kubeconfig,
            call.cluster,
            call.command,
            {**flags, "quiet": True},
            call.given,
            call.args,
            -1,
            "",
            None,
        )
        return [choose(quiet, pod, "")]
    if wanted and wanted not in container_names(pod):
        name = pod["metadata"]["name"]
        raise failure(f"container {wanted} is not valid for pod {name}")
    return [choose(call, pod, wanted)]


def _print_log(call: Call, pod: Manifest, container: str, *, prefix: bool) -> None:
    flags = call.flags
    metadata = pod["metadata"]
    tail = flags["tail"] if flags["tail"] >= 0 else None
    if tail is None and flags["selector"] and "tail" not in call.given:
        tail = _SELECTOR_TAIL
    try:
        text = call.cluster.logs(
            metadata["namespace"],
            metadata["name"],
            container=container,
            previous=flags["previous"],
            tail=tail,
            since_seconds=_since(call),
            timestamps=flags["timestamps"],
            limit_bytes=flags["limit-bytes"] or None,
        )
    except StatusError as error:
        if not flags["ignore-errors"]:
            raise
        call.warn(f"error: {error.message}")
        return
    if prefix and text:
        lead = f"[pod/{metadata['name']}/{container}] "
        text = "".join(lead + line for line in text.splitlines(keepends=True))
    call.print(text)


def _since(call: Call) -> int | None:
    flags = call.flags
    if flags["since"]:
        return max(1, -(-int(flags["since"]) // 1_000_000_000))
    if flags["since-time"]:
        try:
            start = parse_rfc3339(flags["since-time"])
        except ValueError:
            text = flags["since-time"]
            raise failure(
                f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as "2006"'
            ) from None
        return max(1, (call.cluster.now() - start) // 1_000_000)
    return None


VERB = Verb(
    "logs",
    "Print the logs for a container in a pod",
    run,
    flags=(
        Flag("all-containers", kind="bool", help="Get all containers' logs in the pod(s)."),
        Flag("all-pods", kind="bool", help="Get logs from all pod(s). Sets prefix to true."),
        f.CONTAINER,
        Flag("follow", "f", kind="bool", help="Specify if the logs should be streamed."),
        Flag(
            "ignore-errors",
            kind="bool",
            help="If watching / following pod logs, allow for any errors that occur to be non-fatal",
        ),
        Flag(
            "insecure-skip-tls-verify-backend",
            kind="bool",
            help="Skip verifying the identity of the kubelet.",
        ),
        Flag("limit-bytes", kind="int", help="Maximum bytes of logs to return. Defaults to no limit."),
        Flag(
            "max-log-requests",
            kind="int",
            default=_MAX_STREAMS,
            help="Maximum number of concurrent logs to follow.",
        ),
        Flag(
            "pod-running-timeout",
            kind="duration",
            help="The length of time to wait until at least one pod is running",
        ),
        Flag(
            "prefix",
            kind="bool",
            help="Prefix each log line with the log source (pod name and container name)",
        ),
        Flag(
            "previous",
            "p",
            kind="bool",
            help="If true, print the logs for the previous instance of the container.",
        ),
        f.SELECTOR,
        Flag(
            "since",
            kind="duration",
            help="Only return logs newer than a relative duration like 5s, 2m, or 3h.",
        ),
        Flag("since-time", help="Only return logs after a specific date (RFC3339)."),
        Flag("tail", kind="int", default=-1, help="Lines of recent log file to display. Defaults to -1."),
        Flag("timestamps", kind="bool", help="Include timestamps on each line in the log output"),
    ),
    usage="logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER] [options]",
    description="Print the logs for a container in a pod or specified resource. If the pod has only one container, the "
    "container name is optional.",
    examples=(
        "# Return snapshot logs from pod nginx with only one container\n  kubectl logs nginx",
        "# Return snapshot logs from all containers in pods defined by label app=nginx\n"
        "  kubectl logs -l app=nginx --all-containers=true",
        "# Return snapshot of previous terminated ruby container logs from pod web-1\n  kubectl logs -p -c ruby web-1",
        "# Display only the most recent 20 lines of output in pod nginx\n  kubectl logs --tail=20 nginx",
        "# Show all logs from pod nginx written in the last hour\n  kubectl logs --since=1h nginx",
    ),
    group="Troubleshooting and Debugging Commands",
)
