"""A small hand-made cluster for tests of the data plane: objects, processes, and programs of a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.app import App, Component, Journey
from sregym_env.runtime.clock import EPOCH, SECOND
from sregym_env.sim.machines import kubelet
from sregym_env.sim.users import traffic
from sregym_env.sim.world import Controller, Machinery, SimWorld
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import PLENTY, Call, Capacity, Flow, HttpRequest, HttpResponse, Usage

COREFILE = """.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""


@dataclass
class FakeProgram:
    """Answers after ``latency`` seconds; calls on to ``calls`` (host, port, share) first."""

    name: str
    latency: float = 0.001
    calls: tuple[tuple[str, int, float], ...] = ()
    crash: float = 0.0
    log: str = ""
    cpu_per_request: float = 0.0001
    offered: tuple[Any, ...] = ()
    bounds: Capacity = PLENTY
    commands: Mapping[str, Any] = None  # type: ignore[assignment]

    def start(self, ctx: Any) -> None:
        pass

    def wake(self, ctx: Any, reason: str) -> None:
        pass

    def serve(self, ctx: Any, call: Call, port: int) -> Flow:
        ok, latency, failures = 1.0, self.latency, ()
        for host, number, share in self.calls:
            flow = ctx.call(host, number, Call("op"), share=share, timeout=1.0)
            ok *= 1.0 - share * (1.0 - flow.ok)
            latency += share * flow.latency
            failures += flow.failures
        if self.crash:
            ctx.crash("panic: boom", 2, share=self.crash)
        if self.log:
            ctx.log_per_request(self.log, share=1.0 - ok)
        return Flow(
            ok, latency, tuple((f, (1.0 - ok) / len(failures)) for f, _ in failures) if ok < 1 else ()
        )

    def request(self, ctx: Any, request: HttpRequest, port: int) -> HttpResponse | None:
        if port != 80:
            return None
        return HttpResponse(404 if request.path == "/missing" else 200, "hello", latency=self.latency)

    def terminate(self, ctx: Any) -> tuple[float, int]:
        return 0.1, 0

    def capacity(self, ctx: Any) -> Capacity:
        return self.bounds

    def usage(self, ctx: Any, rates: Mapping[str, float]) -> Usage:
        return Usage(0.001 + self.cpu_per_request * sum(rates.values()), 20 << 20)


class FakeLoad(FakeProgram):
    def offers(self, ctx: Any) -> tuple[Any, ...]:
        return self.offered


def bare_world(*controllers: Controller) -> SimWorld:
    machinery = Machinery.of(
        controllers, {**traffic.HANDLERS, "program.exit": kubelet.HANDLERS["program.exit"]}
    )
    world = SimWorld(1, start=EPOCH, machinery=machinery, images={})
    for name in ("default", "app", "kube-system"):
        put(
            world, "namespaces", {"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}}
        )
    for number, name in enumerate(("cp", "w1", "w2")):
        node = {"metadata": {"name": name, "creationTimestamp": "2026-08-06T09:00:00Z"}}
        node["status"] = {"addresses": [{"type": "InternalIP", "address": f"172.18.0.{number + 2}"}]}
        put(world, "nodes", node)
    service(world, "kube-system", "kube-dns", "10.96.0.10", 53, 53, protocol="UDP")
    pod(world, "kube-system", "coredns-a", "10.244.0.2", "cp", program="coredns", ports=(53,))
    expose(world, "kube-system", "kube-dns", ["coredns-a"], 53)
    service(world, "kube-system", "metrics-server", "10.96.0.20", 443, 10250)
    pod(world, "kube-system", "metrics", "10.244.0.3", "cp", ports=(10250,))
    expose(world, "kube-system", "metrics-server", ["metrics"], 10250)
    put(
        world,
        "apiservices.apiregistration.k8s.io",
        {"metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": {}},
    )
    return world


def put(world: SimWorld, resource: str, obj: dict[str, Any]) -> None:
    world.store.put(resource, obj)


def pod(
    world: SimWorld,
    namespace: str,
    name: str,
    ip: str,
    node: str,
    *,
    program: str = "echo",
    ports: tuple[int, ...] = (80,),
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Process:
    """A running pod with one process."""
    uid = f"uid-{name}"
    host = bool(spec.get("hostNetwork"))
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "labels": dict(labels or {"app": name}),
        "creationTimestamp": "2026-08-06T09:50:00Z",
    }
    obj = {
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "ports": [{"name": "main", "containerPort": p} for p in ports]}],
            **spec,
        },
        "status": {"phase": "Running", "podIP": ip},
    }
    put(world, "pods", obj)
    state = {"corefile": COREFILE} if program == "coredns" else {}
    process = Process(
        key=(uid, "main"),
        namespace=namespace,
        pod=name,
        container="main",
        node=node,
        ip=ip,
        host_network=host,
        hostname=name,
        image="image",
        binary="main",
        program=program,
        argv=("main",),
        env={},
        mounts=(),
        cpu_limit=None,
        memory_limit=None,
        restart=0,
        started_at=EPOCH - 600 * SECOND,
        listening=ports,
        state=state,
    )
    world.put_process(process)
    return process


def service(
    world: SimWorld,
    namespace: str,
    name: str,
    ip: str,
    port: int,
    target: int,
    *,
    protocol: str = "TCP",
    **spec: Any,
) -> None:
    entry = {"name": "", "port": port, "targetPort": target, "protocol": protocol}
    if "nodePort" in spec:
        entry["nodePort"] = spec.pop("nodePort")
    obj = {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-svc-{name}"},
        "spec": {"clusterIP": ip, "type": "ClusterIP", "ports": [entry], **spec},
    }
    put(world, "services", obj)


def expose(
    world: SimWorld, namespace: str, name: str, pods: list[str], port: int, *, ready: bool = True
) -> None:
    """The EndpointSlice of a Service."""
    entries = []
    for pod_name in pods:
        found = world.store.get("pods", namespace, pod_name)
        assert found is not None
        entries.append(
            {
                "addresses": [found["status"]["podIP"]],
                "conditions": {"ready": ready, "serving": ready, "terminating": False},
                "nodeName": found["spec"]["nodeName"],
                "targetRef": {"kind": "Pod", "name": pod_name, "namespace": namespace},
            }
        )
    piece = {
        "metadata": {
            "name": f"{name}-abcde",
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        "endpoints": entries,
    }
    put(world, "endpointslices.discovery.k8s.io", piece)


def web_world(*controllers: Controller) -> tuple[SimWorld, Process, Process]:
    """A client ``app/client`` on w1 and a server ``app/web`` (Service ``web``, 10.96.1.1:8080 -> 80) on w2."""
    world = bare_world(*controllers)
    client = pod(world, "app", "client", "10.244.1.5", "w1", ports=(1234,))
    server = pod(world, "app", "web-1", "10.244.2.5", "w2", labels={"app": "web"})
    service(world, "app", "web", "10.96.1.1", 8080, 80)
    expose(world, "app", "web", ["web-1"], 80)
    return world, client, server


def application() -> App:
    """An application of one web server and its load."""
    return App(
        name="test",
        title="Test",
        namespace="app",
        description="",
        components=(
            Component("web", "web", "deployments.apps", "main", port=8080, service="web", stateless=True),
            Component("load", "load", "jobs.batch", "main"),
        ),
        manifests=(),
        images=(),
        journeys=(Journey("read", "GET", "/", 1.0),),
        entry="web",
    )
