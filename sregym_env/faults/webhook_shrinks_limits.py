"""An admission webhook that takes memory away from every new pod."""

from __future__ import annotations

from sregym_env.cluster.edits import (
    AtBirth,
    AwaitRollout,
    Create,
    Edit,
    IssueCertificate,
    ObjectRef,
    RecreatePods,
)
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of, sized
from sregym_env.faults.commands import (
    await_rollout,
    delete,
    patch,
    registrants,
    replace_unready,
    restart,
    selector,
)
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.webhooks import (
    AGE,
    LEFT,
    OTHERS,
    bundle,
    bystanders,
    configuration,
    hook,
    names_of,
    reference,
    untouched,
)
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

SERVERS = (
    ("pod-profiles", "pods.profiles.example.com"), ("resource-policy", "resources.policy.example.com"),
    ("workload-profiles", "profiles.workloads.example.com"), ("fair-share", "share.tenants.example.com"),
    ("platform-mutations", "mutate.platform.example.com"), ("tenant-guard", "guard.tenants.example.com"),
    ("cost-ceilings", "ceilings.cost.example.com"), ("pod-normalizer", "normalize.pods.example.com"),
)  # fmt: skip
"""(name of the server and its objects, name of the webhook)."""

IMAGE = "ghcr.io/platform-admission/resource-policy:1.6.2"
LEAST = bytes_("7Mi")
"""Below this a container is not even set up."""


BEFORE_LOAD = 0.53
"""The part of its memory at work that a program takes before anybody calls it, at least."""


def _starved(target: ComponentTarget) -> bool:
    return target.component.memory * BEFORE_LOAD > LEAST


def _ceiling(target: ComponentTarget, chance: Chance) -> str:
    """Less than the program needs to start, in any unit."""
    need = target.component.memory
    return sized(chance.uniform("size", max(LEAST, need * 0.15), need * BEFORE_LOAD), chance)


@fault(
    layer="kubernetes",
    mechanism="shrunk_at_admission",
    targets=components(at_request=True, where=_starved),
    level="hard",
)
def webhook_shrinks_limits(
    target: ComponentTarget,
    memory: str = drawn(_ceiling, published="10Mi"),
    server: tuple[str, str] = drawn(one_of(*SERVERS), published=SERVERS[0]),
    place: str = drawn(one_of("kube-system", "default"), published="kube-system"),
    other: str = drawn(one_of(*OTHERS), published=OTHERS[0]),
) -> Fault:
    """A mutating webhook of another team caps the memory of every new pod, at less than this one's program needs.

    What declares the pod is right, and its revisions are all the same; running pods go on. A pod that is replaced is
    born with another limit and is OOM-killed, whatever limit its template is given. The ceiling stands in a ConfigMap of
    the webhook's server. ``other`` names webhooks that have nothing to do with it and must stay.
    """
    name, webhook = server
    config = reference("Mutating", name)
    policy = ObjectRef("configmaps", f"{name}-policy", place)
    workload = ObjectRef("deployments.apps", name, place)
    secret = ObjectRef("secrets", f"{name}-tls", place)
    client = {
        "service": {"namespace": place, "name": name, "path": "/mutate", "port": 443},
        "caBundle": bundle(f"{place}/{name}-tls"),
    }
    asked = {**hook(target, webhook, client, 5), "reinvocationPolicy": "Never"}
    edits: list[Edit] = [
        AtBirth(target.name),
        IssueCertificate(secret, names_of(name, place), AGE, LEFT),
        *map(Create, _served(name, place, memory)),
        AwaitRollout(workload),
        Create(configuration("Mutating", name, asked)),
        *map(Create, bystanders(other)),
    ]
    mended = [*restart(target, [target.name, *registrants(target)]), replace_unready(target.namespace)]
    exempt = [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [target.namespace]}]
    return Fault(
        resource=config,
        cause=f"The mutating admission webhook {name} writes a memory limit of {memory} into every new pod of namespace "
        f"{target.namespace} as it is created, less than {target.name} needs (the ceiling stands in ConfigMap {policy.name}, "
        f"namespace {place}): its pods are OOMKilled, whatever {target.kind} {target.name} declares.",
        edits=edits,
        trigger=[RecreatePods(target.name)],
        details={"field": "memory limit", "wrong": memory},
        facts={"server": name, "elsewhere": place, "webhook": webhook, "policy": policy.name},
        remedies=[
            [delete(config), *mended],
            [
                patch(
                    config,
                    [
                        {
                            "op": "add",
                            "path": "/webhooks/0/namespaceSelector",
                            "value": {"matchExpressions": exempt},
                        }
                    ],
                ),
                *mended,
            ],
            [
                patch(policy, [{"op": "add", "path": "/data/policy.yaml", "value": "ceilings: {}\n"}]),
                f"kubectl rollout restart deployment/{name} -n {place}",
                await_rollout(workload),
                *mended,
            ],
        ],
        look=[
            f"kubectl get pods {selector(target)} -n {target.namespace} -o yaml",
            "kubectl get mutatingwebhookconfigurations",
            f"kubectl get mutatingwebhookconfiguration {name} -o yaml",
            f"kubectl get configmap {policy.name} -n {place} -o yaml",
        ],
        accepts=[policy, workload, secret, ObjectRef("services", name, place)],
        aliases=[webhook, policy.name],
        cured=untouched(other),
    )


def _policy(memory: str) -> str:
    return f"# Held to at admission, for containers of every pod.\nceilings:\n  memory: {memory}\n"


def _served(name: str, place: str, memory: str) -> list[Manifest]:
    """The webhook's policy, its server and its Service."""
    labels, here = {"app": name}, {"name": name, "namespace": place}
    container = {
        "name": "server",
        "image": IMAGE,
        "args": [
            "--policy=/etc/resource-policy/policy.yaml",
            "--tls-cert-file=/certs/tls.crt",
            "--tls-private-key-file=/certs/tls.key",
            "--port=8443",
        ],
        "ports": [{"containerPort": 8443}],
        "volumeMounts": [
            {"name": "policy", "mountPath": "/etc/resource-policy", "readOnly": True},
            {"name": "certs", "mountPath": "/certs", "readOnly": True},
        ],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    }
    volumes = [
        {"name": "policy", "configMap": {"name": f"{name}-policy"}},
        {"name": "certs", "secret": {"secretName": f"{name}-tls"}},
    ]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"{name}-policy", "namespace": place},
            "data": {"policy.yaml": _policy(memory)},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": here,
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": here,
            "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
        },
    ]
