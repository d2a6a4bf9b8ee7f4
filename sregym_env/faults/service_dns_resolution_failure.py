"""A name that the cluster's DNS denies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sregym_env.cluster.edits import AwaitRollout, Edit, ObjectRef, RecreatePods, Restart, Substitute
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import variant
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.runtime.chance import Chance

CONFIG = ObjectRef("configmaps", "coredns", "kube-system")
SERVER = ObjectRef("deployments.apps", "coredns", "kube-system")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a Corefile that deny a name."""

    text: str
    before: str
    """The text in whose front they stand."""
    clean: str
    """The sed expression that takes them out again."""
    shown: str
    """What it is, in brief."""

    @property
    def edits(self) -> list[Edit]:
        """How they come: into the Corefile, with a restart that makes it the one that is served."""
        return [
            Substitute(CONFIG, "/data/Corefile", self.before, self.text + self.before),
            Restart(SERVER),
            AwaitRollout(SERVER),
        ]

    @property
    def remedy(self) -> list[str]:
        """How they go again."""
        return [
            f"kubectl get configmap coredns -n kube-system -o yaml | {self.clean} | kubectl apply -f -",
            "kubectl rollout restart deployment/coredns -n kube-system",
            "kubectl rollout status deployment/coredns -n kube-system --timeout=180s",
        ]


def _block(host: str, form: str, other: str) -> Block:
    """A ``template`` that answers NXDOMAIN, a ``rewrite`` to a name that is not, ``hosts`` without it, or a zone of its own."""
    kind, _, detail = form.partition(" ")
    inner, pattern = "    kubernetes ", re.escape(host)
    if kind == "rewrite":
        line = f"rewrite {detail}name {'regex ^' + pattern if 'stop' in detail else 'exact ' + host} {other}"
        return Block(f"    {line}\n", inner, f"sed '/rewrite .*{other}/d'", line)
    if kind == "hosts":
        text = f"    hosts {host} {{\n       {detail} {other}\n       ttl 60\n    }}\n"
        return Block(
            text, inner, f"sed '/hosts {host}/,/}}/d'", f"hosts {host} without fallthrough, so NXDOMAIN"
        )
    if kind == "zone":
        text = f"{host}:53 {{\n    errors\n    cache 30\n    forward . {detail}\n}}\n"
        return Block(
            text, ".:53 {", f"sed '/{host}:53 {{/,/}}/d'", f"zone {host} forwarded to {detail}, NXDOMAIN"
        )
    query, _, match = detail.partition(" ")
    query = query.replace("-", " ")
    lines = [f"    template {query} {host} {{"]
    lines += [f'       match "^{pattern}\\.$"'] if match != "zone" else []
    lines += ["       rcode NXDOMAIN", *(["       fallthrough"] if match == "" else []), "    }\n"]
    return Block(
        "\n".join(lines),
        inner,
        f"sed '/template {query} {host}/,/}}/d'",
        f"template {query} {host} rcode NXDOMAIN",
    )


def _form(target: ServiceTarget, chance: Chance) -> str:
    """How the name is denied."""
    match chance.choice("kind", ("template", "rewrite", "rewrite", "hosts", "zone")):
        case "template":
            query = chance.choice("query", ("ANY-ANY", "IN-A", "IN-ANY"))
            return f"template {query} {chance.choice('match', ('match', 'zone'))}"
        case "rewrite":
            return chance.choice("rewrite", ("rewrite ", "rewrite stop "))
        case "hosts":
            address = f"10.{chance.between('a', 0, 250)}.{chance.between('b', 0, 250)}.{chance.between('c', 2, 250)}"
            return f"hosts {address}"
        case _:
            return f"zone {chance.choice('upstream', ('/etc/resolv.conf', '8.8.8.8', '1.1.1.1', '9.9.9.9', '8.8.8.8 8.8.4.4'))}"


def _other(target: ServiceTarget, chance: Chance) -> str:
    """A name under which the Service is, or was, or will be known elsewhere; nothing has it here."""
    name = variant(target.name, chance.at("name"))
    spaces = (
        f"{target.namespace}-prod",
        f"{target.namespace}-v2",
        "shared",
        "data",
        "backends",
        "platform",
        "storage",
    )
    zones = ("svc.cluster.local", "svc.cluster.local", "svc.cluster.internal", "internal", "corp.internal")
    return f"{name}.{chance.choice('namespace', spaces)}.{chance.choice('zone', zones)}"


@fault(layer="network", mechanism="dns_record_blocked", targets=services(), level="hard")
def service_dns_resolution_failure(
    target: ServiceTarget,
    form: str = drawn(_form, published="template ANY-ANY "),
    other: str = drawn(_other, published=""),
) -> Fault:
    """CoreDNS answers NXDOMAIN for one Service's name, which exists.

    ``form`` is the directive of the Corefile that does it, ``other`` the name that stands there beside the Service's.
    """
    host = f"{target.name}.{target.namespace}.svc.cluster.local"
    block = _block(host, form, other)
    return Fault(
        resource=CONFIG,
        cause=f"The Corefile in ConfigMap kube-system/coredns answers NXDOMAIN for {host} ({block.shown}); clients cannot "
        f"resolve Service {target.name}.",
        edits=block.edits,
        trigger=[RecreatePods(caller) for caller in target.callers],
        details={"field": "Corefile", "wrong": block.shown},
        facts={"host": host, "service": target.name},
        remedies=[block.remedy],
        look=["kubectl get configmap coredns -n kube-system -o yaml"],
        accepts=[SERVER],
        aliases=["coredns"],
    )
