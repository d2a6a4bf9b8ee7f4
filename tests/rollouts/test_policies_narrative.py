"""What an expert makes of outputs, how it words causes, and how it puts several repairs together."""

from __future__ import annotations

from random import Random
from string import Formatter

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.fault import Declaration
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.registry import declarations
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rollouts.policies.narrative import diagnosis, looks, repair, sights
from sregym_env.rollouts.policies.narrative.causes import CAUSES
from sregym_env.sim.bringup.deploy import deployed_world

PODS = """\
NAME                     READY   STATUS             RESTARTS      AGE
consul-9f46d559d-jdkg9   1/1     Running            0             5h
geo-7fc899cd4f-lhlfn     0/1     CrashLoopBackOff   3 (10s ago)   41s
old-7fc899cd4f-aaaaa     0/1     Terminating        0             41s
seed-x2x2x               0/1     Completed          0             41s
"""


def seen(command: str, text: str, *wanted: str, field: str = "") -> sights.Sight:
    return sights.sight(command, text, wanted, Random(1), field)


# --- sights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("alerts", "alerts"),
        ("curl -si 'http://frontend:5000/'", "users"),
        ("kubectl logs job/wrk2-job -n a --tail=14", "load"),
        ("kubectl -n a logs deploy/geo --tail=20", "logs"),
        ("kubectl get po -n a -o wide", "pods"),
        ("kubectl get pods -n a -o yaml", "read"),
        ("kubectl -n a get deploy", "workloads"),
        ("kubectl get deployments,statefulsets -n a", "workloads"),
        ("kubectl get deployment geo -n a -o yaml", "read"),
        ("kubectl describe svc geo -n a", "describe"),
        ("kubectl get endpoints geo -n a", "endpoints"),
    ],
)
def test_a_command_line_tells_what_it_shows(command: str, kind: str) -> None:
    assert sights.kind_of_look(command) == kind


def test_pods_that_are_not_ready_are_named_and_those_that_are_done_are_not() -> None:
    noticed = seen("kubectl get pods -n a", PODS)
    assert noticed.red == (("geo-7fc899cd4f-lhlfn", "CrashLoopBackOff"),)
    assert "geo-7fc899cd4f-lhlfn (CrashLoopBackOff)" in noticed.remark
    assert noticed.trouble


@pytest.mark.parametrize(
    ("command", "text", "said", "trouble"),
    [
        ("curl -si u", "HTTP/1.1 200 OK\n\n{}", "200", False),
        ("curl -si u", "HTTP/1.1 500 Internal\n\nrpc error: code = Unavailable", "rpc error", True),
        ("curl -s u", "", "no answer at all", True),
        ("curl -sS u", "000 in 0.0s\ncurl: (7) Failed to connect to x", "Failed to connect to x", True),
        ("kubectl logs deploy/a", "INF started\nFTL no such host: db\nexiting", "no such host: db", True),
        ("kubectl logs deploy/a", "INF started\nINF serving", "", False),
        ("kubectl logs deploy/a", 'panic: boom\n\ngoroutine 1\nmain.main()\n\t/a.go:1 +0x1', "panic: boom", True),
        ("kubectl get nodes", "NAME STATUS\nn1   Ready   x 5d\n", "", False),
        ("kubectl get nodes", "NAME STATUS\nn1   Ready,SchedulingDisabled   x\n", "n1", True),
        ("kubectl get endpoints geo", "NAME   ENDPOINTS   AGE\ngeo    <none>   5h\n", "geo has no endpoints", True),
        ("kubectl get endpoints geo", "NAME   ENDPOINTS   AGE\ngeo              5h\n", "geo has no endpoints", True),
        ("kubectl get svc x", 'Error from server (NotFound): services "x" not found', "not found", True),
        ("kubectl get deploy", "NAME READY\ngeo    0/1   1   0   5h\nrate   1/1   1   1   5h\n", "geo has 0 of 1", True),
        ("alerts", "STATE  SINCE\npending   9s   critical   PodDown   Pod geo is down\n", "Pod geo is down", True),
        ("alerts", "No alerts.\n", "", False),
        ("kubectl logs job/wrk2-job", "3000 requests in 30.00s, 6MB read\n  Non-2xx or 3xx responses: 120\n", "120", True),
        ("kubectl logs job/wrk2-job", "3000 requests in 30.00s, 6MB read\n", "no bad answers", False),
    ],
)  # fmt: skip
def test_what_is_made_of_an_output(command: str, text: str, said: str, trouble: bool) -> None:
    noticed = seen(command, text)
    assert said in noticed.remark
    assert noticed.trouble is trouble


