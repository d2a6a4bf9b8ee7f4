"""inspect-ai's own evaluation loop, with a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: make adapters")

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from sregym_env.adapters.inspect_ai import sregym
from tests.adapters.playing import PROBLEM, solution

SMOKE_INDEX = 2
"""Where the problem that is played stands in its suite."""


def scripted(*calls: tuple[str, dict[str, str]]) -> object:
    return model_that_says(
        [ModelOutput.for_tool_call("mockllm/model", tool, arguments) for tool, arguments in calls]
    )


def model_that_says(outputs: list[ModelOutput]) -> object:
    """A scripted model. Its usage is given: it would fetch a tokenizer from the internet to count."""
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def test_a_whole_episode(tmp_path: Path) -> None:
    diagnosis, repair = solution()
    model = scripted(
        ("submit_diagnosis", {"text": diagnosis}),
        *(("shell", {"command": line}) for line in repair),
        ("submit_mitigation", {}),
    )
    log = evaluate(
        sregym(suite="smoke", seeds=4), model=model, sample_id=[SMOKE_INDEX * 4 + 3], log_dir=str(tmp_path),
        display="none",
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    assert log.samples is not None
    sample = log.samples[0]
    assert sample.metadata["problem"].startswith(f'{{"id":"{PROBLEM}"')
    assert sample.scores is not None
    score = sample.scores["graded"]
    assert score.value == {"reward": pytest.approx(1.0), "success": 1.0}
    assert score.metadata is not None
    assert score.metadata["commands"] >= 3
    assert "oracle" in str(score.explanation)


def test_a_model_that_never_hands_in_is_settled(tmp_path: Path) -> None:
    model = model_that_says([ModelOutput.from_content("mockllm/model", "I do not know.") for _ in range(3)])
    log = evaluate(
        sregym(suite="smoke", turns=3), model=model, sample_id=[0], log_dir=str(tmp_path), display="none"
    )[0]
    assert log.status == "success", log.error
    assert log.samples is not None
    assert log.samples[0].scores is not None
    assert log.samples[0].scores["graded"].value == {"reward": 0.0, "success": 0.0}
