"""Add-ons of clusters: ingress, certificates, monitoring, logging, delivery, backup; all of them healthy."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace

from sregym_env.cluster import certificates
from sregym_env.cluster.app import Image
from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, MINUTE, SECOND, seconds
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import leaders
from sregym_env.worlds.changes import Change, Step
from sregym_env.worlds.tenants import delivery, gitops, software
from sregym_env.worlds.tenants.deeds import Alter, Deed, Install, Release, Story
from sregym_env.worlds.tenants.delivery import ARGO, FLUX, delivery_of
from sregym_env.worlds.tenants.software import Software
from sregym_env.worlds.tenants.workloads import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """One workload of an add-on."""

    what: Software
    everywhere: bool = False
    """A DaemonSet."""
    ordered: bool = False
    """A StatefulSet."""

    @property
    def kind(self) -> str:
        """Of its workload."""
        return "DaemonSet" if self.everywhere else "StatefulSet" if self.ordered else "Deployment"


@dataclass(frozen=True, slots=True)
class AddOn:
    """Something that is installed into a cluster as a whole."""

    release: str
    namespaces: tuple[str, ...]
    """Where teams put it."""
    share: float
    """Of clusters have it."""
    pieces: tuple[Piece, ...]
    kinds: tuple[Manifest, ...] = ()
    """Definitions that come with it."""
    settings: tuple[Manifest, ...] = ()
    """Further objects."""


def _piece(
    name: str,
    repository: str,
    tags: str,
    port: int,
    line: str = "",
    *,
    memory: int = 30,
    everywhere: bool = False,
    ordered: bool = False,
    binary: str = "",
    http: bool = True,
) -> Piece:
    lines = (line,) if line else ()
    what = Software(
        name, repository, tuple(tags.split()), (port,), binary or f"/{name}", lines, memory, 55, 0.002, http
    )
    return Piece(what, everywhere, ordered)


ADD_ONS = (
    AddOn("ingress-nginx", ("ingress-nginx", "ingress", "nginx-ingress"), 0.45, (
        _piece("ingress-nginx-controller", "registry.k8s.io/ingress-nginx/controller", "v1.8.4 v1.9.6 v1.10.1 v1.11.2", 10254,
               "NGINX Ingress controller", memory=90),)),
    AddOn("traefik", ("traefik", "kube-ingress"), 0.2, (
        _piece("traefik", "docker.io/library/traefik", "v2.10.7 v2.11.2 v3.0.4 v3.1.2", 8080,
               'time="{iso:0.6}" level=info msg="Starting provider *crd.Provider"', memory=55),)),
    AddOn("cert-manager", ("cert-manager",), 0.55, (
        _piece("cert-manager", "quay.io/jetstack/cert-manager-controller", "v1.12.4 v1.13.3 v1.14.5 v1.15.3", 9402,
               '{klog:0.8}       1 controller.go:248] "starting leader election" logger="cert-manager.controller"'),
        _piece("cert-manager-webhook", "quay.io/jetstack/cert-manager-webhook", "v1.12.4 v1.13.3 v1.14.5 v1.15.3", 10250,
               '{klog:0.7}       1 server.go:196] "listening for secure connections" logger="cert-manager.webhook" address=":10250"'))),
    AddOn("kube-prometheus-stack", ("monitoring", "observability", "prometheus"), 0.5, (
        _piece("prometheus-adapter", "registry.k8s.io/prometheus-adapter/prometheus-adapter", "v0.10.0 v0.11.1 v0.11.2 v0.12.0",
               6443, '{klog:0.9}       1 secure_serving.go:213] Serving securely on [::]:6443'),
        _piece("grafana", "docker.io/grafana/grafana", "10.2.3 10.4.2 11.1.0 11.2.2", 3000, "logger=http.server "
               "t={micro:2.3} level=info msg=\"HTTP Server Listen\" address=[::]:3000 protocol=http subUrl= socket=", memory=95))),
    AddOn("node-problem-detector", ("monitoring", "observability", "kube-system"), 0.35, (
        _piece("node-problem-detector", "registry.k8s.io/node-problem-detector/node-problem-detector",
               "v0.8.13 v0.8.15 v0.8.19 v0.8.20", 20256,
               "{klog:0.1}       1 node_problem_detector.go:99] Problem detector started", memory=18, everywhere=True),)),
    AddOn("fluent-bit", ("logging", "kube-logging", "observability"), 0.3, (
        _piece("fluent-bit", "cr.fluentbit.io/fluent/fluent-bit", "2.1.10 2.2.3 3.0.7 3.1.6", 2020,
               "[{slashes:0.2}] [ info] [http_server] listen iface=0.0.0.0 tcp_port=2020", memory=25, everywhere=True),)),
    AddOn("promtail", ("loki", "logging"), 0.15, (
        _piece("promtail", "docker.io/grafana/promtail", "2.8.9 2.9.6 2.9.10 3.1.1", 3101,
               'level=info ts={micro:0.2} caller=promtail.go:133 msg="Starting Promtail"', memory=60, everywhere=True),)),
    AddOn("external-dns", ("external-dns", "kube-system", "networking"), 0.35, (
        _piece("external-dns", "registry.k8s.io/external-dns/external-dns", "v0.13.6 v0.14.0 v0.14.2 v0.15.0", 7979,
               'time="{iso:0.1}" level=info msg="Instantiating new Kubernetes client"'),)),
    AddOn("external-secrets", ("external-secrets",), 0.3, (
        _piece("external-secrets", "ghcr.io/external-secrets/external-secrets", "v0.9.13 v0.9.20 v0.10.0 v0.10.4", 8080,
               '{"level":"info","ts":{epoch:0.7},"logger":"setup","msg":"starting manager"}', memory=45),)),
    AddOn("sealed-secrets", ("kube-system", "sealed-secrets"), 0.15, (
        _piece("sealed-secrets-controller", "docker.io/bitnami/sealed-secrets-controller", "v0.24.5 v0.26.2 v0.27.1", 8080,
               'time={milli:0.2} level=INFO msg="Starting sealed-secrets controller" version={tag}'),)),
    AddOn("velero", ("velero", "backup"), 0.25, (
        _piece("velero", "docker.io/velero/velero", "v1.11.1 v1.12.4 v1.13.2 v1.14.1", 8085,
               'time="{iso:0.1}" level=info msg="setting log-level to INFO"', memory=60),)),
    AddOn("kyverno", ("kyverno",), 0.2, (
        _piece("kyverno-admission-controller", "ghcr.io/kyverno/kyverno", "v1.10.7 v1.11.5 v1.12.5", 8000,
               '{klog:1.2}       1 controller.go:41] "starting" logger="leaderController"', memory=110),)),
    AddOn("keda", ("keda",), 0.15, (
        _piece("keda-operator", "ghcr.io/kedacore/keda", "2.12.1 2.13.1 2.14.0 2.15.1", 8080,
               '{iso:0.9}\tINFO\tsetup\tStarting manager', memory=50),)),
    AddOn("reloader", ("kube-system", "reloader"), 0.2, (
        _piece("reloader-reloader", "ghcr.io/stakater/reloader", "v1.0.69 v1.0.107 v1.0.121 v1.1.0", 9090,
               'time="{iso:0.2}" level=info msg="Starting Reloader"'),)),
    AddOn("kubernetes-dashboard", ("kubernetes-dashboard",), 0.12, (
        _piece("kubernetes-dashboard", "docker.io/kubernetesui/dashboard", "v2.6.1 v2.7.0", 9090,
               "{slashes:0.5} Serving insecurely on HTTP port: 9090"),)),
    AddOn("otel-collector", ("monitoring", "opentelemetry"), 0.2, (
        _piece("otel-collector", "docker.io/otel/opentelemetry-collector", "0.88.0 0.96.0 0.103.1 0.110.0", 13133,
               "{milli:0.4}\tinfo\tservice@v{tag}/service.go:195\tEverything is ready. Begin running and processing data.", memory=70),)),
    AddOn("reposilite", ("tools", "internal-tools"), 0.08, (
        _piece("reposilite", "docker.io/dzikoysk/reposilite", "3.4.10 3.5.14", 8080,
               "{clock:1.4} INFO | Done (1s)! Listening on port 8080", memory=120),)),
)  # fmt: skip
"""What is installed where; shares are those of surveys, halved for what others stand in for."""

ELECTIONS = {
    "ingress-nginx-controller": ("", "ingress-nginx-leader"),
    "cert-manager": ("kube-system", "cert-manager-controller"),
    "external-secrets": ("", "external-secrets-controller"),
    "kyverno-admission-controller": ("", "kyverno"),
    "keda-operator": ("", "operator.keda.sh"),
    "source-controller": ("", "source-controller-leader-election"),
    "kustomize-controller": ("", "kustomize-controller-leader-election"),
}
"""(namespace, empty for their own, and name) of the Lease by which pods of a workload elect a leader."""

DELIVERERS = {
    ARGO: AddOn("argocd", ("argocd",), 1.0, (
        _piece("argocd-server", "quay.io/argoproj/argocd", "v2.9.6 v2.10.9 v2.11.4 v2.12.3", 8080,
               'time="{iso:0.9}" level=info msg="argocd {tag} serving on port 8080 (url: , tls: true, namespace: argocd, sso: false)"',
               memory=60, binary="argocd-server"),
        _piece("argocd-repo-server", "quay.io/argoproj/argocd", "v2.9.6 v2.10.9 v2.11.4 v2.12.3", 8081,
               'time="{iso:0.4}" level=info msg="argocd-repo-server {tag} serving on [::]:8081"', memory=45,
               binary="argocd-repo-server"),
        _piece("argocd-application-controller", "quay.io/argoproj/argocd", "v2.9.6 v2.10.9 v2.11.4 v2.12.3", 8082,
               'time="{iso:0.7}" level=info msg="Application Controller (version: {tag}) starting (namespace: argocd)"', memory=140,
               ordered=True, binary="argocd-application-controller"),
        _piece("argocd-redis", "docker.io/library/redis", "7.0.11-alpine 7.0.14-alpine 7.0.15-alpine 7.2.5-alpine", 6379,
               "1:M {redis:0.02} * Ready to accept connections tcp", memory=9, binary="redis-server", http=False)),
        gitops.ARGO_KINDS, gitops.ARGO_SETTINGS),
    FLUX: AddOn("flux", ("flux-system",), 1.0, (
        _piece("source-controller", "ghcr.io/fluxcd/source-controller", "v1.1.2 v1.2.5 v1.3.0", 9090,
               '{"level":"info","ts":"{milli:0.6}","logger":"setup","msg":"starting manager"}', memory=40),
        _piece("kustomize-controller", "ghcr.io/fluxcd/kustomize-controller", "v1.1.1 v1.2.2 v1.3.0", 9090,
               '{"level":"info","ts":"{milli:0.6}","logger":"setup","msg":"starting manager"}', memory=38)),
        gitops.FLUX_KINDS),
}  # fmt: skip
"""The add-on that does the delivering where a tool needs one."""


@dataclass(frozen=True, slots=True)
class Elect:
    """Pods of an add-on elect a leader from now on."""

    namespace: str
    lease: str
    labels: tuple[tuple[str, str], ...]
    pods: str
    """The pods' namespace."""

    def do(self, world: EmbeddedWorld) -> None:
        """Let them."""
        leaders.contest(world, self.namespace, self.lease, dict(self.labels), self.pods)


