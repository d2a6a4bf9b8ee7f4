"""Validation of the kinds of the service network: services, endpoints, ingresses, network policies."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from sregym_env.kube import names
from sregym_env.kube.status import (
    GoValue,
    duplicate,
    forbidden_field,
    go_literal,
    invalid_value,
    required,
    too_long,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.validation.metadata import (
    Errors,
    needed,
    one_of,
    port_or_name,
    unique,
    validate_labels,
    validate_selector,
)

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
NODE_PORTS = range(30000, 32768)
"""``--service-node-port-range``."""


def _spec(obj: Manifest) -> Manifest:
    spec: Manifest = obj.get("spec") or {}
    return spec


def validate_service(obj: Manifest, out: Errors) -> None:
    """A Service."""
    spec = _spec(obj)
    kind = spec.get("type", "ClusterIP")
    ports = spec.get("ports") or []
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and kind != "ExternalName":
        out.append(required("spec.ports"))
    if kind == "LoadBalancer":
        for index, port in enumerate(ports):
            if port.get("port") == 10250:
                at = f"spec.ports[{index}].port"
                text = "may not expose port 10250 externally since it is used by kubelet"
                out.append(invalid_value(at, 10250, text))
    if headless and kind in ("NodePort", "LoadBalancer"):
        shown = GoValue('[]string{"None"}')
        out.append(
            invalid_value("spec.clusterIPs[0]", shown, f"may not be set to 'None' for {kind} services")
        )
    if kind == "ExternalName":
        _external_name(spec, out)
    seen: set[Json] = set()
    for index, port in enumerate(ports):
        _service_port(port, f"spec.ports[{index}]", len(ports) > 1, seen, out)
    validate_labels(spec.get("selector"), "spec.selector", out)
    one_of(spec, "sessionAffinity", "spec", ("ClientIP", "None"), out)
    one_of(spec, "type", "spec", _TYPES, out)
    one_of(spec, "internalTrafficPolicy", "spec", ("Cluster", "Local"), out)
    one_of(spec, "externalTrafficPolicy", "spec", ("Cluster", "Local"), out)
    one_of(spec, "ipFamilyPolicy", "spec", ("PreferDualStack", "RequireDualStack", "SingleStack"), out)
    if kind == "ClusterIP" and spec.get("externalTrafficPolicy") and not spec.get("externalIPs"):
        text = "may only be set for externally-accessible services"
        out.append(invalid_value("spec.externalTrafficPolicy", spec["externalTrafficPolicy"], text))
    _cluster_ip(spec, out)
    _duplicate_ports(ports, out)
    if kind in ("ClusterIP", "ExternalName"):
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                text = f"may not be used when `type` is '{kind}'"
                out.append(forbidden_field(f"spec.ports[{index}].nodePort", text))


def _external_name(spec: Manifest, out: Errors) -> None:
    if spec.get("clusterIP"):
        out.append(forbidden_field("spec.clusterIPs", "may not be set for ExternalName services"))
    name = spec.get("externalName")
    if not name:
        out.append(required("spec.externalName"))
    else:
        plain = name.removesuffix(".")
        out += [invalid_value("spec.externalName", name, text) for text in names.dns1123_subdomain(plain)]


def _cluster_ip(spec: Manifest, out: Errors) -> None:
    address = spec.get("clusterIP")
    if address and address != "None" and not is_ip(address):
        text = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        out.append(invalid_value("spec.clusterIPs[0]", GoValue(f'[]string{{"{address}"}}'), text))


@lru_cache(maxsize=1024)
def is_ip(text: str) -> bool:
    """Whether a text is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _service_port(port: Manifest, where: str, several: bool, seen: set[Json], out: Errors) -> None:
    name = port.get("name")
    if not name:
        if several:
            out.append(required(f"{where}.name"))
    else:
        complaints = names.dns1123_label(name)
        out += [invalid_value(f"{where}.name", name, text) for text in complaints]
        if not complaints:
            unique(seen, name, f"{where}.name", out)
    number = port.get("port") or 0
    out += [invalid_value(f"{where}.port", number, text) for text in names.port_number(number)]
    if not port.get("protocol"):
        out.append(required(f"{where}.protocol"))
    one_of(port, "protocol", where, _PROTOCOLS, out)
    if port.get("targetPort") is not None:
        port_or_name(port["targetPort"], f"{where}.targetPort", out)
    node_port = port.get("nodePort")
    if node_port and node_port not in NODE_PORTS:
        text = "provided port is not in the valid range. The range of valid ports is 30000-32767"
        out.append(invalid_value(f"{where}.nodePort", node_port, text))


