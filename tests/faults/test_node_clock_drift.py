"""A machine that is wrong about the time: who reads its clock, who keeps it, and what makes it right for good."""

from __future__ import annotations

import pytest

from sregym_env.cluster import certificates
from sregym_env.cluster.api import World
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults import problems
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts.validate import Subject, undo_restores
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, why

FAULT, TARGET = "node_clock_drift", "frontend"
MARKED = "io.kompose.service=frontend"
NODE = f"N=$(kubectl get pods -l {MARKED} -o jsonpath='{{.items[0].spec.nodeName}}')"
STARTED = "ssh $N 'systemctl unmask chronyd && systemctl enable --now chronyd'"


def _typed(world: World, line: str) -> str:
    return Workstation(world, ONCALL, NAMESPACE).run(f"{NODE}; {line}").text


def _struck(**given: str) -> Subject:
    played = problems.pair(NAMESPACE, FAULT, TARGET, dict(given)).model_copy(update={"variation": False})
    return Subject(played, seed=5)


def _tried(lines: list[str]) -> Verdict:
    """The oracle's verdict after some lines."""
    pair = subject(FAULT, TARGET)
    world = pair.world()
    done = Workstation(world, ONCALL, NAMESPACE).run("; ".join([NODE, *lines]))
    assert done.exit_code == 0, done.text
    return pair.judge(world)


@pytest.fixture(scope="module")
def world() -> World:
    return subject(FAULT, TARGET).world()


# --- what shows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "number", "said"),
    [("ahead", 10, "certificate has expired"), ("behind", 9, "certificate is not yet valid")],
)
def test_a_good_certificate_is_refused_on_that_machine_alone(direction: str, number: int, said: str) -> None:
    world = _struck(direction=direction).world()
    described = _typed(world, f"kubectl describe pods -l {MARKED}")
    assert f"Readiness probe failed: CN = frontend.{NAMESPACE}.svc" in described and said in described
    assert "1/2" in _typed(world, f"kubectl get pods -l {MARKED} --no-headers")
    # Where the clock is right the very same certificate passes.
    verify = "openssl verify -CAfile /etc/identity/ca.crt /etc/identity/tls.crt"
    there = _typed(world, f"kubectl exec deploy/frontend -c tls-check -- {verify}")
    assert f"error {number} at 0 depth lookup: {said}" in there
    assert "error /etc/identity/tls.crt: verification failed" in there
    _typed(
        world,
        """kubectl patch deploy frontend --type=json -p '[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]'""",
    )
    _typed(world, "kubectl cordon $N; kubectl delete pods -l io.kompose.service=frontend; sleep 60")
    assert "2/2" in _typed(world, f"kubectl get pods -l {MARKED} --no-headers")
    assert (
        _typed(world, f"kubectl exec deploy/frontend -c tls-check -- {verify}")
        == "/etc/identity/tls.crt: OK\n"
    )


def test_who_asks_the_machine_for_the_time_is_told_another(world: World) -> None:
    offset = 30 * 86_400
    right, there = (int(_typed(world, f"{way}date +%s")) for way in ("", "ssh $N "))
    assert there - right == pytest.approx(offset, abs=10)
    inside = int(_typed(world, "kubectl exec deploy/frontend -c tls-check -- date +%s"))
    assert inside - right == pytest.approx(offset, abs=10)
    shown = _typed(world, "ssh $N timedatectl")
    assert "System clock synchronized: no\n" in shown and "NTP service: n/a\n" in shown
    exporter = _typed(world, "promql 'max by (node) (node_time_seconds - time()) > 86400'")
    assert exporter.count("node=") == 1
    assert "1 series" in _typed(world, "promql 'node_timex_sync_status == 0'")
    status = _typed(world, "ssh $N systemctl status chronyd --no-pager")
    assert "Loaded: masked (Reason: Unit chrony.service is masked.)" in status
    assert "Active: inactive (dead)" in status
    # The node is well, and its conditions are by the API server's clock.
    assert "NotReady" not in _typed(world, "kubectl get nodes")


