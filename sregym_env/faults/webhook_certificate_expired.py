"""An admission webhook whose certificate is over."""

from __future__ import annotations

from sregym_env.cluster.edits import AwaitRollout, Create, Edit, IssueCertificate, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, makers
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.webhooks import (
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

DAY = 86400


@fault(layer="kubernetes", mechanism="certificate_expired", targets=components(at_request=True), level="hard")
def webhook_certificate_expired(
    target: ComponentTarget,
    server: tuple[str, str] = drawn(one_of(*SERVERS), published=SERVERS[0]),
    place: str = drawn(one_of("kube-system", "default"), published="kube-system"),
    left: int = drawn(lambda target, chance: round(chance.lognormal("left", 20 * 3600.0, 0.6)), published=60),
    days: int = drawn(one_of(30, 90, 180, 365), published=90),
    other: str = drawn(one_of(*OTHERS), published=OTHERS[0]),
) -> Fault:
    """The serving certificate of an admission webhook expires, and from then on no pod can be created.

    Nothing is changed when that happens. Running pods go on; a pod that is replaced never comes back. ``left`` are the
    seconds that the certificate is still valid when the webhook's server starts, of ``days`` in all. ``other`` names webhooks that have nothing to do with
    it and must stay.
    """
    name, webhook = server
    left = min(left, 3 * DAY)
    config = reference("Validating", name)
    secret = ObjectRef("secrets", f"{name}-tls", place)
    workload = ObjectRef("deployments.apps", name, place)
    client = served_by(name, place, bundle(f"{place}/{name}-tls"))
    edits: list[Edit] = [
        IssueCertificate(secret, names_of(name, place), days * DAY - left, left),
        *map(Create, server_of(name, place)),
        AwaitRollout(workload),
        Create(configuration("Validating", name, hook(target, webhook, client, 10))),
        *map(Create, bystanders(other)),
    ]
    return Fault(
        resource=config,
        cause=f"The serving certificate of the admission webhook {name} has expired (Secret {secret.name} in namespace "
        f"{place}). The API server cannot call the webhook any more, its failurePolicy is Fail, and so the pods of "
        f"{target.name} cannot be re-created.",
        edits=edits,
        trigger=[RecreatePods(target.name)],
        matures=left + 30.0,
        details={"field": "certificate", "wrong": "expired"},
        facts={"secret": secret.name, "webhook": webhook, "server": name},
        remedies=[[delete(config), *remade(target)], [ignored(config), *remade(target)]],
        look=[
            makers(target),
            f"kubectl get validatingwebhookconfiguration {name} -o yaml",
            f"kubectl get pods,services,secrets -n {place}",
        ],
        kind="ValidatingWebhookConfiguration",
        accepts=[secret, workload, ObjectRef("services", name, place)],
        aliases=[webhook, secret.name],
        cured=untouched(other),
    )
