"""A Service without endpoints, in another team's namespace, that keeps every new proxy from starting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    Delete,
    Edit,
    JsonPatch,
    ObjectRef,
    RecreatePods,
    Rollout,
    Scale,
)
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ServiceTarget, TargetRule, services
from sregym_env.faults.choices import elsewhere, fresh, one_of, served_ports
from sregym_env.faults.commands import apply, await_rollout, patch, replace_unready, scale
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs import nginx_config

DIRECTORY = "/etc/proxy"
POLICIES = "networkpolicies.networking.k8s.io"
PORT = 80
EGRESS = 15101
"""The first of the ports at which the application finds the other team's Services."""
BESIDE = 2
"""How many other components of the application have such a proxy."""

SERVICES = (
    "ledger", "scores", "vouchers", "quotes", "audit-feed", "consents", "rewards", "tariffs", "documents", "partners", "geofence",
    "statements", "limits", "referrals", "screening", "receipts", "entitlements", "offers", "exports", "addresses",
)  # fmt: skip
"""What other teams offer."""

PLACES = (
    "loyalty", "risk", "partner-integrations", "backoffice", "ads-platform", "fulfilment", "compliance", "crm", "identity-platform",
    "growth", "data-products", "revenue",
)  # fmt: skip
"""Namespaces of theirs."""

MAIN = """\
worker_processes auto;
error_log /dev/stderr notice;
pid /tmp/nginx.pid;
events {{
  worker_connections 1024;
}}
stream {{
  include {directory}/egress-*.conf;
  server {{
    listen {port};
    proxy_pass 127.0.0.1:{to};
  }}
}}
"""
ROUTE = """\
upstream {name} {{
  server {name}.{place}.svc.cluster.local:{to};
}}
server {{
  listen 127.0.0.1:{port};
  proxy_pass {name};
}}
"""


def _fits(target: ServiceTarget) -> bool:
    its = target.component
    return (
        not target.headless
        and its.workload == "deployments.apps"
        and its.stateless
        and target.inventory.declares(its)
        and not template(target.inventory.workload(its))["spec"].get("hostNetwork")
        and isinstance(target.component.port, int)
    )


TARGETS: TargetRule = services(at_request=True, where=_fits)
PROXIED: TargetRule = services(where=_fits)
"""Whatever of an application may have such a proxy."""


def _others(target: ServiceTarget) -> list[str]:
    return [each.component.name for each in PROXIED.find(target.inventory) if each.name != target.name]


def _beside(target: ServiceTarget, chance: Chance) -> tuple[str, ...]:
    known = _others(target)
    return tuple(chance.sample("beside", known, min(BESIDE, len(known))))


def _names(target: ServiceTarget, chance: Chance) -> tuple[str, ...]:
    return tuple(chance.sample("names", _unused(target), 3))


def _unused(target: ServiceTarget) -> list[str]:
    """What the application itself does not have, nor anything called nearly so."""
    own = [name for _, _, name in target.inventory.declared]
    return [name for name in SERVICES if not any(name.removesuffix("s") in each for each in own)]


def _port(target: ServiceTarget, chance: Chance) -> int:
    taken = set().union(*(served_ports(each) for each in PROXIED.find(target.inventory)))
    return chance.choice(
        "port", [port for port in (15001, 15006, 18080, 8843, 9443, 10443, 19000) if port not in taken]
    )


