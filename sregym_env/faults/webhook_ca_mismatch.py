"""An admission webhook that answers, and whose authority the API server was not told."""

from __future__ import annotations

from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    IssueCertificate,
    JsonPatch,
    ObjectRef,
    RecreatePods,
)
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, makers
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.webhooks import (
    AGE,
    LEFT,
    OTHERS,
    SERVERS,
    bundle,
    bystanders,
    configuration,
    hook,
    ignored,
    names_of,
    reference,
    remade,
    served_by,
    untouched,
)
from sregym_env.faults.webhooks import server as server_of
from sregym_env.runtime.chance import Chance

AUTHORITIES = (
    "platform-services-ca", "cluster-policy-ca", "internal-issuing-ca", "workload-identity-ca", "infra-root-g2", "admission-ca",
    "shared-services-ca", "mesh-intermediate-ca", "ops-signing-ca", "corp-cluster-ca",
)  # fmt: skip
"""Common names of authorities."""


def _authorities(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    """The authority that has signed, and another one."""
    own = chance.choice("own", AUTHORITIES)
    return own, chance.choice("other", [name for name in AUTHORITIES if name != own])


@fault(layer="kubernetes", mechanism="untrusted_authority", targets=components(at_request=True), level="hard")
def webhook_ca_mismatch(
    target: ComponentTarget,
    server: tuple[str, str] = drawn(one_of(*SERVERS), published=SERVERS[0]),
    place: str = drawn(one_of("kube-system", "default"), published="kube-system"),
    kind: str = drawn(one_of("Validating", "Mutating"), published="Validating"),
    authorities: tuple[str, str] = drawn(_authorities, published=AUTHORITIES[:2]),
    other: str = drawn(one_of(*OTHERS), published=OTHERS[0]),
) -> Fault:
    """The caBundle of an admission webhook becomes another authority's than the one that has signed its certificate.

    The webhook's server is well and its certificate valid, yet the API server trusts it no longer, and no pod can be
    created. Running pods go on; a pod that is replaced never comes back. ``authorities`` are the one that has signed, whose
    certificate lies beside the server's own in its Secret, and the one in whose place the bundle was put: that of a webhook
    of others (``other``), which has nothing to do with it and must stay.
    """
    name, webhook = server
    signer, stranger = authorities
    config = reference(kind, name)
    secret = ObjectRef("secrets", f"{name}-tls", place)
    workload = ObjectRef("deployments.apps", name, place)
    wrong, right = bundle(stranger, stranger), bundle(f"{place}/{secret.name}", signer)
    path = "/webhooks/0/clientConfig/caBundle"
    short = config.resource.partition(".")[0]
    return Fault(
        resource=config,
        cause=f"The caBundle of the admission webhook {name} holds the wrong certificate authority ({stranger}) instead of the one "
        f"that has signed its server's certificate ({signer}): the API server does not trust the server (the TLS handshake fails), the "
        f"failurePolicy is Fail, and so the pods of {target.name} cannot be re-created.",
        earlier=[
            IssueCertificate(secret, names_of(name, place), AGE, LEFT, signer),
            *map(Create, server_of(name, place)),
            AwaitRollout(workload),
            Create(configuration(kind, name, hook(target, webhook, served_by(name, place, right, kind), 10))),
            *map(Create, bystanders(other, wrong)),
        ],
        edits=[JsonPatch(config, path, wrong)],
        trigger=[RecreatePods(target.name)],
        details={"field": "caBundle", "wrong": stranger, "right": signer},
        facts={"secret": secret.name, "webhook": webhook, "server": name, "elsewhere": place},
        remedies=[
            [
                f"kubectl patch {short} {name} --type=json -p "
                f'"[{{\\"op\\":\\"replace\\",\\"path\\":\\"{path}\\",\\"value\\":\\"$('
                f"kubectl get secret {secret.name} -n {place} -o jsonpath='{{.data.ca\\.crt}}'"
                f')\\"}}]"',
                *remade(target),
            ],
            [delete(config), *remade(target)],
            [ignored(config), *remade(target)],
        ],
        look=[
            makers(target),
            f"kubectl get {short} {name} -o yaml",
            f"kubectl get {short} {name} -o jsonpath='{{.webhooks[0].clientConfig.caBundle}}' | base64 -d | openssl x509 -noout -subject",
            f"kubectl get secret {secret.name} -n {place} -o jsonpath='{{.data.tls\\.crt}}' | base64 -d | openssl x509 -noout -issuer -dates",
        ],
        accepts=[secret, workload, ObjectRef("services", name, place)],
        aliases=[webhook, secret.name],
        cured=untouched(other, wrong),
    )
