"""Describing services and what routes to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube.describe.text import Reader, Sheet, events_of, header
from sregym_env.kube.tables import format_labels, format_selector, join_host_port, load_balancer
from sregym_env.kube.types import Manifest


def describe_service(obj: Manifest, reader: Reader) -> str:
    """A Service with the addresses behind its ports."""
    sheet = Sheet(reader.now())
    spec, status = obj["spec"], obj.get("status") or {}
    header(sheet, obj)
    sheet.line(0, f"Selector:\t{format_labels(spec.get('selector'))}")
    sheet.line(0, f"Type:\t{spec.get('type', '')}")
    if spec.get("ipFamilyPolicy"):
        sheet.line(0, f"IP Family Policy:\t{spec['ipFamilyPolicy']}")
    sheet.line(0, f"IP Families:\t{','.join(spec.get('ipFamilies') or ()) or '<none>'}")
    sheet.line(0, f"IP:\t{spec.get('clusterIP', '')}")
    sheet.line(0, f"IPs:\t{','.join(spec.get('clusterIPs') or ()) or '<none>'}")
    if spec.get("externalIPs"):
        sheet.line(0, f"External IPs:\t{','.join(spec['externalIPs'])}")
    if spec.get("loadBalancerIP"):
        sheet.line(0, f"Desired LoadBalancer IP:\t{spec['loadBalancerIP']}")
    if spec.get("externalName"):
        sheet.line(0, f"External Name:\t{spec['externalName']}")
    ingress = (status.get("loadBalancer") or {}).get("ingress") or ()
    if ingress:
        sheet.line(0, f"LoadBalancer Ingress:\t{', '.join(_ingress_ip(item) for item in ingress)}")
    _service_ports(sheet, obj, reader)
    sheet.line(0, f"Session Affinity:\t{spec.get('sessionAffinity', '')}")
    for key, title in (
        ("externalTrafficPolicy", "External Traffic Policy"),
        ("internalTrafficPolicy", "Internal Traffic Policy"),
        ("trafficDistribution", "Traffic Distribution"),
        ("healthCheckNodePort", "HealthCheck NodePort"),
    ):
        if spec.get(key):
            sheet.line(0, f"{title}:\t{spec[key]}")
    if spec.get("loadBalancerSourceRanges"):
        sheet.line(0, f"LoadBalancer Source Ranges:\t{','.join(spec['loadBalancerSourceRanges'])}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _ingress_ip(item: Mapping[str, str]) -> str:
    text = item.get("ip") or item.get("hostname") or ""
    return f"{text} ({item['ipMode']})" if item.get("ipMode") else text


def _service_ports(sheet: Sheet, obj: Manifest, reader: Reader) -> None:
    metadata, spec = obj["metadata"], obj["spec"]
    slices = reader.list(
        "endpointslices.discovery.k8s.io",
        metadata.get("namespace"),
        label_selector=f"kubernetes.io/service-name={metadata['name']}",
    )
    for port in spec.get("ports") or ():
        name = port.get("name") or "<unset>"
        protocol = port.get("protocol", "TCP")
        sheet.line(0, f"Port:\t{name}\t{port['port']}/{protocol}")
        sheet.line(0, f"TargetPort:\t{port.get('targetPort', port['port'])}/{protocol}")
        if port.get("nodePort"):
            sheet.line(0, f"NodePort:\t{name}\t{port['nodePort']}/{protocol}")
        sheet.line(0, f"Endpoints:\t{slice_addresses(slices, port.get('name', ''))}")


def slice_addresses(slices: Iterable[Manifest], port_name: str | None) -> str:
    """Ready addresses of the slices' ports of that name (all ports for None): three of them, then a count."""
    found: list[str] = []
    any_port = False
    for piece in slices:
        ports: Sequence[Mapping[str, Any]] = piece.get("ports") or ({},)
        for port in ports:
            if port and port_name is not None and (port.get("name") or "") != port_name:
                continue
            any_port = True
            for endpoint in piece.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready") is False:
                    continue
                for address in endpoint.get("addresses") or ():
                    number = port.get("port")
                    found.append(join_host_port(address, number) if number is not None else address)
    if not any_port and not found:
        return "<none>" if not list(slices) else ""
    shown = ",".join(found[:3])
    return f"{shown} + {len(found) - 3} more..." if len(found) > 3 else shown