def test_lines_that_its_containers_write_bear_its_time() -> None:
    world = _struck().world()
    _typed(world, f"kubectl delete pods -l {MARKED}; sleep 20")
    lines = _typed(world, "kubectl logs deploy/frontend -c hotel-reserv-frontend --timestamps --tail=3")
    day = _typed(world, "ssh $N date +%F").strip()
    assert lines.splitlines()
    for line in lines.splitlines():
        stamp, _, text = line.partition(" ")
        assert stamp.startswith(day), line
        assert text[:10] in (day, '{"level":') or not text[:4].isdigit(), line


# --- repairs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        [STARTED, "sleep 40"],
        # Whoever has masked it has not disabled it.
        ["ssh $N 'systemctl unmask chronyd; systemctl start chronyd'", "sleep 40"],
        ["ssh $N systemctl unmask chronyd", "ssh $N timedatectl set-ntp true", "sleep 40"],
        [f"kubectl cordon $N; {STARTED}; sleep 40; kubectl uncordon $N"],
    ],
)
def test_a_time_service_that_runs_makes_it_right(lines: list[str]) -> None:
    verdict = _tried(lines)
    assert verdict.passed, why(verdict)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("systemctl start chronyd", False),
        ("systemctl enable --now chronyd", True),
        ("timedatectl set-ntp true", True),
    ],
)
def test_one_that_is_disabled_has_to_come_up_with_its_machine(line: str, right: bool) -> None:
    pair = _struck(way="disabled")
    world = pair.world()
    assert "disabled" in _typed(world, "ssh $N systemctl is-enabled chronyd")
    _typed(world, f"ssh $N {line}; sleep 40")
    verdict = pair.judge(world)
    assert verdict.passed is right, why(verdict)


def _reissued() -> str:
    """The same certificate, valid for ten years."""
    key = f"{NAMESPACE}/hotel-frontend-tls"
    host = f"frontend.{NAMESPACE}.svc"
    pair = certificates.issued(key, (host,), 1_600_000_000_000_000, 1_900_000_000_000_000, "internal-ca")
    return pair.certificate


@pytest.mark.parametrize(
    "lines",
    [
        ["ssh $N \"date -s '$(date)'\"", "sleep 60"],
        ["ssh $N reboot", "sleep 300"],
        [
            "kubectl cordon $N",
            """kubectl patch deploy frontend --type=json -p '[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]'""",
            "kubectl rollout status deploy/frontend --timeout=120s",
        ],
        [f"kubectl delete pods -l {MARKED}", "sleep 90"],
        [
            "kubectl get deploy frontend -o json | jq '.spec.template.spec.containers |= map(select(.name != \"tls-check\"))' | kubectl replace -f -",
            "kubectl rollout status deploy/frontend --timeout=120s",
        ],
        [
            f"{STARTED}; sleep 30",
            "kubectl get deploy frontend -o json | jq '.spec.template.spec.containers |= map(del(.readinessProbe))' | kubectl replace -f -",
            "kubectl rollout status deploy/frontend --timeout=120s",
        ],
    ],
    ids=["by-hand", "rebooted", "moved-away", "restarted", "no-check", "no-probe"],
)
def test_whatever_leaves_the_machine_wrong_or_looks_away_does_not(lines: list[str]) -> None:
    assert not _tried(lines).passed


def test_a_certificate_that_is_valid_for_longer_hides_it() -> None:
    pair = subject(FAULT, TARGET)
    world = pair.world()
    secret = world.cluster.get("secrets", "hotel-frontend-tls", NAMESPACE)
    workstation = Workstation(world, ONCALL, NAMESPACE)
    workstation.run(f"cat > /tmp/tls.crt <<'EOF'\n{_reissued()}EOF")
    done = workstation.run(
        """kubectl patch secret hotel-frontend-tls -p "{\\"data\\":{\\"tls.crt\\":\\"$(base64 -w0 /tmp/tls.crt)\\"}}"; sleep 120"""
    )
    assert done.exit_code == 0, done.text
    assert world.cluster.get("secrets", "hotel-frontend-tls", NAMESPACE)["data"] != secret["data"]
    assert "2/2" in _typed(world, f"kubectl get pods -l {MARKED} --no-headers")
    verdict = pair.judge(world)
    assert not verdict.passed and "clock" in why(verdict)


def test_it_is_taken_back() -> None:
    passed, detail = undo_restores(subject(FAULT, TARGET))
    assert passed, detail
