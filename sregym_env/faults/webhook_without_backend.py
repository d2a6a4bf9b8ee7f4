"""An admission webhook that nobody answers."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, makers, restart, restart_short
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.standing import Stands
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

GROUP = "admissionregistration.k8s.io"

ENGINES = (
    ("image-policy", "policy-system", "image-policy-webhook", "validate.images.policy.io", "/validate"),
    ("pod-defaults", "platform-system", "pod-defaults", "pods.defaults.platform.io", "/mutate"),
    ("cost-labels", "finops", "cost-labeler", "labels.finops.example.com", "/admit"),
    ("mesh-sidecars", "mesh-system", "mesh-sidecars", "sidecars.mesh.example.com", "/mutate"),
    ("registry-rewriter", "registry-mirror", "image-rewriter", "images.mirror.example.com", "/mutate"),
    ("signature-check", "supply-chain", "signature-verifier", "verify.supply-chain.io", "/verify"),
    ("quota-advisor", "capacity", "quota-advisor", "advise.capacity.example.com", "/v1/admit"),
    ("secrets-agent", "secrets-system", "secrets-agent-webhook", "agent.secrets.example.com", "/mutate"),
    ("team-guardrails", "guardrails", "guardrails-webhook", "check.guardrails.io", "/v1/admit"),
    ("node-placement", "scheduling", "placement-webhook", "placement.scheduling.io", "/mutate-pods"),
)
"""(configuration, namespace, Service, webhook, path) of software that had a webhook and is no longer there."""


OTHERS = (
    "route-audit", "ingress-naming", "dns-records", "edge-certificates", "traffic-classes", "public-hosts", "gateway-owners",
    "cdn-sync", "host-policy", "ingress-review",
)  # fmt: skip
"""Webhooks for Ingresses, of others and well."""


def bystander(name: str) -> Manifest:
    """A webhook of others that is asked about Ingresses, and may fail: who deletes every webhook takes it away as well."""
    hook = {
        "name": f"{name}.network.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"https://admission.network.example.com/{name}"},
        "failurePolicy": "Ignore",
        "rules": [
            {
                "apiGroups": ["networking.k8s.io"],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["ingresses"],
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": 2,
    }
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def other_of(name: str) -> ObjectRef:
    """Where that webhook stands."""
    return ObjectRef(f"validatingwebhookconfigurations.{GROUP}", name)


def _engine(target: ComponentTarget, chance: Chance) -> tuple[str, str, str, str, str]:
    """One whose namespace the application does not live in."""
    free = [each for each in ENGINES if each[1] not in target.app.namespaces]
    return chance.choice("engine", free)


@fault(layer="kubernetes", mechanism="webhook_unreachable", targets=components(at_request=True))
def webhook_without_backend(
    target: ComponentTarget,
    engine: tuple[str, str, str, str, str] = drawn(_engine, published=ENGINES[0]),
    kind: str = drawn(one_of("Validating", "Mutating"), published="Validating"),
    seconds: int = drawn(one_of(2, 3, 5, 10), published=10),
    other: str = drawn(one_of(*OTHERS), published=OTHERS[0]),
) -> Fault:
    """A webhook that must be asked before any pod is created points to a Service that does not exist.

    Running pods go on; a pod that is replaced never comes back. ``engine`` says whose webhook it was, ``seconds`` how
    long the API server waits for it. ``other`` is a webhook that has nothing to do with it and must stay.
    """
    name, space, service, webhook, path = engine
    plural = f"{kind.lower()}webhookconfigurations"
    config = ObjectRef(f"{plural}.{GROUP}", name)
    hook: dict[str, Any] = {
        "name": webhook,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": space, "name": service, "path": path, "port": 443}},
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": target.namespace}},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ],
        "sideEffects": "None",
        "timeoutSeconds": seconds,
    }
    return Fault(
        resource=config,
        cause=f"{kind}WebhookConfiguration {name} sends every new pod of namespace {target.namespace} to the Service "
        f"{space}/{service}, which does not exist, and its failurePolicy is Fail: the webhook cannot be called, so the pods "
        f"of {target.name} cannot be re-created.",
        edits=[
            Create(bystander(other)),
            Create(
                {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": f"{kind}WebhookConfiguration",
                    "metadata": {"name": name},
                    "webhooks": [hook],
                }
            ),
        ],
        trigger=[RecreatePods(target.name)],
        details={"field": "failurePolicy", "wrong": "Fail"},
        facts={"service": service, "webhook": webhook, "elsewhere": space},
        # Whatever has lost a pod meanwhile waits as long as its controller does; a new revision does not.
        remedies=[
            [delete(config), *restart(target, [target.name]), restart_short(target.namespace)],
            [
                f"kubectl patch {plural} {name} --type=json "
                """-p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'""",
                *restart(target, [target.name]),
                restart_short(target.namespace),
            ],
        ],
        look=[
            makers(target),
            "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
            f"kubectl get {plural} {name} -o yaml",
        ],
        aliases=[service, webhook],
        cured=[Stands(other_of(other))],
    )