@fault(layer="network", mechanism="proxy_upstream_unresolved", targets=TARGETS, level="hard")
def empty_service_crashes_new_proxy(
    target: ServiceTarget,
    way: str = drawn(one_of("scaled", "scaled", "removed"), published="scaled"),
    names: tuple[str, ...] = drawn(_names, published=lambda target: tuple(_unused(target)[:3])),
    place: str = drawn(elsewhere(PLACES), published="loyalty"),
    beside: tuple[str, ...] = drawn(_beside, published=lambda target: tuple(_others(target)[:BESIDE])),
    proxy: str = drawn(one_of("edge-proxy", "nginx", "ambassador", "tcp-proxy", "egress", "mesh-proxy", "gateway"), published="edge-proxy"),
    config: str = drawn(
        fresh("configmaps", "proxy-config", "{app}-proxy", "sidecar-nginx", "edge-routes", "{app}-egress", "mesh-config", "proxy-routes"),
        published="proxy-config",
    ),
    port: int = drawn(_port, published=15001),
    tag: str = drawn(one_of("1.25-alpine", "1.26-alpine", "1.27-alpine", "1.24-alpine"), published="1.27-alpine"),
    replicas: int = drawn(one_of(1, 2, 2, 3), published=2),
    since: float = drawn(
        lambda target, chance: float(round(chance.uniform("since", 15_000.0, 90_000.0))), published=600.0
    ),
) -> Fault:  # fmt: skip
    """nginx beside several components has a headless Service of another team among its upstreams, and that has no endpoints any more.

    nginx looks its upstreams up when it starts, and a headless Service without endpoints has no address: each new proxy ends
    with ``host not found in upstream``, and its pod is never ready. Proxies that run go on with what they have read, so that
    nothing happened when the other team's Deployment went to zero (or away: ``way``) hours before; who restarts those as well
    has nobody left. The other team has a third workload at zero, on purpose, whose Service has an address of its own.
    """
    gone, live, resting = names
    service, workload = ObjectRef("services", gone, place), ObjectRef("deployments.apps", gone, place)
    settings = ObjectRef("configmaps", config, target.namespace)
    struck = {each.component.name: each for each in PROXIED.find(target.inventory)}
    proxied = [target, *(struck[name] for name in beside)]
    data = {
        **{f"{each.component.name}.conf": MAIN.format(directory=DIRECTORY, port=port, to=each.component.port) for each in proxied},
        **{
            f"egress-{name}.conf": ROUTE.format(name=name, place=place, port=EGRESS + at, to=PORT)
            for at, name in enumerate(sorted(names))
        },
    }  # fmt: skip
    admitted = [edit for each in proxied for edit in _admitted(each, port)]
    scaled = way == "scaled"
    back = [replace_unready(target.namespace), await_rollout(target.workload)]
    route = f"/data/egress-{gone}.conf"
    dropped = [patch(settings, [{"op": "remove", "path": route}]), "sleep 90", *back]
    virtual = [
        f"kubectl delete service {gone} -n {place}",
        apply(_service(service, headless=False)),
        *back,
    ]
    answer = [scale(workload, replicas), await_rollout(workload), *back]
    why = f"was scaled to 0 ({replicas} before)" if scaled else "was deleted"
    return Fault(
        resource=workload if scaled else service,
        cause=f"Every new nginx proxy (container {proxy}, ConfigMap {config}) in the pods of {target.component.name} ends at its start with host "
        f"not found in upstream, because the headless Service {gone} in namespace {place}, one of its upstreams, has had no endpoints and no "
        f"address since its Deployment {why}, while proxies that were started before live on.",
        earlier=[
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}),
            *(Create(_team(ObjectRef("deployments.apps", name, place), 0 if name == resting else replicas)) for name in names),
            *(Create(_service(ObjectRef("services", name, place), headless=name != resting)) for name in names),
            *(AwaitRollout(ObjectRef("deployments.apps", name, place)) for name in (gone, live)),
            Create({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": config, "namespace": target.namespace}, "data": data,
            }),
            *admitted,
            *(edit for each in proxied for edit in _proxied(each, proxy, config, port, tag)),
        ],
        edits=[Scale(workload, 0) if scaled else Delete(workload)],
        trigger=[RecreatePods(target.component.name)],
        spared=[*beside],
        matures=since,
        details={"field": "upstream", "wrong": "headless"},
        facts={"gone": gone, "elsewhere": place, "proxy": proxy, "config": config},
        remedies=[*([answer] if scaled else []), dropped, virtual],
        look=[
            f"kubectl logs -n {target.namespace} deploy/{target.component.name} -c {proxy} --tail=20",
            f"kubectl get configmap {config} -n {target.namespace} -o yaml",
            f"kubectl describe service {gone} -n {place}",
            f"kubectl get deployments -n {place}",
        ],
        accepts=[service, workload, settings, *(each.workload for each in proxied), *(edit.target for edit in admitted)],
        aliases=[gone, place, proxy, config],
        cured=[_starts(proxied, proxy, live), _rests(ObjectRef("deployments.apps", resting, place))],
    )  # fmt: skip


def _proxied(target: ServiceTarget, proxy: str, config: str, port: int, tag: str) -> Iterator[Edit]:
    """The proxy comes into the component's pods, and then its Service leads there."""
    pod = "/spec/template/spec"
    container: dict[str, Any] = {
        "name": proxy,
        "image": f"nginx:{tag}",
        "command": ["nginx", "-c", f"{DIRECTORY}/{target.component.name}.conf", "-g", "daemon off;"],
        "ports": [{"containerPort": port, "name": "proxy"}],
        "resources": {"requests": {"cpu": "5m", "memory": "12Mi"}, "limits": {"memory": "48Mi"}},
        "volumeMounts": [{"name": "proxy", "mountPath": DIRECTORY}],
    }
    volume = {"name": "proxy", "configMap": {"name": config}}
    yield Rollout(target.workload, {f"{pod}/containers/-": container, f"{pod}/volumes/-": volume})
    yield AwaitRollout(target.workload)
    yield JsonPatch(target.service, f"/spec/ports/{target.port_index}/targetPort", port)


