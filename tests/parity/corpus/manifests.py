"""The manifests that command lines of the corpus name, as files of the working directory."""

from __future__ import annotations

MANIFESTS = {
    "web.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: busybox:1.36
        command: [sleep, "3600"]
        resources:
          requests: {cpu: 10m, memory: 16Mi}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
""",
    "bad.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec:
  replicaz: 2
  selector: {matchLabels: {app: bad}}
  template:
    metadata: {labels: {app: bad}}
    spec:
      containers: [{name: c, image: nginx}]
""",
    "mismatch.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec:
  selector: {matchLabels: {app: bad}}
  template:
    metadata: {labels: {app: other}}
    spec:
      containers: [{name: c, image: nginx}]
""",
    "unknown.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n",
    "config.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", b: two}
""",
    "patch.yaml": "spec:\n  replicas: 3\n",
    "quota.yaml": """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: limited}
spec:
  hard: {pods: "30", requests.memory: 4Gi}
""",
    "slow.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: slow, labels: {app: slow}}
spec:
  progressDeadlineSeconds: 60
  minReadySeconds: 3
  replicas: 3
  selector: {matchLabels: {app: slow}}
  template:
    metadata: {labels: {app: slow}}
    spec:
      containers:
      - name: slow
        image: busybox:1.36
        command: [sleep, "36000"]
        readinessProbe: {exec: {command: ["true"]}, initialDelaySeconds: 15, periodSeconds: 5}
""",
    "guarded.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: guarded, labels: {app: guarded}}
spec:
  replicas: 3
  selector: {matchLabels: {app: guarded}}
  template:
    metadata: {labels: {app: guarded}}
    spec:
      containers:
      - name: guarded
        image: busybox:1.36
        command: [sleep, "36000"]
""",
    "stubborn.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: stubborn}
spec:
  terminationGracePeriodSeconds: 60
  containers: [{name: main, image: busybox:1.36, command: [sleep, "36000"]}]
""",
    "held.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
data: {a: b}
""",
    "jobs.yaml": """\
apiVersion: batch/v1
kind: Job
metadata: {name: done}
spec:
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox:1.36, command: [echo, hello]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: failing}
spec:
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox:1.36, command: [sh, -c, "echo no; exit 3"]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: running}
spec:
  parallelism: 2
  completions: 4
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers: [{name: main, image: busybox:1.36, command: [date]}]
""",
    "claims.yaml": """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: nowhere}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: nonexistent
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: waiting}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: claimant}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: nowhere}}]
""",
    "crashing.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sh, -c, "echo starting; exit 1"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: mixed}
spec:
  containers:
  - {name: good, image: busybox:1.36, command: [sleep, "3600"]}
  - {name: bad, image: busybox:1.36, command: [sh, -c, "echo failed >&2; exit 2"]}
""",
    "hungry.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: hungry}
spec:
  containers:
  - {name: main, image: polinux/stress, command: [stress, --vm, "1", --vm-bytes, 250M], resources: {limits: {memory: 100Mi}}}
""",
    "unready.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: unready, labels: {app: unready}}
spec:
  containers:
  - name: main
    image: nginx:1.27
    ports: [{containerPort: 80, name: http}]
    readinessProbe: {httpGet: {path: /, port: 8081}, periodSeconds: 5}
    livenessProbe: {httpGet: {path: /nothing, port: http}, periodSeconds: 5, failureThreshold: 2}
    startupProbe: {tcpSocket: {port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: unready}
spec:
  selector: {app: unready}
  ports: [{port: 80, targetPort: http}]
""",
    "missing.refs.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: nokey, labels: {missing: "1"}}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], env: [{name: A, valueFrom: {configMapKeyRef: {name: kube-root-ca.crt, key: nothing}}}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: nomap, labels: {missing: "1"}}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], envFrom: [{configMapRef: {name: nothing}}, {secretRef: {name: other, optional: true}, prefix: X_}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: nosecret, labels: {missing: "1"}}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], volumeMounts: [{name: s, mountPath: /s, readOnly: true}]}]
  volumes: [{name: s, secret: {secretName: nothing}}]
---
apiVersion: v1
kind: Pod
metadata: {name: nobinary, labels: {missing: "1"}}
spec:
  containers: [{name: main, image: busybox:1.36, command: [nonsense]}]
""",
    "init.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: initfail, labels: {init: "1"}}
spec:
  initContainers: [{name: first, image: busybox:1.36, command: [sh, -c, "echo not yet; exit 1"]}]
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: initslow, labels: {init: "1"}}
spec:
  initContainers:
  - {name: first, image: busybox:1.36, command: [sleep, "1000"]}
  - {name: second, image: busybox:1.36, command: ["true"]}
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: sidecar, labels: {init: "1"}}
spec:
  initContainers: [{name: side, image: busybox:1.36, restartPolicy: Always, command: [sleep, "3600"]}]
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
""",
    "unschedulable.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: toobig, labels: {unschedulable: "1"}}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], resources: {requests: {cpu: "500"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: choosy, labels: {unschedulable: "1"}}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: affine, labels: {unschedulable: "1"}}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [nowhere]}]}]
  tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {operator: Exists, key: b}]
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: named, labels: {unschedulable: "1"}}
spec:
  nodeName: nowhere
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]
""",
    "limits.yaml": """\
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec:
  limits:
  - {type: Container, default: {cpu: 500m, memory: 128Mi}, defaultRequest: {cpu: 10m, memory: 32Mi}, max: {cpu: "2"}, min: {memory: 8Mi}}
  - {type: Pod, max: {memory: 1Gi}}
  - {type: PersistentVolumeClaim, max: {storage: 10Gi}, min: {storage: 1Gi}}
""",
    "greedy.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: greedy}
