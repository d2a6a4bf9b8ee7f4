"""What a command line does with its input, and whether what was typed is a whole command."""

from __future__ import annotations

import shlex

import pytest

from sregym_env.shell.consuming import BLOCK, rest_of
from sregym_env.shell.reading import is_complete, reads_input


@pytest.mark.parametrize(
    "line",
    [
        "cat", "cat -", "sh", "bash -il", "sh -c 'cat > /tmp/x'", "sh -c 'while read x; do echo $x; done'", "tar xf -",
        "tar -xmf - -C /tmp", "grep x", "head -n 5", "awk '{print}'", "wc -l", "mongo", "mongosh host/db", "tee f", "wc -c", "head -c 5",
        "timeout 5 cat", "dd of=x", "bc -l", "nc host 80", "jq .x", "sh -c 'if grep -q x; then :; fi'", "chroot /host",
    ],
)  # fmt: skip
def test_reads(line: str) -> None:
    assert reads_input(shlex.split(line))


@pytest.mark.parametrize(
    "line",
    [
        "ls /", "cat f", "sh -c 'ls | grep x'", "sh -c 'cat < f'", "tar cf - /x", "tar xf a.tar", "grep x f",
        "wget -qO- x", "mongo --eval 1", "sh /x.sh", "python3 -c x", "sh -c 'cat <<E\nx\nE'", "redis-cli ping",
        "timeout 5 ls", "dd if=/dev/zero", "sh -c 'for i in 1 2; do wget x; done'", "chroot /host ls", "sh -c 'fi'",
        "grep -r x", "nc -zv host 80", "jq -n 1", "awk 'BEGIN {print 1}'",
    ],
)  # fmt: skip
def test_reads_not(line: str) -> None:
    assert not reads_input(shlex.split(line))


@pytest.mark.parametrize(
    ("script", "complete"),
    [
        ("ls\n", True), ("if true; then\n", False), ("for i in 1 2; do\n", False), ("echo 'abc\n", False),
        ('echo "abc\n', False), ("cat <<E\nx\n", False), ("cat <<E\nx\nE\n", True), ("echo $(ls\n", False),
        ("ls |\n", False), ("ls &&\n", False), ("case x in\n", False), ("f() {\n", False), ("ls \\\n", False),
        ("fi\n", True), ("echo $((1+2))\n", True), ("echo hi # it's\n", True), ("cat <<<x\n", True),
    ],
)  # fmt: skip
def test_is_complete(script: str, complete: bool) -> None:
    assert is_complete(script) is complete


@pytest.mark.parametrize(
    ("line", "seekable", "rest"),
    [
        ("cat", False, ""), ("grep x file", False, "1\n2\n3\n"), ("head -1", False, ""), ("head -n1", True, "2\n3\n"),
        ("head --lines=2", True, "3\n"), ("head -n 9", True, ""), ("head -c 2", False, "2\n3\n"),
        ("head --bytes=4", False, "3\n"), ("head -n -1", True, ""), ("sed -u 2q", False, "3\n"), ("sed 2q", False, ""),
        ("ls", False, "1\n2\n3\n"), ("head -n 0", False, "1\n2\n3\n"),
    ],
)  # fmt: skip
def test_what_a_command_leaves(line: str, seekable: bool, rest: str) -> None:
    assert rest_of(shlex.split(line), "1\n2\n3\n", seekable=seekable) == rest


def test_of_a_pipe_a_whole_block_is_gone() -> None:
    text = "x" * 99 + "\n"
    assert len(rest_of(["head", "-1"], text * 200, seekable=False)) == 20_000 - BLOCK
    assert len(rest_of(["head", "-100"], text * 200, seekable=False)) == 20_000 - 2 * BLOCK
