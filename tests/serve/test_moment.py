"""One notion of time: what a served world says is what its clients' clocks say."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.serve.certificates import make
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.incidents import Incidents
from sregym_env.serve.moment import staged_now, wall
from sregym_env.sim.network import tls

NAMESPACE = "hotel-reservation"
CLOSE = 30.0
"""Seconds between two looks at a clock on a slow machine."""


@pytest.fixture(scope="module", params=[True, False], ids=["drawn", "published"])
def hosted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    pool = Incidents(tmp_path_factory.mktemp("moment"), lambda *_: None)
    incident = pool.open("hotel-reservation/scale_to_zero/geo", seed=3, variation=request.param)
    yield incident.cluster.hosted
    pool.forget()


def seconds(stamp: str, form: str) -> float:
    return datetime.strptime(stamp, form).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("date +%s", ""),
        ("date -u +%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%SZ"),
        ("date", "%a %b %d %H:%M:%S UTC %Y"),
        ("touch /tmp/now; echo $(ls -l /tmp/now | awk '{print $6, $7, $8}') $(date +%Y)", "%b %d %H:%M %Y"),
    ],
)
def test_a_container_knows_the_time(hosted: Hosted, command: str, form: str) -> None:
    hosted.sync()
    cluster = hosted.cluster(ADMIN)
    pod = next(p for p in cluster.list("pods", NAMESPACE) if p["metadata"]["name"].startswith("frontend"))
    said = cluster.exec(NAMESPACE, pod["metadata"]["name"], ["sh", "-c", command]).stdout.strip()
    told = seconds(said, form) if form else float(said)
    assert abs(told - time.time()) < CLOSE + 60 * ("%S" not in form and form != "")


def test_the_api_knows_the_time(hosted: Hosted) -> None:
    hosted.sync()
    cluster = hosted.cluster(ADMIN)
    made = cluster.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "now", "namespace": NAMESPACE}}
    )
    assert abs(seconds(made["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ") - time.time()) < CLOSE
    renewed = max(
        lease["spec"]["renewTime"] for lease in cluster.list("leases.coordination.k8s.io", "kube-node-lease")
    )
    assert abs(seconds(renewed, "%Y-%m-%dT%H:%M:%S.%fZ") - time.time()) < CLOSE + 10


def test_log_lines_are_of_the_past(hosted: Hosted) -> None:
    """Whatever dates stand in a line, the kubelet's among them, none is ahead of the client's clock."""
    cluster = hosted.cluster(ADMIN)
    newest = 0.0
    for pod in cluster.list("pods", NAMESPACE):
        if pod["status"]["phase"] != "Running":
            continue
        text = cluster.logs(NAMESPACE, pod["metadata"]["name"], tail=20, timestamps=True)
        for stamp in re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text):
            newest = max(newest, seconds(stamp, "%Y-%m-%dT%H:%M:%S"))
    assert 0 <= time.time() + 1 - newest < 3600


def test_a_certificate_issued_today_is_accepted(hosted: Hosted) -> None:
    made = make()
    now = hosted.world.now()
    said = tls.go_refusal(made.certificate.decode(), made.authority.decode(), "kubernetes.default.svc", now)
    assert said == ""


@pytest.mark.parametrize("lengths", [[2.0], [0.1, 0.1], [1.0, 1.5, 1.4, 1.4], [9.0, 8.0, 7.0, 6.0]])
def test_staging_aims_at_the_present(lengths: list[float]) -> None:
    """``lengths``: hours that a world lives on from the instant its clock is set from, by staging."""
    ends: list[int] = []

    def stage(present: int) -> int:
        length = lengths[min(len(ends), len(lengths) - 1)]
        ends.append(present + round(length * HOUR))
        return ends[-1]

    staged_now(stage)
    assert len(ends) <= 4
    if len(set(lengths[-2:])) == 1:
        assert 0 <= wall() - ends[-1] < 10 * SECOND
