"""The Pod Security Standards: what pods of the levels ``baseline`` and ``restricted`` may not do.

Checks and texts follow ``k8s.io/pod-security-admission/policy`` of v1.32 (policy version "latest"; older
versions that a namespace pins differ only in checks that were added up to v1.25).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sregym_env.kube.status import go_quote
from sregym_env.sim.network.local_ports import SAFE_SYSCTLS


class Violation(NamedTuple):
    """One broken rule."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Pod = Mapping[str, Any]
"""``metadata`` and ``spec`` of a pod or of a pod template."""
Check = Callable[[Pod, list[dict[str, Any]]], Violation | None]

_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
        "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
_VOLUMES = frozenset(
    {
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
        "secret",
    }
)  # fmt: skip
_SELINUX_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"))
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"


def violations(level: str, pod: Pod) -> list[Violation]:
    """The rules of a level that a pod breaks, in the order in which they are told."""
    checks = _CHECKS.get(level, ())
    if not checks:
        return []
    spec = pod["spec"]
    containers = [
        container
        for field in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(field) or ()
    ]
    return [found for check in checks if (found := check(pod, containers)) is not None]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _many(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _named(containers: list[dict[str, Any]]) -> str:
    return f"{_many('container', len(containers))} {_quoted(c['name'] for c in containers)}"


def _context(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    return holder.get("securityContext") or {}


def _setters(
    pod: Pod, containers: list[dict[str, Any]], bad: Callable[[Mapping[str, Any]], bool]
) -> list[str]:
    """Who sets something bad: ``pod``, ``container "a"``."""
    setters = ["pod"] if bad(_context(pod["spec"])) else []
    guilty = [container for container in containers if bad(_context(container))]
    return [*setters, _named(guilty)] if guilty else setters


# --- baseline -------------------------------------------------------------------------------------------------


def _app_armor(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    def bad(context: Mapping[str, Any]) -> bool:
        return (context.get("appArmorProfile") or {}).get("type") == "Unconfined"

    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    values = sorted(
        f"{key}={go_quote(value)}"
        for key, value in annotations.items()
        if key.startswith(_APPARMOR)
        and value
        and value != "runtime/default"
        and not value.startswith("localhost/")
    )
    setters = _setters(pod, containers, bad)
    kinds = ["Unconfined"] if setters else []
    if values:
        setters.append(_many("annotation", len(values)))
    if not setters:
        return None
    kinds += values
    text = f"{' and '.join(setters)} must not set AppArmor profile type to {_quoted(kinds)}"
    return Violation(_many("forbidden AppArmor profile", len(kinds)), text)


def _capabilities(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    bad, added = _adding(containers, _CAPABILITIES)
    if not bad:
        return None
    text = f"{_named(bad)} must not include {_quoted(added)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", text)


def _adding(
    containers: list[dict[str, Any]], allowed: frozenset[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    bad, added = [], set()
    for container in containers:
        extra = set((_context(container).get("capabilities") or {}).get("add") or ()) - allowed
        if extra:
            bad.append(container)
            added |= extra
    return bad, sorted(added)


def _host_namespaces(pod: Pod, _: list[dict[str, Any]]) -> Violation | None:
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if pod["spec"].get(field)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_paths(pod: Pod, _: list[dict[str, Any]]) -> Violation | None:
    names = [volume["name"] for volume in pod["spec"].get("volumes") or () if "hostPath" in volume]
    return Violation("hostPath volumes", f"{_many('volume', len(names))} {_quoted(names)}") if names else None


def _host_ports(_: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    bad = [c for c in containers if any(port.get("hostPort") for port in c.get("ports") or ())]
    ports = sorted({str(port["hostPort"]) for c in bad for port in c["ports"] if port.get("hostPort")})
    if not bad:
        return None
    verb = "uses" if len(bad) == 1 else "use"
    return Violation("hostPort", f"{_named(bad)} {verb} {_many('hostPort', len(ports))} {', '.join(ports)}")


def _privileged(_: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    bad = [c for c in containers if _context(c).get("privileged")]
    return (
        Violation("privileged", f"{_named(bad)} must not set securityContext.privileged=true")
        if bad
        else None
    )


def _proc_mount(_: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    bad = [c for c in containers if _context(c).get("procMount", "Default") != "Default"]
    if not bad:
        return None
    kinds = _quoted(sorted({_context(c)["procMount"] for c in bad}))
    return Violation("procMount", f"{_named(bad)} must not set securityContext.procMount to {kinds}")


def _selinux(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    types: set[str] = set()
    fields: set[str] = set()

    def bad(context: Mapping[str, Any]) -> bool:
        options = context.get("seLinuxOptions") or {}
        wrong = options.get("type", "") not in _SELINUX_TYPES
        if wrong:
            types.add(options["type"])
        given = {field for field in ("user", "role") if options.get(field)}
        fields.update(given)
        return wrong or bool(given)

    setters = _setters(pod, containers, bad)
    if not setters:
        return None
    data = [f"{_many('type', len(types))} {_quoted(sorted(types))}"] if types else []
    data += [f"{field} may not be set" for field in ("user", "role") if field in fields]
    text = f"{' and '.join(setters)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    return Violation("seLinuxOptions", text)


def _seccomp_type(context: Mapping[str, Any]) -> str | None:
    found: str | None = (context.get("seccompProfile") or {}).get("type")
    return found


def _seccomp(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    setters = _setters(pod, containers, lambda context: _seccomp_type(context) == "Unconfined")
    if not setters:
        return None
    text = 'must not set securityContext.seccompProfile.type to "Unconfined"'
    return Violation("seccompProfile", f"{' and '.join(setters)} {text}")


def _sysctls(pod: Pod, _: list[dict[str, Any]]) -> Violation | None:
    names = [entry["name"] for entry in _context(pod["spec"]).get("sysctls") or ()]
    bad = [name for name in names if name not in SAFE_SYSCTLS]
    return Violation("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    def bad(context: Mapping[str, Any]) -> bool:
        return bool((context.get("windowsOptions") or {}).get("hostProcess"))

    setters = _setters(pod, containers, bad)
    if not setters:
        return None
    text = f"{' and '.join(setters)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", text)


# --- restricted -----------------------------------------------------------------------------------------------


def _escalation(_: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    bad = [c for c in containers if _context(c).get("allowPrivilegeEscalation") is not False]
    text = "must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", f"{_named(bad)} {text}") if bad else None


def _dropped(_: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    details = []
    keeping = [
        c for c in containers if "ALL" not in ((_context(c).get("capabilities") or {}).get("drop") or ())
    ]
    if keeping:
        details.append(f'{_named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    bad, added = _adding(containers, frozenset(("NET_BIND_SERVICE",)))
    if bad:
        details.append(f"{_named(bad)} must not include {_quoted(added)} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def _volume_types(pod: Pod, _: list[dict[str, Any]]) -> Violation | None:
    bad: dict[str, str] = {}
    for volume in pod["spec"].get("volumes") or ():
        kinds = [key for key in volume if key != "name" and key not in _VOLUMES]
        if kinds:
            bad[volume["name"]] = kinds[0]
    if not bad:
        return None
    kinds = sorted(set(bad.values()))
    verb = "uses" if len(bad) == 1 else "use"
    types = f"{_many('restricted volume type', len(kinds))} {_quoted(kinds)}"
    return Violation("restricted volume types", f"{_many('volume', len(bad))} {_quoted(bad)} {verb} {types}")


def _non_root(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    setters = _setters(pod, containers, lambda context: context.get("runAsNonRoot") is False)
    reason = "runAsNonRoot != true"
    if setters:
        return Violation(reason, f"{' and '.join(setters)} must not set securityContext.runAsNonRoot=false")
    if _context(pod["spec"]).get("runAsNonRoot"):
        return None
    bad = [c for c in containers if _context(c).get("runAsNonRoot") is None]
    return (
        Violation(reason, f"pod or {_named(bad)} must set securityContext.runAsNonRoot=true") if bad else None
    )


def _run_as_user(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    setters = _setters(pod, containers, lambda context: context.get("runAsUser") == 0)
    return Violation("runAsUser=0", f"{' and '.join(setters)} must not set runAsUser=0") if setters else None


def _seccomp_required(pod: Pod, containers: list[dict[str, Any]]) -> Violation | None:
    allowed = ("RuntimeDefault", "Localhost")

    def bad(context: Mapping[str, Any]) -> bool:
        return _seccomp_type(context) not in (None, *allowed)

    setters = _setters(pod, containers, bad)
    if setters:
        kinds = {_seccomp_type(_context(holder)) for holder in _holders(pod, containers)}
        wrong = _quoted(sorted(kind for kind in kinds if kind is not None and kind not in allowed))
        text = f"{' and '.join(setters)} must not set securityContext.seccompProfile.type to {wrong}"
        return Violation("seccompProfile", text)
    if _seccomp_type(_context(pod["spec"])) in allowed:
        return None
    missing = [c for c in containers if _seccomp_type(_context(c)) is None]
    text = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", f"pod or {_named(missing)} {text}") if missing else None


def _holders(pod: Pod, containers: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    yield pod["spec"]
    yield from containers


_BASELINE: tuple[Check, ...] = (
    _app_armor, _capabilities, _host_namespaces, _host_paths, _host_ports, _privileged, _proc_mount, _selinux,
    _seccomp, _sysctls, _host_process,
)  # fmt: skip
_OVERRIDDEN = (_capabilities, _host_paths, _seccomp)
"""Checks that a stricter one of the restricted level replaces."""

_CHECKS: Mapping[str, tuple[Check, ...]] = {
    "baseline": _BASELINE,
    "restricted": (
        *(check for check in _BASELINE if check not in _OVERRIDDEN),
        _escalation, _dropped, _volume_types, _non_root, _run_as_user, _seccomp_required,
    ),
}  # fmt: skip
