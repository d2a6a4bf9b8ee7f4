"""Admission webhooks: who is asked, what becomes of the answers, and what is said where nobody answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.http import HttpCall
from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission import review
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from tests.sim.admission.webhook_world import (
    NAMESPACE,
    SERVICE,
    URL,
    configuration,
    encoded,
    pair,
    pod,
    rule,
    self_signed,
    world_with_webhook,
)

FAILED = 'Internal error occurred: failed calling webhook "guard.example.com": '
CALL = f"{FAILED}failed to call webhook: "
DENIED = 'admission webhook "guard.example.com" denied the request'


def refusal(world: EmbeddedWorld, obj: Manifest | None = None, **more: Any) -> StatusError | None:
    """What the API server answers to the creation of an object; None if it creates it."""
    try:
        world.cluster.create(obj or pod(), **more)
    except StatusError as error:
        return error
    return None


def with_configuration(*configurations: Manifest, world: EmbeddedWorld | None = None) -> EmbeddedWorld:
    world = world or world_with_webhook()
    for manifest in configurations:
        world.cluster.create(manifest)
    return world


# --- calling ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"path": "/nowhere"}, f"{CALL}the server could not find the requested resource"),
        ({"path": None}, f"{CALL}the server could not find the requested resource"),
        (
            {"path": "/readyz"},
            f"{CALL}couldn't get version/kind; json parse error: invalid character 'o' looking for beginning of value",
        ),
        (
            {"service": {"name": "gone"}},
            f'{CALL}Post "https://gone.policy.svc:443/always-deny?timeout=10s": service "gone" not found',
        ),
        (
            {"service": {"port": 444}},
            f'{CALL}Post "https://guard.policy.svc:444/always-deny?timeout=10s": no service port 444 found for '
            'service "guard"',
        ),
        (
            {"bundle": ""},
            f'{CALL}Post "{URL}/always-deny?timeout=10s": tls: failed to verify certificate: x509: certificate '
            "signed by unknown authority",
        ),
        (
            {"bundle": pair(number=1).authority},
            f'{CALL}Post "{URL}/always-deny?timeout=10s": tls: failed to verify certificate: x509: certificate '
            'signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to '
            'verify candidate authority certificate "policy-ca")',
        ),
        (
            {"bundle": "no certificate"},
            f"{FAILED}could not get REST client: unable to load root certificates: unable to parse bytes as PEM block",
        ),
        (
            {"path": "/always-allow-delay-5s", "timeoutSeconds": 3},
            f'{CALL}Post "{URL}/always-allow-delay-5s?timeout=3s": context deadline exceeded',
        ),
        (
            {"url": "https://10.244.1.77/x/"},
            f'{CALL}Post "https://10.244.1.77/x?timeout=10s": dial tcp 10.244.1.77:443: connect: no route to host',
        ),
        (
            {"url": "https://guard.policy.svc.cluster.local:443/always-deny"},
            f'{CALL}Post "https://guard.policy.svc.cluster.local:443/always-deny?timeout=10s": dial tcp: lookup '
            "guard.policy.svc.cluster.local on 172.18.0.1:53: no such host",
        ),
        (
            {"admissionReviewVersions": ["v2"]},
            f"{FAILED}could not create admission objects: webhook does not accept known AdmissionReview versions "
            "(v1, v1beta1)",
        ),
    ],
)
def test_calls_that_fail(given: dict[str, Any], text: str) -> None:
    world = world_with_webhook()
    # Stored as an old server may have left it: validation has its own tests.
    world.store.put(
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        _defaulted(configuration(**given)),
    )
    error = refusal(world)
    assert error is not None
    assert (error.code, error.reason, error.message) == (500, "InternalError", text)
    assert error.details["causes"] == [{"message": text.removeprefix("Internal error occurred: ")}]


def _defaulted(manifest: Manifest) -> Manifest:
    webhooks = [{"timeoutSeconds": 10, "failurePolicy": "Fail", **hook} for hook in manifest["webhooks"]]
    return {**manifest, "webhooks": webhooks}


def test_without_endpoints_the_service_refuses_unless_the_api_server_dials_endpoints() -> None:
    world = with_configuration(configuration())
    world.cluster.patch("deployments.apps", SERVICE, {"spec": {"replicas": 0}}, namespace=NAMESPACE)
    world.advance(40)
    address = world.cluster.get("services", SERVICE, NAMESPACE)["spec"]["clusterIP"]
    error = refusal(world)
    assert error is not None
    text = f'Post "{URL}/always-deny?timeout=10s": dial tcp {address}:443: connect: connection refused'
    assert error.message == CALL + text
    server = world.cluster.get("pods", "kube-apiserver-sre-control-plane", "kube-system")
    container = server["spec"]["containers"][0]
    command = [*container["command"], "--enable-aggregator-routing=true"]
    spec = {**server["spec"], "containers": [{**container, "command": command}]}
    world.store.put("pods", {**server, "spec": spec})
    error = refusal(world)
    assert error is not None
    assert error.message.endswith('": no endpoints available for service "guard"')


def test_a_network_policy_keeps_the_api_server_out() -> None:
    world = with_configuration(configuration(timeoutSeconds=4))
    world.cluster.create(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "deny", "namespace": NAMESPACE},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
        }
    )
    error = refusal(world)
    assert error is not None
    assert error.message == f'{CALL}Post "{URL}/always-deny?timeout=4s": context deadline exceeded'


@pytest.mark.parametrize(
    ("used", "text"),
    [
        (
            pair(days=(-30, -1)),
            "x509: certificate has expired or is not yet valid: current time 2026-08-06T10:00:30Z is after "
            "2026-08-05T10:00:00Z",
        ),
        (
            pair(days=(2, 30)),
            "x509: certificate has expired or is not yet valid: current time 2026-08-06T10:00:30Z is before "
            "2026-08-08T10:00:00Z",
        ),
        (
            pair(names=("a.b", "guard.policy.svc.cluster.local")),
            "x509: certificate is valid for a.b, guard.policy.svc.cluster.local, not guard.policy.svc",
        ),
        (self_signed(), ""),
        (pair(names=("*.policy.svc",)), ""),
    ],
)
def test_certificates(used: Any, text: str) -> None:
    world = with_configuration(configuration(bundle=used.authority), world=world_with_webhook(used))
    error = refusal(world)
    assert error is not None
    if text:
        prefix = f'{CALL}Post "{URL}/always-deny?timeout=10s": tls: failed to verify certificate: '
        assert error.message == prefix + text
        logs = world.cluster.logs(NAMESPACE, world.store.list("pods", NAMESPACE)[0]["metadata"]["name"])
        assert "http: TLS handshake error from 172.18.0.5:" in logs
        assert logs.endswith(": remote error: tls: bad certificate\n")
    else:
        assert error.message == f"{DENIED}: this webhook denies all requests"


def test_the_certificate_expires_as_time_passes() -> None:
    used = pair(days=(-30, 1))
    world = with_configuration(
        configuration("Mutating", "/add-label", used.authority), world=world_with_webhook(used)
    )
    assert refusal(world) is None
    world.advance(86_400)
    error = refusal(world, pod("later"))
    assert error is not None
    assert "is after 2026-08-07T10:00:00Z" in error.message


def test_a_denial_is_passed_on() -> None:
    error = refusal(with_configuration(configuration()))
    assert error is not None
    assert (error.code, error.reason) == (400, "")
    assert error.message == f"{DENIED}: this webhook denies all requests"


def test_a_reason_stands_in_for_a_message_and_a_code_is_kept() -> None:
    unwanted = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default"},
        "data": {"webhook-e2e-test": "webhook-disallow"},
    }
    world = with_configuration(configuration(path="/configmaps", rules=[rule("configmaps")]))
    error = refusal(world, unwanted)
    assert error is not None
    assert error.message == f"{DENIED}: the configmap contains unwanted key and value"
    assert error.reason == "the configmap contains unwanted key and value"
    world = with_configuration(configuration("Mutating", "/mutating-pods-sidecar"))
    error = refusal(world)
    assert error is not None
    assert (error.code, error.message) == (
        500,
        f"{DENIED}: No image specified by the sidecar-image parameter",
    )


def test_failure_policy_ignore_lets_pass() -> None:
    world = with_configuration(configuration(service={"name": "gone"}, failurePolicy="Ignore"))
    assert refusal(world) is None
    said = world.cluster.logs("kube-system", "kube-apiserver-sre-control-plane", tail=2).splitlines()
    text = (
        'Failed calling webhook, failing open guard.example.com: failed calling webhook "guard.example.com": '
    )
    assert said[0].startswith("W0806 10:00:30.") and text in said[0]
    assert said[1].endswith(' service \\"gone\\" not found" logger="UnhandledError"')
    world = with_configuration(configuration(failurePolicy="Ignore"))
    error = refusal(world)
    assert error is not None, "a denial is no failure"


def _several(kind: str, number: int, **more: Any) -> EmbeddedWorld:
    """Webhooks that take five seconds each."""
    names = [f"slow-{index}" for index in range(number)]
    return with_configuration(
        *(
            configuration(kind, "/always-allow-delay-5s", name=name, timeoutSeconds=30, **more)
            for name in names
        )
    )


@pytest.mark.parametrize(
    ("kind", "number", "policy", "code"),
    [
        ("Mutating", 6, "Fail", 0), ("Mutating", 7, "Fail", 504), ("Mutating", 7, "Ignore", 504),
        ("Validating", 9, "Fail", 0),  # they are asked at the same time
    ],
)  # fmt: skip
def test_the_webhooks_of_a_request_share_34_seconds(kind: str, number: int, policy: str, code: int) -> None:
    error = refusal(_several(kind, number, failurePolicy=policy))
    assert (error.code if error else 0) == code
    if error is not None:
        text = "Timeout: request did not complete within requested timeout - context deadline exceeded"
        assert (error.reason, error.message) == ("Timeout", text)


def test_nothing_passes_but_what_is_repaired() -> None:
    world = with_configuration(configuration(rules=[rule("*/*", "*", groups="*")]))
    assert refusal(world) is not None
    name = "validatingwebhookconfigurations.admissionregistration.k8s.io"
    world.cluster.delete(name, "guard")
    assert refusal(world) is None


# --- matching ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"rules": [rule("pods", "UPDATE")]}, False),
        ({"rules": [rule("pods", "*")]}, True),
        ({"rules": [rule("*")]}, True),
        ({"rules": [rule("*/*")]}, True),
        ({"rules": [rule("pods/*")]}, True),
        ({"rules": [rule("pods/status")]}, False),
        ({"rules": [rule("*/status")]}, False),
        ({"rules": [rule("services")]}, False),
        ({"rules": [rule("pods", groups="apps")]}, False),
        ({"rules": [rule("pods", groups="*")]}, True),
        ({"rules": [rule("pods", apiVersions=["v2"])]}, False),
        ({"rules": [rule("pods", scope="Cluster")]}, False),
        ({"rules": [rule("pods", scope="Namespaced")]}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        (
            {
                "namespaceSelector": {
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}
                    ]
                }
            },
            False,
        ),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, True),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, False),
    ],
)
def test_who_is_asked(given: dict[str, Any], asked: bool) -> None:
    world = with_configuration(configuration(**given))
    error = refusal(world, pod(labels={"app": "web"}))
    assert (error is not None) is asked


def test_namespaces_are_selected_by_their_own_labels_and_are_cluster_scoped() -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"strict": "yes"}},
    }
    for chosen, asked in (
        ({"namespaceSelector": {"matchLabels": {"strict": "yes"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"strict": "no"}}}, False),
    ):
        world = with_configuration(configuration(rules=[rule("namespaces", scope="Cluster")], **chosen))
        assert (refusal(world, namespace) is not None) is asked


def test_equivalent_versions_are_asked_about_unless_exact() -> None:
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "default"},
        "eventTime": "2026-08-06T10:00:00.000000Z",
        "reportingController": "a.b/c",
        "reportingInstance": "i",
        "action": "Do",
        "reason": "Because",
        "type": "Normal",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    }
    for chosen, asked in (({}, True), ({"matchPolicy": "Exact"}, False)):
        rules = [rule("events", groups="events.k8s.io")]
        world = with_configuration(configuration(rules=rules, **chosen))
        assert (refusal(world, event) is not None) is asked


def test_dry_run_needs_a_webhook_without_side_effects() -> None:
    world = with_configuration(configuration("Mutating", "/add-label"))
    made = world.cluster.create(pod(), dry_run=True)
    assert made["metadata"]["labels"] == {"added-label": "yes"}
    hook = _defaulted(configuration("Mutating", "/add-label", sideEffects="Some"))
    world.store.put("mutatingwebhookconfigurations.admissionregistration.k8s.io", hook)
    error = refusal(world, dry_run=True)
    assert error is not None
    text = 'admission webhook "guard.example.com" does not support dry run'
    assert (error.code, error.reason, error.message) == (400, "BadRequest", text)


# --- operations -------------------------------------------------------------------------------------------


EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
ACTIONS: dict[str, Callable[[SimCluster], Any]] = {
    "pods UPDATE": lambda c: c.patch(
        "pods", "web", {"metadata": {"labels": {"x": "y"}}}, namespace="default"
    ),
    "pods DELETE": lambda c: c.delete("pods", "web", "default"),
    "pods/status UPDATE": lambda c: c.patch(
        "pods", "web", {"status": {"phase": "Failed"}}, namespace="default", subresource="status"
    ),
    "pods/exec CONNECT": lambda c: c.exec("default", "web", ["/agnhost", "dns-suffix"]),
    "pods/portforward CONNECT": lambda c: c.forward("default", "web", 80, HttpCall("/")),
    "pods/eviction CREATE": lambda c: c.create(
        EVICTION, namespace="default", subresource="eviction", name="web"
    ),
    "deployments/scale UPDATE": lambda c: c.patch(
        "deployments.apps",
        SERVICE,
        {"spec": {"replicas": 3}},
        namespace=NAMESPACE,
        type="merge",
        subresource="scale",
    ),
}


@pytest.fixture(scope="module")
def running() -> EmbeddedWorld:
    """A pod runs."""
    world = world_with_webhook()
    world.cluster.create(pod())
    world.advance(30)
    return world


@pytest.mark.parametrize("asked", ACTIONS)
def test_updates_deletions_and_subresources(running: EmbeddedWorld, asked: str) -> None:
    resources, operation = asked.split()
    for name, action in ACTIONS.items():
        world = with_configuration(
            configuration(rules=[rule(resources, operation, groups="*")]), world=running.fork()
        )
        refused = False
        try:
            action(world.cluster)
        except StatusError as error:
            refused = True
            assert error.message.startswith(DENIED), name
        assert refused is (name == asked), name


def test_scaling_asks_nobody_who_watches_the_deployment_itself() -> None:
    world = with_configuration(configuration(rules=[rule("deployments", "UPDATE", groups="apps")]))
    cluster = world.cluster
    change = {"spec": {"replicas": 2}}
    made = cluster.patch(
        "deployments.apps", SERVICE, change, namespace=NAMESPACE, type="merge", subresource="scale"
    )
    assert made["spec"]["replicas"] == 2
    with pytest.raises(StatusError):
        cluster.patch("deployments.apps", SERVICE, {"spec": {"replicas": 3}}, namespace=NAMESPACE)


# --- mutation ---------------------------------------------------------------------------------------------


def test_patches_are_applied_in_order_of_configurations() -> None:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default"},
        "data": {"mutation-start": "yes"},
    }
    rules = [rule("configmaps")]
    first = configuration("Mutating", "/mutating-configmaps", name="a", rules=rules)
    second = configuration("Mutating", "/mutating-configmaps", name="b", rules=rules)
    world = with_configuration(second, first)
    data = world.cluster.create(config_map)["data"]
    assert data == {"mutation-start": "yes", "mutation-stage-1": "yes", "mutation-stage-2": "yes"}
    world = with_configuration(first)
    assert "mutation-stage-2" not in world.cluster.create(config_map)["data"]
    again = configuration(
        "Mutating", "/mutating-configmaps", name="a", rules=rules, reinvocationPolicy="IfNeeded"
    )
    label = configuration("Mutating", "/add-label", name="b", rules=rules)
    world = with_configuration(again, label)
    assert "mutation-stage-2" in world.cluster.create(config_map)["data"], "asked again after the label came"


def test_a_sidecar_gets_what_plugins_give_every_container() -> None:
    image = "busybox:1.36"
    world = with_configuration(
        configuration("Mutating", "/mutating-pods-sidecar"),
        world=world_with_webhook(None, f"--sidecar-image={image}"),
    )
    made = world.cluster.create(pod())
    first, second = made["spec"]["containers"]
    assert (second["name"], second["image"]) == ("webhook-added-sidecar", image)
    assert second["terminationMessagePath"] == "/dev/termination-log", "defaults are applied"
    assert second["volumeMounts"] == first["volumeMounts"], (
        "the token is mounted by the second pass of the plugins"
    )
    assert len(made["spec"]["volumes"]) == 1


def test_controllers_report_what_they_could_not_create_and_go_on_when_they_can() -> None:
    world = with_configuration(configuration(service={"name": "gone"}))
    deployment = world.cluster.get("deployments.apps", SERVICE, NAMESPACE)
    world.cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]},
            },
        }
    )
    world.advance(60)
    assert deployment["status"]["readyReplicas"] == 1
    messages = [
        event["message"]
        for event in world.cluster.list("events", "default")
        if event["reason"] == "FailedCreate"
    ]
    text = f'{CALL}Post "https://gone.policy.svc:443/always-deny?timeout=10s": service "gone" not found'
    assert messages and set(messages) == {f"Error creating: {text}"}
    made = world.cluster.get("deployments.apps", "d", "default")
    conditions = {c["type"]: c for c in made["status"]["conditions"]}
    assert conditions["ReplicaFailure"]["message"] == text
    world.cluster.delete("validatingwebhookconfigurations.admissionregistration.k8s.io", "guard")
    world.advance(120)
    assert world.cluster.get("deployments.apps", "d", "default")["status"].get("readyReplicas") == 1


def test_a_webhook_on_statuses_holds_the_cluster_up_until_it_is_gone() -> None:
    world = with_configuration(configuration(rules=[rule("pods/status", "UPDATE")]))
    world.cluster.create(pod())
    world.advance(60)
    assert world.cluster.get("pods", "web", "default")["status"].get("phase") == "Pending"
    world.cluster.delete("validatingwebhookconfigurations.admissionregistration.k8s.io", "guard")
    world.advance(60)
    assert world.cluster.get("pods", "web", "default")["status"]["phase"] == "Running"


def test_a_webhook_on_deletions_keeps_a_namespace_terminating() -> None:
    world = with_configuration(configuration(rules=[rule("configmaps", "DELETE")]))
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "doomed"}})
    world.advance(5)
    world.cluster.delete("namespaces", "doomed")
    world.advance(60)
    assert world.cluster.get("namespaces", "doomed")["status"]["phase"] == "Terminating"
    world.cluster.delete("validatingwebhookconfigurations.admissionregistration.k8s.io", "guard")
    world.advance(1200)
    assert world.store.get("namespaces", "", "doomed") is None


def test_the_review_says_who_asks() -> None:
    from sregym_env.sim.apiserver.admission.attributes import Attributes
    from sregym_env.sim.apiserver.custom import resource_of

    world = world_with_webhook()
    pods = resource_of(world, "pods")
    request = Attributes("CREATE", pods, "default", "", User("ana", ("dev",)), dry_run=True)
    made = pod()
    made["metadata"] = {"generateName": "web-", "namespace": "default", "uid": "u", "creationTimestamp": "t"}
    document = review.question("v1", "the-uid", request, pods, made, None, stored=False)
    assert document == {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "the-uid",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "ana", "groups": ["dev"]},
            "object": {
                **made,
                "metadata": {"generateName": "web-", "namespace": "default", "creationTimestamp": None},
            },
            "oldObject": None,
            "dryRun": True,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    }


# --- answers of any shape ---------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("uid", "allowed", "status", "patch", "patchType", "warnings", "auditAnnotations"), JSON
    ),
)


@given(
    st.sampled_from(["", "v1", "admission.k8s.io/v1", "admission.k8s.io/v1beta1"]),
    JSON | FIELDS,
    st.booleans(),
)
def test_no_answer_breaks_the_server(api_version: str, response: Any, mutating: bool) -> None:
    body = orjson.dumps({"apiVersion": api_version, "kind": "AdmissionReview", "response": response}).decode()
    for version in review.VERSIONS:
        try:
            answer = review.judged(review.decoded(body, version), version, "u", mutating=mutating)
        except review.BadAnswer:
            continue
        if not answer.allowed:
            assert review.rejection("w", answer.status).code >= 400


@pytest.mark.parametrize(
    ("body", "mutating", "text"),
    [
        ("{}", False, "webhook response was absent"),
        ('{"response":{"uid":"x"}}', False, 'expected response.uid="u", got "x"'),
        (
            '{"response":{"uid":"u"}}',
            False,
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        ('{"kind":"Pod","apiVersion":"v1"}', False, 'no kind "Pod" is registered for version "v1" in scheme '
                                                    '"pkg/runtime/scheme.go:100"'),
        ("<html>", False, "couldn't get version/kind; json parse error: invalid character '<' looking for beginning of "
                          "value"),
        (
            '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","patch":"e30="}}',
            True,
            "webhook returned response.patch but not response.patchType",
        ),
        (
            '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","patch":"e30="}}',
            False,
            "validating webhook may not return response.patch",
        ),
    ],
)  # fmt: skip
def test_bad_answers(body: str, mutating: bool, text: str) -> None:
    with pytest.raises(review.BadAnswer) as caught:
        review.judged(review.decoded(body, "v1"), "v1", "u", mutating=mutating)
    assert str(caught.value) == text


def static_webhook(answer: str, **given: Any) -> EmbeddedWorld:
    """A world in which a program answers every review with the same text."""
    used = pair()
    world = world_with_webhook(used)
    made = pod("static", NAMESPACE, labels={"app": "static"})
    container = made["spec"]["containers"][0]
    env = {"SERVE_TLS_PORT_8443": answer, "CERT_FILE": "/certs/tls.crt", "KEY_FILE": "/certs/tls.key"}
    container |= {
        "args": ["porter"],
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs"}],
    }
    made["spec"]["volumes"] = [{"name": "certs", "secret": {"secretName": "guard-tls"}}]
    world.cluster.create(made)
    world.cluster.patch("services", SERVICE, {"spec": {"selector": {"app": "static"}}}, namespace=NAMESPACE)
    world.advance(20)
    return with_configuration(
        configuration("Mutating", "/x", admissionReviewVersions=["v1beta1"], **given), world=world
    )


def patching(*operations: Any, **more: Any) -> str:
    patch = encoded(orjson.dumps(operations).decode())
    response = {"allowed": True, "patch": patch, "patchType": "JSONPatch", **more}
    return orjson.dumps(
        {"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "response": response}
    ).decode()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            patching({"op": "remove", "path": "/spec/nothing"}),
            "Internal error occurred: error in remove for path: '/spec/nothing': Unable to remove nonexistent key: "
            "nothing: missing value",
        ),
        (
            patching({"op": "add", "path": "/spec/restartPolicy", "value": 7}),
            "Internal error occurred: json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of "
            "type string",
        ),
        (patching({"op": "add", "path": "/spec/unknown", "value": 7}), ""),
        (
            patching({"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}),
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            patching({"op": "remove", "path": "/metadata/name"}),
            'Pod "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
        (
            patching({"op": "replace", "path": "/spec/containers/0/name", "value": "Upper"}),
            'Pod "web" is invalid: spec.containers[0].name: Invalid value: "Upper": a lowercase RFC 1123 label must '
            "consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
            "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        (patching("x"), "Internal error occurred: json: cannot unmarshal into Go value of type jsonpatch.Patch"),
        ("nonsense", f"{CALL}couldn't get version/kind; json parse error: invalid character 'n' looking for beginning "
                     "of value"),
    ],
)  # fmt: skip
def test_what_becomes_of_patches(answer: str, text: str) -> None:
    error = refusal(static_webhook(answer))
    assert ("" if error is None else error.message) == text


def test_warnings_reach_the_client_and_not_controllers() -> None:
    world = static_webhook(patching(warnings=["mind the gap"]))
    assert refusal(world) is None
    assert world.cluster.warnings() == ("mind the gap",)
    done = Kubectl(world.cluster).run(["run", "y", "--image=busybox"])
    assert (done.stdout, done.stderr) == ("pod/y created\n", "Warning: mind the gap\n")
    world.cluster.patch("deployments.apps", SERVICE, {"spec": {"replicas": 2}}, namespace=NAMESPACE)
    world.advance(5)
    assert world.cluster.warnings() == ()


@pytest.mark.parametrize(
    ("expression", "policy", "expected"),
    [
        ("object.metadata.name == 'web'", "Fail", f"{DENIED}: this webhook denies all requests"),
        ("object.metadata.name == 'other'", "Fail", ""),
        ("!('system:masters' in request.userInfo.groups)", "Fail", ""),
        ("object.spec.nothing.more == 1", "Ignore", ""),
        ("object.spec.nothing.more == 1", "Fail", 'pods "web" is forbidden: '),
    ],
)
def test_match_conditions(expression: str, policy: str, expected: str) -> None:
    conditions = [{"name": "c", "expression": expression}]
    world = with_configuration(configuration(matchConditions=conditions, failurePolicy=policy))
    error = refusal(world)
    message = "" if error is None else error.message
    assert message.startswith(expected) and bool(message) is bool(expected)


def test_components_ask_under_their_own_names() -> None:
    accounts = "system:serviceaccount:kube-system:"
    for name, resources, operation, groups in (
        ("replicaset-controller", "pods", "CREATE", ""),
        ("deployment-controller", "replicasets", "CREATE", "apps"),
        ("endpointslice-controller", "endpointslices", "*", "discovery.k8s.io"),
    ):
        hook = configuration(
            rules=[rule(resources, operation, groups)],
            matchConditions=[{"name": "c", "expression": f"request.userInfo.username == '{accounts}{name}'"}],
        )
        world = with_configuration(hook)
        world.cluster.patch("deployments.apps", SERVICE, {"spec": {"replicas": 2}}, namespace=NAMESPACE)
        world.cluster.patch(
            "deployments.apps",
            SERVICE,
            {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}},
            namespace=NAMESPACE,
        )
        world.advance(30)
        status = world.cluster.get("deployments.apps", SERVICE, NAMESPACE)["status"]
        if name == "endpointslice-controller":
            slices = world.store.list("endpointslices.discovery.k8s.io", NAMESPACE)
            assert sum(len(piece["endpoints"]) for piece in slices) == 1, "the slices stay as they were"
        else:
            assert status.get("updatedReplicas", 0) == 0, name
        assert refusal(world) is None, "a person may"


def test_a_kubelet_is_known_by_its_machine() -> None:
    expression = (
        "request.userInfo.username.startsWith('system:node:') && 'system:nodes' in request.userInfo.groups"
    )
    hook = configuration(
        rules=[rule("pods/status", "UPDATE")], matchConditions=[{"name": "c", "expression": expression}]
    )
    world = with_configuration(hook)
    world.cluster.create(pod())
    world.advance(20)
    status = world.cluster.get("pods", "web", "default")["status"]
    assert status["phase"] == "Pending"
    world.cluster.patch(
        "pods", "web", {"status": {"message": "x"}}, namespace="default", subresource="status"
    )


@pytest.mark.parametrize(("resources", "scaled"), [("deployments", True), ("deployments/scale", False)])
def test_an_autoscaler_writes_the_scale(resources: str, scaled: bool) -> None:
    world = with_configuration(configuration(rules=[rule(resources, "UPDATE", "apps")]))
    world.cluster.create(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "h", "namespace": NAMESPACE},
            "spec": {
                "minReplicas": 2,
                "maxReplicas": 3,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": SERVICE},
                "metrics": [],
            },
        }
    )
    world.advance(40)
    assert (world.cluster.get("deployments.apps", SERVICE, NAMESPACE)["spec"]["replicas"] == 2) is scaled
    messages = {
        e["message"] for e in world.cluster.list("events", NAMESPACE) if e["reason"] == "FailedRescale"
    }
    reason = "Current number of replicas below Spec.MinReplicas"
    text = f"New size: 2; reason: {reason}; error: {DENIED}: this webhook denies all requests"
    assert messages == (set() if scaled else {text})


def test_a_pod_stays_terminating_while_its_kubelet_may_not_remove_it(running: EmbeddedWorld) -> None:
    expression = "request.userInfo.username.startsWith('system:node:')"
    hook = configuration(
        rules=[rule("pods", "DELETE")], matchConditions=[{"name": "c", "expression": expression}]
    )
    world = with_configuration(hook, world=running.fork())
    world.cluster.delete("pods", "web", "default")
    world.advance(120)
    assert "deletionTimestamp" in world.cluster.get("pods", "web", "default")["metadata"]
    world.cluster.delete("validatingwebhookconfigurations.admissionregistration.k8s.io", "guard")
    world.advance(30)
    assert world.store.get("pods", "default", "web") is None
    assert not [key for key in world.processes if world.processes[key].pod == "web"]
