"""PodSecurity: a namespace's enforced Pod Security Standard.

Source of the rules and texts: the Pod Security Standards ("baseline", "restricted") and
k8s.io/pod-security-admission/policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

ENFORCE = "pod-security.kubernetes.io/enforce"
VERSION = "pod-security.kubernetes.io/enforce-version"

_BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
        "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
_RESTRICTED_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)

Containers = list[dict[str, Any]]
Rule = Callable[[dict[str, Any], Containers], str]


def validate(world: SimWorld, request: Attributes, pod: Manifest, _old: Manifest | None) -> None:
    """Raise Forbidden naming every rule of the enforced level that a new pod breaks."""
    if request.operation != "CREATE":
        return
    namespace = world.store.get("namespaces", "", pod["metadata"]["namespace"])
    labels = {} if namespace is None else namespace["metadata"].get("labels", {})
    level = labels.get(ENFORCE, "privileged")
    if level not in ("baseline", "restricted"):
        return
    spec = pod["spec"]
    containers = [c for field in ("initContainers", "containers") for c in spec.get(field, ())]
    rules = _BASELINE if level == "baseline" else (*_BASELINE, *_RESTRICTED)
    problems = [text for rule in rules if (text := rule(spec, containers))]
    if problems:
        text = f'violates PodSecurity "{level}:{labels.get(VERSION, "latest")}": {", ".join(problems)}'
        raise refused(request, pod, text)


def _names(found: Iterable[dict[str, Any]]) -> str:
    names = [f'"{container["name"]}"' for container in found]
    return f"container{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _context(container: dict[str, Any]) -> dict[str, Any]:
    return container.get("securityContext") or {}


def _host_namespaces(spec: dict[str, Any], _: Containers) -> str:
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    return f"host namespaces ({', '.join(found)})" if found else ""


def _privileged(_: dict[str, Any], containers: Containers) -> str:
    bad = [c for c in containers if _context(c).get("privileged")]
    return f"privileged ({_names(bad)} must not set securityContext.privileged=true)" if bad else ""


def _capabilities(_: dict[str, Any], containers: Containers) -> str:
    bad = [
        c for c in containers
        if set(_context(c).get("capabilities", {}).get("add", ())) - _BASELINE_CAPABILITIES
    ]  # fmt: skip
    if not bad:
        return ""
    added = sorted({cap for c in bad for cap in _context(c)["capabilities"]["add"]} - _BASELINE_CAPABILITIES)
    listed = ", ".join(f'"{cap}"' for cap in added)
    return f"non-default capabilities ({_names(bad)} must not include {listed} in securityContext.capabilities.add)"


def _host_paths(spec: dict[str, Any], _: Containers) -> str:
    names = [f'"{volume["name"]}"' for volume in spec.get("volumes", ()) if "hostPath" in volume]
    return f"hostPath volumes (volume{'s' if len(names) > 1 else ''} {', '.join(names)})" if names else ""


def _host_ports(_: dict[str, Any], containers: Containers) -> str:
    bad = [c for c in containers if any(port.get("hostPort") for port in c.get("ports", ()))]
    ports = sorted({p["hostPort"] for c in bad for p in c["ports"] if p.get("hostPort")})
    many = "s" if len(ports) > 1 else ""
    return f"hostPort ({_names(bad)} uses hostPort{many} {', '.join(map(str, ports))})" if bad else ""


def _escalation(_: dict[str, Any], containers: Containers) -> str:
    bad = [c for c in containers if _context(c).get("allowPrivilegeEscalation") is not False]
    return (
        f"allowPrivilegeEscalation != false ({_names(bad)} must set "
        "securityContext.allowPrivilegeEscalation=false)"
        if bad else ""
    )  # fmt: skip


def _dropped(_: dict[str, Any], containers: Containers) -> str:
    bad = [c for c in containers if "ALL" not in _context(c).get("capabilities", {}).get("drop", ())]
    return (
        f'unrestricted capabilities ({_names(bad)} must set securityContext.capabilities.drop=["ALL"])'
        if bad else ""
    )  # fmt: skip


def _volume_types(spec: dict[str, Any], _: Containers) -> str:
    bad = {}
    for volume in spec.get("volumes", ()):
        kinds = [key for key in volume if key != "name" and key not in _RESTRICTED_VOLUMES]
        if kinds:
            bad[volume["name"]] = kinds[0]
    if not bad:
        return ""
    names = ", ".join(f'"{name}"' for name in bad)
    return (
        f"restricted volume types (volume{'s' if len(bad) > 1 else ''} {names} uses restricted volume type "
        + (", ".join(f'"{kind}"' for kind in sorted(set(bad.values()))) + ")")
    )


def _non_root(spec: dict[str, Any], containers: Containers) -> str:
    pod_wide = (spec.get("securityContext") or {}).get("runAsNonRoot")
    bad = [c for c in containers if _context(c).get("runAsNonRoot", pod_wide) is not True]
    return (
        f"runAsNonRoot != true (pod or {_names(bad)} must set securityContext.runAsNonRoot=true)"
        if bad
        else ""
    )


def _seccomp(spec: dict[str, Any], containers: Containers) -> str:
    allowed = ("RuntimeDefault", "Localhost")
    pod_wide = (spec.get("securityContext") or {}).get("seccompProfile", {}).get("type")
    bad = [
        c for c in containers if _context(c).get("seccompProfile", {}).get("type", pod_wide) not in allowed
    ]
    return (
        f'seccompProfile (pod or {_names(bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" '
        'or "Localhost")'
        if bad else ""
    )  # fmt: skip


_BASELINE: tuple[Rule, ...] = (_host_namespaces, _privileged, _capabilities, _host_paths, _host_ports)
_RESTRICTED: tuple[Rule, ...] = (_escalation, _dropped, _volume_types, _non_root, _seccomp)
