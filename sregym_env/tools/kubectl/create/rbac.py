"""``kubectl create`` for roles, bindings, service accounts and their tokens."""

from __future__ import annotations

from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.create.generator import Generator, verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import OUTPUT, PRINTING, Flag

_GROUP = "rbac.authorization.k8s.io"
_VERBS = frozenset(
    "get delete list create update patch watch proxy deletecollection use bind escalate impersonate *".split()
)


def _role(call: Call, _name: str) -> Manifest:
    if not call.flags["verb"]:
        raise failure("at least one verb must be specified")
    if not call.flags["resource"]:
        raise failure("at least one resource must be specified")
    return {"rules": _resource_rules(call)}


def _cluster_role(call: Call, _name: str) -> Manifest:
    flags = call.flags
    if flags["aggregation-rule"]:
        for part in flags["aggregation-rule"]:
            if "=" not in part:
                text = f'invalid argument "{part}" for "--aggregation-rule" flag: malformed pair, expect string=string'
                raise KubectlError(f"error: {text}\nSee 'kubectl create clusterrole --help' for usage.")
        if flags["verb"] or flags["resource"] or flags["non-resource-url"]:
            raise failure(
                "aggregation rule must be specified without nonResourceURLs, resources or resourceNames"
            )
        labels = dict(part.partition("=")[::2] for part in flags["aggregation-rule"])
        return {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]}, "rules": None}
    if not flags["verb"]:
        raise failure("at least one verb must be specified")
    urls = list(dict.fromkeys(flags["non-resource-url"]))
    if not flags["resource"] and not urls:
        raise failure("one of resource or nonResourceURL must be specified")
    rules = _resource_rules(call) if flags["resource"] else []
    if urls:
        rules.append({"nonResourceURLs": urls, "verbs": _verbs(call)})
    return {"rules": rules}


def _verbs(call: Call) -> list[str]:
    verbs = list(dict.fromkeys(call.flags["verb"]))
    return ["*"] if "*" in verbs else verbs


def _resource_rules(call: Call) -> list[Manifest]:
    verbs = _verbs(call)
    for word in verbs:
        if word not in _VERBS:
            call.warn(f"Warning: '{word}' is not a standard resource verb")
    groups: dict[str, list[str]] = {}
    for token in dict.fromkeys(call.flags["resource"]):
        base, _, subresource = token.partition("/")
        group, plural = _located(call, base)
        entry = f"{plural}/{subresource}" if subresource else plural
        if entry not in groups.setdefault(group, []):
            groups[group].append(entry)
    names = list(dict.fromkeys(call.flags["resource-name"]))
    extra = {"resourceNames": names} if names else {}
    return [
        {"apiGroups": [group], "resources": plurals, **extra, "verbs": verbs}
        for group, plurals in groups.items()
    ]


def _located(call: Call, token: str) -> tuple[str, str]:
    if token == "*":
        return "", "*"
    if token == "*.*":
        return "*", "*"
    try:
        found = call.find(token)
    except KubectlError:
        raise KubectlError(f'the server doesn\'t have a resource type "{token}"') from None
    return found.group, found.plural


def _subjects(call: Call) -> list[Manifest]:
    found: list[Manifest] = [
        {"apiGroup": _GROUP, "kind": kind, "name": name}
        for kind in ("User", "Group")
        for name in call.flags[kind.lower()]
    ]
    for account in call.flags["serviceaccount"]:
        namespace, colon, name = account.partition(":")
        if not colon or not name or not namespace:
            raise failure("serviceaccount must be <namespace>:<name>")
        found.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    return found


def _bound(call: Call, kind: str, name: str) -> Manifest:
    body: Manifest = {"roleRef": {"apiGroup": _GROUP, "kind": kind, "name": name}}
    subjects = _subjects(call)
    return {**body, "subjects": subjects} if subjects else body


def _role_binding(call: Call, _name: str) -> Manifest:
    role, cluster_role = call.flags["role"], call.flags["clusterrole"]
    if bool(role) == bool(cluster_role):
        raise failure("exactly one of clusterrole or role must be specified")
    return _bound(call, "Role", role) if role else _bound(call, "ClusterRole", cluster_role)


def _cluster_role_binding(call: Call, _name: str) -> Manifest:
    return _bound(call, "ClusterRole", call.flags["clusterrole"])


def _serviceaccount(_call: Call, _name: str) -> Manifest:
    return {}


def check_words(call: Call) -> None:
    """Refuse ``create token`` of none or of several accounts."""
    if len(call.args) != 1:
        raise usage_failure(f"exactly one NAME is required, got {len(call.args)}", call.command)


def _token(call: Call) -> None:
    """Ask for a service account's token and print it."""
    kind, name = call.flags["bound-object-kind"], call.flags["bound-object-name"]
    if kind and kind not in ("Node", "Pod", "Secret"):
        raise failure("supported --bound-object-kind values are Node, Pod, Secret")
    if call.flags["bound-object-uid"] and not kind:
        raise failure("--bound-object-uid can only be set if --bound-object-kind is provided")
    if "duration" in call.given and 0 < call.flags["duration"] < 600 * 10**9:
        seconds = call.flags["duration"] // 10**9
        raise failure(
            'failed to create token: TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid '
            f"value: {seconds}: may not specify a duration less than 10 minutes"
        )
    if kind and not name:
        raise failure("--bound-object-name is required if --bound-object-kind is provided")
    body: Manifest = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {},
        "spec": {},
    }
    try:
        made = call.cluster.create(body, namespace=call.namespace, subresource="token", name=call.args[0])
    except StatusError as error:
        raise failure(f"failed to create token: {error.message}") from None
    call.print(f"{made['status']['token']}\n")


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

ROLE = verb("role", "Create a role with single rule", Generator("roles", _role, ""), *_RULE)
CLUSTER_ROLE = verb(
    "clusterrole",
    "Create a cluster role",
    Generator("clusterroles", _cluster_role, ""),
    *_RULE,
    Flag("non-resource-url", kind="csv", help="A partial url that user should have access to."),
    Flag("aggregation-rule", kind="csv", help="An aggregation label selector for combining ClusterRoles."),
)
ROLE_BINDING = verb(
    "rolebinding",
    "Create a role binding for a particular role or cluster role",
    Generator("rolebindings", _role_binding, "rolebinding:"),
    *_SUBJECTS,
    Flag("role", help="Role this binding should reference"),
)
CLUSTER_ROLE_BINDING = verb(
    "clusterrolebinding",
    "Create a cluster role binding for a particular cluster role",
    Generator("clusterrolebindings", _cluster_role_binding, "clusterrolebinding:", ("clusterrole",)),
    *_SUBJECTS,
)
SERVICE_ACCOUNT = verb(
    "serviceaccount",
    "Create a service account with the specified name",
    Generator("serviceaccounts", _serviceaccount, "serviceaccount:"),
    aliases=("sa",),
)
TOKEN = Verb(
    "token",
    "Request a service account token",
    _token,
    (
        OUTPUT,
        *PRINTING,
        Flag("duration", kind="duration", help="Requested lifetime of the issued token."),
        Flag("audience", kind="strings", help="Audience of the requested token."),
        Flag("bound-object-kind", help="Kind of an object to bind the token to."),
        Flag("bound-object-name", help="Name of an object to bind the token to."),
        Flag("bound-object-uid", help="UID of an object to bind the token to."),
    ),
    usage="create token SERVICE_ACCOUNT_NAME",
)
