"""``kubectl create deployment``, ``job`` and ``cronjob``."""

from __future__ import annotations

import hashlib
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.create.generator import UNSET, Generator, verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def _deployment(call: Call, name: str) -> Manifest:
    flags = call.flags
    if len(flags["image"]) > 1 and call.args[1:]:
        raise failure("cannot specify multiple --image options and command")
    labels = {"app": name}
    containers = []
    for reference in flags["image"]:
        container: dict[str, Any] = {"image": reference, "name": _container_name(reference), "resources": {}}
        if call.args[1:]:
            container["command"] = list(call.args[1:])
        if int(flags["port"]) >= 0:
            container["ports"] = [{"containerPort": int(flags["port"])}]
        containers.append(container)
    return {
        "metadata": {"labels": labels},
        "spec": {
            "replicas": int(flags["replicas"]),
            "selector": {"matchLabels": labels},
            "strategy": {},
            "template": {"metadata": {**UNSET, "labels": labels}, "spec": {"containers": containers}},
        },
        "status": {},
    }


def _container_name(reference: str) -> str:
    """The image's own name; one that had to be changed gets a suffix, which real kubectl draws at random."""
    short = reference.rpartition("/")[2].partition("@")[0].partition(":")[0]
    if not set(short) & {"_", "."}:
        return short
    digest = hashlib.sha256(reference.encode()).digest()
    suffix = "".join(_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:5])
    return f"{short.replace('_', '-').replace('.', '-')}-{suffix}"


def _job(call: Call, name: str) -> Manifest:
    image, source = call.flags["image"], call.flags["from"]
    if bool(image) == bool(source):
        raise failure("either --image or --from must be specified")
    if source:
        if call.args[1:]:
            raise failure("cannot specify --from and command")
        return _from_cronjob(call, source)
    return {"spec": {"template": _template(call, name, "Never")}, "status": {}}


def _from_cronjob(call: Call, source: str) -> Manifest:
    kind, slash, owner = source.partition("/")
    if not slash:
        raise failure("the server doesn't have a resource type " + f'"{source}"')
    resource = call.find(kind)
    cron = call.cluster.get(resource.key, owner, call.namespace)
    if resource.key != "cronjobs.batch":
        raise failure(f"unknown object type *{resource.version}.{resource.kind}")
    template = cron["spec"]["jobTemplate"]
    reference = {
        "apiVersion": "batch/v1",
        "controller": True,
        "kind": "CronJob",
        "name": owner,
        "uid": cron["metadata"]["uid"],
    }
    metadata = template.get("metadata") or {}
    annotations = {"cronjob.kubernetes.io/instantiate": "manual", **(metadata.get("annotations") or {})}
    marks: Manifest = {"annotations": annotations, "ownerReferences": [reference]}
    if metadata.get("labels"):
        marks["labels"] = metadata["labels"]
    return {"metadata": marks, "spec": template["spec"], "status": {}}


def _template(call: Call, name: str, restart: str) -> Manifest:
    container: dict[str, Any] = {"image": call.flags["image"], "name": name, "resources": {}}
    if call.args[1:]:
        container["command"] = list(call.args[1:])
    return {"metadata": UNSET, "spec": {"containers": [container], "restartPolicy": restart}}


def _cronjob(call: Call, name: str) -> Manifest:
    template = _template(call, name, call.flags["restart"] or "OnFailure")
    spec = {
        "jobTemplate": {"metadata": {**UNSET, "name": name}, "spec": {"template": template}},
        "schedule": call.flags["schedule"],
    }
    return {"spec": spec, "status": {}}


_IMAGE = Flag("image", help="Image name to run.")

DEPLOYMENT = verb(
    "deployment",
    "Create a deployment with the specified name",
    Generator("deployments", _deployment, "deployment:", ("image",), takes_command=True),
    Flag("image", kind="csv", help="Image names to run."),
    Flag("port", kind="int32", default=-1, help="The containerPort that this deployment exposes."),
    Flag("replicas", "r", kind="int32", default=1, help="Number of replicas to create."),
    aliases=("deploy",),
    usage="create deployment NAME --image=image -- [COMMAND] [args...]",
)
JOB = verb(
    "job",
    "Create a job with the specified name",
    Generator("jobs", _job, "job:", takes_command=True),
    _IMAGE,
    Flag("from", help="The name of the resource to create a Job from (only cronjob is supported)."),
    usage="create job NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]",
)
CRONJOB = verb(
    "cronjob",
    "Create a cron job with the specified name",
    Generator("cronjobs", _cronjob, "cronjob:", ("image", "schedule"), takes_command=True),
    _IMAGE,
    Flag("schedule", help="A schedule in the Cron format the job should be run with."),
    Flag("restart", help="job's restart policy. supported values: OnFailure, Never"),
    aliases=("cj",),
    usage="create cronjob NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...] [flags]",
)
