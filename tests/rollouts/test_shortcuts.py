"""Shortcuts: every policy types what the shell understands, limits judge as they say, and the audit finds what is planted."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sregym_env import SREGymEnv, apps
from sregym_env.cli.main import app
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.staging import stage
from sregym_env.errors import UsageError
from sregym_env.faults import problems
from sregym_env.faults.mechanisms import MECHANISMS, states
from sregym_env.faults.problems import Problem
from sregym_env.rollouts.intervals import Estimate
from sregym_env.rollouts.shortcuts import diagnoses, memory
from sregym_env.rollouts.shortcuts.audit import classifier, rules, survey
from sregym_env.rollouts.shortcuts.audit.contents import contents, odd
from sregym_env.rollouts.shortcuts.audit.scene import Candidate, Scene, scene
from sregym_env.rollouts.shortcuts.catalog import SHORTCUTS, chosen
from sregym_env.rollouts.shortcuts.cues import CUES, Blamed
from sregym_env.rollouts.shortcuts.limits import LIMITS, UNDO, Finding, Limit, findings
from sregym_env.rollouts.shortcuts.lines import LONGEST, fed, tiers
from sregym_env.rollouts.shortcuts.playing import Case, Outcome, cases, play, steps
from sregym_env.rollouts.shortcuts.shortcut import GROUPS, Knowledge
from sregym_env.rollouts.shortcuts.table import lines, report, worst
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

HOTEL = apps.app("hotel-reservation")

# --- policies -------------------------------------------------------------------------------------

MISTYPED = re.compile(
    r"jq: error|syntax error|command not found|unknown (?:flag|command|shorthand)|"
    r"is not a valid|unable to (?:decode|parse)|at most [\d,]+ are read",
)
"""What the shell and its commands say of a line that makes no sense."""


def published(fault: str, target: str) -> Problem:
    """A pair in the application as it is published: quickly staged, and the same in every world."""
    return problems.pair(HOTEL.name, fault, target).model_copy(update={"variation": False})


@pytest.mark.parametrize(
    ("problem", "groups"),
    [
        (published("service_selector_mismatch", "frontend"), GROUPS),
        # The others type here what they type there.
        (problems.pair(HOTEL.name, "scale_to_zero", "rate"), ("reading",)),
    ],
    ids=["published", "lived"],
)
def test_every_shortcut_types_what_the_shell_understands(problem: Problem, groups: tuple[str, ...]) -> None:
    case = Case(problem, 3)
    env = SREGymEnv(raise_errors=True)
    env.reset(seed=case.seed, options={"problem": case.problem.model_dump(mode="json")})
    known = Knowledge(HOTEL, memory.elsewhere(case.problem, case.seed))
    for shortcut in chosen((), groups):
        # Grading takes most of the time, and is tried below.
        typed = _typed(env.fork(), shortcut.name, known)
        assert typed[-1][0] == ("" if shortcut.group == "diagnosis" else "submit mitigation"), shortcut.name
        for line, printed in typed:
            assert not MISTYPED.search(printed), (shortcut.name, line[:200], printed[:500])


class _Ungraded:
    """An environment in which handing a repair in ends the episode without a verdict."""

    def __init__(self, env: SREGymEnv) -> None:
        self._env = env

    def step(self, line: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return self.finish("") if line == "submit mitigation" else self._env.step(line)

    def finish(self, reason: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "", 0.0, True, False, {}


def _typed(env: SREGymEnv, name: str, known: Knowledge) -> list[tuple[str, str]]:
    played = steps(_Ungraded(env), SHORTCUTS[name], known)  # type: ignore[arg-type]
    return [(step.line, step.observation) for step in played]


def test_a_script_gets_what_its_lines_printed_and_hands_in() -> None:
    case = Case(published("scale_to_zero", "geo"), 1)
    outcomes = play(case, ("nothing", "say_name"))
    assert isinstance(outcomes, tuple)
    nothing, said = outcomes
    assert (nothing.policy, nothing.pair, nothing.fault) == ("nothing", case.pair, "scale_to_zero")
    assert (nothing.repaired, nothing.diagnosed, nothing.reward, nothing.ended) == (
        False,
        False,
        0.0,
        "submitted",
    )
    assert (said.repaired, said.ended) == (False, "max_steps")


def test_a_world_that_cannot_be_set_up_is_told() -> None:
    result = play(Case(problems.pair(HOTEL.name, "scale_to_zero", "no-such-component"), 0), ("nothing",))
    assert not isinstance(result, tuple)
    assert "no-such-component" in result.error


BREAKING = {
    "kubectl patch service frontend": '[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]',
    "kubectl patch deployment geo": '[{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"x": "y"}}]',
    "kubectl patch deployment rate": '[{"op": "replace", "path": "/spec/replicas", "value": 0}]',
    "kubectl patch deployment user": '[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "a"}]',
}


@pytest.mark.parametrize("name", ["replace_published", "recreate_published", "normalise"])
def test_what_is_published_is_what_blind_repairs_lead_to(name: str) -> None:
    """In the published world, that is: there they must be as strong as they can be."""
    world = deployed_world(HOTEL, 0)
    wanted = {(kind, each["metadata"]["name"]): each["spec"] for kind, each in _specs(world)}
    desk = Workstation(world, ONCALL)
    for command, operations in BREAKING.items():
        assert desk.run(f"{command} -n hotel-reservation --type=json -p '{operations}'").exit_code == 0
    for line in SHORTCUTS[name].script(Knowledge(HOTEL)):
        desk.run(line)
    for kind, each in _specs(world):
        right = wanted[(kind, each["metadata"]["name"])]
        assert _wanted(each["spec"]) == _wanted(right), each["metadata"]["name"]


def _wanted(spec: dict[str, Any]) -> dict[str, Any]:
    """What of a specification was written, and not allocated."""
    return {
        "replicas": spec.get("replicas"),
        "pods": (spec.get("template") or {}).get("spec"),
        "selector": spec.get("selector"),
        "ports": [{**port, "nodePort": 0} for port in spec.get("ports", ())],
    }


def _specs(world: Any) -> list[tuple[str, dict[str, Any]]]:
    kinds = ("deployments.apps", "services")
    return [(kind, each) for kind in kinds for each in world.cluster.list(kind, "hotel-reservation")]


def test_names_and_groups_choose() -> None:
    assert {shortcut.group for shortcut in chosen()} == set(GROUPS)
    assert [shortcut.name for shortcut in chosen(("wait", "nothing"))] == ["nothing", "wait"]
    assert all(shortcut.group == "blind" for shortcut in chosen((), ("blind",)))
    assert chosen(("wait",), ("reading",))[0].name == "wait"
    with pytest.raises(UsageError, match="normalise"):
        chosen(("normalize",))
    with pytest.raises(UsageError, match="blind"):
        chosen((), ("blnd",))


def test_blind_scripts_do_not_depend_on_what_is_printed() -> None:
    known = Knowledge(HOTEL, memory.Elsewhere(HOTEL, tuple(HOTEL.manifests)))
    for shortcut in chosen((), ("blind",)):
        deaf = list(shortcut.script(known))
        script = shortcut.script(known)
        heard = []
        line = next(script, None)
        while line is not None:
            heard.append(line)
            try:
                line = script.send("geo Deployment\nDeployment geo\nerror")
            except StopIteration:
                line = None
        assert deaf == heard, shortcut.name


def test_documents_fit_into_actions() -> None:
    objects = [{"kind": "ConfigMap", "data": {"text": "x" * 20_000, "n": str(n)}} for n in range(7)]
    actions = list(fed("kubectl apply -f -", objects))
    assert len(actions) == 4 and all(len(action) < 65_536 for action in actions)
    sent = [json.loads(action.split("\n", 1)[1].rsplit("\n", 1)[0])["items"] for action in actions]
    assert [each for items in sent for each in items] == objects
    assert LONGEST < 65_536


def test_what_others_need_is_restarted_before_them() -> None:
    order = [component.name for tier in tiers(HOTEL) for component in tier]
    assert order.index("consul") < order.index("geo") < order.index("search") < order.index("frontend")
    assert "wrk2-job" not in order


def test_remembered_objects_have_no_identity() -> None:
    there = memory.elsewhere(published("scale_to_zero", "geo"), 0)
    for each in there.objects:
        assert (
            set(each["metadata"]) <= {"name", "namespace", "labels", "annotations"} and "status" not in each
        )
    assert {"geo", "frontend", "coredns"} <= {each["metadata"]["name"] for each in there.objects}


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", MECHANISMS)
def test_stuffing_says_every_mechanism(key: str) -> None:
    text = diagnoses.STUFFING.lower()
    pieces = re.split(r", | and | with ", text)
    assert any(states(key, words) for words in (*text.split(", "), *pieces)), "add words to STUFFING"


@pytest.mark.parametrize(
    "blamed", [[], [Blamed("Deployment", "geo")], [Blamed("Service", "a"), Blamed("Secret", "b")]]
)
@pytest.mark.parametrize("name", diagnoses.TELLINGS)
def test_every_telling_names_who_is_blamed(name: str, blamed: list[Blamed]) -> None:
    script = diagnoses.hand_in(diagnoses.TELLINGS[name], blamed, Knowledge(HOTEL))
    line = next(script)
    if line.startswith("kubectl"):
        line = script.send("Name: geo")
    assert line.startswith("submit diagnosis")
    # Who says that nothing is wrong blames nobody.
    assert not blamed or name == "all_clear" or blamed[0].name in line


def test_every_cue_names_something() -> None:
    staged = stage(published("incorrect_image", "geo"), 2)
    for cue in CUES:
        outcome = staged.workstation.run(cue.line("hotel-reservation"))
        assert outcome.exit_code == 0 and re.match(r"^[A-Z]\w+ [a-z][\w.-]+$", outcome.text.split("\n")[0]), (
            cue.name
        )


# --- limits ---------------------------------------------------------------------------------------


def outcomes(
    policy: str, count: int, repaired: int, reward: float = 0.0, undoable: bool = False
) -> list[Outcome]:
    """So many worlds of different pairs, of which the first ones were repaired."""
    return [
        Outcome(
            policy, f"app/fault/{number}", "fault", 0, number < repaired, False, reward, undoable, "submitted"
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("policy", "count", "repaired", "sampled", "broken"),
    [
        ("nothing", 100, 3, False, False),
        ("nothing", 100, 4, False, True),
        ("nothing", 12, 1, True, False),
        ("nothing", 12, 1, False, True),
        ("nothing", 12, 6, True, True),
        (UNDO[0], 100, 15, False, False),
        (UNDO[0], 100, 16, False, True),
        ("live_normalise", 100, 100, False, False),
        ("stands_out+stuffed+normalise", 100, 100, False, False),
    ],
)
def test_limits(policy: str, count: int, repaired: int, sampled: bool, broken: bool) -> None:
    judged = findings(chosen((policy,)), outcomes(policy, count, repaired), sampled=sampled)
    assert judged and any(each.broken for each in judged) is broken


def test_every_policy_has_a_limit() -> None:
    assert all(any(limit.binds(shortcut) for limit in LIMITS) for shortcut in SHORTCUTS.values())


def test_undoing_is_judged_where_it_is_no_repair() -> None:
    played = outcomes(UNDO[0], 50, 50, undoable=True) + outcomes(UNDO[0], 50, 0)
    where = {each.limit.what: each.reached.value for each in findings(chosen(UNDO[:1]), played)}
    assert where == {"repaired": 0.5, "repaired where undo is no repair": 0.0}


def test_rewards_are_bounded_for_combinations() -> None:
    name = "stands_out+stuffed+normalise"
    (judged,) = findings(chosen((name,)), outcomes(name, 40, 0, reward=0.3))
    assert not judged.holds and judged.broken and judged.reached.value == pytest.approx(0.3)


def test_the_whole_interval_must_lie_beyond_in_a_sample() -> None:
    limit = Limit("all", "repaired", lambda s: True, lambda o: None, 0.1, "enforced")
    reached = Estimate(0.2, 0.05, 0.5, 10)
    assert not Finding(limit, "p", reached, sampled=True).broken
    assert Finding(limit, "p", reached, sampled=False).broken
    assert Finding(limit, "p", replace(reached, low=None, high=None), sampled=True).broken


def test_the_table_counts_what_counts() -> None:
    shortcuts = chosen(("nothing", "wait"))
    played = outcomes("nothing", 4, 1, reward=0.5) + outcomes("wait", 4, 0)
    played[0] = replace(played[0], ended="")
    result = report(shortcuts, played)
    first, second = result["policies"]
    assert (first["episodes"], first["void"], first["repaired"]["value"]) == (3, 1, 0.0)
    assert first["reward"]["value"] == pytest.approx(0.5) and second["reward"]["value"] == 0.0
    assert result["worlds"] == 4 and result["kept"]
    assert json.loads(json.dumps(result)) == result
    assert [each["policy"] for each in lines(result["policies"])] == ["nothing", "wait"]


def test_the_worst_policy_stands_for_a_limit() -> None:
    played = outcomes("nothing", 10, 2) + outcomes("wait", 10, 9, reward=0.6)
    result = report(chosen(("nothing", "wait")), played)
    (only,) = worst(result)
    assert (only["worst policy"], only["verdict"]) == ("wait", "BROKEN by 2 of 2") and not result["kept"]
    assert only["mostly"] == "fault 10/10"


def test_worlds_have_seeds_of_their_own() -> None:
    known = [problems.pair(HOTEL.name, "scale_to_zero", name) for name in ("geo", "rate", "user")]
    made = cases(known, 4, first=10)
    assert len({each.seed for each in made}) == 12 and min(each.seed for each in made) == 10


# --- the audit: rules -----------------------------------------------------------------------------


def world(figures: list[float], culprits: set[int], pair: str = "p", name: str = "written") -> Scene:
    """A scene of candidates with one figure."""
    return Scene(
        pair,
        0,
        tuple(Candidate(("pods", "", str(n)), n in culprits, {name: v}) for n, v in enumerate(figures)),
    )


NAN = float("nan")


@pytest.mark.parametrize(
    ("figures", "culprits", "lowest", "hit", "chance"),
    [
        ([1, 2, 3, 4], {3}, False, 1, 0.25),
        ([1, 2, 3, 4], {3}, True, 0, 0.25),
        ([1, 2, 4, 4], {3}, False, 0.5, 0.25),
        ([7, 7, 7, 7], {0, 1}, False, 0.5, 0.5),
        ([1, 2, NAN, NAN], {1, 2}, False, 1, 0.5),
        ([NAN, NAN], {0}, False, 0, 0),
    ],
)
def test_a_rule_names_the_extreme(
    figures: list[float], culprits: set[int], lowest: bool, hit: float, chance: float
) -> None:
    rule = rules.Rule("r", "written", "artefact", lowest)
    assert rule.hit(world(figures, culprits)) == hit and rule.chance(world(figures, culprits)) == chance


def test_chance_is_that_of_the_kind_that_is_named() -> None:
    """Two Deployments, one of them at fault, and eight Secrets: naming Deployments is no news of the one that it is."""
    made = [Candidate(("deployments.apps", "", str(n)), n == 0, {"written": 2.0 + n}) for n in range(2)]
    made += [Candidate(("secrets", "", str(n)), False, {"written": 0.0}) for n in range(8)]
    scene = Scene("p", 0, tuple(made))
    assert rules.Rule("r", "written", "artefact").chance(scene) == 0.5
    assert rules.Rule("r", "written", "artefact", lowest=True).chance(scene) == 0.0


def test_a_figure_that_is_the_same_everywhere_is_as_good_as_chance() -> None:
    scenes = [world([5.0] * 10, {n % 10}, f"p{n}") for n in range(40)]
    (score,) = rules.scores(scenes, [rules.Rule("r", "written", "artefact")])
    assert score.hits.value == pytest.approx(score.chance) and score.holds


def test_an_artefact_is_found_and_recency_has_its_share() -> None:
    scenes = [world([float(m == n % 5) for m in range(5)], {n % 5}, f"p{n}") for n in range(40)]
    artefact, recency = rules.scores(
        scenes, [rules.Rule("a", "written", "artefact"), rules.Rule("r", "written", "recency")]
    )
    assert not artefact.holds and artefact.most == pytest.approx(0.25)
    assert not recency.holds and recency.most == rules.HONEST


def test_every_rule_has_a_figure() -> None:
    staged = stage(published("network_policy_block", "search"), 1)
    found = scene(staged, "p", 1)
    for rule in rules.RULES:
        assert rule.eligible(found), rule.name
    guilty = {each.key for each in found.candidates if each.culprit}
    assert ("deployments.apps", "hotel-reservation", "search") in guilty
    assert any(key[0] == "networkpolicies.networking.k8s.io" for key in guilty)
    assert len(guilty) < len(found.candidates) / 5


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(1, 4), st.data())
@settings(max_examples=60)
def test_among_the_latest_by_lot(figures: list[int], count: int, data: st.DataObject) -> None:
    culprits = data.draw(st.sets(st.integers(0, len(figures) - 1)))
    found = rules.among_latest(world([float(f) for f in figures], culprits), count)
    chance = random.Random(1)
    hits, tries = 0, 4000
    for _ in range(tries):
        order = sorted(range(len(figures)), key=lambda n: (-figures[n], chance.random()))
        hits += bool(culprits & set(order[:count]))
    assert found == pytest.approx(hits / tries, abs=0.04)


@pytest.mark.parametrize(
    ("figures", "culprits", "older"),
    [([1, 2, 3], {0}, True), ([1, 2, 3], {0, 2}, False), ([1, 2, 3], {1}, False), ([1, 2, 3], set(), False)],
)
def test_older_than_the_median(figures: list[float], culprits: set[int], older: bool) -> None:
    assert rules.older_than_median(world(figures, culprits)) is older


def test_what_an_object_is_made_of_beside_others_of_its_kind() -> None:
    """Names do not count, and where there is no usual value none is odd."""

    def made(name: str, version: str, size: int, **more: str) -> dict[str, Any]:
        labels = {"chart": f"{name}-{version}", "app": name, **more}
        return {"kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {name: size}}

    names = ("geo", "rate", "user", "cart")
    alike = [made(name, "1.2.0", 5, team=name * 2) for name in names[:3]]
    assert contents([*alike, made("cart", "1.2.0", 5)]) == [
        *[frozenset()] * 3,
        {"lacks /metadata/labels/team"},
    ]
    last = contents([*alike, made("cart", "1.3.0", 6, tier="db")])[3]
    assert last == {
        "odd /metadata/labels/chart",
        "odd /data/",
        "has /metadata/labels/tier",
        "lacks /metadata/labels/team",
    }
    assert odd(last) == (1, 1)
    various = contents([made(name, f"1.{number}.0", number) for number, name in enumerate(names)])
    assert [odd(words) for words in various] == [(0, 0)] * 4


# --- the audit: the classifier --------------------------------------------------------------------


def planted(strength: float, count: int = 160, seed: int = 0) -> list[Scene]:
    """Worlds of twenty objects with six figures, the third of which is raised for the culprit."""
    chance = np.random.default_rng(seed)
    scenes = []
    for number in range(count):
        values = chance.normal(size=(20, 6))
        culprit = int(chance.integers(20))
        values[culprit, 2] += strength
        candidates = tuple(
            Candidate(("pods", "", str(n)), n == culprit, {f"f{i}": float(v) for i, v in enumerate(row)})
            for n, row in enumerate(values)
        )
        scenes.append(Scene(f"pair-{number}", number, candidates))
    return scenes


FIGURES = tuple(f"f{i}" for i in range(6))


def test_the_classifier_finds_a_planted_artefact() -> None:
    hits = classifier.crossed(planted(strength=8.0), FIGURES)
    assert sum(hits) / len(hits) > 0.9


def test_the_classifier_finds_nothing_in_shuffled_labels() -> None:
    chance = np.random.default_rng(3)
    shuffled = []
    for each in planted(strength=8.0):
        culprit = int(chance.integers(20))
        shuffled.append(
            replace(
                each,
                candidates=tuple(replace(c, culprit=n == culprit) for n, c in enumerate(each.candidates)),
            )
        )
    hits = classifier.crossed(shuffled, FIGURES)
    assert sum(hits) / len(hits) < 0.15


def test_the_classifier_weighs_recency_by_kind() -> None:
    """Notes are left on Secrets after every fault: the latest write of another kind is the culprit's."""
    scenes = []
    for number in range(160):
        culprit = number % 7
        made = [
            Candidate(("deployments.apps", "", str(n)), n == culprit, {"written": float(n == culprit)})
            for n in range(7)
        ]
        made += [Candidate(("secrets", "", str(n)), False, {"written": 2.0 + n}) for n in range(7)]
        scenes.append(Scene(f"pair-{number}", number, tuple(made)))
    hits = classifier.crossed(scenes, ("written",))
    assert sum(hits) / len(hits) > 0.9


