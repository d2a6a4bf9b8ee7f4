"""What the first look at an incident does not tell: most causes have to be looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.faults.problems import Problem, curated
from sregym_env.rewards.details import Details
from sregym_env.rewards.names import plain

FIRST_LOOK = (
    "kubectl get pods -n {namespace} -o wide",
    "kubectl get events -n {namespace} --sort-by=.lastTimestamp | tail -40",
    "kubectl get deployments,services,endpoints -n {namespace}",
    "kubectl get nodes",
    "alerts",
)
"""What everybody types first."""

HIDDEN = 25
"""Curated problems, at least, whose cause that does not print."""


def _hidden() -> Iterator[Problem]:
    """Curated problems whose wrong value, or the object that holds it, no first look prints."""
    env = SREGymEnv(raise_errors=True)
    for problem in curated():
        env.reset(seed=11, options={"problem": problem.model_dump(mode="json")})
        staged = env.episode.staged
        seen = plain(
            "\n".join(env.step(line.format(namespace=staged.app.namespace))[0] for line in FIRST_LOOK)
        )
        values = [value for spec in staged.specs for value in Details(spec).values]
        # A fault of which no value tells, such as an object that is gone, counts as seen.
        if values and not any(
            re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-])", seen) for value in values
        ):
            yield problem


@pytest.mark.exhaustive
def test_the_first_look_does_not_print_the_cause() -> None:
    found = list(islice(_hidden(), HIDDEN))
    assert len(found) == HIDDEN, [problem.id for problem in found]