def _duplicate_ports(ports: list[Manifest], out: Errors) -> None:
    seen = set()
    for index, port in enumerate(ports):
        identity = (port.get("protocol"), port.get("port"))
        if identity in seen:
            target = port.get("targetPort")
            as_text = isinstance(target, str)
            shown = GoValue(
                f'core.ServicePort{{Name:"", Protocol:{go_literal(identity[0])}, '
                f"AppProtocol:(*string)(nil), Port:{identity[1]}, "
                f"TargetPort:intstr.IntOrString{{Type:{int(as_text)}, "
                f"IntVal:{0 if as_text else target}, StrVal:{go_literal(target) if as_text else go_literal('')}}}, "
                "NodePort:0}"
            )
            out.append(duplicate(f"spec.ports[{index}]", shown))
        seen.add(identity)


def update_service(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a Service cannot change: its address, once it has one."""
    after, before = _spec(new), _spec(old)
    if "ExternalName" in (after.get("type"), before.get("type")):
        return
    address, was = after.get("clusterIP"), before.get("clusterIP")
    if was and address and address != was:
        shown = GoValue(
            "[]string{" + ", ".join(go_literal(a) for a in after.get("clusterIPs") or [address]) + "}"
        )
        out.append(invalid_value("spec.clusterIPs[0]", shown, "may not change once set"))


def validate_endpoints(obj: Manifest, out: Errors) -> None:
    """An Endpoints object."""
    for index, subset in enumerate(obj.get("subsets") or ()):
        where = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            out.append(required(where, "must specify `addresses` or `notReadyAddresses`"))
        for key in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(key) or ()):
                _endpoint_ip(address.get("ip") or "", f"{where}.{key}[{number}].ip", out)
        ports = subset.get("ports") or []
        for number, port in enumerate(ports):
            at = f"{where}.ports[{number}]"
            if len(ports) > 1:
                needed(port, "name", at, out)
            value = port.get("port") or 0
            out += [invalid_value(f"{at}.port", value, text) for text in names.port_number(value)]
            one_of(port, "protocol", at, _PROTOCOLS, out)


def _endpoint_ip(address: str, where: str, out: Errors) -> None:
    if not is_ip(address):
        text = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        out.append(invalid_value(where, address, text))
        return
    parsed = ipaddress.ip_address(address)
    if parsed.is_loopback:
        out.append(invalid_value(where, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    elif parsed.is_link_local:
        text = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        out.append(invalid_value(where, address, text))
    elif parsed.is_unspecified:
        out.append(invalid_value(where, address, f"may not be unspecified ({address})"))


def validate_endpoint_slice(obj: Manifest, out: Errors) -> None:
    """An EndpointSlice."""
    kind = obj.get("addressType")
    if not kind:
        out.append(required("addressType"))
    elif kind not in ("FQDN", "IPv4", "IPv6"):
        out.append(unsupported("addressType", kind, ("FQDN", "IPv4", "IPv6")))
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        if not endpoint.get("addresses"):
            text = "must contain at least 1 address"
            out.append(required(f"endpoints[{index}].addresses", text))


# --- ingress ------------------------------------------------------------------------------------------------


def validate_ingress(obj: Manifest, out: Errors) -> None:
    """An Ingress."""
    spec = _spec(obj)
    rules = spec.get("rules") or []
    if not rules and spec.get("defaultBackend") is None:
        text = "either `defaultBackend` or `rules` must be specified"
        out.append(invalid_value("spec", GoValue("[]networking.IngressRule(nil)"), text))
    if spec.get("defaultBackend") is not None:
        _backend(spec["defaultBackend"], "spec.defaultBackend", out)
    for index, rule in enumerate(rules):
        where = f"spec.rules[{index}]"
        host = rule.get("host")
        if host:
            if is_ip(host):
                out.append(invalid_value(f"{where}.host", host, "must be a DNS name, not an IP address"))
            plain = host.removeprefix("*.")
            out += [invalid_value(f"{where}.host", host, text) for text in names.dns1123_subdomain(plain)]
        http = rule.get("http")
        if http is not None:
            if not http.get("paths"):
                out.append(required(f"{where}.http.paths"))
            for number, path in enumerate(http.get("paths") or ()):
                _ingress_path(path, f"{where}.http.paths[{number}]", out)


def _ingress_path(path: Manifest, where: str, out: Errors) -> None:
    kind = path.get("pathType")
    if not kind:
        out.append(required(f"{where}.pathType", "pathType must be specified"))
    elif kind not in ("Exact", "ImplementationSpecific", "Prefix"):
        allowed = ("Exact", "ImplementationSpecific", "Prefix")
        out.append(unsupported(f"{where}.pathType", kind, allowed))
    text = path.get("path") or ""
    if (kind in ("Exact", "Prefix") or text) and not text.startswith("/"):
        out.append(invalid_value(f"{where}.path", text, "must be an absolute path"))
    for bad in ("//", "/./", "/../", "%2f", "%2F"):
        if kind in ("Exact", "Prefix") and bad in text:
            out.append(invalid_value(f"{where}.path", text, f"must not contain '{bad}'"))
    _backend(path.get("backend") or {}, f"{where}.backend", out)


def _backend(backend: Manifest, where: str, out: Errors) -> None:
    service = backend.get("service")
    if service is None and backend.get("resource") is None:
        out.append(required(where, "must specify a service or a resource backend"))
        return
    if service is None:
        return
    name = service.get("name")
    if not name:
        out.append(required(f"{where}.service.name"))
    else:
        out += [invalid_value(f"{where}.service.name", name, t) for t in names.dns1035_label(name)]
    port = service.get("port") or {}
    if not port.get("name") and not port.get("number"):
        out.append(required(f"{where}.service", "port name or number is required"))
    elif port.get("number"):
        number = port["number"]
        out += [invalid_value(f"{where}.service.port.number", number, t) for t in names.port_number(number)]


# --- network policies -----------------------------------------------------------------------------------------


def validate_network_policy(obj: Manifest, out: Errors) -> None:
    """A NetworkPolicy."""
    spec = _spec(obj)
    validate_selector(spec.get("podSelector"), "spec.podSelector", out)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            where = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                _policy_port(port, f"{where}.ports[{number}]", out)
            for number, peer in enumerate(rule.get(peers) or ()):
                _peer(peer, f"{where}.{peers}[{number}]", out)
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        if kind not in ("Egress", "Ingress"):
            out.append(unsupported(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress")))
    if len(spec.get("policyTypes") or ()) > 2:
        text = "may not specify more than two policyTypes"
        out.append(invalid_value("spec.policyTypes", spec["policyTypes"], text))


def _policy_port(port: Manifest, where: str, out: Errors) -> None:
    one_of(port, "protocol", where, _PROTOCOLS, out)
    number, end = port.get("port"), port.get("endPort")
    if number is not None:
        port_or_name(number, f"{where}.port", out)
    if end is not None:
        if number is None:
            out.append(required(f"{where}.port", "must be specified when endPort is specified"))
        elif isinstance(number, str):
            out.append(
                invalid_value(f"{where}.endPort", end, "may not be specified when `port` is non-numeric")
            )
        elif end < number:
            text = "must be greater than or equal to `port`"
            out.append(invalid_value(f"{where}.endPort", end, text))


def _peer(peer: Manifest, where: str, out: Errors) -> None:
    if not peer:
        out.append(required(where, "must specify a peer"))
        return
    for key in ("podSelector", "namespaceSelector"):
        validate_selector(peer.get(key), f"{where}.{key}", out)
    block = peer.get("ipBlock")
    if block is None:
        return
    if len(peer) > 1:
        out.append(forbidden_field(where, "may not specify both ipBlock and another peer"))
    cidr = block.get("cidr")
    if not cidr:
        out.append(required(f"{where}.ipBlock.cidr"))
    elif _network(cidr) is None:
        text = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        out.append(invalid_value(f"{where}.ipBlock.cidr", cidr, text))
    for index, exception in enumerate(block.get("except") or ()):
        _exception(exception, cidr or "", f"{where}.ipBlock.except[{index}]", out)


@lru_cache(maxsize=512)
def _network(cidr: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(cidr, strict=False) if "/" in cidr else None
    except ValueError:
        return None


def _exception(exception: str, cidr: str, where: str, out: Errors) -> None:
    outer, inner = _network(cidr), _network(exception)
    if inner is None:
        text = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        out.append(invalid_value(where, exception, text))
    elif outer is not None and outer.version == inner.version:
        inside = (
            inner.network_address in outer
            and inner.broadcast_address in outer
            and inner.prefixlen > outer.prefixlen
        )
        if not inside:
            out.append(invalid_value(where, exception, f'must be a strict subset of `cidr`: "{cidr}"'))


# --- configuration ------------------------------------------------------------------------------------------------

DATA_LIMIT = 1024 * 1024
"""Bytes of all values of a ConfigMap or Secret together."""
_NEEDED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def validate_config_map(obj: Manifest, out: Errors) -> None:
    """A ConfigMap."""
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    size = 0
    for field, values in (("data", data), ("binaryData", binary)):
        for key, value in values.items():
            out += [invalid_value(f"{field}[{key}]", key, text) for text in names.config_key(key)]
            size += len(value)
    for key in data:
        if key in binary:
            out.append(invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData"))
    if size > DATA_LIMIT:
        out.append(too_long("[]", DATA_LIMIT))


def validate_secret(obj: Manifest, out: Errors) -> None:
    """A Secret."""
    data = obj.get("data") or {}
    size = 0
    for key, value in data.items():
        out += [invalid_value(f"data[{key}]", key, text) for text in names.config_key(key)]
        size += len(value) * 3 // 4
    if size > DATA_LIMIT:
        out.append(too_long("data", DATA_LIMIT))
    kind = obj.get("type")
    for key in _NEEDED_KEYS.get(kind or "", ()):
        if key not in data and key not in (obj.get("stringData") or {}):
            out.append(required(f"data[{key}]"))


def update_config_map(new: Manifest, old: Manifest, out: Errors) -> None:
    """What an immutable ConfigMap cannot change."""
    _frozen_data(new, old, ("data", "binaryData"), out)


def update_secret(new: Manifest, old: Manifest, out: Errors) -> None:
    """What a Secret cannot change: its type, and its data when it is immutable."""
    if new.get("type") != old.get("type"):
        out.append(invalid_value("type", new.get("type"), "field is immutable"))
    _frozen_data(new, old, ("data",), out)


def _frozen_data(new: Manifest, old: Manifest, fields: tuple[str, ...], out: Errors) -> None:
    if not old.get("immutable"):
        return
    text = "field is immutable when `immutable` is set"
    if not new.get("immutable"):
        out.append(forbidden_field("immutable", text))
    for field in fields:
        if (new.get(field) or {}) != (old.get(field) or {}):
            out.append(forbidden_field(field, text))
