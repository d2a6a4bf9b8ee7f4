"""The expression language: values, types, errors, limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import cel
from sregym_env.kube.cel.values import MapList, SetList

PERSON = cel.ObjectType("object", {"name": "string", "age": "int", "tags": ("list", "string")})


def value(source: str, **names: Any) -> Any:
    return cel.compile_expression(source, dict.fromkeys(names, "dyn")).evaluate(names)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("1 < 1.5 && 2u > 1", True),
        ("dyn(1) == 1.0", True),
        ("'a' + 'b' in ['ab']", True),
        ("'k' in {'k': 1}", True),
        ("size('é') == 1 && 'é'.size() == 1 && size([1, 2]) == 2", True),
        ("true || 1 / 0 > 0", True),
        ("1 / 0 > 0 || true", True),
        ("false && 1 / 0 > 0", False),
        ("[1, 2, 3].filter(x, x > 1).map(x, x * 2)", [4, 6]),
        ("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]),
        ("[1, 2].all(x, x > 0) && [1, 2].exists(x, x > 1) && [1, 2].exists_one(x, x > 1)", True),
        ("{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])", True),
        ("cel.bind(x, 3, x * x)", 9),
        ("has({'a': 1}.a) && !has({'a': 1}.b)", True),
        ("{'a': 1}.?b.orValue(2)", 2),
        ("[1][?5].hasValue()", False),
        ("{'a': {'b': 1}}.?a.?b.value()", 1),
        ("optional.of(1).optMap(x, x + 1).orValue(0)", 2),
        ("[?optional.none(), 1]", [1]),
        ("{?'a': optional.of(1), 'b': 2}", {"a": 1, "b": 2}),
        ("type(1) == int && type('') != int", True),
        ("r'\\d' == '\\\\d' && '\\x41\\u0042' == 'AB'", True),
        ("'''a'b'''", "a'b"),
        ("0x1F == 31", True),
        ("1e3 == 1000.0", True),
        ("true ? 'y' : 'n'", "y"),
        # text
        ("'Hello'.charAt(1) + 'a,b'.split(',')[1] + ' x '.trim()", "ebx"),
        ("'abcabc'.indexOf('c', 3) == 5 && 'abcabc'.lastIndexOf('a') == 3", True),
        ("'aBc'.lowerAscii() + 'aBc'.upperAscii()", "abcABC"),
        ("'banana'.replace('a', 'o', 2)", "bonona"),
        ("'abcd'.substring(1, 3)", "bc"),
        ("['a', 'b'].join('-')", "a-b"),
        ("'abc'.matches('^a.c$') && 'a1b22'.find('[0-9]+') == '1'", True),
        ("'a1b22'.findAll('[0-9]+')", ["1", "22"]),
        ("'%s is %d, %.2f'.format(['x', 3, 1.5])", "x is 3, 1.50"),
        # lists, sets
        ("[3, 1, 2].max() - [3, 1, 2].min() + [1, 2].sum()", 5),
        ("[1, 2].isSorted() && ![2, 1].isSorted()", True),
        ("[1, 2, 1].lastIndexOf(1)", 2),
        ("sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 2])", True),
        # time
        ("timestamp('2024-02-29T12:00:00Z').getDayOfYear()", 59),
        ("timestamp('2024-02-29T12:00:00Z').getHours('+02:00')", 14),
        ("timestamp('2024-01-01T00:00:00Z') + duration('36h') > timestamp('2024-01-02T00:00:00Z')", True),
        ("string(duration('1h30m'))", "5400s"),
        # Kubernetes
        ("quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('50m').add(quantity('50m')) == quantity('100m')", True),
        ("isQuantity('10x')", False),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", True),
        ("ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && !isIP('1.2.3')", True),
        ("url('https://u@example.com:80/p?a=1&a=2').getQuery()['a']", ["1", "2"]),
        ("url('https://example.com:80/p').getPort() + url('https://example.com:80/p').getHostname()", "80example.com"),
        ("format.dns1123Label().validate('UP').hasValue() && !format.named('uuid').value()"
         ".validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", True),
    ],
)  # fmt: skip
def test_value(source: str, wanted: Any) -> None:
    assert value(source) == wanted


@pytest.mark.parametrize(
    ("source", "names", "text"),
    [
        ("self.b", {"self": {"a": 1}}, "no such key: b"),
        ("self[5]", {"self": [1]}, "index out of bounds: 5"),
        ("1 / self", {"self": 0}, "division by zero"),
        ("1 % self", {"self": 0}, "modulus by zero"),
        ("9223372036854775807 + self", {"self": 1}, "integer overflow"),
        ("self + 1", {"self": "a"}, "no such overload"),
        ("self && true", {"self": 1}, "no such overload"),
        ("optional.none().value()", {}, "optional.none() dereference"),
        ("self.matches('(')", {"self": "a"}, "error parsing regexp: missing ): ("),
        ("quantity(self).sign()", {"self": "x"},
         "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ],
)  # fmt: skip
def test_evaluation_errors(source: str, names: dict[str, Any], text: str) -> None:
    with pytest.raises(cel.CelError) as caught:
        value(source, **names)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("source", "returns", "text"),
    [
        ("self.nam", "dyn", "ERROR: <input>:1:5: undefined field 'nam'\n | self.nam\n | ....^"),
        ("this.name", "dyn", "ERROR: <input>:1:1: undeclared reference to 'this' (in container '')\n | this.name\n | ^"),
        ("self.name + 1", "dyn",
         "ERROR: <input>:1:11: found no matching overload for '_+_' applied to '(string, int)'\n | self.name + 1\n"
         " | ..........^"),
        ("self.age == 'x'", "dyn",
         "ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(int, string)'\n | self.age == 'x'\n"
         " | .........^"),
        ("self.name.size(1)", "dyn",
         "ERROR: <input>:1:15: found no matching overload for 'size' applied to 'string.(int)'\n"
         " | self.name.size(1)\n | ..............^"),
        ("self.tags.all(t, t > 1)", "dyn",
         "ERROR: <input>:1:20: found no matching overload for '_>_' applied to '(string, int)'\n"
         " | self.tags.all(t, t > 1)\n | ...................^"),
        ("self.age", "bool", "must evaluate to bool"),
        ("nope(1)", "dyn", "ERROR: <input>:1:5: undeclared reference to 'nope' (in container '')\n | nope(1)\n | ....^"),
    ],
)  # fmt: skip
def test_compile_errors(source: str, returns: str, text: str) -> None:
    with pytest.raises(cel.CompileError) as caught:
        cel.compile_expression(source, {"self": PERSON}, returns)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "source", ["", "1 +", "a b", "(1", "'abc", "[1, 2", "{1: }", "a.", "1 ? 2", "@", "if"]
)
def test_syntax_errors(source: str) -> None:
    with pytest.raises(cel.CompileError):
        cel.compile_expression(source, {"a": "dyn"})


def test_escaped_names_reach_properties() -> None:
    assert value("self.__namespace__ + self.a__dash__b", self={"namespace": "x", "a-b": "y"}) == "xy"


def test_a_hostile_expression_is_cut_off() -> None:
    program = cel.compile_expression("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", {"self": "dyn"})
    with pytest.raises(cel.CostExceeded, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate({"self": list(range(1000))}, limit=10_000)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(cel.CompileError):
        cel.compile_expression("(" * 5000 + "1" + ")" * 5000, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_everything_equals_itself_and_evaluation_changes_nothing(obj: Any) -> None:
    program = cel.compile_expression("self == self && !(self != self) && [self] == [self]", {"self": "dyn"})
    before = repr(obj)
    assert program.evaluate({"self": obj}) is True
    assert repr(obj) == before


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_division_and_remainder_agree(a: int, b: int) -> None:
    if b == 0 or (a, b) == (-(2**63), -1):
        return
    assert value("a / b * b + a % b == a", a=a, b=b) is True
    assert abs(value("a % b", a=a, b=b)) < abs(b)


@given(st.text(max_size=20), st.text(min_size=1, max_size=3))
def test_split_and_join_are_inverse(text: str, separator: str) -> None:
    assert value("t.split(s).join(s) == t", t=text, s=separator) is True


@given(st.text(alphabet="self.abc()[]{}+-*/<>=!&|?:'\"1 2,", max_size=30))
def test_any_text_compiles_or_is_refused(source: str) -> None:
    try:
        program = cel.compile_expression(source, {"self": "dyn"})
        program.evaluate({"self": {"a": 1}}, limit=10_000)
    except (cel.CompileError, cel.CelError):
        pass


def test_long_chains_are_no_deep_ones() -> None:
    chain = " && ".join(f"self != {n}" for n in range(2000))
    assert value(chain, self=-1) is True
    assert value(chain, self=1999) is False


def test_lists_of_type_set_and_map() -> None:
    tags = SetList(["a", "b"])
    assert (
        value("self == ['b', 'a'] && self + ['b', 'c'] == ['c', 'a', 'b'] && self[0] == 'a'", self=tags)
        is True
    )
    ports = MapList([{"n": 1, "v": "x"}, {"n": 2, "v": "y"}], ("n",))
    assert value("self == [{'n': 2, 'v': 'y'}, {'n': 1, 'v': 'x'}]", self=ports) is True
    assert value("(self + [{'n': 1, 'v': 'z'}, {'n': 3, 'v': 'w'}]).map(p, p.v)", self=ports) == [
        "z",
        "y",
        "w",
    ]
