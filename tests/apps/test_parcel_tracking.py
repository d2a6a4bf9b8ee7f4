"""What no bundled application has: namespaces, operators, templates of claims, programs of its own."""

from __future__ import annotations

import pickle

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory, declared
from sregym_env.cluster.targets import components as all_components
from sregym_env.cluster.targets import configmaps, nodes_with_volumes, services, volumes
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import AppError
from sregym_env.faults import problems
from sregym_env.faults.registry import declaration
from sregym_env.rewards.baseline import capture
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

APP = apps.app("parcel-tracking")
WEB, DATA = APP.namespaces


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return Inventory.of(deployed_world(APP))


def test_what_an_operator_made_is_known_and_no_target(inventory: Inventory) -> None:
    north = APP.by_name["carrier-north"]
    assert not inventory.declares(north)
    assert inventory.workload(north)["metadata"]["ownerReferences"][0]["kind"] == "Carrier"
    assert any(pod["metadata"]["name"].startswith("carrier-north") for pod in inventory.pods)
    for rule in (all_components(), services(), volumes(), configmaps()):
        assert "carrier-north" not in [t.components[0] for t in rule.find(inventory)]


def test_objects_of_its_own_kinds_belong_to_the_baseline(inventory: Inventory) -> None:
    assert ("carriers.parcels.example.com", DATA, "north") in inventory.declared
    baseline = capture(deployed_world(APP))
    assert ("carriers.parcels.example.com", DATA, "north") in baseline.objects
    assert baseline.backed[(DATA, "ledger")] == {"StatefulSet/ledger"}
    assert baseline.backed[(WEB, "edge")] == {"DaemonSet/edge"}


def test_jobs_of_a_cronjob_come_and_go() -> None:
    baseline = capture(deployed_world(APP))
    assert ("cronjobs.batch", WEB, "nightly-report") in baseline.objects
    assert not [key for key in baseline.objects if key[0] == "jobs.batch"]


def test_a_kind_that_nobody_defines_is_refused() -> None:
    from dataclasses import replace

    without = tuple(m for m in APP.manifests if m["kind"] != "CustomResourceDefinition")
    with pytest.raises(AppError, match=r"parcel-tracking: Carrier north .* add its CustomResourceDefinition"):
        declared(replace(APP, manifests=without))


def test_the_volume_of_a_template_has_a_node_but_no_claim_to_misname(inventory: Inventory) -> None:
    (target,) = nodes_with_volumes().find(inventory)
    assert target.components == ("ledger",) and target.node in inventory.nodes
    assert not declaration("pvc_claim_mismatch").targets.find(inventory)
    remedy = " ".join(declaration("latent_sector_error").bind(inventory).remedies[0])
    assert "kubectl scale statefulset/ledger" in remedy and "kubectl apply" not in remedy


def test_a_headless_service_has_no_port_to_get_wrong(inventory: Inventory) -> None:
    for fault in ("service_port_mismatch", "service_target_port_mismatch"):
        assert "ledger" not in [t.name for t in declaration(fault).targets.find(inventory)]
    assert "ledger" in [t.name for t in declaration("missing_service").targets.find(inventory)]


def test_a_program_of_its_own_logs_serves_and_runs_commands() -> None:
    from sregym_env.cluster.oncall import ONCALL

    workstation = Workstation(deployed_world(APP), ONCALL)
    assert "listening" in workstation.run(f"kubectl logs deploy/gateway -n {WEB}").text
    asked = workstation.run(f"curl -s -o /dev/null -w '%{{http_code}}' http://edge.{WEB}/any/path")
    assert asked.text == "200"
    assert (
        workstation.run(f"kubectl exec -n {WEB} ds/edge -- printenv GATEWAY_URL").text == "http://gateway\n"
    )
    assert workstation.run(f"kubectl get carriers -n {DATA} -o name").text == (
        "carrier.parcels.example.com/north\n"
    )


def test_programs_of_an_application_are_unknown_where_it_is_not_deployed() -> None:
    assert "parcel_server" not in deployed_world(apps.app(apps.DEFAULT)).programs
    assert {"parcel_server", "mongod"} <= deployed_world(APP).fork().programs.keys()


def test_a_pickled_world_goes_on_with_the_programs_of_its_application() -> None:
    world = deployed_world(APP, 5)
    copied = pickle.loads(pickle.dumps(world))
    assert copied.app is APP and copied.programs.keys() == world.programs.keys()
    for each in (world, copied):
        each.advance(90.0)
    assert copied.digest() == world.digest()


def test_the_briefing_names_every_namespace() -> None:
    env = SREGymEnv(problem=problems.pair(APP.name, "scale_to_zero", "ledger").model_dump())
    observation, _ = env.reset(seed=3)
    assert "the namespaces parcel-web and parcel-data" in observation