def test_the_classifier_is_tried_on_pairs_that_it_has_not_seen() -> None:
    """What tells pairs apart is worth nothing: here the culprit follows from the pair alone."""
    scenes = []
    for number in range(200):
        pair = number % 40
        order = random.Random(pair).sample(range(20), 20)
        candidates = tuple(
            Candidate(("pods", "", str(n)), n == order[0], {"f": float(order[n])}) for n in range(20)
        )
        scenes.append(Scene(f"pair-{pair}", number, candidates))
    hits = classifier.crossed(scenes, ("f",))
    assert sum(hits) / len(hits) < 0.3


def test_the_classifier_finds_what_is_written_on_culprits_alone() -> None:
    def worlds(told: bool) -> list[Scene]:
        chance = random.Random(4)
        scenes = []
        for number in range(160):
            culprit = chance.randrange(12)
            words = [{f"has /spec/{chance.randrange(20)}" for _ in range(4)} for _ in range(12)]
            words[culprit] |= {"odd /metadata/labels/chart"} if told else set()
            candidates = tuple(
                Candidate(("services", "", str(n)), n == culprit, {}, frozenset(own))
                for n, own in enumerate(words)
            )
            scenes.append(Scene(f"pair-{number}", number, candidates))
        return scenes

    shares = [
        sum(hits) / len(hits) for hits in map(classifier.crossed_by_contents, map(worlds, (True, False)))
    ]
    assert shares[0] > 0.95 and shares[1] < 0.2


