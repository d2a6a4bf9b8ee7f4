"""What is refused, and in which words."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sregym_env.serve.app import Application
from sregym_env.serve.bodies import duplicates, parse
from sregym_env.serve.message import Request, Response, parse_query
from sregym_env.sim.embedded import EmbeddedWorld
from tests.effort import at_most
from tests.serve.hostile import attack

PODS = "/api/v1/namespaces/hotel-reservation/pods"
MAPS = "/api/v1/namespaces/hotel-reservation/configmaps"
FRONTEND = "/apis/apps/v1/namespaces/hotel-reservation/deployments/frontend"
JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
OPERATIONS = "application/json-patch+json"


def send(
    application: Application,
    method: str,
    target: str,
    body: bytes = b"",
    token: str = "admin",
    **headers: str,
) -> tuple[int, str, str]:
    """Code, reason and message of the answer."""
    path, _, query = target.partition("?")
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["authorization"] = token if " " in token else f"Bearer {token}"
    reply = application.respond(Request(method, path, parse_query(query.encode()), given, body))
    if not isinstance(reply, Response):
        return 200, "", "a stream"
    found: Any = orjson.loads(reply.body) if reply.content_type == JSON else {}
    return reply.status, found.get("reason", ""), found.get("message", "")


# --- bodies ---------------------------------------------------------------------------------------

UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
PARSE = UNRECOGNIZED + "couldn't get version/kind; json parse error: "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", PARSE + "unexpected end of JSON input (<empty>)"),
        (b"{", PARSE + "unexpected end of JSON input ({)"),
        (b'{"kind": NaN}', PARSE + "invalid character 'N' looking for beginning of value ({\"kind\": NaN})"),
        (b"{'a': 1}", PARSE + "invalid character '\\'' looking for beginning of object key string ({'a': 1})"),
        (b'{"a": 1,}', PARSE + "invalid character '}' looking for beginning of object key string ({\"a\": 1,})"),
        (b"\x00", PARSE + "invalid character '\\x00' looking for beginning of value (00)"),
        (b"[" * 300 + b"]" * 300, PARSE + f"exceeded max depth ({'5b' * 30} ...)"),
        (b'"x"', None),
        (b'{"kind":7}', PARSE + "json: cannot unmarshal number into Go struct field .kind of type string"
                               ' ({"kind":7})'),
        (b'{"metadata":"x"}', 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
                              "string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
        (b'{"data":[1]}', None),
    ],
)  # fmt: skip
def test_bodies_that_are_no_object(application: Application, body: bytes, message: str | None) -> None:
    code, reason, text = send(application, "POST", MAPS, body, content_type=JSON)
    assert (code, reason) == (400, "BadRequest")
    assert message is None or text == message


@pytest.mark.parametrize(
    ("kind", "body", "code", "message"),
    [
        (MERGE, b"{", 400, "error decoding patch: unexpected end of JSON input"),
        (MERGE, b"[]", 400, "error decoding patch: json: cannot unmarshal array into Go value of type "
                            "map[string]interface {}"),
        (STRATEGIC, b"nul", 400, "unexpected end of JSON input"),
        (OPERATIONS, b"{}", 400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (OPERATIONS, b'[{"op":"test","path":"/x","value":1}]', 422,
         "the server rejected our request due to an error in our request"),
        (OPERATIONS, b"[" + b'{"op":"test","path":"/kind","value":"Deployment"},' * 10_000 + b"{}]", 413,
         "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"),
        (STRATEGIC, b'{"spec":{"template":{"spec":{"containers":[{"name":["a"]}]}}}}', 400, None),
        (STRATEGIC, b'{"spec":{"template":{"spec":{"$setElementOrder/containers":7,"containers":[]}}}}', 400, None),
        ("text/plain", b"{}", 415,
         "the body of the request was in an unknown format - accepted media types include: "
         "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
         "application/apply-patch+yaml"),
    ],
)  # fmt: skip
def test_patches(application: Application, kind: str, body: bytes, code: int, message: str | None) -> None:
    found = send(application, "PATCH", FRONTEND, body, content_type=kind)
    assert found[0] == code, found
    assert message is None or found[2] == message


def test_copies_of_copies_are_bounded(application: Application) -> None:
    grow = [{"op": "add", "path": "/metadata/annotations/a", "value": "x" * 1000}]
    grow = [{"op": "add", "path": "/metadata/finalizers", "value": ["x" * 100] * 100}]
    grow += [{"op": "copy", "from": "/metadata", "path": f"/metadata/x{n}"} for n in range(60)]
    with at_most(1.0):
        code, _, _ = send(application, "PATCH", FRONTEND, orjson.dumps(grow), content_type=OPERATIONS)
        assert code == 422


def test_long_lists_merge_in_linear_time(application: Application) -> None:
    env = [{"name": f"V{n}", "value": "x"} for n in range(20_000)]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "hotel-reserv-frontend", "env": env}]}}}}
    with at_most(3.0):
        send(application, "PATCH", f"{FRONTEND}?dryRun=All", orjson.dumps(patch), content_type=STRATEGIC)


def test_bodies_of_too_many_values(application: Application) -> None:
    """A million containers would have a million complaints each."""
    body = b'{"metadata":{"name":"a"},"spec":{"containers":[' + b"{}," * 900_000 + b"{}]}}"
    with at_most(1.5):
        code, reason, text = send(application, "POST", PODS, body, content_type=JSON)
        assert (code, reason) == (413, "RequestEntityTooLarge")
        assert text == "Request entity too large: limit is 100000 values"
    text_only = orjson.dumps({"metadata": {"name": "commas"}, "data": {"a": "{[,]}" * 100_000}})
    assert send(application, "POST", MAPS, text_only, content_type=JSON)[0] == 201


def test_other_content_types(application: Application) -> None:
    code, reason, text = send(application, "POST", MAPS, b"{}", content_type="text/html")
    assert (code, reason) == (415, "UnsupportedMediaType")
    assert text == (
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf"
    )
    code, _, text = send(application, "POST", MAPS, b"{}", content_type="application/vnd.kubernetes.protobuf")
    assert (code, text) == (
        400,
        UNRECOGNIZED
        + "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})",
    )


@pytest.mark.parametrize(
    "tail", [b"", b"\xff" * 50, b"\x0a\x0b\x0a\x02v1\x12\x03Pod\x12\x05\x0a\xff\xff\xff\x0f"]
)
def test_malformed_protobuf(application: Application, tail: bytes) -> None:
    kind = "application/vnd.kubernetes.protobuf"
    code, _, _ = send(application, "POST", PODS, b"k8s\x00" + tail, content_type=kind)
    assert code in (400, 415)


def test_duplicate_keys(application: Application) -> None:
    body = b'{"metadata":{"name":"twice","name":"twice"},"data":{"a":"1","a":"2"}}'
    strict = send(application, "POST", f"{MAPS}?fieldValidation=Strict", body, content_type=JSON)
    assert strict[2] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field '
        '"metadata.name", duplicate field "data.a"'
    )
    reply = application.respond(
        Request("POST", MAPS, {}, {"content-type": JSON, "authorization": "Bearer admin"}, body)
    )
    assert isinstance(reply, Response) and reply.status == 201
    assert ("Warning", '299 - "duplicate field \\"metadata.name\\""') in reply.headers
    assert orjson.loads(reply.body)["data"] == {"a": "2"}
    assert duplicates(b'{"a":"\\":\\":\\":"}') == []


def test_what_go_reads_is_read() -> None:
    assert parse(b'{"a":"\xff"}') == {"a": "\ufffd"}
    assert parse(b'{"a":"\\ud800"}') == {"a": "\ufffd"}
    assert parse(b'{"a":123456789012345678901234567890}') == {"a": 1.2345678901234568e29}


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b"- " * 100_000,
        b"? " * 100_000,
        b"a: &a [*a]",
        b"!!python/object/apply:os.system [x]",
        b"a: " + b"9" * 6000,
        b"\n".join(b" " * n + b"a:" for n in range(600)),
        b"a: &a [x,x,x,x,x,x,x,x]\n"
        + b"\n".join(b"%c: &%c [%s]" % (n, n, b",".join([b"*%c" % (n - 1)] * 8)) for n in range(98, 110)),
    ],
)  # fmt: skip
def test_yaml_that_would_explode(application: Application, body: bytes) -> None:
    with at_most(1.0):
        code, _, _ = send(application, "POST", MAPS, body, content_type="application/yaml")
        assert code == 400


def test_answers_in_yaml(application: Application) -> None:
    given = {"authorization": "Bearer admin", "accept": "application/yaml"}
    reply = application.respond(Request("GET", f"{MAPS}/kube-root-ca.crt", {}, given))
    assert isinstance(reply, Response)
    assert reply.content_type == "application/yaml" and b"\nkind: ConfigMap\n" in reply.body
    refused = application.respond(Request("GET", PODS, {"watch": ["1"]}, given))
    assert isinstance(refused, Response) and refused.status == 406


# --- paths and queries ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (f"{PODS}/..", 400),
        (f"{PODS}/.", 400),
        (f"{PODS}/a%b", 400),
        (f"{PODS}/../../../../secrets", 404),
        ("/api/v1/namespaces/../secrets/x", 404),
        ("//api//v1//pods", 404),
        ("/api/v1/\x00", 404),
        (f"{PODS}/" + "x" * 60_000, 404),
        ("/openapi/v3/../../etc/passwd", 404),
        ("/openapi/v3/apis/" + "x" * 5000, 404),
        ("/healthz/../metrics", 404),
        ("/c/other/api", 404),
        ("/logs/kube-apiserver.log", 404),
    ],
)
def test_paths(application: Application, target: str, code: int) -> None:
    reply = application.respond(Request("GET", target, {}, {"authorization": "Bearer admin"}))
    assert isinstance(reply, Response)
    assert reply.status == code


def test_names_that_could_be_paths(application: Application) -> None:
    assert send(application, "GET", f"{PODS}/..")[2] == "Name parameter invalid: \"..\": may not be '..'"
    assert (
        send(application, "GET", f"{PODS}/a%b")[2] == "Name parameter invalid: \"a%b\": may not contain '%'"
    )


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("limit=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("limit=99999999999999999999", 400,
         'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
        ("timeoutSeconds=1s", 400, 'strconv.ParseInt: parsing "1s": invalid syntax'),
        ("resourceVersion=abc", 400, 'invalid resource version: resourceVersion: Invalid value: "abc": '
                                     'strconv.ParseUint: parsing "abc": invalid syntax'),
        ("resourceVersion=99999999", 504, None),
        ("continue=%21", 400, "invalid continue token: continue key is not valid: illegal base64 data at input "
                              "byte 0"),
        ("continue=e30", 400, "invalid continue token: continue key is not valid: server does not recognize this "
                              'encoded version ""'),
        ("fieldSelector=a=b", 400, None),
        ("labelSelector=a==b==c", 400, "found '==', expected: ',' or 'end of string'"),
        ("labelSelector=" + "!a," * 2000, 400, "unable to parse requirement: more than 1000 requirements"),
        ("resourceVersionMatch=Exact", 422, 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: '
         "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ("sendInitialEvents=true", 422, 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: '
         "sendInitialEvents is forbidden for list"),
        ("watch=1&resourceVersion=x", 400, None),
        ("limit=-1", 200, ""),
    ],
)  # fmt: skip
def test_queries(application: Application, query: str, code: int, message: str | None) -> None:
    found = send(application, "GET", f"{PODS}?{query}")
    assert found[0] == code, found
    assert message is None or found[2] == message


@pytest.mark.parametrize(
    ("method", "query", "message"),
    [
        ("POST", "dryRun=x", 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "x": supported '
                             'values: "All"'),
        ("PUT", "fieldValidation=x", 'UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: '
                                     '"x": supported values: "", "Ignore", "Strict", "Warn"'),
        ("DELETE", "propagationPolicy=x", 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported '
         'value: "x": supported values: "Foreground", "Background", "Orphan", "nil"'),
    ],
)  # fmt: skip
def test_options_of_writes(application: Application, method: str, query: str, message: str) -> None:
    target = MAPS if method == "POST" else f"{MAPS}/kube-root-ca.crt"
    found = send(application, method, f"{target}?{query}", b"{}", content_type=JSON)
    assert (found[0], found[2]) == (422, message)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (b'{"gracePeriodSeconds":"0"}', "gracePeriodSeconds"),
        (b'{"gracePeriodSeconds":0.5}', "gracePeriodSeconds"),
        (b'{"preconditions":"x"}', "preconditions"),
        (b'{"dryRun":"All"}', "dryRun"),
    ],
)
def test_delete_options(application: Application, options: bytes, field: str) -> None:
    code, _, text = send(application, "DELETE", f"{MAPS}/kube-root-ca.crt", options, content_type=JSON)
    assert code == 400 and f"DeleteOptions.{field} of type" in text
    assert send(application, "GET", f"{MAPS}/kube-root-ca.crt")[0] == 200


def test_formats_nobody_can_write(application: Application) -> None:
    code, reason, text = send(application, "GET", PODS, accept="text/html")
    assert (code, reason) == (406, "NotAcceptable")
    assert text == (
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )


# --- identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["wrong", "Basic YWRtaW46YWRtaW4=", "Bearer  ", "Negotiate x", "Bearer"])
def test_who_are_you(application: Application, token: str) -> None:
    assert send(application, "GET", PODS, token=token if " " in token else f"{token} ")[:2] == (
        401,
        "Unauthorized",
    )


def test_impersonation_needs_a_right(application: Application) -> None:
    refused = send(application, "GET", PODS, token="nobody", impersonate_user="system:admin")
    assert refused[0] == 403
    assert 'User "nobody" cannot impersonate resource "users"' in refused[2]
    alone = send(application, "GET", PODS, impersonate_group="system:masters")
    assert alone[0] == 400


def test_secrets_are_not_everybodys(application: Application) -> None:
    where = "/api/v1/namespaces/kube-system/secrets"
    for method, body in (("GET", b""), ("POST", b"{}"), ("DELETE", b"")):
        assert send(application, method, where, body, token="nobody", content_type=JSON)[0] == 403
    assert send(application, "DELETE", f"{MAPS}/kube-root-ca.crt", token="nobody")[0] == 403


def test_failures_do_not_tell_secrets(
    application: Application, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("sregym_env.serve.rest.handle", fail)
    code, _, text = send(application, "POST", MAPS, b'{"data":{"password":"hunter2"}}', content_type=JSON)
    assert code == 500
    assert "Bearer" not in caplog.text and "hunter2" not in caplog.text and "hunter2" not in text


# --- at random ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_nothing_breaks_the_server(settled: EmbeddedWorld, seed: int) -> None:
    """`make fuzz` looks for longer."""
    findings = list(attack(settled, seed, 600))
    assert not findings, "\n\n".join(map(str, findings[:3]))
