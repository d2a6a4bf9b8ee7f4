"""Reading JSON and YAML as Go does, complaints included."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from sregym_env.kube import yamlin
from sregym_env.kube.gojson import END, MAX_DEPTH, syntax_error


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", END),
        (b" ", END),
        (b"{", END),
        (b'{"a"', END),
        (b'{"a":', END),
        (b'"abc', END),
        (b"-", END),
        (b"1.", END),
        (b"1e+", END),
        (b"nul", END),
        (b"{'a'", r"invalid character '\'' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"01", "invalid character '1' after top-level value"),
        (b'"\x01"', r"invalid character '\x01' in string literal"),
        (b'"\n"', r"invalid character '\n' in string literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u12G"', r"invalid character 'G' in \u hexadecimal character escape"),
        (b"-a", "invalid character 'a' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"\xff", "invalid character 'ÿ' looking for beginning of value"),
        (b"[" * (MAX_DEPTH + 1), "invalid character '[' exceeded max depth"),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b' {"a": [1, -2.5e3, "\\u00e9\\n", true, null, {}, []]} ', None),
    ],
)
def test_complaints(text: bytes, complaint: str | None) -> None:
    assert syntax_error(text) == complaint


@given(st.text(alphabet='{}[]",:01-.eE truefalsn\\u\n', max_size=14))
@example('{"a":[{"b":1}]}')
def test_there_is_a_complaint_where_it_is_no_json(text: str) -> None:
    try:
        json.loads(text)
        valid = True
    except ValueError:
        valid = False
    assert (syntax_error(text.encode()) is None) == valid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a: =", {"a": "="}),
        ("1: a\nnull: b", {"1": "a", "null": "b"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: !!binary aGk=", {"a": "hi"}),
        ("!!set {b, a}", {"a": None, "b": None}),
        ("a: 0x10", {"a": 16}),
        ("", None),
    ],
)
def test_yaml_becomes_json(text: str, value: object) -> None:
    assert yamlin.load(text) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[" * 100_000, "exceeded max depth"),
        ("- " * 100_000, "exceeded max depth"),
        ("\n".join(" " * n + "a:" for n in range(500)), "exceeded max depth"),
        ("a: &a [*a]", "document contains excessive aliasing"),
        ("a: .nan", "json: unsupported value: NaN"),
        ("a: " + "9" * 5000, "Exceeds the limit"),
        ("a: [", "line 2: did not find expected node content"),
    ],
)
def test_yaml_that_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(yaml.YAMLError) as found:
        yamlin.load_all(text)
    assert complaint in yamlin.complaint(found.value)


def test_aliases_do_not_multiply() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x]"]
    lines += [f"{chr(n)}: &{chr(n)} [{','.join(['*' + chr(n - 1)] * 8)}]" for n in range(98, 110)]
    with pytest.raises(yaml.YAMLError, match="excessive aliasing"):
        yamlin.load("\n".join(lines))
