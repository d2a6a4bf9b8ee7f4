"""A regular expression that backtracks takes the CPU of the proxy that evaluates it; all that waits waits for that."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env import apps
from sregym_env.cluster import apply
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.edge_request_filter_cpu_saturation import CHEAP, KINDS, LONG, OTHERS
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import backtracking, envoy_config, request_filter
from sregym_env.tools.workstation import Workstation

SHOP = "astronomy-shop"
NAME = "edge_request_filter_cpu_saturation"


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _suffering(world: EmbeddedWorld) -> set[str]:
    return {
        each.journey
        for each in world.traffic.health(60.0)
        if each.success_ratio < 0.99 or each.latency_seconds > 1.0
    }


@pytest.fixture(scope="module")
def filtering() -> tuple[EmbeddedWorld, FaultInstance]:
    world = deployed_world(apps.app(SHOP)).fork()
    instance = declaration(NAME).bind(Inventory.of(world))
    for edit in instance.fault.earlier:
        apply.apply(world, edit)
    world.advance(120.0)
    return world, instance


@pytest.fixture(scope="module")
def burning(filtering: tuple[EmbeddedWorld, FaultInstance]) -> tuple[EmbeddedWorld, FaultInstance]:
    world, instance = filtering[0].fork(), filtering[1]
    for edit in (*instance.fault.edits, *instance.fault.trigger):
        apply.apply(world, edit)
    world.advance(300.0)
    return world, instance


def test_a_filter_of_plain_rules_harms_nobody_and_refuses(
    filtering: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = filtering[0].fork(), filtering[1]
    assert not _suffering(world)
    assert all(each.passed for each in instance.cured(world))
    ask = f"kubectl exec -n {SHOP} deploy/valkey-cart -- wget -O- http://frontend-proxy:8080"
    assert "403 Forbidden" in _typed(world, f"{ask}/wp-login.php")
    assert "403" not in _typed(world, f"{ask}/api/cart")


def test_a_pattern_that_backtracks_takes_the_proxy_and_everybody_waits(
    burning: tuple[EmbeddedWorld, FaultInstance],
) -> None:
    world, instance = burning[0].fork(), burning[1]
    assert _suffering(world) == {each.name for each in apps.app(SHOP).journeys}
    assert not all(each.passed for each in instance.cured(world))
    logs = _typed(world, f"kubectl logs deploy/frontend-proxy -n {SHOP} --tail=20")
    assert "rule 920450: 10000000 steps, match limit exceeded" in logs
    assert "1/1" in _typed(world, f"kubectl get pods -n {SHOP} | grep frontend-proxy")
    limit = int(re.findall(r"limit of (\d+)m", instance.fault.cause)[0])
    used = int(re.findall(r" (\d+)m ", _typed(world, f"kubectl top pods -n {SHOP} | grep frontend-proxy"))[0])
    assert 0.9 * limit <= used <= limit


def test_more_cpu_serves_the_users_and_is_no_cure(burning: tuple[EmbeddedWorld, FaultInstance]) -> None:
    world, instance = burning[0].fork(), burning[1]
    _typed(world, f"kubectl set resources deploy/frontend-proxy -n {SHOP} --limits=cpu=2")
    world.advance(240.0)
    assert not _suffering(world)
    assert not all(each.passed for each in instance.cured(world))


@pytest.mark.parametrize("remedy", [0, 1])
def test_another_pattern_is_one(burning: tuple[EmbeddedWorld, FaultInstance], remedy: int) -> None:
    world, instance = burning[0].fork(), burning[1]
    for line in instance.fault.remedies[remedy]:
        _typed(world, line)
    world.advance(120.0)
    assert all(each.passed for each in instance.cured(world))
    assert not _suffering(world)


def test_expressions_are_what_they_are_said_to_be() -> None:
    paths = [each.path for each in apps.app(SHOP).journeys]
    for kind in KINDS.values():
        for pattern in (*kind.good, *kind.bad):
            rules = (request_filter.Rule("x", pattern),)
            assert all(request_filter.outcome(rules, path).denied for path in kind.probes)
            assert not any(request_filter.outcome(rules, path).denied for path in paths)
            slow = max(request_filter.outcome(rules, path).seconds for path in paths)
            assert (slow > 0.1) == (pattern in kind.bad)
            assert (request_filter.outcome(rules, LONG).seconds > CHEAP) == (pattern in kind.bad)
    for pattern, probes in OTHERS:
        rules = (request_filter.Rule("x", pattern),)
        assert all(request_filter.outcome(rules, path).denied for path in probes)
        assert max(request_filter.outcome(rules, path).seconds for path in (*paths, LONG)) < CHEAP


_ATOMS = st.sampled_from(("a", "b", ".", "[ab]", "[^b-c]", r"\w", r"\d", r"\b", "(?:a|b)", "^", "$"))
_TIMES = st.sampled_from(("", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"))


@given(st.lists(st.tuples(_ATOMS, _TIMES), max_size=5), st.text("abc1-", max_size=8))
def test_it_matches_what_python_matches(parts: list[tuple[str, str]], text: str) -> None:
    pattern = "".join(atom + (times if atom not in ("^", "$", r"\b") else "") for atom, times in parts)
    assert backtracking.attempt(pattern, text).matches == (re.search(pattern, text, re.ASCII) is not None)


def test_the_steps_of_nested_loops_double_with_every_character() -> None:
    steps = [backtracking.attempt("^(a+)+b$", "a" * count).steps for count in range(4, 16)]
    assert all(1.8 < later / earlier < 2.2 for earlier, later in pairwise(steps))
    assert backtracking.attempt("^(a+)+b$", "a" * 60).steps == backtracking.LIMIT


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[a", "a{2,1}", "*a", "(?=a)", "\\", "a{999}", "(" * 60 + "a" + ")" * 60, "a" * 5000, "(a{60}){60}",
     "[b-a]", "\\1", "(?P<n>a)"],
)  # fmt: skip
def test_what_is_no_expression_is_told(pattern: str) -> None:
    with pytest.raises(backtracking.PatternError):
        backtracking.attempt(pattern, "a")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"rules": 3}', '{"rules": [1]}', '{"rules": [{"id": 1}]}', "[" * 5000,
     '{"rules": [{"id": "1", "pattern": "(("}]}',
     '{"rules": [' + ",".join(['{"id": "1", "pattern": "a"}'] * 100) + "]}"],
)  # fmt: skip
def test_a_configuration_that_the_module_does_not_take_keeps_envoy_from_starting(text: str) -> None:
    filters = [{"name": request_filter.KIND, "typed_config": {"config": {"configuration": {"value": text}}}}]
    with pytest.raises(request_filter.FilterError):
        request_filter.rules_of(filters)


def test_broken_filters_are_told_by_envoy(filtering: tuple[EmbeddedWorld, FaultInstance]) -> None:
    text = filtering[1].fault.earlier[0].manifest["data"]["envoy.tmpl.yaml"]  # type: ignore[union-attr]
    env = {
        "ENVOY_ADDR": "0.0.0.0",
        "ENVOY_PORT": "8080",
        "ENVOY_ADMIN_ADDR": "0.0.0.0",
        "ENVOY_ADMIN_PORT": "10000",
    }
    hosts = {name: "x" for name in re.findall(r"\$\{(\w+)\}", text) if "HOST" in name}
    ports = {name: "1" for name in re.findall(r"\$\{(\w+)\}", text) if "PORT" in name}
    assert len(envoy_config.parsed(envoy_config.filled(text, {**hosts, **ports, **env})).denied) == 5
    with pytest.raises(envoy_config.ConfigError, match="PCRE2 compile error"):
        envoy_config.parsed(envoy_config.filled(text.replace("wp-(?:", "wp-((?:"), {**hosts, **ports, **env}))
