"""``kubectl create``: from files, and the generators for common kinds."""

from __future__ import annotations

from sregym_env.kube.selectors import parse_labels
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import rawwrites
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.create import config, network, policy, rbac, workload
from sregym_env.tools.kubectl.create.generator import COMMON
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import FILENAME, KUSTOMIZE, RECORD, RECURSIVE, SELECTOR, Flag
from sregym_env.tools.kubectl.writing import create_object, fail_all, from_files, introduced


def create(call: Call) -> None:
    """Create every object in the files."""
    if call.args:
        raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", call.command)
    if not call.flags["filename"] and not call.flags["kustomize"]:
        raise failure("must specify one of -f and -k")
    if call.flags["raw"]:
        rawwrites.write(call, "POST")
        return
    selector = parse_labels(call.flags["selector"]) if call.flags["selector"] else None
    errors: list[StatusError] = []
    found = False
    try:
        for source, resource, manifest in from_files(call):
            if selector is not None and not selector.matches(_labels(manifest)):
                continue
            found = True
            try:
                create_object(call, resource, manifest)
            except StatusError as error:
                errors.append(introduced(error, "creating", source))
    except KubectlError as error:
        if not found:
            raise
        call.unread = error.text.removeprefix("error: ")
    fail_all(call, errors)
    if not found:
        raise failure("no objects passed to create")


def _labels(manifest: Manifest) -> dict[str, str]:
    labels: dict[str, str] = (manifest.get("metadata") or {}).get("labels") or {}
    return labels


CREATE = Verb(
    "create",
    "Create a resource from a file or from stdin",
    create,
    (
        *COMMON,
        RECORD,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        SELECTOR,
        Flag("edit", kind="bool", help="Edit the API resource before creating"),
        Flag("raw", help="Raw URI to POST to the server."),
        Flag("windows-line-endings", kind="bool", help="Only relevant if --edit=true."),
    ),
    usage="create -f FILENAME",
    verbs=(
        rbac.CLUSTER_ROLE,
        rbac.CLUSTER_ROLE_BINDING,
        config.CONFIGMAP,
        workload.CRONJOB,
        workload.DEPLOYMENT,
        network.INGRESS,
        workload.JOB,
        policy.NAMESPACE,
        policy.DISRUPTION_BUDGET,
        policy.PRIORITY_CLASS,
        policy.QUOTA,
        rbac.ROLE,
        rbac.ROLE_BINDING,
        config.SECRET,
        network.SERVICE,
        rbac.SERVICE_ACCOUNT,
        rbac.TOKEN,
    ),
    group="Basic Commands (Beginner)",
)

__all__ = ["CREATE"]
