"""What ``kubectl diff`` prints around the differences: the files that it has ``diff -u -N`` compare."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: default}}
data: {{level: {level}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"

HEAD = re.compile(
    r"diff -u -N (?P<old>/tmp/LIVE-\d{1,10})/(?P<label>\S+) (?P<new>/tmp/MERGED-\d{1,10})/(?P=label)\n"
    r"--- (?P=old)/(?P=label)\t(?P<before>\S+ \S+ \+0000)\n"
    r"\+\+\+ (?P=new)/(?P=label)\t(?P<after>\S+ \S+ \+0000)\n@@ "
)
"""What GNU diffutils 3.8 prints above the hunks of one of two directories' files."""


def diff(world: EmbeddedWorld, *manifests: str) -> ExecResult:
    return Kubectl(world.cluster, "default").run(["diff", "-f", "-"], "---\n".join(manifests))


def config(name: str, level: str) -> str:
    return CONFIG.format(name=name, level=level)


@pytest.fixture
def world() -> EmbeddedWorld:
    made = bare_cluster()
    for name in ("one", "two"):
        Kubectl(made.cluster, "default").run(["apply", "-f", "-"], config(name, "info"))
    return made


@pytest.mark.parametrize(
    ("manifests", "labels"),
    [
        ((config("one", "debug"),), ["v1.ConfigMap.default.one"]),
        ((config("new", "info"),), ["v1.ConfigMap.default.new"]),
        ((DEPLOYMENT,), ["apps.v1.Deployment.default.web"]),
        ((NAMESPACE,), ["v1.Namespace..shop"]),
        ((config("two", "warn"), config("one", "debug")), ["v1.ConfigMap.default.one", "v1.ConfigMap.default.two"]),
        ((config("one", "info"), config("two", "warn")), ["v1.ConfigMap.default.two"]),
        ((config("one", "info"),), []),
    ],
    ids=["changed", "new", "group", "no namespace", "two", "one of two", "none"],
)  # fmt: skip
def test_files_are_named_as_kubectl_names_them(
    manifests: tuple[str, ...], labels: list[str], world: EmbeddedWorld
) -> None:
    done = diff(world, *manifests)
    heads = list(HEAD.finditer(done.stdout))
    assert [head["label"] for head in heads] == labels
    assert (done.exit_code, done.stderr) == (int(bool(labels)), "")
    assert done.stdout.count("diff -u -N ") == len(labels)
    assert len({(head["old"], head["new"]) for head in heads}) == bool(labels)


def instant(shown: str) -> tuple[datetime, int]:
    """A file's time: to the second, and nanoseconds."""
    moment, _, rest = shown.partition(".")
    fraction, zone = rest.split(" ")
    assert (len(fraction), zone) == (9, "+0000")
    return datetime.strptime(moment, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC), int(fraction)


def test_files_are_written_one_after_the_other_when_the_command_runs(world: EmbeddedWorld) -> None:
    # Compared by name, but written in the order of the manifests.
    two, one = reversed(
        list(HEAD.finditer(diff(world, config("two", "warn"), config("one", "debug")).stdout))
    )
    times = [instant(head[field]) for head in (two, one) for field in ("before", "after")]
    assert times == sorted(set(times))
    assert (times[0][0].timestamp() - world.now() // 1_000_000) == 0


def test_directories_are_others_every_time_and_the_same_in_every_run(world: EmbeddedWorld) -> None:
    def named(at: EmbeddedWorld) -> set[str]:
        return {head["old"] for head in HEAD.finditer(diff(at, config("one", "debug")).stdout)}

    twin = world.fork()
    first = named(world)
    assert first == named(twin)
    twin.advance(2.0)
    assert first != named(twin)
