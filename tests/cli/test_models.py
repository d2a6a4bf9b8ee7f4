"""A model that acts and one that judges, from the command line to the files: what they did is there, no key is.

One server plays both, in every wire format, and misbehaves. Keys lie in the environment, in headers, in what the server
says of its errors, and in what the model says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from typer.testing import CliRunner

from sregym_env.cli.main import app
from sregym_env.rewards.checklist import checklist
from sregym_env.rollouts.dataset.reader import open_dataset
from tests.adapters.playing import PROBLEM, SEED, solution
from tests.llm.server import ScriptedServer, Trouble
from tests.llm.wires import Heard, Said

KEYS = {
    "SREGYM_API_KEY": "sk-acting0000000000000000000000000000000001",
    "SREGYM_JUDGE_API_KEY": "sk-judging000000000000000000000000000000002",
    "MY_HEADER": "hf_headers00000000000000000000000000000003",
}
SAID = "ghp_spoken000000000000000000000000000004"
"""A key that the model itself says, as if it had found it."""

TROUBLES = (
    Trouble(status=429, headers={"Retry-After": "0"}),
    Trouble(status=500),
    Trouble(truncated=True),
    Trouble(hang_up=True),
    Trouble(streamed=True),
)
"""After each of which it goes on."""


def in_words() -> str:
    """The declared diagnosis without the form that only the declaration has."""
    return solution()[0].partition("||")[2].strip()


def brain(heard: Heard) -> Said:
    """Judges where it is asked the nine questions, and else plays the declared solution."""
    if "BEGIN DIAGNOSIS" in heard.last:
        quote = in_words()[:60]
        items = [{"id": each.id, "evidence": quote, "answer": "yes"} for each in checklist().questions]
        return Said(json.dumps({"items": items}))
    diagnosis, repair = in_words(), solution()[1]
    moves: list[tuple[str, dict[str, Any] | str]] = [
        ("shell", {"command": f"echo {SAID}; kubectl get pods -A"}),
        ("submit_diagnosis", {"text": diagnosis}),
        *(("shell", {"command": line}) for line in repair),
        ("submit_mitigation", {}),
    ]
    return Said(f"My key is {SAID}.", calls=(moves[min(heard.turns, len(moves) - 1)],))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with ScriptedServer(brain, echoes_headers=True) as made:
        yield made


def run(server: ScriptedServer, api: str, *more: str) -> Any:
    judge = {
        "model": "grader",
        "api": api,
        "base_url": server.base_url(api),
        "retry": {"first_seconds": 0.001},
    }
    words = [
        "run", PROBLEM, "--seed", str(SEED), "--policy", "llm", "--model", "player", "--api", api,
        "--base-url", server.base_url(api),
        "--option", 'retry={"first_seconds": 0.001, "attempts": 9}', "--option", 'headers_env={"x-team": "MY_HEADER"}',
        "--env", f"judge={json.dumps(judge)}", "--json", *more,
    ]  # fmt: skip
    return CliRunner().invoke(app, words)


def everything(folder: Path) -> str:
    """All that the files of a folder say."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            whole = (
                zstandard.ZstdDecompressor().decompressobj().decompress(data)
                if path.suffix == ".zst"
                else data
            )
            texts.append(whole.decode("utf-8", "replace"))
    return "\n".join(texts)


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_a_model_plays_a_model_judges_and_no_key_is_told(
    api: str, server: ScriptedServer, tmp_path: Path
) -> None:
    server.misbehave(*TROUBLES)
    out = tmp_path / "run"
    done = run(server, api, "--out", str(out))
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["success"] is True, record["failure"]
    assert record["grade"]["judge"] == "llm-1"
    assert record["policy"]["model"] == "player"
    assert record["usage"]["requests"] > len(record["steps"]), "some were repeated"
    assert record["judge_usage"]["prompt_tokens"] > 0
    assert {heard.body["model"] for heard in server.heard} == {"player", "grader"}
    sent = json.dumps([heard.headers for heard in server.heard])
    assert all(key in sent for key in KEYS.values()), "the keys were used"
    page = tmp_path / "report.html"
    assert CliRunner().invoke(app, ["report", str(out), "--out", str(page)]).exit_code == 0
    assert CliRunner().invoke(app, ["dataset", "validate", str(out)]).exit_code == 0
    told = everything(out) + page.read_text() + done.output
    for key in KEYS.values():
        assert key not in told
    assert SAID not in everything(out) + page.read_text()
    assert len(list(open_dataset(out).episodes())) == 1


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(Trouble(status=401), "rejected"), (Trouble(body=b"{not json"), "malformed")],
    ids=["refused", "malformed"],
)
def test_a_player_that_cannot_be_asked_is_no_zero(
    trouble: Trouble, reason: str, server: ScriptedServer, tmp_path: Path
) -> None:
    server.misbehave(*[trouble] * 9)
    record = voided(server, tmp_path / "run")
    assert (record["failure"]["kind"], record["failure"]["reason"]) == ("world", reason)


def test_a_judge_that_gives_no_answer_is_no_zero(server: ScriptedServer, tmp_path: Path) -> None:
    server.brain = lambda heard: Said("Yes.") if heard.body["model"] == "grader" else brain(heard)
    record = voided(server, tmp_path / "run")
    assert record["failure"]["kind"] == "judge"
    assert record["oracle"]["passed"] is True, "the repair was judged all the same"


def voided(server: ScriptedServer, out: Path) -> Any:
    """The record of an episode that has no outcome; no key is in it."""
    done = run(server, "chat", "--out", str(out))
    assert done.exit_code == 1, done.output
    record = json.loads(done.stdout)
    assert record["return"] is None
    assert record["trainable"] is False
    told = everything(out) + done.output
    assert not [key for key in KEYS.values() if key in told]
    return record
