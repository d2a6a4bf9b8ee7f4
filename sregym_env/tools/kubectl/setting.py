"""``kubectl set``: image, env, resources, serviceaccount, selector, subject."""

from __future__ import annotations

import base64
import fnmatch
import re
from collections.abc import Callable
from typing import Any

from sregym_env.kube import patch as patches
from sregym_env.kube.selectors import Requirement, parse_labels
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECORD,
    RECURSING,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.output import FORMATS_WITHOUT_TABLE, split_format, unknown_format
from sregym_env.tools.kubectl.resolve import Info, need_typed
from sregym_env.tools.kubectl.writing import (
    ALL,
    FIELD_MANAGER,
    LOCAL,
    NOTHING_GIVEN,
    UNNAMED,
    amounts,
    chosen,
    patch_object,
    recorded,
)

_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*\Z")


def template_path(info: Info) -> tuple[str, ...]:
    """Where an object keeps its pod spec. Raises kubectl's complaint for kinds without one."""
    if info.resource.key == "pods":
        return ("spec",)
    need_typed(info)
    if info.resource.key == "cronjobs.batch":
        return ("spec", "jobTemplate", "spec", "template", "spec")
    if "template" in (info.object.get("spec") or {}):
        return ("spec", "template", "spec")
    # An object that comes from a file alone has no uid, and is called by another name.
    kind = info.resource.plural if "uid" in info.object["metadata"] else info.resource.singular
    raise failure(
        f"{kind}/{info.name} the object is not a pod or does not have a pod template: "
        f"*v1.{info.resource.kind}"
    )


def pod_spec(info: Info) -> Manifest:
    """The pod spec of an object."""
    found: Any = info.object
    for key in template_path(info):
        found = found[key]
    return dict(found)


def with_pod_spec(info: Info, spec: Manifest) -> Manifest:
    """The object with another pod spec."""

    def put(node: Manifest, path: tuple[str, ...]) -> Manifest:
        if not path:
            return spec
        return {**node, path[0]: put(node[path[0]], path[1:])}

    return put(info.object, template_path(info))


class _Skipped(KubectlError):
    """An object that cannot be changed; the others are."""

    def __init__(self, text: str) -> None:
        super().__init__(f"error: {text}")


def _change_all(
    call: Call,
    words: list[str],
    change: Callable[[Info], Manifest],
    operation: str,
    doing: str,
    *,
    always: bool = False,
) -> None:
    """Patch every selected object with what ``change`` makes of its pod spec."""
    form, _ = split_format(call)
    if form and form not in FORMATS_WITHOUT_TABLE.split(","):
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    for info in chosen(call, words, need_name=UNNAMED):
        delta: Manifest = {}
        try:
            changed = recorded(call, with_pod_spec(info, change(info)))
        except _Skipped as error:
            call.fail(error)
            continue
        try:
            delta = patches.two_way(info.object, changed, info.resource)
            if delta or call.flags["local"] or always:
                patch_object(call, info, delta, operation)
        except StatusError as error:
            colon = "" if call.command == "set resources" else ":"
            raise failure(f"failed to patch {doing} to pod template{colon} {error.message}") from None


def _assignments(call: Call) -> tuple[list[str], list[str]]:
    """What is to be changed, and the changes (``GetResourcesAndPairs``). Raises where they are mixed up."""
    words: list[str] = []
    changes: list[str] = []
    for arg in call.args:
        if arg.find("=") > 0 or (arg.endswith("-") and arg != "-"):
            changes.append(arg)
        elif changes and call.command == "set env":
            raise failure(
                f"all resources must be specified before environment changes: {' '.join(call.args)}"
            )
        elif changes:
            raise failure(f"all resources must be specified before image changes: {arg}")
        else:
            words.append(arg)
    return words, changes


# --- image ----------------------------------------------------------------------------------------


def image(call: Call) -> None:
    """Change the images of containers."""
    words, changes = _assignments(call)
    if not words and not call.flags["filename"]:
        raise failure(NOTHING_GIVEN)
    if not changes:
        for info in chosen(call, words, need_name=UNNAMED):
            pod_spec(info)
        if call.exit_code:
            return
        raise failure("at least one image update is required")
    wanted = dict(change.split("=", 1) for change in changes)
    for name, reference in wanted.items():
        if not name:
            raise failure(f"invalid image update: {name}={reference}")

    def change_one(info: Info) -> Manifest:
        spec = pod_spec(info)
        known = {c["name"] for f in ("containers", "initContainers") for c in spec.get(f, ())} | {"*"}
        if missing := [f'unable to find container named "{name}"' for name in wanted if name not in known]:
            raise _Skipped("\nerror: ".join(missing))
        for field in ("initContainers", "containers"):
            if field in spec:
                spec[field] = [
                    {**c, "image": wanted.get(c["name"], wanted.get("*", c["image"]))} for c in spec[field]
                ]
        return spec

    _change_all(call, words, change_one, "image updated", "image update")


