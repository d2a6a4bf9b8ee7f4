"""Environment, mounts and name resolution of pods: much that is set and nothing that a program stumbles over."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

COUNTS = {0: 0.3, 1: 0.25, 2: 0.2, 3: 0.12, 4: 0.08, 6: 0.05}
"""Variables per container beside those of the application."""

UNUSED: Mapping[str, tuple[str, ...]] = {
    "TZ": ("UTC", "Etc/UTC", "Europe/Berlin", "America/New_York"),
    "LANG": ("C.UTF-8", "en_US.UTF-8"),
    "APP_ENV": ("production", "prod", "live"),
    "DEPLOY_ENV": ("production", "prod"),
    "CLUSTER_NAME": ("prod-eu-1", "prod-a", "main", "k8s-prod"),
    "REGION": ("eu-west-1", "eu-central-1", "us-east-1"),
    "GOMAXPROCS": ("2", "4"),
    "GODEBUG": ("madvdontneed=1", "netdns=go"),
    "OTEL_SERVICE_NAMESPACE": ("production", "shop", "travel"),
    "OTEL_TRACES_SAMPLER": ("parentbased_traceidratio", "always_on"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("http://localhost:4317", "http://otel-collector.observability:4317"),
    "SENTRY_ENVIRONMENT": ("production", "prod-eu"),
    "SENTRY_TRACES_SAMPLE_RATE": ("0.05", "0.1"),
    "FEATURE_DYNAMIC_PRICING": ("false", "off"),
    "FEATURE_AUDIT_LOG": ("true", "false"),
    "FEATURE_LOYALTY": ("true", "false"),
    "METRICS_PREFIX": ("app", "svc"),
    "HTTP_KEEPALIVE_SECONDS": ("30", "60", "75"),
    "NEW_RELIC_LOG": ("stdout",),
    "DD_TRACE_ENABLED": ("false", "true"),
    "NO_PROXY": (".svc,.cluster.local,10.0.0.0/8,127.0.0.1", "localhost,127.0.0.1,.svc.cluster.local"),
    "SUPPORT_CONTACT": ("oncall@example.com", "platform@example.com"),
}
"""Variables that no program here reads, and values that they take."""

_DOWNWARD = {"POD_IP": "status.podIP", "POD_NAME": "metadata.name", "NODE_NAME": "spec.nodeName",
             "POD_NAMESPACE": "metadata.namespace"}  # fmt: skip

ALIASES = (
    ("127.0.0.1", "localhost.localdomain"),
    ("127.0.0.1", "metrics.local"),
    ("10.20.0.15", "smtp.corp.internal"),
    ("10.20.4.31", "ldap.corp.internal"),
    ("192.168.40.12", "licence.corp.internal"),
    ("10.60.1.9", "vault.corp.internal"),
)
"""Names that the cluster's name server does not know, as pods' hosts files have them."""

_OPTIONS: tuple[list[dict[str, str]], ...] = (
    [{"name": "ndots", "value": "2"}],
    [{"name": "ndots", "value": "1"}],
    [{"name": "ndots", "value": "3"}, {"name": "timeout", "value": "2"}],
    [{"name": "single-request-reopen"}],
    [{"name": "timeout", "value": "2"}, {"name": "attempts", "value": "3"}],
    [{"name": "ndots", "value": "5"}, {"name": "use-vc"}],
)
"""``dnsConfig.options``. Clients here look full names up, or such as have fewer dots than any of these asks for."""


def draw(draft: Draft, chance: Chance) -> None:
    """Variables, ConfigMaps and Secrets in the environment and on paths, host aliases, resolver options."""
    for namespace in draft.namespaces:
        own = chance.at("environment", namespace)
        works = draft.inside(namespace)
        _shared_settings(draft, own, namespace, works)
        _shared_secret(draft, own, namespace, works)
        _information(draft, own, namespace, works)
        links = own.yes("no service links", 0.15)
        for work in works:
            each = own.at(work.name)
            _variables(work, each)
            _resolver(work, each)
            if each.yes("scratch", 0.12):
                _mount(
                    work,
                    "scratch",
                    {"emptyDir": _scratch(each)},
                    f"/{each.choice('path', ('scratch', 'var/cache/app'))}",
                )
            if links:
                work.pod["enableServiceLinks"] = False


def _scratch(chance: Chance) -> Manifest:
    return chance.choice("kind", ({}, {"sizeLimit": "64Mi"}, {"medium": "Memory", "sizeLimit": "32Mi"}))


def _variables(work: Work, chance: Chance) -> None:
    known = {variable["name"] for variable in work.container.get("env") or ()}
    fresh: list[Manifest] = []
    for name in words.few(chance, "names", tuple(UNUSED), chance.weighted("count", COUNTS)):
        if name not in known:
            fresh.append({"name": name, "value": chance.choice(name, UNUSED[name])})
    if chance.yes("downward", 0.25):
        for name in words.few(chance, "fields", tuple(_DOWNWARD), chance.between("downward count", 1, 2)):
            fresh.append({"name": name, "valueFrom": {"fieldRef": {"fieldPath": _DOWNWARD[name]}}})
    if fresh:
        declared = work.container.get("env") or []
        work.container["env"] = [*declared, *fresh] if chance.yes("behind", 0.6) else [*fresh, *declared]


def _resolver(work: Work, chance: Chance) -> None:
    if chance.yes("dns", 0.15):
        work.pod["dnsConfig"] = {"options": [dict(o) for o in chance.choice("options", _OPTIONS)]}
        if chance.yes("policy", 0.4):
            work.pod["dnsPolicy"] = "ClusterFirst"
    if chance.yes("aliases", 0.08):
        chosen = words.few(chance, "hosts", ALIASES, chance.between("hosts count", 1, 2))
        merged: dict[str, list[str]] = {}
        for address, name in chosen:
            merged.setdefault(address, []).append(name)
        work.pod["hostAliases"] = [{"ip": address, "hostnames": names} for address, names in merged.items()]


def _shared_settings(draft: Draft, chance: Chance, namespace: str, works: tuple[Work, ...]) -> None:
    """A ConfigMap from which several containers take their whole environment."""
    if not chance.yes("settings", 0.35):
        return
    name = f"{chance.choice('settings name', ('common', 'shared', 'global', draft.app.name))}-{chance.choice('settings end', ('env', 'settings', 'environment'))}"
    keys = words.few(chance, "settings keys", tuple(UNUSED), chance.between("settings count", 2, 6))
    data = {key: chance.at("settings").choice(key, UNUSED[key]) for key in keys}
    draft.start_with(words.named("ConfigMap", name, namespace, data=data))
    for work in works:
        if chance.yes(f"settings of {work.name}", 0.5):
            work.container.setdefault("envFrom", []).append({"configMapRef": {"name": name}})


_SECRETS = {
    "SENTRY_DSN": ("monitoring-dsn", "dsn"),
    "ANALYTICS_KEY": ("analytics", "write-key"),
    "MAILER_PASSWORD": ("mailer", "password"),
    "SEGMENT_WRITE_KEY": ("segment", "key"),
    "MAPS_API_KEY": ("maps", "api-key"),
    "PARTNER_TOKEN": ("partner-api", "token"),
    "LAUNCHDARKLY_SDK_KEY": ("launchdarkly", "sdk-key"),
}
"""Variables that hold something secret: the middle of the Secret's name, and its key."""


