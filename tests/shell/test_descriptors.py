"""Descriptors: many of them, and files that are written again and again."""

from __future__ import annotations

from sregym_env.shell.files import MAX_BYTES, Files
from sregym_env.shell.shell import Shell


def shell() -> Shell:
    return Shell(Files(), {}, cwd="/home")


def test_a_descriptor_outlives_three_hundred_others() -> None:
    script = "exec 3>f; for i in {1..300}; do echo x > g; done; echo hi >&3; cat f"
    assert shell().run(script).text == "hi\n"


def test_descriptors_run_out() -> None:
    result = shell().run("for i in {1..251}; do exec {x}>f; done; echo $x")
    assert result.text == "bash: x: Too many open files\n259\n"


def test_a_log_that_grows_by_lines_costs_its_length() -> None:
    own = shell()
    line = "x" * 1023
    turns = 500
    assert turns * turns // 2 * 1024 > MAX_BYTES
    assert (
        own.run(f"for i in {{1..{turns}}}; do echo {line} >> log; done; wc -c < log").text
        == f"{turns * 1024}\n"
    )