# --- env ------------------------------------------------------------------------------------------


def env(call: Call) -> None:
    """Set, remove or list environment variables."""
    words, changes = _assignments(call)
    if call.flags["list"]:
        if call.flags["output"]:
            raise failure("--list and --output may not be specified together")
        _list_env(call, words, changes)
        return
    source = call.flags["from"]
    changes = [*changes, *call.flags["env"]]
    if not words and not call.flags["filename"]:
        raise failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    for text in changes:
        name = text.partition("=")[0].removesuffix("-")
        if not _ENV_NAME.match(name):
            raise failure(
                f'"{name}" is not a valid key name: a valid environment variable name must consist of alphabetic '
                "characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or "
                "'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
            )
    if unknown := [text for text in changes if "=" not in text and not text.endswith("-")]:
        raise failure(f"unknown environment variable: {unknown[0]}")
    added = {c.partition("=")[0]: c.partition("=")[2] for c in changes if not c.endswith("-") or "=" in c}
    added.pop("-", None)
    removed = {c[:-1] for c in changes if c.endswith("-") and "=" not in c}
    if call.flags["keys"] and not source:
        raise failure("when specifying --keys, a configmap or secret must be provided with --from")
    imported = _from_source(call, source) if source else []
    added = {call.flags["prefix"] + name: value for name, value in added.items()}

    def change_one(info: Info) -> Manifest:
        spec = pod_spec(info)
        pattern = call.flags["containers"]
        if not any(fnmatch.fnmatchcase(c["name"], pattern) for c in spec["containers"]):
            kind = info.resource.kind
            call.warn(f'Warning: {kind}/{info.name} does not have any containers matching "{pattern}"')
        spec["containers"] = [
            _with_env(container, added, removed, imported, call.flags["overwrite"], info)
            if fnmatch.fnmatchcase(container["name"], call.flags["containers"])
            else container
            for container in spec["containers"]
        ]
        return spec

    _change_all(call, words, change_one, "env updated", "env update")


def _from_source(call: Call, source: str) -> list[Manifest]:
    kind, _, name = source.partition("/")
    resource = call.find(kind)
    obj = call.cluster.get(resource.address, name, call.namespace)
    field = "secretKeyRef" if resource.key == "secrets" else "configMapKeyRef"
    keys = call.flags["keys"] or sorted(obj.get("data") or {})
    prefix = call.flags["prefix"]
    found: list[Manifest] = []
    for key in keys:
        variable = "".join(ch if ch.isalnum() else "_" for ch in key).upper()
        if variable != key:
            call.warn(f"Warning: key {key} transferred to {variable}")
        found.append({"name": prefix + variable, "valueFrom": {field: {"name": name, "key": key}}})
    return found


def _with_env(
    container: Manifest,
    added: dict[str, str],
    removed: set[str],
    imported: list[Manifest],
    overwrite: bool,
    info: Info,
) -> Manifest:
    known = list(container.get("env") or ())
    entries = [{"name": name, "value": value} for name, value in added.items()] + imported
    for entry in entries:
        at = next((i for i, old in enumerate(known) if old["name"] == entry["name"]), None)
        if at is None:
            known.append(entry)
        elif not overwrite:
            raise failure(
                f"{info.resource.plural}/{info.name} '{entry['name']}' already has a value ({known[at].get('value', '')}), and --overwrite is false"
            )
        else:
            known[at] = entry
    known = [entry for entry in known if entry["name"] not in removed]
    rest = {key: value for key, value in container.items() if key != "env"}
    return {**rest, "env": known} if known else rest


def _list_env(call: Call, words: list[str], changes: list[str]) -> None:
    added = dict(change.partition("=")[::2] for change in changes if "=" in change)
    for info in chosen(call, words):
        for container in pod_spec(info)["containers"]:
            if not fnmatch.fnmatchcase(container["name"], call.flags["containers"]):
                continue
            call.print(f"# {info.resource.kind} {info.name}, container {container['name']}\n")
            shown = _with_env(container, added, set(), [], True, info)
            for entry in shown.get("env") or ():
                call.print(_env_line(call, info, entry))


