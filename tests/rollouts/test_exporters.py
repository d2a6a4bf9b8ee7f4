"""Exported files are what their readers expect, checked against the readers' own types where those are light."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Call, Function, Message
from sregym_env.rollouts.dataset.exporters import FORMATS, Settings, atif, export, format_named, openai_chat
from sregym_env.rollouts.dataset.exporters.conversation import conversation
from sregym_env.rollouts.dataset.exporters.exporter import Losses
from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.manifest import About
from sregym_env.rollouts.dataset.reader import Dataset, open_dataset
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.tools.call import CommandLine
from sregym_env.tools.parse import parse
from tests.rollouts.played import BOTH, TRAINED, calls, expert, said, talked, typed

CALLS = Settings(text_calls=True)


@pytest.fixture(name="dataset", scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Four episodes to be tested on, of which three began in one state, one to train on and one of neither."""
    folder = tmp_path_factory.mktemp("dataset")
    writer = DatasetWriter(folder, About())
    writer.add(0, [expert(), talked(), typed()])
    writer.add(1, [expert(TRAINED, index=1)])
    writer.add(2, [said("submit mitigation", problem=BOTH, index=2)])
    writer.add(3, [said("ls", index=3)])
    writer.finish()
    return open_dataset(folder)


def rows(
    dataset: Dataset, out: Path, format: str, split: str = "test", **settings: Any
) -> list[dict[str, Any]]:
    (exported,) = export(dataset, out, format, splits=[split], settings=Settings(**settings))
    found = [json.loads(line) for line in exported.path.read_text().splitlines()]
    assert len(found) == exported.rows
    return found


def documents(dataset: Dataset, out: Path, format: str, split: str = "test", **settings: Any) -> list[Path]:
    (exported,) = export(dataset, out, format, splits=[split], settings=Settings(**settings))
    found = {path.stem: path for path in exported.path.iterdir()}
    assert len(found) == exported.rows
    return [found[record.rollout_id] for record in dataset.episodes(split)]


def plain(message: Message) -> tuple[str, list[dict[str, Any]]]:
    """What the agent said, without the ids of calls."""
    return message.content, [{"name": c.function.name, **c.function.arguments} for c in message.tool_calls]


