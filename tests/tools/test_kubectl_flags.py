"""No flag is swallowed: each command knows those of the real kubectl 1.32 and refuses all others in its words.

``data/kubectl_flags.json`` is what the real one's help says (``python tools_dev/draw_kubectl_lines.py --flags``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.kubectl import Kubectl
from sregym_env.tools.kubectl.call import Verb
from sregym_env.tools.kubectl.flags import GLOBAL_FLAGS, Flag, flag_set
from sregym_env.tools.kubectl.verbs import VERBS

REAL = json.loads((Path(__file__).parent / "data" / "kubectl_flags.json").read_text())
EVERYWHERE = {flag.name for flag in GLOBAL_FLAGS}
HIDDEN = {"record", "help"}
"""Known and not listed: deprecated, or known to every command."""


def commands(verbs: Sequence[Verb] = VERBS, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Verb]]:
    """Every command that does something, by its words."""
    for verb in verbs:
        words = (*path, verb.name)
        if verb.run is not None:
            yield " ".join(words), verb
        yield from commands(verb.verbs, words)


COMMANDS = dict(commands())


def own(verb: Verb) -> dict[str, Flag]:
    return {flag.name: flag for flag in flag_set(verb.flags).flags if flag.name not in HIDDEN}


def kind_of(shown: str) -> str:
    """The type of a flag, by how help shows its default."""
    if shown in ("true", "false"):
        return "bool"
    if shown.startswith("["):
        return "list"
    if re.fullmatch(r"-?\d+", shown):
        return "int"
    return "duration" if re.fullmatch(r"[\dhm.]+s", shown) else "string"


@pytest.mark.parametrize("command", sorted(REAL.keys() & COMMANDS.keys()))
def test_the_flags_are_those_of_the_real_one(command: str) -> None:
    ours, real = own(COMMANDS[command]), REAL[command]
    assert real.keys() <= ours.keys()
    assert ours.keys() - EVERYWHERE <= real.keys()
    kinds = {"strings": "list", "csv": "list", "int32": "int"}
    for name, (short, shown) in real.items():
        if name in EVERYWHERE or not shown:
            continue
        flag = ours[name]
        assert (flag.short, kinds.get(flag.kind, flag.kind)) == (short, kind_of(shown)), name
        if flag.kind == "bool":
            assert bool(flag.default) == (shown == "true"), name


KUBECTL = Kubectl(bare_cluster().cluster)


def refusal(command: str, text: str) -> tuple[str, str, int]:
    if command == "diff":
        return "", f"error: {text}\nSee 'kubectl diff -h' for help and examples\n", 2
    return "", f"error: {text}\nSee 'kubectl {command} --help' for usage.\n", 1


def said(command: str, *words: str) -> tuple[str, str, int]:
    done = KUBECTL.run([*command.split(), *words])
    # A deprecated flag says so before anything else.
    return done.stdout, re.sub(r"\AFlag --record has been .*\n", "", done.stderr), done.exit_code


NAMES = st.from_regex(r"[a-z][a-z-]{0,12}[a-z]", fullmatch=True)


@given(command=st.sampled_from(sorted(COMMANDS)), name=NAMES)
def test_an_unknown_flag_is_refused(command: str, name: str) -> None:
    if name not in flag_set(COMMANDS[command].flags).long:
        assert said(command, f"--{name}=x") == refusal(command, f"unknown flag: --{name}")


@given(
    command=st.sampled_from(sorted(COMMANDS)),
    letter=st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"),
)
def test_an_unknown_letter_is_refused(command: str, letter: str) -> None:
    if letter not in flag_set(COMMANDS[command].flags).short:
        expected = f"unknown shorthand flag: '{letter}' in -{letter}"
        assert said(command, f"-{letter}") == refusal(command, expected)


WRONG = {
    "bool": ("yes", "strconv.ParseBool: parsing {}: invalid syntax"),
    "int": ("3.5", "strconv.ParseInt: parsing {}: invalid syntax"),
    "int32": ("2147483648", "strconv.ParseInt: parsing {}: value out of range"),
    "duration": ("5", "time: missing unit in duration {}"),
}


@given(data=st.data(), command=st.sampled_from(sorted(COMMANDS)))
def test_a_value_of_the_wrong_type_is_refused(data: st.DataObject, command: str) -> None:
    typed = sorted(
        (flag for flag in flag_set(COMMANDS[command].flags).flags if flag.kind in WRONG),
        key=lambda flag: flag.name,
    )
    flag = data.draw(st.sampled_from(typed))
    value, text = WRONG[flag.kind]
    shown = f"-{flag.short}, --{flag.name}" if flag.short else f"--{flag.name}"
    complaint = f'invalid argument "{value}" for "{shown}" flag: ' + text.format(f'"{value}"')
    assert said(command, f"--{flag.name}={value}") == refusal(command, complaint)


@given(data=st.data(), command=st.sampled_from(sorted(COMMANDS)))
def test_a_flag_without_its_value_is_refused(data: st.DataObject, command: str) -> None:
    needing = sorted(
        flag.name
        for flag in flag_set(COMMANDS[command].flags).flags
        if flag.kind != "bool" and flag.bare is None
    )
    name = data.draw(st.sampled_from(needing))
    assert said(command, f"--{name}") == refusal(command, f"flag needs an argument: --{name}")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0x10", 16), ("010", 8), ("0b11", 3), ("0o17", 15), ("1_000", 1000), ("-0x1", -1), ("+2", 2), ("9223372036854775807", 2**63 - 1),
    ],
)  # fmt: skip
def test_integers_are_read_as_go_reads_them(text: str, number: int) -> None:
    parsed = flag_set(COMMANDS["scale"].flags).parse([f"--replicas={text}"], "scale")
    assert parsed.values["replicas"] == number


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("9223372036854775808", "value out of range"), ("1" * 50, "value out of range"), ("08", "invalid syntax"), (" 1", "invalid syntax"),
        ("1__0", "invalid syntax"), ("1_", "invalid syntax"), ("", "invalid syntax"), ("1e3", "invalid syntax"),
    ],
)  # fmt: skip
def test_what_is_no_integer_is_refused(text: str, why: str) -> None:
    expected = f'invalid argument "{text}" for "--replicas" flag: strconv.ParseInt: parsing "{text}": {why}'
    assert said("scale", "deploy/x", f"--replicas={text}") == refusal("scale", expected)
