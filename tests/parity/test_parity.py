"""The in-process kubectl says what the real one says, on commands every investigation uses.

The whole corpus, with the share of byte-equal outputs, is ``make parity``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.corpus import MANIFESTS
from tests.parity.harness import Case, Parity, parity
from tests.serve.serving import real_kubectl

CASES = (
    Case("get pods"),
    Case("get pods -o wide"),
    Case("get deploy frontend -o yaml"),
    Case("get nodes"),
    Case("get all"),
    Case("describe deployment/frontend"),
    Case("describe pods -l io.kompose.service=geo"),
    Case("describe service/frontend"),
    Case("describe node/sre-worker"),
    Case("logs deploy/frontend --tail=5"),
    Case("top pods"),
    Case("rollout history deploy/frontend"),
    Case("get pods -l app=web", ("create -f web.yaml", "set image deploy/web web=nothing/here:1")),
    Case("describe pods -l app=web", ("create -f web.yaml", "set image deploy/web web=nothing/here:1")),
    Case("apply -f web.yaml"),
    Case("apply -f bad.yaml"),
    Case("scale deploy/frontend --replicas=3"),
    Case("delete pods -l io.kompose.service=geo"),
    Case("get pods -n nowhere"),
    Case("get deploy nothing"),
    Case("exec deploy/mongodb-geo -- sh -c 'echo out; echo err >&2; exit 3'"),
)


@pytest.fixture(scope="module")
def sides() -> Iterator[Parity]:
    if real_kubectl() is None:
        pytest.skip("no kubectl 1.32 on this machine")
    with parity() as made:
        for name, text in MANIFESTS.items():
            made.write(name, text)
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line)
def test_both_say_the_same(sides: Parity, case: Case) -> None:
    for difference in sides.run(case):
        assert difference.ours == difference.real, difference.part
