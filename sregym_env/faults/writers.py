"""Programs elsewhere that write into an application again and again: who they are, what they may, and when they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.cluster.edits import ObjectRef
from sregym_env.kube.types import Manifest

RBAC = "rbac.authorization.k8s.io"

IMAGE = "curlimages/curl:8.7.1"

API = "https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT"
PATCH = (
    "curl -fsS -o /dev/null --cacert $sa/ca.crt "
    '-H "Authorization: Bearer $(cat $sa/token)" -H "Content-Type: application/strategic-merge-patch+json" -X PATCH'
)
"""How their scripts ask the API server, with the account of their pod."""
ACCOUNT = "sa=/var/run/secrets/kubernetes.io/serviceaccount; "


def rights(writer: str, place: str, where: str, group: str, resources: str) -> list[Manifest]:
    """An account in namespace ``place``, and what lets it change objects of a kind in namespace ``where``."""
    here = {"name": writer, "namespace": place}
    there = {"name": writer, "namespace": where}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "Role",
            "metadata": there,
            "rules": [{"apiGroups": [group], "resources": [resources], "verbs": ["get", "list", "patch"]}],
        },
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": there,
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": writer},
            "subjects": [{"kind": "ServiceAccount", **here}],
        },
    ]


def settings(name: str, place: str, data: Mapping[str, str]) -> Manifest:
    """The ConfigMap that one of them goes by."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": place},
        "data": dict(data),
    }


def cronjob(
    cron: ObjectRef, schedule: str, container: Mapping[str, Any], volumes: tuple[Manifest, ...] = ()
) -> Manifest:
    """One that runs by a schedule, under the account of its name."""
    pod = {
        "serviceAccountName": cron.name,
        "restartPolicy": "Never",
        "containers": [{"image": IMAGE, **container}],
        **({"volumes": list(volumes)} if volumes else {}),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": cron.name, "namespace": cron.namespace},
        "spec": {
            "schedule": schedule,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {"spec": {"backoffLimit": 1, "template": {"spec": pod}}},
        },
    }
