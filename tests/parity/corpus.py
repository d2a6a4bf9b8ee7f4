"""The command lines on which the two kubectls are compared."""

from __future__ import annotations

from tests.parity.harness import Case

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
}

_KINDS = (
    "pods deployments replicasets statefulsets daemonsets jobs cronjobs services endpoints endpointslices "
    "configmaps secrets serviceaccounts persistentvolumeclaims ingresses networkpolicies poddisruptionbudgets "
    "horizontalpodautoscalers resourcequotas limitranges roles rolebindings leases events controllerrevisions"
).split()
_CLUSTER_KINDS = (
    "nodes namespaces persistentvolumes storageclasses clusterroles clusterrolebindings priorityclasses "
    "mutatingwebhookconfigurations validatingwebhookconfigurations customresourcedefinitions ingressclasses "
    "csidrivers csinodes volumeattachments apiservices runtimeclasses flowschemas"
).split()
_SYSTEM = "-n kube-system"

_DESCRIBED = (
    "deployment/frontend", "deployment/mongodb-geo", "service/frontend", "endpoints/frontend", "node/sre-worker",
    "node/sre-control-plane", "namespace/hotel-reservation", "serviceaccount/default", "jobs", "pvc", "pv",
    "configmaps", "replicasets", "endpointslices", "storageclass", "clusterrole/view", "clusterrole/edit",
    "clusterrolebinding/cluster-admin", "pods -l io.kompose.service=geo", "pods -l io.kompose.service=mongodb-rate",
    "-n kube-system deployment/coredns", "-n kube-system daemonset/kube-proxy", "-n kube-system configmap/coredns",
    "-n kube-system pods -l k8s-app=kube-dns", "-n kube-system service/kube-dns", "priorityclass",
    "pod nothing", "deployment nothing", "-n kube-system role", "-n kube-system rolebinding",
)  # fmt: skip

