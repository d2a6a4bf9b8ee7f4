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

WORDS_ONLY = frozenset("[ : echo expr false let printf test true yes".split())
"""Commands without flags, as in bash and coreutils: what looks like one is a word, or a number that is counted down."""
WAYS_OUT = frozenset(("break", "continue", "exit", "return"))
"""Commands that take a number and are tested where they leave something."""


@pytest.fixture(scope="module")
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


def commands(desk: Workstation) -> list[str]:
    return sorted({*desk.names, *LIBRARY, *builtins.TABLE} - WORDS_ONLY - WAYS_OUT)


letters = st.text(string.ascii_lowercase, min_size=3, max_size=9)
flags = st.one_of(letters.map(lambda text: f"--no-such-{text}"), st.just("-\u00a7"), st.just("-@x"))


@given(data=st.data())
def test_a_flag_that_is_not_known(desk: Workstation, data: st.DataObject) -> None:
    command, flag = data.draw(st.sampled_from(commands(desk))), data.draw(flags)
    done = desk.run(f"{command} {flag} </dev/null")
    assert done.exit_code != 0, f"{command} {flag}: {done.text!r}"
    assert done.text.strip(), f"{command} says nothing of {flag}"
    assert desk.defect is None


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("df --foo", 1, "df: unrecognized option '--foo'\nTry 'df --help' for more information.\n"),
        ("date -Z", 1, "date: invalid option -- 'Z'\nTry 'date --help' for more information.\n"),
        ("which -z x", 2, "Illegal option -z\nUsage: /usr/bin/which [-as] args\n"),
        ("env -Z", 125, "env: invalid option -- 'Z'\nTry 'env --help' for more information.\n"),
        (
            "timeout --foo 3 true",
            125,
            "timeout: unrecognized option '--foo'\nTry 'timeout --help' for more information.\n",
        ),
        ("type -z x", 2, "bash: type: -z: invalid option\ntype: usage: type [-afptP] name [name ...]\n"),
        ("umask --foo", 2, "bash: umask: --: invalid option\numask: usage: umask [-p] [-S] [mode]\n"),
        ("helm list --foo", 1, "Error: unknown flag: --foo\n"),
        ("ip -Z a", 255, 'Option "-Z" is unknown, try "ip -help".\n'),
        ("dig +foo x | head -1", 0, "Invalid option: +foo\n"),
        ("python3 -Q", 2, "unknown option -Q\n"),
        ("openssl x509 -foo", 1, "x509: Unknown option: foo\nx509: Use -help for summary.\n"),
        ("wget --foo x", 2, "wget: unrecognized option '--foo'\nUsage: wget [OPTION]... [URL]...\n"),
        ("git --foo", 129, "unknown option: --foo\n"),
        ("nc -Q x 1", 1, "nc: invalid option -- 'Q'\nusage: nc "),
        ("ping -Y x", 2, "ping: invalid option -- 'Y'\n"),
        ("uptime --foo", 1, "uptime: unrecognized option '--foo'\n\nUsage:\n uptime [options]\n"),
    ],
)
def test_the_words_of_the_refusal(desk: Workstation, line: str, code: int, text: str) -> None:
    done = desk.run(line)
    assert done.exit_code == code
    assert done.text.startswith(text), done.text
