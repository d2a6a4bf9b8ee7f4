"""``kubectl run``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

from sregym_env.kube import patch as patches
from sregym_env.kube import yamlin
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.tools.kubectl import attach as attaching
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECORD, RECURSIVE, Flag
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    SAVE_CONFIG,
    dry_run_of,
    label_specs,
    made,
    pairs,
    report,
)

IMAGE_REFERENCE = re.compile(
    r"(?:[\w.-]+(?::\d+)?/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?\Z"
)
"""An image reference as the container tools parse it."""


def run(call: Call) -> None:
    """Start one pod; with ``-i`` or ``--attach`` wait for it and show its output."""
    flags = call.flags
    attach = _check(call)
    pods, dry_run = call.find("pods"), dry_run_of(call)
    pod = made(call, pods, _with_overrides(call, _pod(call), str(flags["overrides"])))
    created = [pod]
    if flags["expose"]:
        services = call.find("services")
        try:
            created.append(made(call, services, _service(call)))
        except StatusError as error:
            call.fail(error)
        else:
            # The pod is there first, and is told of last.
            report(call, services, created[-1], "created", dry_run)
            if flags["output"] == "yaml":
                call.print("---\n")
    if dry_run != "none" or not attach:
        report(call, pods, pod, "created", dry_run)
        return
    try:
        _attach(call, pod)
    finally:
        # As kubectl's deferred removal: also where attaching failed, and before the failure is told.
        if flags["rm"]:
            _remove(call, created)


def _check(call: Call) -> bool:
    """Refuse what kubectl refuses; whether the command attaches to its pod."""
    flags = call.flags
    if not flags["image"]:
        raise failure("--image is required")
    policy = flags["image-pull-policy"]
    if policy not in ("", "Always", "IfNotPresent", "Never"):
        raise usage_failure(f"invalid image pull policy: {policy}", call.command)
    if not call.args or call.dash == 0:
        raise usage_failure("NAME is required for run", call.command)
    if not IMAGE_REFERENCE.match(flags["image"]):
        raise failure(f'Invalid image name "{flags["image"]}": invalid reference format')
    if flags["tty"] and not flags["stdin"]:
        raise usage_failure("-i/--stdin is required for containers with -t/--tty=true", call.command)
    attach = bool(flags["attach"] or flags["stdin"] or flags["tty"])
    if flags["rm"] and not attach:
        raise usage_failure("--rm should only be used for attached containers", call.command)
    if attach and dry_run_of(call) != "none":
        raise usage_failure(
            "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)",
            call.command,
        )
    if flags["expose"] and not flags["port"]:
        raise usage_failure("--port must be set when exposing a service", call.command)
    if flags["restart"] not in ("Always", "OnFailure", "Never"):
        raise usage_failure(f"invalid restart policy: {flags['restart']}", call.command)
    return attach


def _pod(call: Call) -> Manifest:
    flags, name, rest = call.flags, call.args[0], list(call.args[1:])
    labels = label_specs(str(flags["labels"])) if flags["labels"] else {"run": name}
    container: dict[str, Any] = {"name": name, "image": flags["image"], "resources": {}}
    if flags["image-pull-policy"]:
        container["imagePullPolicy"] = flags["image-pull-policy"]
    if rest:
        container["command" if flags["command"] else "args"] = rest
    if flags["env"]:
        container["env"] = [{"name": k, "value": v} for k, v in pairs(flags["env"], "env").items()]
    if flags["port"]:
        container["ports"] = [{"containerPort": _port(flags["port"])}]
    if flags["stdin"]:
        container["stdin"] = True
        container["stdinOnce"] = not flags["leave-stdin-open"]
    if flags["tty"]:
        container["tty"] = True
    if flags["privileged"]:
        container["securityContext"] = {"privileged": True}
    metadata: dict[str, Any] = {
        "creationTimestamp": None,
        "name": name,
        "labels": labels,
        "namespace": call.namespace,
    }
    if flags["annotations"]:
        metadata["annotations"] = pairs(flags["annotations"], "annotations format")
    spec = {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": flags["restart"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


def _port(text: str) -> int:
    number = whole(text)
    if number is None:
        wrong = "value out of range" if is_whole(text) else "invalid syntax"
        raise failure(f'strconv.Atoi: parsing "{text}": {wrong}')
    return number


def _service(call: Call) -> Manifest:
    port = _port(call.flags["port"])
    name = call.args[0]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"creationTimestamp": None, "name": name, "namespace": call.namespace},
        "spec": {
            "ports": [{"port": port, "protocol": "TCP", "targetPort": port}],
            "selector": {"run": name},
        },
        "status": {"loadBalancer": {}},
    }


def _with_overrides(call: Call, pod: Manifest, text: str) -> Manifest:
    if not text:
        return pod
    try:
        overrides = yamlin.plain(json.loads(text))
    except (ValueError, RecursionError, yaml.YAMLError):
        raise failure("Invalid JSON Patch") from None
    merged: Json
    if call.flags["override-type"] == "json":
        merged = patches.json_patch(pod, overrides)
    elif call.flags["override-type"] == "strategic":
        merged = patches.strategic_merge_patch(pod, overrides, call.find("pods"))
    else:
        merged = patches.merge_patch(pod, overrides)
    return merged if isinstance(merged, dict) else pod


def _attach(call: Call, pod: Manifest) -> None:
    attaching.attach_when_running(call, pod, pod["spec"]["containers"][0]["name"], tty=call.flags["tty"])
    policy = call.flags["restart"]
    if call.flags["leave-stdin-open"] or policy == "Always":
        return
    over = attaching.completed if policy == "Never" else _succeeded
    _exit_as(call, attaching.wait_for(call, pod, over, attaching.running_timeout(call)))


def _succeeded(pod: Manifest) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Succeeded")


def _exit_as(call: Call, pod: Manifest) -> None:
    """End as the pod's container did. Raises KubectlError with its exit code."""
    if _succeeded(pod):
        return
    where = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"
    states: list[Manifest] = pod["status"].get("containerStatuses") or [{}]
    ended = (states[0].get("state") or {}).get("terminated") or {}
    if not ended.get("exitCode"):
        raise failure(f"{where} failed with unknown exit code")
    text = f"{where} terminated ({ended.get('reason', '')})\n{ended.get('message', '')}"
    raise KubectlError(text.rstrip("\n"), int(ended["exitCode"]))


