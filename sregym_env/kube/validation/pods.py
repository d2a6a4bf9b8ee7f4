"""Validation of pods and of the pod templates of workloads (``ValidatePodSpec`` and below)."""

from __future__ import annotations

from typing import Any

from sregym_env.kube import names, quantity
from sregym_env.kube.status import (
    forbidden_field,
    invalid_value,
    missing,
    required,
    unsupported,
)
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.validation.metadata import (
    NOT_NEGATIVE,
    Errors,
    needed,
    not_negative,
    one_of,
    port_or_name,
    spec_diff,
    unique,
    validate_labels,
    validate_selector,
)

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_STANDARD_RESOURCES = frozenset(("cpu", "memory", "ephemeral-storage"))
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"


def validate_pod(obj: Manifest, out: Errors) -> None:
    """A Pod."""
    spec = obj.get("spec")
    if spec is None:
        out.append(required("spec.containers"))
        return
    validate_pod_spec(spec, "spec", out)


def validate_template(template: Manifest | None, where: str, out: Errors, with_spec: bool = True) -> None:
    """A pod template; StatefulSets have only its metadata checked (``with_spec=False``), because their
    volumes come from claim templates: what is wrong with the spec shows when the pods are made."""
    if template is None:
        out.append(required(where))
        return
    metadata = template.get("metadata") or {}
    validate_labels(metadata.get("labels"), f"{where}.labels", out)
    for key in metadata.get("annotations") or ():
        complaints = names.qualified_name(key.lower())
        out += [invalid_value(f"{where}.annotations", key, text) for text in complaints]
    if with_spec:
        validate_pod_spec(template.get("spec") or {}, f"{where}.spec", out)


def validate_pod_spec(spec: Manifest, where: str, out: Errors) -> None:
    """A pod spec, after defaulting."""
    volumes = _volumes(spec.get("volumes") or (), f"{where}.volumes", out)
    containers = spec.get("containers")
    if not containers:
        out.append(required(f"{where}.containers"))
    claimed: set[Json] = set()
    for index, container in enumerate(containers or ()):
        at = f"{where}.containers[{index}]"
        _container(container, at, volumes, claimed, out)
    for index, container in enumerate(spec.get("initContainers") or ()):
        at = f"{where}.initContainers[{index}]"
        _container(container, at, volumes, claimed, out)
        _init_rules(container, at, out)
    one_of(spec, "restartPolicy", where, _RESTART_POLICIES, out)
    one_of(spec, "dnsPolicy", where, _DNS_POLICIES, out)
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        if spec.get("dnsConfig") is None:
            text = "must provide `dnsConfig` when `dnsPolicy` is None"
            out.append(required(f"{where}.dnsConfig", text))
        else:
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            out.append(required(f"{where}.dnsConfig.nameservers", text))
    if "nodeSelector" in spec:
        validate_labels(spec["nodeSelector"], f"{where}.nodeSelector", out)
    _references(spec, where, out)
    _numbers(spec, where, out)
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        _toleration(toleration, f"{where}.tolerations[{index}]", out)
    if "affinity" in spec:
        _affinity(spec["affinity"], f"{where}.affinity", out)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        _spread(constraint, f"{where}.topologySpreadConstraints[{index}]", out)


def _references(spec: Manifest, where: str, out: Errors) -> None:
    for key in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        value = spec.get(key)
        if value:
            out += [invalid_value(f"{where}.{key}", value, t) for t in names.dns1123_subdomain(value)]
    for key in ("hostname", "subdomain"):
        value = spec.get(key)
        if value:
            out += [invalid_value(f"{where}.{key}", value, t) for t in names.dns1123_label(value)]


def _numbers(spec: Manifest, where: str, out: Errors) -> None:
    not_negative(spec, "terminationGracePeriodSeconds", where, out)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2147483647:
        text = "must be between 1 and 2147483647, inclusive"
        out.append(invalid_value(f"{where}.activeDeadlineSeconds", deadline, text))


# --- volumes ----------------------------------------------------------------------------------------------

