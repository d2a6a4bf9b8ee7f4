"""Server-side apply, owners of fields, pruning and differences."""

from __future__ import annotations

from tests.parity.harness import Case

OWNING_FILES = {
    "owned.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "9", c: three}
""",
    "untyped.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: x, env: [{name: A, value: 1}]}]
""",
    "doubled.yaml": """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}, {port: 80}]}
""",
}

_WEB = ("apply -f web.yaml",)
_SERVED = ("apply -f web.yaml --server-side",)
_MADE = ("create -f config.yaml",)
_APPLIED = ("apply -f config.yaml",)
_SCALED = (*_SERVED, "scale deploy/web --replicas=5", "label deploy/web app=x --overwrite")
_OWNERS = "-o yaml --show-managed-fields"

_APPLYING = (
    Case("apply -f web.yaml --server-side"),
    Case("apply -f web.yaml --server-side", _WEB),
    Case("apply -f web.yaml --server-side", _SERVED),
    Case(f"apply -f web.yaml --server-side {_OWNERS}"),
    Case(f"apply -f web.yaml --server-side {_OWNERS}", _WEB),
    Case(f"apply -f web.yaml --server-side --field-manager=me {_OWNERS}", _WEB),
    Case(f"apply -f web.yaml --server-side --dry-run=server {_OWNERS}", _WEB),
    Case("apply -f owned.yaml --server-side", _MADE),
    Case(f"apply -f owned.yaml --server-side --force-conflicts {_OWNERS}", _MADE),
    Case("apply -f owned.yaml --server-side --field-manager=me", _APPLIED),
    Case("apply -f owned.yaml --server-side", _APPLIED),
    Case("apply -f owned.yaml --server-side -o json --show-managed-fields", _APPLIED),
    Case("apply -f web.yaml --server-side", _SCALED),
    Case("apply -f web.yaml --server-side --force-conflicts", _SCALED),
    Case(f"get deploy web {_OWNERS}", _SCALED),
    Case("apply -f bad.yaml --server-side"),
    Case("apply -f untyped.yaml --server-side"),
    Case("apply -f doubled.yaml --server-side"),
    Case("apply -f mismatch.yaml --server-side"),
    Case("apply -f list.yaml --server-side"),
    Case("apply -f folder --server-side -R"),
    Case("apply -f config.yaml --server-side --field-manager=''"),
    Case(f"apply -f config.yaml --server-side --field-manager={'x' * 130}"),
    Case("apply -f config.yaml --server-side --validate=false"),
    Case("apply -f bad.yaml --server-side --validate=warn"),
    Case(
        "apply view-last-applied cm settings",
        (*_APPLIED, "apply -f owned.yaml --server-side --force-conflicts"),
    ),
)

_PATCHES = (
    '--type=merge -p \'{"metadata":{"managedFields":[{}]}}\'',
    '--type=json -p \'[{"op":"replace","path":"/metadata/managedFields","value":[]}]\'',
    '--type=json -p \'[{"op":"remove","path":"/metadata/managedFields/0"}]\'',
    '--type=json -p \'[{"op":"test","path":"/metadata/managedFields/0/manager","value":"x"}]\'',
    '-p \'{"data":{"a":"5"}}\'',
)

_SHOWING = (
    *(
        Case(f"get {what} {_OWNERS}")
        for what in (
            "deploy frontend", "pods", "nodes,svc,rs,sts,pvc,pv", "all -A", "cm,secrets,sa,ns,roles,clusterroles -A",
            "events", "events.events.k8s.io", "sc,pc,csr,crd,apiservices,leases -A",
        )
    ),
    *(
        Case(f"get {what} -o {form}")
        for what, form in (
            ("deploy frontend", "jsonpath='{.metadata.managedFields[*].manager}'"),
            ("deploy frontend", "jsonpath='{.metadata}'"),
            ("deploy frontend", "go-template='{{.metadata}}'"),
            ("deploy frontend", "jsonpath='{.spec.x.y[3]}'"),
            ("pods", "custom-columns=N:.metadata.name,M:.metadata.managedFields[0].manager"),
            ("pods", "jsonpath='{.items[0]}'"),
            ("pods", "jsonpath='{.items[9999]}'"),
            ("pods", "jsonpath='{@}'"),
        )
    ),
    *(Case(f"patch cm settings {change} {_OWNERS}", _MADE) for change in _PATCHES),
    *(Case(f"{word} cm settings a=b {_OWNERS}", _MADE) for word in ("label", "annotate")),
    *(
        Case(f"{line} {_OWNERS}")
        for line in (
            "create -f config.yaml", "create cm x --from-literal=a=b", "create cm x --from-literal=a=b --dry-run=client",
            "create cm x --from-literal=a=b --dry-run=server", "create deploy d --image=x --replicas=2",
            "create job j --image=x", "create cronjob j --image=x --schedule='* * * * *'",
            "create ingress i --rule=a/b=c:80", "create secret generic s --from-literal=a=b", "create ns n",
            "create role r --verb=get --resource=pods", "create quota q --hard=pods=3",
            "create pdb p --selector=a=b --min-available=1", "run p --image=x", "scale deploy geo --replicas=2",
            "set image deploy/geo *=x", "expose deploy geo --port=80 --name=x", "autoscale deploy geo --max=3",
            "rollout restart deploy/geo", "taint node sre-worker a=b:NoSchedule",
        )
    ),
    Case(f"replace -f owned.yaml {_OWNERS}", _MADE),
    Case(f"get deploy web {_OWNERS}", (*_WEB, "set image deploy/web web=x", "rollout restart deploy/web")),
    Case("get --raw /api/v1/namespaces/hotel-reservation/configmaps/settings", _MADE),
)  # fmt: skip

_PRUNING = (
    Case("apply -f web.yaml --prune -l app=web"),
    Case("apply -f web.yaml --prune -l app=web", _WEB),
    Case("apply -f config.yaml --prune -l app=web", _WEB),
    *(
        Case(f"apply -f config.yaml --prune --all {more}".rstrip(), _WEB)
        for more in (
            "", "--dry-run=client", "--dry-run=server", "--prune-allowlist=core/v1/Service", "-o name", "-n default",
            "--prune-allowlist=core/v1/Nothing", "--prune-allowlist=x", "--server-side", "-A",
        )
    ),
    Case("apply -f web.yaml -o yaml --prune --all", _APPLIED),
    Case("apply -f web.yaml -f bad.yaml -o yaml"),
)  # fmt: skip

_DIFFERING = (
    *(Case(f"diff -f {name}") for name in ("bad.yaml", "mismatch.yaml", "folder", "web.yaml")),
    Case("diff -f untyped.yaml --server-side"),
    Case("diff -f owned.yaml --server-side", _MADE),
    Case("diff -f owned.yaml --server-side --force-conflicts", _MADE),
    Case("diff -f owned.yaml --server-side --force-conflicts --show-managed-fields", _MADE),
    Case("diff -f web.yaml --server-side", _SCALED),
    Case("diff -f web.yaml --show-managed-fields", _WEB),
    Case("diff -f config.yaml --prune", _WEB),
    Case("diff -f config.yaml --prune -l app=web", _WEB),
    Case("diff -f web.yaml -f bad.yaml -f config.yaml", _WEB),
    Case("diff -f config.yaml --nonsense"),
)

OWNING = (*_APPLYING, *_SHOWING, *_PRUNING, *_DIFFERING)
