"""What ``cat /etc/hosts`` and ``ps`` show inside a container, and wrk2's error counters."""

from __future__ import annotations

import pytest

from sregym_env.sim.programs.toolbox import _command, _hosts_file
from sregym_env.sim.programs.wrk2 import _socket_error

LOOPBACK = (("127.0.0.1", ("localhost",)), ("::1", ("localhost",)))


def test_hosts_file_without_aliases() -> None:
    text = _hosts_file((*LOOPBACK, ("10.244.1.5", ("web-1",))), "10.244.1.5")
    assert text.splitlines()[0] == "# Kubernetes-managed hosts file."
    assert text.endswith("fe00::2\tip6-allrouters\n10.244.1.5\tweb-1\n")


def test_hosts_file_with_aliases() -> None:
    entries = (*LOOPBACK, ("10.244.1.5", ("web-1",)), ("10.0.0.9", ("db", "db.local")))
    assert _hosts_file(entries, "10.244.1.5").endswith(
        "10.244.1.5\tweb-1\n\n# Entries added by HostAliases.\n10.0.0.9\tdb\tdb.local\n"
    )


@pytest.mark.parametrize(
    ("program", "argv", "shown"),
    [
        ("mongod", ("docker-entrypoint.sh", "--auth"), ["mongod", "--auth"]),
        ("mongod", ("docker-entrypoint.sh", "mongod", "--auth"), ["mongod", "--auth"]),
        ("memcached", ("docker-entrypoint.sh",), ["memcached"]),
        ("service", ("geo",), ["geo"]),
    ],
)
def test_process_one(program: str, argv: tuple[str, ...], shown: list[str]) -> None:
    assert _command(program, argv) == shown


@pytest.mark.parametrize(
    ("text", "counter"),
    [
        ("dial tcp 10.96.0.9:5000: connect: connection refused", "connect"),
        ("dial tcp: lookup frontend on 10.96.0.10:53: no such host", "connect"),
        ("read: connection reset by peer", "read"),
        ("dial tcp 10.96.0.9:5000: i/o timeout", "timeout"),
    ],
)
def test_socket_errors(text: str, counter: str) -> None:
    assert _socket_error(text) == counter
