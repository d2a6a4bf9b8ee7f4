"""``bc`` calculates exactly, and no program makes it calculate without end."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.shell.bc import numbers
from sregym_env.shell.bc.numbers import Number
from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell
from tests.effort import at_most

SHELL = Shell(Files({}), {})

anything = st.builds(Number, st.integers(-(10**25), 10**25), st.integers(0, 12))
places = st.integers(0, 15)


def exact(number: Number) -> Decimal:
    with localcontext(prec=200):
        return Decimal(number.units).scaleb(-number.scale)


@given(anything, anything, places)
def test_quotients_and_products_are_cut_off_not_rounded(left: Number, right: Number, scale: int) -> None:
    with localcontext(prec=200, rounding=ROUND_DOWN):
        product = numbers.multiply(left, right, scale)
        unit = Decimal(1).scaleb(-product.scale)
        assert exact(product) == (exact(left) * exact(right)).quantize(unit)
        if right.units:
            quotient = numbers.divide(left, right, scale)
            assert quotient.scale == scale
            assert exact(quotient) == (exact(left) / exact(right)).quantize(Decimal(1).scaleb(-scale))


@given(anything, anything, places)
def test_what_is_left_and_what_was_divided_make_the_whole(left: Number, right: Number, scale: int) -> None:
    if right.units:
        quotient = numbers.divide(left, right, scale)
        rest = numbers.modulo(left, right, scale)
        assert exact(left) == exact(quotient) * exact(right) + exact(rest)


@given(anything)
def test_what_is_written_is_read_back(number: Number) -> None:
    text = numbers.written(number, 10)
    back = numbers.read(text.lstrip("-"), 10) if len(text.lstrip("-")) else numbers.ZERO
    assert abs(exact(number)) == exact(back)


@given(st.integers(0, 10**15), st.integers(2, 16))
def test_bases(units: int, base: int) -> None:
    text = numbers.written(Number(units), base)
    assert numbers.read(text, base) == Number(units) or len(text) == 1


@given(anything)
def test_the_root_is_the_last_that_is_not_too_large(number: Number) -> None:
    if number.units >= 0:
        root = numbers.root(number, 5)
        above = Number(root.units + 1, root.scale)
        assert exact(root) ** 2 <= exact(number) < exact(above) ** 2


@pytest.mark.parametrize(
    "program",
    [
        "while (1) {}",
        "9^9^9^9",
        "2^99999999999",
        "x=9^9999; while (1) x=x*x",
        "x=9^9999; while (1) y=y+x*x",
        "scale=99999999; 1/3",
        "scale=2000; obase=2; while (1) 1/3",
        "define f(x) { return f(x+1) }\nf(1)",
        "e(99999999)",
        "for (;;) s(12345)",
        "(" * 5000 + "1",
        "-" * 3000 + "1",
        "1" * 30_000,
        'while (1) "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
        "scale=400; while (1) e(1.5)",
    ],
)
def test_programs_without_an_end_come_to_one(program: str) -> None:
    with at_most(2.5):
        result = SHELL.fork().run("bc -l", program + "\n")
    assert len(result.stdout) < 3_000_000


def test_a_file_comes_before_standard_input() -> None:
    shell = Shell(Files({"/f.bc": "x = 4\n"}), {})
    assert shell.run("bc -q /f.bc", "x*2\n").stdout == "8\n"
    assert shell.run("bc none").stderr == "File none is unavailable.\n"
