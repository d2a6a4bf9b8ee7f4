"""Rules of reading, each on a few wordings: what takes an account back, what announces doubt, what is copied, who shares in it."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.faults.ways import matches, tagged
from sregym_env.rewards.names import names_of
from sregym_env.rewards.reading.account import Statement, read
from sregym_env.rewards.reading.blame import blamed, everyone, subjects
from sregym_env.rewards.reading.clauses import announces_doubt, knows_nothing, withdraws
from sregym_env.rewards.reading.documents import passages

NAMES = names_of(apps.app("hotel-reservation"))


def statements(text: str) -> list[Statement]:
    return read(text, NAMES)


def asserted(text: str) -> str:
    return " ".join(each.asserted for each in statements(text))


@pytest.mark.parametrize(
    "sentence",
    [
        "that theory did not hold up.",
        "this was ruled out.",
        "disproved.",
        "not verified.",
        "60 % sure.",
        "or so i guess.",
        "at least that's what i thought, but it turned out to be wrong.",
    ],
)
def test_a_sentence_of_its_own_takes_all_back(sentence: str) -> None:
    assert withdraws(sentence)


@pytest.mark.parametrize(
    "sentence", ["it was deleted by somebody.", "that is why @___ fails.", "this breaks every request."]
)
def test_what_goes_on_takes_nothing_back(sentence: str) -> None:
    assert not withdraws(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "my hunch: the image is bad.",
        "not true: it has no role.",
        "the following can be excluded.",
        "if i had to bet: a taint.",
    ],
)
def test_doubt_is_announced(sentence: str) -> None:
    assert announces_doubt(sentence)


@pytest.mark.parametrize(
    "sentence", ["root cause: the image is bad.", "the service lost its port.", "where: node one"]
)
def test_a_label_is_no_doubt(sentence: str) -> None:
    assert not announces_doubt(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "no idea why it fails.",
        "i have not found out what it is.",
        "more data needed.",
        "to be verified.",
        "the cause must lie somewhere else.",
        "still looking.",
    ],
)
def test_an_open_verdict_asserts_nothing(sentence: str) -> None:
    assert knows_nothing(sentence)


@pytest.mark.parametrize(
    "sentence", ["no idea who did it.", "its volume lies elsewhere.", "port 80 is still open."]
)
def test_what_else_is_not_known_is_no_matter(sentence: str) -> None:
    assert not knows_nothing(sentence)


@pytest.mark.parametrize(
    ("text", "kept", "left"),
    [
        ("The Service geo was deleted, the pods are fine.", "deleted", "pods"),
        ("My first guess was the image. The Service geo was deleted.", "deleted", "image"),
        ("Theory: the image of geo is bad. But the Service was deleted.", "deleted", "image"),
        ("Nobody should say that the image of geo is bad.", "", "image"),
        ("The rumour that geo lost its image is false.", "", "image"),
        ("geo - bad image - none of this happened.", "", "image"),
        ("Checked the selector (fine), the taints (none). The image is bad.", "image", "selector"),
    ],
)
def test_what_is_denied_or_cleared_is_left_out(text: str, kept: str, left: str) -> None:
    said = asserted(text)
    assert kept in said
    assert left not in said


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("| what | value |\n|---|---|\n| component | geo |\n| effect | search fails |", ["place", "effect"]),
        ("Trigger: a sync. Effect: search fails. Cause: the key is gone.", ["effect", "effect", "cause"]),
        ("apiVersion: v1\nkind: Service\nspec:\n  port: 1", ["quoted"] * 4),
        ("<recommendation>\nRestart it.\n</recommendation>\nThe image is bad.", ["remedy", ""]),
    ],
)
def test_what_a_document_is_made_of(text: str, labels: list[str]) -> None:
    assert [passage.label for passage in passages(text)] == labels


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rate is misconfigured as well.", ["rate"]),
        ("The same was done to rate.", ["rate"]),
        ("rate needs to be repaired too.", ["rate"]),
        ("So is rate.", ["rate"]),
        ("rate: same wrong version.", ["rate"]),
        ("rate fails as a consequence.", []),
        ("rate has the same number of pods as geo.", []),
    ],
)
def test_who_shares_in_a_fault(text: str, names: list[str]) -> None:
    assert [name for each in statements(text) for name in everyone(blamed(each))] == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("search is down because of geo's readiness probe.", "geo"),
        ("search fails, and the readiness probe of the Deployment geo is why.", "geo"),
    ],
)
def test_what_is_called_somebodys_is_theirs(text: str, name: str) -> None:
    (each,) = statements(text)
    (match, *_) = matches(["readiness_probe"], each.sentence)
    assert everyone(subjects(each, match)[:1]) == [name]


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("no key missing in it", "absent"),
        ("nobody deleted it", "gone"),
        ("there is no taint on the nodes", "taint"),
        ("it isn't from a cordon", "cordon"),
    ],
)
def test_a_denied_concept_is_none(text: str, concept: str) -> None:
    assert concept not in tagged(text).hits


@pytest.mark.parametrize("text", ["user is down", "the pod of user hangs", "user -> mongodb-user"])
def test_user_is_a_component_without_an_article(text: str) -> None:
    assert "user" in NAMES.components(text)


@pytest.mark.parametrize(
    "text", ["the user admin is gone", "users cannot log in", "user admin lost its role"]
)
def test_user_is_a_person_or_an_account_otherwise(text: str) -> None:
    assert NAMES.components(text) == []