def pods_of(add_on: AddOn, nodes: int) -> int:
    """How many pods an add-on has on a cluster of so many nodes."""
    return sum(nodes if piece.everywhere else 1 for piece in add_on.pieces)


def chosen(chance: Chance, tool: str, nodes: int, pods: int, *, afar: bool = False) -> list[AddOn]:
    """The add-ons of a cluster that is delivered to by ``tool``, with about so many pods in all. ``afar``: it must run elsewhere."""
    found = [DELIVERERS[tool]] if tool in DELIVERERS and chance.yes("deliverer", 0.6) and not afar else []
    left = pods - sum(pods_of(add_on, nodes) for add_on in found)
    for add_on in chance.shuffled("order", ADD_ONS):
        count = pods_of(add_on, nodes)
        if chance.yes(add_on.release, add_on.share) and count <= left:
            found.append(add_on)
            left -= count
    return found


def installed(add_on: AddOn, chance: Chance, span: Span, tool: str, namespace: str) -> Story:
    """An add-on in its namespace, installed early and upgraded now and then."""
    start = span.at(chance.uniform("share", 0.004, 0.05))
    if chance.yes("late", 0.25):
        start = span.at(chance.uniform("late share", 0.1, 0.9))
    helm = tool if tool in (ARGO, FLUX) and chance.yes("by tool", 0.6) else delivery.HELM
    if add_on in DELIVERERS.values():
        # It is there before everything that it delivers.
        start, helm = span.at(chance.uniform("first", 0.001, 0.003)), delivery.APPLY
    how = delivery_of(chance.at("delivery"), helm, add_on.release)
    upgraded = chance.yes("upgraded", 0.35)
    age = chance.lognormal("upgrade", 40.0, 0.9) * DAY
    deeds: list[Deed] = []
    images: dict[str, Image] = {}
    tags = min(len(piece.what.tags) for piece in add_on.pieces)
    newest = chance.between("version", 1, tags - 1)
    if add_on.kinds:
        deeds.append(Deed(start, Install(add_on.kinds, helm)))
        deeds.append(Deed(start + 5 * SECOND, Install(add_on.settings, helm)))
    if add_on.release == CERTIFICATES:
        asked = tuple(_unbound(how.marked(m)) for m in _admission(namespace))
        deeds.append(Deed(start + 6 * SECOND, Install(asked, helm)))
    if helm == delivery.HELM:
        deeds.append(Deed(start, Release(how, namespace, 1)))
    for index, piece in enumerate(add_on.pieces):
        was = f"{piece.what.repository}:{piece.what.tags[newest - upgraded]}"
        now = f"{piece.what.repository}:{piece.what.tags[newest]}"
        for reference in (was, now):
            made = software.image(piece.what, reference)
            # Some add-ons are one image with several programs.
            known = images.get(reference)
            images[reference] = (
                made if known is None else replace(made, binaries={**known.binaries, **made.binaries})
            )
        exposed = chance.yes(f"exposed {piece.what.name}", EXPOSED)
        made_of = _objects(piece, add_on, namespace, was, exposed=exposed)
        objects = tuple(how.marked(m) for m in made_of)
        time = start + seconds(index * chance.uniform("pace", 2.0, 20.0) + 0.4)
        deeds.append(Deed(time, Install(objects, helm)))
        if piece.what.name in ELECTIONS:
            where, lease = ELECTIONS[piece.what.name]
            deeds.append(
                Deed(time, Elect(where or namespace, lease, tuple(_labels(piece, add_on).items()), namespace))
            )
        if upgraded:
            due = max(min(span.ago(age), span.present - 20 * MINUTE), time + 30 * MINUTE) + seconds(
                index * 1.7
            )
            step = Step("/spec/template/spec/containers/0/image", was, now)
            target = delivery_target(piece, namespace)
            if helm == delivery.HELM and not index:
                deeds.append(Deed(due, Release(how, namespace, 2)))
            deeds.append(Deed(due, Alter(Change("image", target, helm, (step,)))))
    return Story(tuple(deeds), images, len(add_on.pieces))