def _remove(call: Call, created: Sequence[Manifest]) -> None:
    """Delete what the command has made."""
    for obj in created:
        metadata, kind = obj["metadata"], obj["kind"].lower()
        resource = call.resource_of(obj)
        if resource is None:
            continue
        grace = call.flags["grace-period"]
        try:
            call.cluster.delete(
                resource.address,
                metadata["name"],
                metadata["namespace"],
                grace_period_seconds=grace if grace >= 0 else None,
            )
        except StatusError as error:
            call.fail(error)
            continue
        if not call.flags["quiet"]:
            call.print(f'{kind} "{metadata["name"]}" deleted\n')


_COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG)

RUN = Verb(
    "run",
    "Run a particular image on the cluster",
    run,
    (
        *_COMMON,
        RECORD,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        Flag("cascade", bare="background", default="background", help="Deletion cascading strategy."),
        Flag("force", kind="bool", help="If true, immediately remove resources from API."),
        Flag("image", help="The image for the container to run."),
        Flag("image-pull-policy", help="The image pull policy for the container."),
        Flag(
            "command",
            kind="bool",
            help="If true and extra arguments are present, use them as the 'command' field.",
        ),
        Flag("env", kind="strings", help="Environment variables to set in the container."),
        Flag("labels", "l", help="Comma separated labels to apply to the pod."),
        Flag("annotations", kind="strings", help="Annotations to apply to the pod."),
        Flag("port", help="The port that this container exposes."),
        Flag(
            "restart",
            default="Always",
            help="The restart policy for this Pod. Legal values [Always, OnFailure, Never].",
        ),
        Flag("rm", kind="bool", help="If true, delete the pod after it exits."),
        Flag("stdin", "i", kind="bool", help="Keep stdin open on the container in the pod."),
        Flag("tty", "t", kind="bool", help="Allocate a TTY for the container in the pod."),
        Flag(
            "attach", kind="bool", help="If true, wait for the Pod to start running, and then attach to it."
        ),
        Flag("quiet", "q", kind="bool", help="If true, suppress prompt messages."),
        Flag("privileged", kind="bool", help="If true, run the container in privileged mode."),
        Flag("overrides", help="An inline JSON override for the generated object."),
        Flag("override-type", default="merge", help="The method used to override the generated object."),
        Flag(
            "pod-running-timeout",
            kind="duration",
            help="The length of time to wait until the pod is running.",
        ),
        Flag("leave-stdin-open", kind="bool", help="Leave stdin open after the first attach completes."),
        Flag("timeout", kind="duration", help="The length of time to wait."),
        Flag("grace-period", kind="int", default=-1, help="Seconds given to terminate."),
        Flag("wait", kind="bool", help="If true, wait for resources to be gone before returning."),
        Flag("expose", kind="bool", help="If true, create a ClusterIP service associated with the pod."),
    ),
    usage='run NAME --image=image [--env="key=value"] [--port=port] [--dry-run=server|client] [--overrides=inline-json] [--command] -- [COMMAND] [args...]',
    group="Basic Commands (Beginner)",
    required=("image",),
)