_NAMED_SOURCES = {
    "configMap": "name",
    "secret": "secretName",
    "persistentVolumeClaim": "claimName",
    "hostPath": "path",
    "nfs": "server",
    "csi": "driver",
}


def _volumes(volumes: Any, where: str, out: Errors) -> set[Json]:
    """Checks volumes and returns their names."""
    seen: set[Json] = set()
    for index, volume in enumerate(volumes):
        at = f"{where}[{index}]"
        sources = [k for k in volume if k != "name"]
        if not sources:
            out.append(required(at, "must specify a volume type"))
        for key in sources[1:]:
            out.append(forbidden_field(f"{at}.{key}", "may not specify more than 1 volume type"))
        for key in sources[:1]:
            _volume_source(volume[key], key, f"{at}.{key}", out)
        name = volume.get("name")
        if not name:
            out.append(required(f"{at}.name"))
            continue
        out += [invalid_value(f"{at}.name", name, text) for text in names.dns1123_label(name)]
        unique(seen, name, f"{at}.name", out)
    return seen


def _volume_source(source: Manifest, kind: str, where: str, out: Errors) -> None:
    needs = _NAMED_SOURCES.get(kind)
    if needs is not None and not source.get(needs):
        out.append(required(f"{where}.{needs}"))
    mode = source.get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        out.append(invalid_value(f"{where}.defaultMode", mode, _MODE_TEXT))
    for index, item in enumerate(source.get("items") or ()):
        at = f"{where}.items[{index}]"
        if kind in ("configMap", "secret"):
            needed(item, "key", at, out)
        if needed(item, "path", at, out):
            _relative(item["path"], f"{at}.path", out)
    for index, projection in enumerate(source.get("sources") or ()):
        for key in ("configMap", "secret"):
            if key in projection and not projection[key].get("name"):
                out.append(required(f"{where}.sources[{index}].{key}.name"))
    size = source.get("sizeLimit")
    if kind == "emptyDir" and size is not None and quantity.nano(size) < 0:
        out.append(forbidden_field(f"{where}.sizeLimit", "SizeLimit field must be a valid resource quantity"))


def _relative(path: str, where: str, out: Errors) -> None:
    if path.startswith("/"):
        out.append(invalid_value(where, path, "must be a relative path"))
    elif ".." in path.split("/"):
        out.append(invalid_value(where, path, "must not contain '..'"))


# --- containers ---------------------------------------------------------------------------------------------


def _container(container: Manifest, where: str, volumes: set[Json], claimed: set[Json], out: Errors) -> None:
    name = container.get("name")
    if not name:
        out.append(required(f"{where}.name"))
    else:
        out += [invalid_value(f"{where}.name", name, text) for text in names.dns1123_label(name)]
        unique(claimed, name, f"{where}.name", out)
    image = container.get("image")
    if not image:
        out.append(required(f"{where}.image"))
    elif image.strip() != image:
        text = "must not have leading or trailing whitespace"
        out.append(invalid_value(f"{where}.image", image, text))
    one_of(container, "imagePullPolicy", where, _PULL_POLICIES, out)
    one_of(container, "terminationMessagePolicy", where, ("FallbackToLogsOnError", "File"), out)
    if "ports" in container:
        _ports(container["ports"], f"{where}.ports", out)
    if "env" in container:
        _env(container["env"], f"{where}.env", out)
    for index, source in enumerate(container.get("envFrom") or ()):
        _env_from(source, f"{where}.envFrom[{index}]", out)
    if "volumeMounts" in container:
        _mounts(container["volumeMounts"], f"{where}.volumeMounts", volumes, out)
    resources = container.get("resources")
    if resources:
        _resources(resources, f"{where}.resources", out)
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if key in container:
            _probe(container[key], f"{where}.{key}", key != "readinessProbe", out)
    for hook, handler in (container.get("lifecycle") or {}).items():
        if isinstance(handler, dict):
            _handler(handler, f"{where}.lifecycle.{hook}", (*_HANDLERS[:3], "sleep"), out)
    security = container.get("securityContext")
    if security:
        _security(security, f"{where}.securityContext", out)