def _env_line(call: Call, info: Info, entry: Manifest) -> str:
    source = entry.get("valueFrom")
    if source and call.flags["resolve"]:
        value = _resolved(call, info, source)
        if value is not None:
            return f"{entry['name']}={value}\n"
    if not source:
        return f"{entry['name']}={entry.get('value', '')}\n"
    if "configMapKeyRef" in source:
        ref = source["configMapKeyRef"]
        return f"# {entry['name']} from configmap {ref['name']}, key {ref['key']}\n"
    if "secretKeyRef" in source:
        ref = source["secretKeyRef"]
        return f"# {entry['name']} from secret {ref['name']}, key {ref['key']}\n"
    path = (source.get("fieldRef") or {}).get("fieldPath") or (source.get("resourceFieldRef") or {}).get(
        "resource"
    )
    return f"# {entry['name']} from field path {path}\n"


def _resolved(call: Call, info: Info, source: Manifest) -> str | None:
    """The value behind a reference to a ConfigMap or Secret."""
    for field, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if field in source:
            ref = source[field]
            data = call.cluster.get(resource, ref["name"], info.namespace).get("data") or {}
            value = str(data.get(ref["key"], ""))
            return value if field == "configMapKeyRef" else base64.b64decode(value).decode(errors="replace")
    return None


# --- resources ------------------------------------------------------------------------------------


def _raise(error: StatusError) -> None:
    raise error


def resources(call: Call) -> None:
    """Set requests and limits of containers."""
    flags = call.flags
    if not call.args and not flags["filename"] and not flags["kustomize"]:
        raise failure(NOTHING_GIVEN)
    if not flags["limits"] and not flags["requests"]:
        tuple(chosen(call, need_name=UNNAMED, failed=_raise))  # kubectl looks at the objects first
        raise failure("you must specify an update to requests or limits (in the form of --requests/--limits)")
    try:
        limits, requests = amounts(flags["limits"]), amounts(flags["requests"])
    except KubectlError:
        tuple(chosen(call, need_name=UNNAMED, failed=_raise))  # kubectl looks at the objects first
        raise

    def change_one(info: Info) -> Manifest:
        spec = pod_spec(info)
        chosen = [c for c in spec["containers"] if fnmatch.fnmatchcase(c["name"], flags["containers"])]
        if not chosen:
            raise failure(f"unable to find container named {flags['containers']}")
        spec["containers"] = [
            _with_resources(c, limits, requests) if c in chosen else c for c in spec["containers"]
        ]
        return spec

    _change_all(call, list(call.args), change_one, "resource requirements updated", "resources update")


def _with_resources(container: Manifest, limits: dict[str, str], requests: dict[str, str]) -> Manifest:
    old = dict(container.get("resources") or {})
    for field, given in (("limits", limits), ("requests", requests)):
        if given:
            # A zero is stored as it is, though kubectl's help says that it removes the entry.
            old[field] = {**(old.get(field) or {}), **given}
    return {**container, "resources": old}


# --- service account, selector --------------------------------------------------------------------


def serviceaccount(call: Call) -> None:
    """Change the service account of a pod template."""
    if not call.args:
        raise failure("serviceaccount is required")
    account = call.args[-1]

    def change_one(info: Info) -> Manifest:
        spec = pod_spec(info)
        return {
            **spec,
            "serviceAccountName": account,
            **(
                {}
                if call.flags["local"] or call.flags["dry-run"] == "client"
                else {"serviceAccount": account}
            ),
        }

    _change_all(call, list(call.args[:-1]), change_one, "serviceaccount updated", "service account update")


def selector(call: Call) -> None:
    """Change the selector of a Service."""
    if not call.args:
        raise failure("one selector is required")
    words, last = list(call.args[:-1]), call.args[-1]
    infos = list(chosen(call, words, need_name=UNNAMED))
    if unsupported := _unsupported(last):
        text = f"match expression [{unsupported}] not supported on this object"
        if len(infos) > 1:
            raise KubectlError("\n".join([text] * len(infos)))
        if infos:
            raise failure(text)
        return
    wanted = dict(part.partition("=")[::2] for part in last.split(","))
    for info in infos:
        if info.resource.key != "services":
            raise failure("setting a selector is only supported for Services")
        old = info.object["spec"].get("selector") or {}
        replaced = {**dict.fromkeys(old), **wanted}
        patch_object(
            call, info, recorded(call, {"spec": {"selector": replaced}}), "selector updated", type="merge"
        )


