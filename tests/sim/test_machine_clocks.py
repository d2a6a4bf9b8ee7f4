"""Clocks of machines and the service that keeps them: what ``systemctl``, ``chronyc``, ``timedatectl`` and ``date`` say and do."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import moments
from sregym_env.sim.world import wallclock
from sregym_env.sim.world.logs import Burst, ContainerLog
from sregym_env.tools.workstation import Workstation

HOTEL = "hotel-reservation"
NOW = 1_785_000_000 * SECOND
DAY = 86_400 * SECOND


@pytest.fixture(scope="module")
def deployed() -> EmbeddedWorld:
    return deployed_world(apps.app(HOTEL))


@pytest.fixture
def world(deployed: EmbeddedWorld) -> EmbeddedWorld:
    return deployed.fork()


def _node(world: EmbeddedWorld) -> str:
    pods = world.cluster.list("pods", HOTEL)
    return next(str(p["spec"]["nodeName"]) for p in pods if p["metadata"]["name"].startswith("frontend"))


def _on(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL, HOTEL).run(f"ssh {_node(world)} bash -s <<'EOF'\n{line}\nEOF").text


def test_a_healthy_machine_keeps_time(world: EmbeddedWorld) -> None:
    status = _on(world, "systemctl status chronyd --no-pager")
    assert status.startswith("● chrony.service - chrony, an NTP client/server\n")
    assert "Loaded: loaded (/lib/systemd/system/chrony.service; enabled; preset: enabled)\n" in status
    assert "chronyd version 4.3 starting (+CMDMON +NTP" in status
    assert _on(world, "systemctl is-active chrony; systemctl is-enabled chronyd") == "active\nenabled\n"
    tracking = _on(world, "chronyc tracking")
    assert tracking.startswith("Reference ID    : A9FEA97B (169.254.169.123)\nStratum         : 4\n")
    assert "System time     : 0.0000" in tracking and tracking.endswith("Leap status     : Normal\n")
    assert "^* 169.254.169.123" in _on(world, "chronyc sources")
    shown = _on(world, "timedatectl")
    assert "System clock synchronized: yes\n              NTP service: active\n" in shown
    assert not wallclock.steps(world, _node(world))


def test_a_clock_is_set_by_nobody_while_it_is_kept(world: EmbeddedWorld) -> None:
    assert _on(world, "timedatectl set-time '2026-01-01 12:00:00'") == (
        "Failed to set time: Automatic time synchronization is enabled\n"
    )
    assert (
        _on(world, "timedatectl set-ntp false; timedatectl set-time '2026-01-01 12:00:00'; date +%F")
        == "2026-01-01\n"
    )
    assert "System clock synchronized: no\n              NTP service: inactive\n" in _on(world, "timedatectl")


def test_a_masked_service_starts_by_no_way(world: EmbeddedWorld) -> None:
    assert _on(world, "systemctl mask --now chronyd") == (
        "Created symlink /etc/systemd/system/chrony.service → /dev/null.\n"
    )
    assert (
        _on(world, "systemctl start chronyd")
        == "Failed to start chrony.service: Unit chrony.service is masked.\n"
    )
    assert _on(world, "systemctl enable chronyd") == (
        "Failed to enable unit: Unit file /etc/systemd/system/chrony.service is masked.\n"
    )
    assert _on(world, "timedatectl set-ntp true") == "Failed to set ntp: NTP not supported\n"
    assert _on(world, "chronyc tracking; systemctl is-enabled chronyd; systemctl is-active chronyd") == (
        "506 Cannot talk to daemon\nmasked\ninactive\n"
    )
    assert _on(world, "systemctl unmask chronyd") == 'Removed "/etc/systemd/system/chrony.service".\n'
    assert _on(world, "timedatectl set-ntp true; systemctl is-active chronyd") == "active\n"


def test_who_starts_steps_the_clock_and_who_runs_is_told_to(world: EmbeddedWorld) -> None:
    node = _node(world)
    assert _on(world, "systemctl stop chronyd; date -s '+17 days' >/dev/null; systemctl start chronyd") == ""
    assert wallclock.offset(world, node) == 17 * DAY
    assert "Leap status     : Not synchronised" in _on(world, "chronyc tracking")
    world.advance(10.0)
    assert wallclock.offset(world, node) == 0
    journal = _on(world, "journalctl -u chronyd --no-pager | tail -n 4")
    assert "Selected source 169.254.169.123" in journal
    assert "System clock wrong by -1468800.000000 seconds" in journal
    assert "System clock was stepped by -1468800.000000 seconds" in journal
    # One that has run for long corrects no such thing by itself.
    _on(world, "date -s '2 hours ago'")
    world.advance(60.0)
    assert wallclock.offset(world, node) == -7200 * SECOND
    assert "7200.000000000 seconds slow of NTP time" in _on(world, "chronyc tracking")
    assert _on(world, "chronyc makestep") == "200 OK\n"
    assert wallclock.offset(world, node) == 0


def test_a_mask_is_a_file(world: EmbeddedWorld) -> None:
    _on(world, "systemctl mask chronyd; systemctl stop chronyd")
    assert "chrony.service" in _on(world, "ls /etc/systemd/system")
    assert (
        _on(
            world,
            "rm /etc/systemd/system/chrony.service; systemctl start chronyd; systemctl is-active chronyd",
        )
        == "active\n"
    )
    assert _on(world, "systemctl is-enabled chronyd") == "enabled\n"


def test_a_machine_that_boots_asks_the_clock_on_its_board(world: EmbeddedWorld) -> None:
    node = _node(world)
    _on(world, "systemctl disable --now chronyd; date -s '+3 days'; reboot")
    world.advance(200.0)
    assert wallclock.offset(world, node) == 0
    assert _on(world, "systemctl is-active chronyd; timedatectl | grep synchronized") == (
        "inactive\nSystem clock synchronized: no\n"
    )


def test_a_container_sets_no_clock_and_a_privileged_one_that_of_its_machine(world: EmbeddedWorld) -> None:
    node = _node(world)
    workstation = Workstation(world, ONCALL, HOTEL)
    assert (
        "Operation not permitted" in workstation.run("kubectl exec deploy/frontend -- date -s '+1 day'").text
    )
    assert not wallclock.steps(world, node)
    debug = f"kubectl debug node/{node} -q --profile=sysadmin --image=busybox -it -- chroot /host"
    workstation.run(f"{debug} date -s '+1 day'")
    assert wallclock.offset(world, node) == DAY
    assert "Local time" in workstation.run(f"{debug} timedatectl").text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("@1700000000", 1_700_000_000 * SECOND),
        ("+17 days", NOW + 17 * DAY),
        ("2 weeks ago", NOW - 14 * DAY),
        ("-1 hour", NOW - 3600 * SECOND),
        ("yesterday", NOW - DAY),
        ("2026-08-06 12:30:00", 1_786_019_400 * SECOND),
        ("Thu Aug  6 12:30:00 UTC 2026", 1_786_019_400 * SECOND),
        ("Thu, 06 Aug 2026 12:30:00 GMT", 1_786_019_400 * SECOND),
        ("2026-08-06T12:30:00Z", 1_786_019_400 * SECOND),
        ("6 Aug 2026", 1_785_974_400 * SECOND),
        ("9" * 5000, None),
        ("@" + "9" * 90, None),
        ("99999999 years", None),
        ("+999999999 weeks", None),
        ("25:61", None),
        ("31 Foo 2026", None),
        ("'\"'\"", None),
    ],
)
def test_times_as_people_write_them(text: str, moment: int | None) -> None:
    assert moments.moment(text, NOW) == moment


def test_a_fork_has_a_clock_of_its_own(world: EmbeddedWorld) -> None:
    node = _node(world)
    before = world.digest()
    twin = world.fork()
    wallclock.put(twin, node, DAY, "date")
    assert wallclock.offset(world, node) == 0 and world.digest() == before != twin.digest()


def test_a_mask_that_has_just_been_removed_is_none(world: EmbeddedWorld) -> None:
    _on(world, "systemctl mask --now chronyd")
    assert (
        _on(
            world,
            "rm /etc/systemd/system/chrony.service; timedatectl set-ntp true; systemctl is-active chronyd",
        )
        == "active\n"
    )


def test_systemctl_asks_nobody_in_a_chroot_among_other_processes_and_timedatectl_does(
    world: EmbeddedWorld,
) -> None:
    node = _node(world)
    _on(world, "systemctl disable --now chronyd")
    workstation = Workstation(world, ONCALL, HOTEL)
    spec = {
        "nodeName": node,
        "containers": [
            {
                "name": "on",
                "image": "busybox",
                "command": ["sleep", "3600"],
                "securityContext": {"privileged": True},
                "volumeMounts": [{"name": "root", "mountPath": "/host"}],
            }
        ],
        "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
    }
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": HOTEL}}
    world.cluster.create({**manifest, "spec": spec})
    world.advance(20.0)
    debug = "kubectl exec alone -- chroot /host"
    assert "Running in chroot, ignoring request." in workstation.run(f"{debug} systemctl start chronyd").text
    assert _on(world, "systemctl is-active chronyd") == "inactive\n"
    workstation.run(f"{debug} timedatectl set-ntp true")
    assert _on(world, "systemctl is-active chronyd; systemctl is-enabled chronyd") == "active\nenabled\n"


def test_a_certificate_is_looked_at_in_a_container(world: EmbeddedWorld) -> None:
    workstation = Workstation(world, ONCALL, HOTEL)
    workstation.run("kubectl run tls --image=alpine/openssl:3.3.3 --command -- sleep infinity; sleep 10")
    inside = "kubectl exec tls -- "
    assert workstation.run(f"{inside}openssl version").text.startswith("OpenSSL 3.3.3 ")
    assert "Invalid command 'nonsense'" in workstation.run(f"{inside}openssl nonsense").text
    authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
    dates = workstation.run(f"{inside}openssl x509 -noout -dates -in {authority}").text
    assert dates.startswith("notBefore=") and "\nnotAfter=" in dates
    assert (
        workstation.run(f"{inside}openssl verify -CAfile {authority} {authority}").text
        == f"{authority}: OK\n"
    )
    missing = workstation.run(f"{inside}openssl verify /nowhere.crt")
    assert missing.exit_code and "No such file or directory" in missing.text
    assert (
        "will not expire" in workstation.run(f"{inside}openssl x509 -noout -checkend 60 -in {authority}").text
    )
    assert workstation.run(f"{inside}openssl x509 -noout -checkend {'9' * 5000} -in {authority}").text


def test_steady_lines_bear_the_time_of_their_machine() -> None:
    log = ContainerLog()
    log.open_burst(Burst(NOW, None, 1.0, "{time} GET /", "seed"))
    plain = log.read(NOW + 60 * SECOND, limit=5)
    shown = log.read(NOW + 60 * SECOND, limit=5, shown=lambda time: time + DAY)
    assert [line.time for line in plain] == [line.time for line in shown]
    for line, other in zip(plain, shown, strict=True):
        assert line.text == f"{rfc3339(line.time)} GET /"
        assert other.text == f"{rfc3339(line.time + DAY)} GET /"


def test_a_clock_remembers_what_it_said(world: EmbeddedWorld) -> None:
    node, before = _node(world), world.clock
    assert wallclock.reader(world, node) is None
    world.advance(10.0)
    wallclock.put(world, node, DAY, "date")
    world.advance(10.0)
    wallclock.put(world, node, -DAY, "date")
    shown = wallclock.reader(world, node)
    assert shown is not None
    assert (shown(before), shown(before + 15 * SECOND)) == (before, before + 15 * SECOND + DAY)
    assert shown(world.clock) == wallclock.shown(world, node, world.clock) == world.clock - DAY
    for _ in range(2 * wallclock.KEPT):
        wallclock.put(world, node, DAY, "date")
    assert len(wallclock.steps(world, node)) == wallclock.KEPT