spec:
  containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"], resources: {limits: {cpu: "3", memory: 2Gi}}}]
""",
    "stateful.yaml": """\
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432, name: pg}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {note: a}}
    spec:
      containers:
      - name: db
        image: busybox:1.36
        command: [sleep, "36000"]
        ports: [{containerPort: 5432, name: pg}]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
""",
    "daemon.yaml": """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      containers:
      - name: agent
        image: busybox:1.36
        command: [sleep, "36000"]
        env:
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
        - {name: WORD, valueFrom: {secretKeyRef: {name: words, key: word, optional: true}}}
        volumeMounts: [{name: root, mountPath: /host, readOnly: true}]
      volumes: [{name: root, hostPath: {path: /, type: Directory}}]
""",
    "node.patch.yaml": """\
spec: {unschedulable: true}
""",
    "template.txt": """\
{{range .items}}{{.metadata.name}} {{.status.phase}}{{"\\n"}}{{end}}""",
    "path.txt": """\
{range .items[*]}{.metadata.name}{"\\n"}{end}""",
    "columns.txt": """\
NAME          IP
metadata.name status.podIP
""",
    "env.txt": """\
A=b
# a comment
C=d e

""",
    "patch.json": """\
[{"op": "replace", "path": "/spec/replicas", "value": 2}]
""",
    "config.json": """\
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
""",
    "list.yaml": """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: "2"}}
""",
    "broken.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: x
 data: y
""",
    "nokind.yaml": """\
apiVersion: v1
metadata: {name: x}
""",
    "folder/a.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
""",
    "folder/b.json": """\
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}""",
    "folder/notes.txt": """\
not a manifest
""",
    "rbac.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: default}]
""",
    "generate.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {generateName: gen-}
