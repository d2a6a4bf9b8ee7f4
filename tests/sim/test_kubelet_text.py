"""The kubelet's pure parts: image references, $(VAR) expansion, the downward API, effective requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.app import Image
from sregym_env.kube.pulling import canonical
from sregym_env.sim.containers import downward, environment, images
from sregym_env.sim.containers.resources import cpu_limit, memory_limit, pod_requests, quality_of_service


@pytest.mark.parametrize(
    ("reference", "full"),
    [
        ("mongo", "docker.io/library/mongo:latest"),
        ("mongo:4.4.6", "docker.io/library/mongo:4.4.6"),
        ("hashicorp/consul:1.22.3", "docker.io/hashicorp/consul:1.22.3"),
        ("localhost:5000/app", "localhost:5000/app:latest"),
        ("ghcr.io/a/b:c", "ghcr.io/a/b:c"),
        ("a@sha256:" + "0" * 64, "docker.io/library/a@sha256:" + "0" * 64),
    ],
)
def test_references_in_full(reference: str, full: str) -> None:
    assert images.is_valid(reference)
    assert canonical(reference) == full
    assert canonical(full) == full


@pytest.mark.parametrize("reference", ["", "UPPER", "a b", "a:b:c", "-x", "a//b", "a:"])
def test_references_that_cannot_be_parsed(reference: str) -> None:
    assert not images.is_valid(reference)


@given(st.text())
def test_text_without_dollars_is_left_alone(text: str) -> None:
    plain = text.replace("$", "")
    assert environment.expand(plain, {}) == plain


@given(st.text())
def test_doubled_dollars_never_expand(text: str) -> None:
    assert environment.expand(text.replace("$", "$$"), {"A": "x"}) == text


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)-$(B)", "1-$(B)"),
        ("$$(A)", "$(A)"),
        ("$A", "$A"),
        ("$(A", "$(A"),
        ("cost: 5$", "cost: 5$"),
        ("$(A)$(A)", "11"),
    ],
)
def test_expansion(text: str, expanded: str) -> None:
    assert environment.expand(text, {"A": "1"}) == expanded


def _pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    made = [{"name": f"c{index}", **container} for index, container in enumerate(containers)]
    metadata = {"name": "p", "namespace": "n", "labels": {"a": "1", "b": "2"}, "uid": ""}
    return {"metadata": metadata, "spec": {"containers": made, **spec}}


def _resources(**named: dict[str, str]) -> dict[str, Any]:
    return {"resources": named}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("metadata.name", "p"),
        ("metadata.labels['b']", "2"),
        ("metadata.labels", 'a="1"\nb="2"'),
        ("metadata.annotations['none']", ""),
        ("status.podIP", "10.0.0.1"),
        ("spec.nodeName", "n1"),
    ],
)
def test_field_references(path: str, text: str) -> None:
    assert downward.field(_pod({}, nodeName="n1"), path, "10.0.0.1") == text


@pytest.mark.parametrize(
    ("resource", "divisor", "text"),
    [
        ("limits.cpu", "", "2"),
        ("limits.cpu", "1m", "1500"),
        ("requests.memory", "1Mi", "64"),
        ("requests.cpu", "", "0"),
    ],
)
def test_resource_references(resource: str, divisor: str, text: str) -> None:
    pod = _pod(_resources(limits={"cpu": "1500m"}, requests={"memory": "64Mi"}))
    assert downward.resource(pod, "c0", {"resource": resource, "divisor": divisor}) == text


def test_init_containers_count_at_their_peak_and_sidecars_always() -> None:
    big = {"name": "i", **_resources(requests={"cpu": "3", "memory": "1Gi"})}
    sidecar = {"name": "s", "restartPolicy": "Always", **_resources(requests={"cpu": "500m"})}
    pod = _pod(_resources(requests={"cpu": "1"}), _resources(requests={"cpu": "250m"}))
    pod["spec"]["initContainers"] = [sidecar, big]
    assert pod_requests(pod).milli_cpu == 3500
    assert pod_requests(pod).memory == 2**30
    pod["spec"]["initContainers"] = [sidecar]
    assert pod_requests(pod).milli_cpu == 1750


@pytest.mark.parametrize(
    ("containers", "name"),
    [
        ([{}], "BestEffort"),
        ([_resources(limits={"cpu": "1"}, requests={"cpu": "1"})], "Burstable"),
        (
            [_resources(limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "1000m", "memory": "1Gi"})],
            "Guaranteed",
        ),
        ([_resources(limits={"cpu": "1", "memory": "1Gi"}), {}], "Burstable"),
    ],
)
def test_quality_of_service(containers: list[dict[str, Any]], name: str) -> None:
    assert quality_of_service(_pod(*containers)) == name


def test_limits_of_zero_are_no_limits() -> None:
    def container(amount: str) -> dict[str, Any]:
        return {"resources": {"limits": {"cpu": amount, "memory": amount}}}

    assert (cpu_limit(container("0")), memory_limit(container("0"))) == (None, None)
    assert (cpu_limit(container("2")), memory_limit(container("2"))) == (2.0, 2)
    assert (cpu_limit({}), memory_limit({})) == (None, None)


def test_sizes_of_images_are_not_round_and_stay_the_same() -> None:
    image = Image("mongo:4.4.6", 280_000_000, {})
    size = images.exact_size(image, "mongo:4.4.6")
    assert size == images.exact_size(image, "docker.io/library/mongo:4.4.6")
    assert 280_000_000 <= size <= 287_000_000
    assert size % 1_000_000
