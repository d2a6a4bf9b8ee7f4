"""``kubectl create``: from files, and the generators for common kinds."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure, usage_failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, Flag
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    SAVE_CONFIG,
    VALIDATE,
    create_object,
    from_files,
    pairs,
    sourced,
)

Generator = Callable[[Call, str], Manifest]


def create(call: Call) -> None:
    """Create every object in the files."""
    if not call.flags["filename"] and not call.flags["kustomize"]:
        raise failure("must specify one of -f and -k")
    if call.args:
        raise failure(
            f"Unexpected args: [{' '.join(call.args)}]\nSee 'kubectl create -h' for help and examples"
        )
    for source, resource, manifest in from_files(call):
        try:
            create_object(call, resource, manifest)
        except StatusError as error:
            call.fail(sourced(error, "creating", source))


def _generated(token: str, generator: Generator) -> Callable[[Call], None]:
    """A handler that makes one object named by the first argument."""

    def handler(call: Call) -> None:
        if not call.args or call.dash == 0:
            raise usage_failure(
                f"exactly one NAME is required, got {0 if not call.args else len(call.args)}", call.command
            )
        if len(call.args) > 1 and call.dash < 0 and token not in ("jobs", "cronjobs", "deployments"):
            raise usage_failure(f"exactly one NAME is required, got {len(call.args)}", call.command)
        resource = call.find(token)
        body = generator(call, call.args[0])
        metadata: dict[str, Any] = {"name": call.args[0], **body.pop("metadata", {})}
        if resource.namespaced:
            metadata["namespace"] = call.namespace
        manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **body}
        create_object(call, resource, manifest)

    return handler


# --- config and identity --------------------------------------------------------------------------


def _namespace(call: Call, name: str) -> Manifest:
    del call, name
    return {"spec": {}, "status": {}}


def _files_and_literals(call: Call) -> dict[str, str]:
    data: dict[str, str] = {}
    for path in call.flags["from-file"]:
        key, equals, file = path.partition("=")
        if not equals:
            key, file = path.rpartition("/")[2], path
        data[key] = _read(call, file)
    for literal in call.flags["from-literal"]:
        key, equals, value = literal.partition("=")
        if not equals or not key:
            raise failure(f"invalid literal source {literal}, expected key=value")
        data[key] = value.strip("'\"") if value[:1] in "'\"" else value
    for path in call.flags["from-env-file"]:
        for line in _read(call, path).splitlines():
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                key, _, value = stripped.partition("=")
                data[key] = value
    return data


def _read(call: Call, path: str) -> str:
    try:
        if call.files is None:
            raise FileNotFoundError
        return call.files.read_text(path)
    except OSError:
        raise failure(f"error reading {path}: no such file or directory".removeprefix("error ")) from None


def _configmap(call: Call, name: str) -> Manifest:
    del name
    data = _files_and_literals(call)
    return {"data": dict(sorted(data.items()))} if data else {}


def _encoded(data: dict[str, str]) -> dict[str, str]:
    return {key: base64.b64encode(value.encode()).decode() for key, value in sorted(data.items())}


def _secret_generic(call: Call, name: str) -> Manifest:
    del name
    body: Manifest = {"data": _encoded(_files_and_literals(call))}
    if call.flags["type"]:
        body["type"] = call.flags["type"]
    return body


def _secret_tls(call: Call, name: str) -> Manifest:
    del name
    if not call.flags["cert"] or not call.flags["key"]:
        raise failure("key and cert must be specified")
    data = {"tls.crt": _read(call, call.flags["cert"]), "tls.key": _read(call, call.flags["key"])}
    return {"type": "kubernetes.io/tls", "data": _encoded(data)}


def _secret_registry(call: Call, name: str) -> Manifest:
    del name
    flags = call.flags
    user, password = flags["docker-username"], flags["docker-password"]
    if not user or not password:
        raise failure(
            "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required"
        )
    entry = {
        "username": user,
        "password": password,
        **({"email": flags["docker-email"]} if flags["docker-email"] else {}),
        "auth": base64.b64encode(f"{user}:{password}".encode()).decode(),
    }
    text = json.dumps({"auths": {flags["docker-server"]: entry}}, separators=(",", ":"))
    return {"type": "kubernetes.io/dockerconfigjson", "data": _encoded({".dockerconfigjson": text})}


def _serviceaccount(call: Call, name: str) -> Manifest:
    del call, name
    return {}


def token(call: Call) -> None:
    """Ask for a service account's token and print it."""
    if not call.args:
        raise usage_failure("exactly one NAME is required, got 0", call.command)
    body: Manifest = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {},
        "spec": {},
    }
    made = call.cluster.create(body, namespace=call.namespace, subresource="token", name=call.args[0])
    call.print(f"{made['status']['token']}\n")


