"""Describing configuration and storage: config maps, secrets, claims, volumes, storage classes."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from sregym_env.kube.describe.pods import volume_source
from sregym_env.kube.describe.text import Reader, Sheet, events_of, header, rfc1123, title_bool
from sregym_env.kube.tables import access_modes, is_default_class
from sregym_env.kube.types import Manifest


def describe_config_map(obj: Manifest, reader: Reader) -> str:
    """A ConfigMap with its data."""
    sheet = Sheet(reader.now())
    header(sheet, obj)
    sheet.line(0, "\nData\n====")
    data = obj.get("data") or {}
    for key in sorted(data):
        sheet.line(0, f"{key}:\n----\n{data[key]}\n")
    sheet.line(0, "\nBinaryData\n====")
    binary = obj.get("binaryData") or {}
    for key in sorted(binary):
        sheet.line(0, f"{key}: {len(base64.b64decode(binary[key]))} bytes")
    sheet.line(0, "")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_secret(obj: Manifest, reader: Reader) -> str:
    """A Secret: sizes of its values, never the values (but for service-account tokens, as kubectl)."""
    sheet = Sheet(reader.now())
    header(sheet, obj)
    sheet.line(0, f"\nType:\t{obj.get('type', '')}")
    sheet.line(0, "\nData\n====")
    data = obj.get("data") or {}
    for key in sorted(data):
        raw = base64.b64decode(data[key] or "")
        if key == "token" and obj.get("type") == "kubernetes.io/service-account-token":
            sheet.line(0, f"{key}:\t{raw.decode(errors='replace')}")
        else:
            sheet.line(0, f"{key}:\t{len(raw)} bytes")
    return sheet.render()


def _class_name(obj: Manifest) -> str:
    annotation = (obj["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    return str(annotation or (obj.get("spec") or {}).get("storageClassName", ""))


def describe_claim(obj: Manifest, reader: Reader) -> str:
    """A PersistentVolumeClaim with the pods that use it."""
    sheet = Sheet(reader.now())
    metadata, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.line(0, f"StorageClass:\t{_class_name(obj)}")
    if metadata.get("deletionTimestamp"):
        sheet.line(0, "Status:\tTerminating (lasts <invalid>)")
    else:
        sheet.line(0, f"Status:\t{status.get('phase', '')}")
    sheet.line(0, f"Volume:\t{spec.get('volumeName', '')}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Finalizers:\t{_finalizers(obj)}")
    bound = bool(spec.get("volumeName"))
    sheet.line(0, f"Capacity:\t{(status.get('capacity') or {}).get('storage', '0') if bound else ''}")
    sheet.line(0, f"Access Modes:\t{access_modes(status.get('accessModes')) if bound else ''}")
    if spec.get("volumeMode"):
        sheet.line(0, f"VolumeMode:\t{spec['volumeMode']}")
    source = spec.get("dataSource")
    if source:
        sheet.line(0, "DataSource:")
        if source.get("apiGroup"):
            sheet.line(1, f"APIGroup:\t{source['apiGroup']}")
        sheet.line(1, f"Kind:\t{source['kind']}")
        sheet.line(1, f"Name:\t{source['name']}")
    _used_by(sheet, _users(obj, reader))
    conditions = status.get("conditions") or ()
    if conditions:
        sheet.line(0, "Conditions:\n  Type\tStatus\tReason\tMessage")
        sheet.line(1, "----\t------\t------\t-------")
        for c in conditions:
            sheet.line(1, f"{c['type']} \t{c['status']} \t{c.get('reason', '')} \t{c.get('message', '')}")
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _finalizers(obj: Manifest) -> str:
    return "[" + " ".join(obj["metadata"].get("finalizers") or ()) + "]"


def _users(obj: Manifest, reader: Reader) -> list[str]:
    name = obj["metadata"]["name"]
    return [
        pod["metadata"]["name"]
        for pod in reader.list("pods", obj["metadata"].get("namespace"))
        if any(
            (v.get("persistentVolumeClaim") or {}).get("claimName") == name
            or ("ephemeral" in v and f"{pod['metadata']['name']}-{v['name']}" == name)
            for v in pod["spec"].get("volumes") or ()
        )
    ]


def _used_by(sheet: Sheet, names: Sequence[str]) -> None:
    lead = "Used By:\t"
    if not names:
        sheet.line(0, f"{lead}<none>")
    for name in names:
        sheet.line(0, lead + name)
        lead = "\t"


def describe_volume(obj: Manifest, reader: Reader) -> str:
    """A PersistentVolume."""
    sheet = Sheet(reader.now())
    metadata, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Finalizers:\t{_finalizers(obj)}")
    sheet.line(0, f"StorageClass:\t{_class_name(obj)}")
    deleted = metadata.get("deletionTimestamp")
    sheet.line(0, f"Status:\t{'Terminating (lasts <invalid>)' if deleted else status.get('phase', '')}")
    claim = spec.get("claimRef")
    sheet.line(0, f"Claim:\t{claim.get('namespace', '')}/{claim['name']}" if claim else "Claim:\t")
    sheet.line(0, f"Reclaim Policy:\t{spec.get('persistentVolumeReclaimPolicy', '')}")
    sheet.line(0, f"Access Modes:\t{access_modes(spec.get('accessModes'))}")
    if spec.get("volumeMode"):
        sheet.line(0, f"VolumeMode:\t{spec['volumeMode']}")
    sheet.line(0, f"Capacity:\t{(spec.get('capacity') or {}).get('storage', '0')}")
    _node_affinity(sheet, obj)
    sheet.line(0, f"Message:\t{status.get('message', '')}")
    sheet.line(0, "Source:")
    volume_source(sheet, spec)
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _node_affinity(sheet: Sheet, obj: Manifest) -> None:
    affinity = obj["spec"].get("nodeAffinity")
    if not affinity:
        sheet.line(0, "Node Affinity:\t<none>")
        return
    sheet.line(0, "Node Affinity:\t")
    terms = (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    if not terms:
        sheet.line(1, "Required Terms:\t<none>")
        return
    sheet.line(1, "Required Terms:\t")
    for i, term in enumerate(terms):
        lead = f"Term {i}:\t"
        expressions = term.get("matchExpressions") or ()
        if not expressions:
            sheet.line(2, f"{lead}<none>")
        for e in expressions:
            values = f" [{', '.join(e.get('values') or ())}]" if e.get("values") else ""
            sheet.line(2, f"{lead}{e['key']} {e['operator'].lower()}{values}")
            lead = "\t"


def describe_storage_class(obj: Manifest, reader: Reader) -> str:
    """A StorageClass."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"IsDefaultClass:\t{'Yes' if is_default_class(obj) else 'No'}")
    annotations = metadata.get("annotations") or {}
    text = ",".join(f"{key}={annotations[key]}" for key in sorted(annotations))
    sheet.line(0, f"Annotations:\t{text or '<none>'}")
    sheet.line(0, f"Provisioner:\t{obj['provisioner']}")
    parameters = obj.get("parameters") or {}
    text = ",".join(f"{key}={parameters[key]}" for key in sorted(parameters))
    sheet.line(0, f"Parameters:\t{text or '<none>'}")
    expansion = obj.get("allowVolumeExpansion")
    sheet.line(0, f"AllowVolumeExpansion:\t{'<unset>' if expansion is None else title_bool(expansion)}")
    options = obj.get("mountOptions") or ()
    if options:
        sheet.line(0, "MountOptions:")
        for option in options:
            sheet.line(1, option)
    else:
        sheet.line(0, "MountOptions:\t<none>")
    for title, key in (("ReclaimPolicy", "reclaimPolicy"), ("VolumeBindingMode", "volumeBindingMode")):
        sheet.line(0, f"{title}:\t{obj.get(key, '')}")
    topologies = obj.get("allowedTopologies")
    if topologies:
        sheet.line(0, "AllowedTopologies:\t")
        for i, term in enumerate(topologies):
            lead = f"Term {i}:\t"
            for e in term.get("matchLabelExpressions") or ():
                sheet.line(1, f"{lead}{e['key']} in [{', '.join(e['values'])}]")
                lead = "\t"
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_csi_node(obj: Manifest, reader: Reader) -> str:
    """A CSINode: the storage drivers of a node."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    header(sheet, obj, namespaced=False)
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(metadata.get('creationTimestamp'))}")
    drivers = obj["spec"].get("drivers")
    if drivers is not None:
        sheet.line(0, "Spec:")
        sheet.line(1, "Drivers:")
    for driver in drivers or ():
        sheet.line(2, f"{driver['name']}:")
        sheet.line(3, f"Node ID:\t{driver['nodeID']}")
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            sheet.line(3, "Allocatables:")
            sheet.line(4, f"Count:\t{count}")
        if driver.get("topologyKeys") is not None:
            sheet.line(3, f"Topology Keys:\t[{' '.join(driver['topologyKeys'])}]")
    sheet.events(events_of(reader, obj))
    return sheet.render()