CERTIFICATES = "cert-manager"
"""The add-on that has its own objects checked by webhooks."""


def _admission(namespace: str) -> list[Manifest]:
    """Its configurations, as of its namespace: they ask about nothing but its own kinds of objects."""
    bundle = b64encode(certificates.authority(f"{namespace}/cert-manager-webhook-ca").encode()).decode()
    found: list[Manifest] = []
    for kind, path in (("Mutating", "/mutate"), ("Validating", "/validate")):
        service = {"name": "cert-manager-webhook", "namespace": namespace, "path": path, "port": 10250}
        rule = {
            "apiGroups": ["cert-manager.io", "acme.cert-manager.io"],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["*/*"],
        }
        hook: Manifest = {
            "name": "webhook.cert-manager.io",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": service, "caBundle": bundle},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "rules": [rule],
            "sideEffects": "None",
            "timeoutSeconds": 30,
        }
        metadata = {
            "name": "cert-manager-webhook",
            "namespace": namespace,
            "annotations": {"cert-manager.io/inject-ca-from-secret": f"{namespace}/cert-manager-webhook-ca"},
        }
        found.append(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{kind}WebhookConfiguration",
                "metadata": metadata,
                "webhooks": [hook],
            }
        )
    return found


def _unbound(manifest: Manifest) -> Manifest:
    """An object that lies in no namespace, as its release has marked it, which has one."""
    metadata = {field: value for field, value in manifest["metadata"].items() if field != "namespace"}
    return {**manifest, "metadata": metadata}