def test_the_last_warning_of_a_description_is_quoted() -> None:
    text = "Name: a\nEvents:\n  Type     Reason   Age   From     Message\n  Warning  Failed   2s    kubelet  no such image\n"
    assert seen("kubectl describe pod a", text).remark == 'Its events say Failed: "no such image".'


def test_a_value_that_is_looked_for_is_pointed_at_and_a_short_one_only_beside_its_field() -> None:
    text = "age: 10m\n    Limits:\n      cpu: 10m\n"
    assert seen("kubectl describe deploy a", text, "10m", field="CPU limit").proof == "cpu: 10m"
    assert seen("kubectl describe deploy a", text, "10m", field="image").proof == ""
    assert (
        seen("kubectl describe deploy a", "  dnsPolicy: None\n  x: 8.8.8.8", "8.8.8.8").proof == "x: 8.8.8.8"
    )


def test_long_lines_are_quoted_with_a_gap_and_never_in_the_quotes_they_contain() -> None:
    line = 'a "' + "x" * 400 + '" z'
    quoted = sights.quoted(line)
    assert quoted.startswith('`a "') and quoted.endswith('" z`')
    assert len(quoted) < sights.QUOTED + 10


def test_a_value_that_is_a_healthy_name_is_pointed_at_only_under_its_field() -> None:
    text = "Name: geo\n    Command:\n      geo\n    Environment: geo"
    assert sights.pointing(text, ["geo"], "command", {"geo"}) == "Command: geo"
    assert sights.pointing("Name: search\nLabels: search", ["search"], "command", {"search"}) == ""


# --- diagnoses ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["hotel-reservation", "parcel-tracking"])
def inventory(request: pytest.FixtureRequest) -> Inventory:
    return Inventory.of(deployed_world(apps.app(request.param), 0))


@pytest.mark.sampled
@pytest.mark.parametrize("declared", declarations(), ids=lambda declared: declared.name)
def test_every_way_of_putting_a_cause_is_understood(declared: Declaration, inventory: Inventory) -> None:
    judge = SpecJudge()
    for number, target in enumerate(declared.targets.find(inventory)[:3]):
        instance = declared.bind(inventory, target.name)
        known = diagnosis.facts(instance, Random(number))
        for way in diagnosis.ways(instance):
            assert set(diagnosis.fields(way)) <= set(known), way
            words = way.format_map(known)
            grade = judge.grade(words, [instance.spec], inventory.app)
            assert grade.score >= diagnosis.GOOD, (words, [a for a in grade.answers if not a.yes])


def test_every_mechanism_has_words_of_its_own() -> None:
    assert set(CAUSES) == set(MECHANISMS)
    for ways in CAUSES.values():
        assert len(ways) >= 3 and len({way.split()[0] for way in ways}) >= 2
        assert all(way.endswith(".") for way in ways)


def test_only_ways_whose_values_were_printed_are_tellable(inventory: Inventory) -> None:
    declared = next(each for each in declarations() if each.name == "service_target_port_mismatch")
    instance = declared.bind(inventory)
    known = diagnosis.facts(instance, Random(0))
    assert diagnosis.tellable(instance, known, {"19999"}) == []
    seen_wrong = diagnosis.tellable(instance, known, {"9999"})
    assert seen_wrong
    assert all("right" not in {name for _, name, _, _ in Formatter().parse(way)} for way in seen_wrong)
    assert len(diagnosis.tellable(instance, known, {"9999", known["right"]})) > len(seen_wrong)


