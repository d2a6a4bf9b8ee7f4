"""The in-process kubectl says what the real one says, on a sample of the corpus and where there is a real one.

The whole corpus is ``make parity``; what it recorded is replayed everywhere by ``test_replay.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.corpus.files import FILES
from tests.parity.harness import Case, Sides, sides
from tests.parity.states import state
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
    Case("kustomize k/over"),
    Case("scale deploy/frontend --replicas=3"),
    Case("delete pods -l io.kompose.service=geo"),
    Case("get pods -n nowhere"),
    Case("get deploy nothing"),
    Case("create deployment web --image=nginx -o json --dry-run=client"),
    Case("exec deploy/mongodb-geo -- sh -c 'echo out; echo err >&2; exit 3'"),
)


@pytest.fixture(scope="module")
def both() -> Iterator[Sides]:
    if real_kubectl() is None:
        pytest.skip("no kubectl 1.32 on this machine")
    with sides(state("healthy").make(), FILES) as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line)
def test_both_say_the_same(both: Sides, case: Case) -> None:
    real, ours = both.compare(case)
    assert ours == real