def delivery_target(piece: Piece, namespace: str) -> ObjectRef:
    """The workload of a piece."""
    return ObjectRef(f"{piece.kind.lower()}s.apps", piece.what.name, namespace)


def _labels(piece: Piece, add_on: AddOn) -> dict[str, str]:
    return {"app.kubernetes.io/name": piece.what.name, "app.kubernetes.io/instance": add_on.release}


EXPOSED = 0.3
"""How often what runs on every machine has its port there as well."""


def _objects(
    piece: Piece, add_on: AddOn, namespace: str, image: str, *, exposed: bool = False
) -> list[Manifest]:
    name, what = piece.what.name, piece.what
    labels = _labels(piece, add_on)
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    port = what.ports[0]
    probe: Manifest = (
        {"httpGet": {"path": what.path, "port": port}} if what.http else {"tcpSocket": {"port": port}}
    )
    opened: Manifest = {"containerPort": port, "name": "metrics"}
    if exposed and piece.everywhere:
        opened["hostPort"] = port
    container = {
        "name": name,
        "image": image,
        "command": [what.binary],
        "ports": [opened],
        "resources": {"requests": {"cpu": "10m", "memory": f"{what.memory}Mi"}},
        "readinessProbe": probe,
        "livenessProbe": {**probe, "initialDelaySeconds": 10},
    }
    pod: Manifest = {"containers": [container], "serviceAccountName": name}
    spec: Manifest = {"selector": {"matchLabels": labels}}
    if piece.everywhere:
        pod["tolerations"] = [{"operator": "Exists", "effect": "NoSchedule"}]
    else:
        spec["replicas"] = 1
    spec["template"] = {"metadata": {"labels": labels}, "spec": pod}
    if piece.ordered:
        spec["serviceName"] = name
    service = {"ports": [{"name": "metrics", "port": port, "targetPort": port}], "selector": labels}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": "apps/v1", "kind": piece.kind, "metadata": metadata, "spec": spec},
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service},
    ]
