"""Kustomizations, as files of the working directory."""

from __future__ import annotations

KUSTOMIZATIONS = {
    "k/base/app.conf": """\
x = 1
y = 2
""",
    "k/base/dep.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: robot
      containers:
      - name: web
        image: nginx:1.2
        env:
        - {name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
        envFrom: [{secretRef: {name: pass}}]
      - {name: side, image: registry.io:5000/side@sha256:abc}
      volumes:
      - {name: v, configMap: {name: settings}}
""",
    "k/base/env.txt": """\
A=1
#c
B=two words
""",
    "k/base/kustomization.yaml": """\
resources: [dep.yaml, svc.yaml, rest.yaml]
commonLabels: {team: a}
configMapGenerator:
- name: settings
  literals: [a=b, c=d]
  files: [app.conf, key=app.conf]
- name: fromenv
  envs: [env.txt]
secretGenerator:
- name: pass
  literals: [user=admin]
  type: Opaque
""",
    "k/base/rest.yaml": """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: crb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cr}
subjects: [{kind: ServiceAccount, name: robot, namespace: default}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cr}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: hpa}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ing}
spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: prod}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: np}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {a: b}}}]}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cj}
spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: busybox}], restartPolicy: Never}}}}}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {list: [{name: a}], image: nginx:1.2}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {serviceName: web, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: "busybox:1"}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: pdb}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 1}
""",
    "k/base/svc.yaml": """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
""",
    "k/over/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]
components: [../comp]
namespace: prod
namePrefix: p-
nameSuffix: -s
commonAnnotations: {note: hello}
labels:
- pairs: {env: prod}
  includeSelectors: true
- pairs: {only: meta}
- pairs: {tpl: "yes"}
  includeTemplates: true
images:
- {name: nginx, newTag: "1.5"}
- {name: registry.io:5000/side, newName: other/side, digest: "sha256:def"}
- {name: busybox, newName: bb}
replicas: [{name: web, count: 4}]
configMapGenerator:
- {name: settings, behavior: merge, literals: [z=1]}
generatorOptions: {labels: {gen: "y"}, annotations: {g: h}}
patches:
- path: patch.yaml
- target: {kind: Service}
  patch: |
    - {op: replace, path: /spec/ports/0/port, value: 81}
- target: {labelSelector: "app=none"}
  patch: "- {op: remove, path: /spec}"
replacements:
- source: {kind: Service, name: web, fieldPath: spec.ports.0.port}
  targets:
  - select: {kind: Deployment}
    fieldPaths: ["spec.template.spec.containers.[name=web].env.[name=PORT].value"]
    options: {create: true}
""",
    "k/over/patch.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: extra, image: busybox}
      - name: web
        resources: {limits: {cpu: "1"}}
        env: [{name: B, value: "2"}, {name: A, $patch: delete}]
      volumes: [{name: w, emptyDir: {}}]
      tolerations: [{key: a}]
