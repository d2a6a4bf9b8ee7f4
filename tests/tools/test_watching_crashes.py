"""A crash is seen as it comes: ``get pods -w`` shows the end of a container before the back-off that follows it."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.workstation import Workstation

POD = """apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  {field}:
  - {{name: c, image: "busybox:1.36", command: {command}}}
{main}"""
MAIN = '  containers:\n  - {name: main, image: "busybox:1.36", command: [sleep, "99"]}\n'


@pytest.mark.parametrize(
    ("field", "command", "words"),
    [
        ("containers", "[sh, -c, 'exit 3']", ["Error", "CrashLoopBackOff"]),
        ("containers", "[sh, -c, 'sleep 2; exit 3']", ["Running", "Error", "CrashLoopBackOff"]),
        ("containers", "['true']", ["Completed", "CrashLoopBackOff"]),
        ("containers", "[nothing]", ["RunContainerError", "CrashLoopBackOff"]),
        ("initContainers", "[sh, -c, 'exit 3']", ["Init:Error", "Init:CrashLoopBackOff"]),
        ("initContainers", "[nothing]", ["Init:RunContainerError", "Init:CrashLoopBackOff"]),
    ],
)
def test_an_end_is_watched_before_its_back_off(field: str, command: str, words: list[str]) -> None:
    desk = Workstation(bare_cluster(), ADMIN)
    text = POD.format(field=field, command=command, main=MAIN if field == "initContainers" else "")
    assert not desk.run(f"kubectl apply -f - <<'EOF'\n{text}EOF\n").exit_code
    lines = desk.run("kubectl get pods p -w --no-headers").text.splitlines()
    shown = [line.split()[2] for line in lines if line.startswith("p ")]
    for first, second in pairwise(words):
        assert second in shown[shown.index(first) + 1 :], shown
    end, back_off = words[-2:]
    # Never the back-off of an end that nobody saw: the two take turns, of the first two runs alone no back-off is seen.
    seen = [word for word, _ in groupby(word for word in shown if word in (end, back_off))]
    assert seen == [end, back_off] * (len(seen) // 2) + [end] * (len(seen) % 2), shown
    assert len(seen) >= 3, shown
