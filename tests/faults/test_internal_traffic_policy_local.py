"""A Service that serves one node: its endpoints are ready, who stands beside them is served, and who does not is dropped."""

from __future__ import annotations

import json

from sregym_env.cluster.edits import Rollout
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.problems import problem
from sregym_env.faults.registry import declaration
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

NAMESPACE = "hotel-reservation"


def test_the_endpoints_are_ready_and_only_their_own_node_reaches_them() -> None:
    world = subject("internal_traffic_policy_local", "mongodb-rate").world()
    workstation = Workstation(world, ONCALL)
    pods = json.loads(workstation.run(f"kubectl get pods -n {NAMESPACE} -o json").text)["items"]
    ready = json.loads(workstation.run(f"kubectl get endpoints mongodb-rate -n {NAMESPACE} -o json").text)
    (address,) = ready["subsets"][0]["addresses"]

    served = {}
    for pod in pods:
        if pod["metadata"]["name"].startswith("mongodb-"):
            name = pod["metadata"]["name"]
            asked = f"kubectl exec -n {NAMESPACE} {name} -- mongo --host mongodb-rate --eval 'db.version()'"
            served[pod["spec"]["nodeName"]] = workstation.run(asked).exit_code == 0
    assert len(served) > 1
    assert served == {node: node == address["nodeName"] for node in served}


def _nodes(workload: Rollout) -> set[str]:
    affinity = workload.changes["/spec/template/spec/affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return set(term["matchExpressions"][-1]["values"])


def test_callers_are_bound_to_other_nodes_than_what_they_ask_and_so_is_what_holds_no_data(
    every_inventory: Inventory,
) -> None:
    declared = declaration("internal_traffic_policy_local")
    for target in declared.targets.find(every_inventory):
        bound = {
            edit.target.name: _nodes(edit)
            for edit in declared.bind(every_inventory, target.name).fault.earlier
            if isinstance(edit, Rollout)
        }
        component = target.component
        own = bound.pop(component.name, None)
        assert (own is not None) == (component.stateless or component.kind == "memcached")
        stands = own or {
            pod["spec"]["nodeName"]
            for pod in every_inventory.pods
            if pod["metadata"]["name"].startswith(f"{component.name}-")
        }
        assert bound and all(nodes and stands.isdisjoint(nodes) for nodes in bound.values())


def test_the_published_id_strikes_what_the_frontend_of_the_shop_asks() -> None:
    (choice,) = problem("internal_traffic_policy_local_astronomy_shop").faults
    assert (choice.fault, choice.target) == ("internal_traffic_policy_local", "recommendation")