data: {a: "1"}
""",
    "kinds.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: sample, labels: {a: b, c: d}, annotations: {note: "hello\\nworld"}}
data: {text: "line one\\nline two\\n", empty: "", flag: "true"}
binaryData: {raw: AAEC}
immutable: true
---
apiVersion: v1
kind: Secret
metadata: {name: sample}
type: Opaque
data: {password: c2VjcmV0, user: YWRtaW4=}
---
apiVersion: v1
kind: Secret
metadata: {name: tls-sample}
type: kubernetes.io/tls
data: {tls.crt: Y2VydA==, tls.key: a2V5}
---
apiVersion: v1
kind: Secret
metadata: {name: docker-sample}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths":{}}'}
---
apiVersion: v1
kind: Service
metadata: {name: external}
spec: {type: ExternalName, externalName: example.com}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {app: nothing}, ports: [{port: 80}], publishNotReadyAddresses: true}
---
apiVersion: v1
kind: Service
metadata: {name: balanced, annotations: {a: b}}
spec:
  type: LoadBalancer
  loadBalancerSourceRanges: [10.0.0.0/8]
  selector: {app: nothing}
  ports: [{name: http, port: 80, targetPort: web}, {name: dns, port: 53, protocol: UDP}]
  externalTrafficPolicy: Local
  healthCheckNodePort: 31999
---
apiVersion: v1
kind: Service
metadata: {name: node}
spec: {type: NodePort, selector: {io.kompose.service: geo}, ports: [{port: 8083, nodePort: 30123, appProtocol: http}], externalIPs: [10.1.2.3]}
---
apiVersion: v1
kind: Service
metadata: {name: affine}
spec: {sessionAffinity: ClientIP, selector: {io.kompose.service: geo}, ports: [{port: 8083}], internalTrafficPolicy: Local}
---
apiVersion: v1
kind: Service
metadata: {name: manual}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: manual}
subsets:
- addresses: [{ip: 10.9.8.7}, {ip: 10.9.8.6, nodeName: sre-worker}]
  notReadyAddresses: [{ip: 10.9.8.5}]
  ports: [{port: 80, name: http}, {port: 81, name: other, protocol: UDP}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: manual-1, labels: {kubernetes.io/service-name: manual}}
addressType: IPv4
ports: [{name: http, port: 80, protocol: TCP}]
endpoints:
- {addresses: [10.9.8.7], conditions: {ready: true}, hostname: x, nodeName: sre-worker, zone: a}
- {addresses: [10.9.8.6], conditions: {ready: false}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: sample, annotations: {a: b}}
spec:
  ingressClassName: sample
  tls: [{hosts: [example.com], secretName: tls-sample}]
  rules:
  - host: example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: frontend, port: {number: 5000}}}}
      - {path: /x, pathType: Exact, backend: {service: {name: nothing, port: {name: http}}}}
  - http: {paths: [{pathType: ImplementationSpecific, backend: {resource: {apiGroup: v1, kind: Bucket, name: b}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: backend}
spec:
  defaultBackend: {service: {name: frontend, port: {number: 5000}}}
  tls: [{secretName: tls-sample}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: sample}
spec:
  podSelector: {matchLabels: {app: none}, matchExpressions: [{key: tier, operator: In, values: [a, b]}]}
  policyTypes: [Ingress, Egress]
  ingress:
  - from: [{podSelector: {matchLabels: {a: b}}, namespaceSelector: {}}, {ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]
    ports: [{port: 80}, {port: 8000, endPort: 9000, protocol: UDP}]
  - {}
  egress: [{to: [{namespaceSelector: {matchLabels: {x: "y"}}}]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec: {podSelector: {matchLabels: {app: none}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: sample}
spec: {minAvailable: 50%, selector: {matchLabels: {io.kompose.service: geo}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: sample}
spec:
  hard: {pods: "100"}
  scopes: [NotTerminating]
---
apiVersion: v1
kind: LimitRange
metadata: {name: sample}
spec: {limits: [{type: Container, max: {cpu: "8"}, maxLimitRequestRatio: {cpu: "20"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: sample}
rules:
- {apiGroups: ["", apps], resources: [pods, deployments], verbs: [get, list]}
- {apiGroups: [""], resources: [secrets], resourceNames: [a, b], verbs: ["*"]}
- {apiGroups: ["*"], resources: [pods/exec], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: sample}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: sample}
subjects: [{kind: User, name: jane}, {kind: Group, name: devs}, {kind: ServiceAccount, name: default, namespace: default}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sample, annotations: {a: b}}
secrets: [{name: sample}]
imagePullSecrets: [{name: docker-sample}, {name: missing}]
automountServiceAccountToken: false
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: sample}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: nothing}
  minReplicas: 1
  maxReplicas: 4
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 100Mi}}}
  - {type: Pods, pods: {metric: {name: packets}, target: {type: AverageValue, averageValue: 1k}}}
  - {type: Object, object: {metric: {name: rps}, describedObject: {apiVersion: v1, kind: Service, name: frontend}, target: {type: Value, value: 2k}}}
  - {type: External, external: {metric: {name: queue, selector: {matchLabels: {q: a}}}, target: {type: AverageValue, averageValue: "30"}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: main, target: {type: Utilization, averageUtilization: 60}}}
  behavior:
    scaleDown: {stabilizationWindowSeconds: 30, policies: [{type: Pods, value: 1, periodSeconds: 60}], selectPolicy: Min}
    scaleUp: {policies: [{type: Percent, value: 50, periodSeconds: 30}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sample}
spec:
  schedule: "0 3 * * 1"
  timeZone: Europe/Berlin
  suspend: true
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 30
  jobTemplate:
    metadata: {labels: {x: "y"}}
    spec:
      parallelism: 2
      completions: 3
      activeDeadlineSeconds: 60
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: busybox:1.36, args: [date, -u]}, {name: two, image: nginx, envFrom: [{configMapRef: {name: sample}}]}]
---
apiVersion: v1
kind: PodTemplate
metadata: {name: sample}
template:
  metadata: {labels: {app: t}, annotations: {n: m}}
  spec: {containers: [{name: main, image: busybox:1.36}], nodeSelector: {a: b}}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: sample}
spec:
  replicas: 1
  selector: {app: rc}
  template:
    metadata: {labels: {app: rc}}
    spec: {containers: [{name: main, image: busybox:1.36, command: [sleep, "3600"]}]}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: sample}
spec: {holderIdentity: me, leaseDurationSeconds: 15}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: sample}
spec:
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  storageClassName: ""
  volumeName: sample-pv
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: sample-pv, labels: {x: "y"}}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  persistentVolumeReclaimPolicy: Retain
  nfs: {server: nfs.example.com, path: /export}
  mountOptions: [hard]
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [sre-worker]}]}]}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: sample}
provisioner: example.com/disk
parameters: {type: ssd, fast: "yes"}
mountOptions: [noatime]
allowVolumeExpansion: true
reclaimPolicy: Retain
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: sample}
value: 1000
description: for tests
preemptionPolicy: Never
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sample}
handler: gvisor
overhead: {podFixed: {cpu: 10m}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: sample}
spec: {controller: example.com/ingress, parameters: {apiGroup: k8s.example.com, kind: Params, name: external}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sample}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sample}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sample}
subjects: [{kind: User, name: jane}, {kind: Group, name: devs}, {kind: ServiceAccount, name: default, namespace: default}]
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: sample.example.com}
spec: {attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral]}
---
apiVersion: v1
kind: Namespace
metadata: {name: sample, labels: {team: a}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: sample}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: nothing, namespace: default, path: /mutate}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: sample}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://example.com/validate"}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [things], scope: Namespaced}]
  namespaceSelector: {matchLabels: {a: b}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sample}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]}
  validations: [{expression: "object.spec.replicas <= 5", message: too many}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sample}
spec: {policyName: sample, validationActions: [Deny]}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: sample}
spec:
  matchingPrecedence: 1000
  priorityLevelConfiguration: {name: sample}
  distinguisherMethod: {type: ByUser}
  rules: [{subjects: [{kind: Group, group: {name: devs}}], resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true}]}]
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: sample}
spec:
  type: Limited
  limited: {nominalConcurrencyShares: 10, limitResponse: {type: Queue, queuing: {queues: 8, handSize: 2, queueLengthLimit: 10}}}
---
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: sample}
spec:
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
  expirationSeconds: 86400
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWU1JR0FBZ0VBTUI0eERUQUxCZ05WQkFNTUJHcGhibVV4RFRBTEJnTlZCQW9NQkdSbGRuTXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVNvRTA2aC9tTWMyaFZWMGN2eG5adzFuVFFUcFN1bnRIbk9VUWI1CitRdFNaNmlzekZxZHNRUFZSNVFacWZySmcxVllqaHNyelpxb0tRd3BPeFhDRWF2N29BQXdDZ1lJS29aSXpqMEUKQXdJRFJ3QXdSQUlnTk0zL2tsVDdGV3lCYm9UZ0hyRnFrUVY5T3FZbFlDQ3MwR3BwczU0WjhJY0NJRzhPWENNcQoyOVNsREtqMVFKV0QwdG1nVVRQNENYNlYzbW1YeVVzWlYveDMKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==
---
apiVersion: v1
kind: Pod
metadata: {name: everything, labels: {app: everything}, annotations: {one: "1", two: "a\\nb"}}
spec:
  priorityClassName: sample
  serviceAccountName: sample
  hostAliases: [{ip: 10.1.2.3, hostnames: [a, b]}]
  securityContext: {runAsUser: 1000, fsGroup: 2000, runAsNonRoot: true}
  shareProcessNamespace: true
  nodeSelector: {kubernetes.io/os: linux}
  readinessGates: [{conditionType: example.com/ready}]
  tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: everything}}}]
  initContainers: [{name: setup, image: busybox:1.36, command: [sh, -c, "echo one\\necho two"]}]
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c]
    args: ["sleep 3600"]
    workingDir: /tmp
    ports: [{containerPort: 80, name: http}, {containerPort: 53, protocol: UDP, hostPort: 30053}]
    env:
    - {name: PLAIN, value: text}
    - {name: EMPTY}
    - {name: LINES, value: "a\\nb"}
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: LABEL, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
    - {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
    - {name: KEY, valueFrom: {secretKeyRef: {name: sample, key: password}}}
    - {name: FLAG, valueFrom: {configMapKeyRef: {name: sample, key: flag, optional: true}}}
    envFrom: [{configMapRef: {name: sample}}, {secretRef: {name: sample}, prefix: S_}]
    resources: {limits: {cpu: 200m, memory: 64Mi}, requests: {cpu: 50m}}
    livenessProbe: {exec: {command: [cat, /etc/hostname]}, initialDelaySeconds: 3, timeoutSeconds: 2}
    readinessProbe: {tcpSocket: {port: 80}, successThreshold: 2}
    startupProbe: {httpGet: {path: /x, port: http, scheme: HTTPS, host: h, httpHeaders: [{name: A, value: b}]}, failureThreshold: 300}
    lifecycle: {preStop: {exec: {command: [sleep, "1"]}}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts:
    - {name: config, mountPath: /config, subPath: text}
    - {name: secret, mountPath: /secret, readOnly: true}
    - {name: scratch, mountPath: /scratch}
    - {name: down, mountPath: /down}
    - {name: all, mountPath: /all}
  volumes:
  - {name: config, configMap: {name: sample, items: [{key: text, path: text}], defaultMode: 256}}
  - {name: secret, secret: {secretName: sample, optional: true}}
  - {name: scratch, emptyDir: {medium: Memory, sizeLimit: 10Mi}}
  - {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: host, hostPath: {path: /var/log, type: DirectoryOrCreate}}
  - {name: nfs, nfs: {server: nfs.example.com, path: /x, readOnly: true}}
  - {name: all, projected: {sources: [{configMap: {name: sample}}, {secret: {name: sample}}, {downwardAPI: {items: [{path: n, fieldRef: {fieldPath: metadata.name}}]}}, {serviceAccountToken: {path: token, expirationSeconds: 3600, audience: x}}]}}
  - {name: ephemeral, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
  - {name: csi, csi: {driver: sample.example.com, readOnly: true, volumeAttributes: {a: b}}}
""",
}