def describe_endpoints(obj: Manifest, reader: Reader) -> str:
    """An Endpoints object."""
    sheet = Sheet(reader.now())
    header(sheet, obj)
    sheet.line(0, "Subsets:")
    for subset in obj.get("subsets") or ():
        for key, title in (("addresses", "Addresses"), ("notReadyAddresses", "NotReadyAddresses")):
            text = ",".join(address["ip"] for address in subset.get(key) or ()) or "<none>"
            sheet.line(1, f"{title}:\t{text}")
        if subset.get("ports"):
            sheet.line(1, "Ports:")
            sheet.line(2, "Name\tPort\tProtocol")
            sheet.line(2, "----\t----\t--------")
            for port in subset["ports"]:
                sheet.line(
                    2, f"{port.get('name') or '<unset>'}\t{port['port']}\t{port.get('protocol', 'TCP')}"
                )
        sheet.line(0, "")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_endpoint_slice(obj: Manifest, reader: Reader) -> str:
    """An EndpointSlice."""
    sheet = Sheet(reader.now())
    header(sheet, obj)
    sheet.line(0, f"AddressType:\t{obj.get('addressType', '')}")
    ports = obj.get("ports") or ()
    if not ports:
        sheet.line(0, "Ports: <unset>")
    else:
        sheet.line(0, "Ports:")
        sheet.line(1, "Name\tPort\tProtocol")
        sheet.line(1, "----\t----\t--------")
        for port in ports:
            number = "<unset>" if port.get("port") is None else port["port"]
            sheet.line(1, f"{port.get('name') or '<unset>'}\t{number}\t{port.get('protocol', 'TCP')}")
    endpoints = obj.get("endpoints") or ()
    sheet.line(0, "Endpoints:" if endpoints else "Endpoints: <none>")
    for endpoint in endpoints:
        _slice_endpoint(sheet, endpoint)
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _slice_endpoint(sheet: Sheet, endpoint: Mapping[str, Any]) -> None:
    sheet.line(1, f"- Addresses:\t{','.join(endpoint.get('addresses') or ()) or '<none>'}")
    sheet.line(2, "Conditions:")
    ready = (endpoint.get("conditions") or {}).get("ready")
    sheet.line(3, f"Ready:\t{'<unset>' if ready is None else str(bool(ready)).lower()}")
    sheet.line(2, f"Hostname:\t{endpoint.get('hostname') or '<unset>'}")
    target = endpoint.get("targetRef")
    if target:
        sheet.line(2, f"TargetRef:\t{target.get('kind', '')}/{target.get('name', '')}")
    sheet.line(2, f"NodeName:\t{endpoint.get('nodeName') or '<unset>'}")
    sheet.line(2, f"Zone:\t{endpoint.get('zone') or '<unset>'}")


def describe_ingress(obj: Manifest, reader: Reader) -> str:
    """An Ingress with its backends' addresses."""
    sheet = Sheet(reader.now())
    metadata, spec = obj["metadata"], obj["spec"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"Address:\t{load_balancer(obj)}")
    sheet.line(0, f"Ingress Class:\t{spec.get('ingressClassName') or '<none>'}")
    default = spec.get("defaultBackend")
    sheet.line(0, f"Default backend:\t{_backend(default, obj, reader) if default else '<default>'}")
    if spec.get("tls"):
        sheet.line(0, "TLS:")
        for tls in spec["tls"]:
            hosts = ",".join(tls.get("hosts") or ())
            secret = tls.get("secretName")
            sheet.line(1, f"{secret} terminates {hosts}" if secret else f"SNI routes {hosts}")
    sheet.line(0, "Rules:\n  Host\tPath\tBackends")
    sheet.line(1, "----\t----\t--------")
    rules = [rule for rule in spec.get("rules") or () if rule.get("http")]
    for rule in rules:
        sheet.line(1, f"{rule.get('host') or '*'}\t")
        for path in rule["http"].get("paths") or ():
            sheet.line(2, f"\t{path.get('path', '')} \t{_backend(path['backend'], obj, reader)}")
    if not rules:
        sheet.line(1, f"*\t*\t{_backend(default, obj, reader) if default else '<default>'}")
    sheet.annotations(metadata.get("annotations"))
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _backend(backend: Mapping[str, Any], ingress: Manifest, reader: Reader) -> str:
    resource = backend.get("resource")
    if resource:
        group = resource.get("apiGroup") or "<none>"
        return f"APIGroup: {group}, Kind: {resource['kind']}, Name: {resource['name']}"
    service = backend["service"]
    port = service.get("port") or {}
    text = str(port.get("name") or port.get("number", ""))
    namespace = ingress["metadata"].get("namespace")
    found = reader.get("services", service["name"], namespace)
    if found is None:
        return f'{service["name"]}:{text} (<error: services "{service["name"]}" not found>)'
    slices = reader.list(
        "endpointslices.discovery.k8s.io",
        namespace,
        label_selector=f"kubernetes.io/service-name={service['name']}",
    )
    name = ""
    for item in found["spec"].get("ports") or ():
        if (item.get("name") == port.get("name") and port.get("name")) or item["port"] == port.get("number"):
            name = item.get("name", "")
    return f"{service['name']}:{text} ({slice_addresses(slices, name)})"