@pytest.mark.parametrize(
    ("value", "text", "is_printed"),
    [
        ("a=b", "selector: a=b,c=d", True),
        ("a=b", "  a: b\n", True),
        ("9999", "TargetPort: 19999/TCP", False),
        ("/healthz", "http-get http://:8080/healthz delay=10s", True),
        ("dedicated=batch:NoSchedule", "Taints: dedicated=batch:NoSchedule", True),
    ],
)
def test_values_are_printed_as_words_of_their_own(value: str, text: str, is_printed: bool) -> None:
    assert diagnosis.printed(value, text) is is_printed


# --- looks ----------------------------------------------------------------------------------------


def test_the_way_to_a_component_follows_the_calls() -> None:
    app = apps.app("hotel-reservation")
    assert looks.path(app, "mongodb-geo") == ("frontend", "search", "geo", "mongodb-geo")
    assert looks.path(app, "frontend") == ("frontend",)
    assert looks.path(app, "wrk2-job") == ("wrk2-job",)


@pytest.mark.parametrize(
    ("command", "habit"),
    [
        ("kubectl get pods -n a -o wide", "kubectl -n a get po -o wide"),
        (
            "kubectl get events -n a --sort-by=.x | tail -n 5",
            "kubectl -n a get events --sort-by=.x | tail -n 5",
        ),
        ("kubectl get pods -n a; kubectl get pods -n b", "kubectl get po -n a; kubectl get po -n b"),
        ("kubectl get nodes", "kubectl get nodes"),
        ("alerts", "alerts"),
    ],
)
def test_people_have_habits(command: str, habit: str) -> None:
    assert looks.typed([command], flag_first=True, short=True) == [habit]
    assert looks.typed([command], flag_first=False, short=False) == [command]


# --- repairs --------------------------------------------------------------------------------------


def remedy(name: str, client: str) -> list[str]:
    return [
        f"kubectl patch deployment/{name} -n a --type=json -p '[]'",
        f"kubectl rollout status deployment/{name} -n a --timeout=180s",
        f"kubectl rollout restart deployment/{client} -n a",
        f"kubectl rollout status deployment/{client} -n a --timeout=180s",
    ]


def test_several_repairs_go_stage_by_stage_and_say_together_what_they_share() -> None:
    names = ("w", "x", "y", "z")
    commands = repair.merged([remedy(f"db-{name}", name) for name in names])
    assert commands == [
        *(f"kubectl patch deployment/db-{name} -n a --type=json -p '[]'" for name in names),
        f"kubectl rollout status {' '.join(f'deployment/db-{name}' for name in names)} -n a --timeout=180s",
        f"kubectl rollout restart {' '.join(f'deployment/{name}' for name in names)} -n a",
        f"kubectl rollout status {' '.join(f'deployment/{name}' for name in names)} -n a --timeout=180s",
    ]


def test_one_repair_stays_as_it_is_declared() -> None:
    assert repair.merged([remedy("db", "app")]) == remedy("db", "app")


@pytest.mark.parametrize(
    ("command", "aim", "deed"),
    [
        (
            """kubectl patch service/geo -n a --type=json -p '[{"op":"add","path":"/spec/ports/0/targetPort","value":80}]'""",
            "repair",
            "set targetPort of service/geo to 80",
        ),
        (
            """kubectl patch deployment/geo -n a --type=json -p '[{"op":"remove","path":"/spec/template/spec/hostAliases"}]'""",
            "repair",
            "remove hostAliases from deployment/geo",
        ),
        (
            "kubectl set image deployment/db c=mongo:4 -n a",
            "repair",
            "give deployment/db the image mongo:4 again",
        ),
        ("kubectl rollout restart deployment/a deployment/b -n x", "restart", "restart a and b"),
        ("kubectl rollout status deployment/a -n x --timeout=9s", "await", ""),
        ("kubectl delete networkpolicy deny-all -n a", "repair", "delete the networkpolicy deny-all"),
        ("kubectl scale deployment/a -n x --replicas=2", "repair", "scale deployment/a to 2"),
        ("kubectl uncordon n1 n2", "repair", "open the nodes for pods again"),
        (
            "kubectl apply -f - <<'EOF'\nkind: Service\nmetadata:\n  name: geo\nEOF",
            "repair",
            "apply the Service geo as declared",
        ),
    ],
)
def test_repairs_are_told_in_words(command: str, aim: str, deed: str) -> None:
    assert repair.deed(command) == (aim, deed)