def _admitted(target: ServiceTarget, port: int) -> Iterator[JsonPatch]:
    """Where the component's own port is let in by name, its proxy's is as well."""
    labels = template(target.inventory.workload(target.component))["metadata"].get("labels") or {}
    for (resource, namespace, name), policy in target.inventory.declared.items():
        if resource != POLICIES or namespace != target.namespace:
            continue
        if not from_dict(policy["spec"].get("podSelector")).matches(labels):
            continue
        for number, rule in enumerate(policy["spec"].get("ingress") or ()):
            ports = rule.get("ports") or ()
            if any(each.get("port") == target.component.port for each in ports):
                opened = [*ports, {"protocol": "TCP", "port": port}]
                yield JsonPatch(ObjectRef(resource, name, namespace), f"/spec/ingress/{number}/ports", opened)


def _team(workload: ObjectRef, replicas: int) -> Manifest:
    labels = {"app": workload.name}
    container = {
        "name": "server",
        "image": "nginx:1.27-alpine",
        "ports": [{"containerPort": PORT, "name": "http"}],
        "resources": {"requests": {"cpu": "5m", "memory": "12Mi"}},
        "readinessProbe": {"tcpSocket": {"port": PORT}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": workload.name, "namespace": workload.namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def _service(service: ObjectRef, headless: bool) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service.name, "namespace": service.namespace, "labels": {"app": service.name}},
        "spec": {
            **({"clusterIP": "None"} if headless else {}),
            "selector": {"app": service.name},
            "ports": [{"name": "http", "port": PORT}],
        },
    }


def _starts(proxied: Sequence[ServiceTarget], proxy: str, live: str) -> Predicate:
    """Whether a new proxy of each of the components would start, and still knows the other team's Services."""

    def cured(world: World) -> Finding:
        expected = "every proxy would start, and passes on to the others' Services"
        wrong: list[str] = []
        for each in proxied:
            name = each.component.name
            try:
                spec = world.cluster.get(each.workload.resource, name, each.namespace)["spec"]["template"][
                    "spec"
                ]
                texts = list(_configuration(world, spec, proxy, each.namespace))
                known = set().union(*map(nginx_config.hosts, texts))
            except (StatusError, nginx_config.ConfigError) as error:
                wrong.append(f"{name}: {error}")
                continue
            if not any(f"{live}." in text for text in texts):
                wrong.append(f"{name}: no proxy to {live}")
            wrong += [
                f"{name}: {host} does not resolve"
                for host in sorted(known)
                if not _resolves(world, host, each.namespace)
            ]
        return Finding("proxies", not wrong, "; ".join(wrong) or "every one would", expected)

    return cured


def _configuration(world: World, spec: Manifest, proxy: str, namespace: str | None) -> Iterator[str]:
    """What the proxy's container of a pod would read: the files of the ConfigMaps that it mounts."""
    mounted = {
        mount["name"]
        for container in spec["containers"]
        if container["name"] == proxy or str(container.get("image", "")).partition(":")[0].endswith("nginx")
        for mount in container.get("volumeMounts") or ()
    }
    for volume in spec.get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name")
        if name and volume["name"] in mounted:
            for key, text in sorted(
                (world.cluster.get("configmaps", name, namespace).get("data") or {}).items()
            ):
                if key.endswith(".conf"):
                    yield text


def _resolves(world: World, host: str, namespace: str | None) -> bool:
    """Whether a Service's name has an address: one of its own, or those of its endpoints."""
    if host.replace(".", "").isdecimal():
        return True
    name, _, rest = host.partition(".")
    space = rest.partition(".")[0] or namespace
    try:
        spec = world.cluster.get("services", name, space)["spec"]
    except StatusError:
        return False
    if spec.get("clusterIP") != "None":
        return True
    slices = world.cluster.list(
        "endpointslices.discovery.k8s.io", space, label_selector=f"kubernetes.io/service-name={name}"
    )
    ready = spec.get("publishNotReadyAddresses")
    return any(
        ready or (endpoint.get("conditions") or {}).get("ready", True)
        for piece in slices
        for endpoint in piece.get("endpoints") or ()
    )


def _rests(workload: ObjectRef) -> Predicate:
    """Whether what the other team has at zero on purpose is still there, at zero."""

    def cured(world: World) -> Finding:
        try:
            asked = world.cluster.get(workload.resource, workload.name, workload.namespace)["spec"].get(
                "replicas", 1
            )
        except StatusError as error:
            return Finding("others' workload", False, str(error), "at zero")
        return Finding("others' workload", asked == 0, f"{asked} replicas", f"{workload.name} stays at zero")

    return cured
