"""Building kustomizations; what the real kustomize prints is recorded in tests/parity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.kustomize import KustomizeError, build
from sregym_env.kube.kustomize.merging import strategic
from sregym_env.kube.kustomize.replacing import steps_of
from sregym_env.kube.kustomize.trees import edit, path
from sregym_env.kube.types import Manifest

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1.2", envFrom: [{configMapRef: {name: settings}}]}]
"""


class Memory:
    """Files by path."""

    def __init__(self, **files: str) -> None:
        self._files = {
            name.replace("__", "/").replace("_yaml", ".yaml"): text for name, text in files.items()
        }

    def read_text(self, path: str) -> str:
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    def list_files(self, path: str) -> list[str]:
        return sorted(name for name in self._files if name.rpartition("/")[0] == path)


def built(kustomization: str, **more: str) -> dict[str, Manifest]:
    """The objects of a kustomization of one Deployment, by kind."""
    files = Memory(k__kustomization_yaml=kustomization, k__web_yaml=DEPLOYMENT, **more)
    return {obj["kind"]: obj for obj in build(files, "k").objects}


def test_names_are_followed_into_references() -> None:
    found = built(
        "resources: [web.yaml]\nnamePrefix: a-\nconfigMapGenerator: [{name: settings, literals: [x=y]}]\n"
    )
    name = found["ConfigMap"]["metadata"]["name"]
    assert name.startswith("a-settings-")
    container = found["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert container["envFrom"] == [{"configMapRef": {"name": name}}]


def test_the_hash_is_of_the_content() -> None:
    def name(value: str) -> str:
        text = f"configMapGenerator: [{{name: settings, literals: [x={value}]}}]\n"
        return str(built(text)["ConfigMap"]["metadata"]["name"])

    assert name("y") == name("y") != name("z")


@pytest.mark.parametrize(
    ("images", "image"),
    [
        ("{name: nginx, newTag: '2'}", "nginx:2"),
        ("{name: nginx, newName: a/b}", "a/b:1.2"),
        ("{name: nginx, digest: 'sha256:x'}", "nginx@sha256:x"),
        ("{name: other, newTag: '2'}", "nginx:1.2"),
    ],
)
def test_images(images: str, image: str) -> None:
    found = built(f"resources: [web.yaml]\nimages: [{images}]\n")
    assert found["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"] == image


def test_labels_reach_selectors_only_when_asked() -> None:
    plain = built("resources: [web.yaml]\nlabels: [{pairs: {a: b}}]\n")["Deployment"]["spec"]
    deep = built("resources: [web.yaml]\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n")["Deployment"][
        "spec"
    ]
    assert "a" not in plain["selector"]["matchLabels"]
    assert deep["selector"]["matchLabels"]["a"] == deep["template"]["metadata"]["labels"]["a"] == "b"


def test_new_list_items_go_first() -> None:
    merged = strategic(
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a"}, {"name": "b"}]}},
        {
            "spec": {
                "containers": [{"name": "c"}, {"name": "b", "image": "x"}, {"name": "a", "$patch": "delete"}]
            }
        },
    )
    assert merged is not None
    assert merged["spec"]["containers"] == [{"name": "c"}, {"name": "b", "image": "x"}]


@pytest.mark.parametrize(
    ("kustomization", "text"),
    [
        ("resources: [missing.yaml]\n", "no such file or directory"),
        ("foo: bar\n", 'unknown field "foo"'),
        ("", "kustomization.yaml is empty"),
        ("resources: [web.yaml, web.yaml]\n", "already registered id: Deployment.v1.apps/web"),
        ("resources: [web.yaml]\nreplicas: [{name: x, count: 1}]\n", "resource with name x does not match"),
        ("resources: [../k]\n", "cycle detected"),
    ],
)
def test_refusals(kustomization: str, text: str) -> None:
    with pytest.raises(KustomizeError, match=text):
        built(kustomization)


def test_steps_of_a_field_path() -> None:
    assert steps_of(r"a.b\.c.[name=x.y].0") == ["a", "b.c", "[name=x.y]", "0"]


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(), max_size=3))
def test_editing_shares_what_it_does_not_touch(rest: dict[str, int]) -> None:
    tree: Manifest = {**rest, "x": {"y": [{"z": 1}, {"z": 2}], "other": rest}}
    made = edit(tree, path("x/y/z"), lambda value: value + 1)
    assert [item["z"] for item in made["x"]["y"]] == [2, 3]
    assert made["x"]["other"] is tree["x"]["other"]
    assert edit(tree, path("nothing/here"), lambda _: 1) is tree
