"""The load that SREGym offers an application: wrk2 in a Job, in rounds for ever, with a script of the application's own."""

from __future__ import annotations

from sregym_env.kube.types import Manifest


def rounds(target: str, payload: str, *, connections: int, seconds: int, rate: int) -> str:
    """The script that the generator runs; ``payload`` is the name of the file with the requests."""
    return f"""#!/bin/bash
# Offers load to the front end in rounds of {seconds} seconds, for ever.
TARGET={target}

round=1
while true; do
  echo "Running wrk2 on round #$round"
  wrk -D exp -t 3 -c {connections} -d {seconds}s -L -s /scripts/{payload} "$TARGET" -R {rate}
  sleep 1
  round=$((round + 1))
done
"""


def objects(namespace: str, image: str, scripts: dict[str, str]) -> tuple[Manifest, Manifest]:
    """The ConfigMap with the scripts, ``wrk2-workload.sh`` (:func:`rounds`) among them, and the Job that runs that one."""
    labels = {"job": "workload"}
    container = {
        "name": "wrk2",
        "image": image,
        "command": ["/bin/bash", "/scripts/wrk2-workload.sh"],
        "volumeMounts": [{"name": "wrk2-scripts", "mountPath": "/scripts"}],
    }
    pod = {
        "containers": [container],
        "restartPolicy": "Never",
        "volumes": [{"name": "wrk2-scripts", "configMap": {"name": "wrk2-payload-script"}}],
    }
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "wrk2-payload-script", "namespace": namespace},
        "data": scripts,
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "wrk2-job", "namespace": namespace, "labels": labels},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}, "backoffLimit": 6},
    }
    return config_map, job
