"""A Service that serves one node: its endpoints are ready, who stands beside them is served, and who does not is dropped."""

from __future__ import annotations

import json

from sregym_env.cluster.oncall import ONCALL
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
