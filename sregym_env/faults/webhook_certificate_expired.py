"""An admission webhook whose certificate is over."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from sregym_env.cluster import certificates
from sregym_env.cluster.edits import AwaitRollout, Create, Edit, IssueCertificate, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import delete, makers, restart, restart_short
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.standing import Stands
from sregym_env.faults.webhook_without_backend import GROUP, OTHERS, bystander, other_of
from sregym_env.kube.types import Manifest

SERVERS = (
    ("pod-policy", "check.pod-policy.example.com"), ("image-guard", "images.guard.example.com"), ("label-check", "labels.check.example.com"),
    ("workload-rules", "rules.workloads.example.com"), ("naming-policy", "naming.policy.example.com"), ("owner-check", "owners.check.example.com"),
    ("registry-guard", "registry.guard.example.com"), ("platform-rules", "rules.platform.example.com"),
)  # fmt: skip
"""(name of the server and its objects, name of the webhook)."""

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53"
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
    seconds that the certificate is still valid when the webhook's server starts, of ``days`` in all. ``other`` is a webhook that has nothing to do with it
    and must stay.
    """
    name, webhook = server
    left = min(left, 3 * DAY)
    config = ObjectRef(f"validatingwebhookconfigurations.{GROUP}", name)
    secret = ObjectRef("secrets", f"{name}-tls", place)
    workload = ObjectRef("deployments.apps", name, place)
    host = f"{name}.{place}.svc"
    edits: list[Edit] = [
        IssueCertificate(secret, (host, f"{host}.cluster.local"), days * DAY - left, left),
        *map(Create, _served(name, place)),
        AwaitRollout(workload),
        Create(_config(target, name, place, webhook)),
        Create(bystander(other)),
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
        # Whatever has lost a pod meanwhile waits as long as its controller does; a new revision does not.
        remedies=[
            [delete(config), *restart(target, [target.name]), restart_short(target.namespace)],
            [
                f"kubectl patch validatingwebhookconfiguration {name} --type=json "
                """-p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'""",
                *restart(target, [target.name]),
                restart_short(target.namespace),
            ],
        ],
        look=[
            makers(target),
            f"kubectl get validatingwebhookconfiguration {name} -o yaml",
            f"kubectl get pods,services,secrets -n {place}",
        ],
        kind="ValidatingWebhookConfiguration",
        accepts=[secret, workload, ObjectRef("services", name, place)],
        aliases=[webhook, secret.name],
        cured=[Stands(other_of(other))],
    )


def _config(target: ComponentTarget, name: str, place: str, webhook: str) -> Manifest:
    service = {"namespace": place, "name": name, "path": "/pods", "port": 443}
    bundle = b64encode(certificates.authority(f"{place}/{name}-tls").encode()).decode()
    hook: dict[str, Any] = {
        "name": webhook,
        "admissionReviewVersions": ["v1", "v1beta1"],
        "clientConfig": {"service": service, "caBundle": bundle},
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": target.namespace}},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ],
        "sideEffects": "None",
        "timeoutSeconds": 10,
    }
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def _served(name: str, place: str) -> list[Manifest]:
    """The webhook's server and its Service."""
    labels = {"app": name}
    container = {
        "name": "webhook",
        "image": IMAGE,
        "args": [
            "webhook",
            "--tls-cert-file=/certs/tls.crt",
            "--tls-private-key-file=/certs/tls.key",
            "--port=8443",
        ],
        "ports": [{"containerPort": 8443}],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs", "readOnly": True}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    }
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": place},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "containers": [container],
                        "volumes": [{"name": "certs", "secret": {"secretName": f"{name}-tls"}}],
                    },
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": place},
            "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
        },
    ]