def _unsupported(text: str) -> str:
    """The expressions of a selector that no Service can have, as Go prints them; empty where there are none."""
    requirements = parse_labels(text).requirements
    return " ".join(_expression(each) for each in requirements if each.operator not in ("=", "=="))


def _expression(requirement: Requirement) -> str:
    operators = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}
    operator = operators.get(requirement.operator, requirement.operator.title())
    return f"{{{requirement.key} {operator} [{' '.join(requirement.values)}]}}"


def subject(call: Call) -> None:
    """Add users, groups and service accounts to a binding."""
    if not call.args and not call.flags["filename"] and not call.flags["kustomize"]:
        raise failure(NOTHING_GIVEN)
    added: list[Manifest] = [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
        for kind in ("User", "Group")
        for name in call.flags[kind.lower()]
    ]
    for account in call.flags["serviceaccount"]:
        namespace, colon, name = account.partition(":")
        if not (colon and namespace and name):
            raise failure("serviceaccount must be <namespace>:<name>")
        added.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    if not added:
        raise failure("you must specify at least one value of user, group or serviceaccount")
    for info in chosen(call, need_name=UNNAMED):
        if info.resource.plural not in ("rolebindings", "clusterrolebindings"):
            raise failure("setting subjects is only supported for RoleBinding/ClusterRoleBinding")
        known = list(info.object.get("subjects") or ())
        merged = known + [entry for entry in added if entry not in known]
        patch_object(call, info, {"subjects": merged}, "subjects updated", type="merge")


_COMMON = (FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR, ALL, OUTPUT, DRY_RUN, FIELD_MANAGER, LOCAL)
_CONTAINERS = Flag(
    "containers", "c", default="*", help="The names of containers in the selected pod templates to change."
)

SET = Verb(
    "set",
    "Set specific features on objects",
    description="Configure application resources.\n\n"
    " These commands help you make changes to existing application resources.",
    verbs=(
        Verb(
            "env",
            "Update environment variables on a pod template",
            env,
            (
                *_COMMON,
                _CONTAINERS,
                Flag("env", "e", kind="strings", help="Key-value pairs to set into each pod template."),
                Flag("from", help="The name of a resource from which to inject environment variables"),
                Flag(
                    "keys", kind="csv", help="Comma-separated list of keys to import from specified resource"
                ),
                Flag("list", kind="bool", help="If true, display the environment and any changes."),
                Flag(
                    "overwrite",
                    kind="bool",
                    default=True,
                    help="If true, allow environment to be overwritten.",
                ),
                Flag("prefix", help="Prefix to append to variable names"),
                Flag(
                    "resolve",
                    kind="bool",
                    help="If true, show secret or configmap references when listing variables.",
                ),
            ),
        ),
        Verb("image", "Update the image of a pod template", image, (*_COMMON, RECORD)),
        Verb(
            "resources",
            "Update resource requests/limits on objects with pod templates",
            resources,
            (
                *_COMMON,
                RECORD,
                _CONTAINERS,
                Flag("limits", help="The resource requirement limits for this container."),
                Flag("requests", help="The resource requirement requests for this container."),
            ),
        ),
        Verb(
            "selector",
            "Set the selector on a resource",
            selector,
            (
                FILENAME,
                RECURSING,
                ALL,
                OUTPUT,
                DRY_RUN,
                FIELD_MANAGER,
                LOCAL,
                RECORD,
                Flag("resource-version", help="Precondition for resource version."),
            ),
        ),
        Verb(
            "serviceaccount",
            "Update the service account of a resource",
            serviceaccount,
            (FILENAME, KUSTOMIZE, RECURSIVE, ALL, OUTPUT, DRY_RUN, FIELD_MANAGER, LOCAL, RECORD),
            aliases=("sa",),
        ),
        Verb(
            "subject",
            "Update the user, group, or service account in a role binding or cluster role binding",
            subject,
            (
                *_COMMON,
                Flag("user", kind="strings", help="Usernames to bind to the role"),
                Flag("group", kind="strings", help="Groups to bind to the role"),
                Flag("serviceaccount", kind="strings", help="Service accounts to bind to the role"),
            ),
        ),
    ),
    usage="set SUBCOMMAND",
    group="Basic Commands (Beginner)",
)
