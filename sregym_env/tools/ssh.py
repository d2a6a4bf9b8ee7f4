"""``ssh`` of the workstation: a login on the cluster's machines, by name or address, as root.

The key of the session is known on all of them. Nothing is interactive: what is to be run there is given, or comes in.
"""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.cluster.api import World
from sregym_env.cluster.streams import ExecResult
from sregym_env.errors import ClusterError
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell

_USAGE = (
    "usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface] [-b bind_address]\n"
    "           [-c cipher_spec] [-D [bind_address:]port] [-E log_file]\n"
    "           [-e escape_char] [-F configfile] [-I pkcs11] [-i identity_file]\n"
    "           [-J destination] [-L address] [-l login_name] [-m mac_spec]\n"
    "           [-O ctl_cmd] [-o option] [-p port] [-R address]\n"
    "           [-S ctl_path] [-W host:port] [-w local_tun[:remote_tun]]\n"
    "           destination [command [argument ...]]\n"
)
_SHORT = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:R:S:W:w:"
_TAKING = "BbcDEeFIiJLlmOopRSWw"
"""Options that take a word."""
FAILED = 255
"""Exit code where ssh itself fails."""


def ssh(world: World, argv: Sequence[str], stdin: str, shell: Shell, limit: float) -> ExecResult:
    """``ssh [options] [user@]machine [command ...]``; ``limit``: seconds that it may take."""
    words = list(argv[1:])
    at = 0
    # What follows the machine is the command's, options and all.
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if words[at][-1] in _TAKING and len(words[at]) == 2 else 1
    try:
        given, _ = options(words[:at], _SHORT, {})
    except UsageError as error:
        return ExecResult(stderr=f"{error}\n{_USAGE}", exit_code=FAILED)
    flags = dict(given)
    if "V" in flags:
        return ExecResult(stderr="OpenSSH_9.2p1 Debian-2+deb12u5, OpenSSL 3.0.15 3 Sep 2024\n")
    rest = words[at + 1 :] if at < len(words) and words[at] == "--" else words[at:]
    if not rest:
        return ExecResult(stderr=_USAGE, exit_code=FAILED)
    host = rest[0].removeprefix("ssh://").rpartition("@")[2]
    # Options may stand between the machine and the command as well.
    command = " ".join(rest[1:])
    while command.startswith(("-t ", "-tt ", "-T ", "-q ")):
        command = command.partition(" ")[2]
    port = flags.get("p", "22")
    if port != "22":
        return _lost(f"connect to host {host} port {port}: Connection refused")
    try:
        node = world.nodes.addressed(host)
        if not node:
            return _lost(f"Could not resolve hostname {host}: Name or service not known")
        if not command and not stdin:
            # A login without a terminal and without anything to do ends at once.
            command = "true"
        return world.nodes.run(node, command, stdin, limit)
    except ClusterError as error:
        return _lost(str(error))


def _lost(text: str) -> ExecResult:
    return ExecResult(stderr=f"ssh: {text}\n", exit_code=FAILED)
