"""A flag that a command does not know is refused, in the command's own words: never silent success."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.identity import ADMIN
from sregym_env.shell import builtins
from sregym_env.shell.commands.library import LIBRARY
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.workstation import Workstation

WORDS_ONLY = frozenset("[ : echo expr false printf test true yes".split())
"""Commands that have no flags, as in coreutils: what looks like one is a word."""
TAKES_ANY = frozenset("alias awk builtin command eval exec hash jobs kill let submit trap unalias sleep".split())
"""Commands with cases of their own below, or whose words begin with a hyphen as a rule."""
OTHERS = frozenset(("bash", "break", "continue", "exit", "return", "sh", "k", "."))
"""Shells and flow control, whose refusal the shell's own tests hold; short names of others."""


@pytest.fixture(scope="module")
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


def commands(desk: Workstation) -> list[str]:
    return sorted({*desk.names, *LIBRARY, *builtins.TABLE} - WORDS_ONLY - TAKES_ANY - OTHERS)


names = st.text(string.ascii_lowercase, min_size=3, max_size=9).map(lambda text: f"--no-such-{text}")


@given(data=st.data())
def test_a_long_flag_that_is_not_known(desk: Workstation, data: st.DataObject) -> None:
    command = data.draw(st.sampled_from(commands(desk)))
    flag = data.draw(names)
    done = desk.run(f"{command} {flag} </dev/null")
    assert done.exit_code != 0, f"{command} {flag}: {done.text!r}"
    assert done.text.strip(), f"{command} says nothing of {flag}"
    assert desk.defect is None
