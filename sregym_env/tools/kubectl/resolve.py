"""From words to objects: ``pods``, ``pod/x``, ``deploy,svc -l app=x``, ``-f file`` (kubectl's resource builder)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sregym_env.kube.registry import Resource
from sregym_env.kube.selectors import parse_labels
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import kustomize
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import INVALID_TIMEOUT, NAMELESS, KubectlError, failure
from sregym_env.tools.kubectl.manifests import need_paths, read_sources


@dataclass(frozen=True, slots=True)
class Target:
    """A resource type to list, or one named object of it."""

    resource: Resource
    name: str | None = None
    namespace: str | None = None
    """Set when a manifest named it; otherwise the request's namespace applies."""
    source: str = ""
    """The file that named it, if one did."""
    nameless: Manifest | None = None
    """What stands in the file, where it gives no name."""


@dataclass(frozen=True, slots=True)
class Info:
    """An object that was found, with its resource."""

    resource: Resource
    object: Manifest

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.object["metadata"].get("name", ""))

    @property
    def namespace(self) -> str | None:
        """The object's namespace, None when cluster scoped."""
        namespace: str | None = self.object["metadata"].get("namespace")
        return namespace

    @property
    def label(self) -> str:
        """``pod/x``, ``deployment.apps/x``: how kubectl names it in messages."""
        return f"{self.resource.group_kind.lower()}/{self.name or '<unknown>'}"


def targets(call: Call, words: Sequence[str] | None = None, *, categories: bool = True) -> list[Target]:
    """What the arguments name. Raises kubectl's complaints about malformed ones.

    The order of the checks is that of kubectl's builder: paths, then selectors, then names.
    """
    if call.flags.get("filename") and call.flags.get("kustomize"):
        raise failure(kustomize.ONE_OF)
    args = _several(list(call.args if words is None else words))
    slashed = _slashed(args) if any("/" in arg for arg in args) else []
    if args and not slashed:
        if call.unusable and call.command in (*_GATHERING, "delete") and "," in args[0]:
            raise KubectlError("\n".join([INVALID_TIMEOUT] * len(args[0].split(","))))
        call.connect()  # a word may be a category, which only the server knows
    if files := call.flags.get("filename") or tuple(filter(None, (call.flags.get("kustomize"),))):
        if args:
            need_paths(call, call.flags.get("filename") or ())
            raise KubectlError(_WITH_PATHS if not slashed else _TUPLES_WITH_PATHS)
        return from_files(call, files)
    if not args:
        return []
    chosen = call.flags.get("selector") or call.flags.get("field-selector")
    if slashed:
        if chosen:
            raise KubectlError(_CHOSEN_AND_NAMED)
        found = [Target(call.find(type_), name) for type_, name in slashed]
    elif args[1:] and chosen:
        raise KubectlError("error: name cannot be provided when a selector is specified")
    else:
        found = _typed(call, args, categories)
    if call.all_namespaces and any(target.name and target.resource.namespaced for target in found):
        raise KubectlError("error: a resource cannot be retrieved by name across all namespaces")
    return found


def check_words(call: Call) -> None:
    """Refuse ``TYPE/NAME`` words that do not go together, or not with selectors."""
    args = _several(list(call.args))
    if any("/" in arg for arg in args):
        _slashed(args)
        if call.flags.get("selector") or call.flags.get("field-selector"):
            raise KubectlError(_CHOSEN_AND_NAMED)
    if call.command == "get" and not args and not call.flags["filename"] and not call.flags["kustomize"]:
        raise KubectlError(NOTHING_ASKED)


NOTHING_ASKED = """\
You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported resources.

error: Required resource not specified.
Use "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).
See 'kubectl get -h' for help and examples"""

_CHOSEN_AND_NAMED = "error: selectors and the all flag cannot be used when passing resource/name arguments"

_GATHERING = ("get", "describe")
"""Commands that tell several failures together, without a prefix."""

_AS_WRITTEN = ("describe", "delete")
"""Commands that choose among the objects of files by the labels that they have there."""

_WITH_PATHS = (
    "error: when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
)
_TUPLES_WITH_PATHS = "error: resource/name arguments cannot be provided when a path is specified"


def from_files(call: Call, files: Sequence[str]) -> list[Target]:
    """The objects that manifests name, by identity only."""
    labels = parse_labels(str(call.flags.get("selector") or "")) if call.command in _AS_WRITTEN else None
    found = []
    need_paths(call, call.flags.get("filename") or ())
    if call.unusable and call.command in _GATHERING:
        raise KubectlError(INVALID_TIMEOUT)
    try:
        for source, manifest in read_sources(call, files):
            resource = call.resource_of(manifest)
            metadata = manifest.get("metadata") or {}
            if resource is None:
                raise no_match(manifest, files)
            if labels is not None and not labels.matches(metadata.get("labels") or {}):
                continue
            name = metadata.get("name") or ""
            found.append(
                Target(resource, name, metadata.get("namespace"), source, None if name else manifest)
            )
    except KubectlError as error:
        bare = error.text.removeprefix("error: ")
        if not found and call.command in _GATHERING:
            # They gather what goes wrong with files, and tell it without a prefix.
            raise KubectlError(bare, error.exit_code) from None
        if not found:
            raise
        if call.command == "describe":
            call.fail(KubectlError(bare))
        else:
            call.unread = bare  # told when what stands before it is done
    return found


