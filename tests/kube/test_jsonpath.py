"""kubectl's JSONPath dialect against output recorded from the real kubectl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sregym_env.kube.columns import parse_columns, sort_objects
from sregym_env.kube.gotemplate import TemplateError, compile_go_template
from sregym_env.kube.jsonpath import JSONPathError, compile_template, relaxed

DATA = json.loads((Path(__file__).parent / "data" / "jsonpath.json").read_text())
OBJECT = DATA["object"]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["template"])
def test_templates_print_what_kubectl_prints(case: dict[str, Any]) -> None:
    template = case["template"]
    if case["error"]:
        with pytest.raises(JSONPathError) as caught:
            compile_template(template).render(OBJECT)
        assert str(caught.value).rstrip(".") in case["error"]
        return
    if case["text"] is not None:
        assert compile_template(template).render(OBJECT) == case["text"]
    if case["json"] is not None:
        assert compile_template(template).render(OBJECT, as_json=True) == case["json"]


def test_missing_keys_may_be_refused() -> None:
    with pytest.raises(JSONPathError, match="nope is not found"):
        compile_template("{.nope}").render(OBJECT, allow_missing=False)


@pytest.mark.parametrize("text", ["a.b", ".a.b", "{a.b}", "{.a.b}"])
def test_relaxed_expressions(text: str) -> None:
    assert relaxed(text) == "{.a.b}"


def test_custom_columns() -> None:
    columns = parse_columns("NAME:.metadata.name,IMAGES:.spec.containers[*].image,NO:.x")
    assert columns.render([OBJECT]) == "NAME   IMAGES             NO\np      nginx:1,redis<7>   <none>\n"
    with pytest.raises(JSONPathError, match="unexpected custom-columns spec: A"):
        parse_columns("A")


def test_sorting_is_by_text_or_quantity_and_puts_missing_values_first() -> None:
    items = [{"n": "pod-10"}, {"n": "pod-2"}, {}, {"n": "pod-1"}]
    assert sort_objects(items, ".n") == [{}, {"n": "pod-1"}, {"n": "pod-10"}, {"n": "pod-2"}]
    assert sort_objects([{"q": "1Gi"}, {"q": "200Mi"}], "q") == [{"q": "200Mi"}, {"q": "1Gi"}]
    with pytest.raises(JSONPathError, match="couldn't find any field"):
        sort_objects([{}], ".n")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ('{{range .spec.containers}}{{.name}}{{"\\n"}}{{end}}', "c1\nc2\n"),
        ("{{.missing}} {{.spec.n}}", "<no value> 5"),
        ("{{if .spec.nope}}a{{else if .spec.n}}b{{else}}c{{end}}", "b"),
        ("{{range $i, $c := .spec.containers}}{{$i}}={{$c.name}};{{end}}", "0=c1;1=c2;"),
        ("{{(index .spec.containers 0).name}}", "c1"),
        ('{{index .metadata.labels "app"}}', "web"),
        ('{{"aGk=" | base64decode}}', "hi"),
        ('{{printf "%s/%d" .metadata.name .spec.n}}', "p/5"),
        ("{{with .metadata}}{{.name}}{{end}}", "p"),
        ("a {{- .metadata.name -}} b", "apb"),
        ("{{.spec.em}} {{.spec.flags}}", "map[] [true false]"),
    ],
)
def test_go_templates(template: str, text: str) -> None:
    assert compile_go_template(template).render(OBJECT) == text


@pytest.mark.parametrize("template", ["{{.x", "{{end}}", "{{foo}}", "{{range .spec}}"])
def test_malformed_go_templates(template: str) -> None:
    with pytest.raises(TemplateError):
        compile_go_template(template).render(OBJECT)