def _init_rules(container: Manifest, where: str, out: Errors) -> None:
    policy = container.get("restartPolicy")
    if policy is not None and policy != "Always":
        out.append(unsupported(f"{where}.restartPolicy", policy, ("Always",)))
    if policy == "Always":
        return
    for key in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if key in container:
            text = "may not be set for init containers without restartPolicy=Always"
            out.append(forbidden_field(f"{where}.{key}", text))


def _security(security: Manifest, where: str, out: Errors) -> None:
    for key in ("runAsUser", "runAsGroup"):
        value = security.get(key)
        if value is not None and not 0 <= value <= 2147483647:
            text = "must be between 0 and 2147483647, inclusive"
            out.append(invalid_value(f"{where}.{key}", value, text))
    if security.get("privileged") and security.get("allowPrivilegeEscalation") is False:
        text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        out.append(invalid_value(where, security, text))


def _ports(ports: list[Manifest], where: str, out: Errors) -> None:
    seen: set[Json] = set()
    for index, port in enumerate(ports):
        at = f"{where}[{index}]"
        name = port.get("name")
        if name:
            complaints = names.port_name(name)
            out += [invalid_value(f"{at}.name", name, text) for text in complaints]
            if not complaints:
                unique(seen, name, f"{at}.name", out)
        number = port.get("containerPort")
        if not number:
            out.append(required(f"{at}.containerPort"))
        else:
            out += [invalid_value(f"{at}.containerPort", number, t) for t in names.port_number(number)]
        host = port.get("hostPort")
        if host:
            out += [invalid_value(f"{at}.hostPort", host, t) for t in names.port_number(host)]
        one_of(port, "protocol", at, _PROTOCOLS, out)


_ENV_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")


def _env(variables: list[Manifest], where: str, out: Errors) -> None:
    for index, variable in enumerate(variables):
        name = variable.get("name")
        if not name:
            out.append(required(f"{where}[{index}].name"))
        else:
            for text in names.env_var_name(name):
                out.append(invalid_value(f"{where}[{index}].name", name, text))
        source = variable.get("valueFrom")
        if source is not None:
            _env_source(variable, source, f"{where}[{index}].valueFrom", out)


def _env_source(variable: Manifest, source: Manifest, where: str, out: Errors) -> None:
    chosen = [k for k in _ENV_SOURCES if k in source]
    if not chosen:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        out.append(invalid_value(where, "", text))
    elif variable.get("value"):
        out.append(invalid_value(where, "", "may not be specified when `value` is not empty"))
    elif len(chosen) > 1:
        out.append(invalid_value(where, "", "may not have more than one field specified at a time"))
    for key in chosen:
        ref = source[key]
        at = f"{where}.{key}"
        if key in ("configMapKeyRef", "secretKeyRef"):
            needed(ref, "name", at, out)
            if needed(ref, "key", at, out):
                out += [invalid_value(f"{at}.key", ref["key"], t) for t in names.config_key(ref["key"])]
        elif key == "fieldRef":
            needed(ref, "fieldPath", at, out)
        else:
            needed(ref, "resource", at, out)


def _env_from(source: Manifest, where: str, out: Errors) -> None:
    chosen = [k for k in ("configMapRef", "secretRef") if k in source]
    if not chosen:
        out.append(invalid_value(where, "", "must specify one of: `configMapRef` or `secretRef`"))
    elif len(chosen) > 1:
        out.append(invalid_value(where, "", "may not have more than one field specified at a time"))
    for key in chosen:
        needed(source[key], "name", f"{where}.{key}", out)


def _mounts(mounts: list[Manifest], where: str, volumes: set[Json], out: Errors) -> None:
    seen: set[Json] = set()
    for index, mount in enumerate(mounts):
        at = f"{where}[{index}]"
        name = mount.get("name")
        if not name:
            out.append(required(f"{at}.name"))
        elif name not in volumes:
            out.append(missing(f"{at}.name", name))
        path = mount.get("mountPath")
        if not path:
            out.append(required(f"{at}.mountPath"))
        elif path in seen:
            out.append(invalid_value(f"{at}.mountPath", path, "must be unique"))
        seen.add(path)
        sub = mount.get("subPath")
        if sub:
            _relative(sub, f"{at}.subPath", out)


