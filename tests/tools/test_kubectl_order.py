"""In which order kubectl looks at what is wrong, as drawn lines have shown it of the real one."""

from __future__ import annotations

import shlex

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import User
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.kubectl import Kubectl

NAMESPACE = "hotel-reservation"
TIMEOUT = (
    "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit "
    "(e.g. 1s | 2m | 3h)\n"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("get pods --request-timeout=x", f"error: {TIMEOUT}"),
        ("get secrets,deployments --request-timeout=x", TIMEOUT * 2),
        ("describe pods,svc,cm --request-timeout=x", TIMEOUT * 3),
        ("api-versions --request-timeout=x", f"error: {TIMEOUT}"),
        ("api-resources --request-timeout=x", f"error: {TIMEOUT}"),
        ("autoscale deploy geo --max=0 --request-timeout=x", f"error: {TIMEOUT}"),
        ("taint nodes sre-worker --request-timeout=x", f"error: {TIMEOUT}"),
        ("run x --request-timeout=x", 'error: required flag(s) "image" not set\n'),
        ("taint x a-", 'the server doesn\'t have a resource type "x"\n'),
        ("taint pods x a=b:NoSchedule", "error: invalid resource type pods, only node types are supported\n"),
        ("top node x --selector a=b", "error: only one of NAME or --selector can be provided\n"),
        ("auth can-i --list --quiet", "error: list option can't be specified with neither quiet, all-namespaces nor subresource options\n"),
        ("create token x --bound-object-uid=y", "error: --bound-object-uid can only be set if --bound-object-kind is provided\n"),
        ("set env deploy/geo A=b --context=x", 'error: context "x" does not exist\n'),
        ("set image deploy/geo A=b --context=x", "Error in configuration: context was not found for specified context: x\n"),
        ("rollout pause deploy -n nowhere", "No resources found in nowhere namespace.\n"),
        ("top svc -n x", "error: unknown command \"svc\"\nSee 'kubectl top -h' for help and examples\n"),
        ("wait --for=create pv,limits --timeout=0", "error: resource(s) were provided, but no name was specified\n"),
    ],
)  # fmt: skip
def test_what_is_told_first(line: str, said: str) -> None:
    done = Kubectl(deployed_world(APP).fork().cluster, NAMESPACE).run(shlex.split(line))
    assert done.stderr == said


def test_a_deletion_needs_no_reading() -> None:
    world = deployed_world(APP).fork()
    kubectl = Kubectl(world.cluster, NAMESPACE)
    kubectl.run(shlex.split("create role remover --verb=delete --resource=configmaps"))
    kubectl.run(shlex.split("create rolebinding remover --role=remover --user=jane"))
    kubectl.run(shlex.split("create configmap x"))
    jane = Kubectl(world.cluster.as_user(User("jane", ("system:authenticated",))), NAMESPACE)
    done = jane.run(["delete", "configmap", "x"])
    assert (done.stdout, done.stderr) == ('configmap "x" deleted\n', "")
    assert not [each for each in world.store.list("configmaps", NAMESPACE) if each["metadata"]["name"] == "x"]
    refused = jane.run(["delete", "secret", "x"])
    assert refused.stderr.startswith(
        'Error from server (Forbidden): secrets "x" is forbidden: User "jane" cannot delete'
    )


def test_a_prefix_is_put_before_every_variable() -> None:
    world = deployed_world(APP).fork()
    Kubectl(world.cluster, NAMESPACE).run(shlex.split("set env deploy/geo A=b --prefix=X_"))
    spec = world.cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["template"]["spec"]
    assert {"name": "X_A", "value": "b"} in spec["containers"][0]["env"]
