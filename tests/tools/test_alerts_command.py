"""The ``alerts`` command."""

from __future__ import annotations

import json

import pytest

from sregym_env.cluster.health import Alert
from sregym_env.tools.alerts import USAGE, alerts

NOW = 1_786_010_534_000_000
FOUND = [
    Alert("KubePodCrashLooping", "firing", "warning", {"namespace": "shop", "pod": "web-1"}, "Pod crashes",
          NOW - 300_000_000),
    Alert("HighErrorRate", "pending", "critical", {"namespace": "other"}, "Errors", NOW - 30_000_000),
]  # fmt: skip


def test_lists_every_alert() -> None:
    lines = alerts(FOUND, [], NOW).stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("STATE")
    assert "KubePodCrashLooping" in lines[1]
    assert "5m" in lines[1]
    assert "HighErrorRate" in lines[2]
    assert lines == [line.rstrip() for line in lines]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--state", "firing"], ["KubePodCrashLooping"]),
        (["--state=pending"], ["HighErrorRate"]),
        (["-n", "shop"], ["KubePodCrashLooping"]),
        (["--namespace=nowhere"], []),
    ],
)
def test_filters(arguments: list[str], names: list[str]) -> None:
    found = json.loads(alerts(FOUND, [*arguments, "-o", "json"], NOW).stdout)
    assert [alert["labels"]["alertname"] for alert in found["alerts"]] == names


def test_nothing_is_said_plainly() -> None:
    assert alerts([], [], NOW).stdout == "No alerts are pending or firing.\n"


@pytest.mark.parametrize("arguments", [["-x"], ["--state", "bogus"], ["extra"]])
def test_misuse(arguments: list[str]) -> None:
    done = alerts(FOUND, arguments, NOW)
    assert done.exit_code == 2
    assert done.stderr.endswith(USAGE)
    assert alerts([], ["--help"], NOW).stdout == USAGE