def no_match(manifest: Manifest, files: Sequence[str]) -> KubectlError:
    """The error for a manifest whose kind the server does not know."""
    metadata = manifest.get("metadata") or {}
    source = "STDIN" if tuple(files) == ("-",) else files[0]
    return KubectlError(
        f'error: resource mapping not found for name: "{metadata.get("name", "")}" '
        f'namespace: "{metadata.get("namespace", "")}" from "{source}": no matches for kind '
        f'"{manifest.get("kind", "")}" in version "{manifest.get("apiVersion", "")}"\n'
        "ensure CRDs are installed first"
    )


def _several(args: list[str]) -> list[str]:
    """``deploy,svc x`` as ``deploy/x svc/x``."""
    types = list(dict.fromkeys(args[0].split(","))) if len(args) > 1 else []
    if len(types) < 2 or any("/" in arg for arg in args):
        return args
    return [f"{type_}/{name}" for type_ in types for name in args[1:]]


def _slashed(args: Sequence[str]) -> list[tuple[str, str]]:
    """Types and names of ``TYPE/NAME`` arguments."""
    found = []
    if not all("/" in arg for arg in args):
        raise KubectlError(
            "error: there is no need to specify a resource type as a separate argument when passing "
            "arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of "
            "'kubectl get resource resource/<resource_name>'"
        )
    for arg in args:
        type_, _, name = arg.partition("/")
        if "/" in name:
            raise KubectlError("error: arguments in resource/name form may not have more than one slash")
        if not type_ or not name:
            raise KubectlError("error: arguments in resource/name form must have a single resource and name")
        found.append((type_, name))
    return found


def _typed(call: Call, args: Sequence[str], categories: bool) -> list[Target]:
    tokens = list(dict.fromkeys(args[0].split(",")))
    members = [call.registry.in_category(token) if categories and token else () for token in tokens]
    names = args[1:]
    if names and sum(max(1, len(each)) for each in members) > 1:
        raise KubectlError("error: you must specify only one resource")
    resources: list[Resource] = []
    for token, of_token in zip(tokens, members, strict=True):
        if not token:
            raise KubectlError('error: the server doesn\'t have a resource type ""')
        resources.extend(of_token or (call.find(token),))
    if not names:
        return [Target(resource) for resource in dict.fromkeys(resources)]
    return [Target(resource, name) for resource in resources for name in names]


def namespace_of(call: Call, target: Target) -> str | None:
    """Namespace of the request for one named object."""
    if not target.resource.namespaced:
        return None
    return target.namespace or call.namespace


def get_object(call: Call, target: Target) -> Manifest:
    """The named object. Raises ``StatusError``: the namespace's where that is what is missing."""
    assert target.name is not None
    if target.nameless is not None:
        return _without_name(call, target.nameless)
    namespace = namespace_of(call, target)
    try:
        return call.cluster.get(target.resource.address, target.name, namespace)
    except StatusError as error:
        if error.code == 404 and namespace not in (None, "", "default"):
            _need_namespace(call, str(namespace))
        raise


def _without_name(call: Call, manifest: Manifest) -> Manifest:
    """What stands for an object of a file that gives no name: there is nothing to get. Raises kubectl's complaint."""
    if call.command == "get":
        metadata = manifest.get("metadata") or {}
        if call.resource_of(manifest) is not None and "namespace" not in metadata:
            metadata = {**metadata, "namespace": call.namespace}
        return {**manifest, "metadata": metadata}
    raise failure(NAMELESS)


def _need_namespace(call: Call, name: str) -> None:
    """Raises NotFound for a namespace that does not exist (``resource.Info.Get``); other errors say nothing."""
    try:
        call.cluster.get("namespaces", name)
    except StatusError as error:
        if error.code == 404:
            raise


def list_objects(call: Call, resource: Resource) -> list[Manifest]:
    """The objects of a type in the request's scope, by its selectors."""
    labels, fields = call.flags.get("selector") or "", call.flags.get("field-selector") or ""
    return selected(call, resource, call.scope if resource.namespaced else None, labels, fields)