def _resources(resources: Manifest, where: str, out: Errors) -> None:
    limits = resources.get("limits") or {}
    requests = resources.get("requests") or {}
    for key, values in (("limits", limits), ("requests", requests)):
        for name, amount in values.items():
            at = f"{where}.{key}[{name}]"
            _resource_name(name, f"{where}.{key}", out)
            if quantity.nano(amount) < 0:
                out.append(invalid_value(at, amount, NOT_NEGATIVE))
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is not None and quantity.nano(amount) > quantity.nano(limit):
            text = f"must be less than or equal to {name} limit of {limit}"
            out.append(invalid_value(f"{where}.requests", amount, text))


def _resource_name(name: str, where: str, out: Errors) -> None:
    if name in _STANDARD_RESOURCES or name.startswith("hugepages-"):
        return
    complaints = names.qualified_name(name)
    out += [invalid_value(where, name, text) for text in complaints]
    if not complaints and "/" not in name:
        text = "must be a standard resource type or fully qualified"
        out.append(invalid_value(where, name, text))
        out.append(invalid_value(where, name, "must be a standard resource for containers"))


def _probe(probe: Manifest, where: str, once: bool, out: Errors) -> None:
    _handler(probe, where, _HANDLERS, out)
    for key in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold"):
        not_negative(probe, key, where, out)
    not_negative(probe, "failureThreshold", where, out)
    if once and probe.get("successThreshold", 1) != 1:
        out.append(invalid_value(f"{where}.successThreshold", probe["successThreshold"], "must be 1"))


def _handler(handler: Manifest, where: str, kinds: tuple[str, ...], out: Errors) -> None:
    chosen = [k for k in kinds if k in handler]
    if not chosen:
        out.append(required(where, "must specify a handler type"))
    for key in chosen[1:]:
        out.append(forbidden_field(f"{where}.{key}", "may not specify more than 1 handler type"))
    for key in chosen[:1]:
        action = handler[key]
        at = f"{where}.{key}"
        if key == "exec":
            needed(action, "command", at, out)
        elif key == "httpGet":
            needed(action, "path", at, out)
            port_or_name(action.get("port"), f"{at}.port", out)
            one_of(action, "scheme", at, ("HTTP", "HTTPS"), out)
        elif key in ("tcpSocket", "grpc"):
            port_or_name(action.get("port"), f"{at}.port", out)


# --- scheduling ---------------------------------------------------------------------------------------------


