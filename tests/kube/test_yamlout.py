"""``-o yaml`` and ``-o json`` against output recorded from the real kubectl, and round trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sregym_env.kube.yamlout import go_float, looks_typed, to_compact_json, to_json, to_yaml

CASES = json.loads((Path(__file__).parent / "data" / "yamlout.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_yaml_is_what_kubectl_prints(case: dict[str, Any]) -> None:
    assert to_yaml(case["object"]) == case["yaml"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_json_is_what_kubectl_prints(case: dict[str, Any]) -> None:
    assert to_json(case["object"]) == case["json"]


texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=120)
words = st.text(st.sampled_from("ab10 -:#'\"\\\n,{}[]&*!|>%@`~.é\t"), max_size=90)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | texts, inner, max_size=4),
    max_leaves=12,
)


class _Loader(yaml.SafeLoader):
    """A YAML 1.1 reader without dates, the bare ``=`` and the merge key ``<<``, as Kubernetes clients read."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in resolvers if pair[0].rpartition(":")[2] not in ("timestamp", "value", "merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@given(st.dictionaries(words.filter(lambda key: len(key) < 100), values, max_size=5))
@example({"<<": None})
@example({"=": "="})
def test_what_is_written_can_be_read_back(value: dict[str, Any]) -> None:
    assert yaml.load(to_yaml(value), Loader=_Loader) == value


@given(values)
def test_json_can_be_read_back(value: Any) -> None:
    assert json.loads(to_json(value)) == value
    assert json.loads(to_compact_json(value)) == value


def test_nested_lists_are_not_indented_under_their_key() -> None:
    assert (
        to_yaml({"b": [[1, 2], []], "a": [{"y": 1, "x": {}}]})
        == 'a:\n- x: {}\n  "y": 1\nb:\n- - 1\n  - 2\n- []\n'
    )


@pytest.mark.parametrize(
    ("text", "typed"),
    [("yes", True), ("1e3", True), ("0x1F", True), ("12:30", True), ("2024-01-01", True), ("1.2.3", False),
     ("100m", False), ("v1", False), ("2024-13-01", False), ("", True), ("~", True), ("-", False)],
)  # fmt: skip
def test_which_plain_texts_are_no_strings(text: str, typed: bool) -> None:
    assert looks_typed(text) is typed


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.5, "1.5"), (1500000.5, "1.5000005e+06"), (1e-5, "1e-05"), (1e22, "1e+22")],
)
def test_floats_print_as_in_go(value: float, text: str) -> None:
    assert go_float(value) == text
