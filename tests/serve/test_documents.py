"""What the API server tells about itself: health, metrics, keys; and the tokens signed with them."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from typing import Any

import orjson
import pytest

from sregym_env.serve.app import Application
from sregym_env.serve.message import Request, Response, parse_query
from sregym_env.sim.embedded import EmbeddedWorld

NS = "/api/v1/namespaces/hotel-reservation"
TOKENS = f"{NS}/serviceaccounts/default/token"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def ask(
    application: Application, target: str, method: str = "GET", body: Any = None, token: str = "admin"
) -> Response:
    path, _, query = target.partition("?")
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
    raw = b"" if body is None else orjson.dumps(body)
    reply = application.respond(Request(method, path, parse_query(query.encode()), headers, raw))
    assert isinstance(reply, Response)
    return reply


# --- health ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
def test_checks_are_listed(application: Application, endpoint: str) -> None:
    lines = ask(application, f"/{endpoint}?verbose").body.decode().splitlines()
    assert lines[:3] == ["[+]ping ok", "[+]log ok", "[+]etcd ok"]
    assert lines[-1] == f"{endpoint} check passed"
    assert ("[+]shutdown ok" in lines) == (endpoint == "readyz")
    assert ask(application, f"/{endpoint}/etcd").body == b"ok"
    assert ask(application, f"/{endpoint}/poststarthook/rbac/bootstrap-roles").body == b"ok"
    assert ask(application, f"/{endpoint}/nonsense").status == 404
    excluded = ask(application, f"/{endpoint}?verbose&exclude=etcd&exclude=x").body.decode()
    assert "[+]etcd excluded: ok" in excluded and 'no matches for "x"' in excluded


def test_who_may_ask(application: Application) -> None:
    assert ask(application, "/livez", token="").status == 200
    assert ask(application, "/livez/etcd", token="").status == 403
    refused = ask(application, "/metrics", token="nobody")
    assert orjson.loads(refused.body)["message"] == 'forbidden: User "nobody" cannot get path "/metrics"'
    assert ask(application, "/logs/", token="nobody").status == 403
    assert ask(application, "/healthz", "POST", {}, token="admin").status == 405


# --- metrics --------------------------------------------------------------------------------------


def series(application: Application) -> dict[str, float]:
    text = ask(application, "/metrics").body.decode()
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_requests_are_counted(application: Application) -> None:
    for _ in range(3):
        ask(application, f"{NS}/pods")
    ask(application, f"{NS}/pods/nobody")
    ask(application, f"{NS}/configmaps?dryRun=All", "POST", {"metadata": {"name": "x"}})
    found = series(application)
    base = 'component="apiserver",dry_run="{d}",group="",resource="{r}",scope="{s}",subresource="",verb="{v}",version="v1"'
    listed = base.format(d="", r="pods", s="namespace", v="LIST")
    got = base.format(d="", r="pods", s="resource", v="GET")
    made = base.format(d="All", r="configmaps", s="namespace", v="POST")
    assert found[f'apiserver_request_total{{code="200",{listed}}}'] == 3
    assert found[f'apiserver_request_total{{code="404",{got}}}'] == 1
    assert found[f'apiserver_request_total{{code="201",{made}}}'] == 1
    assert found[f"apiserver_request_duration_seconds_count{{{listed}}}"] == 3
    assert found['apiserver_storage_objects{resource="pods"}'] == len(
        application.hosted.world.store.list("pods")
    )
    assert any(name.startswith('kubernetes_build_info{build_date="2025') for name in found)


def test_metrics_are_well_formed(application: Application) -> None:
    ask(application, f'{NS}/pods/a"b\\c\n')
    text = ask(application, "/metrics").body.decode()
    shape = re.compile(r'[a-z_]+(\{([a-zA-Z_]+="([^"\\\n]|\\.)*",?)*\})? \S+')
    for line in text.splitlines():
        assert line.startswith("# ") or shape.fullmatch(line), line


# --- keys and tokens ------------------------------------------------------------------------------


def claims(token: str) -> Any:
    return orjson.loads(urlsafe_b64decode(token.split(".")[1] + "=="))


def test_keys_are_published(application: Application) -> None:
    told = orjson.loads(ask(application, "/.well-known/openid-configuration").body)
    assert told["issuer"] == "https://kubernetes.default.svc.cluster.local"
    assert told["jwks_uri"].endswith("/openid/v1/jwks")
    reply = ask(application, "/openid/v1/jwks")
    assert reply.content_type == "application/jwk-set+json"
    (key,) = orjson.loads(reply.body)["keys"]
    token = issued(application)
    head = orjson.loads(urlsafe_b64decode(token.split(".")[0] + "=="))
    assert head == {"alg": "ES256", "kid": key["kid"]}


def issued(application: Application, **spec: Any) -> str:
    made = orjson.loads(ask(application, TOKENS, "POST", {"spec": spec}).body)
    return str(made["status"]["token"])


def test_a_token_says_whose_it_is(application: Application, world: EmbeddedWorld) -> None:
    token = issued(application, expirationSeconds=600)
    found = claims(token)
    account = world.store.get("serviceaccounts", "hotel-reservation", "default")
    assert account is not None
    assert found["sub"] == "system:serviceaccount:hotel-reservation:default"
    assert found["exp"] - found["iat"] == 600
    assert found["kubernetes.io"]["serviceaccount"] == {"name": "default", "uid": account["metadata"]["uid"]}
    who = orjson.loads(ask(application, WHO, "POST", {}, token).body)
    assert who["status"]["userInfo"]["username"] == found["sub"]


def test_tokens_end(application: Application, world: EmbeddedWorld) -> None:
    token = issued(application, expirationSeconds=600)
    assert ask(application, WHO, "POST", {}, token).status == 201
    world.advance(601)
    assert ask(application, WHO, "POST", {}, token).status == 401


def test_tokens_end_with_their_account(application: Application, world: EmbeddedWorld) -> None:
    token = issued(application)
    ask(application, f"{NS}/serviceaccounts/default", "DELETE")
    world.advance(5)
    assert world.store.get("serviceaccounts", "hotel-reservation", "default") is not None, "made anew"
    assert ask(application, WHO, "POST", {}, token).status == 401


def test_a_forged_token_opens_nothing(application: Application) -> None:
    token = issued(application)
    head, body, signature = token.split(".")
    assert ask(application, WHO, "POST", {}, f"{head}.{body}.{signature[:-4]}AAAA").status == 401
    assert ask(application, WHO, "POST", {}, f"{head}.{body}.").status == 401


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (1, 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not '
            "specify a duration less than 10 minutes"),
        (2**33, 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
                "8589934592: may not specify a duration larger than 2^32 seconds"),
    ],
)  # fmt: skip
def test_how_long_a_token_may_last(application: Application, seconds: int, message: str) -> None:
    reply = ask(application, TOKENS, "POST", {"spec": {"expirationSeconds": seconds}})
    assert (reply.status, orjson.loads(reply.body)["message"]) == (422, message)


def test_token_secrets_are_filled_and_accepted(application: Application, world: EmbeddedWorld) -> None:
    secret = {
        "metadata": {"name": "lasting", "annotations": {"kubernetes.io/service-account.name": "default"}},
        "type": "kubernetes.io/service-account-token",
    }
    ask(application, f"{NS}/secrets", "POST", secret)
    world.advance(2)
    data = orjson.loads(ask(application, f"{NS}/secrets/lasting").body)["data"]
    token = b64decode(data["token"]).decode()
    assert claims(token)["kubernetes.io/serviceaccount/secret.name"] == "lasting"
    assert ask(application, WHO, "POST", {}, token).status == 201
    ask(application, f"{NS}/secrets/lasting", "DELETE")
    assert ask(application, WHO, "POST", {}, token).status == 401


def test_tokens_are_reviewed(application: Application) -> None:
    token = issued(application)
    review = "/apis/authentication.k8s.io/v1/tokenreviews"
    found = orjson.loads(ask(application, review, "POST", {"spec": {"token": token}}).body)["status"]
    assert found["authenticated"] and found["user"]["username"].endswith(":default")
    for wrong in ("x", None, 7):
        found = orjson.loads(ask(application, review, "POST", {"spec": {"token": wrong}}).body)
        assert found["status"] == "Failure" or not found["status"].get("authenticated")


# --- schemas --------------------------------------------------------------------------------------


def test_the_second_version_of_the_schemas(application: Application) -> None:
    raw = ask(application, "/openapi/v2").body
    found = orjson.loads(raw)
    definitions = found["definitions"]
    referred = {part.split(b'"')[0].decode() for part in raw.split(b"#/definitions/")[1:]}
    assert referred <= set(definitions)
    assert b"#/components/" not in raw
    schema = definitions["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"]
    assert {"allOf", "oneOf", "nullable"} <= set(schema["properties"])
    container = definitions["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert container["x-kubernetes-patch-merge-key"] == "name"
    assert container["items"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Container"}
    pod = definitions["io.k8s.api.core.v1.Pod"]
    assert pod["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "Pod", "version": "v1"}]
    path = found["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]
    assert [p["name"] for p in path["parameters"]] == ["namespace", "name"]
    assert path["put"]["parameters"][0]["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}
