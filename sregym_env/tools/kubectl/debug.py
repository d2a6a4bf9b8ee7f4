"""``kubectl debug``: an ephemeral container in a pod, a changed copy of a pod, or a pod on a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.tools.kubectl import attach
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.containers import container_names
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.resolve import Info, get_object, targets
from sregym_env.tools.kubectl.run import IMAGE_REFERENCE
from sregym_env.tools.kubectl.writing import pairs

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names (apimachinery ``rand.String``)."""
PULL_SECONDS = 60.0
"""Virtual seconds for which a debug container that does not start is waited for: nobody can interrupt it."""

PROFILES = ("legacy", "general", "baseline", "netadmin", "restricted", "sysadmin")
_LEGACY = (
    "--profile=legacy is deprecated and will be removed in the future. It is recommended to explicitly specify a "
    'profile, for example "--profile=general".'
)
_SECURITY: Mapping[str, Manifest] = {
    "general": {"capabilities": {"add": ["SYS_PTRACE"]}},
    "restricted": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "netadmin": {"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
    "sysadmin": {"privileged": True},
}
"""Security contexts of the profiles in containers of pods; on nodes ``general`` has none."""
_HOST_PROFILES = ("legacy", "general", "sysadmin", "netadmin")
"""Profiles whose node pods live in the host's namespaces."""
_ROOT_PROFILES = ("legacy", "general", "sysadmin")
"""Profiles whose node pods see the host's files."""


def run(call: Call) -> None:
    """Make what is needed to look into each target, and attach to it where asked."""
    attached = _check(call)
    profile = call.flags["profile"]
    if profile == "legacy" and not call.flags["custom"]:
        call.warn(_LEGACY)
    if profile not in PROFILES:
        raise failure(f"unknown profile: {profile}")
    words = list(call.args[: call.dash] if call.dash >= 0 else call.args)
    wanted = targets(call, [word if "/" in word else f"pods/{word}" for word in words])
    for target in wanted:
        info = Info(target.resource, get_object(call, target))
        if info.resource.key == "nodes":
            pod, container = _debug_node(call, info.object), "debugger"
        elif info.resource.key == "pods":
            pod, container = (_copy if call.flags["copy-to"] else _add)(call, info.object)
        else:
            api = info.resource.api_version if info.resource.group else f"/{info.resource.version}"
            raise failure(f'"{api}, Kind={info.resource.kind}" not supported by debug')
        if attached and container:
            _attach(call, pod, container)


def _arguments(call: Call) -> list[str]:
    return list(call.args[call.dash :]) if call.dash >= 0 else []


def _check(call: Call) -> bool:
    """Refuse what kubectl refuses; whether it attaches."""
    flags = call.flags
    arguments = _arguments(call)
    attached = bool(flags["attach"] or (flags["stdin"] and "attach" not in call.given))
    if attached and "attach" in call.given and not flags["image"] and not flags["container"]:
        raise failure(
            "you must specify --container or create a new container using --image in order to attach."
        )
    if flags["copy-to"]:
        if not flags["image"] and not flags["set-image"] and not arguments:
            raise failure("you must specify --image, --set-image or command arguments.")
        if arguments and not flags["container"] and not flags["image"]:
            raise failure("you must specify an existing container or a new image when specifying args.")
    else:
        for name in ("replace", "same-node", "set-image"):
            if flags[name]:
                raise failure(f"--{name} may only be used with --copy-to.")
        if not flags["image"]:
            raise failure("you must specify --image when not using --copy-to.")
    if flags["image"] and not IMAGE_REFERENCE.match(flags["image"]):
        raise failure(f'invalid image name "{flags["image"]}": invalid reference format')
    if not flags["filename"] and not (call.args[: call.dash] if call.dash >= 0 else call.args):
        raise failure("NAME or filename is required for debug")
    if flags["image-pull-policy"] not in ("Always", "IfNotPresent", "Never", ""):
        raise failure(f"invalid image pull policy: {flags['image-pull-policy']}")
    for name, image in _images(call).items():
        if not IMAGE_REFERENCE.match(image):
            raise failure(f'invalid image name "{image}" for container "{name}": invalid reference format')
    if flags["target"]:
        if flags["copy-to"]:
            raise failure("--target is incompatible with --copy-to. Use --share-processes instead.")
        if not flags["quiet"]:
            call.print(
                f'Targeting container "{flags["target"]}". If you don\'t see processes from this container it may '
                "be because the container runtime doesn't support this feature.\n"
            )
    if flags["tty"] and not flags["stdin"]:
        raise failure("-i/--stdin is required for containers with -t/--tty=true")
    return attached


def _images(call: Call) -> dict[str, str]:
    found = {}
    for word in call.flags["set-image"]:
        name, equals, image = word.partition("=")
        if not equals:
            raise failure(
                f'invalid argument "{word}" for "--set-image" flag: {word} must be formatted as key=value'
            )
        found[name] = image
    return found


def suffix(call: Call, *about: str) -> str:
    """Five letters for a generated name."""
    # Random in kubectl; here the same in every run.
    bits = keyed_bits(call.cluster.now(), "kubectl debug", *about)
    letters = ""
    for _ in range(5):
        bits, place = divmod(bits, len(SUFFIX_LETTERS))
        letters += SUFFIX_LETTERS[place]
    return letters


def _container_name(call: Call, pod: Manifest) -> str:
    """The name of the debug container: the one that was asked for, or a new one, which is told."""
    if call.flags["container"]:
        return str(call.flags["container"])
    known = container_names(pod)
    name, attempt = "", 0
    while not name or name in known:
        name = f"debugger-{suffix(call, pod['metadata']['name'], str(attempt))}"
        attempt += 1
    if not call.flags["quiet"]:
        call.print(f"Defaulting debug container name to {name}.\n")
    return name


def _dressed(call: Call, container: Manifest) -> Manifest:
    """The container with what the flags say of it."""
    flags, made = call.flags, dict(container)
    arguments = _arguments(call)
    if arguments and flags["arguments-only"]:
        made["args"] = arguments
    elif arguments:
        made["command"] = arguments
        made.pop("args", None)
    if flags["env"]:
        made["env"] = [{"name": k, "value": v} for k, v in pairs(flags["env"], "env").items()]
    if flags["image"]:
        made["image"] = flags["image"]
    if flags["image-pull-policy"]:
        made["imagePullPolicy"] = flags["image-pull-policy"]
    for field, flag in (("stdin", "stdin"), ("tty", "tty")):
        made.pop(field, None)
        if flags[flag]:
            made[field] = True
    return made


# --- an ephemeral container -------------------------------------------------------------------------


def _add(call: Call, pod: Manifest) -> tuple[Manifest, str]:
    name = _container_name(call, pod)
    container = _dressed(call, {"name": name, "resources": {}, "terminationMessagePolicy": "File"})
    if call.flags["target"]:
        container["targetContainerName"] = call.flags["target"]
    security = _SECURITY.get(call.flags["profile"])
    if security:
        container["securityContext"] = security
    metadata = pod["metadata"]
    known = [{"name": other["name"]} for other in pod["spec"].get("ephemeralContainers") or ()]
    order = [other for other in known if other["name"] != name] + [{"name": name}]
    patch = {"spec": {"$setElementOrder/ephemeralContainers": order, "ephemeralContainers": [container]}}
    made = call.cluster.patch(
        "pods",
        metadata["name"],
        patch,
        namespace=metadata["namespace"],
        subresource="ephemeralcontainers",
        field_manager=call.manager,
    )
    return made, name


# --- a copy of a pod --------------------------------------------------------------------------------


def _copy(call: Call, pod: Manifest) -> tuple[Manifest, str]:
    flags = call.flags
    metadata: Manifest = {"name": flags["copy-to"], "namespace": pod["metadata"]["namespace"]}
    spec = {k: v for k, v in pod["spec"].items() if k != "ephemeralContainers"}
    if "share-processes" in call.given:
        spec["shareProcessNamespace"] = flags["share-processes"]
    if not flags["same-node"]:
        spec.pop("nodeName", None)
    images = _images(call)
    containers = [_with_image(container, images) for container in spec["containers"]]
    name = flags["container"]
    names = [container["name"] for container in containers]
    only_images = name not in names and not flags["image"]
    if only_images and not images:
        raise failure("you must specify image when creating new container")
    if only_images:
        name = ""
    else:
        if name not in names:
            name = name or _container_name(call, {"metadata": metadata, "spec": {"containers": containers}})
            containers.append({"name": name, "resources": {}})
        at = next(index for index, container in enumerate(containers) if container["name"] == name)
        containers[at] = _dressed(call, containers[at])
        security = _SECURITY.get(flags["profile"])
        if security:
            containers[at] = {**containers[at], "securityContext": security}
        spec = _profiled(call, spec)
    if only_images or flags["keep-labels"]:
        _carry(metadata, pod, "labels")
    if only_images or flags["keep-annotations"] or flags["profile"] == "legacy":
        _carry(metadata, pod, "annotations")
    if not only_images and flags["profile"] != "legacy":
        containers = [_without_probes(call, container) for container in containers]
    spec["containers"] = containers
    copied = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if flags["replace"]:
        call.cluster.delete("pods", pod["metadata"]["name"], metadata["namespace"], grace_period_seconds=0)
    return call.cluster.create(copied, namespace=metadata["namespace"], field_manager=call.manager), name


def _with_image(container: Manifest, images: Mapping[str, str]) -> Manifest:
    image = images.get(container["name"], images.get("*", ""))
    return {**container, "image": image} if image else container


def _profiled(call: Call, spec: Manifest) -> Manifest:
    """What profiles other than ``legacy`` change of a copied pod."""
    made = dict(spec)
    if call.flags["profile"] == "legacy":
        return made
    made.setdefault("shareProcessNamespace", True)
    if not call.flags["keep-init-containers"]:
        made.pop("initContainers", None)
    return made


def _without_probes(call: Call, container: Manifest) -> Manifest:
    dropped = {
        field
        for field, flag in (
            ("livenessProbe", "keep-liveness"),
            ("readinessProbe", "keep-readiness"),
            ("startupProbe", "keep-startup"),
        )
        if not call.flags[flag]
    }
    return {field: value for field, value in container.items() if field not in dropped}


def _carry(metadata: dict[str, Any], pod: Manifest, field: str) -> None:
    if pod["metadata"].get(field):
        metadata[field] = pod["metadata"][field]


# --- a pod on a node --------------------------------------------------------------------------------


def _debug_node(call: Call, node: Manifest) -> Manifest:
    flags, name = call.flags, node["metadata"]["name"]
    profile = flags["profile"]
    pod_name = f"node-debugger-{name}-{suffix(call, name)}"
    if not flags["quiet"]:
        call.print(f"Creating debugging pod {pod_name} with container debugger on node {name}.\n")
    container = _dressed(
        call,
        {"name": flags["container"] or "debugger", "resources": {}, "terminationMessagePolicy": "File"},
    )
    spec: dict[str, Any] = {
        "nodeName": name,
        "restartPolicy": "Never",
        "tolerations": [{"operator": "Exists"}],
    }
    if profile in _ROOT_PROFILES:
        container["volumeMounts"] = [{"mountPath": "/host", "name": "host-root"}]
        spec["volumes"] = [{"name": "host-root", "hostPath": {"path": "/"}}]
    if profile in _HOST_PROFILES:
        spec |= {"hostIPC": True, "hostNetwork": True, "hostPID": True}
    if profile != "general" and profile in _SECURITY:
        container["securityContext"] = _SECURITY[profile]
    spec["containers"] = [container]
    metadata = {"name": pod_name, "namespace": call.namespace}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return call.cluster.create(made, namespace=call.namespace, field_manager=call.manager)


# --- attaching --------------------------------------------------------------------------------------


def _attach(call: Call, pod: Manifest, container: str) -> None:
    """Wait for the container and join its streams, or show its log where it has ended already."""
    metadata = pod["metadata"]
    waited, told = 0.0, ""
    while True:
        current = call.cluster.get("pods", metadata["name"], metadata["namespace"])
        state = _state(current, container)
        if "running" in state or "terminated" in state:
            break
        message = (state.get("waiting") or {}).get("message", "")
        if message and message != told and not call.flags["quiet"]:
            call.warn(f"Warning: container {container}: {message}")
        told = message
        if waited >= PULL_SECONDS:
            raise failure(f"timed out waiting for container {container} after {PULL_SECONDS:.0f}s")
        pause = attach.LOOK_SECONDS if waited < 10.0 else attach.SLOW_LOOK_SECONDS
        call.advance(pause)
        waited += pause
    if "terminated" in state:
        attach.show_log(call, current, container)
        return
    attach.attach_or_log(call, current, container, tty=call.flags["tty"])


def _state(pod: Manifest, container: str) -> Manifest:
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for found in status.get(field) or ():
            if found["name"] == container:
                own: Manifest = found.get("state") or {}
                return own
    return {}


def _bool(name: str, text: str, default: bool = False) -> Flag:
    return Flag(name, kind="bool", default=default, help=text)


_COPY = "(This flag only works when used with '--copy-to')"

VERB = Verb(
    "debug",
    "Create debugging sessions for troubleshooting workloads and nodes",
    run,
    flags=(
        _bool(
            "arguments-only",
            "If specified, everything after -- will be passed to the new container as Args instead of Command.",
        ),
        _bool(
            "attach",
            "If true, wait for the container to start running, and then attach as if 'kubectl attach ...' were called.  "
            "Default false, unless '-i/--stdin' is set, in which case the default is true.",
        ),
        Flag("container", "c", help="Container name to use for debug container."),
        Flag("copy-to", help="Create a copy of the target Pod with this name."),
        Flag(
            "custom",
            help="Path to a JSON or YAML file containing a partial container spec to customize built-in debug profiles.",
        ),
        Flag("env", kind="strings", help="Environment variables to set in the container."),
        f.FILENAME,
        Flag("image", help="Container image to use for debug container."),
        Flag(
            "image-pull-policy",
            help="The image pull policy for the container. If left empty, this value will not be specified by the "
            "client and defaulted by the server.",
        ),
        _bool("keep-annotations", f"If true, keep the original pod annotations.{_COPY}"),
        _bool("keep-init-containers", f"Run the init containers for the pod. Defaults to true.{_COPY}", True),
        _bool("keep-labels", f"If true, keep the original pod labels.{_COPY}"),
        _bool("keep-liveness", f"If true, keep the original pod liveness probes.{_COPY}"),
        _bool("keep-readiness", f"If true, keep the original pod readiness probes.{_COPY}"),
        _bool("keep-startup", f"If true, keep the original startup probes.{_COPY}"),
        Flag(
            "profile",
            default="legacy",
            help='Options are "legacy", "general", "baseline", "netadmin", "restricted" or "sysadmin".',
        ),
        Flag("quiet", "q", kind="bool", help="If true, suppress informational messages."),
        _bool("replace", "When used with '--copy-to', delete the original Pod."),
        _bool("same-node", "When used with '--copy-to', schedule the copy of target Pod on the same node."),
        Flag(
            "set-image",
            kind="csv",
            help="When used with '--copy-to', a list of name=image pairs for changing container images, similar to how "
            "'kubectl set image' works.",
        ),
        _bool(
            "share-processes",
            "When used with '--copy-to', enable process namespace sharing in the copy.",
            True,
        ),
        Flag(
            "stdin",
            "i",
            kind="bool",
            help="Keep stdin open on the container(s) in the pod, even if nothing is attached.",
        ),
        Flag("target", help="When using an ephemeral container, target processes in this container name."),
        Flag("tty", "t", kind="bool", help="Allocate a TTY for the debugging container."),
    ),
    usage="debug (POD | TYPE[[.VERSION].GROUP]/NAME) [ -- COMMAND [args...] ] [options]",
    description="Debug cluster resources using interactive debugging containers.",
    examples=(
        "# Create an interactive debugging session in pod mypod and immediately attach to it.\n"
        "  kubectl debug mypod -it --image=busybox",
        "# Create a copy of mypod adding a debug container and attach to it\n"
        "  kubectl debug mypod -it --image=busybox --copy-to=my-debugger",
        "# Create an interactive debugging session on a node and immediately attach to it.\n"
        "  kubectl debug node/mynode -it --image=busybox",
    ),
    group="Troubleshooting and Debugging Commands",
)
