"""``kubectl create service`` and ``ingress``."""

from __future__ import annotations

from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import is_whole
from sregym_env.runtime.numbers import whole as number_of
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.create.generator import COMMON, Generator, Make, verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag


def _service(kind: str) -> Make:
    def make(call: Call, name: str) -> Manifest:
        labels = {"app": name}
        spec: dict[str, Any] = {"selector": labels, "type": kind}
        if kind == "ExternalName":
            spec["externalName"] = call.flags["external-name"]
        ports = [_port(text) for text in call.flags["tcp"]]
        address = call.flags.get("clusterip")
        if address:
            spec["clusterIP"] = address
        if not ports and kind != "ExternalName" and address != "None":
            raise failure("at least one tcp port specifier must be provided")
        if ports and int(call.flags.get("node-port") or 0):
            ports[0]["nodePort"] = int(call.flags["node-port"])
        if ports:
            spec["ports"] = ports
        return {"metadata": {"labels": labels}, "spec": spec, "status": {"loadBalancer": {}}}

    return make


def _port(text: str) -> dict[str, Any]:
    number, _, target = text.partition(":")
    port = _unsigned(number)
    aim: Any = port if not target else number_of(target, target)
    return {"name": text.replace(":", "-"), "port": port, "protocol": "TCP", "targetPort": aim}


def _unsigned(text: str) -> int:
    if not is_whole(text):
        raise failure(f'strconv.ParseUint: parsing "{text}": invalid syntax')
    number = number_of(text, 65536)
    if number > 65535:
        raise failure(f'strconv.ParseUint: parsing "{text}": value out of range')
    return number


def _ingress(call: Call, _name: str) -> Manifest:
    flags = call.flags
    if not flags["rule"] and not flags["default-backend"]:
        raise failure(
            "not enough information provided: every ingress has to either specify a default-backend (which "
            "catches all traffic) or a list of rules (which catch specific paths)"
        )
    spec: dict[str, Any] = {}
    if flags["default-backend"]:
        spec["defaultBackend"] = _backend(flags["default-backend"], flags["default-backend"])
    if flags["rule"]:
        spec |= _rules(flags["rule"])
    if flags["class"]:
        spec["ingressClassName"] = flags["class"]
    body: Manifest = {"spec": spec, "status": {"loadBalancer": {}}}
    if flags["annotation"]:
        for text in flags["annotation"]:
            if "=" not in text:
                raise failure(f"annotation {text} is invalid and should be in format key=[value]")
        annotations = dict(text.partition("=")[::2] for text in flags["annotation"])
        body["metadata"] = {"annotations": annotations}
    return body


def _backend(text: str, whole: str) -> Manifest:
    service, colon, port = text.partition(":")
    if not colon or not service or not port:
        raise failure(
            f"rule {whole} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
        )
    return {
        "service": {
            "name": service,
            "port": {"name": port} if (number := number_of(port)) is None else {"number": number},
        }
    }


def _rules(texts: tuple[str, ...]) -> Manifest:
    hosts: dict[str, list[Manifest]] = {}
    tls: dict[str, list[str]] = {}
    for text in texts:
        head, equals, tail = text.partition("=")
        aim, comma, option = tail.partition(",")
        host, slash, path = head.partition("/")
        if not equals or not slash:
            raise failure(
                f"rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
        backend = {
            "backend": _backend(aim, text),
            "path": "/" + path.rstrip("*"),
            "pathType": "Prefix" if path.endswith("*") else "Exact",
        }
        hosts.setdefault(host, []).append(backend)
        if comma and option.startswith("tls"):
            listed = tls.setdefault(option.partition("=")[2], [])
            if host and host not in listed:
                listed.append(host)
    rules = [{**({"host": host} if host else {}), "http": {"paths": paths}} for host, paths in hosts.items()]
    secured = [
        {**({"hosts": names} if names else {}), **({"secretName": secret} if secret else {})}
        for secret, names in tls.items()
    ]
    return {"rules": rules, **({"tls": [entry for entry in secured if entry]} if any(secured) else {})}


_TCP = Flag("tcp", kind="csv", help="Port pairs can be specified as '<port>:<targetPort>'.")

SERVICE = Verb(
    "service",
    "Create a service using a specified subcommand",
    aliases=("svc",),
    verbs=(
        Verb(
            "clusterip",
            "Create a ClusterIP service",
            Generator("services", _service("ClusterIP"), "ClusterIP service:"),
            (
                *COMMON,
                _TCP,
                Flag(
                    "clusterip", help="Assign your own ClusterIP or set to 'None' for a 'headless' service."
                ),
            ),
            usage="create service clusterip NAME [--tcp=<port>:<targetPort>] [--dry-run=server|client|none]",
        ),
        Verb(
            "externalname",
            "Create an ExternalName service",
            Generator("services", _service("ExternalName"), "ExternalName service:", ("external-name",)),
            (*COMMON, _TCP, Flag("external-name", help="External name of service")),
            usage="create service externalname NAME --external-name external.name "
            "[--dry-run=server|client|none]",
        ),
        Verb(
            "loadbalancer",
            "Create a LoadBalancer service",
            Generator("services", _service("LoadBalancer"), "LoadBalancer service:"),
            (*COMMON, _TCP),
            usage="create service loadbalancer NAME [--tcp=port:targetPort] [--dry-run=server|client|none]",
        ),
        Verb(
            "nodeport",
            "Create a NodePort service",
            Generator("services", _service("NodePort"), "NodePort service:"),
            (
                *COMMON,
                _TCP,
                Flag(
                    "node-port", kind="int", help="Port used to expose the service on each node in a cluster."
                ),
            ),
            usage="create service nodeport NAME [--tcp=port:targetPort] [--dry-run=server|client|none]",
        ),
    ),
)
INGRESS = verb(
    "ingress",
    "Create an ingress with the specified name",
    Generator("ingresses", _ingress, "ingress:"),
    Flag("rule", kind="strings", help="Rule in format host/path=service:port[,tls=secretname]."),
    Flag("class", help="Ingress Class to be used"),
    Flag("annotation", kind="strings", help="Annotation to insert in the ingress object, in the format annotation=value"),
    Flag("default-backend", help="Default service for backend, in format of svcname:port"),
    aliases=("ing",),
    usage="create ingress NAME --rule=host/path=service:port[,tls[=secret]]",
)  # fmt: skip
