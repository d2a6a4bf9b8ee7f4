"""``kubectl certificate``: approve or deny certificate signing requests."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.kube.durations import rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import FILENAME, KUSTOMIZE, OUTPUT, PRINTING, RECURSIVE, Flag
from sregym_env.tools.kubectl.resolve import Info, Target, targets, visit
from sregym_env.tools.kubectl.usage import verb_help
from sregym_env.tools.kubectl.writing import report

_REQUESTS = "certificatesigningrequests.certificates.k8s.io"
_DECIDED = {"Approved": "Denied", "Denied": "Approved"}


def _decide(condition: str, reason: str, verb: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        if not call.args and not call.flags["filename"]:
            raise failure("one or more CSRs must be specified as <name> or -f <filename>")
        wanted = targets(call) if call.flags["filename"] else []
        wanted += [Target(call.find(_REQUESTS), name) for name in call.args]
        for info in visit(call, wanted):
            try:
                stored = _with_condition(call, info, condition, reason, verb)
            except StatusError as error:
                call.fail(error)
                continue
            report(call, info.resource, stored, verb)

    return run


def _with_condition(call: Call, info: Info, condition: str, reason: str, verb: str) -> Manifest:
    """The request with the decision in its status, unless it is there already."""
    kept = list((info.object.get("status") or {}).get("conditions") or ())
    if any(c["type"] == condition for c in kept) and not call.flags["force"]:
        return info.object
    for old in kept:
        if old["type"] == _DECIDED[condition]:
            raise failure(f"certificate signing request {info.name} is already {old['type']}")
    now = rfc3339(call.cluster.now())
    kept = [c for c in kept if c["type"] != condition]
    kept.append(
        {
            "type": condition,
            "status": "True",
            "reason": reason,
            "message": f"This CSR was {verb} by kubectl certificate {call.command.split()[-1]}.",
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
    )
    body: Manifest = {"status": {"conditions": kept}}
    return call.cluster.patch(
        info.resource.address,
        info.name,
        body,
        type="merge",
        subresource="approval",
        field_manager=call.manager,
    )


_FLAGS = (
    FILENAME,
    KUSTOMIZE,
    RECURSIVE,
    OUTPUT,
    *PRINTING,
    Flag("force", kind="bool", help="Update the CSR even if it is already approved."),
)


def _help(call: Call) -> None:
    """Without a known subcommand, kubectl prints the help and succeeds."""
    call.print(verb_help(VERB, "certificate"))


VERB = Verb(
    "certificate",
    "Modify certificate resources",
    _help,
    verbs=(
        Verb(
            "approve",
            "Approve a certificate signing request",
            _decide("Approved", "KubectlApprove", "approved"),
            _FLAGS,
            usage="certificate approve (-f FILENAME | NAME)",
        ),
        Verb(
            "deny",
            "Deny a certificate signing request",
            _decide("Denied", "KubectlDeny", "denied"),
            _FLAGS,
            usage="certificate deny (-f FILENAME | NAME)",
        ),
    ),
    usage="certificate SUBCOMMAND",
    description="Modify certificate resources.",
    group="Cluster Management Commands",
)

__all__ = ["VERB"]