def turns(messages: Iterable[Message]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [plain(message) for message in messages if message.role == "assistant"]


# --- splits and reports ---------------------------------------------------------------------------


def test_splits_are_written_apart_and_mixed_ones_only_on_demand(dataset: Dataset, tmp_path: Path) -> None:
    exported = export(dataset, tmp_path, "openai")
    assert [(each.split, each.path.name, each.rows) for each in exported] == [
        ("train", "openai-train.jsonl", 1),
        ("test", "openai-test.jsonl", 4),
    ]
    (mixed,) = export(dataset, tmp_path, "openai", splits=["mixed"])
    assert mixed.rows == 1
    report = json.loads((tmp_path / "openai-test.report.json").read_text())
    assert report == exported[1].to_dict()


def test_filters_reach_every_format(dataset: Dataset, tmp_path: Path) -> None:
    for name in FORMATS:
        wanted = Filter(policies=("expert",))
        exported = {each.split: each.rows for each in export(dataset, tmp_path / name, name, filter=wanted)}
        # One episode alone makes no pair.
        alone = 0 if name == "trl-preference" else 1
        assert exported == {"train": alone, "test": alone}, name


def test_an_export_of_nothing_is_refused_and_leaves_the_earlier_one(dataset: Dataset, tmp_path: Path) -> None:
    export(dataset, tmp_path, "trl")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        UsageError, match=r"no episode of .* is wanted \(policies=\['exprt'\]\); nothing is written"
    ):
        export(dataset, tmp_path, "trl", filter=Filter(policies=("exprt",)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(UsageError, match="no exit reason 'submited'; there are submitted"):
        Filter(exit_reasons=("submited",))


def test_an_export_replaces_its_predecessor_and_nothing_else(dataset: Dataset, tmp_path: Path) -> None:
    documents(dataset, tmp_path, "atif")
    (exported,) = export(dataset, tmp_path, "atif", splits=["test"], filter=Filter(policies=("expert",)))
    assert [path.stem for path in exported.path.iterdir()] == [expert().record.rollout_id]
    (tmp_path / "sessions-test").mkdir()
    with pytest.raises(UsageError, match="is no export"):
        export(dataset, tmp_path, "sessions", splits=["test"])


def test_losses_are_counted(dataset: Dataset, tmp_path: Path) -> None:
    steps = sum(len(record.steps) for record in dataset.episodes("test"))
    (exported,) = export(dataset, tmp_path, "openai", splits=["test"])
    assert exported.losses == {
        "rewards and measurements of steps": steps,
        "outcomes of episodes": 4,
        "observations after the last turn": 4,
        "token ids of turns": 6,
        "reasoning of turns, which the format has no place for": 1,
        "ids of calls that were empty or taken, renamed": 5,
    }
    (exported,) = export(dataset, tmp_path, "atif", splits=["test"])
    assert exported.losses == {"ids of calls that were empty or taken, renamed": 5}
    with pytest.raises(UsageError, match="no format 'csv'"):
        format_named("csv")


# --- from text to calls ---------------------------------------------------------------------------


def test_text_becomes_calls_with_an_answer_each() -> None:
    losses = Losses()
    messages = conversation(typed().record, CALLS, losses)
    assert turns(messages) == [
        ("", [{"name": "shell", "command": "kubectl get pods -n hotel-reservation"}]),
        ("", [{"name": "shell", "command": "kubectl logs deploy/frontend -n hotel-reservation --tail 2"}]),
        (
            "I look at two things:\n\nand",
            [
                {"name": "shell", "command": "alerts"},
                {"name": "shell", "command": "kubectl get svc -n hotel-reservation"},
            ],
        ),
        ("", [{"name": "wait", "seconds": 5}]),
        ("", []),
        (
            "",
            [
                {
                    "name": "submit_diagnosis",
                    "text": "the pods of recommendation are isolated by a NetworkPolicy",
                }
            ],
        ),
        ("", [{"name": "submit_mitigation"}]),
    ]
    assert losses.counts == {"turns of text that are no action, kept as text": 1}
    assert [m.reasoning_content for m in messages if m.reasoning_content] == ["Perhaps the logs."]
    answers = [message.content for message in messages if message.tool_call_id == "call_2_1"]
    assert answers == [typed().record.observation(typed().record.steps[2]).split("\n[2/2]\n")[1]]
    unanswered = {c.id for m in messages for c in m.tool_calls} ^ {
        m.tool_call_id for m in messages if m.role == "tool"
    }
    assert not unanswered


def test_converted_calls_do_what_the_text_did() -> None:
    """Played again as calls, every answer is the same."""
    record = typed().record
    said_again = [m for m in conversation(record, CALLS, Losses()) if m.role == "assistant"]
    again = said(*[message.action for message in said_again]).record
    assert [again.observation(step) for step in again.steps] == [
        record.observation(step) for step in record.steps
    ]
    assert again.success == record.success
    assert again.return_ == record.return_


@pytest.mark.parametrize("line", ["kubectl get pods", "echo 'a' > b; cat b", 'submit diagnosis "it\'s dns"'])
def test_a_call_of_the_shell_is_the_line_itself(line: str) -> None:
    message = Message(
        role="assistant",
        tool_calls=(Call(id="c", function=Function(name="shell", arguments={"command": line})),),
    )
    (action,) = parse(message.action)
    assert action == CommandLine(line, "shell")


# --- OpenAI ---------------------------------------------------------------------------------------


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CalledFunction(Closed):
    name: str
    arguments: str


class ToolCall(Closed):
    id: str
    type: Literal["function"]
    function: CalledFunction


class System(Closed):
    role: Literal["system", "developer"]
    content: str


class User(Closed):
    role: Literal["user"]
    content: str


class Tool(Closed):
    role: Literal["tool"]
    content: str
    tool_call_id: str


class Assistant(Closed):
    role: Literal["assistant"]
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    weight: Literal[0, 1] | None = None


class ToolFunction(Closed):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ToolSchema(Closed):
    type: Literal["function"]
    function: ToolFunction


class Example(Closed):
    """A line of a chat fine-tuning file, as OpenAI's specification (FineTuneChatRequestInput) has it."""

    messages: list[System | User | Tool | Assistant]
    tools: list[ToolSchema] | None = None
    parallel_tool_calls: bool | None = None


def check_openai(example: dict[str, Any]) -> None:
    """The specification's schema, and what it says in words: every call is answered, the assistant speaks last."""
    Example.model_validate(example)
    open_calls: list[str] = []
    for message in example["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            continue
        assert not open_calls
        for called in message.get("tool_calls", ()):
            assert isinstance(json.loads(called["function"]["arguments"]), dict)
            open_calls.append(called["id"])
        assert message["role"] != "assistant" or message.get("content") is not None or open_calls
    assert message["role"] == "assistant"
    identifiers = [c["id"] for m in example["messages"] for c in m.get("tool_calls", ())]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize(
    "settings", [Settings(), CALLS, Settings(thoughts="drop"), Settings(mask_errors=True)]
)
def test_openai_examples_obey_the_specification(dataset: Dataset, tmp_path: Path, settings: Settings) -> None:
    (exported,) = export(dataset, tmp_path, "openai", splits=["test"], settings=settings)
    for line in exported.path.read_text().splitlines():
        check_openai(json.loads(line))


@pytest.mark.parametrize(
    ("format", "settings", "said"),
    [
        ("trl", Settings(mask_errors=True), "format trl does not heed mask_errors (--mask-errors); it takes text_calls (--"),
        ("openai", Settings(margin=0.2, pairs="all"), "does not heed margin (--margin), pairs (--pairs); it takes"),
        ("tasks", Settings(minari_id="a/b-v0"), "format tasks does not heed minari_id (--minari-id); it takes no settings"),
        ("minari", CALLS, "format minari does not heed text_calls (--text-calls); it takes minari_id (--minari-id)"),
    ],
)  # fmt: skip
def test_settings_of_another_format_are_refused(
    dataset: Dataset, tmp_path: Path, format: str, settings: Settings, said: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        export(dataset, tmp_path / "out", format, settings=settings)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pairs": "bset"}, "pairs is 'best' or 'all', not 'bset'"),
        ({"thoughts": "none"}, "thoughts is 'keep' or 'drop', not 'none'"),
        ({"atif_version": 1.8}, "atif_version is '1.7' or '1.8', not 1.8"),
        ({"margin": float("nan")}, "margin must be a number from 0 on, not nan"),
    ],
)
def test_settings_that_there_are_not_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Settings(**settings)


def test_openai_examples_are_parameters_of_the_sdk(dataset: Dataset, tmp_path: Path) -> None:
    chat = pytest.importorskip("openai.types.chat")
    messages = TypeAdapter(list[chat.ChatCompletionMessageParam])
    tools = TypeAdapter(list[chat.ChatCompletionFunctionToolParam])
    for example in rows(dataset, tmp_path, "openai", text_calls=True):
        for message in example["messages"]:
            message.pop("weight", None)
        messages.validate_python(example["messages"], strict=True)
        tools.validate_python(example["tools"])


def test_openai_examples_read_back_to_the_actions(dataset: Dataset, tmp_path: Path) -> None:
    for record, example in zip(dataset.episodes("test"), rows(dataset, tmp_path, "openai"), strict=True):
        read = openai_chat.messages_of(example)
        assert turns(read) == turns(record.messages)
        spoken = [message for message in read if message.role == "assistant"]
        for message, action in zip(spoken, record.actions, strict=True):
            assert parse(message.action) == parse(action)


def test_openai_weights_leave_out_what_was_not_understood(dataset: Dataset, tmp_path: Path) -> None:
    examples = rows(dataset, tmp_path, "openai", mask_errors=True)
    weighed = [message["weight"] for message in examples[1]["messages"] if message["role"] == "assistant"]
    assert weighed == [1, 1, 1, 0, *weighed[4:]]
    assert weighed == [
        0 if step.error_type in ("parse_error", "unknown_tool") else 1 for step in talked().record.steps
    ]
    assert examples[1]["parallel_tool_calls"] is True
    assert "weight" not in rows(dataset, tmp_path, "openai")[1]["messages"][1]


def test_thoughts_can_be_dropped(dataset: Dataset, tmp_path: Path) -> None:
    kept = rows(dataset, tmp_path, "openai")[1]["messages"]
    dropped = rows(dataset, tmp_path, "openai", thoughts="drop")[1]["messages"]
    assert kept[1]["content"] == "First a look."
    assert "content" not in dropped[1]
    assert dropped[-1] == kept[-1]


# --- TRL ------------------------------------------------------------------------------------------


def check_trl(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        assert set(message) <= {"role", "content", "tool_calls", "name", "tool_call_id", "reasoning_content"}
        assert isinstance(message["content"], str)
        for called in message.get("tool_calls", ()):
            assert isinstance(called["function"]["arguments"], dict)
        if message["role"] == "tool":
            assert message["name"]


def test_trl_rows_are_conversations_with_objects(dataset: Dataset, tmp_path: Path) -> None:
    for record, row in zip(dataset.episodes("test"), rows(dataset, tmp_path, "trl"), strict=True):
        assert set(row) == {"messages", "tools"}
        check_trl(row["messages"])
        assert row["tools"] == list(record.tools)
        assert row["messages"][-1]["role"] == "assistant"
    thought = [
        m["reasoning_content"]
        for m in rows(dataset, tmp_path, "trl")[1]["messages"]
        if "reasoning_content" in m
    ]
    assert thought == ["Two at once."]


def test_preferences_pair_members_of_one_state(dataset: Dataset, tmp_path: Path) -> None:
    (pair,) = rows(dataset, tmp_path, "trl-preference")
    members = [expert().record, talked().record, typed().record]
    assert pair["chosen_return"] == max(record.return_ or 0 for record in members)
    assert pair["rejected_return"] == min(record.return_ or 0 for record in members)
    assert [message["role"] for message in pair["prompt"]] == ["user"]
    assert pair["prompt"][0]["content"] == expert().record.messages[0].content
    for side in ("chosen", "rejected"):
        check_trl(pair[side])
        assert pair[side][0]["role"] == pair[side][-1]["role"] == "assistant"
    ranked = sorted(record.return_ or 0 for record in members)
    wide = [1 for i, low in enumerate(ranked) for high in ranked[i + 1 :] if high - low >= 0.2]
    assert len(rows(dataset, tmp_path, "trl-preference", pairs="all", margin=0.2)) == len(wide)
    assert rows(dataset, tmp_path, "trl-preference", margin=2.0) == []


def test_preferences_share_what_both_did(tmp_path: Path) -> None:
    same = (calls(("kubectl", {"command": "get pods -A"})), calls(("alerts", {})))
    good = calls(("submit_diagnosis", {"text": expert().record.diagnosis}))
    poor = calls(("submit_diagnosis", {"text": "It is DNS."}))
    writer = DatasetWriter(tmp_path / "ds", About())
    writer.add(0, [said(*same, *end, stage="diagnosis", sample=n) for n, end in enumerate(([poor], [good]))])
    writer.finish()
    (pair,) = rows(open_dataset(tmp_path / "ds"), tmp_path, "trl-preference")
    assert [message["role"] for message in pair["prompt"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert [len(pair[side]) for side in ("chosen", "rejected")] == [1, 1]
    assert pair["rejected"][0]["tool_calls"][0]["function"]["arguments"] == {"text": "It is DNS."}


def test_tasks_hold_what_a_reset_needs(dataset: Dataset, tmp_path: Path) -> None:
    (row,) = rows(dataset, tmp_path, "tasks")
    assert json.loads(row["problem"]) == expert().labels.problem
    assert json.loads(row["config"]) == expert().record.config
    assert row["seed"] == expert().record.seed
    assert row["prompt"] == [{"role": "user", "content": expert().record.messages[0].content}]
    assert FORMATS["tasks"].privileged


# --- ShareGPT -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"text_calls": True}, {"thoughts": "drop"}])
def test_sharegpt_alternates_and_calls_one_at_a_time(
    dataset: Dataset, tmp_path: Path, settings: dict[str, Any]
) -> None:
    for row in rows(dataset, tmp_path, "sharegpt", **settings):
        sides = [turn["from"] for turn in row["conversations"]]
        assert all(side in ("human", "observation") for side in sides[0::2])
        assert all(side in ("gpt", "function_call") for side in sides[1::2])
        assert len(sides) % 2 == 0
        assert all(tool["name"] for tool in json.loads(row["tools"]))
        for turn in row["conversations"]:
            if turn["from"] == "function_call":
                thought, _, said_call = turn["value"].rpartition("\n</think>\n\n")
                assert not thought or (thought.startswith("<think>\n") and "thoughts" not in settings)
                assert set(json.loads(said_call)) == {"name", "arguments"}


def test_sharegpt_tells_llama_factory_of_its_files(dataset: Dataset, tmp_path: Path) -> None:
    export(dataset, tmp_path, "sharegpt")
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    assert set(info) == {"sharegpt-train", "sharegpt-test"}
    for name, entry in info.items():
        assert entry["formatting"] == "sharegpt"
        row = json.loads((tmp_path / entry["file_name"]).read_text().splitlines()[0])
        assert set(entry["columns"].values()) == set(row)
        assert entry["file_name"] == f"{name}.jsonl"


def test_sharegpt_tells_calls_made_at_once_one_after_the_other(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "ds", About())
    opening = [Message(role="system", content="Be brief."), Message(role="user", content="Hello.")]
    writer.add(
        0,
        [
            said(
                calls(("alerts", {}), ("wait", {"seconds": 1}), thought="Both."),
                "submit mitigation",
                opening=opening,
            )
        ],
    )
    writer.finish()
    (row,) = rows(open_dataset(tmp_path / "ds"), tmp_path, "sharegpt")
    assert row["system"] == "Be brief."
    assert row["conversations"][0]["value"].startswith("Hello.\n\n")
    assert [turn["value"] for turn in row["conversations"][1:4:2]] == [
        '<think>\nBoth.\n</think>\n\n{"name": "alerts", "arguments": {}}',
        '{"name": "wait", "arguments": {"seconds": 1}}',
    ]


# --- ATIF -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.7", "1.8"])
@pytest.mark.parametrize("text_calls", [False, True])
def test_trajectories_are_valid_atif(
    dataset: Dataset, tmp_path: Path, version: Literal["1.7", "1.8"], text_calls: bool
) -> None:
    models = pytest.importorskip("atif")
    for split in dataset.splits:
        for path in documents(dataset, tmp_path, "atif", split, atif_version=version, text_calls=text_calls):
            document = json.loads(path.read_text())
            read = models.Trajectory.model_validate(document)
            assert read.schema_version == f"ATIF-v{version}"
            assert read.to_json_dict() == document


def test_trajectories_keep_actions_rewards_and_outcome(dataset: Dataset, tmp_path: Path) -> None:
    for record, path in zip(dataset.episodes("test"), documents(dataset, tmp_path, "atif"), strict=True):
        document = json.loads(path.read_text())
        for action, recorded in zip(atif.actions_of(document), record.actions, strict=True):
            assert parse(action) == parse(recorded)
        agent = [step for step in document["steps"] if step["source"] == "agent"]
        assert [step["extra"]["reward"] for step in agent] == [step.reward for step in record.steps]
        assert [step["extra"]["state_digest"] for step in agent] == [
            step.state_digest for step in record.steps
        ]
        told = ["\n".join(r["content"] for r in step["observation"]["results"]) for step in agent]
        spans = [record.messages[s.message_span[0] + 1 : s.message_span[1] + 1] for s in record.steps]
        assert told == ["\n".join(message.content for message in span) for span in spans]
        assert document["final_metrics"]["extra"].get("return") == record.return_
        assert document["extra"]["sregym_env"]["seed"] == record.seed


def test_a_model_s_turns_keep_their_tokens(dataset: Dataset, tmp_path: Path) -> None:
    document = json.loads(documents(dataset, tmp_path, "atif")[1].read_text())
    first = document["steps"][1]
    assert first["metrics"]["prompt_token_ids"] == [1, 2]
    assert first["metrics"]["logprobs"] == [-0.5]
    assert first["llm_call_count"] == 1
    assert document["agent"]["model_name"] == "talker-1"
    assert document["final_metrics"]["total_prompt_tokens"] == 12
    assert document["steps"][2]["reasoning_content"] == "Two at once."


def test_an_exported_episode_can_be_replayed_from_its_trajectory(dataset: Dataset, tmp_path: Path) -> None:
    """Actions that were read back lead to the same rewards."""
    record, path = next(
        zip(dataset.episodes("train"), documents(dataset, tmp_path, "atif", "train"), strict=True)
    )
    again = said(*atif.actions_of(json.loads(path.read_text())), problem=TRAINED, seed=record.seed).record
    assert (again.return_, again.final_digest) == (record.return_, record.final_digest)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_where_a_relative_path_leads(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "minari":
        pytest.importorskip("minari")
    monkeypatch.chdir(tmp_path)
    exported = export(dataset, Path("out"), name, splits=["test"])
    assert all((tmp_path / each.path).exists() for each in exported)


# --- sessions, Minari -----------------------------------------------------------------------------


def test_sessions_are_a_header_and_messages(dataset: Dataset, tmp_path: Path) -> None:
    for record, path in zip(dataset.episodes("test"), documents(dataset, tmp_path, "sessions"), strict=True):
        header, *lines = map(json.loads, path.read_text().splitlines())
        assert (header["type"], header["harness"], header["id"]) == (
            "session",
            "sregym_env",
            record.rollout_id,
        )
        assert len(lines) == len(record.messages)
        open_calls: set[str] = set()
        for line in lines:
            message = line["message"]
            assert line["type"] == "message"
            assert set(message) <= {"role", "content", "reasoningContent", "toolCalls", "toolCallId", "model"}
            assert message["role"] in get_args(Literal["user", "assistant", "system", "tool"])
            open_calls |= {each["id"] for each in message.get("toolCalls", ())}
            assert message.get("toolCallId") is None or message["toolCallId"] in open_calls


def test_minari_reads_observations_actions_and_rewards(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari = pytest.importorskip("minari")
    (exported,) = export(
        dataset, tmp_path, "minari", splits=["test"], settings=Settings(minari_id="sregym/tests/all-v1")
    )
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(exported.path))
    read = minari.load_dataset("sregym/tests/all-v1")
    records = [record for record in dataset.episodes("test") if record.return_ is not None]
    assert exported.rows == read.total_episodes == len(records)
    assert exported.losses["episodes without a return or a step"] == 1
    assert read.total_steps == sum(len(record.steps) for record in records)
    for record, episode in zip(records, read.iterate_episodes(), strict=True):
        assert list(episode.observations) == [
            record.messages[0].content,
            *(record.observation(step) for step in record.steps),
        ]
        assert list(episode.actions) == [action or " " for action in record.actions]
        assert list(episode.rewards) == [step.reward for step in record.steps]
        assert episode.terminations[-1] or episode.truncations[-1]
    assert read.observation_space.max_length >= max(len(text) for text in episode.observations)
