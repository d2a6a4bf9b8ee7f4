"""The classic incident: a webhook nobody answers for stops every rollout, and its end heals everything."""

from __future__ import annotations

from sregym_env.apps.hotel_reservation import APP
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.kubectl import Kubectl
from tests.sim.admission.webhook_world import configuration, objects, pair, rule

NAMESPACE = "hotel-reservation"
VALIDATING = "validatingwebhookconfigurations.admissionregistration.k8s.io"
TEXT = (
    'Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: Post '
    '"https://guard.policy.svc:443/pods?timeout=10s": {}'
)


def test_a_webhook_whose_service_is_gone() -> None:
    world = deployed_world(APP)
    cluster = world.cluster
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}}
    cluster.create(configuration(name="pods", path="/pods", rules=[rule("pods")], **selector))
    assert min(h.success_ratio for h in world.traffic.health(10)) > 0.99, "what runs goes on running"
    pod = next(
        p for p in cluster.list("pods", NAMESPACE) if p["metadata"]["name"].startswith("recommendation-")
    )
    cluster.delete("pods", pod["metadata"]["name"], NAMESPACE)
    world.advance(120)
    messages = {
        event["message"]
        for event in cluster.list("events", NAMESPACE)
        if event["reason"] == "FailedCreate" and event["involvedObject"]["name"].startswith("recommendation-")
    }
    assert messages == {"Error creating: " + TEXT.format('service "guard" not found')}
    assert not [
        p for p in cluster.list("pods", NAMESPACE) if p["metadata"]["name"].startswith("recommendation-")
    ]
    health = {h.journey: h.success_ratio for h in world.traffic.health(30)}
    assert min(health.values()) < 0.5, "users notice"
    kubectl = Kubectl(cluster)
    said = kubectl.run(["-n", NAMESPACE, "get", "deployment", "recommendation"]).stdout
    assert "0/1" in said
    done = kubectl.run(["-n", NAMESPACE, "run", "x", "--image=busybox"])
    assert (done.exit_code, done.stderr) == (
        1,
        "Error from server (InternalError): " + TEXT.format('service "guard" not found') + "\n",
    )
    cluster.delete(VALIDATING, "pods")
    world.advance(180)
    assert "1/1" in kubectl.run(["-n", NAMESPACE, "get", "deployment", "recommendation"]).stdout
    assert min(h.success_ratio for h in world.traffic.health(10)) > 0.99


def test_an_expired_certificate_stops_rollouts_until_it_is_renewed() -> None:
    world = deployed_world(APP)
    cluster = world.cluster
    # The application is deployed five hours after the certificates' first day.
    short, fresh = pair(days=(-90, 1)), pair(days=(-1, 90), authority="policy-ca", number=7)
    for manifest in objects(short):
        cluster.create(manifest)
    world.advance(30)
    cluster.create(configuration(name="pods", path="/pods", bundle=short.authority, rules=[rule("pods")]))
    kubectl = Kubectl(cluster)
    assert kubectl.run(["-n", NAMESPACE, "rollout", "restart", "deployment/geo"]).exit_code == 0
    world.advance(60)
    assert "1/1" in kubectl.run(["-n", NAMESPACE, "get", "deployment", "geo"]).stdout
    world.advance(86_400)
    kubectl.run(["-n", NAMESPACE, "rollout", "restart", "deployment/geo"])
    world.advance(60)
    described = kubectl.run(["-n", NAMESPACE, "describe", "rs", "-l", "io.kompose.service=geo"]).stdout
    assert (
        "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time"
        in (described)
    )
    assert "is after 2026-08-07T10:00:00Z" in described
    assert min(h.success_ratio for h in world.traffic.health(10)) > 0.99, "the old pod still serves"
    secret = objects(fresh)[1]
    cluster.replace(secret)
    bundle = configuration(name="pods", path="/pods", bundle=fresh.authority, rules=[rule("pods")])
    # The webhook reads its files at start: without a restart the renewed Secret changes nothing, and the webhook
    # that judges pods stands in the way of its own.
    cluster.replace(bundle)
    kubectl.run(["-n", "policy", "rollout", "restart", "deployment/guard"])
    world.advance(60)
    waiting = kubectl.run(["-n", "policy", "describe", "rs"]).stdout
    assert "x509: certificate has expired" in waiting
    cluster.delete(VALIDATING, "pods")
    world.advance(240)
    cluster.create(bundle)
    done = kubectl.run(["-n", NAMESPACE, "rollout", "restart", "deployment/geo"])
    world.advance(60)
    assert done.exit_code == 0
    assert "1/1" in kubectl.run(["-n", NAMESPACE, "get", "deployment", "geo"]).stdout
    created = kubectl.run(["-n", NAMESPACE, "get", "pods", "-l", "io.kompose.service=geo"]).stdout
    assert "Running" in created


def test_a_webhook_in_the_cluster_changes_every_new_pod() -> None:
    world = deployed_world(APP)
    cluster = world.cluster
    for manifest in objects(pair()):
        cluster.create(manifest)
    world.advance(30)
    cluster.create(configuration("Mutating", "/add-label", rules=[rule("pods")]))
    kubectl = Kubectl(cluster)
    kubectl.run(["-n", NAMESPACE, "rollout", "restart", "deployment/rate"])
    world.advance(60)
    labelled = kubectl.run(["-n", NAMESPACE, "get", "pods", "-l", "added-label=yes", "-o", "name"]).stdout
    assert labelled.startswith("pod/rate-") and labelled.count("\n") == 1
    assert min(h.success_ratio for h in world.traffic.health(10)) > 0.99
