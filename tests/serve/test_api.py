"""The API without a network: requests in, responses out."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from sregym_env.serve.app import Application
from sregym_env.serve.message import Request, Response, Stream, parse_query

NS = "/api/v1/namespaces/hotel-reservation"
DEPLOYMENTS = "/apis/apps/v1/namespaces/hotel-reservation/deployments"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def ask(
    application: Application,
    target: str,
    method: str = "GET",
    body: Any = None,
    *,
    token: str = "admin",
    **headers: str,
) -> Response:
    path, _, query = target.partition("?")
    raw = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["authorization"] = f"Bearer {token}"
    reply = application.respond(Request(method, path, parse_query(query.encode()), given, raw))
    assert isinstance(reply, Response)
    return reply


def json(reply: Response) -> Any:
    return orjson.loads(reply.body)


def configmap(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


# --- documents ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("/version", "major", "1"),
        ("/version/", "minor", "32"),
        ("/api", "kind", "APIVersions"),
        ("/apis", "kind", "APIGroupList"),
        ("/apis/apps", "kind", "APIGroup"),
        ("/api/v1", "groupVersion", "v1"),
        ("/apis/apps/v1", "groupVersion", "apps/v1"),
        ("/openapi/v3/apis/apps/v1", "openapi", "3.0.0"),
    ],
)
def test_documents(application: Application, path: str, key: str, value: str) -> None:
    reply = ask(application, path)
    assert reply.status == 200
    assert json(reply)[key] == value


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_is_public(application: Application, path: str) -> None:
    assert ask(application, path, token="").body == b"ok"


@pytest.mark.parametrize(
    "path",
    [
        "/nonsense",
        "/apis/nonsense",
        "/apis/apps/v9",
        "/api/v1/nonsense",
        f"{NS}/pods/a/b",
        "/openapi/v3/apis/x/v1",
    ],
)
def test_unknown_paths(application: Application, path: str) -> None:
    reply = ask(application, path)
    assert (reply.status, json(reply)["message"]) == (404, "the server could not find the requested resource")


def test_aggregated_discovery_lists_every_group_and_subresource(application: Application) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    groups = json(ask(application, "/apis", accept=accept))["items"]
    apps = next(group for group in groups if group["metadata"]["name"] == "apps")
    deployments = next(r for r in apps["versions"][0]["resources"] if r["resource"] == "deployments")
    assert deployments["shortNames"] == ["deploy"]
    scale = next(s for s in deployments["subresources"] if s["subresource"] == "scale")
    assert scale["responseKind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert "metrics.k8s.io" in {group["metadata"]["name"] for group in groups}


def test_plain_discovery_tells_drain_of_evictions(application: Application) -> None:
    listed = {r["name"]: r for r in json(ask(application, "/api/v1"))["resources"]}
    assert {k: listed["pods/eviction"][k] for k in ("kind", "group", "version")} == {
        "kind": "Eviction",
        "group": "policy",
        "version": "v1",
    }


def test_every_schema_reference_resolves(application: Application) -> None:
    for path in json(ask(application, "/openapi/v3"))["paths"]:
        document = ask(application, f"/openapi/v3/{path}").body
        known = set(orjson.loads(document)["components"]["schemas"])
        referred = {part.split(b'"')[0].decode() for part in document.split(b"#/components/schemas/")[1:]}
        assert referred <= known, path


def test_patch_operations_announce_field_validation(application: Application) -> None:
    paths = json(ask(application, "/openapi/v3/apis/apps/v1"))["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"
    assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}


# --- identity -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "status", "message"),
    [
        ("nobody", 403, 'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the '
         'namespace "hotel-reservation"'),
        ("", 403, 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the '
         'namespace "hotel-reservation"'),
        ("wrong", 401, "Unauthorized"),
    ],
)  # fmt: skip
def test_who_may_list_pods(application: Application, token: str, status: int, message: str) -> None:
    reply = ask(application, f"{NS}/pods", token=token)
    assert (reply.status, json(reply)["message"]) == (status, message)


def test_impersonation(application: Application) -> None:
    reply = ask(application, f"{NS}/pods", impersonate_user="jane")
    assert json(reply)["message"].startswith('pods is forbidden: User "jane" cannot list')
    reply = ask(application, f"{NS}/pods", token="nobody", impersonate_user="jane")
    assert json(reply)["message"] == (
        'users "jane" is forbidden: User "nobody" cannot impersonate resource "users" in API group "" at the '
        "cluster scope"
    )


def test_a_requested_token_stands_for_its_service_account(application: Application) -> None:
    made = json(ask(application, f"{NS}/serviceaccounts/default/token", "POST", {}))
    token = made["status"]["token"]
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    who = json(
        ask(application, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "POST", review, token=token)
    )
    assert who["status"]["userInfo"]["username"] == "system:serviceaccount:hotel-reservation:default"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    found = json(ask(application, "/apis/authentication.k8s.io/v1/tokenreviews", "POST", review))
    assert found["status"]["authenticated"] is True


# --- reading --------------------------------------------------------------------------------------


def test_a_table_has_rows_with_metadata(application: Application) -> None:
    found = json(ask(application, f"{NS}/pods?limit=500", accept=TABLE))
    assert found["kind"] == "Table"
    assert [c["name"] for c in found["columnDefinitions"]][:5] == [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
    ]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = json(ask(application, f"{NS}/pods?includeObject=Object", accept=TABLE))
    assert whole["rows"][0]["object"]["kind"] == "Pod"
    none = json(ask(application, f"{NS}/pods?includeObject=None", accept=TABLE))
    assert "object" not in none["rows"][0]


def test_other_versions_are_shown_alike(application: Application, world: Any) -> None:
    name = json(ask(application, f"{NS}/pods"))["items"][0]["metadata"]["name"]
    ask(application, f"{NS}/pods/{name}", "DELETE")
    world.advance(3)
    tables = [
        json(ask(application, f"{prefix}/namespaces/hotel-reservation/events", accept=TABLE))["rows"]
        for prefix in ("/api/v1", "/apis/events.k8s.io/v1")
    ]
    assert tables[0]
    assert [row["cells"] for row in tables[0]] == [row["cells"] for row in tables[1]]


def test_pages_make_up_the_list(application: Application) -> None:
    whole = [item["metadata"]["name"] for item in json(ask(application, f"{NS}/pods"))["items"]]
    pages: list[str] = []
    token = ""
    while True:
        page = json(ask(application, f"{NS}/pods?limit=7&continue={token}"))
        pages += [item["metadata"]["name"] for item in page["items"]]
        assert len(page["items"]) <= 7
        token = page["metadata"].get("continue", "")
        if not token:
            break
        assert page["metadata"]["remainingItemCount"] == len(whole) - len(pages)
    assert pages == whole


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("labelSelector=io.kompose.service%3Dfrontend", 1),
        ("fieldSelector=status.phase%3DRunning,metadata.namespace%3Dhotel-reservation", 20),
        ("fieldSelector=status.phase%21%3DRunning", 0),
    ],
)
def test_selectors(application: Application, query: str, count: int) -> None:
    assert len(json(ask(application, f"{NS}/pods?{query}"))["items"]) == count


def test_an_unknown_field_cannot_select(application: Application) -> None:
    reply = ask(application, f"{NS}/pods?fieldSelector=nonsense%3D1")
    assert (reply.status, json(reply)["message"]) == (400, "field label not supported: nonsense")


def test_only_json_is_spoken(application: Application) -> None:
    assert ask(application, f"{NS}/pods", accept="application/cbor").status == 406
    assert (
        ask(application, f"{NS}/pods", accept="application/vnd.kubernetes.protobuf,application/json").status
        == 200
    )


# --- writing --------------------------------------------------------------------------------------


def test_an_object_lives_and_dies(application: Application) -> None:
    made = ask(application, f"{NS}/configmaps", "POST", configmap("a", x="1"))
    assert made.status == 201
    assert ask(application, f"{NS}/configmaps", "POST", configmap("a")).status == 409
    changed = ask(application, f"{NS}/configmaps/a", "PUT", configmap("a", x="2"))
    assert json(changed)["metadata"]["uid"] == json(made)["metadata"]["uid"]
    stale = {**configmap("a", x="3"), "metadata": json(made)["metadata"]}
    assert json(ask(application, f"{NS}/configmaps/a", "PUT", stale))["reason"] == "Conflict"
    gone = json(ask(application, f"{NS}/configmaps/a", "DELETE"))
    assert (gone["kind"], gone["status"], gone["details"]["kind"]) == ("Status", "Success", "configmaps")
    assert ask(application, f"{NS}/configmaps/a").status == 404


def test_bodies_need_no_type(application: Application) -> None:
    reply = ask(application, f"{NS}/configmaps", "POST", {"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert (json(reply)["kind"], json(reply)["apiVersion"]) == ("ConfigMap", "v1")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (
            {"kind": "Secret", "apiVersion": "v1"},
            400,
            'Secret in version "v1" cannot be handled as a ConfigMap',
        ),
        ({"kind": "ConfigMap", "apiVersion": "v2"}, 400, "the API version in the data (v2) does not match"),
        ([1], 400, "unrecognized"),
        (b"{nonsense", 400, "unrecognized"),
        ({**configmap("a"), "metadata": {"name": "a", "namespace": "other"}}, 400, "does not match"),
    ],
)
def test_bad_bodies(application: Application, body: Any, status: int, text: str) -> None:
    reply = ask(application, f"{NS}/configmaps", "POST", body)
    assert reply.status == status
    assert text in json(reply)["message"]


def test_dry_run_keeps_nothing(application: Application) -> None:
    assert ask(application, f"{NS}/configmaps?dryRun=All", "POST", configmap("a")).status == 201
    assert ask(application, f"{NS}/configmaps/a").status == 404


@pytest.mark.parametrize(
    ("validation", "status", "warned"), [("Strict", 400, False), ("Warn", 201, True), ("Ignore", 201, False)]
)
def test_field_validation(application: Application, validation: str, status: int, warned: bool) -> None:
    body = {**configmap("a"), "daten": {}}
    reply = ask(application, f"{NS}/configmaps?fieldValidation={validation}", "POST", body)
    assert reply.status == status
    assert (("Warning", '299 - "unknown field \\"daten\\""') in reply.headers) is warned


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic-merge-patch+json", {"spec": {"replicas": 2}}),
        ("merge-patch+json", {"spec": {"replicas": 2}}),
        ("json-patch+json", [{"op": "replace", "path": "/spec/replicas", "value": 2}]),
    ],
)
def test_patches(application: Application, kind: str, patch: Any) -> None:
    reply = ask(application, f"{DEPLOYMENTS}/frontend", "PATCH", patch, content_type=f"application/{kind}")
    assert json(reply)["spec"]["replicas"] == 2


def test_patch_refusals(application: Application) -> None:
    where = f"{DEPLOYMENTS}/frontend"
    assert ask(application, where, "PATCH", {}, content_type="application/json").status == 415
    reply = ask(application, where, "PATCH", "x", content_type="application/merge-patch+json")
    assert (
        json(reply)["message"]
        == "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"
    )


def test_apply_creates_and_then_changes(application: Application) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n"
    kind = "application/apply-patch+yaml"
    where = f"{NS}/configmaps/a"
    assert ask(application, where, "PATCH", body, content_type=kind).status == 422
    assert ask(application, f"{where}?fieldManager=me", "PATCH", body, content_type=kind).status == 201
    again = ask(
        application, f"{where}?fieldManager=me", "PATCH", body.replace(b"'1'", b"'2'"), content_type=kind
    )
    assert (again.status, json(again)["data"]) == (200, {"x": "2"})


def test_scale(application: Application) -> None:
    where = f"{DEPLOYMENTS}/frontend/scale"
    found = json(ask(application, where))
    assert (found["kind"], found["spec"]["replicas"]) == ("Scale", 1)
    found["spec"]["replicas"] = 3
    assert json(ask(application, where, "PUT", found))["spec"]["replicas"] == 3
    assert json(ask(application, where, "PUT", found))["reason"] == "Conflict"
    assert ask(application, where, token="nobody").status == 403


def test_deleting_a_running_pod_answers_with_the_pod(application: Application) -> None:
    name = json(ask(application, f"{NS}/pods"))["items"][0]["metadata"]["name"]
    gone = json(ask(application, f"{NS}/pods/{name}", "DELETE", {"gracePeriodSeconds": 5}))
    assert (gone["kind"], gone["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 5)


def test_delete_preconditions(application: Application) -> None:
    ask(application, f"{NS}/configmaps", "POST", configmap("a"))
    reply = ask(application, f"{NS}/configmaps/a", "DELETE", {"preconditions": {"uid": "other"}})
    assert (reply.status, json(reply)["reason"]) == (409, "Conflict")


def test_delete_collection(application: Application) -> None:
    for name in ("a", "b"):
        body = configmap(name)
        body["metadata"]["labels"] = {"x": "y"}
        ask(application, f"{NS}/configmaps", "POST", body)
    reply = ask(application, f"{NS}/configmaps?labelSelector=x%3Dy", "DELETE")
    assert [item["metadata"]["name"] for item in json(reply)["items"]] == ["a", "b"]
    assert not json(ask(application, f"{NS}/configmaps?labelSelector=x%3Dy"))["items"]


def test_both_versions_of_an_autoscaler(application: Application) -> None:
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "frontend"},
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 70,
        },
    }
    where = "/apis/autoscaling/{}/namespaces/hotel-reservation/horizontalpodautoscalers"
    made = json(ask(application, where.format("v1"), "POST", body))
    assert (made["apiVersion"], made["spec"]["targetCPUUtilizationPercentage"]) == ("autoscaling/v1", 70)
    second = json(ask(application, where.format("v2") + "/a"))
    assert second["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 70


def test_evictions_respect_budgets(application: Application, world: Any) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "geo"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"io.kompose.service": "geo"}}},
    }
    ask(application, "/apis/policy/v1/namespaces/hotel-reservation/poddisruptionbudgets", "POST", budget)
    world.advance(5)
    pods = json(ask(application, f"{NS}/pods?labelSelector=io.kompose.service%3Dgeo"))["items"]
    name = pods[0]["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    reply = ask(application, f"{NS}/pods/{name}/eviction", "POST", eviction)
    assert reply.status == 429
    assert json(reply)["details"]["causes"][0]["message"] == (
        "The disruption budget geo needs 1 healthy pods and has 1 currently"
    )


def test_metrics_and_logs_and_proxies(application: Application) -> None:
    nodes = json(ask(application, "/apis/metrics.k8s.io/v1beta1/nodes"))
    assert nodes["items"][0]["usage"]["cpu"].endswith("n")
    name = json(ask(application, f"{NS}/pods?labelSelector=io.kompose.service%3Dfrontend"))["items"][0][
        "metadata"
    ]["name"]
    log = ask(application, f"{NS}/pods/{name}/log?tailLines=2")
    assert (log.content_type, log.body.count(b"\n")) == ("text/plain", 2)
    page = ask(application, f"{NS}/services/frontend:5000/proxy/")
    assert page.status == 200
    assert b"Hotel Reservation" in page.body


# --- watching -------------------------------------------------------------------------------------


def collect(
    application: Application, target: str, changes: Any = None, accept: str = ""
) -> list[dict[str, Any]]:
    """The events of a watch with a time limit, while ``changes`` is carried out after its first chunk."""
    path, _, query = target.partition("?")
    headers = {"authorization": "Bearer admin", "accept": accept}
    reply = application.respond(Request("GET", path, parse_query(query.encode()), headers))
    assert isinstance(reply, Stream), reply

    async def run() -> list[dict[str, Any]]:
        events = []
        pending = changes
        async for chunk in reply.chunks:
            events += [orjson.loads(line) for line in chunk.splitlines()]
            if pending is not None:
                pending()
                pending = None
        return events

    return asyncio.run(run())


def test_a_watch_from_a_revision_sees_what_comes_after(application: Application) -> None:
    revision = json(ask(application, f"{NS}/configmaps"))["metadata"]["resourceVersion"]

    def change() -> None:
        ask(application, f"{NS}/configmaps", "POST", configmap("a", x="1"))
        ask(application, f"{NS}/configmaps/a", "PUT", configmap("a", x="2"))
        ask(application, f"{NS}/configmaps", "POST", configmap("b"))
        ask(application, f"{NS}/configmaps/a", "DELETE")

    target = f"{NS}/configmaps?watch=true&resourceVersion={revision}&timeoutSeconds=1&fieldSelector=metadata.name%3Da"
    events = collect(application, target, change)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))


def test_objects_enter_and_leave_a_selection(application: Application) -> None:
    def label(value: str) -> None:
        body = configmap("a")
        body["metadata"]["labels"] = {"x": value}
        ask(application, f"{NS}/configmaps/a", "PUT", body)

    ask(application, f"{NS}/configmaps", "POST", configmap("a"))
    target = f"{NS}/configmaps?watch=true&labelSelector=x%3Dy&timeoutSeconds=1"
    events = collect(application, target, lambda: (label("y"), label("z"), label("y")))
    assert [event["type"] for event in events] == ["ADDED", "DELETED", "ADDED"]


def test_a_watch_list_ends_its_beginning_with_a_bookmark(application: Application) -> None:
    target = (
        f"{NS}/services?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        "&allowWatchBookmarks=true&timeoutSeconds=1"
    )
    events = collect(application, target)
    kinds = [event["type"] for event in events]
    first = kinds.index("BOOKMARK")
    assert first > 0
    assert set(kinds[:first]) == {"ADDED"}
    assert events[first]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_table_watch_describes_its_columns_once(application: Application) -> None:
    events = collect(application, f"{NS}/services?watch=true&timeoutSeconds=1", accept=TABLE)
    described = [event["object"]["columnDefinitions"] is not None for event in events]
    assert described == [True] + [False] * (len(events) - 1)


def test_a_table_watch_shows_an_end_before_its_back_off(application: Application) -> None:
    body = {
        "metadata": {"name": "crash"},
        "spec": {"containers": [{"name": "c", "image": "busybox:1.36", "command": ["false"]}]},
    }
    ask(application, f"{NS}/pods", "POST", body)
    target = f"{NS}/pods?watch=true&timeoutSeconds=30&fieldSelector=metadata.name%3Dcrash"
    events = collect(application, target, accept=TABLE)
    shown = [event["object"]["rows"][0]["cells"][2] for event in events]
    assert "CrashLoopBackOff" in shown[shown.index("Error") + 1 :], shown
    assert "CrashLoopBackOff" not in shown[: shown.index("Error")], shown


def test_time_goes_on_while_somebody_watches(application: Application, world: Any) -> None:
    before = world.now()
    body = {"spec": {"replicas": 2}}
    ask(application, f"{DEPLOYMENTS}/frontend", "PATCH", body, content_type="application/merge-patch+json")
    target = f"{DEPLOYMENTS}?watch=true&timeoutSeconds=30&fieldSelector=metadata.name%3Dfrontend"
    events = collect(application, target)
    assert events[-1]["object"]["status"]["availableReplicas"] == 2
    assert world.now() > before


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (f"{NS}/pods?watch=true&resourceVersion=x", 400),
        ("/apis/metrics.k8s.io/v1beta1/nodes?watch=true", 405),
    ],
)
def test_watches_that_cannot_be(application: Application, target: str, status: int) -> None:
    assert ask(application, target).status == status


def test_old_revisions_are_forgotten(application: Application, world: Any) -> None:
    for number in range(9000):
        event = {"metadata": {"name": f"e{number % 10}", "namespace": "default"}}
        world.store.put("events", event)
    (event,) = collect(application, f"{NS}/pods?watch=true&resourceVersion=1")
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_who_polls_lets_time_pass(application: Application, world: Any) -> None:
    before = world.now()
    for _ in range(4):
        ask(application, f"{NS}/pods")
    assert world.now() == before
    for _ in range(3):
        ask(application, f"{NS}/pods")
    assert world.now() == before + 3_000_000
