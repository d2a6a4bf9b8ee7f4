"""Ids are registered by importing the package, quickly, and agree with the curated problems."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import pytest

import sregym_env
from sregym_env.envs.curated import CURATED
from sregym_env.envs.registration import PAIR, SUITE, env_id, register_all


def test_the_registered_ids_are_the_curated_problems() -> None:
    from sregym_env.faults.problems import curated

    assert tuple(problem.id for problem in curated()) == CURATED
    assert all(env_id(problem) in gymnasium.registry for problem in CURATED)
    assert PAIR in gymnasium.registry
    assert SUITE in gymnasium.registry


def test_registering_twice_does_nothing() -> None:
    before = len(gymnasium.registry)
    register_all()
    assert len(gymnasium.registry) == before


def test_specs_survive_json() -> None:
    spec = gymnasium.spec(env_id(CURATED[0]))
    assert spec.to_json()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, gymnasium, sregym_env; "
        "print([m for m in ('pydantic', 'yaml', 'typer', 'sregym_env.sim') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_public_names_are_there() -> None:
    for name in sregym_env.__all__:
        assert getattr(sregym_env, name) is not None
    with pytest.raises(AttributeError):
        sregym_env.nothing  # noqa: B018
