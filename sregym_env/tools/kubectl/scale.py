"""``kubectl scale``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sregym_env.kube.status import StatusError
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    DRY_RUN,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECORD,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    ALL,
    TIMEOUT,
    UNNAMED,
    chosen,
    dry_run_of,
    record,
    report,
    timeout_of,
    until,
)


def scale(call: Call) -> None:
    """Set the number of replicas."""
    flags = call.flags
    replicas = int(flags["replicas"])
    if replicas < 0:
        raise failure("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    errors: list[StatusError] = []
    infos = list(chosen(call, need_name=UNNAMED, failed=errors.append))
    if not infos and not flags["filename"]:
        raise failure(f"no objects passed to scale {_joined(errors)}".rstrip())
    for info in infos:
        if "scale" not in info.resource.subresources:
            raise KubectlError(
                "Error from server (NotFound): the server could not find the requested resource"
            )
        expected = int(flags["current-replicas"])
        now = int(info.object["spec"].get("replicas", 1))
        if expected >= 0 and expected != now:
            raise failure(f"Expected replicas to be {expected}, was {now}")
        version = str(info.object["metadata"].get("resourceVersion", ""))
        if flags["resource-version"] not in ("", version):
            raise failure(f"Expected resource version to be {flags['resource-version']}, was {version}")
        dry_run = dry_run_of(call)
        if dry_run != "client":
            body: dict[str, Any] = {"spec": {"replicas": replicas}}
            call.cluster.patch(
                info.resource.address, info.name, body, namespace=info.namespace, type="merge",
                subresource="scale", dry_run=dry_run == "server", field_manager=call.manager,
            )  # fmt: skip
        record(call, info)
        report(call, info.resource, info.object, "scaled", dry_run)
        if flags["timeout"] and dry_run == "none":
            _wait_scaled(call, info, replicas)
    for error in errors[:1] if flags["filename"] else errors:
        call.fail(error)


def _joined(errors: Sequence[StatusError]) -> str:
    """Errors as Go prints an aggregate of them."""
    texts = list(dict.fromkeys(error.message for error in errors))
    return f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)


def _wait_scaled(call: Call, info: Info, replicas: int) -> None:
    def reached() -> bool:
        found = call.cluster.get(info.resource.address, info.name, info.namespace)
        return bool(found.get("status", {}).get("replicas", 0) == replicas)

    if not until(call, reached, timeout_of(call)):
        raise KubectlError(f'error: timed out waiting for "{info.name}" to be synced')


SCALE = Verb(
    "scale",
    "Set a new size for a deployment, replica set, or replication controller",
    scale,
    (
        FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR, ALL, OUTPUT, DRY_RUN, TIMEOUT, RECORD,
        Flag("replicas", kind="int", default=0, help="The new desired number of replicas. Required."),
        Flag("current-replicas", kind="int", default=-1, help="Precondition for current size."),
        Flag("resource-version", help="Precondition for resource version."),
    ),
    usage="scale [--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)",
    group="Deploy Commands",
    required=("replicas",),
)  # fmt: skip
