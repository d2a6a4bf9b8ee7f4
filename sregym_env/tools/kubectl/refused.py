"""Commands that need a terminal, a listening port or the local machine: refused, with what to use instead."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag


def _refusal(text: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        raise failure(text)

    return run


_POD = (
    f.CONTAINER,
    Flag("stdin", "i", kind="bool"),
    Flag("tty", "t", kind="bool"),
    Flag("quiet", "q", kind="bool"),
)
_DEBUG = (
    *_POD,
    Flag("image"),
    Flag("target"),
    Flag("copy-to"),
    Flag("share-processes", kind="bool"),
    Flag("profile"),
    Flag("attach", kind="bool"),
    Flag("env", kind="strings"),
    Flag("set-image"),
    Flag("replace", kind="bool"),
    Flag("same-node", kind="bool"),
    Flag("image-pull-policy"),
)

REFUSED: tuple[Verb, ...] = (
    Verb(
        "attach",
        "Attach to a running container",
        _refusal(
            "unable to attach: no terminal is available; use 'kubectl logs' or 'kubectl exec POD -- COMMAND'"
        ),
        flags=_POD,
        group="Troubleshooting and Debugging Commands",
    ),
    Verb(
        "edit",
        "Edit a resource on the server",
        _refusal(
            "no interactive editor is available; use 'kubectl patch', 'kubectl set', 'kubectl apply -f FILE' or "
            "'kubectl replace -f FILE'"
        ),
        flags=(
            f.FILENAME,
            f.KUSTOMIZE,
            f.RECURSIVE,
            f.OUTPUT,
            f.SELECTOR,
            Flag("save-config", kind="bool"),
            Flag("subresource"),
            Flag("validate", bare="strict"),
            Flag("output-patch", kind="bool"),
            Flag("field-manager"),
        ),
        group="Basic Commands (Intermediate)",
    ),
    Verb(
        "port-forward",
        "Forward one or more local ports to a pod",
        _refusal(
            "unable to listen on any of the requested ports; "
            "use 'kubectl exec POD -- curl http://SERVICE:PORT/PATH' or curl from the workstation"
        ),
        flags=(Flag("address", kind="csv"), Flag("pod-running-timeout", kind="duration")),
        group="Troubleshooting and Debugging Commands",
    ),
    Verb(
        "proxy",
        "Run a proxy to the Kubernetes API server",
        _refusal("unable to listen on port 8001; use 'kubectl get --raw PATH' to reach the API server"),
        flags=(Flag("port", "p", kind="int"), Flag("address"), Flag("api-prefix")),
        group="Troubleshooting and Debugging Commands",
    ),
    Verb(
        "cp",
        "Copy files and directories to and from containers",
        _refusal(
            "unable to copy: use 'kubectl exec POD -- cat FILE' to read and 'kubectl exec -i POD -- sh -c \"cat > FILE\"' to write"
        ),
        flags=(f.CONTAINER, Flag("no-preserve", kind="bool"), Flag("retries", kind="int")),
        group="Troubleshooting and Debugging Commands",
    ),
    Verb(
        "debug",
        "Create debugging sessions for troubleshooting workloads and nodes",
        _refusal(
            "ephemeral debug containers are not available; use 'kubectl exec', 'kubectl logs' and 'kubectl describe'"
        ),
        flags=_DEBUG,
        group="Troubleshooting and Debugging Commands",
    ),
    Verb(
        "completion",
        "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
        _refusal("shell completion is not available in this shell"),
        group="Settings Commands",
    ),
    Verb(
        "plugin",
        "Provides utilities for interacting with plugins",
        _refusal("unable to find any kubectl plugins in your PATH"),
    ),
    Verb(
        "kustomize",
        "Build a kustomization target from a directory or URL",
        _refusal("kustomization files are not supported; use 'kubectl apply -f FILE'"),
        flags=(Flag("output", "o"),),
    ),
)
