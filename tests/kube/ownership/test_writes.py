"""Updates and applies: laws, and the documented examples of server-side apply."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.ownership import clientside, entries, inferred, shape, writes
from sregym_env.kube.ownership.entries import Entry, capped, decode, encode, handed_over
from sregym_env.kube.ownership.fields import from_paths, path
from sregym_env.kube.registry import BUILTIN, Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

TIMES = [f"2026-01-01T00:{minute:02}:00Z" for minute in range(60)]


def versions(key: str) -> writes.Versions:
    kind = resource(key)
    return writes.Versions(kind.api_version, {kind.api_version: shape.of_resource(kind)}, lambda obj, _: obj)


def resource(key: str) -> Resource:
    found = BUILTIN.by_key(key)
    assert found is not None
    return found


class Object:
    """One object that several managers write."""

    def __init__(self, key: str = "configmaps") -> None:
        self.kind = resource(key)
        self.versions = versions(key)
        self.live: Manifest = inferred.empty(self.kind.api_version, self.kind.kind)
        self.owners: tuple[Entry, ...] = ()
        self._clock = iter(TIMES)

    def _writer(self, manager: str, operation: entries.Operation, subresource: str = "") -> writes.Writer:
        ignored = path("status") if "status" in self.kind.subresources and not subresource else {}
        return writes.Writer(
            manager, operation, self.kind.api_version, next(self._clock), subresource, ignored
        )

    def apply(self, manager: str, body: Manifest, *, force: bool = False) -> Object:
        config = self._whole(body)
        writer = self._writer(manager, "Apply")
        found = clientside.applied(self.versions, self.live, config, self.owners, writer, force=force)
        self.live, self.owners = found.object, found.entries
        return self

    def update(self, manager: str, body: Manifest, subresource: str = "") -> Object:
        new = self._whole(body)
        writer = self._writer(manager, "Update", subresource)
        self.owners = writes.updated(self.versions, self.live, new, self.owners, writer)
        self.live = new
        return self

    def _whole(self, body: Manifest) -> Manifest:
        metadata = {"name": "x", "namespace": "default", **body.get("metadata", {})}
        return {"apiVersion": self.kind.api_version, "kind": self.kind.kind, **body, "metadata": metadata}

    @property
    def data(self) -> Any:
        return self.live.get("data", {})

    def owned(self) -> list[tuple[str, str, Any]]:
        return [(e["manager"], e["operation"], e["fieldsV1"]) for e in encode(self.owners)]


# --- the documentation's examples -------------------------------------------------------------------


def test_an_applied_config_map() -> None:
    """https://kubernetes.io/docs/reference/using-api/server-side-apply/#example"""
    obj = Object().apply(
        "kubectl", {"metadata": {"labels": {"test-label": "test"}}, "data": {"key": "some value"}}
    )
    assert obj.owned() == [
        ("kubectl", "Apply", {"f:data": {"f:key": {}}, "f:metadata": {"f:labels": {"f:test-label": {}}}})
    ]
    obj.update("kube-controller-manager", {**obj.live, "data": {"key": "new value"}})
    assert obj.owned() == [
        ("kubectl", "Apply", {"f:metadata": {"f:labels": {"f:test-label": {}}}}),
        ("kube-controller-manager", "Update", {"f:data": {"f:key": {}}}),
    ]
    with pytest.raises(StatusError) as refused:
        obj.apply("kubectl", {"metadata": {"labels": {"test-label": "test"}}, "data": {"key": "some value"}})
    assert refused.value.message == (
        'Apply failed with 1 conflict: conflict with "kube-controller-manager" using v1: .data.key'
    )
    assert refused.value.details["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kube-controller-manager" using v1',
            "field": ".data.key",
        }
    ]


def _deployment(replicas: int | None = 3, image: str = "nginx:1.14.2") -> Manifest:
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "nginx"}}}
    if replicas is not None:
        spec["replicas"] = replicas
    spec["template"] = {
        "metadata": {"labels": {"app": "nginx"}},
        "spec": {"containers": [{"name": "nginx", "image": image}]},
    }
    return {"metadata": {"labels": {"app": "nginx"}}, "spec": spec}


def test_replicas_are_handed_to_an_autoscaler() -> None:
    """https://kubernetes.io/docs/reference/using-api/server-side-apply/#transferring-ownership"""
    obj = Object("deployments.apps").apply("kubectl", _deployment())
    partial = {"spec": {"replicas": 3}}
    obj.apply("handover-to-hpa", partial)
    assert [owner for owner, _, fields in obj.owned() if "f:replicas" in fields["f:spec"]] == [
        "kubectl",
        "handover-to-hpa",
    ]
    obj.apply("kubectl", _deployment(None))
    assert obj.live["spec"]["replicas"] == 3
    assert [owner for owner, _, fields in obj.owned() if "f:replicas" in fields["f:spec"]] == [
        "handover-to-hpa"
    ]


