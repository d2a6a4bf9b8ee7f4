"""Bindings, leases, priorities, admission and flow control in a table."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.durations import human_duration
from sregym_env.kube.tables.cells import NO_FIELDS, age, find_condition
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


def _binding(obj: Manifest, now: int) -> Row:
    subjects = obj.get("subjects") or ()
    role = obj["roleRef"]

    def of(kind: str) -> str:
        return ", ".join(
            f"{s.get('namespace', '')}/{s['name']}" if kind == "ServiceAccount" else s["name"]
            for s in subjects
            if s["kind"] == kind
        )

    return (
        obj["metadata"]["name"],
        f"{role['kind']}/{role['name']}",
        age(obj, now),
        of("User"),
        of("Group"),
        of("ServiceAccount"),
    )


def _lease(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], (obj.get("spec") or NO_FIELDS).get("holderIdentity", ""), age(obj, now))


def _priority_class(obj: Manifest, now: int) -> Row:
    return (
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy", "PreemptLowerPriority"),
    )


def _webhooks(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj.get("webhooks") or ()), age(obj, now))


def _admission_policy(obj: Manifest, now: int) -> Row:
    spec = obj.get("spec") or NO_FIELDS
    kind = spec.get("paramKind")
    return (
        obj["metadata"]["name"],
        len(spec.get("validations") or ()),
        f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>",
        age(obj, now),
    )


def _admission_binding(obj: Manifest, now: int) -> Row:
    spec = obj.get("spec") or NO_FIELDS
    ref = spec.get("paramRef")
    text = "<unset>"
    if ref:
        name = ref.get("name") or "*"
        text = f"{ref['namespace']}/{name}" if ref.get("namespace") else name
    return (obj["metadata"]["name"], spec.get("policyName", ""), text, age(obj, now))


def request_status(obj: Manifest) -> str:
    """``Approved,Issued``: how far a CertificateSigningRequest has come."""
    status = obj.get("status") or NO_FIELDS
    conditions = {c["type"] for c in status.get("conditions") or ()}
    text = "Denied" if "Denied" in conditions else "Approved" if "Approved" in conditions else "Pending"
    text += ",Failed" if "Failed" in conditions else ""
    return text + (",Issued" if status.get("certificate") else "")


def _signing_request(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    seconds = spec.get("expirationSeconds")
    return (
        obj["metadata"]["name"],
        age(obj, now),
        spec.get("signerName") or "<none>",
        spec.get("username", ""),
        "<none>" if seconds is None else human_duration(seconds),
        request_status(obj),
    )


def _flow_schema(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    condition = find_condition(obj, "Dangling")
    method = spec.get("distinguisherMethod")
    return (
        obj["metadata"]["name"],
        spec["priorityLevelConfiguration"]["name"],
        spec.get("matchingPrecedence", 0),
        method["type"] if method else "<none>",
        age(obj, now),
        condition["status"] if condition else "?",
    )


def _priority_level(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    shares = limited.get("nominalConcurrencyShares", "<none>" if spec["type"] == "Exempt" else 30)
    return (
        obj["metadata"]["name"],
        spec["type"],
        shares,
        queuing.get("queues", "<none>"),
        queuing.get("handSize", "<none>"),
        queuing.get("queueLengthLimit", "<none>"),
        age(obj, now),
    )


_BINDING = "Name|Role|Age|Users*|Groups*|ServiceAccounts*"

PRINTERS: Mapping[str, Printer] = {
    "rolebindings.rbac.authorization.k8s.io": Printer.of(_BINDING, _binding),
    "clusterrolebindings.rbac.authorization.k8s.io": Printer.of(_BINDING, _binding),
    "leases.coordination.k8s.io": Printer.of("Name|Holder|Age", _lease),
    "priorityclasses.scheduling.k8s.io": Printer.of(
        "Name|Value|Global-Default|Age|PreemptionPolicy", _priority_class
    ),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": Printer.of(
        "Name|Webhooks|Age", _webhooks
    ),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": Printer.of("Name|Webhooks|Age", _webhooks),
    "validatingadmissionpolicies.admissionregistration.k8s.io": Printer.of(
        "Name|Validations|ParamKind|Age", _admission_policy
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": Printer.of(
        "Name|PolicyName|ParamRef|Age", _admission_binding
    ),
    "certificatesigningrequests.certificates.k8s.io": Printer.of(
        "Name|Age|SignerName|Requestor|RequestedDuration|Condition", _signing_request
    ),
    "flowschemas.flowcontrol.apiserver.k8s.io": Printer.of(
        "Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL", _flow_schema
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": Printer.of(
        "Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age", _priority_level
    ),
}
"""Printers by resource key."""
