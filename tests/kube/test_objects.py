"""Decoding, defaulting and validating of objects."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sregym_env.kube import defaults, explanation, registry, schema, validation
from sregym_env.kube.status import StatusError

CONTAINER: dict[str, Any] = {"name": "c", "image": "repo/c:1"}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n"},
    "spec": {"containers": [CONTAINER]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "namespace": "n"},
    "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [CONTAINER]}},
    },
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "s", "namespace": "n"},
    "spec": {"ports": [{"port": 80}]},
}


def _simple(api_version: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "n"}, **rest}


def _resource(obj: dict[str, Any]) -> registry.Resource:
    found = registry.by_kind(obj["apiVersion"], obj["kind"])
    assert found is not None
    return found


def _stored(obj: dict[str, Any]) -> dict[str, Any]:
    resource = _resource(obj)
    return defaults.apply_defaults(resource, schema.decode(resource, obj)[0])


def _complaints(obj: dict[str, Any]) -> list[str]:
    return [str(e) for e in validation.validate_create(_resource(obj), _stored(obj))]


def _with(obj: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(obj)
    *way, last = [int(s) if s.isdigit() else s for s in path.split("/")]
    place: Any = made
    for step in way:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    if isinstance(place, list) and last == len(place):
        place.append(value)
    else:
        place[last] = value
    return made


# --- decoding -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("spec/foo", 1, 'strict decoding error: unknown field "spec.foo"'),
        (
            "spec/template/spec/containers/0/foo",
            1,
            'strict decoding error: unknown field "spec.template.spec.containers[0].foo"',
        ),
        (
            "spec/replicas",
            "3",
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "metadata/labels",
            {"a": 1},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "spec/template/spec/containers/0/env",
            [{"name": "A", "value": True}],
            "json: cannot unmarshal bool into Go struct field "
            "EnvVar.spec.template.spec.containers.env.value of type string",
        ),
        (
            "spec/template/spec/containers",
            {"a": 1},
            "json: cannot unmarshal object into Go struct field "
            "PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            "spec/template/spec/containers/0/resources",
            {"limits": {"cpu": "1x"}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_decoding_errors(path: str, value: Any, text: str) -> None:
    with pytest.raises(StatusError) as caught:
        schema.decode(_resource(DEPLOYMENT), _with(DEPLOYMENT, path, value))
    expected = f'Deployment in version "v1" cannot be handled as a Deployment: {text}'
    assert (caught.value.code, str(caught.value)) == (400, expected)


def test_unknown_fields_without_strictness_become_warnings() -> None:
    made, warnings = schema.decode(_resource(POD), _with(POD, "spec/foo", 1), strict=False)
    assert made == POD
    assert warnings == ('unknown field "spec.foo"',)


def test_patched_objects_have_the_errors_of_the_patch_handler() -> None:
    change = {"spec": {"replicas": "abc"}}
    with pytest.raises(StatusError) as caught:
        schema.decode_patched(_resource(DEPLOYMENT), _with(DEPLOYMENT, "spec/replicas", "abc"), change, True)
    assert caught.value.code == 422
    expected = ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:abc]]": unrecognized type: int32'
    assert str(caught.value) == expected


def test_decoding_drops_nulls_and_makes_quantities_canonical() -> None:
    obj = _with(POD, "spec/containers/0/resources", {"limits": {"cpu": 2, "memory": "1024Mi"}})
    obj = _with(_with(obj, "spec/nodeName", None), "spec/tolerations", [])
    kept = copy.deepcopy(obj)
    made, _ = schema.decode(_resource(POD), obj)
    assert made["spec"] == {
        "containers": [{**CONTAINER, "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]
    }
    assert obj == kept


def test_explain() -> None:
    pods = registry.BUILTIN.find("pods")
    assert pods is not None
    containers = explanation.explain(pods, ("spec", "containers"))
    assert containers.type == "<[]Container>"
    assert {f.name: (f.type, f.required) for f in containers.fields}["name"] == ("<string>", True)
    labels = explanation.explain(pods, ("metadata", "labels"))
    assert (labels.type, labels.fields) == ("<map[string]string>", ())
    with pytest.raises(explanation.UnknownField, match='field "foo" does not exist'):
        explanation.explain(pods, ("spec", "foo"))


# --- defaults ---------------------------------------------------------------------------------------------

EVERYTHING = [
    POD,
    DEPLOYMENT,
    SERVICE,
    _simple("v1", "ConfigMap", data={"a": "b"}),
    _simple("v1", "Secret", data={"a": "Yg=="}),
    _simple(
        "v1",
        "PersistentVolumeClaim",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    ),
    _simple(
        "batch/v1", "Job", spec={"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}
    ),
    _simple(
        "batch/v1",
        "CronJob",
        spec={
            "schedule": "*/5 * * * *",
            "jobTemplate": {
                "spec": {"template": {"spec": {"restartPolicy": "OnFailure", "containers": [CONTAINER]}}}
            },
        },
    ),
    _simple("apps/v1", "StatefulSet", spec={**DEPLOYMENT["spec"], "serviceName": "s"}),
    _simple("apps/v1", "DaemonSet", spec=DEPLOYMENT["spec"]),
    _simple("apps/v1", "ReplicaSet", spec=DEPLOYMENT["spec"]),
    _simple(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d"}},
    ),
    _simple("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1}),
    _simple("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}),
    _simple(
        "networking.k8s.io/v1",
        "Ingress",
        spec={"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
    ),
    _simple(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        roleRef={"kind": "Role", "name": "r"},
        subjects=[{"kind": "User", "name": "u"}],
    ),
    _simple("v1", "ResourceQuota", spec={"hard": {"pods": "3", "limits.cpu": "2"}}),
    _simple("v1", "LimitRange", spec={"limits": [{"type": "Container", "default": {"cpu": "1"}}]}),
    _simple("v1", "Endpoints", subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}]}]),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "s"},
        "provisioner": "p",
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/d"},
        },
    },
]


@pytest.mark.parametrize("obj", EVERYTHING, ids=lambda o: o["kind"])
def test_plain_objects_are_valid_and_defaults_settle(obj: dict[str, Any]) -> None:
    kept = copy.deepcopy(obj)
    stored = _stored(obj)
    assert obj == kept
    assert [str(e) for e in validation.validate_create(_resource(obj), stored)] == []
    resource = _resource(obj)
    assert schema.decode(resource, stored)[0] is stored
    assert defaults.apply_defaults(resource, stored) is stored
    assert validation.validate_update(resource, stored, stored) == []


def test_pod_defaults() -> None:
    obj = _with(POD, "spec/containers/0/resources", {"limits": {"cpu": "1"}})
    obj = _with(obj, "spec/volumes", [{"name": "v", "configMap": {"name": "m"}}, {"name": "w"}])
    obj = _with(obj, "spec/containers/0/livenessProbe", {"httpGet": {"port": 80}})
    spec = _stored(obj)["spec"]
    container = spec["containers"][0]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["resources"]["requests"] == {"cpu": "1"}
    assert container["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert spec["volumes"] == [
        {"name": "v", "configMap": {"name": "m", "defaultMode": 420}},
        {"name": "w", "emptyDir": {}},
    ]
    assert spec["enableServiceLinks"] is True


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
    ],
)
def test_pull_policy(image: str, policy: str) -> None:
    assert defaults.pull_policy(image) == policy


def test_templates_get_no_requests_from_limits() -> None:
    obj = _with(DEPLOYMENT, "spec/template/spec/containers/0/resources", {"limits": {"cpu": "1"}})
    container = _stored(obj)["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"] == {"limits": {"cpu": "1"}}


def test_service_and_deployment_defaults() -> None:
    assert _stored(SERVICE)["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    spec = _stored(DEPLOYMENT)["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
    assert (spec["replicas"], spec["progressDeadlineSeconds"], spec["revisionHistoryLimit"]) == (1, 600, 10)


# --- validation ---------------------------------------------------------------------------------------------

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("obj", "path", "value", "errors"),
    [
        (POD, "metadata/name", "A", [f'metadata.name: Invalid value: "A": {SUBDOMAIN}']),
        (POD, "metadata/name", "", ["metadata.name: Required value: name or generateName is required"]),
        (POD, "spec/containers/0/name", "A", [f'spec.containers[0].name: Invalid value: "A": {LABEL}']),
        (POD, "spec/containers/0/image", "", ["spec.containers[0].image: Required value"]),
        (POD, "spec/containers", [], ["spec.containers: Required value"]),
        (
            POD,
            "spec/containers/1",
            CONTAINER,
            ['spec.containers[1].name: Duplicate value: "c"'],
        ),
        (
            POD,
            "spec/containers/0/volumeMounts",
            [{"name": "v", "mountPath": "/v"}],
            ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
        ),
        (
            POD,
            "spec/containers/0/resources",
            {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
            [
                'spec.containers[0].resources.requests: Invalid value: "2": '
                "must be less than or equal to cpu limit of 1"
            ],
        ),
        (
            POD,
            "spec/containers/0/ports",
            [{"containerPort": 70000}],
            [
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: "
                "must be between 1 and 65535, inclusive"
            ],
        ),
        (
            POD,
            "spec/containers/0/readinessProbe",
            {"periodSeconds": 5},
            ["spec.containers[0].readinessProbe: Required value: must specify a handler type"],
        ),
        (
            POD,
            "spec/restartPolicy",
            "Sometimes",
            [
                'spec.restartPolicy: Unsupported value: "Sometimes": '
                'supported values: "Always", "OnFailure", "Never"'
            ],
        ),
        (
            DEPLOYMENT,
            "spec/replicas",
            -1,
            ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            DEPLOYMENT,
            "spec/template/metadata/labels",
            {"app": "b"},
            [
                'spec.template.metadata.labels: Invalid value: map[string]string{"app":"b"}: '
                "`selector` does not match template `labels`"
            ],
        ),
        (
            DEPLOYMENT,
            "spec/template/spec/restartPolicy",
            "Never",
            ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
        ),
        (
            DEPLOYMENT,
            "spec/strategy",
            {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}},
            [
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
                'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0'
            ],
        ),
        (SERVICE, "spec/ports", [], ["spec.ports: Required value"]),
        (
            SERVICE,
            "spec/ports/1",
            {"port": 81},
            ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
        ),
        (
            SERVICE,
            "spec/type",
            "Foo",
            [
                'spec.type: Unsupported value: "Foo": supported values: '
                '"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
            ],
        ),
        (
            EVERYTHING[7],
            "spec/schedule",
            "* * * *",
            ['spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'],
        ),
        (
            EVERYTHING[7],
            "spec/schedule",
            "61 * * * *",
            ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
        ),
        (
            EVERYTHING[6],
            "spec/template/spec/restartPolicy",
            "Always",
            ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
        ),
    ],
)
def test_complaints(obj: dict[str, Any], path: str, value: Any, errors: list[str]) -> None:
    assert _complaints(_with(obj, path, value)) == errors


def _update(obj: dict[str, Any], path: str, value: Any) -> list[str]:
    old = _stored(obj)
    new = _stored(_with(old, path, value))
    return [str(e) for e in validation.validate_update(_resource(obj), new, old)]


def test_allowed_updates() -> None:
    assert _update(POD, "spec/containers/0/image", "other:2") == []
    assert _update(DEPLOYMENT, "spec/replicas", 5) == []
    assert _update(DEPLOYMENT, "metadata/labels", {"a": "b"}) == []
    assert _update(SERVICE, "spec/ports/0/targetPort", 9999) == []


def test_forbidden_updates() -> None:
    (pod,) = _update(POD, "spec/hostname", "other")
    assert pod.startswith(
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    )
    changed = {"matchLabels": {"app": "b"}}
    assert (
        'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"b"}, '
        "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable"
    ) in _update(DEPLOYMENT, "spec/selector", changed)
    (stateful,) = _update(EVERYTHING[8], "spec/serviceName", "other")
    assert stateful.startswith(
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
    )
    assert _update(EVERYTHING[4], "type", "kubernetes.io/tls")[-1] == (
        'type: Invalid value: "kubernetes.io/tls": field is immutable'
    )
    (claim,) = _update(EVERYTHING[5], "spec/resources/requests/storage", "2Gi")
    assert claim.startswith("spec: Forbidden: spec is immutable after creation except resources.requests")
    service = _with(SERVICE, "spec/clusterIP", "10.0.0.1")
    assert _update(service, "spec/clusterIP", "10.0.0.2") == [
        'spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set'
    ]


def test_a_webhook_needs_side_effects_and_a_client() -> None:
    lease = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "w"},
        "webhooks": [{"name": "a.b.c", "clientConfig": {}, "admissionReviewVersions": ["v1"]}],
    }
    assert _complaints(lease) == [
        "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
    ]


def test_stateful_sets_mount_volumes_of_their_claims() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    obj = _with(EVERYTHING[8], "spec/volumeClaimTemplates", [claim])
    mount = [{"name": "data", "mountPath": "/data"}]
    assert _complaints(_with(obj, "spec/template/spec/containers/0/volumeMounts", mount)) == []
