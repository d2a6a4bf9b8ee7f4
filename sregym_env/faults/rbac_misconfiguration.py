"""An account that may not read what its pods fetch when they start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import AtBirth, Create, JsonPatch, ObjectRef, RecreatePods, Rollout
from sregym_env.cluster.identity import User
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import mend, named, put, replace_pods, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

RBAC = "rbac.authorization.k8s.io"

SCRIPTS: Mapping[str, str] = {
    "once": "curl -fsS {options} -o {directory}/settings.json $API/{path}",
    "told": "echo loading {settings}; curl -fsS {options} -o {directory}/settings.json $API/{path} && echo loaded",
    "again": "until curl -fsS {options} -o {directory}/settings.json $API/{path}; do sleep {pause}; done",
}
"""Ways to fetch a ConfigMap from the API server, with the account of the pod."""

_OPTIONS = '--cacert $SA/ca.crt -H "Authorization: Bearer $(cat $SA/token)"'
_WHERE = "SA=/var/run/secrets/kubernetes.io/serviceaccount; API=https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT; "


def _lacking(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    """(field of the rule, wrong values in it as words): a slip by which the rule no longer grants the reading."""
    match chance.choice("field", ("verbs", "resources", "resources", "apiGroups", "resourceNames")):
        case "verbs":
            return "verbs", chance.choice(
                "verbs", ("list watch", "list", "watch list", "read", "update patch")
            )
        case "resources":
            kinds = (
                "configmap",
                "secrets",
                "pods services",
                "services endpoints",
                "configmaps/status",
                "pods",
            )
            return "resources", chance.choice("resources", kinds)
        case "apiGroups":
            return "apiGroups", chance.choice("group", ("v1", "apps", "core", "config.k8s.io", "api/v1"))
        case _:
            return "resourceNames", chance.choice(
                "named", (f"{target.name}-config", f"{target.name}-conf", "settings")
            )


@fault(
    layer="kubernetes",
    mechanism="missing_permission",
    targets=components(where=lambda target: target.inventory.declares(target.component)),
    level="hard",
)
def rbac_misconfiguration(
    target: ComponentTarget,
    lacking: tuple[str, str] = drawn(_lacking, published=("resources", "pods services")),
    settings: str = drawn(
        fresh("configmaps", "{name}-settings", "{name}-routing", "{app}-runtime", "{name}-tuning", "{app}-settings",
              "{name}-options", "{name}-runtime-config"),
        published="app-routing-config",
    ),
    account: str = drawn(
        fresh("serviceaccounts", "{name}-loader", "{name}", "{name}-app", "{app}-{name}-config", "{name}-bootstrap", "{name}-start"),
        published=lambda target: f"{target.name}-rbac-sa",
    ),
    role: str = drawn(
        fresh("clusterroles.rbac.authorization.k8s.io", "{app}-{name}-config-reader", "{name}-config-reader", "{app}-{name}-settings",
              "{name}-loader", "{app}-config-viewer-{name}"),
        published=lambda target: f"{target.name}-rbac-role",
    ),
    init: str = drawn(
        one_of("config-loader", "fetch-settings", "load-settings", "settings", "init-config-fetch", "pull-settings", "configure"),
        published="config-loader",
    ),
    way: str = drawn(one_of(*SCRIPTS), published="once"),
    pause: int = drawn(one_of(2, 3, 5, 10), published=5),
) -> Fault:  # fmt: skip
    """The role of a workload's account no longer grants what an init container fetches from the API server.

    Its pods have come up that way for days. After the role was changed they serve on, and no new one gets past the init
    container, to which the API server answers 403.
    """
    place, wrong = lacking[0], lacking[1].split()
    ref = ObjectRef(f"clusterroles.{RBAC}", role)
    directory, volume = "/etc/runtime", f"{init}-data"
    script = SCRIPTS[way].format(
        options=_OPTIONS,
        directory=directory,
        path=f"api/v1/namespaces/{target.namespace}/configmaps/{settings}",
        settings=settings,
        pause=pause,
    )
    container = {
        "name": init,
        "image": "curlimages/curl:8.7.1",
        "command": ["sh", "-c", _WHERE + script],
        "volumeMounts": [{"name": volume, "mountPath": directory}],
    }
    who = target.template_declares("serviceAccountName") or account
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    if place == "resourceNames":
        rule["resourceNames"] = [settings]
    right = rule[place]
    back = put(ref, f"/rules/0/{place}", right)
    return Fault(
        resource=ref,
        cause=f"ClusterRole {role} no longer lets the service account {who} of {target.kind} {target.name} get ConfigMap "
        f"{settings}: the {place} of its rule are {', '.join(wrong)} instead of {', '.join(right)}, so the init container {init} "
        "is refused by the API server (403 Forbidden) and no new pod starts.",
        earlier=[
            Create(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": settings, "namespace": target.namespace},
                    "data": {"LOG_FORMAT": "text", "REQUEST_TIMEOUT": "5s"},
                }
            ),
            *([Create(_account(who, target.namespace))] if who == account else []),
            Create(
                {
                    "apiVersion": f"{RBAC}/v1",
                    "kind": "ClusterRole",
                    "metadata": {"name": role},
                    "rules": [rule],
                }
            ),
            Create(_binding(role, who, target.namespace)),
            Rollout(target.workload, _fetching(target, container, who, volume, directory)),
        ],
        edits=[AtBirth(target.name), JsonPatch(ref, f"/rules/0/{place}", wrong)],
        trigger=[RecreatePods(target.name), *map(RecreatePods, target.dependents)],
        details={"field": f"rules {place}", "wrong": " ".join(wrong), "right": " ".join(right)},
        facts={"init": init, "account": who, "settings": settings},
        remedies=[
            mend(target, back, replace_pods(target, target.name)),
            mend(target, put(ref, "/rules", [rule]), replace_pods(target, target.name)),
        ],
        look=[
            f"kubectl logs -n {target.namespace} {named(target.workload)} -c {init} --tail=10",
            show(target),
            f"kubectl get rolebindings -n {target.namespace} -o wide",
            f"kubectl get clusterrole {role} -o yaml",
        ],
        accepts=[target.workload, ObjectRef(f"rolebindings.{RBAC}", role, target.namespace)],
        aliases=[role, who, init, settings],
        cured=[_granted(target, settings)],
    )


def _account(name: str, namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace},
    }


def _binding(role: str, account: str, namespace: str) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role, "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


def _fetching(
    target: ComponentTarget, init: Manifest, account: str, volume: str, directory: str
) -> dict[str, Any]:
    """Changes of the pod template by which an init container fetches the settings for the main one."""
    mount = {"name": volume, "mountPath": directory, "readOnly": True}
    whole = target.template_path
    return {
        whole("initContainers"): [*(target.template_declares("initContainers") or ()), init],
        whole("volumes"): [*(target.template_declares("volumes") or ()), {"name": volume, "emptyDir": {}}],
        target.container_path("volumeMounts"): [*(target.declares("volumeMounts") or ()), mount],
        whole("serviceAccountName"): account,
        whole("serviceAccount"): account,
        whole("automountServiceAccountToken"): True,
    }


def _granted(target: ComponentTarget, settings: str) -> Predicate:
    """Whether the account with which the workload's next pod comes may read its settings."""

    def cured(world: World) -> Finding:
        workload, space = target.workload, target.namespace
        expected = f"its account gets ConfigMap {settings}"
        try:
            spec = world.cluster.get(workload.resource, workload.name, space)["spec"]["template"]["spec"]
            name = spec.get("serviceAccountName", "default")
            groups = ("system:serviceaccounts", f"system:serviceaccounts:{space}", "system:authenticated")
            account = User(f"system:serviceaccount:{space}:{name}", groups)
            world.cluster.as_user(account).get("configmaps", settings, space)
        except StatusError as error:
            return Finding("permission", False, str(error), expected)
        return Finding("permission", True, f"{name} gets it", expected)

    return cured
