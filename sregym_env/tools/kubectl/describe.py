"""``kubectl describe``."""

from __future__ import annotations

from sregym_env.cluster.api import Cluster
from sregym_env.kube.describe import describe
from sregym_env.kube.describe.text import UNASKED
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.get import nothing_found
from sregym_env.tools.kubectl.resolve import Info, Target, get_object, list_objects, targets


class ClusterReader:
    """What a describer may ask of the cluster; what may not be read is not there."""

    __slots__ = ("_cluster", "_events")

    def __init__(self, cluster: Cluster, *, events: bool = True) -> None:
        self._cluster = cluster
        self._events = events

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        """Objects of a resource; none when they may not be listed."""
        if resource == "events" and not self._events:
            return UNASKED
        try:
            return self._cluster.list(
                resource, namespace, label_selector=label_selector, field_selector=field_selector
            )
        except StatusError:
            return []

    def get(self, resource: str, name: str, namespace: str | None = None) -> Manifest | None:
        """One object, or None."""
        try:
            return self._cluster.get(resource, name, namespace)
        except StatusError:
            return None

    def now(self) -> int:
        """The cluster's time."""
        return self._cluster.now()


def run(call: Call) -> None:
    """Describe what the arguments name."""
    if not call.args and not call.flags["filename"] and not call.flags["kustomize"]:
        raise failure(
            "You must specify the type of resource to describe. "
            'Use "kubectl api-resources" for a complete list of supported resources.'
        )
    reader = ClusterReader(call.cluster, events=call.flags["show-events"])
    texts: list[str] = []
    for target in targets(call):
        infos = _found(call, target)
        found = [describe(info.resource, info.object, reader) for info in infos]
        if target.name is not None and infos and infos[0].name != target.name:
            # kubectl prints matches of a prefix in another place, with a newline of their own and no gap.
            found = ["".join(f"{text}\n" for text in found)]
        texts += found
    if texts:
        call.print("\n\n".join(texts))
    elif not call.exit_code:
        call.warn(nothing_found(call))


def _found(call: Call, target: Target) -> list[Info]:
    resource = target.resource
    try:
        if target.name is None:
            return [Info(resource, obj) for obj in list_objects(call, resource)]
        return [Info(resource, get_object(call, target))]
    except StatusError as error:
        matches = _by_prefix(call, target) if error.code == 404 and target.name else []
        if not matches:
            call.fail(error)
        return matches


def _by_prefix(call: Call, target: Target) -> list[Info]:
    """Objects whose names begin with the word, which describe accepts in place of ``TYPE NAME``."""
    if len(call.args) != 2 or "/" in call.args[0]:
        return []
    call.find(call.args[0])  # built anew, so that what there is to be said of the word is said again
    namespace = call.namespace if target.resource.namespaced else None
    try:
        objects = call.cluster.list(target.resource.address, namespace)
    except StatusError:
        return []
    prefix = target.name or ""
    return [Info(target.resource, obj) for obj in objects if obj["metadata"]["name"].startswith(prefix)]


VERB = Verb(
    "describe",
    "Show details of a specific resource or group of resources",
    run,
    flags=(
        f.ALL_NAMESPACES,
        f.CHUNK_SIZE,
        f.FILENAME,
        f.KUSTOMIZE,
        f.RECURSIVE,
        f.SELECTOR,
        Flag(
            "show-events",
            kind="bool",
            default=True,
            help="If true, display events related to the described object.",
        ),
    ),
    usage="describe (-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME) [options]",
    examples=(
        "# Describe a node\n  kubectl describe nodes kubernetes-node-emt8.c.myproject.internal",
        "# Describe a pod\n  kubectl describe pods/nginx",
        "# Describe pods by label name=myLabel\n  kubectl describe pods -l name=myLabel",
    ),
    group="Troubleshooting and Debugging Commands",
)