READING = (
    *(f"get {kind}" for kind in _KINDS),
    *(f"get {kind} -o wide" for kind in (*_KINDS, *_CLUSTER_KINDS)),
    *(f"get {kind}" for kind in _CLUSTER_KINDS),
    *(
        f"get {kind} -A"
        for kind in ("pods", "deployments", "services", "daemonsets", "configmaps", "endpoints")
    ),
    *(f"get {kind} {_SYSTEM}" for kind in ("pods", "deployments", "daemonsets", "configmaps", "services")),
    *(f"describe {what}" for what in _DESCRIBED),
    "get all",
    "get all -A",
    "get pods --show-labels",
    "get pods -L io.kompose.service",
    "get pods -l io.kompose.service=frontend",
    "get pods -l 'io.kompose.service in (frontend, geo)'",
    "get pods -l io.kompose.service!=frontend",
    "get pods --field-selector status.phase=Running",
    "get pods --field-selector status.phase!=Running",
    "get pods --field-selector spec.nodeName=sre-worker -A",
    "get pods --field-selector nonsense=1",
    "get pods -l 'a in b'",
    "get pods --sort-by=.metadata.name",
    "get pods --sort-by=.status.startTime -o wide",
    "get pods --sort-by=.nothing",
    "get pods -A --sort-by=.metadata.creationTimestamp",
    "get pods -A --sort-by=.metadata.labels.k8s-app",
    "get pods --sort-by=.spec.nodeName -o name",
    "get clusterrolebindings --sort-by=.roleRef.name",
    "get configmaps -A --sort-by=.metadata.namespace",
    "get pods -A --chunk-size=5",
    "get pods --show-kind",
    "get pods -o wide --no-headers -A",
    "get deploy frontend -o jsonpath='{.spec.template.spec.containers[0].env}'",
    "get deploy frontend -o jsonpath-as-json='{.spec.template.spec.containers[0].ports}'",
    "get nodes -o custom-columns=N:.metadata.name,CPU:.status.capacity.cpu,T:.spec.taints[*].key",
    "get svc -o jsonpath='{range .items[*]}{.metadata.name}:{.spec.ports[*].port}{\"\\n\"}{end}'",
    "get pods --all-namespaces --field-selector=metadata.namespace=kube-system",
    "get endpoints frontend geo",
    "get cm,secret,sa",
    "get no",
    "get po frontend-nothing",
    "get deploy/frontend -o name",
    "get deployments.apps frontend",
    "get deployments.v1.apps frontend",
    "get hpa.v2.autoscaling",
    "describe svc",
    "describe deploy",
    "describe ns",
    "describe nodes",
    "describe rs -l io.kompose.service=geo",
    "describe serviceaccounts -A",
    "describe lease -n kube-node-lease",
    "describe daemonset -n kube-system",
    "describe endpoints",
    "describe job/wrk2-job",
    "describe role -A",
    "logs deploy/frontend --tail=0",
    "logs deploy/frontend --limit-bytes=100",
    "logs deploy/frontend --since-time=2020-01-01T00:00:00Z --tail=2",
    "logs deploy/consul --tail=3",
    "logs -n kube-system deploy/coredns --tail=3",
    "logs -n kube-system ds/kube-proxy --tail=3",
    "top pod -n kube-system",
    "top nodes --sort-by=cpu",
    "top pods --no-headers",
    "get pods --no-headers",
    "get pods -o name",
    "get pods -o json",
    "get pods -o yaml",
    "get deployment frontend -o yaml",
    "get deployment frontend -o json",
    "get service frontend -o yaml",
    "get node sre-worker -o yaml",
    "get nodes -o json",
    "get endpoints frontend -o yaml",
    "get endpointslices -o yaml",
    "get configmaps -o yaml",
    "get namespace hotel-reservation -o yaml",
    "get pods -o jsonpath='{.items[*].metadata.name}'",
    'get pods -o jsonpath=\'{range .items[*]}{.metadata.name}{"\\t"}{.status.podIP}{"\\n"}{end}\'',
    "get pods -o jsonpath='{.items[0].spec.containers[0]}'",
    "get pods -o jsonpath='{.items[?(@.metadata.labels.io\\.kompose\\.service==\"geo\")].status.phase}'",
    "get pods -o custom-columns=NAME:.metadata.name,IP:.status.podIP,NODE:.spec.nodeName",
    "get pods -o go-template='{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}'",
    "get deploy/frontend svc/frontend",
    "get deploy,svc",
    "get deploy frontend geo",
    "get deploy frontend nothing",
    "get deploy nothing",
    "get pods -n nowhere",
    "get pod x -n nowhere",
    "get nonsense",
    "get",
    "get pods extra/arg",
    "get pod/x deploy",
    "get pods -o nonsense",
    "get pods -o jsonpath='{.items[*'",
    "get pods --ignore-not-found nothing",
    "get cm kube-root-ca.crt",
    "get --raw /healthz",
    "get --raw /version",
    "get --raw /api/v1/namespaces/hotel-reservation/services/frontend",
    "get --raw /apis/apps/v1/nonsense",
    "get events -A",
    "get componentstatuses",
    "logs deploy/frontend --tail=5",
    "logs deploy/frontend --tail=5 --timestamps",
    "logs -l io.kompose.service=geo --tail=3",
    "logs -l io.kompose.service=geo --tail=3 --prefix",
    "logs deploy/mongodb-geo --tail=2",
    "logs deploy/frontend --previous",
    "logs deploy/frontend -c nothing",
    "logs deploy/nothing",
    "logs nothing",
    "logs svc/frontend --tail=1",
    "logs job/wrk2-job --tail=3",
    "logs deploy/frontend --since=10s",
    "logs",
    "top pods",
    "top pods --containers",
    "top pods -A --sort-by=memory",
    "top pods -l io.kompose.service=geo",
    "top pods --sum",
    "top nodes",
    "top node sre-worker",
    "top pod nothing",
    "version",
    "version -o yaml",
    "cluster-info",
    "api-resources",
    "api-resources --namespaced=false",
    "api-resources --api-group=apps",
    "api-resources -o wide",
    "api-resources -o name --verbs=list",
    "api-versions",
    "auth can-i get pods",
    "auth can-i delete nodes",
    "auth can-i create pods --subresource=exec",
    "auth can-i get pods --as=system:serviceaccount:hotel-reservation:default",
    "auth can-i '*' '*'",
    "auth can-i get nonsense",
    "auth whoami",
    "auth can-i --list",
    "explain pods",
    "explain pods.spec.containers",
    "explain deployment.spec.strategy",
    "explain deployment.spec.strategy.rollingUpdate.maxSurge",
    "explain pod.spec.containers.resources --recursive",
    "explain svc.spec.ports.targetPort",
    "explain configmap.data",
    "explain pods.nothing",
    "explain nothing",
    "explain ingress.spec.rules.http.paths",
    "explain hpa.spec.metrics",
    "explain pod.spec.tolerations",
    "explain pod.spec.nodeSelector",
    "explain pod.spec.containers.livenessProbe.httpGet.port",
    "explain networkpolicy.spec",
    "explain pv.spec",
    "explain node.status.conditions",
    "rollout status deploy/frontend",
    "rollout status deploy/nothing",
    "rollout history deploy/frontend",
    "rollout history deploy/frontend --revision=1",
    "rollout history deploy/frontend --revision=9",
    "rollout status ds/kube-proxy -n kube-system",
    "rollout history ds/kube-proxy -n kube-system",
    "events",
    "events -A",
    "events --types=Warning",
    "events --for deploy/frontend",
    "wait --for=condition=Available deploy/frontend --timeout=5s",
    "wait --for=condition=Ready pods -l io.kompose.service=geo --timeout=5s",
    "wait --for=jsonpath='{.status.phase}'=Running pods --all --timeout=5s",
    "wait --for=delete pod/nothing --timeout=5s",
    "wait --for=condition=Available deploy/nothing --timeout=5s",
    "exec deploy/frontend -- ls /",
    "exec deploy/mongodb-geo -- sh -c 'echo out; echo err >&2; exit 3'",
    "exec deploy/frontend -- nonsense",
    "exec deploy/frontend -c nothing -- ls",
    "exec nothing -- ls",
    "exec deploy/frontend",
    "diff -f web.yaml",
    "options",
    "apply view-last-applied deploy/frontend",
    "nonsense",
    "get pods --nonsense",
)

