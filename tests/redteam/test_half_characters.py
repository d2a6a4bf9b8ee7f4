"""Halves of surrogate pairs, however an agent makes them, end neither the episode nor anybody's view of the cluster."""

from __future__ import annotations

import pytest

from sregym_env import SREGymEnv

LINES = [
    "jq -n '[55296] | implode'",
    "jq -rn '\"\\ud800\"'",
    "echo $'\\ud800'",
    "awk 'BEGIN { printf \"%c\", 55296 }'",
    "x=$(awk 'BEGIN { printf \"%c\", 56500 }'); echo $x > f; cat f; grep $x f; kubectl get pods -l $x; curl http://$x/",
    "kubectl create cm a -n hotel-reservation --from-literal=a=$(printf '\\xff')",
    "awk 'BEGIN { printf \"%c\", 56500 }' > g; kubectl create cm a -n hotel-reservation --from-file=g",
    "kubectl annotate deploy frontend -n hotel-reservation a=$'\\xff'",
    'kubectl patch deploy frontend -n hotel-reservation -p \'{"metadata": {"annotations": {"a": "\\ud800"}}}\'',
]


@pytest.mark.parametrize("line", LINES)
def test_the_episode_goes_on(line: str) -> None:
    env = SREGymEnv("wrong_bin_usage", raise_errors=True)
    env.reset(seed=1)
    env.step(line)[0].encode()
    seen = env.step("kubectl get cm,deploy -n hotel-reservation -o json")[0]
    assert seen.startswith("{")
    env.step("submit diagnosis x")
    assert env.step("submit mitigation")[2]
