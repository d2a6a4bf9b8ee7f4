"""An admission webhook that nobody answers."""

from __future__ import annotations

from sregym_env.cluster.edits import Create, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, makers
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.webhooks import (
    OTHERS,
    bystanders,
    configuration,
    hook,
    ignored,
    reference,
    remade,
    untouched,
)
from sregym_env.runtime.chance import Chance

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
    long the API server waits for it. ``other`` names webhooks that have nothing to do with it and must stay.
    """
    name, space, service, webhook, path = engine
    plural = f"{kind.lower()}webhookconfigurations"
    config = reference(kind, name)
    client = {"service": {"namespace": space, "name": service, "path": path, "port": 443}}
    return Fault(
        resource=config,
        cause=f"{kind}WebhookConfiguration {name} sends every new pod of namespace {target.namespace} to the Service "
        f"{space}/{service}, which does not exist, and its failurePolicy is Fail: the webhook cannot be called, so the pods "
        f"of {target.name} cannot be re-created.",
        edits=[
            *map(Create, bystanders(other)),
            Create(configuration(kind, name, hook(target, webhook, client, seconds))),
        ],
        trigger=[RecreatePods(target.name)],
        details={"field": "failurePolicy", "wrong": "Fail"},
        facts={"service": service, "webhook": webhook, "elsewhere": space},
        remedies=[[delete(config), *remade(target)], [ignored(config), *remade(target)]],
        look=[
            makers(target),
            "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
            f"kubectl get {plural} {name} -o yaml",
        ],
        aliases=[service, webhook],
        cured=untouched(other),
    )