_WEB = ("create -f web.yaml",)
WRITING = (
    Case("create -f web.yaml"),
    Case("create -f web.yaml", _WEB),
    Case("create -f web.yaml -o yaml --dry-run=client"),
    Case("create -f web.yaml --dry-run=server"),
    Case("apply -f web.yaml"),
    Case("apply -f web.yaml", ("apply -f web.yaml",)),
    Case("apply -f web.yaml", _WEB),
    Case("apply -f web.yaml --dry-run=server"),
    Case("apply -f web.yaml --dry-run=client"),
    Case("apply -f web.yaml --server-side"),
    Case("apply -f -", stdin=MANIFESTS["config.yaml"]),
    Case("apply -f bad.yaml"),
    Case("apply -f mismatch.yaml"),
    Case("create -f mismatch.yaml"),
    Case("apply -f unknown.yaml"),
    Case("apply -f missing.yaml"),
    Case("create -f bad.yaml"),
    Case("create -f bad.yaml --validate=false"),
    Case("create -f bad.yaml --validate=warn"),
    Case("replace -f web.yaml", _WEB),
    Case("replace -f web.yaml"),
    Case("delete -f web.yaml", _WEB),
    Case("delete -f web.yaml"),
    Case("delete deploy web", _WEB),
    Case("delete deploy nothing"),
    Case("delete pods -l io.kompose.service=geo"),
    Case("delete pods -l io.kompose.service=nothing"),
    Case("delete deploy/web svc/web", _WEB),
    Case("delete pod nothing --ignore-not-found"),
    Case("delete deploy web --dry-run=server", _WEB),
    Case("delete deploy web --cascade=orphan", _WEB),
    Case("delete"),
    Case("delete pods"),
    Case("scale deploy/frontend --replicas=3"),
    Case("scale deploy/frontend --replicas=3 --current-replicas=7"),
    Case("scale deploy/nothing --replicas=3"),
    Case("scale deploy/frontend --replicas=-1"),
    Case("scale deploy frontend geo --replicas=2"),
    Case("rollout restart deploy/frontend"),
    Case("rollout undo deploy/frontend"),
    Case("rollout undo deploy/web", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout undo deploy/web --to-revision=1", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout undo deploy/web --to-revision=7", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout history deploy/web", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout pause deploy/frontend"),
    Case("rollout resume deploy/frontend"),
    Case("rollout resume deploy/frontend", ("rollout pause deploy/frontend",)),
    Case("rollout status deploy/web", _WEB),
    Case("rollout status deploy/web --timeout=2s", (*_WEB, "set image deploy/web web=nothing/here:1")),
    Case("set image deploy/frontend hotel-reserv-frontend=x:1"),
    Case("set image deploy/frontend nothing=x:1"),
    Case("set image deploy/web *=x:1", _WEB),
    Case("set env deploy/web A=b", _WEB),
    Case("set env deploy/web --list", _WEB),
    Case("set env deploy/web A-", (*_WEB, "set env deploy/web A=b")),
    Case("set resources deploy/web --limits=cpu=200m,memory=64Mi", _WEB),
    Case("set serviceaccount deploy/web nothing", _WEB),
    Case("set selector svc/web app=other", _WEB),
    Case("label pods -l io.kompose.service=geo tier=back"),
    Case("label deploy frontend io.kompose.service=x"),
    Case("label deploy frontend io.kompose.service=x --overwrite"),
    Case("label deploy frontend tier-"),
    Case("label node sre-worker disk=ssd"),
    Case("label deploy frontend 'a b=c'"),
    Case("annotate deploy frontend note=hello"),
    Case("annotate deploy frontend note-", ("annotate deploy frontend note=hello",)),
    Case("annotate deploy frontend kompose.version=x"),
    Case("taint node sre-worker key=value:NoSchedule"),
    Case("taint node sre-worker key=value:NoSchedule", ("taint node sre-worker key=value:NoSchedule",)),
    Case("taint node sre-worker key-", ("taint node sre-worker key=value:NoSchedule",)),
    Case("taint node sre-worker key-"),
    Case("taint node sre-worker key=value:Nonsense"),
    Case("cordon sre-worker"),
    Case("cordon sre-worker", ("cordon sre-worker",)),
    Case("uncordon sre-worker"),
    Case("uncordon sre-worker", ("cordon sre-worker",)),
    Case("cordon nothing"),
    Case("drain sre-worker"),
    Case('patch deploy frontend -p \'{"spec":{"replicas":3}}\''),
    Case('patch deploy frontend -p \'{"spec":{"replicas":1}}\''),
    Case('patch deploy frontend -p \'{"spec":{"replicas":"x"}}\''),
    Case('patch deploy frontend -p \'{"spec":{"replicaz":1}}\''),
    Case("patch deploy frontend -p nonsense"),
    Case("patch deploy frontend --patch-file patch.yaml"),
    Case('patch deploy frontend --type=json -p \'[{"op":"replace","path":"/spec/replicas","value":3}]\''),
    Case('patch deploy frontend --type=json -p \'[{"op":"remove","path":"/spec/nothing"}]\''),
    Case('patch deploy frontend --type=json -p \'[{"op":"test","path":"/spec/replicas","value":9}]\''),
    Case('patch svc frontend --type=merge -p \'{"spec":{"ports":[{"port":5000,"targetPort":99}]}}\''),
    Case('patch deploy frontend -p \'{"spec":{"selector":{"matchLabels":{"a":"b"}}}}\''),
    Case('patch deploy frontend --subresource=scale --type=merge -p \'{"spec":{"replicas":2}}\''),
    Case('patch deploy nothing -p \'{"spec":{"replicas":2}}\''),
    Case("create deployment web --image=nginx"),
    Case("create deployment web --image=nginx --replicas=3 --port=80 --dry-run=client -o yaml"),
    Case("create deployment web --image=nginx -o yaml --dry-run=server"),
    Case("create configmap settings --from-literal=a=b --from-file=web.yaml"),
    Case("create configmap settings --from-literal=a=b -o yaml --dry-run=client"),
    Case("create secret generic pass --from-literal=a=b"),
    Case("create secret generic pass --from-literal=a=b -o json --dry-run=client"),
    Case("create namespace other"),
    Case("create namespace hotel-reservation"),
    Case("create namespace Bad_Name"),
    Case("create job once --image=busybox -- echo hi"),
    Case("create cronjob often --image=busybox --schedule='*/5 * * * *' -- date"),
    Case("create cronjob often --image=busybox --schedule=nonsense -- date"),
    Case("create serviceaccount robot"),
    Case("create role reader --verb=get,list --resource=pods,deployments.apps"),
    Case("create role reader --verb=get --resource=nonsense"),
    Case("create rolebinding reader --role=reader --serviceaccount=hotel-reservation:default"),
    Case("create clusterrole reader --verb=get --resource=nodes"),
    Case("create clusterrolebinding reader --clusterrole=view --user=jane"),
    Case("create quota limited --hard=pods=10,cpu=4"),
    Case("create pdb web --selector=app=web --min-available=1"),
    Case("create ingress web --rule='example.com/*=web:80'"),
    Case("create service clusterip web --tcp=80:8080"),
    Case("create service nodeport web --tcp=80:8080 --dry-run=client -o yaml"),
    Case("create priorityclass high --value=1000"),
    Case("create nonsense x"),
    Case("run probe --image=busybox --restart=Never -- sleep 60"),
    Case("run probe --image=busybox --dry-run=client -o yaml -- sleep 60"),
    Case("expose deploy web --port=80", ("create deployment web --image=nginx",)),
    Case("expose deploy web", ("create deployment web --image=nginx",)),
    Case("expose deploy frontend --name=front --port=80 --target-port=5000"),
    Case("autoscale deploy frontend --min=1 --max=5 --cpu-percent=80"),
    Case("get hpa", ("autoscale deploy frontend --min=1 --max=5 --cpu-percent=80",)),
    Case("describe hpa frontend", ("autoscale deploy frontend --min=1 --max=5 --cpu-percent=80",)),
    Case("describe quota limited", ("create -f quota.yaml",)),
    Case("get quota", ("create -f quota.yaml",)),
    Case("get deploy web -o yaml", _WEB),
    Case("get pods -l app=web", _WEB),
    Case("describe deploy web", _WEB),
    Case("describe pods -l app=web", _WEB),
    Case("describe svc web", _WEB),
    Case("get events", _WEB),
    Case("events", _WEB),
    Case("get events --sort-by=.lastTimestamp", _WEB),
    Case("get events -o wide", _WEB),
    Case("describe pods -l app=web", (*_WEB, "set image deploy/web web=nothing/here:1")),
    Case("get pods -l app=web", (*_WEB, "set image deploy/web web=nothing/here:1")),
    Case("get rs -l app=web", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("logs -l app=web", (*_WEB, "set image deploy/web web=nothing/here:1")),
    Case("wait --for=condition=Available deploy/web --timeout=30s", _WEB),
    Case("wait --for=condition=Available=false deploy/web --timeout=3s", _WEB),
    Case("apply view-last-applied deploy/web", ("apply -f web.yaml",)),
    Case("get cm settings -o yaml", ("apply -f config.yaml",)),
    Case("diff -f config.yaml"),
    Case("label --list deploy frontend"),
    Case("certificate approve nothing"),
    Case("describe pods -l app=web", (*_WEB, "scale deploy/web --replicas=8")),
    Case("events", (*_WEB, "scale deploy/web --replicas=8")),
    Case("describe deploy web", (*_WEB, "scale deploy/web --replicas=8", "set image deploy/web web=busybox:1.37")),
    Case("get rs", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout status deploy/web", (*_WEB, "set image deploy/web web=busybox:1.37")),
    Case("rollout undo deploy/frontend --dry-run=server"),
    Case("create -f quota.yaml --dry-run=server -o yaml"),
    Case("apply -f quota.yaml -o yaml"),
    Case("get endpoints frontend", ("scale deploy/frontend --replicas=0",)),
    Case("get pods -l io.kompose.service=geo", ("delete pods -l io.kompose.service=geo --wait=false",)),
    Case("describe svc frontend", ("scale deploy/frontend --replicas=0",)),
    Case("logs deploy/frontend --tail=3", ("scale deploy/mongodb-geo --replicas=0",)),
    Case("get nodes", ("cordon sre-worker", "taint node sre-worker2 key=value:NoExecute")),
    Case("describe node sre-worker2", ("taint node sre-worker2 key=value:NoExecute",)),
    Case("describe quota", ("create -f quota.yaml",)),
    Case("describe ns hotel-reservation", ("create -f quota.yaml",)),
    Case("get deploy,rs,pods -l app=web", (*_WEB, "set resources deploy/web --requests=cpu=500")),
    Case("describe pods -l app=web", (*_WEB, "set resources deploy/web --requests=cpu=500")),
)  # fmt: skip

CORPUS: tuple[Case, ...] = (*(Case(line) for line in READING), *WRITING)
