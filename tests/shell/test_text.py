"""``sort``, ``paste``, ``wc`` and ``jq`` against what GNU's and jq 1.7 print."""

from __future__ import annotations

import pytest

from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell

TABLE = "geo-1 1/1 Running 0 5h\nrate-1 0/1 CrashLoopBackOff 3 40s\nuser-1 1/1 Running 12 5h\n"
PODS = '{"items":[{"name":"b","phase":"Running","n":3},{"name":"a","phase":"Pending","n":1}]}'

CASES = [
    ("sort -k4 -nr t | cut -d' ' -f1", "user-1\nrate-1\ngeo-1\n"),
    ("sort -k4,4n t | head -1 | cut -c1-3", "geo\n"),
    ("sort -rk2,2 t | cut -d' ' -f1", "user-1\ngeo-1\nrate-1\n"),
    ("sort -k3,3 -k4,4nr t | cut -d' ' -f1", "rate-1\nuser-1\ngeo-1\n"),
    ("printf 'b,2\\na,10\\n' | sort -t, -k2n", "b,2\na,10\n"),
    ("printf '10Mi\\n2Gi\\n512Ki\\n' | sort -h", "512Ki\n10Mi\n2Gi\n"),
    ("printf 'v1.10\\nv1.9\\n' | sort -V", "v1.9\nv1.10\n"),
    ("printf 'b\\na\\nb\\n' | sort -u", "a\nb\n"),
    ("seq 3 | paste -sd+", "1+2+3\n"),
    ("seq 4 | paste - -", "1\t2\n3\t4\n"),
    ("wc -l < t", "3\n"),
    ("wc t", " 3 15 82 t\n"),
    ("jq -r --arg p Running '.items[] | select(.phase == $p) | .name' p", "b\n"),
    ("jq -c --argjson least 2 '[.items[].n | . >= $least]' p", "[true,false]\n"),
    ("jq --compact-output '[.items | group_by(.phase)[] | .[0].phase]' p", '["Pending","Running"]\n'),
    (
        "jq -r '.items[] | [.name, .n, true, null] | @csv, @tsv' p",
        '"b",3,true,\nb\t3\ttrue\t\n"a",1,true,\na\t1\ttrue\t\n',
    ),
    ("jq -c '.items[0].phase | capture(\"(?<x>[A-Z])(?<y>.*)\")' p", '{"x":"R","y":"unning"}\n'),
    ("jq -r '.items[0] | tojson, ([.name] | @sh)' p", '{"name":"b","phase":"Running","n":3}\n\'b\'\n'),
    ("jq -n '\"2026-08-06T10:00:00Z\" | fromdateiso8601'", "1786010400\n"),
    ("jq -r '.items | to_entries[] | \"\\(.key) \\(.value.name)\"' p", "0 b\n1 a\n"),
]


@pytest.mark.parametrize(("script", "expected"), CASES, ids=[case[0] for case in CASES])
def test_output(script: str, expected: str) -> None:
    shell = Shell(Files({"/w/t": TABLE, "/w/p": PODS}), {}, env={"PATH": "/bin"}, cwd="/w", clock=lambda: 0.0)
    result = shell.run(script)
    assert (result.stdout, result.stderr) == (expected, "")


@pytest.mark.parametrize(
    "script", ["sort -k0 t", "sort --nope t", "sort missing", "paste -x t", "wc missing"]
)
def test_errors(script: str) -> None:
    shell = Shell(Files({"/w/t": TABLE}), {}, env={"PATH": "/bin"}, cwd="/w", clock=lambda: 0.0)
    result = shell.run(script)
    assert result.exit_code
    assert result.stderr.startswith(script.split()[0])
