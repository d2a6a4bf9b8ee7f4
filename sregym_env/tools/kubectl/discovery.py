"""What the server is and serves: api-resources, api-versions, version, cluster-info, explain, options."""

from __future__ import annotations

import json

from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import align
from sregym_env.kube.yamlout import to_yaml
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.output import as_list, print_value
from sregym_env.tools.kubectl.usage import options_help

CLIENT_VERSION = {
    "major": "1",
    "minor": "32",
    "gitVersion": "v1.32.5",
    "gitCommit": "9894294ef13a5b32803e3ca2c0d620a088cc84d1",
    "gitTreeState": "clean",
    "buildDate": "2025-05-15T09:12:10Z",
    "goVersion": "go1.23.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}
"""What this kubectl says it is: the release whose behaviour it follows."""
KUSTOMIZE_VERSION = "v5.5.0"


def api_resources(call: Call) -> None:
    """The resources the server serves."""
    _no_arguments(call)
    flags = call.flags
    output = flags["output"]
    if output not in ("", "wide", "name"):
        raise failure(f"--output {output} is not available")
    resources = [r for r in call.registry.preferred() if _wanted(call, r)]
    if flags["sort-by"] == "kind":
        resources.sort(key=lambda r: r.kind)
    elif flags["sort-by"] == "name":
        resources.sort(key=lambda r: r.plural)
    elif flags["sort-by"]:
        raise failure("--sort-by accepts only name or kind")
    else:
        resources.sort(key=lambda r: (r.group, r.plural))
    if output == "name":
        call.print("".join(f"{resource.key}\n" for resource in resources))
        return
    lines = [_resource_line(resource, wide=output == "wide") for resource in resources]
    if not flags["no-headers"]:
        extra = ["VERBS", "CATEGORIES"] if output == "wide" else []
        lines.insert(0, ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", *extra])
    call.print(align(lines))


def _wanted(call: Call, resource: Resource) -> bool:
    flags = call.flags
    if "api-group" in call.given and resource.group != flags["api-group"]:
        return False
    if "namespaced" in call.given and resource.namespaced != flags["namespaced"]:
        return False
    if any(verb not in resource.verbs for verb in flags["verbs"]):
        return False
    return all(category in resource.categories for category in flags["categories"])


def _resource_line(resource: Resource, *, wide: bool) -> list[str]:
    line = [
        resource.plural,
        ",".join(resource.short_names),
        resource.api_version,
        "true" if resource.namespaced else "false",
        resource.kind,
    ]
    if wide:
        line += [",".join(resource.verbs), ",".join(resource.categories)]
    return line


def api_versions(call: Call) -> None:
    """The API versions the server serves."""
    _no_arguments(call)
    call.print("".join(f"{version}\n" for version in call.registry.api_versions()))


def _no_arguments(call: Call) -> None:
    if call.args:
        raise usage_failure(f"unexpected arguments: [{' '.join(call.args)}]", call.command)


def version(call: Call) -> None:
    """Versions of client and server."""
    if call.args:
        raise failure(f"extra arguments: [{' '.join(call.args)}]")
    output = call.flags["output"]
    server = None if call.flags["client"] else dict(call.cluster.version())
    if output in ("json", "yaml"):
        value: dict[str, object] = {"clientVersion": CLIENT_VERSION, "kustomizeVersion": KUSTOMIZE_VERSION}
        if server is not None:
            value["serverVersion"] = server
        call.print(to_yaml(value) + "\n" if output == "yaml" else _plain_json(value))
        return
    if output:
        raise failure("--output must be 'yaml' or 'json'")
    call.print(f"Client Version: {CLIENT_VERSION['gitVersion']}\nKustomize Version: {KUSTOMIZE_VERSION}\n")
    if server is not None:
        call.print(f"Server Version: {server['gitVersion']}\n")


def _plain_json(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2) + "\n"


def cluster_info(call: Call) -> None:
    """Addresses of the control plane and cluster services."""
    server = call.kubeconfig.content.server
    trailer = "\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n"
    try:
        services = call.cluster.list(
            "services",
            call.flags["namespace"] or "kube-system",
            label_selector="kubernetes.io/cluster-service=true",
        )
    except StatusError:
        call.print(trailer)
        raise
    call.print(f"Kubernetes control plane is running at {server}\n")
    for service in services:
        metadata = service["metadata"]
        name = (metadata.get("labels") or {}).get("kubernetes.io/name") or metadata["name"]
        ports = service["spec"].get("ports") or ()
        suffix = f":{ports[0]['name']}" if ports and ports[0].get("name") else ""
        path = f"/api/v1/namespaces/{metadata['namespace']}/services/{metadata['name']}{suffix}/proxy"
        call.print(f"{name} is running at {server}{path}\n")
    call.print(trailer)


def cluster_info_dump(call: Call) -> None:
    """The objects of the chosen namespaces, as one JSON list after another."""
    flags = call.flags
    namespaces = flags["namespaces"] or ("kube-system", call.namespace)
    if call.all_namespaces:
        namespaces = tuple(ns["metadata"]["name"] for ns in call.cluster.list("namespaces"))
    output = flags["output"] or "json"
    print_value(call, output, "", as_list(call.cluster.list("nodes")))
    for namespace in dict.fromkeys(namespaces):
        for key in ("events", "services", "daemonsets.apps", "deployments.apps", "replicasets.apps", "pods"):
            print_value(call, output, "", as_list(call.cluster.list(key, namespace)))


def options(call: Call) -> None:
    """The global flags."""
    call.print(options_help())


API_RESOURCES = Verb(
    "api-resources",
    "Print the supported API resources on the server",
    api_resources,
    flags=(
        Flag("api-group", help="Limit to resources in the specified API group."),
        Flag("cached", kind="bool", help="Use the cached list of resources if available."),
        Flag("categories", kind="csv", help="Limit to resources that belong to the specified categories."),
        Flag(
            "namespaced",
            kind="bool",
            default=True,
            help="If false, non-namespaced resources will be returned.",
        ),
        f.NO_HEADERS,
        f.OUTPUT,
        Flag("sort-by", help="If non-empty, sort list of resources using specified field: 'name' or 'kind'."),
        Flag("verbs", kind="csv", help="Limit to resources that support the specified verbs."),
    ),
)
API_VERSIONS = Verb(
    "api-versions",
    'Print the supported API versions on the server, in the form of "group/version"',
    api_versions,
)
VERSION = Verb(
    "version",
    "Print the client and server version information",
    version,
    flags=(Flag("client", kind="bool", help="If true, shows client version only."), f.OUTPUT),
)
CLUSTER_INFO = Verb(
    "cluster-info",
    "Display cluster information",
    cluster_info,
    verbs=(
        Verb(
            "dump",
            "Dump relevant information for debugging and diagnosis",
            cluster_info_dump,
            flags=(
                f.ALL_NAMESPACES,
                Flag("namespaces", kind="csv", help="A comma separated list of namespaces to dump."),
                f.OUTPUT,
                Flag("output-directory", help="Where to output the files."),
                Flag(
                    "pod-running-timeout",
                    kind="duration",
                    default=20 * 10**9,
                    help="The length of time (like 5s, 2m, or 3h, higher than zero) to wait until at least one pod is running",
                ),
                *f.PRINTING,
            ),
        ),
    ),
    group="Cluster Management Commands",
)
OPTIONS = Verb("options", "Print the list of flags inherited by all commands", options)