def describe_ingress_class(obj: Manifest, reader: Reader) -> str:
    """An IngressClass."""
    sheet = Sheet(reader.now())
    metadata, spec = obj["metadata"], obj["spec"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Controller:\t{spec.get('controller', '')}")
    parameters = spec.get("parameters")
    if parameters:
        sheet.line(0, "Parameters:")
        if parameters.get("apiGroup"):
            sheet.line(1, f"APIGroup:\t{parameters['apiGroup']}")
        sheet.line(1, f"Kind:\t{parameters['kind']}")
        sheet.line(1, f"Name:\t{parameters['name']}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_network_policy(obj: Manifest, reader: Reader) -> str:
    """A NetworkPolicy, rule by rule."""
    sheet = Sheet(reader.now())
    metadata, spec = obj["metadata"], obj["spec"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"Created on:\t{_go_time(metadata.get('creationTimestamp'))}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    selector = spec.get("podSelector") or {}
    sheet.line(0, "Spec:")
    everything = "<none> (Allowing the specific traffic to all pods in this namespace)"
    sheet.line(1, f"PodSelector:     {_selector_or(selector, everything)}")
    types = spec.get("policyTypes") or ["Ingress"]
    for type_, key, word in (("Ingress", "ingress", "from"), ("Egress", "egress", "to")):
        if type_ in types:
            sheet.line(1, f"Allowing {key} traffic:")
            _policy_rules(sheet, spec.get(key) or (), word, key)
        else:
            sheet.line(1, f"Not affecting {key} traffic")
    sheet.line(1, f"Policy Types: {', '.join(types)}")
    return sheet.render()


def _selector_or(selector: Mapping[str, Any], empty: str) -> str:
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        return empty
    return format_selector(selector)


def _policy_rules(sheet: Sheet, rules: Sequence[Mapping[str, Any]], word: str, key: str) -> None:
    if not rules:
        sheet.line(2, f"<none> (Selected pods are isolated for {key} connectivity)")
        return
    for i, rule in enumerate(rules):
        ports = rule.get("ports") or ()
        if not ports:
            sheet.line(2, "To Port: <any> (traffic allowed to all ports)")
        for port in ports:
            protocol = port.get("protocol", "TCP")
            first = port.get("port", "<any>")
            if port.get("endPort"):
                sheet.line(2, f"To Port Range: {first}-{port['endPort']}/{protocol}")
            else:
                sheet.line(2, f"To Port: {first}/{protocol}")
        peers = rule.get(word) or ()
        title = word.capitalize()
        if not peers:
            scope = "source" if word == "from" else "destination"
            sheet.line(2, f"{title}: <any> (traffic not restricted by {scope})")
        for peer in peers:
            _peer(sheet, peer, title)
        if i != len(rules) - 1:
            sheet.line(2, "----------")


def _peer(sheet: Sheet, peer: Mapping[str, Any], title: str) -> None:
    sheet.line(2, f"{title}:")
    block = peer.get("ipBlock")
    if block:
        sheet.line(3, "IPBlock:")
        sheet.line(4, f"CIDR: {block['cidr']}")
        sheet.line(4, f"Except: {', '.join(block.get('except') or ())}")
        return
    if peer.get("namespaceSelector") is not None:
        sheet.line(3, f"NamespaceSelector: {_selector_or(peer['namespaceSelector'], '<none>')}")
    if peer.get("podSelector") is not None:
        sheet.line(3, f"PodSelector: {_selector_or(peer['podSelector'], '<none>')}")


def _go_time(stamp: str | None) -> str:
    """``2006-01-02 15:04:05 +0000 UTC``: how Go prints a time by itself."""
    if not stamp:
        return "0001-01-01 00:00:00 +0000 UTC"
    return f"{stamp[:10]} {stamp[11:19]} +0000 UTC"
