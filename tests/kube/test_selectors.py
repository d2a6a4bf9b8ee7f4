"""Label and field selectors."""

from __future__ import annotations

import pytest

from sregym_env.kube import registry, selectors
from sregym_env.kube.tables import format_selector

LABELS = {"app": "web", "tier": "front", "rank": "5"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier!=back", True),
        ("app=other", False),
        ("tier in (front, back)", True),
        ("tier notin (front)", False),
        ("missing notin (x)", True),
        ("app", True),
        ("!app", False),
        ("!missing", True),
        ("rank>4", True),
        ("rank<4", False),
        ("missing!=x", True),
        ("app=", False),
        ("in=x", False),
    ],
)
def test_label_selector(text: str, matches: bool) -> None:
    assert selectors.parse_labels(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("app in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in a", "unable to parse requirement: found 'a' expected: '('"),
        ("app foo", "unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a==b=c", "found '=', expected: ',' or 'end of string'"),
    ],
)
def test_label_selector_errors(text: str, error: str) -> None:
    with pytest.raises(selectors.SelectorError) as caught:
        selectors.parse_labels(text)
    assert str(caught.value) == error


def test_bad_key_and_value() -> None:
    with pytest.raises(selectors.SelectorError, match=r'<nil>: Invalid value: "a\$": name part must consist'):
        selectors.parse_labels("a$=b")
    with pytest.raises(
        selectors.SelectorError, match=r'values\[0\]\[a\]: Invalid value: "b\$": a valid label'
    ):
        selectors.parse_labels("a=b$")


@pytest.mark.parametrize(
    ("selector", "matches", "shown"),
    [
        (None, False, "<none>"),
        ({}, True, "<none>"),
        ({"matchLabels": {"app": "web"}}, True, "app=web"),
        ({"matchLabels": {"tier": "x", "app": "web"}}, False, "app=web,tier=x"),
        (
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "a"]}]},
            True,
            "app in (a,web)",
        ),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False, "!app"),
    ],
)
def test_selector_objects(selector: dict[str, object] | None, matches: bool, shown: str) -> None:
    assert selectors.from_dict(selector).matches(LABELS) is matches
    assert format_selector(selector) == shown


def test_node_expressions() -> None:
    compiled = selectors.from_expressions([{"key": "rank", "operator": "Gt", "values": ["4"]}])
    assert compiled.matches(LABELS)
    assert not compiled.matches({})


POD = {"metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "a"}, "status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("status.phase=Running", True),
        ("status.phase!=Running", False),
        ("spec.nodeName=a,metadata.name=p", True),
        ("spec.nodeName==b", False),
        ("status.podIP=", True),
    ],
)
def test_field_selector(text: str, matches: bool) -> None:
    pods = registry.BUILTIN.find("pods")
    assert pods is not None
    assert selectors.parse_fields_of(pods, text).matches(POD) is matches


@pytest.mark.parametrize(
    ("token", "text", "error"),
    [
        ("pods", "foo", "invalid selector: 'foo'; can't understand 'foo'"),
        ("pods", "spec.foo=x", "field label not supported: spec.foo"),
        (
            "deployments",
            "spec.foo=x",
            '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)
def test_field_selector_errors(token: str, text: str, error: str) -> None:
    resource = registry.BUILTIN.find(token)
    assert resource is not None
    with pytest.raises(selectors.SelectorError) as caught:
        selectors.parse_fields_of(resource, text)
    assert str(caught.value) == error


def test_event_fields_in_any_order() -> None:
    event = {"involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "kubelet"}}
    for text in ("involvedObject.kind=Pod,involvedObject.name=p", "source=kubelet,involvedObject.kind=Pod"):
        assert selectors.parse_fields(text).matches(event)