def selected(
    call: Call, resource: Resource, namespace: str | None, labels: str, fields: str = ""
) -> list[Manifest]:
    """The objects of a type that selectors choose. Raises what the server says, with kubectl's own words around it."""
    try:
        return call.cluster.list(resource.address, namespace, label_selector=labels, field_selector=fields)
    except StatusError as error:
        if error.reason != "BadRequest" or not (labels or fields):
            raise
        text = (
            f'Unable to find "{resource.gvr_text}" that match label selector "{labels}", '
            f'field selector "{fields}": {error.message}'
        )
        raise StatusError(error.code, error.reason, text, error.details) from error


def visit(
    call: Call,
    wanted: Sequence[Target],
    *,
    ignore_not_found: bool = False,
    failed: Callable[[StatusError], None] | None = None,
    answered: Callable[[Resource], object] = lambda resource: None,
) -> Iterator[Info]:
    """Every object the targets name; failures are reported on the call (or to ``failed``) and skipped.

    ``answered`` is told of each target that the server had an answer to, empty lists included.
    """
    for target in wanted:
        try:
            if target.name is None:
                objects = list_objects(call, target.resource)
            else:
                objects = [get_object(call, target)]
        except StatusError as error:
            if not (ignore_not_found and error.code == 404):
                (failed or call.fail)(error)
            continue
        answered(target.resource)
        for obj in objects:
            yield Info(target.resource, obj)


def one_pod(call: Call, word: str) -> Manifest:
    """The pod a word means: a pod's name, ``pod/x``, or the first pod of ``deploy/x``, ``svc/x``, ``job/x``, ..."""
    if "/" not in word:
        return get_object(call, Target(call.find("pods"), word))
    target = targets(call, [word])[0]
    obj = get_object(call, target)
    if target.resource.key == "pods":
        return obj
    return first_pod(call, Info(target.resource, obj))


def first_pod(call: Call, info: Info) -> Manifest:
    """The pod that stands for a workload or Service. Raises kubectl's complaint where there is none."""
    pods = pods_of(call, info)
    if not pods:
        # kubectl says this because it waits for a first pod; nobody here is made to wait in vain.
        raise KubectlError("error: timed out waiting for the condition")
    return pods[0]


def need_typed(info: Info) -> None:
    """Raise kubectl's complaint about what is done to known types only, where the object is a custom one."""
    if info.resource.custom:
        text = f'no kind "{info.resource.kind}" is registered for version "{info.resource.api_version}" in scheme'
        raise KubectlError(f'error: {text} "pkg/scheme/scheme.go:28"')


def pods_of(call: Call, info: Info) -> list[Manifest]:
    """Pods a workload or service selects, best first: running, ready, ready for longest, oldest.

    Between equals, logs are read from the pod that restarted most and commands run in the one that
    restarted least (``podutils.ByLogging`` and the reverse of ``podutils.ActivePods``).
    """
    need_typed(info)
    selector = pod_selector(info)
    if selector is None:
        kind = f"*{info.resource.version}.{info.resource.kind}"
        doing = "get the logs from" if call.command == "logs" else "attach to"
        raise KubectlError(f"error: cannot {doing} {kind}: selector for {kind} not implemented")
    pods = call.cluster.list("pods", info.namespace, label_selector=selector)
    sign = -1 if call.command == "logs" else 1
    return sorted(pods, key=lambda pod: _preference(pod, sign))


def pod_selector(info: Info) -> str | None:
    """Label selector of the pods behind an object, None when it has none."""
    spec = info.object.get("spec") or {}
    selector = spec.get("selector")
    if info.resource.key in ("services", "replicationcontrollers"):
        return ",".join(f"{k}={v}" for k, v in sorted((selector or {}).items())) or None
    if not isinstance(selector, dict):
        return None
    return selector_text(selector)


def selector_text(selector: Manifest) -> str:
    """A LabelSelector as the string a list request carries."""
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        key, operator = term["key"], term["operator"]
        if operator == "Exists":
            terms.append(key)
        elif operator == "DoesNotExist":
            terms.append(f"!{key}")
        else:
            word = "in" if operator == "In" else "notin"
            terms.append(f"{key} {word} ({','.join(sorted(term.get('values') or ()))})")
    return ",".join(terms)


def _preference(pod: Manifest, restarts_sign: int) -> tuple[bool, int, bool, str, int, str]:
    status = pod.get("status") or {}
    phase = {"Pending": 0, "Unknown": 1}.get(status.get("phase", ""), 2)
    ready: Manifest = next((c for c in status.get("conditions") or () if c["type"] == "Ready"), {})
    is_ready = ready.get("status") == "True"
    since = str(ready.get("lastTransitionTime") or _NEVER) if is_ready else _NEVER
    restarts = max((c.get("restartCount", 0) for c in status.get("containerStatuses") or ()), default=0)
    created = pod["metadata"].get("creationTimestamp") or _NEVER
    return (
        not pod["spec"].get("nodeName"), -phase, not is_ready, since, restarts_sign * restarts, created
    )  # fmt: skip


_NEVER = "~"
"""Sorts after every timestamp."""