def _shared_secret(draft: Draft, chance: Chance, namespace: str, works: tuple[Work, ...]) -> None:
    """Secrets from which containers take a variable each."""
    for variable in words.some(chance, "secrets", tuple(_SECRETS), 0.9):
        middle, key = _SECRETS[variable]
        own = chance.at("secret", variable)
        name = own.choice("name", (middle, f"{draft.app.name}-{middle}", f"{middle}-secret"))
        value = b64encode(words.text(own, "value", 24).encode()).decode()
        draft.start_with(words.named("Secret", name, namespace, type="Opaque", data={key: value}))
        for work in works:
            if own.yes(work.name, 0.3):
                reference: Manifest = {"name": name, "key": key}
                if own.yes(f"optional {work.name}", 0.2):
                    reference["optional"] = True
                entry = {"name": variable, "valueFrom": {"secretKeyRef": reference}}
                work.container.setdefault("env", []).append(entry)


def _information(draft: Draft, chance: Chance, namespace: str, works: tuple[Work, ...]) -> None:
    """A ConfigMap and a Secret that one workload each mounts: its own, so that nobody else needs it."""
    if works and chance.yes("mounted settings", 0.3):
        name = f"{draft.app.name}-{chance.choice('mounted name', ('build-info', 'branding', 'locales', 'legal-texts'))}"
        text = f"owner={words.team(chance, namespace)}\nrevision={words.text(chance, 'revision', 7)}\n"
        draft.start_with(words.named("ConfigMap", name, namespace, data={"info.properties": text}))
        _mount(chance.choice("mounted by", works), "info", {"configMap": {"name": name}}, "/etc/app-info")
    if works and chance.yes("mounted secret", 0.2):
        name = f"{draft.app.name}-{chance.choice('secret name', ('client-tls', 'signing-keys', 'license'))}"
        value = b64encode(words.text(chance, "mounted value", 40).encode()).decode()
        draft.start_with(words.named("Secret", name, namespace, type="Opaque", data={"content": value}))
        _mount(
            chance.choice("secret by", works), "sealed", {"secret": {"secretName": name}}, "/etc/app-secrets"
        )


def _mount(work: Work, name: str, source: Manifest, path: str) -> None:
    """Mount a volume into the main container, beside what it mounts."""
    if any(volume["name"] == name for volume in work.pod.get("volumes") or ()):
        return
    work.pod.setdefault("volumes", []).append({"name": name, **source})
    mount: Manifest = {"name": name, "mountPath": path}
    if "emptyDir" not in source:
        mount["readOnly"] = True
    work.container.setdefault("volumeMounts", []).append(mount)
