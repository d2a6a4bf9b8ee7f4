"""``kubectl get``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sregym_env.kube.columns import sort_objects
from sregym_env.kube.jsonpath import JSONPathError, relaxed
from sregym_env.kube.registry import SCALE, Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import align
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.output import check_format, print_infos, split_format
from sregym_env.tools.kubectl.raw import get_raw
from sregym_env.tools.kubectl.resolve import NOTHING_ASKED, Info, Target, targets, visit
from sregym_env.tools.kubectl.table import TablePrinter
from sregym_env.tools.kubectl.watch import watch


def run(call: Call) -> None:
    """Print what the arguments name, as a table or in another format."""
    flags = call.flags
    if flags["raw"]:
        if call.args:
            raise failure("arguments may not be passed when --raw is specified")
        if flags["output"]:
            raise failure("--raw and --output are mutually exclusive")
        if not flags["raw"].startswith("/"):
            raise failure(f'--raw must be a valid URL path: parse "{flags["raw"]}": invalid URI for request')
        get_raw(call, flags["raw"])
        return
    if not call.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError(NOTHING_ASKED)
    name, argument = split_format(call)
    if flags["show-labels"] and name not in ("", "wide"):
        raise failure(f"--show-labels option cannot be used with {flags['output']} printer")
    if flags["output-watch-events"] and not (flags["watch"] or flags["watch-only"]):
        raise failure("--output-watch-events option can only be used with --watch or --watch-only")
    try:
        wanted = targets(call)
    except KubectlError as unread:
        if flags["filename"] and unread.text.startswith(("error parsing ", "unable to decode ")):
            check_format(call, name, argument)  # a file that cannot be read is told of last
        raise
    if flags["subresource"]:
        _check_subresource(wanted, flags["subresource"])
    if flags["watch"] or flags["watch-only"]:
        check_format(call, name, argument)
        watch(call, _one_type(wanted), TablePrinter(call, wide=name == "wide"))
        return
    answered: list[Resource] = []
    failures: list[StatusError] = []
    if flags["subresource"]:
        found = list(_parts(call, wanted, flags["subresource"], failures.append))
    else:
        found = list(
            visit(
                call,
                wanted,
                ignore_not_found=flags["ignore-not-found"],
                failed=failures.append,
                answered=answered.append,
            )
        )
    single = len(wanted) == 1 and bool(wanted[0].name)
    if not (single and failures):
        check_format(call, name, argument)  # kubectl looks at the objects first
    for failed in failures:
        call.fail(failed)
    if flags["sort-by"] and name in ("", "wide") and flags["server-print"] and len(answered) > 1:
        # kubectl looks for the field in the tables, of which there are several, and not in their rows.
        field = relaxed(flags["sort-by"])
        raise failure(f'couldn\'t find any field with path "{field}" in the list of objects')
    try:
        infos = _sorted(call, found)
    except JSONPathError:
        if name not in ("", "wide"):
            raise
        infos = []  # as kubectl, whose table sorter then has nothing to show
    if name in ("", "wide"):
        _print_tables(call, infos, wanted, answered, wide=name == "wide")
        return
    if infos or not (single or flags["ignore-not-found"]):
        print_infos(call, name, argument, infos, single=single)


def _check_subresource(wanted: Sequence[Target], name: str) -> None:
    if any(target.name is None for target in wanted):
        raise failure("subresource cannot be used when bulk resources are specified")
    if any(name not in target.resource.subresources for target in wanted):
        raise KubectlError("Error from server (NotFound): the server could not find the requested resource")


def _parts(
    call: Call, wanted: Sequence[Target], subresource: str, failed: Callable[[StatusError], None]
) -> Iterator[Info]:
    """A subresource of each object that is named; ``failed`` is told of those that cannot be had."""
    for target in wanted:
        assert target.name is not None
        namespace = call.namespace if target.resource.namespaced else None
        try:
            found = call.cluster.get(target.resource.address, target.name, namespace, subresource=subresource)
        except StatusError as error:
            if not (call.flags["ignore-not-found"] and error.code == 404):
                failed(error)
            continue
        yield Info(SCALE if subresource == "scale" else target.resource, found)


def _one_type(wanted: Sequence[Target]) -> Target:
    if len(wanted) != 1:
        raise failure("you may only specify a single resource type")
    return wanted[0]


def _sorted(call: Call, infos: list[Info]) -> list[Info]:
    expression = call.flags["sort-by"]
    if not expression or not infos:
        return infos
    if len(infos) == 1 and call.flags["output"] in ("", "wide"):
        return infos  # a table of one row is in order, whatever it is ordered by
    by_object = {id(info.object): info for info in infos}
    return [by_object[id(obj)] for obj in sort_objects([info.object for info in infos], expression)]


def _print_tables(
    call: Call, infos: Sequence[Info], wanted: Sequence[Target], answered: Sequence[Resource], *, wide: bool
) -> None:
    if not infos:
        if not call.exit_code and not call.flags["ignore-not-found"]:
            namespaced = not wanted or any(target.resource.namespaced for target in wanted)
            call.warn(nothing_found(call, namespaced=namespaced))
        return
    table = TablePrinter(call, wide=wide)
    # Kinds are told apart by what was asked for and answered, be it by nothing; where the server prints no tables, by
    # the objects that came.
    several = answered if call.flags["server-print"] else [info.resource for info in infos]
    kind = call.flags["show-kind"] or len({resource.key for resource in several}) > 1
    start = 0
    while start < len(infos):
        resource = infos[start].resource
        end = start
        while end < len(infos) and infos[end].resource is resource:
            end += 1
        if start and not call.flags["no-headers"]:
            call.print("\n")
        objects = [info.object for info in infos[start:end]]
        if infos[start].name:
            call.print(align(table.lines(resource, objects, kind=kind)))
        else:  # what a file names no name of: no server has made a table of it
            call.print(align([["NAME", "AGE"], *(["", "<unknown>"] for _ in objects)]))
        start = end


def nothing_found(call: Call, *, namespaced: bool = True) -> str:
    """The note on stderr when a list is empty."""
    if call.all_namespaces or not namespaced:
        return "No resources found"
    return f"No resources found in {call.namespace} namespace."


VERB = Verb(
    "get",
    "Display one or many resources",
    run,
    flags=(
        f.ALL_NAMESPACES,
        f.ALLOW_MISSING,
        f.CHUNK_SIZE,
        f.FIELD_SELECTOR,
        f.FILENAME,
        Flag(
            "ignore-not-found",
            kind="bool",
            help="If the requested object does not exist the command will return exit code 0.",
        ),
        f.KUSTOMIZE,
        Flag("label-columns", "L", kind="csv", help="Labels that are going to be presented as columns."),
        f.NO_HEADERS,
        f.OUTPUT,
        Flag(
            "output-watch-events",
            kind="bool",
            help="Output watch event objects when --watch or --watch-only is used.",
        ),
        Flag("raw", help="Raw URI to request from the server."),
        f.RECURSIVE,
        f.SELECTOR,
        Flag(
            "server-print",
            kind="bool",
            default=True,
            help="If true, have the server return the appropriate table output.",
        ),
        Flag(
            "show-kind", kind="bool", help="If present, list the resource type for the requested object(s)."
        ),
        Flag("show-labels", kind="bool", help="When printing, show all labels as the last column."),
        f.SHOW_MANAGED_FIELDS,
        Flag(
            "sort-by",
            help="If non-empty, sort list types using this field specification, a JSONPath expression.",
        ),
        Flag("subresource", help="If specified, gets the subresource of the requested object."),
        f.TEMPLATE,
        Flag(
            "watch", "w", kind="bool", help="After listing/getting the requested object, watch for changes."
        ),
        Flag(
            "watch-only",
            kind="bool",
            help="Watch for changes to the requested object(s), without listing first.",
        ),
    ),
    usage="get [(-o|--output=)json|yaml|name|go-template|go-template-file|template|templatefile|jsonpath|"
    "jsonpath-as-json|jsonpath-file|custom-columns|custom-columns-file|wide] (TYPE[.VERSION][.GROUP] "
    "[NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...) [flags] [options]",
    description="Display one or many resources.\n\n Prints a table of the most important information about the "
    "specified resources. You can filter the list using a label selector and the --selector flag. If the desired "
    "resource type is namespaced you will only see results in the current namespace if you don't specify any "
    'namespace.\n\nUse "kubectl api-resources" for a complete list of supported resources.',
    examples=(
        "# List all pods in ps output format\n  kubectl get pods",
        "# List all pods in ps output format with more information (such as node name)\n  kubectl get pods -o wide",
        "# List a single pod in JSON output format\n  kubectl get -o json pod web-pod-13je7",
        "# Return only the phase value of the specified pod\n  kubectl get -o template pod/web-pod-13je7 "
        "--template={{.status.phase}}",
        "# List all replication controllers and services together in ps output format\n  kubectl get rc,services",
    ),
    group="Basic Commands (Intermediate)",
)
