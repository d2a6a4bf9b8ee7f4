"""Describing service accounts, roles and bindings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube.describe.text import Reader, Sheet, events_of, header
from sregym_env.kube.types import Manifest


def describe_service_account(obj: Manifest, reader: Reader) -> str:
    """A ServiceAccount."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    header(sheet, obj)
    stored = reader.list("secrets", metadata.get("namespace"))
    known = {secret["metadata"]["name"] for secret in stored}
    tokens = [
        secret["metadata"]["name"]
        for secret in stored
        if secret.get("type") == "kubernetes.io/service-account-token"
        and (secret["metadata"].get("annotations") or {}).get("kubernetes.io/service-account.name")
        == metadata["name"]
    ]
    secrets = [ref.get("name", "") for ref in obj.get("secrets") or ()]
    pulls = [ref.get("name", "") for ref in obj.get("imagePullSecrets") or ()]
    for title, names in (("Image pull secrets", pulls), ("Mountable secrets", secrets), ("Tokens", tokens)):
        lead = f"{title}:\t"
        if not names:
            sheet.line(0, f"{lead}<none>")
        for name in names:
            sheet.line(0, lead + name + ("" if name in known else " (not found)"))
            lead = "\t"
    sheet.events(events_of(reader, obj))
    return sheet.render()


def describe_role(obj: Manifest, reader: Reader) -> str:
    """A Role or ClusterRole."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, "PolicyRule:")
    policy_rules(sheet, obj.get("rules") or (), 1)
    return sheet.render()


def policy_rules(sheet: Sheet, rules: Iterable[Mapping[str, Any]], level: int) -> None:
    """The table of RBAC rules: one line per resource, verbs of equal lines joined."""
    sheet.line(level, "Resources\tNon-Resource URLs\tResource Names\tVerbs")
    sheet.line(level, "---------\t-----------------\t--------------\t-----")
    for resource, urls, names, verbs in compact_rules(rules):
        sheet.line(level, f"{resource}\t[{' '.join(urls)}]\t[{' '.join(names)}]\t[{' '.join(verbs)}]")


Row = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def compact_rules(rules: Iterable[Mapping[str, Any]]) -> Sequence[Row]:
    """Rules broken down to one resource and name each, then merged and sorted as kubectl shows them.

    Rules about addresses are broken down to one verb each and not merged.
    """
    addresses: list[Row] = []
    merged: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for rule in rules:
        verbs = rule.get("verbs") or []
        names = rule.get("resourceNames") or [None]
        for group in rule.get("apiGroups") or [""]:
            for resource in rule.get("resources") or []:
                for name in names:
                    text = _resource_and_group(resource, group)
                    key = (text, (), (name,) if name is not None else ())
                    _merge(merged.setdefault(key, []), verbs)
        addresses += [
            ("", (url,), (), (verb,)) for url in rule.get("nonResourceURLs") or [] for verb in verbs
        ]
    rows = [(resource, urls, names, tuple(verbs)) for (resource, urls, names), verbs in merged.items()]
    return sorted(rows + addresses, key=_go_order)


def _resource_and_group(resource: str, group: str) -> str:
    """``deployments.apps/scale``: the group goes before the subresource."""
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


def _go_order(row: Row) -> str:
    """kubectl sorts rules by the text of their Go value, in which the verbs come first."""
    resource, urls, names, verbs = row
    named, slash, subresource = resource.partition("/")
    plural, _, group = named.partition(".")
    return (
        f"Verbs:[{' '.join(verbs)}],APIGroups:[{group}],Resources:[{plural}{slash}{subresource}],"
        f"ResourceNames:[{' '.join(names)}],NonResourceURLs:[{' '.join(urls)}],"
    )


def _merge(verbs: list[str], more: Iterable[str]) -> None:
    verbs.extend(verb for verb in more if verb not in verbs)


def describe_binding(obj: Manifest, reader: Reader) -> str:
    """A RoleBinding or ClusterRoleBinding."""
    sheet = Sheet(reader.now())
    metadata, role = obj["metadata"], obj["roleRef"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Role:\n  Kind:\t{role['kind']}\n  Name:\t{role['name']}")
    sheet.line(0, "Subjects:\n  Kind\tName\tNamespace")
    sheet.line(1, "----\t----\t---------")
    for subject in obj.get("subjects") or ():
        sheet.line(1, f"{subject['kind']}\t{subject['name']}\t{subject.get('namespace', '')}")
    return sheet.render()