# --- RBAC -----------------------------------------------------------------------------------------


def _rules(call: Call) -> list[Manifest]:
    verbs, resources = list(call.flags["verb"]), list(call.flags["resource"])
    urls = list(call.flags.get("non-resource-url") or ())
    if not verbs:
        raise failure("at least one verb must be specified")
    if not resources and not urls:
        raise failure("at least one resource must be specified")
    if urls:
        return [{"nonResourceURLs": urls, "verbs": verbs}]
    groups: dict[str, list[str]] = {}
    for token_ in resources:
        base, _, subresource = token_.partition("/")
        found = call.find(base)
        groups.setdefault(found.group, []).append(
            f"{found.plural}/{subresource}" if subresource else found.plural
        )
    names = list(call.flags["resource-name"])
    extra = {"resourceNames": names} if names else {}
    return [
        {"apiGroups": [group], "resources": plurals, **extra, "verbs": verbs}
        for group, plurals in groups.items()
    ]


def _role(call: Call, name: str) -> Manifest:
    del name
    return {"rules": _rules(call)}


def _subjects(call: Call) -> list[Manifest]:
    found: list[Manifest] = []
    for user in (
        call.flags["user"] if isinstance(call.flags["user"], tuple) else filter(None, (call.flags["user"],))
    ):
        found.append({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user})
    for group in call.flags["group"]:
        found.append({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": group})
    for account in call.flags["serviceaccount"]:
        namespace, colon, name = account.partition(":")
        if not colon or not name:
            raise failure("serviceaccount must be <namespace>:<name>")
        found.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    return found


def _binding(call: Call, name: str) -> Manifest:
    del name
    role, cluster_role = call.flags.get("role", ""), call.flags["clusterrole"]
    if bool(role) == bool(cluster_role):
        raise failure("exactly one of clusterrole or role must be specified")
    kind, target = ("Role", role) if role else ("ClusterRole", cluster_role)
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": target}
    return {"roleRef": reference, "subjects": _subjects(call)}


# --- workloads ------------------------------------------------------------------------------------


def _deployment(call: Call, name: str) -> Manifest:
    flags = call.flags
    if not flags["image"]:
        raise failure('required flag(s) "image" not set')
    labels = {"app": name}
    containers = []
    for reference in flags["image"]:
        short = reference.rpartition("/")[2].partition("@")[0].partition(":")[0]
        container: dict[str, Any] = {"image": reference, "name": short.replace("_", "-"), "resources": {}}
        if call.args[1:]:
            container["command"] = list(call.args[1:])
        if int(flags["port"]) > 0:
            container["ports"] = [{"containerPort": int(flags["port"])}]
        containers.append(container)
    return {
        "metadata": {"labels": labels},
        "spec": {
            "replicas": int(flags["replicas"]),
            "selector": {"matchLabels": labels},
            "strategy": {},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
        "status": {},
    }


def _job(call: Call, name: str) -> Manifest:
    source = call.flags["from"]
    if source:
        kind, _, owner = source.partition("/")
        resource = call.find(kind)
        if resource.key != "cronjobs.batch":
            raise failure(f"unknown object type {resource.kind}")
        cron = call.cluster.get(resource.key, owner, call.namespace)
        template = cron["spec"]["jobTemplate"]
        reference = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "name": owner,
            "uid": cron["metadata"]["uid"],
            "controller": True,
        }
        metadata = {
            "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
            "ownerReferences": [reference],
        }
        return {"metadata": metadata, "spec": template["spec"]}
    if not call.flags["image"]:
        raise failure("either --image or --from must be specified")
    return {"spec": {"template": _job_template(call, name)}, "status": {}}


def _job_template(call: Call, name: str) -> Manifest:
    container: dict[str, Any] = {"image": call.flags["image"], "name": name, "resources": {}}
    if call.args[1:]:
        container["command"] = list(call.args[1:])
    restart = call.flags.get("restart") or "Never"
    return {"metadata": {}, "spec": {"containers": [container], "restartPolicy": restart}}


def _cronjob(call: Call, name: str) -> Manifest:
    if not call.flags["image"] or not call.flags["schedule"]:
        missing = [f'"{flag}"' for flag in ("image", "schedule") if not call.flags[flag]]
        raise failure(f"required flag(s) {', '.join(missing)} not set")
    template = _job_template(call, name)
    template["spec"]["restartPolicy"] = call.flags["restart"] or "OnFailure"
    spec = {
        "jobTemplate": {"metadata": {"name": name}, "spec": {"template": template}},
        "schedule": call.flags["schedule"],
    }
    return {"spec": spec, "status": {}}


# --- services, quota, policies --------------------------------------------------------------------


def _service(kind: str) -> Generator:
    def generate(call: Call, name: str) -> Manifest:
        labels = {"app": name}
        spec: dict[str, Any] = {"type": kind}
        if kind == "ExternalName":
            if not call.flags["external-name"]:
                raise failure('required flag(s) "external-name" not set')
            spec["externalName"] = call.flags["external-name"]
        ports = [_service_port(text) for text in call.flags["tcp"]]
        headless = call.flags.get("clusterip")
        if headless:
            spec["clusterIP"] = headless
        if not ports and kind != "ExternalName" and headless != "None":
            raise failure("at least one tcp port specifier must be provided")
        if ports:
            if kind == "NodePort" and int(call.flags.get("node-port") or 0):
                ports[0]["nodePort"] = int(call.flags["node-port"])
            spec["ports"] = ports
        spec["selector"] = labels
        return {"metadata": {"labels": labels}, "spec": spec, "status": {"loadBalancer": {}}}

    return generate


def _service_port(text: str) -> dict[str, Any]:
    port, colon, target = text.partition(":")
    if not port.isdigit():
        raise failure(f'invalid service port "{port}"'.replace('"', "'"))
    aim: Any = int(target) if target.isdigit() else (target or int(port))
    del colon
    return {"name": text.replace(":", "-"), "port": int(port), "protocol": "TCP", "targetPort": aim}


def _quota(call: Call, name: str) -> Manifest:
    del name
    hard = pairs(tuple(filter(None, str(call.flags["hard"]).split(","))), "argument syntax")
    spec: dict[str, Any] = {"hard": hard} if hard else {}
    if call.flags["scopes"]:
        spec["scopes"] = str(call.flags["scopes"]).split(",")
    return {"spec": spec, "status": {}}


def _priorityclass(call: Call, name: str) -> Manifest:
    del name
    flags = call.flags
    body: Manifest = {"value": int(flags["value"]), "globalDefault": bool(flags["global-default"])}
    if flags["description"]:
        body["description"] = flags["description"]
    body["preemptionPolicy"] = flags["preemption-policy"]
    return body


def _pdb(call: Call, name: str) -> Manifest:
    del name
    flags = call.flags
    if bool(flags["min-available"]) == bool(flags["max-unavailable"]):
        raise failure("one of min-available or max-unavailable must be specified")
    field = "minAvailable" if flags["min-available"] else "maxUnavailable"
    amount = flags["min-available"] or flags["max-unavailable"]
    spec: dict[str, Any] = {field: int(amount) if str(amount).isdigit() else amount}
    if not flags["selector"]:
        raise failure("a selector must be specified")
    spec["selector"] = {"matchLabels": pairs(tuple(str(flags["selector"]).split(",")), "selector")}
    return {"spec": spec}


def _ingress(call: Call, name: str) -> Manifest:
    del name
    hosts: dict[str, list[Manifest]] = {}
    tls: list[Manifest] = []
    if not call.flags["rule"]:
        raise failure(
            "not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)"
        )
    for rule in call.flags["rule"]:
        head, equals, backend = rule.partition("=")
        backend, _, option = backend.partition(",")
        host, _, path = head.partition("/")
        service, colon, port = backend.partition(":")
        if not equals or not colon:
            raise failure(
                f"rule {rule} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
        kind = "Prefix" if path.endswith("*") else "Exact"
        number = {"number": int(port)} if port.isdigit() else {"name": port}
        hosts.setdefault(host, []).append(
            {
                "backend": {"service": {"name": service, "port": number}},
                "path": "/" + path.rstrip("*"),
                "pathType": kind,
            }
        )
        if option.startswith("tls"):
            secret = option.partition("=")[2]
            tls.append({**({"hosts": [host]} if host else {}), **({"secretName": secret} if secret else {})})
    spec: dict[str, Any] = {
        "rules": [
            {**({"host": host} if host else {}), "http": {"paths": paths}} for host, paths in hosts.items()
        ]
    }
    if tls:
        spec["tls"] = tls
    if call.flags["class"]:
        spec["ingressClassName"] = call.flags["class"]
    return {"spec": spec, "status": {"loadBalancer": {}}}


# --- declarations ---------------------------------------------------------------------------------

_COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG, VALIDATE)
_DATA = (
    Flag("from-file", kind="strings", help="Key file can be specified using its file path."),
    Flag("from-literal", kind="strings", help="Specify a key and literal value to insert."),
    Flag("from-env-file", kind="strings", help="Specify the path to a file to read lines of key=val pairs."),
    Flag("append-hash", kind="bool", help="Append a hash of the configmap to its name."),
)
_RULE = (
    Flag("verb", kind="csv", help="Verb that applies to the resources contained in the rule"),
    Flag("resource", kind="csv", help="Resource that the rule applies to"),
    Flag("resource-name", kind="strings", help="Resource in the white list that the rule applies to"),
)
_SUBJECTS = (
    Flag("user", kind="strings", help="Usernames to bind to the role."),
    Flag("group", kind="strings", help="Groups to bind to the role."),
    Flag(
        "serviceaccount",
        kind="strings",
        help="Service accounts to bind to the role, in the format <namespace>:<name>.",
    ),
    Flag("clusterrole", help="ClusterRole this binding should reference"),
)
_TCP = Flag("tcp", kind="csv", help="Port pairs can be specified as '<port>:<targetPort>'.")
_IMAGE = Flag("image", help="Image name to run.")


def _verb(
    name: str, summary: str, token_: str, generator: Generator, *flags: Flag, aliases: tuple[str, ...] = ()
) -> Verb:
    return Verb(
        name,
        summary,
        _generated(token_, generator),
        (*_COMMON, *flags),
        usage=f"create {name} NAME",
        aliases=aliases,
    )


CREATE = Verb(
    "create",
    "Create a resource from a file or from stdin",
    create,
    (
        *_COMMON,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        SELECTOR,
        Flag("edit", kind="bool", help="Edit the API resource before creating"),
        Flag("raw", help="Raw URI to POST to the server."),
    ),
    usage="create -f FILENAME",
    verbs=(
        _verb(
            "clusterrole",
            "Create a cluster role",
            "clusterroles",
            _role,
            *_RULE,
            Flag("non-resource-url", kind="strings", help="A partial url that user should have access to."),
        ),
        _verb(
            "clusterrolebinding",
            "Create a cluster role binding for a particular cluster role",
            "clusterrolebindings",
            _binding,
            *_SUBJECTS,
        ),
        _verb(
            "configmap",
            "Create a config map from a local file, directory or literal value",
            "configmaps",
            _configmap,
            *_DATA,
            aliases=("cm",),
        ),
        _verb(
            "cronjob",
            "Create a cron job with the specified name",
            "cronjobs",
            _cronjob,
            _IMAGE,
            Flag("schedule", help="A schedule in the Cron format the job should be run with."),
            Flag("restart", help="Job's restart policy."),
            aliases=("cj",),
        ),
        _verb(
            "deployment",
            "Create a deployment with the specified name",
            "deployments",
            _deployment,
            Flag("image", kind="csv", help="Image names to run."),
            Flag("port", kind="int", default=-1, help="The containerPort that this deployment exposes."),
            Flag("replicas", "r", kind="int", default=1, help="Number of replicas to create."),
            aliases=("deploy",),
        ),
        _verb(
            "ingress",
            "Create an ingress with the specified name",
            "ingresses",
            _ingress,
            Flag("rule", kind="strings", help="Rule in format host/path=service:port[,tls=secretname]."),
            Flag("class", help="Ingress Class to be used"),
            aliases=("ing",),
        ),
        _verb(
            "job",
            "Create a job with the specified name",
            "jobs",
            _job,
            _IMAGE,
            Flag("from", help="The name of the resource to create a Job from (only cronjob is supported)."),
        ),
        _verb(
            "namespace",
            "Create a namespace with the specified name",
            "namespaces",
            _namespace,
            aliases=("ns",),
        ),
        _verb(
            "poddisruptionbudget",
            "Create a pod disruption budget with the specified name",
            "poddisruptionbudgets",
            _pdb,
            Flag(
                "min-available",
                help="The minimum number or percentage of available pods this budget requires.",
            ),
            Flag(
                "max-unavailable",
                help="The maximum number or percentage of unavailable pods this budget requires.",
            ),
            Flag("selector", help="A label selector to use for this budget."),
            aliases=("pdb",),
        ),
        _verb(
            "priorityclass",
            "Create a priority class with the specified name",
            "priorityclasses",
            _priorityclass,
            Flag("value", kind="int", help="the value of this priority class."),
            Flag(
                "global-default",
                kind="bool",
                help="global-default specifies whether this is the default priority.",
            ),
            Flag("description", help="description of this priority class"),
            Flag(
                "preemption-policy",
                default="PreemptLowerPriority",
                help="the policy for preempting pods with lower priority.",
            ),
            aliases=("pc",),
        ),
        _verb(
            "quota",
            "Create a quota with the specified name",
            "resourcequotas",
            _quota,
            Flag("hard", help="A comma-delimited set of resource=quantity pairs that define a hard limit."),
            Flag("scopes", help="A comma-delimited set of quota scopes."),
            aliases=("resourcequota",),
        ),
        _verb("role", "Create a role with single rule", "roles", _role, *_RULE),
        _verb(
            "rolebinding",
            "Create a role binding for a particular role or cluster role",
            "rolebindings",
            _binding,
            *_SUBJECTS,
            Flag("role", help="Role this binding should reference"),
        ),
        Verb(
            "secret",
            "Create a secret using a specified subcommand",
            verbs=(
                Verb(
                    "docker-registry",
                    "Create a secret for use with a Docker registry",
                    _generated("secrets", _secret_registry),
                    (
                        *_COMMON,
                        *_DATA,
                        Flag("docker-server", default="https://index.docker.io/v1/", help="Server location."),
                        Flag("docker-username", help="Username"),
                        Flag("docker-password", help="Password"),
                        Flag("docker-email", help="Email"),
                    ),
                ),
                Verb(
                    "generic",
                    "Create a secret from a local file, directory, or literal value",
                    _generated("secrets", _secret_generic),
                    (*_COMMON, *_DATA, Flag("type", help="The type of secret to create")),
                ),
                Verb(
                    "tls",
                    "Create a TLS secret",
                    _generated("secrets", _secret_tls),
                    (
                        *_COMMON,
                        *_DATA,
                        Flag("cert", help="Path to PEM encoded public key certificate."),
                        Flag("key", help="Path to private key."),
                    ),
                ),
            ),
        ),
        Verb(
            "service",
            "Create a service using a specified subcommand",
            verbs=(
                Verb(
                    "clusterip",
                    "Create a ClusterIP service",
                    _generated("services", _service("ClusterIP")),
                    (
                        *_COMMON,
                        _TCP,
                        Flag(
                            "clusterip",
                            help="Assign your own ClusterIP or set to 'None' for a 'headless' service.",
                        ),
                    ),
                ),
                Verb(
                    "externalname",
                    "Create an ExternalName service",
                    _generated("services", _service("ExternalName")),
                    (*_COMMON, _TCP, Flag("external-name", help="External name of service")),
                ),
                Verb(
                    "loadbalancer",
                    "Create a LoadBalancer service",
                    _generated("services", _service("LoadBalancer")),
                    (*_COMMON, _TCP),
                ),
                Verb(
                    "nodeport",
                    "Create a NodePort service",
                    _generated("services", _service("NodePort")),
                    (
                        *_COMMON,
                        _TCP,
                        Flag(
                            "node-port",
                            kind="int",
                            help="Port used to expose the service on each node in a cluster.",
                        ),
                    ),
                ),
            ),
            aliases=("svc",),
        ),
        _verb(
            "serviceaccount",
            "Create a service account with the specified name",
            "serviceaccounts",
            _serviceaccount,
            aliases=("sa",),
        ),
        Verb(
            "token",
            "Request a service account token",
            token,
            (
                *_COMMON,
                Flag("duration", kind="duration", help="Requested lifetime of the issued token."),
                Flag("audience", kind="strings", help="Audience of the requested token."),
                Flag("bound-object-kind", help="Kind."),
                Flag("bound-object-name", help="Name."),
            ),
            usage="create token SERVICE_ACCOUNT_NAME",
        ),
    ),
    group="Basic Commands (Beginner)",
)

__all__ = ["CREATE"]
