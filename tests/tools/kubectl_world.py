"""A small cluster in memory for the kubectl tests: fixed objects whose ages are told from a given time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import rfc3339, rfc3339_micro
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.status import not_found
from sregym_env.kube.types import Manifest

NS = "shop"
MINUTE = 60
HOUR = 3600
DAY = 86400


def objects(now: int) -> list[Manifest]:
    """Objects of many kinds, as a real cluster would hold them."""

    def ago(seconds: int) -> str:
        return rfc3339(now - seconds * 1_000_000)

    def micro(seconds: int) -> str:
        return rfc3339_micro(now - seconds * 1_000_000)

    def meta(name: str, ns: str | None = NS, **more: Any) -> Manifest:
        out = {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "10",
            "creationTimestamp": ago(5 * HOUR + 10 * MINUTE),
        }
        if ns:
            out["namespace"] = ns
        return {**out, **more}

    def owner(kind: str, name: str, api: str = "apps/v1") -> list[Manifest]:
        return [
            {
                "apiVersion": api,
                "kind": kind,
                "name": name,
                "uid": f"uid-{name}",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]

    def probe(**more: Any) -> Manifest:
        return {
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
            **more,
        }

    container = {
        "name": "app",
        "image": "shop/app:1.2",
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/app", "--flag=x"],
        "args": ["serve\nnow"],
        "ports": [
            {"name": "http", "containerPort": 8080, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9090, "protocol": "TCP"},
        ],
        "env": [
            {"name": "MODE", "value": "prod"},
            {"name": "EMPTY"},
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
            {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
            {"name": "CFG", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "a", "optional": True}}},
            {
                "name": "MEM",
                "valueFrom": {
                    "resourceFieldRef": {"containerName": "app", "resource": "limits.memory", "divisor": "0"}
                },
            },
        ],
        "envFrom": [{"configMapRef": {"name": "cfg"}}, {"prefix": "P_", "secretRef": {"name": "db"}}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "100m", "memory": "128Mi"},
        },
        "livenessProbe": probe(httpGet={"path": "/healthz", "port": "http", "scheme": "HTTP"}),
        "readinessProbe": probe(grpc={"port": 8080, "service": ""}, initialDelaySeconds=5),
        "startupProbe": probe(exec={"command": ["cat", "/tmp/ok"]}),
        "volumeMounts": [
            {"name": "data", "mountPath": "/var/data"},
            {"name": "cfg", "mountPath": "/etc/cfg", "readOnly": True, "subPath": "a"},
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    sidecar = {
        "name": "proxy",
        "image": "envoy:1",
        "resources": {},
        "ports": [{"containerPort": 15001, "protocol": "TCP"}],
        "readinessProbe": probe(tcpSocket={"port": 15001}),
    }
    init = {"name": "init", "image": "busybox", "command": ["sh", "-c", "true"], "resources": {}}
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web"}},
        {"name": "cfg", "configMap": {"name": "cfg", "defaultMode": 420}},
        {"name": "sec", "secret": {"secretName": "db", "optional": True}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "mem", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
        {"name": "host", "hostPath": {"path": "/var/run", "type": ""}},
        {
            "name": "kube-api-access-abcde",
            "projected": {
                "defaultMode": 420,
                "sources": [
                    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                    {
                        "configMap": {
                            "name": "kube-root-ca.crt",
                            "items": [{"key": "ca.crt", "path": "ca.crt"}],
                        }
                    },
                    {
                        "downwardAPI": {
                            "items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
                        }
                    },
                ],
            },
        },
    ]
    pod_spec = {
        "containers": [container, sidecar],
        "initContainers": [init],
        "volumes": volumes,
        "restartPolicy": "Always",
        "serviceAccountName": "web",
        "nodeSelector": {"disk": "ssd"},
        "priority": 0,
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
            {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        ],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ],
    }
    template = {"metadata": {"labels": {"app": "web"}, "annotations": {"a/b": "c"}}, "spec": pod_spec}
    rs_template = {
        "metadata": {"labels": {"app": "web", "pod-template-hash": "5d4f"}, "annotations": {"a/b": "c"}},
        "spec": pod_spec,
    }

    def state(ready: bool, restarts: int, **more: Any) -> Manifest:
        return {
            "name": "app",
            "image": "shop/app:1.2",
            "imageID": "shop/app@sha256:1",
            "containerID": "containerd://1",
            "ready": ready,
            "started": ready,
            "restartCount": restarts,
            **more,
        }

    running = {"running": {"startedAt": ago(5 * HOUR)}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(
            "web-5d4f-abcde",
            labels={"app": "web", "pod-template-hash": "5d4f"},
            annotations={"long": "x" * 200, "multi": "a\nb\n", "z": "1"},
            ownerReferences=owner("ReplicaSet", "web-5d4f"),
        ),
        "spec": {**pod_spec, "nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "hostIP": "10.0.0.1",
            "podIP": "10.244.1.5",
            "podIPs": [{"ip": "10.244.1.5"}],
            "startTime": ago(5 * HOUR),
            "qosClass": "Burstable",
            "conditions": [
                {"type": "Initialized", "status": "True"},
                {"type": "Ready", "status": "False"},
                {"type": "PodScheduled", "status": "True"},
            ],
            "initContainerStatuses": [
                {
                    "name": "init",
                    "image": "busybox",
                    "imageID": "",
                    "ready": True,
                    "restartCount": 0,
                    "state": {
                        "terminated": {
                            "exitCode": 0,
                            "reason": "Completed",
                            "startedAt": ago(5 * HOUR),
                            "finishedAt": ago(5 * HOUR),
                        }
                    },
                }
            ],
            "containerStatuses": [
                state(
                    False,
                    7,
                    state={
                        "waiting": {
                            "reason": "CrashLoopBackOff",
                            "message": "back-off 5m0s restarting failed container=app",
                        }
                    },
                    lastState={
                        "terminated": {
                            "exitCode": 137,
                            "reason": "OOMKilled",
                            "startedAt": ago(20 * MINUTE),
                            "finishedAt": ago(15 * MINUTE),
                        }
                    },
                ),
                {**state(True, 0, state=running), "name": "proxy", "image": "envoy:1"},
            ],
        },
    }
    pending = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta("lonely"),
        "spec": {"containers": [{"name": "c", "image": "nginx", "resources": {}}]},
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }
    done = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta("job-x1", labels={"job": "x"}, ownerReferences=owner("Job", "nightly", "batch/v1")),
        "spec": {"containers": [{"name": "c", "image": "nginx", "resources": {}}], "nodeName": "node-1"},
        "status": {
            "phase": "Succeeded",
            "containerStatuses": [
                {
                    **state(False, 0, state={"terminated": {"exitCode": 0, "reason": "Completed"}}),
                    "name": "c",
                }
            ],
        },
    }
    selector = {"matchLabels": {"app": "web"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta(
            "web", labels={"app": "web"}, annotations={"deployment.kubernetes.io/revision": "2"}
        ),
        "spec": {
            "replicas": 1,
            "selector": selector,
            "template": template,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 1}},
        },
        "status": {
            "replicas": 1,
            "updatedReplicas": 1,
            "unavailableReplicas": 1,
            "observedGeneration": 1,
            "conditions": [
                {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
                {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"},
            ],
        },
    }
    rs = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta(
            "web-5d4f",
            labels={"app": "web", "pod-template-hash": "5d4f"},
            annotations={"deployment.kubernetes.io/revision": "2"},
            ownerReferences=owner("Deployment", "web"),
        ),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web", "pod-template-hash": "5d4f"}},
            "template": rs_template,
        },
        "status": {"replicas": 1},
    }
    old_template = {
        "metadata": {"labels": {"app": "web", "pod-template-hash": "6666"}},
        "spec": {"containers": [{"name": "app", "image": "old", "resources": {}}]},
    }
    old_rs = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta(
            "web-6666",
            labels={"app": "web", "pod-template-hash": "6666"},
            ownerReferences=owner("Deployment", "web"),
        ),
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web", "pod-template-hash": "6666"}},
            "template": old_template,
        },
        "status": {"replicas": 0},
    }
    small = {
        "metadata": {"labels": {"app": "db"}},
        "spec": {"containers": [{"name": "db", "image": "mongo:4", "resources": {}}]},
    }
    sts = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta("db"),
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "db"}},
            "serviceName": "db",
            "template": small,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "fast",
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
            ],
        },
        "status": {"replicas": 2, "readyReplicas": 1},
    }
    ds = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": meta("agent"),
        "spec": {"selector": {"matchLabels": {"app": "db"}}, "template": small},
        "status": {
            "desiredNumberScheduled": 3,
            "currentNumberScheduled": 3,
            "numberReady": 2,
            "updatedNumberScheduled": 3,
            "numberAvailable": 2,
            "numberMisscheduled": 0,
        },
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta("nightly", ownerReferences=owner("CronJob", "cron", "batch/v1")),
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "completionMode": "NonIndexed",
            "suspend": False,
            "backoffLimit": 6,
            "activeDeadlineSeconds": 600,
            "selector": {"matchLabels": {"job": "x"}},
            "template": {
                "metadata": {"labels": {"job": "x"}},
                "spec": {"containers": [{"name": "c", "image": "b", "resources": {}}]},
            },
        },
        "status": {
            "succeeded": 1,
            "ready": 0,
            "startTime": ago(4 * HOUR),
            "completionTime": ago(4 * HOUR - 95),
            "conditions": [{"type": "Complete", "status": "True"}],
        },
    }
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": meta("cron"),
        "spec": {
            "schedule": "*/5 * * * *",
            "concurrencyPolicy": "Forbid",
            "suspend": False,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {
                "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "b", "resources": {}}]}}}
            },
        },
        "status": {"lastScheduleTime": ago(12 * MINUTE), "active": [{"name": "cron-1"}]},
    }
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": meta("web"),
        "spec": {
            "minReplicas": 1,
            "maxReplicas": 5,
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                },
                {
                    "type": "Resource",
                    "resource": {
                        "name": "memory",
                        "target": {"type": "Utilization", "averageUtilization": 70},
                    },
                },
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "rps"},
                        "target": {"type": "AverageValue", "averageValue": "100"},
                    },
                },
            ],
        },
        "status": {
            "currentReplicas": 1,
            "desiredReplicas": 1,
            "currentMetrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "current": {"averageUtilization": 12, "averageValue": "12m"}},
                }
            ],
            "conditions": [
                {
                    "type": "AbleToScale",
                    "status": "True",
                    "reason": "ReadyForNewScale",
                    "message": "recommended size matches current size",
                }
            ],
        },
    }
    pdb = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta("web"),
        "spec": {"minAvailable": 1, "selector": selector},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1, "expectedPods": 1},
    }
    svc = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta("web", labels={"app": "web"}),
        "spec": {
            "type": "NodePort",
            "clusterIP": "10.96.0.10",
            "clusterIPs": ["10.96.0.10"],
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
            "externalTrafficPolicy": "Cluster",
            "selector": {"app": "web"},
            "sessionAffinity": "None",
            "ports": [
                {"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP", "nodePort": 30080},
                {"name": "metrics", "port": 9090, "targetPort": 9090, "protocol": "TCP", "nodePort": 30090},
            ],
        },
        "status": {"loadBalancer": {}},
    }
    headless = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta("db"),
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "clusterIPs": ["None"],
            "selector": {"app": "db"},
            "sessionAffinity": "None",
            "ports": [{"port": 27017, "targetPort": 27017, "protocol": "TCP"}],
        },
        "status": {"loadBalancer": {}},
    }
    eps = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta("web-xyz", labels={"kubernetes.io/service-name": "web"}),
        "addressType": "IPv4",
        "ports": [
            {"name": "http", "port": 8080, "protocol": "TCP"},
            {"name": "metrics", "port": 9090, "protocol": "TCP"},
        ],
        "endpoints": [
            {
                "addresses": [f"10.244.1.{i}"],
                "conditions": {"ready": i != 9},
                "nodeName": "node-1",
                "targetRef": {"kind": "Pod", "name": f"web-{i}", "namespace": NS},
            }
            for i in range(5, 10)
        ],
    }
    ep = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": meta("web"),
        "subsets": [
            {
                "addresses": [{"ip": "10.244.1.5"}],
                "notReadyAddresses": [{"ip": "10.244.1.6"}],
                "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
            }
        ],
    }
    ing = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": meta("web"),
        "spec": {
            "ingressClassName": "nginx",
            "tls": [{"hosts": ["a.example"], "secretName": "tls"}],
            "rules": [
                {
                    "host": "a.example",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "web", "port": {"number": 80}}},
                            },
                            {
                                "path": "/x",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "nope", "port": {"name": "y"}}},
                            },
                        ]
                    },
                }
            ],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
    }
    netpol = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta("np"),
        "spec": {
            "podSelector": {"matchLabels": {"app": "web"}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {
                    "from": [
                        {"podSelector": {"matchLabels": {"a": "b"}}},
                        {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}},
                    ],
                    "ports": [{"port": 80, "protocol": "TCP"}],
                },
                {"from": [{"namespaceSelector": {}}]},
            ],
        },
    }
    deny = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta("deny"),
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta("node-1", None, labels={"node-role.kubernetes.io/control-plane": "", "zone": "a"}),
        "spec": {
            "podCIDR": "10.244.1.0/24",
            "podCIDRs": ["10.244.1.0/24"],
            "unschedulable": True,
            "taints": [
                {"key": "k", "value": "v", "effect": "NoSchedule"},
                {"key": "a", "effect": "NoExecute"},
            ],
        },
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": "10.0.0.1"},
                {"type": "Hostname", "address": "node-1"},
            ],
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"},
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "lastHeartbeatTime": ago(MINUTE),
                    "lastTransitionTime": ago(DAY),
                    "reason": "KubeletReady",
                    "message": "kubelet is posting ready status",
                }
            ],
            "nodeInfo": {
                "kubeletVersion": "v1.32.2",
                "osImage": "Debian",
                "kernelVersion": "6.1",
                "containerRuntimeVersion": "containerd://1.7",
                "operatingSystem": "linux",
                "architecture": "amd64",
                "machineID": "m",
                "systemUUID": "s",
                "bootID": "b",
                "kubeProxyVersion": "v1.32.2",
            },
        },
    }
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": meta("node-1", "kube-node-lease"),
        "spec": {"holderIdentity": "node-1", "renewTime": micro(10), "leaseDurationSeconds": 40},
    }
    namespaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": meta(name, None, labels={"kubernetes.io/metadata.name": name}),
            "spec": {},
            "status": {"phase": "Active"},
        }
        for name in ("default", NS, "kube-system")
    ]
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": meta("q"),
        "spec": {"hard": {"pods": "10"}},
        "status": {
            "hard": {"pods": "10", "limits.cpu": "2", "requests.memory": "1Gi"},
            "used": {"pods": "3", "limits.cpu": "500m", "requests.memory": "128Mi"},
        },
    }
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": meta("lr"),
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "default": {"cpu": "500m"},
                    "defaultRequest": {"cpu": "100m"},
                    "max": {"cpu": "1", "memory": "1Gi"},
                }
            ]
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta("data-web", finalizers=["kubernetes.io/pvc-protection"]),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "volumeName": "pv-1",
            "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}},
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta("pv-1", None, finalizers=["kubernetes.io/pv-protection"]),
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "fast",
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": NS, "name": "data-web"},
            "local": {"path": "/var/openebs"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}
                            ]
                        }
                    ]
                }
            },
        },
        "status": {"phase": "Bound"},
    }
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": meta("fast", None, annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
        "provisioner": "openebs.io/local",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
        "parameters": {"a": "b"},
    }
    cm = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta("cfg"),
        "data": {"a": "1", "conf.yaml": "x: 1\ny: 2\n"},
    }
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": meta("db"),
        "type": "Opaque",
        "data": {"password": "aHVudGVyMg==", "user": "YQ=="},
    }
    sa = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": meta("web"),
        "imagePullSecrets": [{"name": "reg"}],
    }
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": meta("reader"),
        "rules": [
            {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
            {
                "apiGroups": ["apps"],
                "resources": ["deployments"],
                "resourceNames": ["web"],
                "verbs": ["patch"],
            },
        ],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": meta("reader"),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "web", "namespace": NS},
            {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"},
        ],
    }
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": meta("high", None),
        "value": 1000,
        "description": "important",
        "preemptionPolicy": "PreemptLowerPriority",
    }
    webhook = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": meta("hook", None),
        "webhooks": [
            {
                "name": "a.example.com",
                "clientConfig": {"service": {"name": "web", "namespace": NS, "port": 443}},
                "rules": [{"apiGroups": ["*"], "operations": ["CREATE"], "resources": ["pods"]}],
                "failurePolicy": "Fail",
                "timeoutSeconds": 10,
            }
        ],
    }

    def event(name: str, kind: str, obj: str, reason: str, message: str, **more: Any) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": meta(name),
            "involvedObject": {
                "kind": kind,
                "name": obj,
                "namespace": NS,
                "uid": f"uid-{obj}",
                "apiVersion": "v1",
            },
            "reason": reason,
            "message": message,
            "type": "Normal",
            "source": {"component": "kubelet", "host": "node-1"},
            "reportingComponent": "kubelet",
            "reportingInstance": "node-1",
            "eventTime": None,
            **more,
        }

    name = "web-5d4f-abcde"
    events = [
        event(
            "e1",
            "Pod",
            name,
            "Pulled",
            'Container image "shop/app:1.2" already present on machine',
            firstTimestamp=ago(5 * HOUR),
            lastTimestamp=ago(5 * HOUR),
            count=1,
        ),
        event(
            "e2",
            "Pod",
            name,
            "BackOff",
            "Back-off restarting failed container app",
            type="Warning",
            firstTimestamp=ago(4 * HOUR),
            lastTimestamp=ago(13 * MINUTE),
            count=55,
        ),
        event(
            "e3",
            "Pod",
            name,
            "Scheduled",
            f"Successfully assigned {NS}/{name} to node-1",
            source={},
            reportingComponent="default-scheduler",
            reportingInstance="s",
            eventTime=micro(5 * HOUR + 300),
            firstTimestamp=None,
            lastTimestamp=None,
        ),
    ]
    metrics = [
        {
            "apiVersion": "metrics.k8s.io/v1beta1",
            "kind": "PodMetrics",
            "metadata": meta(name, labels={"app": "web"}),
            "timestamp": ago(10),
            "window": "15s",
            "containers": [
                {"name": "app", "usage": {"cpu": "12345678n", "memory": "131072Ki"}},
                {"name": "proxy", "usage": {"cpu": "3m", "memory": "20Mi"}},
            ],
        },
        {
            "apiVersion": "metrics.k8s.io/v1beta1",
            "kind": "NodeMetrics",
            "metadata": meta("node-1", None),
            "timestamp": ago(10),
            "window": "15s",
            "usage": {"cpu": "1", "memory": "2Gi"},
        },
    ]
    return [
        pod, pending, done, deployment, rs, old_rs, sts, ds, job, cron, hpa, pdb, svc, headless, eps, ep, ing,
        netpol, deny, node, lease, *namespaces, quota, limits, claim, volume, storage_class, cm, secret, sa, role,
        binding, priority, webhook, *events, *metrics,
    ]  # fmt: skip


def _field(obj: Manifest, path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = (value or {}).get(part)
    return "" if value is None else str(value)


class FakeCluster:
    """The read half of the Cluster protocol over a list of objects."""

    registry = BUILTIN

    def __init__(self, stored: Sequence[Manifest], now: int, user: User = ADMIN) -> None:
        self._now = now
        self.user = user
        self.store: dict[str, list[Manifest]] = {}
        for obj in stored:
            resource = BUILTIN.by_kind(obj["apiVersion"], obj["kind"])
            assert resource is not None, obj["kind"]
            self.store.setdefault(resource.key, []).append(obj)
        for items in self.store.values():
            items.sort(key=lambda o: (o["metadata"].get("namespace", ""), o["metadata"]["name"]))
        self.log_calls: list[dict[str, Any]] = []
        self.denied: set[str] = set()

    def warnings(self) -> tuple[str, ...]:
        return ()

    def head(self, resource: str) -> str:
        return "1000"

    def delay(self, limit: float = 0.0) -> float:
        return 0.0

    def as_user(self, user: User) -> FakeCluster:
        other = FakeCluster([], self._now, user)
        other.store = self.store
        return other

    def get(self, resource: str, name: str, namespace: str | None = None) -> Manifest:
        for obj in self.store.get(resource, ()):
            if obj["metadata"]["name"] == name and obj["metadata"].get("namespace") == namespace:
                return obj
        raise not_found(resource, name)

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> list[Manifest]:
        found = [
            o for o in self.store.get(resource, ()) if namespace in (None, o["metadata"].get("namespace"))
        ]
        for term in filter(None, label_selector.split(",")):
            key, _, value = term.replace("==", "=").partition("=")
            found = [o for o in found if (o["metadata"].get("labels") or {}).get(key) == value]
        for term in filter(None, field_selector.split(",")):
            if "!=" in term:
                path, _, value = term.partition("!=")
                found = [o for o in found if _field(o, path) != value]
            else:
                path, _, value = term.replace("==", "=").partition("=")
                found = [o for o in found if _field(o, path) == value]
        return found

    def logs(self, namespace: str, pod: str, **options: Any) -> str:
        self.log_calls.append({"namespace": namespace, "pod": pod, **options})
        return f"log of {options['container']}\n"

    def exec(
        self,
        namespace: str,
        pod: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        stdin: str = "",
        limit: float = 0.0,
    ) -> ExecResult:
        if command[0] == "false":
            return ExecResult("", "bad\n", 3)
        return ExecResult(f"{container}:{' '.join(command)}:{stdin}\n")

    def review_access(
        self, verb: str, resource: str, namespace: str | None = None, name: str = "", subresource: str = ""
    ) -> bool:
        return verb not in self.denied

    def version(self) -> Mapping[str, str]:
        return {"major": "1", "minor": "32", "gitVersion": "v1.32.2"}

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += int(seconds * 1_000_000)