def test_a_conflict_between_appliers() -> None:
    obj = Object("deployments.apps").apply("one", _deployment())
    with pytest.raises(StatusError) as refused:
        obj.apply("two", _deployment(5, "nginx:2"))
    assert refused.value.message == (
        'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.replicas\n'
        '- .spec.template.spec.containers[name="nginx"].image'
    )
    obj.apply("two", _deployment(5, "nginx:2"), force=True)
    assert obj.live["spec"]["replicas"] == 5
    one, two = (fields["f:spec"] for _, _, fields in obj.owned())
    assert "f:replicas" not in one and "f:replicas" in two


def test_conflicts_with_several_managers_are_told_one_after_the_other() -> None:
    obj = Object().apply("b", {"data": {"y": "1"}}).apply("a", {"data": {"x": "1"}})
    obj.update("c", {**obj.live, "data": {**obj.data, "z": "1"}})
    with pytest.raises(StatusError) as refused:
        obj.apply("me", {"data": {"x": "2", "y": "2", "z": "2"}})
    assert refused.value.message == (
        'Apply failed with 3 conflicts: conflicts with "a":\n- .data.x\nconflicts with "b":\n- .data.y\n'
        'conflicts with "c" using v1:\n- .data.z'
    )


def test_conflicts_name_the_subresource() -> None:
    obj = Object("deployments.apps").apply("kubectl", _deployment())
    obj.update("hpa", {**obj.live, "spec": {**obj.live["spec"], "replicas": 7}}, "scale")
    with pytest.raises(StatusError) as refused:
        obj.apply("kubectl", _deployment())
    assert (
        'conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas' in refused.value.message
    )


def test_an_item_that_only_its_applier_owns_goes() -> None:
    obj = Object("deployments.apps")
    sidecar = _deployment()
    containers = sidecar["spec"]["template"]["spec"]["containers"]
    obj.apply("one", {**sidecar})
    with_log = _deployment()
    with_log["spec"]["template"]["spec"]["containers"] = [*containers, {"name": "log", "image": "log:1"}]
    obj.apply("one", with_log)
    obj.apply("two", {"spec": {"template": {"spec": {"containers": [{"name": "log", "stdin": True}]}}}})
    obj.apply("one", sidecar)
    left = obj.live["spec"]["template"]["spec"]["containers"]
    assert left == [{"name": "nginx", "image": "nginx:1.14.2"}, {"name": "log", "stdin": True}]
    obj.apply("two", {})
    assert obj.live["spec"]["template"]["spec"]["containers"] == [{"name": "nginx", "image": "nginx:1.14.2"}]


def test_the_first_apply_meets_what_was_there_before() -> None:
    obj = Object()
    obj.live = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}}
    before = writes.Writer(writes.BEFORE_APPLY, "Update", "v1", TIMES[0])
    obj.owners = writes.updated(obj.versions, inferred.empty("v1", "ConfigMap"), obj.live, (), before)
    with pytest.raises(StatusError, match=r'conflict with "before-first-apply" using v1: \.data\.a'):
        obj.apply("me", {"data": {"a": "2"}})


def test_kubectl_takes_over_what_it_applied_from_the_client() -> None:
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","b":"1"}}\n'
    body = {"metadata": {"annotations": {inferred.LAST_APPLIED: text}}, "data": {"a": "1", "b": "1"}}
    obj = Object().update("kubectl-client-side-apply", body)
    with pytest.raises(StatusError):
        obj.apply("other", {"data": {"a": "2"}})
    obj.apply("kubectl", {"data": {"a": "2", "b": "1"}})
    assert obj.data == {"a": "2", "b": "1"}
    assert '"data":{"a":"2","b":"1"}' in obj.live["metadata"]["annotations"][inferred.LAST_APPLIED]
    moved = handed_over(obj.owners, "kubectl-client-side-apply", "kubectl")
    assert [entry.operation for entry in moved] == ["Apply"]
    obj.owners = moved
    obj.apply("kubectl", {"data": {"a": "2"}})
    assert obj.data == {"a": "2"}


def test_what_changed_since_is_not_taken_over() -> None:
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}}\n'
    body = {"metadata": {"annotations": {inferred.LAST_APPLIED: text}}, "data": {"a": "1"}}
    obj = Object().update("kubectl-client-side-apply", body)
    obj.update("kubectl-edit", {**obj.live, "data": {"a": "5"}})
    with pytest.raises(StatusError, match=r'conflict with "kubectl-edit" using v1: \.data\.a'):
        obj.apply("kubectl", {"data": {"a": "2"}})


# --- entries ----------------------------------------------------------------------------------------


