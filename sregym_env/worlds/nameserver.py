"""Names that a cluster's name server knows beyond the cluster: a company's own zone, put into the Corefile by hand.

Old systems have no other name server that pods could ask, so whoever looks one up needs what stands there: the Corefile
of kubeadm is not the right one for every cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.cluster.edits import ObjectRef
from sregym_env.runtime.chance import Chance
from sregym_env.sim.embedded import EmbeddedWorld

SHARE = 0.6
"""Of clusters have such a zone: more than in reality, where "DNS as it came" is no answer either."""

COREFILE = ObjectRef("configmaps", "coredns", "kube-system")

_ZONES = ("corp.internal", "corp.example.com", "intra.example.com", "lan.example.net", "legacy.internal", "dc1.example.org",
          "office.example.net", "hq.internal")  # fmt: skip
_HOSTS = ("ldap", "smtp", "vault", "licence", "config", "sso", "kafka-legacy", "cmdb", "proxy", "ntp", "mainframe", "erp",
          "partner-gw", "payments", "crl", "audit")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone of names that stand in the Corefile."""

    name: str
    hosts: tuple[tuple[str, str], ...]
    """(host, address)."""
    first: bool
    """Whether it stands before what kubeadm wrote."""
    ttl: int
    besides: str = ""
    """What else is said of the zone: ``template`` (it has no IPv6), ``rewrite`` (an old name of the first host), or nothing."""

    @property
    def names(self) -> tuple[str, ...]:
        """The full names."""
        return tuple(f"{host}.{self.name}" for host, _ in self.hosts)

    def written_into(self, corefile: str) -> str:
        """A Corefile with a server block of the zone's own."""
        entries = "".join(f"        {address} {host}.{self.name}\n" for host, address in self.hosts)
        inner = f"    errors\n    cache 30\n    hosts {{\n{entries}        ttl {self.ttl}\n    }}\n"
        if self.besides == "template":
            inner += f"    template IN AAAA {self.name} {{\n        rcode NOERROR\n    }}\n"
        elif self.besides == "rewrite":
            host = self.hosts[0][0]
            inner += f"    rewrite name {host}-old.{self.name} {host}.{self.name}\n"
        block = f"{self.name}:53 {{\n{inner}}}\n"
        return block + corefile if self.first else corefile + block


def drawn_zone(chance: Chance) -> Zone | None:
    """The zone of a cluster, if it has one."""
    if not chance.yes("zone", SHARE):
        return None
    net = f"10.{chance.between('a', 150, 249)}.{chance.below('b', 250)}"
    hosts = chance.sample("hosts", _HOSTS, chance.between("count", 2, 5))
    numbers = chance.sample("numbers", range(5, 250), len(hosts))
    return Zone(
        chance.choice("name", _ZONES),
        tuple((host, f"{net}.{number}") for host, number in zip(hosts, numbers, strict=True)),
        chance.yes("first", 0.3),
        chance.choice("ttl", (30, 60, 300, 3600)),
        chance.weighted("besides", {"": 0.7, "template": 0.15, "rewrite": 0.15}),
    )


@dataclass(frozen=True, slots=True)
class Serve:
    """The cluster's name server answers for a zone from now on."""

    zone: Zone

    def do(self, world: EmbeddedWorld) -> None:
        """Edit the Corefile; CoreDNS looks at it again by itself."""
        text = world.cluster.get(COREFILE.resource, COREFILE.name, COREFILE.namespace)["data"]["Corefile"]
        world.cluster.patch(
            COREFILE.resource,
            COREFILE.name,
            {"data": {"Corefile": self.zone.written_into(text)}},
            namespace=COREFILE.namespace,
            field_manager="kubectl-edit",
        )
