"""What a script asks to be done at its end."""

from __future__ import annotations

import pytest

from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell


@pytest.mark.parametrize(
    ("line", "out", "code"),
    [
        ("bash -c 'trap \"echo bye\" EXIT; echo hi'", "hi\nbye\n", 0),
        ("bash -c 'trap \"echo bye\" EXIT; exit 3'; echo $?", "bye\n3\n", 0),
        ("bash -c 'X=1; trap \"echo \\$X\" 0; X=2'", "2\n", 0),
        ("bash -c 'trap \"echo bye\" EXIT; trap - EXIT; echo hi'", "hi\n", 0),
        ("bash -c 'trap \"echo bye\" INT TERM; echo hi'", "hi\n", 0),
        ('bash -c \'trap "echo outer" EXIT; bash -c "echo inner"\'', "inner\nouter\n", 0),
        ("trap 'echo bye' EXIT; trap; echo hi", "trap -- 'echo bye' EXIT\nhi\n", 0),
    ],
)
def test_trap(line: str, out: str, code: int) -> None:
    done = Shell(Files(), {}).run(line)
    assert (done.stdout, done.exit_code) == (out, code), done.stderr