""",
    "k/comp/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: |-
    - op: add
      path: /spec/template/spec/hostNetwork
      value: true
  target: {kind: Deployment, name: we.*}
""",
    "k/t1/kustomization.yaml": """\
resources: [../nothere]
""",
    "k/t2/kustomization.yaml": """\
foo: bar
""",
    "k/t3/kustomization.yaml": """\
""",
    "k/t4/kustomization.yaml": """\
resources: [x.yaml]
""",
    "k/t5/kustomization.yaml": """\
resources: [x.yaml]
namespace: other
patches:
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: missing}
    data: {a: c}
""",
    "k/t5/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t6/kustomization.yaml": """\
resources: [x.yaml]
namespace: other
sortOptions: {order: fifo}
patchesStrategicMerge:
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {replicas: 3, template: {spec: {containers: [{name: web, $patch: delete}, {name: new, image: x}], volumes: [{$patch: replace}, {name: z, emptyDir: {}}]}}}
patchesJson6902:
- target: {group: apps, version: v1, kind: Deployment, name: web}
  patch: |-
    - {op: add, path: /metadata/labels, value: {q: r}}
""",
    "k/t6/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t8/kustomization.yaml": """\
resources: [x.yaml]
configMapGenerator:
- {name: yy, files: [missing.txt]}
""",
    "k/t8/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t10/kustomization.yaml": """\
resources: [x.yaml]
replicas: [{name: nothing, count: 2}]
""",
    "k/t10/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t11/kustomization.yaml": """\
resources: [x.yaml]
replacements:
- source: {kind: ConfigMap, name: x, fieldPath: data.a}
  targets:
  - select: {kind: Deployment, name: web}
    fieldPaths: ["spec.template.spec.containers.[name=web].env.[name=H].value"]
    options: {delimiter: "-", index: 1}
  - select: {kind: Deployment}
    fieldPaths: [metadata.annotations.new]
    options: {create: true}
""",
    "k/t11/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t12/kustomization.yaml": """\
resources: [x.yaml]
replacements:
- source: {kind: Nothing, name: x}
  targets: [{select: {kind: Deployment}, fieldPaths: [metadata.name]}]
""",
    "k/t12/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t13/kustomization.yaml": """\
resources: [x.yaml, x.yaml]
""",
    "k/t13/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t14/kustomization.yaml": """\
resources: [x.yaml]
patches:
- path: nope.yaml
""",
    "k/t14/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t15/kustomization.yaml": """\
resources: [x.yaml]
namePrefix: a-
generatorOptions: {disableNameSuffixHash: true, immutable: true}
configMapGenerator:
- name: yy
  literals: ['q="quoted"', "w='s'", e=a=b]
  options: {labels: {l: "1"}}
secretGenerator:
- {name: s, literals: [x=y], type: kubernetes.io/x}
patches:
- target: {kind: ConfigMap, name: yy}
  patch: |
    - {op: add, path: /data/new, value: "1"}
- target: {kind: Deployment}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: ignored}
    spec: {template: {spec: {containers: [{name: web, image: other:1, resources: {limits: {cpu: 1}}}]}}}
- target: {labelSelector: a=b}
  patch: '[{"op": "remove", "path": "/data/n"}]'
""",
    "k/t15/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t16/kustomization.yaml": """\
resources: [x.yaml]
patches:
- target: {kind: Deployment}
  patch: |
    - {op: remove, path: /spec/nothing}
""",
    "k/t16/x.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: x, labels: {a: b}}
data: {a: b, n: "x\\ny\\n"}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template: {spec: {containers: [{name: web, image: nginx, env: [{name: H, value: "a-b-c"}]}], volumes: [{name: v, configMap: {name: x}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}, {kind: ServiceAccount, name: sa}, {kind: User, name: u}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
""",
    "k/t17/bad.yaml": """\
a: b
 c: d
""",
    "k/t17/kustomization.yaml": """\
resources: [bad.yaml]
""",
    "k/t18/kustomization.yaml": """\
resources: [../t18]
""",
    "k/t19/bad.yaml": """\
kind: ConfigMap
metadata: {name: x}
""",
    "k/t19/kustomization.yaml": """\
resources: [bad.yaml]
""",
    "k/t20/bad.yaml": """\
kind: ConfigMap
apiVersion: v1
metadata: {labels: {a: b}}
""",
    "k/t20/kustomization.yaml": """\
resources: [bad.yaml]
""",
}

_BUILT = sorted({name.split("/")[1] for name in KUSTOMIZATIONS})

KUSTOMIZING = (
    *(f"kustomize k/{name}" for name in _BUILT),
    "kustomize k/missing",
    "kustomize k/base/dep.yaml",
    "kustomize k/base k/over",
    "kustomize k/base/",
    "kustomize ./k/over",
    "apply -k k/t15",
    "apply -k k/t6 -n other",
    "apply -k k/t11 --dry-run=server",
    "apply -k k/t11 --dry-run=client -o name",
    "apply -k k/t11 --server-side",
    "apply -k k/t11 -f web.yaml",
    "create -k k/t6 --dry-run=client",
    "create -k k/t11",
    "get -k k/t11",
    "delete -k k/t11",
    "delete -k k/missing",
    "diff -k k/t15",
    "diff -k k/missing",
    "describe -k k/t11",
    "replace -k k/t11",
    "label -k k/t11 a=b",
    "wait -k k/t11 --for=delete --timeout=5s",
)
"""Lines that build kustomizations."""