def _toleration(toleration: Manifest, where: str, out: Errors) -> None:
    key = toleration.get("key")
    operator = toleration.get("operator") or "Equal"
    if key:
        out += [invalid_value(f"{where}.key", key, text) for text in names.qualified_name(key)]
    elif operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        out.append(invalid_value(f"{where}.operator", toleration.get("operator", ""), text))
    if operator == "Exists" and toleration.get("value"):
        text = "value must be empty when `operator` is 'Exists'"
        out.append(invalid_value(f"{where}.operator", operator, text))
    elif operator not in ("Equal", "Exists"):
        out.append(unsupported(f"{where}.operator", operator, ("Equal", "Exists")))
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        out.append(invalid_value(f"{where}.effect", toleration.get("effect", ""), text))
    if toleration.get("effect"):
        one_of(toleration, "effect", where, ("NoSchedule", "PreferNoSchedule", "NoExecute"), out)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _affinity(affinity: Manifest, where: str, out: Errors) -> None:
    node = affinity.get("nodeAffinity") or {}
    hard = node.get(_REQUIRED)
    if hard is not None and not hard.get("nodeSelectorTerms"):
        at = f"{where}.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
        out.append(required(at, "must have at least one node selector term"))
    for index, term in enumerate((hard or {}).get("nodeSelectorTerms") or ()):
        at = f"{where}.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{index}]"
        _node_term(term, at, out)
    for index, preferred in enumerate(node.get(_PREFERRED) or ()):
        at = f"{where}.nodeAffinity.{_PREFERRED}[{index}]"
        _weight(preferred, at, out)
        _node_term(preferred.get("preference") or {}, f"{at}.preference", out)
    for key in ("podAffinity", "podAntiAffinity"):
        pod = affinity.get(key) or {}
        for index, term in enumerate(pod.get(_REQUIRED) or ()):
            _pod_term(term, f"{where}.{key}.{_REQUIRED}[{index}]", out)
        for index, preferred in enumerate(pod.get(_PREFERRED) or ()):
            at = f"{where}.{key}.{_PREFERRED}[{index}]"
            _weight(preferred, at, out)
            _pod_term(preferred.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm", out)


def _weight(term: Manifest, where: str, out: Errors) -> None:
    weight = term.get("weight") or 0
    if not 1 <= weight <= 100:
        out.append(invalid_value(f"{where}.weight", weight, "must be in the range 1-100"))


def _node_term(term: Manifest, where: str, out: Errors) -> None:
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        at = f"{where}.matchExpressions[{index}]"
        operator = expression.get("operator")
        values = expression.get("values") or ()
        if operator in ("In", "NotIn") and not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            out.append(required(f"{at}.values", text))
        elif operator in ("Exists", "DoesNotExist") and values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            out.append(forbidden_field(f"{at}.values", text))
        elif operator in ("Gt", "Lt") and len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            out.append(required(f"{at}.values", text))
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"):
            out.append(invalid_value(f"{at}.operator", operator, "not a valid selector operator"))
        key = expression.get("key") or ""
        out += [invalid_value(f"{at}.key", key, text) for text in names.qualified_name(key)]


def _pod_term(term: Manifest, where: str, out: Errors) -> None:
    validate_selector(term.get("labelSelector"), f"{where}.labelSelector", out)
    if needed(term, "topologyKey", where, out, "can not be empty"):
        key = term["topologyKey"]
        out += [invalid_value(f"{where}.topologyKey", key, text) for text in names.qualified_name(key)]


def _spread(constraint: Manifest, where: str, out: Errors) -> None:
    skew = constraint.get("maxSkew") or 0
    if skew <= 0:
        out.append(invalid_value(f"{where}.maxSkew", skew, "must be greater than zero"))
    needed(constraint, "topologyKey", where, out, "can not be empty")
    one_of(constraint, "whenUnsatisfiable", where, ("DoNotSchedule", "ScheduleAnyway"), out)
    validate_selector(constraint.get("labelSelector"), f"{where}.labelSelector", out)


# --- updates --------------------------------------------------------------------------------------------------

_POD_UPDATE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)\n"
)


def validate_pod_update(new: Manifest, old: Manifest, out: Errors) -> None:
    """``ValidatePodUpdate``: nearly everything in a pod spec is fixed."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if after is before:
        return
    for key in ("containers", "initContainers"):
        if len(after.get(key) or ()) != len(before.get(key) or ()):
            out.append(forbidden_field(f"spec.{key}", "pod updates may not add or remove containers"))
            return
    deadline, was = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if was is not None and (deadline is None or deadline > was):
        text = "must be less than or equal to previous value"
        shown = deadline if deadline is not None else ""
        out.append(invalid_value("spec.activeDeadlineSeconds", shown, text))
        return
    added = [t for t in before.get("tolerations") or () if t not in (after.get("tolerations") or ())]
    if added:
        text = "existing toleration can not be modified except its tolerationSeconds"
        out.append(forbidden_field("spec.tolerations", text))
    munged, was_spec = _munged(after), _munged(before)
    if munged != was_spec:
        diff = spec_diff("core.PodSpec", munged, was_spec)
        out.append(forbidden_field("spec", _POD_UPDATE + diff))


def _munged(spec: Manifest) -> Manifest:
    """A spec without what may change."""
    skip = ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates")
    out = {k: v for k, v in spec.items() if k not in skip}
    for key in ("containers", "initContainers"):
        if key in out:
            out[key] = [{k: v for k, v in c.items() if k != "image"} for c in out[key]]
    return out
