"""The official Python client reads everything: its models refuse a list in which one field is missing or wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.sim.embedded import EmbeddedWorld
from tests.clients.conftest import manifests
from tests.serve.serving import Served

kubernetes = pytest.importorskip("kubernetes")

SERVED = (
    "AdmissionregistrationV1Api ApiextensionsV1Api ApiregistrationV1Api AppsV1Api AutoscalingV1Api AutoscalingV2Api "
    "BatchV1Api CertificatesV1Api CoordinationV1Api CoreV1Api DiscoveryV1Api EventsV1Api FlowcontrolApiserverV1Api "
    "NetworkingV1Api NodeV1Api PolicyV1Api RbacAuthorizationV1Api SchedulingV1Api StorageV1Api"
).split()
"""API classes of the client for groups and versions that a v1.32 server serves by default."""

LATER = {
    "cluster_trust_bundle", "ip_address", "mutating_admission_policy", "mutating_admission_policy_binding",
    "pod_certificate_request_for_all_namespaces", "service_cidr", "volume_attributes_class",
}  # fmt: skip
"""What became v1 after 1.32: the client knows it, the server must not."""

FAULTS = (
    ("scale_to_zero", "geo"),
    ("faulty_image", "geo"),
    ("incorrect_image", "profile"),
    ("missing_configmap", "mongo-geo-script"),
    ("missing_service", "mongodb-rate"),
    ("pvc_claim_mismatch", "geo-pvc"),
    ("resource_request_too_large", "mongodb-rate"),
    ("liveness_probe_misconfiguration", "recommendation"),
    ("init_container_dependency_hang", "frontend"),
    ("namespace_memory_limit", "search"),
    ("taint_no_toleration", None),
    ("network_policy_block", "recommendation"),
)

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT")
"""The server moves timestamps to the client's clock."""


def calls() -> Iterator[tuple[str, str]]:
    """Every list method over the whole cluster, as (API class, method)."""
    for api in SERVED:
        for name in sorted(vars(getattr(kubernetes.client, api))):
            if not name.startswith("list_") or name.endswith("_with_http_info") or "_namespaced_" in name:
                continue
            yield api, name


CALLS = list(calls())


@pytest.fixture(scope="module")
def client(running: Served) -> Iterator[Any]:
    made = kubernetes.config.new_client_from_config(str(running.kubeconfig))
    yield made
    made.close()


def read(client: Any, api: str, method: str) -> list[Any]:
    """What one list method answers, through the models."""
    call = getattr(getattr(kubernetes.client, api)(client), method)
    if api == "EventsV1Api":
        # The model wants an eventTime, which events of the older kind have null in real clusters as well.
        items = json.loads(call(_preload_content=False).data)["items"]
        assert all(item["eventTime"] is None or item["note"] for item in items)
        return [kubernetes.client.V1Pod(metadata={"name": item["metadata"]["name"]}) for item in items]
    return list(call().items)


def test_the_table_is_complete() -> None:
    assert len(CALLS) > 55
    offered = {name for name in dir(kubernetes.client) if name.endswith(("V1Api", "V2Api"))}
    without_lists = {"AuthenticationV1Api", "AuthorizationV1Api"}
    later = {"ResourceV1Api", "StoragemigrationV1Api"}
    assert offered - set(SERVED) == without_lists | later


@pytest.mark.parametrize(("api", "method"), CALLS, ids=[f"{api}.{method}" for api, method in CALLS])
def test_every_kind_of_object_satisfies_its_model(
    running: Served, furnished: EmbeddedWorld, client: Any, api: str, method: str
) -> None:
    running.put(furnished.fork(), "real")
    if method.removeprefix("list_") in LATER:
        with pytest.raises(kubernetes.client.ApiException) as caught:
            read(client, api, method)
        assert caught.value.status == 404
        return
    found = read(client, api, method)
    assert found or method == "list_certificate_signing_request"
    for item in found:
        assert item.metadata.name


@pytest.mark.sampled
@pytest.mark.parametrize(("fault", "target"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_broken_worlds_satisfy_the_models(
    running: Served, client: Any, fault: str, target: str | None
) -> None:
    env = SREGymEnv(fault=fault, target=target, raise_errors=True)
    env.reset(seed=1)
    world = env.episode.world
    assert isinstance(world, EmbeddedWorld)
    running.put(world, "real")
    seen = sum(len(read(client, api, method)) for api, method in CALLS if method[5:] not in LATER)
    assert seen > 200


@pytest.mark.parametrize("manifest", manifests(), ids=lambda m: f"{m['kind']}-{m['metadata']['name']}")
def test_an_object_reads_back_as_it_was_written(
    running: Served, furnished: EmbeddedWorld, client: Any, manifest: dict[str, Any]
) -> None:
    running.put(furnished.fork(), "real")
    dynamic = kubernetes.dynamic.DynamicClient(client)
    resource = dynamic.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
    metadata = manifest["metadata"]
    got = resource.get(name=metadata["name"], namespace=metadata.get("namespace")).to_dict()
    assert (got["apiVersion"], got["kind"]) == (manifest["apiVersion"], manifest["kind"])
    assert got["metadata"]["uid"]
    for name, value in manifest.items():
        if name == "metadata" or name != "stringData":
            assert _covers(got[name], value), name


def _covers(whole: Any, part: Any) -> bool:
    """Whether everything of ``part`` is in ``whole``, which may have defaults beside it."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            name in whole and _covers(whole[name], part[name]) for name in part
        )
    if isinstance(part, list):
        return (
            isinstance(whole, list)
            and len(whole) >= len(part)
            and all(any(_covers(have, want) for have in whole) for want in part)
        )
    return bool(whole == part) or bool(_MOMENT.match(str(part)) and _MOMENT.match(str(whole)))
