"""A machine whose clock has gone astray since its time service was stopped, so that good certificates are refused there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import AwaitRollout, IssueCertificate, ObjectRef, OnMachine, Rollout
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ComponentTarget, TargetRule, components
from sregym_env.errors import ClusterError
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import await_rollout
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.machines import HOST, machines
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole

DAY = 86_400
IMAGE = "alpine/openssl:3.3.3"
SIDECARS = ("identity-check", "tls-check", "cert-check", "mtls-check", "workload-identity", "trust-check")
AUTHORITIES = ("platform-issuing-ca", "mesh-intermediate", "internal-ca", "workload-ca", "services-ca")
WAYS = ("masked", "masked", "disabled")
"""What the time service is, beside stopped."""
FOLDERS = ("/etc/identity", "/var/run/identity", "/etc/workload-tls", "/etc/mtls")
NEAR = 60
"""Seconds by which a clock may be off."""
LOOKS, LOOK = 6, 10.0
"""How often it is looked at whether a service that runs has set the clock right, and seconds between."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Whether a machine's clock is right, and kept so by a service that runs and comes up with the machine. A clock that
    somebody has set by hand goes wrong again."""

    node: str

    def __call__(self, world: World) -> Finding:
        expected = f"the clock of {self.node} is right, and chronyd is active and enabled there"
        wrong = ""
        for look in range(LOOKS):
            if look:
                world.advance(LOOK)
            try:
                wrong = self._wrong(world)
            except ClusterError as error:
                wrong = str(error)
            if not wrong:
                break
        return Finding("clock", not wrong, wrong or "it is right and kept so", expected)

    def _wrong(self, world: World) -> str:
        before = world.now() // SECOND
        said = world.nodes.run(
            self.node, "date +%s; systemctl is-active chronyd; systemctl is-enabled chronyd"
        )
        words = said.stdout.split()
        if len(words) != 3:
            return said.stderr.strip() or "no answer"
        if words[1:] != ["active", "enabled"]:
            return f"chronyd is {words[1]} and {words[2]}"
        off = whole(words[0], 0) - before
        return f"it is {abs(off)} s {'ahead' if off > 0 else 'behind'}" if abs(off) > NEAR else ""


@dataclass(frozen=True, slots=True)
class _Verifies:
    """Whether the certificate is still verified, as it was: to look away is no repair, whatever the time."""

    workload: ObjectRef
    sidecar: str
    image: str
    command: tuple[str, ...]

    def __call__(self, world: World) -> Finding:
        expected = f"{self.sidecar} verifies the certificate as before"
        where = self.workload
        try:
            spec = template(world.cluster.get(where.resource, where.name, where.namespace))["spec"]
        except StatusError as error:
            return Finding("check", False, str(error), expected)
        for container in spec["containers"]:
            if container["name"] == self.sidecar:
                probe = container.get("readinessProbe") or {}
                asked = tuple((probe.get("exec") or {}).get("command") or ())
                same = asked == self.command and container.get("image") == self.image
                return Finding("check", same, "it does" if same else "it asks for less", expected)
        return Finding("check", False, f"there is no {self.sidecar}", expected)


def _fits(target: ComponentTarget) -> bool:
    its = target.component
    return (
        its.workload == "deployments.apps"
        and its.kind != "load"
        and its.stateless
        and not template(target.manifest)["spec"].get("hostNetwork")
        and bool(_machines(target))
    )


def _machines(target: ComponentTarget) -> list[str]:
    """Machines on which it stands and that take pods still."""
    shut = {
        each["metadata"]["name"]
        for each in target.inventory.machines
        if each.get("spec", {}).get("unschedulable")
    }
    return [node for node in machines(target) if node not in shut] or machines(target)


TARGETS: TargetRule = components(at_request=True, by_service=True, where=_fits)


def _machine(target: ComponentTarget, chance: Chance) -> str:
    return str(chance.choice("node", _machines(target)))


def _astray(target: ComponentTarget, chance: Chance) -> int:
    """Seconds beyond what the certificate can bear."""
    return 2 * DAY + chance.below("astray", 12 * DAY)


@fault(layer="node", mechanism="clock_wrong", targets=TARGETS, level="hard")
def node_clock_drift(
    target: ComponentTarget,
    node: str = drawn(_machine, published=lambda target: _machines(target)[0]),
    way: str = drawn(one_of(*WAYS), published="masked"),
    direction: str = drawn(one_of("ahead", "ahead", "behind"), published="ahead"),
    days: int = drawn(one_of(30, 45, 60, 90), published=30),
    age: int = drawn(one_of(5, 6, 8, 9, 11, 13, 16), published=5),
    astray: int = drawn(_astray, published=5 * DAY),
    sidecar: str = drawn(one_of(*SIDECARS), published="tls-check"),
    secret: str = drawn(
        fresh("secrets", "{app}-identity", "{app}-mtls", "workload-cert", "service-identity", "{app}-tls"),
        published="hotel-frontend-tls",
    ),
    authority: str = drawn(one_of(*AUTHORITIES), published="internal-ca"),
    folder: str = drawn(one_of(*FOLDERS), published="/etc/identity"),
) -> Fault:
    """The time service of a machine has been stopped, and its clock is days from the truth: certificates that are valid are refused there.

    A container beside the component verifies the component's certificate, by the clock of the machine on which it runs, and
    its pod is ready only as long as that succeeds. The certificate is ``days`` days long and ``age`` days old; ahead of time
    it has expired, behind it is not valid yet. On any other machine it is accepted. The node is Ready, and a new certificate or a
    pod elsewhere leave a machine that is wrong about the time.
    """
    name = ObjectRef("secrets", secret, target.namespace)
    ahead = direction == "ahead"
    off = ((days - age) * DAY if ahead else age * DAY) + astray
    stop = "mask" if way == "masked" else "disable"
    host = f"{target.name}.{target.namespace}.svc"
    return Fault(
        resource=ObjectRef("nodes", node),
        cause=f"The time service (chronyd, chrony.service) of node {node} is stopped and {way}, and its clock is about {round(off / DAY)} days "
        f"{direction}: the certificate in Secret {secret}, which is fine, counts there as {'expired' if ahead else 'not yet valid'}, so the "
        f"container {sidecar} of {target.name}'s pods is not ready.",
        earlier=[
            IssueCertificate(name, (host, f"{host}.cluster.local"), age * DAY, (days - age) * DAY, authority),
            Rollout(target.workload, dict(_checked(target, node, sidecar, secret, folder))),
            AwaitRollout(target.workload),
        ],
        edits=[
            OnMachine(
                node,
                f"systemctl {stop} --now chrony && date -s '{'+' if ahead else '-'}{off} seconds'",
                "systemctl unmask chrony && systemctl enable chrony && systemctl restart chrony",
            )
        ],
        details={"field": "chrony", "wrong": way, "right": "enabled"},
        facts={"node": node, "secret": secret, "sidecar": sidecar, "direction": direction},
        remedies=[list(_restored(target, node, way, ntp)) for ntp in (False, True)],
        look=[
            f"kubectl describe pods -n {target.namespace} -l {_labels(target)}",
            f"kubectl exec -n {target.namespace} deploy/{target.workload.name} -c {sidecar} -- openssl x509 -noout -subject -dates -in {folder}/tls.crt",
            f"ssh {node} date",
            f"ssh {node} timedatectl",
            f"ssh {node} 'systemctl status chronyd --no-pager; systemctl is-enabled chronyd'",
        ],
        accepts=[target.workload],
        empties=[node],
        aliases=[node, "chrony", "chronyd", "NTP", secret, sidecar],
        cured=[_Kept(node), _Verifies(target.workload, sidecar, IMAGE, _verify(folder))],
    )  # fmt: skip


def _labels(target: ComponentTarget) -> str:
    chosen = target.manifest["spec"]["selector"].get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in chosen.items())


def _checked(
    target: ComponentTarget, node: str, sidecar: str, secret: str, folder: str
) -> Iterator[tuple[str, Any]]:
    """What the component has had for long: its place, its certificate, and a container which verifies that."""
    container: dict[str, Any] = {
        "name": sidecar,
        "image": IMAGE,
        "command": ["sleep", "infinity"],
        "readinessProbe": {
            "exec": {"command": ["openssl", "verify", "-CAfile", f"{folder}/ca.crt", f"{folder}/tls.crt"]},
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 3,
        },
        "resources": {"requests": {"cpu": "2m", "memory": "8Mi"}, "limits": {"memory": "32Mi"}},
        "volumeMounts": [{"name": "identity", "mountPath": folder, "readOnly": True}],
    }
    pod = "/spec/template/spec"
    yield target.template_path("nodeSelector"), {HOST: node}
    yield f"{pod}/containers/-", container
    yield f"{pod}/volumes/-", {"name": "identity", "secret": {"secretName": secret}}


def _verify(folder: str) -> tuple[str, ...]:
    return ("openssl", "verify", "-CAfile", f"{folder}/ca.crt", f"{folder}/tls.crt")


def _restored(target: ComponentTarget, node: str, way: str, ntp: bool) -> Iterator[str]:
    """The time service runs again, and comes up with its machine; pods are ready some seconds later."""
    free = "systemctl unmask chrony && " if way == "masked" else ""
    yield f"ssh {node} '{free}{'timedatectl set-ntp true' if ntp else 'systemctl enable --now chrony'}'"
    yield "sleep 30"
    yield f"ssh {node} chronyc tracking"
    yield await_rollout(target.workload)
