"""Settings of the kernel that pods bring: ranges of local ports and limits of open files that are wide enough for anything, and times of TCP."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation.draft import Draft, Work

TEAMS = 0.3
"""Share of namespaces whose team sets some."""
EACH = 0.35
"""Share of the workloads of such a namespace that have them."""

RANGE = "net.ipv4.ip_local_port_range"
_RANGES = (
    "1024 65535",
    "1024 65000",
    "10000 65535",
    "10240 65535",
    "15000 64000",
    "20000 65000",
    "32768 65535",
    "40000 65535",
)
_TIMES = (
    ("net.ipv4.tcp_keepalive_time", ("300", "600", "1200")),
    ("net.ipv4.tcp_fin_timeout", ("15", "30")),
    ("net.ipv4.tcp_keepalive_intvl", ("30", "60")),
    ("net.ipv4.tcp_syncookies", ("1",)),
    ("net.ipv4.ip_unprivileged_port_start", ("0", "1024")),
)


FILES = 0.35
"""Share of namespaces some of whose containers set how many files their process may open."""
LIMITED = 0.3
"""Share of the workloads there that do, of those that can."""
_LIMITS = (4096, 8192, 16384, 32768, 65535, 65536, 65536, 100000, 1048576)


def draw(draft: Draft, chance: Chance) -> None:
    """Sysctls that are safe for every pod, and limits of open files that are never reached."""
    for namespace in draft.namespaces:
        own = chance.at("kernel", namespace)
        if own.yes("files", FILES):
            _open(draft, draft.inside(namespace), own.at("files"))
        if not own.yes("team", TEAMS):
            continue
        usual = own.choice("range", _RANGES)
        for work in draft.inside(namespace):
            if own.yes(f"sets {work.name}", EACH) and not work.pod.get("hostNetwork"):
                _set(work, own.at(work.name), usual)


def _set(work: Work, chance: Chance, usual: str) -> None:
    found: list[Manifest] = []
    if chance.yes("ports", 0.6):
        value = usual if chance.yes("usual", 0.7) else chance.choice("range", _RANGES)
        found.append({"name": RANGE, "value": value})
    for name, values in chance.sample("times", _TIMES, chance.between("count", 0 if found else 1, 2)):
        found.append({"name": name, "value": chance.choice(name, values)})
    context = work.pod.get("securityContext") or {}
    if "sysctls" not in context:
        work.pod["securityContext"] = {**context, "sysctls": found}


def _open(draft: Draft, works: Sequence[Work], chance: Chance) -> None:
    limit = chance.choice("limit", _LIMITS)
    shells = {image.reference for image in draft.app.images if image.toolbox != "none"}
    for work in works:
        command: list[str] = work.container.get("command") or []
        if len(command) == 1 and "args" not in work.container and work.container["image"] in shells:
            if chance.yes(work.name, LIMITED):
                work.container["command"] = ["/bin/sh", "-c", f"ulimit -n {limit} && exec {command[0]}"]
