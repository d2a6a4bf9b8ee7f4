"""docs/models.md is true: its code runs, its options and its prompts exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from sregym_env.llm.model import Sampling
from sregym_env.llm.settings import EndpointSettings
from sregym_env.rollouts.policies import LLMPolicy
from sregym_env.rollouts.policies.llm import PATIENCE
from sregym_env.rollouts.policies.prompts import shipped
from tests.llm.server import ScriptedServer

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_code_runs(block: str) -> None:
    with ScriptedServer("submit mitigation") as server:
        exec(compile(block.replace("http://127.0.0.1:8000/v1", server.base_url()), "models.md", "exec"), {})


def rows(heading: str) -> list[str]:
    """The first cells of the table behind a heading."""
    section = PAGE.split(f"\n{heading}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_every_option_of_the_policy_is_there() -> None:
    options = {
        name for name in inspect.signature(LLMPolicy.__init__).parameters if name not in ("self", "endpoint")
    }
    assert set(rows("## Playing with a model")) == options | {"base_url", "api"}
    assert all(f"`{name}`" in PAGE for name in Sampling.model_fields)
    assert all(f"`{name}`" in PAGE for name in shipped())


def test_every_option_of_the_endpoint_is_there() -> None:
    own = set(EndpointSettings.model_fields) - {"model", "base_url", "api"}
    assert set(rows("## The endpoint")) == own
    settings = EndpointSettings(model="m")
    for name in ("timeouts", "retry"):
        told = re.search(rf"`{name}` \| `(\{{.*?\}})`", PAGE)
        assert told is not None
        assert type(getattr(settings, name)).model_validate_json(told[1]) == getattr(settings, name)
    assert settings.concurrency == 16 and "| `concurrency` | 16 |" in PAGE
    assert PATIENCE == {"timeouts": {"read": 300.0}, "retry": {"attempts": 6, "total_seconds": 300.0}}
    assert "policy: 300" in PAGE and "policy: 6 attempts, 300 s" in PAGE
