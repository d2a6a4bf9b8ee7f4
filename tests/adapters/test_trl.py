"""TRL's own trainer on a tiny random model whose turns are scripted: its tool loop plays our environment."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed: make trl")

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

from sregym_env.adapters.trl import SREGymSpec, SREGymTools
from tests.adapters.playing import PROBLEM, SEED, solution

SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
]


def tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, and the special tokens of Qwen 3, with its chat template."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bare.train_from_iterator(
        ["kubectl get pods -A"], trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet)
    )
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    made.add_special_tokens({"additional_special_tokens": SPECIAL[1:3]})
    made.add_tokens(SPECIAL[3:])
    made.chat_template = files("trl").joinpath("chat_templates/qwen3.jinja").read_text("utf-8")
    return made


def said(tool: str, **arguments: str) -> str:
    """A turn of Qwen 3 that calls a tool."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call><|im_end|>"


def test_methods_become_schemas() -> None:
    schema = get_json_schema(SREGymTools().shell)["function"]
    assert schema["name"] == "shell"
    assert schema["parameters"]["required"] == ["command"]
    assert schema["parameters"]["properties"]["command"]["type"] == "string"


def test_the_trainer_plays_an_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnosis, repair = solution()
    turns = [
        said("shell", command="kubectl get networkpolicy -A"),
        said("submit_diagnosis", text=diagnosis),
        *(said("shell", command=line) for line in repair),
        said("submit_mitigation"),
        "Done.<|im_end|>",
    ]
    spec = SREGymSpec(suite="smoke", seeds=[SEED])
    rows = spec.train_dataset.filter(lambda row: json.loads(row["problem"])["id"] == PROBLEM)
    words = tokenizer()
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=40_000,
        )
    )  # fmt: skip
    made: list[SREGymTools] = []

    def factory() -> SREGymTools:
        made.append(spec.environment_factory())
        return made[-1]

    trainer = GRPOTrainer(
        model=model,
        processing_class=words,
        train_dataset=rows,
        environment_factory=factory,
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, num_generations=2,
            max_completion_length=30_000, report_to=[], use_cpu=True, bf16=False, logging_steps=1,
            max_tool_calling_iterations=len(turns), save_strategy="no",
        ),
    )  # fmt: skip
    asked = 0

    def scripted(prompt_ids: list[list[int]], *_: Any, **__: Any) -> tuple[list[list[int]], None]:
        nonlocal asked
        ids = words(turns[min(asked, len(turns) - 1)], add_special_tokens=False)["input_ids"]
        asked += 1
        return [list(ids) for _ in prompt_ids], None

    monkeypatch.setattr(trainer, "_generate_single_turn", scripted)
    trainer.train()
    logged = next(entry for entry in trainer.state.log_history if "reward" in entry)
    assert logged["reward"] == pytest.approx(1.0)
    assert logged["tools/failure_frequency"] == 0.0
    assert logged["tools/call_frequency"] == len(turns) - 1
    assert len(made) == 2
