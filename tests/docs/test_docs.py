"""What the documents show is true: their code runs, their commands exist, their transcript is a golden one."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sregym_env.cli.main import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.filterwarnings("ignore")
def test_readme_python_runs_from_top_to_bottom() -> None:
    scope: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)
        if "env" in scope:
            scope["env"].reset(seed=0)  # type: ignore[attr-defined]


def commands() -> list[list[str]]:
    lines = [line.split("#")[0] for block in blocks("console") for line in block.splitlines()]
    return [line.split()[1:] for line in lines if line.startswith("sregym ")]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_readme_commands_exist_with_their_options(words: list[str]) -> None:
    answer = CliRunner().invoke(
        app, [*words[: 2 if words[0] == "dataset" else 1], "--help"], env={"COLUMNS": "200", "TERM": "dumb"}
    )
    assert answer.exit_code == 0
    for word in words:
        if word.startswith("--"):
            assert word in answer.output


def test_readme_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"`?make (\w+)", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_readme_transcript_is_a_golden_one() -> None:
    found = re.search(r"<!-- transcript -->\n\n```console\n(.*?)\n```", README, re.DOTALL)
    assert found is not None
    golden = [path.read_text() for path in sorted((ROOT / "tests" / "transcripts").glob("*.txt"))]
    assert any(found[1] in text for text in golden)


def test_links_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"`((?:faults|apps|tools|sim|cluster|programs|sregym_env)/[\w/.]+)`", text):
        places = [ROOT / name, ROOT / "sregym_env" / name, ROOT / "sregym_env" / "sim" / name]
        assert any(place.exists() for place in places), name


def test_the_faults_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("update_docs", ROOT / "tools_dev" / "update_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page()