def test_worlds_are_spread_over_the_pairs() -> None:
    made = survey.spread(400, HOTEL.name, seed=5)
    counts = [sum(case.pair == pair for case in made) for pair in {case.pair for case in made}]
    assert len(made) == 400 and max(counts) - min(counts) <= 1 and len({case.seed for case in made}) == 400


def test_an_audit_says_what_it_found() -> None:
    figures = {each.figure for each in rules.RULES}
    chance = np.random.default_rng(1)

    def drawn(pair: int, recent: bool) -> Scene:
        made = []
        for n in range(12):
            values = {name: float(chance.normal()) for name in figures}
            culprit = n == pair % 12
            made.append(
                Candidate(("pods", "", str(n)), culprit, values | {"created": 99.0 * (culprit and recent)})
            )
        return Scene(f"pair-{pair}", pair, tuple(made))

    quiet = survey.judged([drawn(n, n % 4 == 0) for n in range(120)])
    loud = survey.judged([drawn(n, True) for n in range(120)])
    assert quiet.kept and not loud.kept
    assert "newest object" in {each.rule.name for each in loud.scores if not each.holds}
    assert json.loads(json.dumps(quiet.to_dict()))["kept"] is True
    assert len(quiet.rows()) == len(rules.RULES) + 4 and any(
        "older than the median" in line for line in quiet.lines()
    )


# --- the command ----------------------------------------------------------------------------------


def run(*words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(app, ["shortcuts", *words], env={"COLUMNS": "200", "TERM": "dumb"})
    return answer.exit_code, answer.output


def test_the_command_prints_a_table_and_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "shortcuts.json"
    code, output = run("--policy", "nothing", "--sample", "2", "--published", "--json", str(out))
    assert code == 0 and "nothing" in output and "kept" in output
    written = json.loads(out.read_text())
    assert written["kept"] and len(written["outcomes"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "normalize"), "normalise"),
        (("--group", "sighted"), "blind"),
        (("--app", "hotel"), "hotel-reservation"),
        (("--audit", "1"), "at least two"),
    ],
)
def test_the_command_says_what_was_wrong(words: tuple[str, ...], said: str) -> None:
    code, output = run(*words)
    assert code not in (0, 1) and said in output


def test_the_command_audits(tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    code, output = run("--audit", "2", "--json", str(out))
    assert code in (0, 1) and "newest object" in output
    assert json.loads(out.read_text())["worlds"] == 2
