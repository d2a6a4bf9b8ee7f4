"""A Secret that nobody made."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import drop, mend, named
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

VARIABLES = (
    ("API_TOKEN", "token"), ("API_KEY", "api-key"), ("DB_PASSWORD", "password"), ("MONGO_PASSWORD", "mongo-password"),
    ("AUTH_SECRET", "secret"), ("JWT_SIGNING_KEY", "signing.key"), ("LICENSE_KEY", "license"), ("SENTRY_DSN", "dsn"),
    ("OTEL_EXPORTER_TOKEN", "otlp-token"), ("ENCRYPTION_KEY", "key"), ("SESSION_SECRET", "session"), ("SMTP_PASSWORD", "smtp"),
    ("CACHE_PASSWORD", "cache-password"), ("AWS_SECRET_ACCESS_KEY", "aws_secret_access_key"), ("DATADOG_API_KEY", "dd-api-key"),
)  # fmt: skip
"""Variables that come from Secrets, and the keys there."""


def _variable(target: ComponentTarget, chance: Chance) -> str:
    taken = {variable["name"] for variable in target.container.get("env") or ()}
    return chance.choice("variable", [name for name, _ in VARIABLES if name not in taken])


@fault(layer="configuration", mechanism="missing_secret", targets=components(), level="easy")
def missing_secret(
    target: ComponentTarget,
    variable: str = drawn(_variable, published="API_TOKEN"),
    secret: str = drawn(
        fresh("secrets", "{name}-credentials", "{name}-secret", "{name}-secrets", "{name}-auth", "{app}-credentials",
              "{app}-{name}-secret", "{name}-token", "{name}-keys", "{app}-api-keys", "app-secrets", "{name}-db-credentials",
              "{name}-tls-password", "vault-{name}"),
        published=lambda target: f"{target.name}-credentials",
    ),
    whole: bool = drawn(one_of(False, False, True), published=False),
) -> Fault:  # fmt: skip
    """The container takes an environment variable from a Secret that does not exist, so it is never created.

    ``whole`` takes everything that stands in the Secret instead.
    """
    key = dict(VARIABLES).get(variable, "token")
    field = "envFrom" if whole else "env"
    added: dict[str, Any] = {"name": variable, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
    what, facts = f"the environment variable {variable}", {"secret": secret, "variable": variable}
    if whole:
        key, added, what = variable, {"secretRef": {"name": secret}}, "environment variables"
        facts = {"secret": secret, "variable": ""}
    declared, path = target.container.get(field) or [], target.container_path(field)
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} takes {what} from the Secret {secret}, which does not exist; its container "
        "hangs in CreateContainerConfigError.",
        **revision(target, {path: [*declared, added]}),
        details={
            "field": field if whole else f"env {variable}",
            "wrong": f"{'secretRef' if whole else 'secretKeyRef'} {secret}",
        },
        facts=facts,
        remedies=[
            mend(target, drop(target.workload, f"{path}/{len(declared)}")),
            mend(
                target,
                f"kubectl create secret generic {secret} --from-literal={key}=none -n {target.namespace}",
                f"kubectl rollout restart {named(target.workload)} -n {target.namespace}",
            ),
        ],
        look=[f"kubectl get secrets -n {target.namespace}"],
        aliases=[secret],
    )
