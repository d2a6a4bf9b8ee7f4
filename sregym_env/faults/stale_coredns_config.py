"""A rule of the Corefile by which the names of a whole namespace no longer resolve."""

from __future__ import annotations

import re

from sregym_env.cluster.targets import NamespaceTarget, namespaces
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.service_dns_resolution_failure import CONFIG, SERVER, Block
from sregym_env.runtime.chance import Chance

CLUSTER = "svc.cluster.local"

_UNREACHED = "10.0.0.2"
"""An upstream that answers nobody."""

_UPSTREAMS = ("/etc/resolv.conf", "8.8.8.8", "1.1.1.1", "9.9.9.9", _UNREACHED, "8.8.8.8 8.8.4.4")
_SUCCESSORS = ("{}-v2", "{}-prod", "{}-blue", "{}-green", "{}-next", "{}-eu", "prod-{}", "apps", "production")


def _form(target: NamespaceTarget, chance: Chance) -> str:
    """How the names are denied, as words: ``template QUERY``, ``match QUERY``, ``rewrite NAMESPACE`` or ``zone UPSTREAM``."""
    match chance.choice("kind", ("template", "match", "rewrite", "rewrite", "zone")):
        case "template" | "match" as kind:
            return f"{kind} {chance.choice('query', ('ANY-ANY', 'IN-ANY', 'IN-A'))}"
        case "rewrite":
            return f"rewrite {chance.choice('successor', _SUCCESSORS).format(target.name)}"
        case _:
            return f"zone {chance.choice('upstream', _UPSTREAMS)}"


def _block(zone: str, form: str) -> Block:
    """Lines of a Corefile by which no name of a zone resolves."""
    kind, _, detail = form.partition(" ")
    inner = "    kubernetes "
    if kind == "rewrite":
        line = f"rewrite stop name suffix .{zone} .{detail}.{CLUSTER}"
        return Block(
            f"    {line}\n", inner, f"sed '/rewrite stop name suffix .{zone} /d'", f"{line}, NXDOMAIN"
        )
    if kind == "zone":
        text = f"{zone}:53 {{\n    errors\n    cache 30\n    forward . {detail}\n}}\n"
        shown = f"zone {zone} forwarded to {detail}, {_rcode(form)}"
        return Block(text, ".:53 {", f"sed '/{zone}:53 {{/,/}}/d'", shown)
    query = detail.replace("-", " ")
    lines = [f"    template {query} {zone if kind == 'template' else CLUSTER} {{"]
    if kind != "template":
        lines.append(f'       match ".*\\.{re.escape(zone)}\\.?$"')
    lines += ["       rcode NXDOMAIN", "    }\n"]
    return Block(
        "\n".join(lines), inner, f"sed '/template {query} /,/}}/d'", f"template {query} {zone} rcode NXDOMAIN"
    )


def _rcode(form: str) -> str:
    """What is answered to whoever asks for one of the names."""
    return "SERVFAIL" if form == f"zone {_UNREACHED}" else "NXDOMAIN"


@fault(layer="network", mechanism="dns_record_blocked", targets=namespaces(), level="hard")
def stale_coredns_config(
    target: NamespaceTarget, form: str = drawn(_form, published="match ANY-ANY")
) -> Fault:
    """CoreDNS denies every name of the application's namespace, by a rule that has outlived its purpose.

    What has a connection keeps it; whoever looks a name up is told that there is none, or that nobody could be asked. ``form`` is the directive of the
    Corefile that does it. The published rule is for all namespaces of the cluster.
    """
    zone = f"{target.name}.{CLUSTER}"
    block = _block(zone, form)
    return Fault(
        resource=CONFIG,
        cause=f"The Corefile in ConfigMap kube-system/coredns answers {_rcode(form)} for all names of {zone} ({block.shown}); "
        f"clients cannot resolve any Service of namespace {target.name}.",
        edits=block.edits,
        details={"field": "Corefile", "wrong": block.shown},
        facts={"host": f"*.{zone}", "service": f"of namespace {target.name}"},
        remedies=[block.remedy],
        look=["kubectl get configmap coredns -n kube-system -o yaml"],
        accepts=[SERVER],
        aliases=["coredns", "Corefile"],
    )