def test_entries_are_ordered_and_read_back() -> None:
    some = (
        Entry("z", "Update", "v1", path("data"), TIMES[1]),
        Entry("b", "Update", "v1", path("data"), TIMES[0]),
        Entry("b", "Update", "v1", path("status"), TIMES[0], "status"),
        Entry("k", "Apply", "v1", path("data"), TIMES[5]),
        Entry("gone", "Update", "v1", {}, TIMES[5]),
    )
    found = encode(some)
    assert [(e["manager"], e.get("subresource")) for e in found] == [
        ("k", None), ("b", None), ("b", "status"), ("z", None),
    ]  # fmt: skip
    assert list(found[2]) == [
        "manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource",
    ]  # fmt: skip
    assert encode(decode(found)) == found


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"operation": "Apply", "fieldsType": "FieldsV2"},
        {"operation": "Delete", "fieldsType": "FieldsV1"},
        {"operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"x": {}}},
        "text",
    ],
)
def test_malformed_entries_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="entry"):
        decode([bad])


def test_old_updates_are_merged() -> None:
    obj = Object()
    for index in range(14):
        obj.update(f"manager-{index:02}", {"data": {**obj.data, f"key-{index:02}": "1"}})
    names = [owner for owner, _, _ in obj.owned()]
    assert len(names) == entries.MOST_UPDATERS
    assert names[0] == entries.OLD_UPDATES
    assert names[1:] == [f"manager-{index:02}" for index in range(5, 14)]
    assert set(obj.owned()[0][2]["f:data"]) == {".", *(f"f:key-{index:02}" for index in range(5))}


def test_capping_leaves_appliers_alone() -> None:
    many = tuple(Entry(f"m{i:02}", "Apply", "v1", path("data"), TIMES[i]) for i in range(20))
    assert capped(many) == many


def test_identity_is_nobodys() -> None:
    obj = Object().apply("me", {"metadata": {"name": "x", "uid": "u", "labels": {"a": "b"}}})
    assert obj.owned() == [("me", "Apply", {"f:metadata": {"f:labels": {"f:a": {}}}})]
    assert from_paths(("metadata", "name"))["f:metadata"].keys() <= writes.UNOWNED["f:metadata"].keys()


def test_a_change_without_an_author_leaves_no_trace() -> None:
    obj = Object().update("maker", {"data": {"a": "1", "b": "1"}}).apply("me", {"data": {"b": "1"}})
    new = {**obj.live, "data": {"b": "2", "c": "3"}}
    found = encode(writes.revised(obj.versions, obj.live, new, obj.owners))
    assert [(e["manager"], e["time"], set(e["fieldsV1"]["f:data"])) for e in found] == [
        ("me", TIMES[1], {"f:b"}),
        ("maker", TIMES[0], {".", "f:b", "f:c"}),
    ]


# --- laws -------------------------------------------------------------------------------------------

bodies = st.dictionaries(st.sampled_from("abcde"), st.sampled_from("123"), max_size=5)
histories = st.lists(st.tuples(st.sampled_from(["one", "two", "three"]), bodies, st.booleans()), max_size=6)


def _played(history: list[tuple[str, dict[str, str], bool]]) -> Object:
    obj = Object()
    for manager, data, updates in history:
        if updates:
            obj.update(manager, {"data": data} if data else {})
        else:
            obj.apply(manager, {"data": data} if data else {}, force=True)
    return obj


@given(histories, bodies)
def test_force_always_wins(history: list[tuple[str, dict[str, str], bool]], data: dict[str, str]) -> None:
    obj = _played(history).apply("me", {"data": data}, force=True)
    assert data.items() <= obj.data.items()
    for owner, operation, fields in obj.owned():
        for key in data:
            if (owner, operation) != ("me", "Apply") and f"f:{key}" in fields.get("f:data", {}):
                # Who still owns it agreed with the value.
                assert obj.data[key] == data[key]


@given(histories, bodies)
def test_applying_twice_is_applying_once(
    history: list[tuple[str, dict[str, str], bool]], data: dict[str, str]
) -> None:
    obj = _played(history).apply("me", {"data": data}, force=True)
    live, owners = obj.live, encode(obj.owners)
    obj.apply("me", {"data": data})
    assert obj.live == live
    assert encode(obj.owners) == owners


@given(histories, st.sampled_from("vwxyz"), st.sampled_from("123"))
def test_what_one_alone_owns_goes_when_it_says_so_no_more(
    history: list[tuple[str, dict[str, str], bool]], key: str, value: str
) -> None:
    obj = _played(history)
    before = obj.data
    obj.apply("me", {"data": {key: value}})
    assert obj.data == {**before, key: value}
    obj.apply("me", {})
    assert obj.data == before
    assert all(owner != "me" for owner, _, _ in obj.owned())


@given(bodies, bodies)
def test_managers_of_different_fields_never_conflict(one: dict[str, str], two: dict[str, str]) -> None:
    obj = Object().apply("one", {"data": one})
    obj.apply("two", {"data": {f"other-{key}": value for key, value in two.items()}})
    obj.apply("one", {"data": one})
    assert len(obj.data) == len(one) + len(two)


@given(histories)
def test_every_owner_owns_something_that_is_there(
    history: list[tuple[str, dict[str, str], bool]],
) -> None:
    obj = _played(history)
    for _, _, fields in obj.owned():
        for element in fields.get("f:data", {}):
            assert element == "." or element[2:] in obj.data
