"""What a real browser makes of a report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sregym_env.rollouts.report import report, write_report
from sregym_env.rollouts.report.transcript import said
from sregym_env.rollouts.runner import Rollout
from tests.rollouts.browser import Tab, browser, chromium
from tests.rollouts.golden_run import PROBLEMS, Hostile, golden_run, written


@pytest.fixture(scope="module")
def run() -> list[Rollout]:
    """The run."""
    return list(golden_run())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report."""
    folder = tmp_path_factory.mktemp("run")
    write_report(written(folder / "dataset"), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A tab of a real browser."""
    if chromium() is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with browser(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def quiet(tab: Tab) -> None:
    """Nothing went wrong, nothing was executed that came with the data, and nothing but the file was loaded."""
    assert tab.run("window.hacked") is None
    assert tab.complaints == []
    assert {request.partition(":")[0] for request in tab.requests} == {"file"}
    assert tab.run("document.querySelectorAll('main script, main img, main iframe, main style').length") == 0


def count(tab: Tab, selector: str) -> int:
    """How many elements there are."""
    return int(tab.run(f"document.querySelectorAll({json.dumps(selector)}).length"))


def text(tab: Tab, selector: str) -> str:
    """What an element says."""
    return str(tab.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def rollout_of(run: list[Rollout], policy: str, problem: str = PROBLEMS[0]) -> Rollout:
    """The one episode of a policy and problem."""
    found = [
        each for each in run if each.record.policy.name == policy and each.labels.problem["id"] == problem
    ]
    assert len(found) == 1
    return found[0]


def fragment(rollout: Rollout, step: int) -> str:
    """The address of a step."""
    return f"#episode={rollout.record.rollout_id}&step={step}"


def test_the_run_is_shown(tab: Tab, file: Path, run: list[Rollout]) -> None:
    tab.look(width=1400)
    tab.open(file)
    assert text(tab, "h1") == "Three <b>incidents</b>"
    assert count(tab, "#episodes tbody tr") == len(run)
    assert count(tab, "#policies tbody tr") == 4
    assert count(tab, "#heat td.cell:not(.none)") == 7
    assert count(tab, "#failures rect") >= 2
    assert count(tab, "#distributions svg rect") >= 8
    assert "solves 100 %" in text(tab, ".numbers")
    assert Hostile.name in text(tab, "#policies")
    quiet(tab)


def test_the_table_is_sorted_and_filtered(tab: Tab, file: Path, run: list[Rollout]) -> None:
    tab.open(file)
    column = (
        "[...document.querySelectorAll('#episodes tbody tr')].map((row) => "
        "row.children[[...document.querySelectorAll('#episodes th')].findIndex((head) => "
        "head.textContent === 'Commands')].textContent).map(Number)"
    )
    click = "[...document.querySelectorAll('#episodes th button')].find((each) => each.textContent === 'Commands').click()"
    commands = sorted(rollout.record.commands for rollout in run)
    tab.run(click)
    assert tab.run(column) == commands
    tab.run(click)
    assert tab.run(column) == commands[::-1]
    tab.run(
        "(() => { const box = document.querySelector('input[type=search]'); box.value = 'NETWORK_POLICY';"
        " box.dispatchEvent(new Event('input')); })()"
    )
    assert count(tab, "#episodes tbody tr") == 4
    assert text(tab, "#count") == "4 of 8"
    tab.run(
        "(() => { const box = document.querySelector('select[aria-label=Outcome]'); box.value = 'no outcome';"
        " box.dispatchEvent(new Event('change')); })()"
    )
    assert count(tab, "#episodes tbody tr") == 1
    tab.run(
        "(() => { const box = document.querySelector('select[aria-label=Policy]'); box.value = 'random';"
        " box.dispatchEvent(new Event('change')); })()"
    )
    assert count(tab, "#episodes tbody tr") == 3
    assert count(tab, "#heat td.cell:not(.none)") == 3
    quiet(tab)


def test_a_step_of_an_episode_is_shown(tab: Tab, file: Path, run: list[Rollout]) -> None:
    rollout = rollout_of(run, "expert")
    last = len(rollout.record.steps)
    tab.look(width=1400)
    tab.open(file, fragment(rollout, 5))
    assert text(tab, "#where").startswith(f"step 5 of {last}")
    assert tab.run("document.querySelector('input[type=range]').value") == "5"
    acted = rollout.record.messages[rollout.record.steps[4].message_span[0]]
    assert text(tab, ".step.now pre.command") == said(acted)[1]
    assert text(tab, ".step.now pre.command").startswith("kubectl ")
    assert count(tab, ".step.later") == last - 5
    assert count(tab, "#graph [data-component]") == 20
    assert tab.run("document.querySelector('[data-component=recommendation]').dataset.state") == "silent"
    assert count(tab, "path.journey") == 4
    assert "recommend 0 %" in text(tab, "#replay")
    assert rollout.labels.specs[0]["cause"] in text(tab, "#truth")
    assert count(tab, "#checks tbody tr") == len(rollout.labels.oracle["checks"])  # type: ignore[index]
    assert count(tab, "#answers tbody tr") == 9
    assert rollout.labels.grade is not None
    assert all(answer["evidence"] in text(tab, "#answers") for answer in rollout.labels.grade["answers"])
    cursor = "document.querySelector('g.cursor').getAttribute('transform')"
    before = tab.run(cursor)
    tab.press("ArrowRight")
    assert tab.run("location.hash") == fragment(rollout, 6)
    assert text(tab, "#where").startswith(f"step 6 of {last}")
    assert tab.run(cursor) != before
    tab.run(f"location.hash = {json.dumps(fragment(rollout, last))}")
    tab.wait(f"document.querySelector('#where').textContent.startsWith('step {last} ')")
    assert tab.run("document.querySelector('[data-component=recommendation]').dataset.state") == "ok"
    assert "recommend 100 %" in text(tab, "#replay")
    tab.run("document.querySelector('.step[data-step=\"2\"]').click()")
    assert text(tab, "#where").startswith("step 2 ")
    quiet(tab)


def test_steps_out_of_range_and_unknown_episodes_are_harmless(
    tab: Tab, file: Path, run: list[Rollout]
) -> None:
    rollout = rollout_of(run, "expert")
    for step, shown in ((999, f"step {len(rollout.record.steps)} "), (-3, "before the first step")):
        tab.open(file, fragment(rollout, step))
        assert text(tab, "#where").startswith(shown)
    tab.open(file, "#episode=__proto__&step=x")
    assert count(tab, "#overview") == 1
    quiet(tab)


def test_an_agent_that_attacks_its_readers_is_only_quoted(tab: Tab, file: Path, run: list[Rollout]) -> None:
    rollout = rollout_of(run, Hostile.name)
    assert "<script>" in rollout.record.observation(rollout.record.steps[0])
    tab.open(file, fragment(rollout, 2))
    assert "<script>window.hacked=1</script>" in text(tab, '.step[data-step="1"] pre.seen')
    assert "<img src=x onerror=window.hacked=2>" in text(tab, '.step[data-step="1"] .thought')
    assert "<svg onload=window.hacked=3>" in text(tab, "#diagnosis")
    assert "{{7*7}}&lt;b&gt;" in text(tab, "#diagnosis")
    quiet(tab)


def test_an_episode_without_an_outcome_says_what_failed(tab: Tab, file: Path, run: list[Rollout]) -> None:
    tab.open(file, fragment(rollout_of(run, "broken"), 1))
    assert "503 <script>window.hacked=4</script>" in text(tab, "#replay")
    assert text(tab, ".badge.void") == "no outcome: server"
    quiet(tab)


def test_the_episode_can_be_watched(tab: Tab, file: Path, run: list[Rollout]) -> None:
    tab.open(file, fragment(rollout_of(run, "expert"), 0))
    tab.run("document.querySelector('button[aria-label=Play]').click()")
    tab.wait("document.querySelector('#where').textContent.startsWith('step 2 ')")
    tab.run("document.querySelector('button[aria-label=Play]').click()")
    quiet(tab)


LABELS_APART = """
(() => {
  const boxes = [...document.querySelectorAll('#graph .node')].map((node) => {
    const box = node.querySelector('rect:last-of-type').getBoundingClientRect();
    const texts = [...node.querySelectorAll('text')].map((each) => each.getBoundingClientRect());
    return { name: node.dataset.component, box, texts };
  });
  const bad = [];
  for (const { name, box, texts } of boxes)
    for (const each of texts)
      if (each.left < box.left || each.right > box.right || each.top < box.top || each.bottom > box.bottom) bad.push(name);
  for (const one of boxes)
    for (const other of boxes)
      if (one !== other && one.box.left < other.box.right && other.box.left < one.box.right
        && one.box.top < other.box.bottom && other.box.top < one.box.bottom) bad.push(`${one.name} ${other.name}`);
  return bad;
})()
"""


@pytest.mark.parametrize("width", [1400, 1000, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_every_screen_in_light_and_dark(
    tab: Tab, file: Path, run: list[Rollout], width: int, dark: bool
) -> None:
    for where in ("", fragment(rollout_of(run, "expert"), 3)):
        tab.look(width=width, dark=dark)
        tab.open(file, where)
        tab.look(width=width, dark=dark)
        assert tab.run("document.documentElement.scrollWidth") <= width
        ink, ground = tab.run(
            "['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name]"
            ".match(/\\d+/g).map(Number).reduce((a, b) => a + b))"
        )
        assert (ink > ground) is dark
        assert abs(ink - ground) > 450
    assert tab.run(LABELS_APART) == []
    quiet(tab)


def test_a_page_without_labels_shows_what_it_has(tab: Tab, run: list[Rollout], tmp_path: Path) -> None:
    mine = [rollout.record for rollout in run if rollout.record.policy.name == "random"]
    path = tmp_path / "report.html"
    path.write_text(report(mine, {}, title="published"), "utf-8")
    tab.open(path)
    assert count(tab, "#heat, #truth") == 0
    heads = tab.run("[...document.querySelectorAll('#episodes th')].map((head) => head.textContent)")
    assert "Problem" in heads and "Fault" not in heads
    assert "Solved end to end" in text(tab, ".numbers")
    tab.open(path, f"#episode={mine[0].rollout_id}&step=2")
    assert text(tab, "#where").startswith("step 2 ")
    assert "labels of this episode are not here" in text(tab, ".pictures")
    assert count(tab, "#graph") == 0
    quiet(tab)
